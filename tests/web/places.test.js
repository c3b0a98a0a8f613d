/** Each operation and setting of the interface has a place in the client, or a reason why it has none. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const SOURCES = readdirSync(join(ROOT, "web/js"), { recursive: true }).filter((path) => path.endsWith(".js")).map((path) => readFileSync(join(ROOT, "web/js", path), "utf8")).join("\n");
const OPENAPI = readFileSync(join(ROOT, "docs/openapi.yaml"), "utf8");

/** Operations without a place, by the start of the path. */
const WITHOUT = {
  "/bot_storage": "for programs of bots",
  "/calls/": "the services are not configured",
  "/default_stream_groups": "nobody chooses among them when joining",
  "/dev_": "for servers of developers",
  "/external/": "for other programs, which get the address",
  "/get_stream_id": "the state has the ids",
  "/mark_": "flags of narrows do the same",
  "/messages/matches_narrow": "a search is made again",
  "/messages/summary": "there is no language model",
  "/messages/{}/typing": "edits take effect when they are saved",
  "/mobile_push/": "for apps of phones",
  "/realm/emoji": "the state has them",
  "/realm/presence": "the state has it",
  "/settings/": "older spellings of /settings",
  "/streams": "the state has them",
  "/user_groups/{}/members/{}": "the state has them",
  "/user_groups": "the state has them",
  "/user_uploads/{}/{}": "links in messages lead there",
  "/users/me/android_gcm_reg_id": "for apps of phones",
  "/users/me/api_key/regenerate": "logging out all others and making a key do the same",
  "/users/me/apns_device_token": "for apps of phones",
  "/users/me/onboarding_steps": "for the published client",
  "/users/me/subscriptions/muted_topics": "an older spelling of /user_topics",
  "/users/me/subscriptions/{}": "an older spelling of /users/me/subscriptions/properties",
  "/users/{}/presence": "the state has it",
  "/users/{}/subscriptions/{}": "the members of a channel are listed",
  "/zcommand": "/settings does the same",
};

/** Settings without a place. */
const WITHOUT_EFFECT = {
  "no such mail is sent": ["enable_marketing_emails", "send_welcome_emails"],
  "for operators who name a push bouncer": ["require_e2ee_push_notifications"],
  "nothing is fetched, announced, advertised, billed or summarized": ["giphy_rating", "inline_url_embed_preview", "zulip_update_announcements_stream_id", "want_advertise_in_communities_directory", "can_manage_billing_group", "can_summarize_topics_group", "hide_ai_features", "string_id"],
  "no client here shows it": ["org_type"],
  "the columns have places of their own": ["left_side_userlist", "web_left_sidebar_unreads_count_summary"],
};

const shape = (path) => path.replace(/\$?\{[^}]*\}/g, "{}");

/** The block of lines below a key of the description, by its indentation. */
function below(lines, key) {
  const at = lines.findIndex((line) => line.trim() === `${key}:`);
  const indent = lines[at].search(/\S/);
  const end = lines.findIndex((line, index) => index > at && line.trim() !== "" && line.search(/\S/) <= indent);
  return lines.slice(at + 1, end < 0 ? undefined : end);
}

it("each operation has a place", () => {
  const known = new Set([...SOURCES.matchAll(/["`](?:\/json|\/api\/v1)?(\/[a-z_][^"`\n?]*)/g)].map(([, path]) => shape(path)));
  const paths = below(OPENAPI.split("\n"), "paths").flatMap((line) => /^ {2}"?(\/[^":]+)"?:$/.exec(line)?.[1] ?? []);
  assert.ok(paths.length > 100, `${paths.length} operations`);
  const isLeftOut = (path) => Object.keys(WITHOUT).some((start) => path === start || (/[/_]$/.test(start) && path.startsWith(start)) || path.startsWith(`${start}/`));
  assert.deepEqual(paths.map(shape).filter((path) => !known.has(path) && !isLeftOut(path)), []);
  const needless = Object.keys(WITHOUT).filter((start) => !paths.map(shape).some((path) => path.startsWith(start)));
  assert.deepEqual(needless, []);
});

it("each setting has a place, unless it changes nothing here", () => {
  const left = Object.values(WITHOUT_EFFECT).flat();
  for (const path of ["/realm", "/settings"]) {
    const operation = below(below(OPENAPI.split("\n"), path), "patch");
    const names = below(operation, "properties").flatMap((line) => /^ +([a-z][a-z0-9_]*):(?: |$)/.exec(line)?.[1] ?? []).filter((name) => !["type", "description", "enum", "items", "$ref"].includes(name));
    assert.ok(names.length > 40, `${path}: ${names.length}`);
    assert.deepEqual(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(SOURCES) && !left.includes(name)), [], path);
  }
  assert.deepEqual(left.filter((name) => new RegExp(`"${name}"`).test(SOURCES)), [], "these have a place");
});

it("each operation that is written down is used", () => {
  const parts = ["endpoints.js", "endpoints_on_demand.js"].map((name) => readFileSync(join(ROOT, "web/js/api", name), "utf8"));
  const endpoints = parts.join("");
  const names = [...endpoints.matchAll(/^export (?:const|async function|function) (\w+)/gm)].map(([, name]) => name);
  const others = parts.reduce((sources, part) => sources.replace(part, ""), SOURCES);
  assert.deepEqual(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(others) && endpoints.split(new RegExp(`\\b${name}\\b`)).length < 3), []);
});

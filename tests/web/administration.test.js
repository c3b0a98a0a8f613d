/** What settings and administration show and do, as pure functions: no server, no browser. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { callLink } from "../../web/js/lib/text_edits.js";
import { localeFor } from "../../web/js/lib/words.js";
import { memberChoices } from "../../web/js/selectors/choices.js";
import { asMixed, groupRights, groupsFor, mayHaveKind, mayMix, settingText, simplest } from "../../web/js/selectors/group_settings.js";
import { accountUrl, choicesInOrder, choicesOf } from "../../web/js/selectors/profile_fields.js";
import { retentionChoices } from "../../web/js/selectors/retention.js";
import { mayChangeOwn, mayDeactivate, mayResetPassword, rolesFor, rolesOfInvited } from "../../web/js/selectors/roles.js";
import { zoneAction } from "../../web/js/selectors/time_zone.js";
import { eventName, shortNameFor, webhookUrl } from "../../web/js/selectors/webhooks.js";
import { createDeletions, TIME_TO_UNDO } from "../../web/js/store/deletions.js";
import { ACTION_TIME } from "../../web/js/views/toasts.js";
import { createNotices } from "../../web/js/store/notices.js";
import { FOR_OWNERS, organizationPermissions, organizationSwitches } from "../../web/js/views/organization_tables.js";
import { channel, storeWith, user } from "./states.js";

describe("a language", () => {
  it("is written as the browser's variant of it, if there is one", () => {
    assert.equal(localeFor("en", ["de-AT", "en-GB", "en-US"]), "en-GB");
    assert.equal(localeFor("de", ["en-GB", "de-AT"]), "de-AT");
    assert.equal(localeFor("pt-br", ["en-GB"]), "pt-BR");
    assert.equal(localeFor("zh-hans", []), "zh-Hans");
    assert.equal(localeFor("en-gb", ["en-US"]), "en-GB");
    assert.equal(localeFor("_", []), undefined);
  });
});

describe("the time zone", () => {
  it("is taken from the computer at first, and offered once when it is another", () => {
    assert.equal(zoneAction({ timezone: "" }, "Europe/Lisbon", null), "take");
    assert.equal(zoneAction({ timezone: "Asia/Tokyo" }, "Europe/Lisbon", null), "offer");
    assert.equal(zoneAction({ timezone: "Asia/Tokyo" }, "Europe/Lisbon", "Europe/Lisbon"), null);
    assert.equal(zoneAction({ timezone: "Asia/Tokyo" }, "Europe/Lisbon", "Europe/Rome"), "offer");
    assert.equal(zoneAction({ timezone: "Asia/Tokyo", web_suggest_update_timezone: false }, "Europe/Lisbon", null), null);
    assert.equal(zoneAction({ timezone: "Asia/Tokyo" }, "Asia/Tokyo", null), null);
    assert.equal(zoneAction({ timezone: "" }, "", null), null);
  });
});

describe("a video call", () => {
  it("is a link to a room of the organization's server", () => {
    assert.equal(callLink("https://meet.example.com/", "x7"), "[Join the video call](https://meet.example.com/x7)");
  });
});

describe("webhooks", () => {
  it("have an address with the channel, the topic, events and options", () => {
    const webhook = { origin: "https://chat.example.com", name: "github", key: "k", streamId: 3, topic: " builds " };
    assert.equal(webhookUrl(webhook), "https://chat.example.com/api/v1/external/github?api_key=k&stream=3&topic=builds");
    assert.equal(webhookUrl({ ...webhook, streamId: null }), "https://chat.example.com/api/v1/external/github?api_key=k");
    const filtered = new URL(webhookUrl({ ...webhook, events: ["push", "issues"], options: { branches: " main ", ignore_private_repositories: true, name: "", other: false } }));
    assert.deepEqual(Object.fromEntries(filtered.searchParams), { api_key: "k", stream: "3", topic: "builds", only_events: '["push","issues"]', branches: "main", ignore_private_repositories: "true" });
  });

  it("come from a bot with a name that is free", () => {
    assert.equal(shortNameFor("slack_incoming", []), "slack-incoming");
    assert.equal(shortNameFor("github", ["github-bot@example.com", "github-2-bot@example.com", "hub-bot@example.com"]), "github-3");
    assert.equal(eventName("pull_request_review"), "pull request review");
  });
});

describe("a group", () => {
  const role = (id, name) => ({ id, name, is_system_group: true, members: id === 1 ? [1] : [1, 2], direct_subgroup_ids: [] });
  const storeOf = (selfId, all = 9) => {
    const group = { id: 5, name: "editors", members: [2], direct_subgroup_ids: [], can_manage_group: 9, can_add_members_group: 9, can_remove_members_group: 9, can_join_group: 2, can_leave_group: 2 };
    const store = storeWith({
      user_id: selfId, realm_users: [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo", { role: 600 }), user(4, "Edith")], subscriptions: [channel(10, "editing")],
      realm_user_groups: [role(1, "role:owners"), { ...role(2, "role:members"), members: [1, 2, 4] }, { ...role(9, "role:nobody"), members: [] }, group], realm_can_manage_all_groups: all,
    });
    return { store, group };
  };

  it("is joined, left and managed by those who may", () => {
    const rights = (selfId, all) => {
      const { store, group } = storeOf(selfId, all);
      return Object.entries(groupRights(store, group)).filter(([, is]) => is).map(([name]) => name);
    };
    assert.deepEqual(rights(1), ["mayJoin"]);
    assert.deepEqual(rights(2), ["isMember", "mayLeave"]);
    assert.deepEqual(rights(3), []);
    assert.deepEqual(rights(1, 1), ["mayManage", "mayAdd", "mayRemove", "mayJoin"]);
  });

  it("is chosen with people and channels, to add all of its members", () => {
    const { store } = storeOf(1);
    assert.deepEqual(memberChoices(store, "edi", []).map(({ label, detail }) => [label, detail]), [["Edith", ""], ["editors", "Group, 1 member"], ["#editing", "Channel, 3 members"]]);
    assert.deepEqual(memberChoices(store, "edi", [4], false).map(({ label }) => label), ["#editing"]);
    Object.assign(store.users.get(4), { full_name: "Meredith" });
    assert.deepEqual(memberChoices(store, "edi", []).map(({ label }) => label), ["editors", "#editing", "Meredith"]);
    Object.assign(store.users.get(4), { full_name: "Edith" });
  });
});

describe("a profile field", () => {
  it("has its choices in the order that was chosen, whatever their keys", () => {
    const field_data = JSON.stringify({ 0: { text: "Soup", order: "2" }, 1: { text: "Salad", order: "1" }, 12: { text: "Cake", order: "10" } });
    assert.deepEqual(choicesInOrder({ field_data }).map(([key, { text }]) => [key, text]), [["1", "Salad"], ["0", "Soup"], ["12", "Cake"]]);
    assert.deepEqual([choicesInOrder({ field_data: "" }), choicesInOrder(null)], [[], []]);
  });

  it("keeps the keys of choices that are moved, renamed, added to and deleted", () => {
    const before = { 0: { text: "Red", order: "2" }, 4: { text: "Gren", order: "1" } };
    const keys = (text) => Object.entries(choicesOf(text, before)).sort(([, a], [, b]) => a.order - b.order).map(([key, choice]) => [key, choice.text]);
    assert.deepEqual(keys("Red\nGren"), [["0", "Red"], ["4", "Gren"]]);
    assert.deepEqual(keys(" Green \n\nRed"), [["4", "Green"], ["0", "Red"]]);
    assert.deepEqual(keys("Gren\nRed\nBlue\nBlue"), [["4", "Gren"], ["0", "Red"], ["5", "Blue"]]);
    assert.deepEqual(keys("Red\nBlue"), [["0", "Red"], ["5", "Blue"]]);
    assert.deepEqual([keys("Blue"), keys("Red")], [[["5", "Blue"]], [["0", "Red"]]]);
  });

  it("for accounts on another site has their addresses", () => {
    const store = storeWith({ realm_default_external_accounts: { github: { url_pattern: "https://github.com/%(username)s" } } });
    const url = (data) => accountUrl(store, { field_data: JSON.stringify(data) }, "a$&b");
    assert.equal(url({ subtype: "github" }), "https://github.com/a$&b");
    assert.equal(url({ subtype: "custom", url_pattern: "https://example.com/~%(username)s/" }), "https://example.com/~a$&b/");
    assert.deepEqual([url({ subtype: "gone" }), url(null)], ["", ""]);
  });
});

describe("a permission", () => {
  const system = (id, name) => ({ id, name: `role:${name}`, is_system_group: true, members: [], direct_subgroup_ids: [] });
  const made = { id: 7, name: "builders", is_system_group: false, members: [2], direct_subgroup_ids: [] };
  const store = storeWith({
    realm_user_groups: [system(1, "owners"), system(2, "everyone"), system(3, "internet"), system(4, "nobody"), system(5, "later"), made, { ...made, id: 8, name: "gone", deactivated: true }],
    server_supported_permission_settings: { realm: { narrow: { require_system_group: true, allow_everyone_group: false, allow_nobody_group: false }, wide: { allow_internet_group: true } } },
  });

  it("names the groups that its rules allow, and several of them unless they are those of the system", () => {
    const named = (setting) => groupsFor(store, "realm", setting).map(({ name }) => name.replace("role:", ""));
    assert.deepEqual(named("narrow"), ["owners"]);
    assert.deepEqual(named("wide"), ["owners", "everyone", "internet", "nobody", "builders"]);
    assert.deepEqual(named("without rules"), ["owners", "everyone", "nobody", "builders"]);
    assert.deepEqual(["narrow", "wide", "without rules"].map((setting) => mayMix(store, "realm", setting)), [false, true, true]);
  });

  it("is written as one group where it is one, and has a text", () => {
    const mixed = (direct_members, direct_subgroups) => ({ direct_members, direct_subgroups });
    assert.deepEqual([asMixed(7), asMixed(mixed([2], [7]))], [mixed([], [7]), mixed([2], [7])]);
    assert.deepEqual([mixed([], [7]), mixed([2], [7]), mixed([], [1, 7]), mixed([], [])].map(simplest), [7, mixed([2], [7]), mixed([], [1, 7]), mixed([], [])]);
    assert.deepEqual([1, mixed([2], [7, 99]), mixed([], [])].map((value) => settingText(store, value)), ["Owners", "builders, ?, Bob", "Nobody"]);
  });
});

describe("settings of the organization that only owners change", () => {
  it("are those of the server", () => {
    const source = (path) => readFileSync(new URL(`../../src/domain/${path}`, import.meta.url), "utf8");
    const permissions = source("groups/permission.rs").matchAll(/"(\w+)",\s*system\([^"]*\.by_owners\(\)/g);
    const switches = source("realm/settings.rs").matchAll(/"(\w+)",(?:(?!(?:server|clients|unused)\()[^])*?\.by\(Owner\)/g);
    const ofServer = [...permissions, ...switches].map(([, name]) => name);
    const shown = [...organizationPermissions(), ...organizationSwitches(true)].flatMap((one) => (typeof one === "string" ? [] : [one[0]]));
    assert.ok(ofServer.includes("waiting_period_threshold") && ofServer.includes("can_manage_all_groups"), ofServer.join());
    assert.deepEqual(FOR_OWNERS, shown.filter((name) => ofServer.includes(name)).toSorted());
  });
});

describe("the kinds of channels", () => {
  it("are those that the user may create", () => {
    const kinds = (groups, isOpen) => {
      const given = Object.fromEntries(["public", "private", "web_public"].map((name) => [`realm_can_create_${name}_channel_group`, groups.includes(name) ? 1 : 2]));
      const store = storeWith({ realm_user_groups: [{ id: 1, name: "all", members: [1], direct_subgroup_ids: [] }], realm_enable_spectator_access: isOpen, ...given });
      return ["public", "private", "protected", "web-public"].filter((kind) => mayHaveKind(store, kind));
    };
    assert.deepEqual(kinds(["public", "private", "web_public"], true), ["public", "private", "protected", "web-public"]);
    assert.deepEqual(kinds(["public", "private", "web_public"], false), ["public", "private", "protected"]);
    assert.deepEqual([kinds(["private", "web_public"], true), kinds(["public"], true)], [["private", "protected"], ["public"]]);
  });
});

describe("how long messages are kept", () => {
  it("is a choice, with the time that was set elsewhere", () => {
    const choices = (days, isChannel) => {
      const { options, value } = retentionChoices(days, isChannel);
      return [value, ...options.map(([key]) => key)];
    };
    const common = ["unlimited", 30, 90, 365, 1095];
    assert.deepEqual(choices(null, true), ["realm_default", "realm_default", ...common, "other"]);
    assert.deepEqual(choices(-1, false), ["unlimited", ...common, "other"]);
    assert.deepEqual(choices(365, false), ["365", ...common, "other"]);
    assert.deepEqual(choices(7, true), ["7", "realm_default", ...common, 7, "other"]);
  });
});

describe("roles", () => {
  const asRole = (role) => storeWith({ is_owner: role <= 100, is_admin: role <= 200, is_moderator: role <= 300 });
  const numbers = (roles) => roles.map(([role]) => Number(role));

  it("of invited people are those that the server takes", () => {
    assert.deepEqual([100, 200, 300, 400].map((role) => numbers(rolesOfInvited(asRole(role)))), [[100, 200, 300, 400, 600], [200, 300, 400, 600], [400, 600], [400, 600]]);
  });

  it("of people and bots are chosen among those that the server takes", () => {
    const chosen = (role, present, more) => numbers(rolesFor(asRole(role), user(5, "Eve", { role: present, ...more })));
    assert.deepEqual([chosen(100, 400), chosen(200, 400)], [[100, 200, 300, 400, 600], [200, 300, 400, 600]]);
    assert.deepEqual([chosen(100, 100), chosen(200, 100)], [[100, 200, 300, 400, 600], [100]]);
    assert.deepEqual([chosen(100, 600), chosen(100, 400, { is_bot: true })], [[300, 400, 600], [400, 600]]);
  });

  it("decide who deactivates accounts: only owners those of owners", () => {
    const may = (role, id, present) => mayDeactivate(asRole(role), user(id, "Eve", { role: present }));
    assert.deepEqual([may(100, 5, 100), may(200, 5, 100), may(200, 5, 200), may(200, 1, 200), may(300, 5, 400)], [true, false, true, false, false]);
  });
});

describe("the own name, picture and email", () => {
  it("are changed by administrators only, where the organization wants that", () => {
    const store = storeWith({ is_admin: false, realm_name_changes_disabled: true, realm_avatar_changes_disabled: false });
    const may = () => ["name", "avatar", "email"].map((part) => mayChangeOwn(store, part));
    assert.deepEqual(may(), [false, true, true]);
    store.state.is_admin = true;
    assert.deepEqual(may(), [true, true, true]);
  });
});

describe("links for new passwords", () => {
  it("are made by administrators, while passwords can be used", () => {
    const store = storeWith({ is_admin: true, is_owner: false });
    const may = (id) => mayResetPassword(store, store.users.get(id));
    assert.deepEqual([may(1), may(2)], [false, true]);
    store.state.realm_password_auth_enabled = false;
    assert.equal(may(2), false);
    store.state.realm_password_auth_enabled = true;
    store.state.is_admin = false;
    assert.equal(may(2), false);
  });
});

describe("a deletion", () => {
  it("can be taken back as long as there is a button for that", () => {
    // The button comes with the next frame, which may be late.
    assert.ok(TIME_TO_UNDO >= ACTION_TIME + 500);
  });

  it("waits for its time to be taken back, and comes back if it is refused", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const log = [];
    let isRefused = false;
    const deletions = createDeletions({ hide: (id, isHidden) => log.push([isHidden ? "hide" : "show", id]), remove: async (id) => { log.push(["remove", id]); return isRefused ? undefined : {}; } });
    deletions.begin(1);
    deletions.begin(1);
    test.mock.timers.tick(TIME_TO_UNDO - 1);
    assert.equal(deletions.undo(1), true);
    test.mock.timers.tick(TIME_TO_UNDO);
    assert.deepEqual(log.splice(0), [["hide", 1], ["show", 1]]);
    deletions.begin(2);
    test.mock.timers.tick(TIME_TO_UNDO);
    assert.equal(deletions.undo(2), false);
    isRefused = true;
    deletions.begin(3);
    await deletions.flush();
    assert.deepEqual(log, [["hide", 2], ["remove", 2], ["hide", 3], ["remove", 3], ["show", 3]]);
  });
});

describe("notices", () => {
  it("are shown once, and report actions that fail but not those that were cancelled", async (test) => {
    test.mock.method(console, "error", () => {});
    const { tell, take, attempt } = createNotices();
    tell("The message was deleted.");
    assert.deepEqual(take(), [{ text: "The message was deleted.", isError: false, action: undefined }]);
    assert.deepEqual(take(), []);
    assert.equal(await attempt(Promise.resolve(7)), 7);
    assert.equal(await attempt(Promise.reject(new DOMException("", "AbortError"))), undefined);
    assert.deepEqual(take(), []);
    assert.equal(await attempt(Promise.reject(new Error("Invalid stream ID"))), undefined);
    assert.deepEqual(take(), [{ text: "Invalid stream ID", isError: true, action: undefined }]);
  });
});

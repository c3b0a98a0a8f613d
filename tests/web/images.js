/** Writes the images of README and of the book again: node images.js [NAME]... */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atRest, enter, launchBrowser, openPage, ROOT, until, untilStable, untilText } from "./harness.js";
import { startTeam } from "./team.js";

/** The largest image, in bytes. Images of the book are a part of the program. */
const MAX_SIZE = 60_000;

const { server, idOf } = await startTeam();

/** Creates a bot of Ada, with the address and the key that programs use. */
async function createBot(full_name, more) {
  const { user_id, api_key } = await server.call("Ada", "POST", "/bots", { full_name, short_name: full_name.toLowerCase(), ...more });
  const { bots } = await server.call("Ada", "GET", "/bots");
  server.accounts[full_name] = { email: bots.find((bot) => bot.full_name === full_name).username, user_id, api_key };
}

await createBot("Echo", { bot_type: 1 });
await server.direct("Ada", ["Echo"], "Is the build green?");
await server.direct("Echo", ["Ada"], "Is the build green?");
await server.direct("Ada", ["Echo"], "Say it in **bold**, with `code`.");
await server.direct("Echo", ["Ada"], "Say it in **bold**, with `code`.");

const alerts = await server.channel("alerts", ["Ada", "Bob"], { description: "Messages of programs" });

/** Posts a payload of `tests/api/integrations` through an incoming webhook, as the program does. */
async function deliver(name, integration, file, headers) {
  await createBot(name, { bot_type: 2, service_name: integration });
  const url = `${server.url}/api/v1/external/${integration}?api_key=${server.accounts[name].api_key}&stream=${alerts}`;
  const body = readFileSync(join(ROOT, "tests/api/integrations", integration, `${file}.json`));
  const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body });
  if (!response.ok) throw new Error(`${integration}: ${await response.text()}`);
}

await deliver("Gitea", "gitea", "pull_request_opened", { "X-Gitea-Event": "pull_request" });
await deliver("Grafana", "grafana", "firing", {});

const WIDE = { width: 1200, height: 750 };
const NORMAL = { width: 960, height: 640 };
const DARK = { width: 960, height: 600, dark: true };
const PHONE = { width: 390, height: 780, touch: true };
const offsite = `#narrow/channel/${idOf("general")}-general/topic/offsite`;

/** Each with its file, its size, the view, words of the view for `atRest`, and words that come last. */
const IMAGES = [
  ["conversation", WIDE, offsite, "offsite", "Lentils"],
  ["dark", DARK, "#feed", "Combined feed", "Lentils"],
  ["phone", PHONE, offsite, "offsite", "Lentils"],
  ["search", NORMAL, `#narrow/channel/${idOf("general")}-general/search/last`, "Search results", "without changing"],
  ["notifications", NORMAL, "#settings/notifications", "Settings|Notifications", "Turn on push notifications on this device"],
  ["bot", NORMAL, `#narrow/dm/${server.accounts.Echo.user_id}-Echo`, "Echo", "Say it in"],
  ["your-bots", NORMAL, "#settings/your-bots", "Settings|Your bots", "Create the bot"],
  ["connect", NORMAL, "#integrations", "Connect another program|", "Grafana"],
  ["integration", NORMAL, `#narrow/channel/${alerts}-alerts`, "alerts", "High memory usage"],
  ["invite", NORMAL, "#invite", "Invite people|", "Create link"],
  ["organization", NORMAL, "#organization/organization-settings", "Organization|Settings", "Video calls"],
  ["audit-log", NORMAL, "#organization/audit-log", "Organization|Audit log", "from 127.0.0.1"],
];

const only = process.argv.slice(2);
const browser = await launchBrowser();
for (const [name, size, fragment, view, words] of IMAGES) {
  if (only.length > 0 && !only.includes(name)) continue;
  const page = await openPage(browser, server, size);
  // The page does not ask for the permission.
  await page.browserContext().overridePermissions(server.url, ["notifications"]);
  await enter(page, server, "Ada");
  await page.evaluate((next) => { location.hash = next; }, fragment);
  await atRest(page, view);
  await untilText(page, ".message-row, dialog", words);
  await until(page, () => [...document.images].every((image) => {
    const { left, right, top, bottom, width } = image.getBoundingClientRect();
    return image.complete || width === 0 || bottom <= 0 || top >= innerHeight || right <= 0 || left >= innerWidth;
  }));
  await untilStable(page, "body", (body) => body.innerHTML.length);
  if (page.problems.length > 0) throw new Error(`${name}: ${page.problems.join(", ")}`);
  const image = await page.screenshot({ type: "webp", quality: 80 });
  if (image.length > MAX_SIZE) throw new Error(`${name} has ${image.length} bytes, more than ${MAX_SIZE}`);
  writeFileSync(join(ROOT, "docs/images", `${name}.webp`), image);
  console.log(`${String(image.length).padStart(6)}  docs/images/${name}.webp`);
  await page.closeContext();
}
await browser.close();
await server.close();

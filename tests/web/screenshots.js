/** Pictures of every view at three widths, into `out/`: node screenshots.js [folder] */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { click, focusOn, launchBrowser, logIn, openPage, press } from "./harness.js";
import { startTeam } from "./team.js";

const out = process.argv[2] ?? new URL("out", import.meta.url).pathname;
mkdirSync(out, { recursive: true });

const { server, idOf } = await startTeam();
const browser = await launchBrowser();
const ids = Object.values(server.accounts).map(({ user_id }) => user_id);
const topic = `#narrow/channel/${idOf("general")}-general/topic/offsite`;
const VIEWS = [
  ["inbox", "#inbox"], ["recent", "#recent"], ["topic", topic], ["code", `#narrow/channel/${idOf("design")}-design/topic/contrast`], ["channel", `#narrow/channel/${idOf("general")}-general`], ["feed", "#feed"],
  ["direct", `#narrow/dm/${ids[1]}-Bob`], ["mentions", "#narrow/is/mentioned"], ["search", "#narrow/search/train"], ["drafts", "#drafts"], ["scheduled", "#scheduled"],
  ["channels", "#channels/all"], ["channel-new", "#channels/new"], ["channel-settings", `#channels/${idOf("general")}/general/general`], ["channel-permissions", `#channels/${idOf("general")}/general/permissions`], ["groups", "#groups/all"],
  ["settings-profile", "#settings/profile"], ["settings-preferences", "#settings/preferences"], ["settings-notifications", "#settings/notifications"], ["settings-devices", "#settings/devices"], ["settings-bots", "#settings/your-bots"], ["settings-views", "#settings/views"], ["integrations", "#integrations"],
  ["organization", "#organization/organization-profile"], ["organization-permissions", "#organization/organization-permissions"], ["organization-users", "#organization/users/active"], ["organization-fields", "#organization/profile-field-settings"], ["organization-defaults", "#organization/organization-level-user-defaults"], ["organization-linkifiers", "#organization/linkifier-settings"], ["organization-audit-log", "#organization/audit-log"], ["topics", `#topics/channel/${idOf("general")}-general`],
  ["profile", `#user/${ids[1]}`], ["invite", "#invite"], ["keys", "#keyboard-shortcuts"], ["formatting", "#message-formatting"],
];
const invitation = (await server.call("Ada", "POST", "/invites/multiuse", { invite_as: 400, invite_expires_in_minutes: 600, stream_ids: [] })).invite_link;
const reset = (await server.call("Ada", "POST", `/users/${ids[1]}/password_reset`)).password_reset_link;
const settle = () => new Promise((resolve) => setTimeout(resolve, 450));
const only = process.argv[3]?.split(",");

for (const [width, height, dark] of [[1440, 900, false], [1024, 768, false], [390, 780, false], [1440, 900, true], [390, 780, true]]) {
  const page = await openPage(browser, server, { width, height, dark, touch: width < 500 });
  const name = `${width}${dark ? "-dark" : ""}`;
  await page.goto(server.url);
  await page.waitForSelector("#id_username");
  if (!only) {
    await page.screenshot({ path: join(out, `${name}-login.png`) });
    for (const [view, url] of [["join", invitation], ["password", reset]]) {
      await page.goto(url);
      await page.screenshot({ path: join(out, `${name}-${view}.png`) });
    }
    await page.goto(server.url);
  }
  await logIn(page, server, "Ada");
  await page.evaluate(() => localStorage.setItem("teamchat/asked", "1"));
  await page.reload();
  await page.waitForSelector(".app");
  for (const [view, hash] of VIEWS) {
    if (only && !only.includes(view)) continue;
    await page.evaluate((next) => { location.hash = next; }, hash);
    await settle();
    await page.screenshot({ path: join(out, `${name}-${view}.png`) });
  }
  if (!only || only.includes("parts")) {
    await page.evaluate((next) => { location.hash = next; }, topic);
    await settle();
    if (width < 500) {
      await click(page, ".header__left");
      await settle();
      await page.screenshot({ path: join(out, `${name}-sidebar.png`) });
      await page.evaluate(() => document.querySelector(".scrim").click());
    } else if (!dark) {
      await focusOn(page, ".composer .editor__text");
      await page.keyboard.type("Hello @");
      await page.keyboard.type("c");
      await settle();
      await page.screenshot({ path: join(out, `${name}-completion.png`) });
      await page.keyboard.press("Escape");
      for (let count = 0; count < 8; count++) await page.keyboard.press("Backspace");
      await page.keyboard.press("Escape");
      await page.keyboard.press("k");
      await page.keyboard.press("i");
      await settle();
      await page.screenshot({ path: join(out, `${name}-menu.png`) });
      await page.keyboard.press("Escape");
      await page.keyboard.press(":");
      await settle();
      await page.screenshot({ path: join(out, `${name}-emoji.png`) });
      await page.keyboard.press("Escape");
      await page.keyboard.press("u");
      await settle();
      await page.screenshot({ path: join(out, `${name}-card.png`) });
      await page.keyboard.press("Escape");
      await press(page, "Control+k");
      await settle();
      await page.screenshot({ path: join(out, `${name}-palette.png`) });
      await page.keyboard.press("Escape");
    }
  }
  if (page.problems.length > 0) console.log(name, page.problems);
  await page.closeContext();
}
await browser.close();
await server.close();

/** Pictures of every view at three widths, into `out/`: node screenshots.js [folder] */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { click, focusOn, launchBrowser, logIn, openPage, press, startServer } from "./harness.js";

const out = process.argv[2] ?? new URL("out", import.meta.url).pathname;
mkdirSync(out, { recursive: true });

const PEOPLE = [{ name: "Ada", role: "owner" }, { name: "Bob" }, { name: "Cleo" }, { name: "Dmitri" }, { name: "Eun-ji" }, { name: "Fatima" }];
const server = await startServer({ people: PEOPLE });
const browser = await launchBrowser();
const ids = Object.values(server.accounts).map(({ user_id }) => user_id);

const CHANNELS = [["general", "What concerns everybody"], ["design", "How it looks, and why"], ["garden", "Tomatoes, mostly"], ["kitchen", "Lunch"], ["releases", "What goes out when"]];
for (const [name, description] of CHANNELS) await server.channel(name, Object.keys(server.accounts), { description });
await server.channel("finances", ["Ada", "Bob", "Cleo"], { description: "For few", invite_only: true });
const folder = await server.call("Ada", "POST", "/channel_folders/create", { name: "Products", description: "" });
const { streams } = await server.call("Ada", "GET", "/streams");
const idOf = (name) => streams.find((stream) => stream.name === name).stream_id;
for (const name of ["design", "releases"]) await server.call("Ada", "PATCH", `/streams/${idOf(name)}`, { folder_id: folder.channel_folder_id });
await server.call("Ada", "POST", "/users/me/subscriptions/properties", { subscription_data: [{ stream_id: idOf("general"), property: "pin_to_top", value: true }, { stream_id: idOf("kitchen"), property: "is_muted", value: true }] });

await server.send("Bob", "general", "offsite", "We have the house from Thursday to Sunday. Who comes by train?");
const offsite = await server.send("Cleo", "general", "offsite", "I do! The 9:12 is the last one without changing :train:\n\n* bring **boots**\n* and a torch");
await server.send("Dmitri", "general", "offsite", "> the 9:12 is the last one\n\nThen I should leave at eight. @**Ada** do you drive?");
await server.call("Ada", "POST", `/messages/${offsite.id}/reactions`, { emoji_name: "tada" });
await server.call("Bob", "POST", `/messages/${offsite.id}/reactions`, { emoji_name: "tada" });
await server.send("Ada", "general", "offsite", "I do, and there are three seats left.");
await server.send("Eun-ji", "general", "offsite", "/poll What do we cook?\nLentils\nLasagne\nSoup");
await server.send("Bob", "design", "contrast", "This is what the tokens compute:\n\n```python\ndef contrast(one, other):\n    # WCAG 2.2, 1.4.3\n    light, dark = sorted((luminance(one), luminance(other)), reverse=True)\n    return (light + 0.05) / (dark + 0.05)\n```\n\n| theme | text | ratio |\n|---|---|--:|\n| light | quiet | 5.4 |\n| dark | quiet | 7.1 |");
await server.send("Cleo", "design", "contrast", "And $$L = 0.2126 R + 0.7152 G + 0.0722 B$$ as a formula. See #**general>offsite**.");
await server.send("Fatima", "garden", "slugs", "They are back :snail:");
await server.send("Fatima", "releases", "0.2", "Tagged. <time:2027-03-01T10:00:00Z> is when it goes out.");
await server.send("Dmitri", "kitchen", "coffee", "We are out of coffee.");
await server.send("Cleo", "finances", "2027", "The draft is in the folder.");
await server.direct("Bob", ["Ada"], "Do you have a minute?");
await server.direct("Cleo", ["Ada", "Bob"], "The three of us should talk about the budget.");
await server.call("Bob", "POST", "/users/me/status", { status_text: "In a meeting", emoji_name: "calendar" });
for (const name of ["Bob", "Cleo"]) await server.call(name, "POST", "/users/me/presence", { status: name === "Bob" ? "active" : "idle", new_user_input: true });
await server.call("Ada", "POST", "/scheduled_messages", { type: "direct", to: [ids[1]], content: "Happy birthday!", scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 90_000 });
await server.call("Ada", "POST", "/drafts", { drafts: [{ type: "stream", to: [idOf("garden")], topic: "slugs", content: "Has anybody tried copper?" }] });

for (const [name, type, data] of [["Pronouns", 8, {}], ["Lunch", 3, { 0: { text: "Soup", order: "1" }, 1: { text: "Salad", order: "2" } }], ["Birthday", 4, {}]]) await server.call("Ada", "POST", "/realm/profile_fields", { name, field_type: type, field_data: data, hint: "" });
for (const [pattern, url_template] of [["#(?P<id>[0-9]+)", "https://example.com/issues/{id}"], ["DOC-(?P<id>[0-9]+)", "https://example.com/documents/{id}"]]) await server.call("Ada", "POST", "/realm/filters", { pattern, url_template });

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

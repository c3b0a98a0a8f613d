/** An organization of the size of a company: every view opens, and what arrives draws no more than what it changes; in headless Chromium
 * against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clickText, drawn, press, setUp, until, untilText } from "./harness.js";

const PEOPLE = 1000;
const CHANNELS = 300;
const MINE = 200;
const DIRECT = 60;
const MESSAGES = 20_000;

/** A thousand people, Ada among them, who is in two hundred of three hundred channels and writes with sixty people. */
function organization() {
  const names = ["Ada", "Bob", ...Array.from({ length: PEOPLE - 2 }, (_, index) => `Person ${String(index).padStart(3, "0")}`)];
  const email = (name) => `${name.toLowerCase().replace(" ", ".")}@example.com`;
  const users = names.map((name, index) => ({ email: email(name), full_name: name, role: index === 0 ? "owner" : "member", ...(index < 2 ? { api_key: `${name}-key`, password: "correct horse" } : {}) }));
  const channels = Array.from({ length: CHANNELS }, (_, index) => ({ name: `channel ${String(index).padStart(3, "0")}`, subscribers: [...(index < MINE ? [email("Ada")] : []), email("Bob"), email(names[2 + (index % 998)])] }));
  const messages = [];
  const now = Math.floor(Date.now() / 1000) - MESSAGES;
  for (let index = 0; index < DIRECT; index++) messages.push({ sender: email(names[2 + index]), to: [email("Ada")], content: `Hello from ${index}`, read: index % 2 === 0 });
  for (let index = messages.length; index < MESSAGES; index++) {
    const channel = (index * 7) % CHANNELS;
    messages.push({ sender: index % 3 === 0 ? email("Bob") : channels[channel].subscribers.at(-1), channel: channels[channel].name, topic: Math.floor(index / CHANNELS) % 4 === 0 ? "long run" : `topic ${index % 23}`, content: `Message ${index}`, read: index < MESSAGES - 1500 });
  }
  for (const [index, message] of messages.entries()) message.date = now + index;
  return { users, channels, messages };
}

const bench = setUp({ fixtures: organization() });
const { as, go } = bench;

const channelId = async (name) => (await bench.server.call("Ada", "GET", "/get_stream_id", { stream: name })).stream_id;
const say = (channel, topic, content) => bench.server.send("Bob", channel, topic, content);

describe("a large organization", () => {
  it("opens in every view", async () => {
    const ada = await as("Ada");
    const id = await channelId("channel 007");
    await until(ada, () => document.querySelectorAll(".sidebar [data-channel]").length === 200);
    await clickText(ada, ".sidebar .side-item--more", "More conversations");
    await until(ada, () => document.querySelectorAll(".sidebar a[href*='narrow/dm']").length === 60);
    for (const [fragment, selector, least] of [
      ["#inbox", ".inbox__list .conversation", 300],
      ["#recent", ".recent .conversation", 100],
      ["#feed", ".message-row", 100],
      [`#narrow/channel/${id}`, ".message-row", 50],
      [`#narrow/channel/${id}/topic/long.20run`, ".message-row", 10],
      [`#topics/channel/${id}`, ".recent .conversation", 5],
      ["#narrow/is/dm", ".message-row", 60],
      ["#channels/all", "dialog .row", 300],
      ["#organization/users", "dialog .row", 50],
      ["#settings/profile", "dialog input", 1],
      ["#invite", "dialog input[type=checkbox]", 100],
      ["#groups/all", "dialog", 1],
    ]) {
      await go(ada, fragment);
      await until(ada, (where, count) => document.querySelectorAll(where).length >= count, selector, least).catch(() => assert.fail(`${fragment} does not show ${least} ${selector}`));
    }
    await ada.reload();
    await ada.waitForSelector(".sidebar [data-channel]");
  });

  it("draws little for a message elsewhere, and keeps the focus, a click under way, and a menu", async () => {
    const ada = await as("Ada", `#narrow/channel/${await channelId("channel 003")}/topic/long.20run`);
    await ada.waitForSelector(".message-row");
    await say("channel 011", "noise", "First");
    await untilText(ada, ".sidebar [data-channel] .count", "1");
    let number = 0;
    const count = (name) => ada.$$eval(".sidebar [data-channel]", (rows, wanted) => rows.find((row) => row.textContent.includes(wanted)).querySelector(".count")?.textContent, name);
    const another = async () => {
      const before = await count("channel 011");
      await say("channel 011", "noise", `Message ${++number}`);
      await until(ada, (name, old) => [...document.querySelectorAll(".sidebar [data-channel]")].find((row) => row.textContent.includes(name)).querySelector(".count")?.textContent !== old, "channel 011", before);
    };
    assert.ok(await drawn(ada, ".sidebar", another) < 60, "the left column");
    // The focus is on the row that changes.
    await ada.$$eval(".sidebar [data-channel] a", (links) => links.find((link) => link.textContent.includes("channel 011")).focus());
    await another();
    assert.match(await ada.evaluate(() => document.activeElement.textContent), /channel 011/);
    // A button is pressed while a message arrives.
    const box = await ada.$$eval(".sidebar [data-channel] a", (links) => {
      const { x, y, width, height } = links.find((link) => link.textContent.includes("channel 011")).getBoundingClientRect();
      return { x: x + width / 3, y: y + height / 2 };
    });
    await ada.mouse.move(box.x, box.y);
    await ada.mouse.down();
    await another();
    await ada.mouse.up();
    await untilText(ada, ".header h1", "channel 011");
    // A menu gives the focus back.
    await ada.hover(".sidebar [aria-label='Actions on channel 012']");
    await ada.focus(".sidebar [aria-label='Actions on channel 012']");
    await ada.keyboard.press("Enter");
    await ada.waitForSelector("[role=menu]");
    await say("channel 012", "noise", "One more");
    await until(ada, () => [...document.querySelectorAll(".sidebar [data-channel]")].find((row) => row.textContent.includes("channel 012")).querySelector(".count"));
    await ada.keyboard.press("Escape");
    assert.equal(await ada.evaluate(() => document.activeElement.getAttribute("aria-label")), "Actions on channel 012");
  });

  it("draws little in the inbox and in the recent conversations, and keeps the focus there", async () => {
    const ada = await as("Ada", "#inbox");
    await until(ada, () => document.querySelectorAll(".inbox__list .conversation").length > 300);
    let number = 0;
    for (const [fragment, list] of [["#inbox", ".inbox__list"], ["#recent", ".recent"]]) {
      await go(ada, fragment);
      await ada.waitForSelector(`${list} .conversation`);
      await say("channel 020", "long run", "Bring it in");
      await untilText(ada, `${list} .conversation`, "long run");
      const focused = await ada.$$eval(`${list} .conversation`, (links) => { links[7].focus(); return links[7].getAttribute("href"); });
      const amount = await drawn(ada, ".middle__view", async () => {
        number += 1;
        await say("channel 020", `fresh ${number}`, "Only this row");
        await untilText(ada, `${list} .conversation`, `fresh ${number}`);
      });
      assert.ok(amount < 100, `${fragment}: ${amount}`);
      assert.equal(await ada.evaluate(() => document.activeElement.getAttribute("href")), focused, fragment);
    }
  });

  it("finds any topic and person with Ctrl-K, the first time", async () => {
    await say("channel 150", "heliotrope", "A rare one");
    const ada = await as("Ada", "#inbox");
    await press(ada, "Control+k");
    await ada.keyboard.type("heliotrope");
    await untilText(ada, ".palette__list", "Topic in #channel 150");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".message-row", "A rare one");
    await press(ada, "Control+k");
    await ada.keyboard.type("xyzzyx");
    await untilText(ada, ".dialog--palette", "Nothing has this name");
  });
});

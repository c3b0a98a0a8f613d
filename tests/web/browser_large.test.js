/** An organization of the size of a company: every view opens, and what arrives draws no more than what it changes; in headless Chromium
 * against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { act, chooseFrom, clickText, drawn, eventually, hoverOver, onElements, press, pressOn, setUp, typeInto, until, untilFocus, untilText } from "./harness.js";
import { largeOrganization } from "./organization.js";

const bench = setUp({ fixtures: largeOrganization() });
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
      ["#invite", "dialog .picker", 1],
      ["#groups/all", "dialog", 1],
    ]) {
      await go(ada, fragment);
      await until(ada, (where, count) => document.querySelectorAll(where).length >= count, selector, least).catch(() => assert.fail(`${fragment} does not show ${least} ${selector}`));
    }
    // The list of conversations goes on beyond the messages that were fetched first.
    await go(ada, "#recent");
    await ada.waitForSelector(".recent .conversation");
    const listed = await onElements(ada, ".recent .conversation", (rows) => rows.length);
    await clickText(ada, ".recent__older", "Show older conversations");
    await until(ada, (before) => document.querySelectorAll(".recent .conversation").length > before, listed);
    // The button keeps the focus for the next ones.
    const more = await onElements(ada, ".recent .conversation", (rows) => rows.length);
    await pressOn(ada, ".recent__older", "Enter");
    await until(ada, (before) => document.querySelectorAll(".recent .conversation").length > before, more);
    await untilFocus(ada, ".recent__older");
    await ada.reload();
    await ada.waitForSelector(".sidebar [data-channel]");
  });

  it("lists all accounts, some at a time", async () => {
    const ada = await as("Ada", "#organization/users");
    await until(ada, () => document.querySelectorAll("dialog .rows > .row").length === 500);
    await clickText(ada, "dialog button", "Show more");
    await untilText(ada, "dialog .rows > .row", "Person 997");
    await until(ada, () => document.activeElement === document.querySelectorAll("dialog .rows > .row")[500]);
    await typeInto(ada, "dialog [aria-label='Filter accounts']", "no such name");
    await untilText(ada, "dialog .empty:not([hidden])", "No matches.");
  });

  it("invites into any channel, of which none is listed before it is looked for", async () => {
    const ada = await as("Ada", "#invite");
    await untilText(ada, "dialog label", "More channels");
    await eventually(async () => assert.ok((await onElements(ada, "dialog *", (all) => all.length)) < 150));
    await chooseFrom(ada, "More channels", "199", "channel 199");
    await untilText(ada, "dialog .pill", "#channel 199");
  });

  it("draws little for a message elsewhere, and keeps the focus, a click under way, and a menu", async () => {
    const ada = await as("Ada", `#narrow/channel/${await channelId("channel 003")}/topic/long.20run`);
    await ada.waitForSelector(".message-row");
    await say("channel 011", "noise", "First");
    await untilText(ada, ".sidebar [data-channel] .count", "1");
    let number = 0;
    const count = (name) => onElements(ada, ".sidebar [data-channel]", (rows, wanted) => rows.find((row) => row.textContent.includes(wanted)).querySelector(".count")?.textContent, name);
    const another = async () => {
      const before = await count("channel 011");
      await say("channel 011", "noise", `Message ${++number}`);
      await until(ada, (name, old) => [...document.querySelectorAll(".sidebar [data-channel]")].find((row) => row.textContent.includes(name)).querySelector(".count")?.textContent !== old, "channel 011", before);
    };
    assert.ok(await drawn(ada, ".sidebar", another) < 60, "the left column");
    // The focus is on the row that changes.
    await act(ada, ".sidebar [data-channel] a", "channel 011", "focus");
    await another();
    await eventually(async () => assert.match(await ada.evaluate(() => document.activeElement.textContent), /channel 011/));
    // A button is pressed while a message arrives.
    const box = await onElements(ada, ".sidebar [data-channel] a", (links) => {
      const { x, y, width, height } = links.find((link) => link.textContent.includes("channel 011")).getBoundingClientRect();
      return { x: x + width / 3, y: y + height / 2 };
    });
    await ada.mouse.move(box.x, box.y);
    await ada.mouse.down();
    await another();
    await ada.mouse.up();
    await untilText(ada, ".header h1", "channel 011");
    // A menu gives the focus back.
    await hoverOver(ada, ".sidebar [aria-label='Actions on channel 012']");
    await pressOn(ada, ".sidebar [aria-label='Actions on channel 012']", "Enter");
    await ada.waitForSelector("[role=menu]");
    await say("channel 012", "noise", "One more");
    await until(ada, () => [...document.querySelectorAll(".sidebar [data-channel]")].find((row) => row.textContent.includes("channel 012")).querySelector(".count"));
    await ada.keyboard.press("Escape");
    await eventually(async () => assert.equal(await ada.evaluate(() => document.activeElement.getAttribute("aria-label")), "Actions on channel 012"));
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
      const focused = await onElements(ada, `${list} .conversation`, (links) => { links[7].focus(); return links[7].getAttribute("href"); });
      const amount = await drawn(ada, ".middle__view", async () => {
        number += 1;
        await say("channel 020", `fresh ${number}`, "Only this row");
        await untilText(ada, `${list} .conversation`, `fresh ${number}`);
      });
      assert.ok(amount < 100, `${fragment}: ${amount}`);
      await eventually(async () => assert.equal(await ada.evaluate(() => document.activeElement.getAttribute("href")), focused, fragment));
    }
  });

  it("finds any topic and person with Ctrl-K, the first time", async () => {
    await say("channel 150", "heliotrope", "A rare one");
    const ada = await as("Ada", "#inbox");
    await press(ada, "Control+k");
    await untilFocus(ada, ".dialog--palette input");
    await ada.keyboard.type("heliotrope");
    await untilText(ada, ".palette__list", "Topic in #channel 150");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".message-row", "A rare one");
    await press(ada, "Control+k");
    await untilFocus(ada, ".dialog--palette input");
    await ada.keyboard.type("xyzzyx");
    await untilText(ada, ".dialog--palette", "No matches.");
  });
});

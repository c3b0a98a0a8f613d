/** Modules that are still loading when they are needed; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { axeViolations } from "./axe.js";
import { click, countOf, enter, eventually, focusOn, hold, IS_FIREFOX, onElement, press, pressOn, setUp, until, untilAllEqual, untilEqual, untilFocus, untilText, untilToast, wake, write } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

describe("a dialog that is still loading", () => {
  /** Opens a page for Ada whose module in a file of these names is held. */
  async function openHolding(names) {
    const ada = await bench.open();
    const held = await hold(ada, (request) => names.test(request.url()));
    await enter(ada, bench.server, "Ada");
    return { ada, held };
  }

  // Firefox loads a module also while its request is held.
  it("has the keys already, so that what is typed is no command", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Ada", "general", "slow", "to be edited");
    const { ada, held } = await openHolding(/\/(message_dialogs|later)\.js$/);
    await go(ada, await at("general", "slow"));
    await untilText(ada, ".message-row", "to be edited");
    // A page that has come to rest loads the dialogs, and draws its list no more: before, a focused row may be replaced.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, ".message-row:last-of-type", "e");
    await ada.keyboard.press("?");
    await held[0].continue();
    await until(ada, () => document.querySelector(".message-row textarea")?.value === "to be edited?");
    assert.equal(await countOf(ada, "dialog[open]"), 0, "the list of keys has not opened");
  });

  it("opens beside its message, also if another one has the focus by then", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "menus", "the one");
    const { id: other } = await bench.server.send("Bob", "general", "menus", "the other");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "menus"));
    await untilText(ada, `[data-id="${other}"]`, "the other");
    // As above: the rows stay as they are once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await focusOn(ada, `[data-id="${other}"]`);
    await held[0].continue();
    await ada.waitForSelector("[role=menu]");
    assert.equal(await countOf(ada, `[data-id="${id}"] [aria-expanded=true]`), 1);
  });

  it("has the arrows and Enter as well, which choose in a menu", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "choosing", "to be looked at");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "choosing"));
    await untilText(ada, `[data-id="${id}"]`, "to be looked at");
    // As above: the rows stay as they are once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await ada.keyboard.press(key);
    await held[0].continue();
    await untilText(ada, "dialog h2", "Source of the message");
  });

  it("opens once, however often it is asked for meanwhile", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(time_dialog|later)\.js$/);
    await go(ada, await at("general", "clocks"));
    for (let count = 0; count < 2; count++) await click(ada, '.composer [aria-label="Time"]');
    await eventually(() => assert.equal(held.length, 1));
    await held[0].continue();
    await ada.waitForSelector("dialog[open]");
    assert.equal(await countOf(ada, "dialog[open]"), 1, "the button was clicked twice");
  });

  it("is a menu that stays open, with nothing chosen, if its button is pressed again", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "doubled", "with a menu");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "doubled"));
    await untilText(ada, `[data-id="${id}"]`, "with a menu");
    // As above: the rows stay as they are once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await focusOn(ada, `[data-id="${id}"]`);
    for (let count = 0; count < 2; count++) await pressOn(ada, `[data-id="${id}"] [data-action=menu]`, "Enter");
    await click(ada, `[data-id="${id}"] [data-action=menu]`);
    await held[0].continue();
    await untilFocus(ada, "[role=menuitem]");
    await ada.keyboard.press("ArrowDown");
    await until(ada, () => document.activeElement.textContent.startsWith("Forward"));
  });

  it("opens beside its message as it is drawn by then, and gives the focus back there", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "redrawn", "drawn again");
    const row = `[data-id="${id}"]`;
    const setStar = (op) => bench.server.call("Ada", "POST", "/messages/flags", { messages: [id], op, flag: "starred" });
    const { ada, held } = await openHolding(/\/(user_card|later)\.js$/);
    await go(ada, await at("general", "redrawn"));
    await untilText(ada, row, "drawn again");
    // As above: only the star draws the row again.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, row, "u");
    await setStar("add");
    await ada.waitForSelector(`${row} .mark--star`);
    await held[0].continue();
    await ada.waitForSelector(".popover .card");
    assert.equal(await countOf(ada, `${row} [aria-expanded=true]`), 1);
    const isBeside = (card, where) => card.getBoundingClientRect().left >= document.querySelector(where).getBoundingClientRect().left;
    assert.ok(await onElement(ada, ".popover", isBeside, row), "not in a corner of the page");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector(".popover"));
    // The toolbar goes along with its row.
    await focusOn(ada, row);
    await pressOn(ada, `${row} [data-action=menu]`, "Enter");
    await untilFocus(ada, "[role=menuitem]");
    await setStar("remove");
    await until(ada, (selector) => !document.querySelector(`${selector} .mark--star`), row);
    await ada.keyboard.press("Escape");
    await untilFocus(ada, `${row} [data-action=menu]`);
  });

  it("does not open if its message is gone", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "gone", "deleted soon");
    await bench.server.send("Bob", "general", "gone", "still there");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "gone"));
    await untilText(ada, `[data-id="${id}"]`, "deleted soon");
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    await until(ada, (selector) => !document.querySelector(selector), `[data-id="${id}"]`);
    await held[0].continue();
    // Keys are held until it opens.
    await until(ada, () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Backspace", repeat: true, bubbles: true, cancelable: true })));
    assert.equal(await countOf(ada, "[role=menu]"), 0);
  });

  it("has them also where the fragment opens it", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(invite|later)\.js$/);
    await ada.waitForSelector(".inbox__list");
    await go(ada, "#invite");
    // The module may be on its way already, since the page has come to rest: keys are held once the overlay waits for it.
    await until(ada, () => !document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Backspace", repeat: true, bubbles: true, cancelable: true })));
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("?d");
    await held[0].continue();
    await until(ada, () => document.activeElement.closest("dialog") && document.activeElement.value === "?d");
    assert.equal(await countOf(ada, "dialog[open]"), 1, "no other overlay has opened");
  });

  it("leaves no trace in the URL if it cannot be loaded, so that its link asks again", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(invite|later)\.js$/);
    ada.expected.push(/ERR_FAILED/);
    await ada.waitForSelector(".inbox__list");
    await go(ada, "#recent");
    await go(ada, "#invite");
    await eventually(() => assert.equal(held.length, 1));
    await held[0].abort();
    await untilToast(ada, "This could not be loaded.");
    await until(ada, () => location.hash === "#recent");
  });

  it("has them also where the command was given in a field, which gets the focus back", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(search|later)\.js$/);
    await go(ada, await at("general", "palette"));
    await write(ada, "Half");
    await press(ada, "Control+k");
    await press(ada, "Control+k");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("des");
    await held[0].continue();
    await until(ada, () => document.activeElement.closest("dialog") && document.activeElement.value === "des");
    assert.equal(await countOf(ada, "dialog[open]"), 1, "the key was pressed twice");
    await ada.keyboard.press("Escape");
    await untilFocus(ada, ".composer .editor__text");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "Half");
  });

  it("gives the focus back if it cannot be loaded, without the keys that were meant for it", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(search|later)\.js$/);
    ada.expected.push(/ERR_FAILED/);
    await go(ada, await at("general", "no.20palette"));
    await write(ada, "Half");
    await press(ada, "Control+k");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("des");
    await held[0].abort();
    await untilToast(ada, "This could not be loaded.");
    await untilFocus(ada, ".composer .editor__text");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "Half");
  });

  // Firefox lets no script say what the clipboard has.
  it("is not waited for by what is pasted: it is plain text before, to which one can write on", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(paste|later)\.js$/);
    await go(ada, await at("general", "clippings"));
    await write(ada, "So: ");
    await onElement(ada, ".composer .editor__text", (area) => {
      const data = new DataTransfer();
      data.setData("text/html", "<b>Bold</b> words");
      data.setData("text/plain", "Bold words");
      area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type(" follow");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "So: Bold words follow");
    await held[0].continue();
    await untilEqual(ada, ".composer .editor__text", (area) => [area.value, area.selectionStart], ["So: **Bold** words follow", 25]);
  });

  it("is not waited for by the search box: what is typed meanwhile is searched for, with the terms of the view", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Bob", "general", "carpets", "The carpet is vermilion");
    const { ada, held } = await openHolding(/\/(search_input|later)\.js$/);
    await go(ada, (await at("general", "carpets")).split("/topic/")[0]);
    await untilText(ada, ".message-row", "vermilion");
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("sender:bo vermilion");
    await ada.keyboard.press("Enter");
    await held[0].continue();
    await untilAllEqual(ada, ".header__pills .pill__text", (pills) => pills.map((pill) => pill.textContent), ["channel: general", "sender: Bob", "“vermilion”"]);
    await untilText(ada, ".message-row .highlight", "vermilion");
  });

  it("is not waited for by messages: a list of conversations is shown when its module is there", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Bob", "general", "breakfast", "Toast is ready");
    const ada = await as("Ada", await at("general", "breakfast"));
    const held = await hold(ada, (request) => request.url().endsWith("/overviews.js"));
    await ada.reload();
    await untilText(ada, ".message-row", "Toast is ready");
    await go(ada, "#recent");
    await untilText(ada, ".middle__view .load-hint", "Loading");
    await eventually(() => assert.equal(held.length, 1));
    await held[0].continue();
    await untilText(ada, ".recent .conversation__name", "breakfast");
  });

  it("is not waited for by the combined feed", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Bob", "general", "lunch", "Soup is ready");
    const ada = await as("Ada", "#feed");
    const held = await hold(ada, (request) => request.url().endsWith("/overviews.js"));
    await ada.reload();
    await untilText(ada, ".message-row", "Soup is ready");
    // It is loaded once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await held[0].continue();
  });

  it("is not waited for by messages: a poll is shown when its module is there", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "teatime", "/poll Tea?\nYes\nNo");
    await bench.server.send("Bob", "general", "teatime", "Please vote");
    const { ada, held } = await openHolding(/\/(widgets|later)\.js$/);
    await go(ada, await at("general", "teatime"));
    await untilText(ada, ".message-row", "Please vote");
    await untilText(ada, `[data-id="${id}"] .widget`, "Loading…");
    await eventually(() => assert.equal(held.length, 1));
    await bench.server.call("Cleo", "POST", "/submessage", { message_id: id, msg_type: "widget", content: JSON.stringify({ type: "vote", key: "canned,0", vote: 1 }) });
    await held[0].continue();
    await untilText(ada, `[data-id="${id}"] .widget__names`, "Cleo");
    await click(ada, `[data-id="${id}"] .widget__vote`);
    await untilText(ada, `[data-id="${id}"] .widget__names`, "Ada");
  });

  // Only the built page asks again under another URL, without which browsers do not.
  it("is loaded again after a failure, and so is a poll when the connection is back", { skip: IS_FIREFOX || Boolean(process.env.TEAMCHAT_WEB_DIR) }, async () => {
    const { id } = await bench.server.send("Bob", "general", "suppertime", "/poll Soup?\nYes\nNo");
    const { ada, held } = await openHolding(/\/later\.js$/);
    ada.expected.push(/ERR_FAILED/);
    await go(ada, await at("general", "suppertime"));
    await untilText(ada, `[data-id="${id}"] .widget`, "Loading…");
    await eventually(() => assert.equal(held.length, 1));
    await held[0].abort();
    await untilEqual(ada, `[data-id="${id}"] .widget`, (widget) => widget.firstChild.data, "This could not be loaded.");
    await press(ada, "Control+k");
    await untilFocus(ada, "dialog input");
    await ada.keyboard.press("Escape");
    await wake(ada);
    await untilText(ada, `[data-id="${id}"] .widget__list`, "Yes");
  });

  it("has them also while the text of the message is fetched", async () => {
    const { id } = await bench.server.send("Ada", "general", "slower", "to be fetched");
    const ada = await as("Ada", await at("general", "slower"));
    for (const [key, opened] of [["e", ".message-row textarea"], [">", ".composer .editor__text"]]) {
      await untilText(ada, ".message-row", "to be fetched");
      await ada.evaluate((path) => {
        const real = window.fetch;
        const released = new Promise((resolve) => { window.release = resolve; });
        window.fetch = async (url, options) => {
          if (String(url).startsWith(path)) {
            window.isAsked = true;
            await released;
          }
          return real(url, options);
        };
      }, `/json/messages/${id}`);
      await pressOn(ada, `[data-id="${id}"]`, key);
      await until(ada, () => window.isAsked);
      await ada.keyboard.type("?xx");
      for (const next of ["Backspace", "Backspace", "Enter", "e"]) await ada.keyboard.press(next);
      await ada.evaluate(() => window.release());
      await until(ada, (selector) => document.querySelector(selector)?.value.includes("to be fetched"), opened);
      await until(ada, () => document.activeElement.value.includes("to be fetched") && document.activeElement.value.endsWith("?\ne"));
      assert.equal(await countOf(ada, "dialog[open]"), 0, `${key}: the list of keys has not opened`);
      // An edit that is resumed takes no keys.
      await ada.reload();
    }
  });

  it("opens also if another view is shown meanwhile, and keeps what is half written", async () => {
    const { ada, held } = await openHolding(/\/(recipients|later)\.js$/);
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await ada.keyboard.press("c");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("ge");
    await go(ada, "#recent");
    await held[0].continue();
    await until(ada, () => document.activeElement.getAttribute("aria-label") === "Channel" && document.activeElement.value === "ge");
    await ada.keyboard.type("n");
    await go(ada, "#inbox");
    await eventually(async () => assert.deepEqual(await ada.evaluate(() => [document.activeElement.getAttribute("aria-label"), document.activeElement.value]), ["Channel", "gen"]));
  });
});

describe("a timeline that is still loading", () => {
  it("is no feed without articles for screen readers", async () => {
    await bench.server.send("Bob", "general", "unhurried", "takes its time");
    const ada = await as("Ada", "#inbox");
    await ada.waitForSelector(".inbox__list");
    const isAsked = ({ pathname, search }) => pathname === "/json/messages" && search.includes("unhurried");
    const held = await hold(ada, (request, before) => before.length === 0 && isAsked(new URL(request.url())));
    await go(ada, await at("general", "unhurried"));
    await untilText(ada, ".timeline .load-hint", "Loading");
    await eventually(() => assert.equal(held.length, 1));
    assert.deepEqual(await axeViolations(ada, "aria-required-children"), []);
    assert.equal(await countOf(ada, ".timeline__list .message-row"), 0, "it was still loading");
    await held[0].continue();
    await untilText(ada, ".message-row", "takes its time");
    await untilEqual(ada, ".timeline__list", (list) => [list.role, list.ariaBusy], ["feed", "false"]);
  });
});

/** Keys that are pressed one after another; in a headless browser against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { click, clickText, countOf, drawn, enter, eventually, focusOn, onElement, onElements, press, pressOn, setUp, typeInto, until, untilEqual, untilFocus, untilText, write } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

const fragmentOf = (page) => page.evaluate(() => location.hash);

/** Gives an element a key that the keyboard of the browser does not have. Returns whether the page leaves it to the browser. */
const dispatchKey = (page, selector, key) =>
  onElement(page, selector, (element, own) => element.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...own })), key);

describe("a key", () => {
  it("that leads to a conversation can be pressed again", async () => {
    for (const topic of ["one", "two", "three"]) await bench.server.send("Bob", "general", topic, `About ${topic}`);
    const ada = await as("Ada", "#inbox");
    await untilText(ada, ".inbox__list", "three");
    const seen = new Set();
    for (let count = 0; count < 3; count++) {
      const before = await fragmentOf(ada);
      await ada.keyboard.press("n");
      await until(ada, (old) => location.hash !== old, before);
      // The key leads past the conversation that is shown, and those that are read.
      await until(ada, () => {
        const topic = decodeURIComponent(location.hash.split("/topic/")[1].split("/")[0].replaceAll(".", "%"));
        const rows = [...document.querySelectorAll(".message-row")];
        const isShown = document.querySelector(".composer .editor__text").placeholder.includes(topic);
        return isShown && rows.length > 0 && rows.every((row) => !row.hasAttribute("data-unread"));
      });
      seen.add(await fragmentOf(ada));
    }
    assert.equal(seen.size, 3, [...seen].join());
    // From a topic to its channel.
    await ada.keyboard.press("s");
    await until(ada, () => !location.hash.includes("/topic/"));
    // A link leads into the box, as before.
    await clickText(ada, ".sidebar [data-channel] a", "general");
    await untilFocus(ada, ".composer .editor__text");
  });

  it("for the messages works in the empty box", async () => {
    const ids = [];
    for (let count = 0; count < 60; count++) ids.push((await bench.server.send("Ada", "general", "long", `Point ${count}`)).id);
    const ada = await as("Ada", await at("general", "long"));
    await untilText(ada, ".message-row", "Point 59");
    await pressOn(ada, ".composer .editor__text", "Home");
    await untilFocus(ada, `[data-id="${ids[0]}"]`);
    await pressOn(ada, ".composer .editor__text", "PageDown");
    await until(ada, (first) => document.activeElement.matches(".message-row") && Number(document.activeElement.dataset.id) > first, ids[0]);
    await pressOn(ada, ".composer .editor__text", "End");
    await until(ada, () => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".timeline__scroller");
      return scrollHeight - scrollTop - clientHeight < 33;
    });
    await pressOn(ada, ".composer .editor__text", "ArrowLeft");
    await untilFocus(ada, ".editor-form textarea");
    await ada.keyboard.press("Escape");
    // What is written keeps its keys.
    await typeInto(ada, ".composer .editor__text", "word");
    await pressOn(ada, ".composer .editor__text", "Home");
    await untilFocus(ada, ".composer .editor__text");
  });

  it("edits the last own message that is shown, and brings it into sight", async () => {
    const { id } = await bench.server.send("Ada", "general", "tower", "The one to edit");
    for (let count = 0; count < 60; count++) await bench.server.send("Bob", "general", "tower", `Point ${count}`);
    const { id: gone } = await bench.server.send("Ada", "general", "tower", "About to be deleted");
    const ada = await as("Ada", await at("general", "tower"));
    await untilText(ada, ".message-row", "About to be deleted");
    await pressOn(ada, `[data-id="${gone}"]`, "i");
    await clickText(ada, "[role=menuitem]", "Delete");
    await until(ada, (row) => !document.querySelector(row), `[data-id="${gone}"]`);
    await pressOn(ada, "body", "ArrowLeft");
    await untilFocus(ada, `[data-id="${id}"] .editor__text`);
    await untilEqual(ada, `[data-id="${id}"] .editor__text`, (area) => {
      const [box, own] = [document.querySelector(".timeline__scroller"), area].map((element) => element.getBoundingClientRect());
      return own.bottom > box.top && own.top < box.bottom;
    }, true);
  });

  it("acts on the message in the place of one that goes", async () => {
    const ids = [];
    for (const text of ["First", "Second", "Third"]) ids.push((await bench.server.send("Ada", "general", "departing", text)).id);
    const ada = await as("Ada", await at("general", "departing"));
    await untilText(ada, ".message-row", "Third");
    await focusOn(ada, `[data-id="${ids[1]}"]`);
    for (const [gone, next] of [[1, 2], [2, 0]]) {
      await bench.server.call("Ada", "DELETE", `/messages/${ids[gone]}`);
      await untilFocus(ada, `[data-id="${ids[next]}"]`);
    }
  });

  it("completes a language, and ends the block below the cursor", async () => {
    const ada = await as("Ada", await at("general", "code"));
    await write(ada, "```pyth");
    await untilText(ada, ".completions .completion", "python");
    await ada.keyboard.press("Enter");
    await untilEqual(ada, ".composer .editor__text", (area) => [area.value, area.selectionStart], ["```python\n\n```", 10]);
    // A longer fence has an end of its own.
    const toStart = () => onElement(ada, ".composer .editor__text", (area) => area.setSelectionRange(0, 0));
    await toStart();
    await ada.keyboard.press("Enter");
    await toStart();
    await ada.keyboard.type("````pyth");
    await untilText(ada, ".completions .completion", "python");
    await ada.keyboard.press("Enter");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "````python\n\n````\n```python\n\n```");
  });

  it("Enter in the filter of a column opens what was typed, however fast", async () => {
    const ada = await as("Ada", "#inbox");
    const find = (column, name) => onElement(ada, `${column} .sidebar__filter`, (input, text) => {
      input.focus();
      input.value = text;
      input.dispatchEvent(new Event("input"));
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    }, name);
    await untilText(ada, ".people li", "Cleo");
    await find(".people", "Cleo");
    await until(ada, () => location.hash.endsWith("-Cleo"));
    await untilText(ada, ".sidebar [data-channel]", "general");
    await find(".sidebar", "general");
    await until(ada, () => location.hash.includes("-general"));
  });

  it("closes what it has opened", async () => {
    const { id } = await bench.server.send("Bob", "general", "again", "Look");
    const ada = await as("Ada", await at("general", "again"));
    await ada.waitForSelector(`[data-id="${id}"]`);
    for (const [key, box] of [["d", "dialog"], ["?", "dialog"], ["V", "dialog"], ["i", "[role=menu]"], ["u", ".card"]]) {
      await focusOn(ada, `[data-id="${id}"]`);
      await ada.keyboard.press(key);
      await untilFocus(ada, `${box} *`);
      await ada.keyboard.press(key);
      await until(ada, (selector) => !document.querySelector(selector) && !location.hash.includes("drafts") && !location.hash.includes("shortcuts"), box);
    }
    await ada.keyboard.press("t");
    await untilText(ada, ".header h1", "Recent conversations");
    await ada.keyboard.press("t");
    await untilFocus(ada, "[aria-label='Filter recent conversations']");
  });

  it("is found on keyboards of other languages", async () => {
    const ada = await as("Ada", await at("general", "keyboards"));
    const pressed = async (selector, key) => !(await dispatchKey(ada, selector, key));
    await typeInto(ada, ".composer .editor__text", "слово");
    await press(ada, "Control+a");
    assert.equal(await pressed(".composer .editor__text", { key: "и", code: "KeyB", ctrlKey: true }), true);
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "**слово**");
    // The apostrophe of a German keyboard.
    assert.equal(await pressed(".composer .editor__text", { key: "'", code: "Backslash", ctrlKey: true, shiftKey: true }), true);
    await untilText(ada, "dialog h2", "Saved texts");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    // As the Option key of a Mac writes it.
    assert.equal(await pressed(".composer .editor__text", { key: "π", code: "KeyP", altKey: true }), true);
    await untilText(ada, ".editor__preview strong", "слово");
    assert.equal(await pressed("body", { key: "ه", code: "KeyI", shiftKey: true }), true);
    await untilText(ada, ".header h1", "Inbox");
    // Letters that are Latin, and other characters, are not another key.
    for (const keys of [{ key: "ł", code: "KeyI" }, { key: "€", code: "KeyI" }, { key: "ش", code: "Digit1" }]) assert.equal(await pressed("body", keys), false);
  });

  it("of an item of the open menu chooses it", async () => {
    const { id } = await bench.server.send("Ada", "general", "menus", "Draft of a plan");
    const ada = await as("Ada", await at("general", "menus"));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await untilFocus(ada, "[role=menu] [role=menuitem]");
    await ada.keyboard.press("e");
    await untilFocus(ada, ".editor-form textarea");
    assert.equal(await countOf(ada, "[role=menu]"), 0);
  });

  it("leads from the emoji to the tones of skin behind them", async () => {
    const ada = await as("Ada", await at("general", "tones"));
    await focusOn(ada, ".composer .editor__text");
    await click(ada, ".composer [aria-label=Emoji]");
    await until(ada, () => document.querySelectorAll(".emoji-section").length > 8);
    for (const keys of [["ArrowDown"], ["ArrowDown", "ArrowRight"]]) {
      await focusOn(ada, ".emoji-picker input");
      for (const key of keys) await ada.keyboard.press(key);
      await until(ada, (at) => document.activeElement === document.querySelectorAll(".emoji-grid button")[at], keys.length - 1);
      await ada.keyboard.press("Tab");
      await untilFocus(ada, ".emoji-tones button");
    }
  });

  it("is named as the keyboard names it", async () => {
    const ada = await bench.open();
    await ada.evaluateOnNewDocument(() => Object.defineProperty(Navigator.prototype, "platform", { get: () => "MacIntel" }));
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "keys of a Mac"));
    await untilEqual(ada, ".editor__toolbar [aria-label=Bold]", (button) => button.title, "Bold (⌘+b)");
    await go(ada, "#keyboard-shortcuts");
    await untilText(ada, ".keys kbd", "⌘+k");
    const shown = await onElements(ada, ".keys kbd", (keys) => keys.map((key) => key.textContent).filter((key) => key.includes("Ctrl")));
    assert.deepEqual(shown, ["Ctrl+["]);
  });

  it("leads from a view without a channel to the first one, or the last", async () => {
    for (const [key, at] of [["D", 0], ["A", -1]]) {
      const ada = await as("Ada", "#inbox");
      await untilText(ada, ".header h1", "Inbox");
      const name = await onElements(ada, ".sidebar [data-channel] .side-item__name", (all, which) => all.at(which).textContent, at);
      await pressOn(ada, "body", key);
      await untilText(ada, ".header__channel", name);
    }
  });

  it("that marks a conversation of the inbox as read leaves the focus on the next one", async () => {
    for (const topic of ["inbox one", "inbox two", "inbox three"]) await bench.server.send("Bob", "general", topic, "Unread");
    const ada = await as("Ada", "#inbox");
    await untilText(ada, ".inbox__list .conversation", "inbox one");
    const marks = () => onElements(ada, ".inbox__list [aria-label^='Mark inbox']", (buttons) => buttons.length);
    await eventually(async () => assert.equal(await marks(), 3));
    await pressOn(ada, ".inbox__list [aria-label^='Mark inbox']", "Enter");
    await eventually(async () => assert.equal(await marks(), 2));
    await untilFocus(ada, ".inbox__list [aria-label^='Mark ']");
  });

  it("pressed on a button of the header leaves the focus there", async () => {
    await bench.server.send("Bob", "general", "followed", "Follow me");
    const ada = await as("Ada", await at("general", "followed"));
    await untilText(ada, ".message-row", "Follow me");
    await pressOn(ada, ".header [aria-label=Follow]", "Enter");
    await untilFocus(ada, ".header [aria-label=Unfollow]");
    await pressOn(ada, ".header [aria-label=Unfollow]", "Enter");
    await untilFocus(ada, ".header [aria-label=Follow]");
  });

  it("pressed on a reaction leaves the focus there", async () => {
    const { id } = await bench.server.send("Bob", "general", "cheers", "Well done");
    await bench.server.call("Bob", "POST", `/messages/${id}/reactions`, { emoji_name: "tada" });
    const ada = await as("Ada", await at("general", "cheers"));
    await pressOn(ada, `[data-id="${id}"] .reaction`, "Enter");
    await untilFocus(ada, ".reaction[aria-pressed=true]");
    await ada.keyboard.press("Enter");
    await untilFocus(ada, ".reaction[aria-pressed=false]");
  });

  it("finds the button of a resolved topic where it was, and its line is not announced with each key", async () => {
    await bench.server.send("Bob", "general", "✔ closed", "Done");
    const ada = await as("Ada", await at("general", ".E2.9C.94.20closed"));
    await typeInto(ada, ".composer .editor__text", "One more");
    await untilText(ada, ".composer__banner", "This topic is resolved.");
    assert.equal(await drawn(ada, ".composer__banner", () => ada.keyboard.type(" thing")), 0);
    await focusOn(ada, ".composer__banner button");
    await bench.server.direct("Bob", ["Ada"], "Elsewhere");
    await ada.waitForSelector(".sidebar a[href*='narrow/dm'] .count");
    await untilFocus(ada, ".composer__banner button");
  });

  it("finds the link of an empty topic where it was", async () => {
    const ada = await as("Ada", await at("general", "nothing"));
    await focusOn(ada, ".timeline__top a");
    await bench.server.call("Ada", "PATCH", "/settings", { color_scheme: 2 });
    await until(ada, () => document.documentElement.dataset.theme === "dark");
    await untilFocus(ada, ".timeline__top a");
    await bench.server.call("Ada", "PATCH", "/settings", { color_scheme: 1 });
  });

  it("quotes what is selected of a message, or else all of it", async () => {
    const { id } = await bench.server.send("Bob", "general", "part", "The **whole** story\n\nand its end");
    const ada = await as("Ada", await at("general", "part"));
    const quote = async () => {
      await ada.keyboard.press(">");
      await until(ada, () => document.activeElement.value?.includes("quote\n"));
      const text = await onElement(ada, ".composer .editor__text", (area) => area.value.split("\n").slice(1).join("\n"));
      await onElement(ada, ".composer .editor__text", (area) => { area.value = ""; });
      return text;
    };
    await focusOn(ada, `[data-id="${id}"]`);
    await onElement(ada, `[data-id="${id}"] .content p`, (first) => getSelection().setBaseAndExtent(first, 0, first, 2));
    assert.equal(await quote(), "```quote\nThe **whole**\n```\n");
    await focusOn(ada, `[data-id="${id}"]`);
    await ada.evaluate(() => getSelection().removeAllRanges());
    assert.equal(await quote(), "```quote\nThe **whole** story\n\nand its end\n```\n");
    // Pictures that are emoji have their names.
    const { id: done } = await bench.server.send("Bob", "general", "part", "Well done :zulip: all");
    await focusOn(ada, `[data-id="${done}"]`);
    await onElement(ada, `[data-id="${done}"] .content p`, (words) => getSelection().setBaseAndExtent(words, 0, words, 3));
    assert.equal(await quote(), "```quote\nWell done :zulip: all\n```\n");
    // Spoilers stay hidden, and a time is that of each reader.
    const source = "Look\n\n```spoiler Ending\nThe **butler**\n```\n\nat <time:2027-01-01T12:00:00Z>";
    const { id: secret } = await bench.server.send("Bob", "general", "part", source);
    await focusOn(ada, `[data-id="${secret}"]`);
    await onElement(ada, `[data-id="${secret}"] .content`, (content) => getSelection().selectAllChildren(content));
    assert.equal(await quote(), `\`\`\`\`quote\n${source}\n\`\`\`\`\n`);
    // A part of them stays hidden too, and a part of code is code.
    const code = "```python\nif rain:\n    stay()\n```";
    const { id: program } = await bench.server.send("Bob", "general", "part", code);
    for (const [part, quoted] of [[`[data-id="${secret}"] .spoiler-content strong`, "```spoiler Ending\nbutler\n```"], [`[data-id="${program}"] .content code`, code]]) {
      await focusOn(ada, part.split(" ")[0]);
      await onElement(ada, part, (words) => {
        words.closest("details")?.setAttribute("open", "");
        getSelection().selectAllChildren(words);
      });
      assert.equal(await quote(), `\`\`\`\`quote\n${quoted}\n\`\`\`\`\n`);
    }
  });

  it("mentions the sender, and no other of the same name", async () => {
    const twin = await bench.server.person("Twin");
    await bench.server.call("Ada", "POST", "/users", { email: "other.twin@example.com", full_name: "Twin", password: "correct horse" });
    const { id } = await bench.server.send("Twin", "general", "twins", "It was me");
    const ada = await as("Ada", await at("general", "twins"));
    await pressOn(ada, `[data-id="${id}"]`, "@");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, `@**Twin|${twin}** `);
    // The card writes where the cursor is, within the line.
    await ada.keyboard.type("and ");
    await click(ada, `[data-id="${id}"] .message-row__sender`);
    await clickText(ada, ".card button", "Mention");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, `@**Twin|${twin}** and @**Twin|${twin}** `);
  });

  it("that leads back leaves a list of choices without choosing", async () => {
    const ada = await as("Ada", await at("general", "back"));
    await typeInto(ada, ".composer .editor__text", "@Bo");
    await untilText(ada, ".completions .completion__label", "Bob");
    await press(ada, "Shift+Tab");
    await until(ada, () => !document.querySelector(".composer").contains(document.activeElement) && !document.querySelector(".composer .completion"));
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "@Bo");
    await pressOn(ada, "body", "x");
    await untilFocus(ada, ".composer__to input");
    await ada.keyboard.type("Bo");
    await untilText(ada, ".composer__to .completion__label", "Bob");
    await press(ada, "Shift+Tab");
    await until(ada, () => !document.querySelector(".composer__to").contains(document.activeElement));
    assert.equal(await countOf(ada, ".composer__to .pill"), 0);
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await pressOn(ada, "body", "c");
    await untilFocus(ada, ".composer__to [aria-label=Channel]");
    await ada.keyboard.type("gener");
    await untilText(ada, ".composer__to .completion__label", "general");
    await press(ada, "Shift+Tab");
    await untilEqual(ada, ".composer__to [aria-label=Channel]", (channel) => channel.value, "");
  });

  it("that ends the composition of a character chooses nothing", async () => {
    const ada = await as("Ada", "#recent");
    await untilText(ada, ".header h1", "Recent conversations");
    const convert = (selector) => dispatchKey(ada, selector, { key: "Enter", isComposing: true });
    await press(ada, "Control+k");
    await untilFocus(ada, ".dialog--palette input");
    await ada.keyboard.type("gener");
    await untilText(ada, ".palette__list .completion__label", "general");
    await convert(".dialog--palette input");
    assert.equal(await countOf(ada, ".dialog--palette"), 1);
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    await typeInto(ada, ".people input", "Bob");
    await untilText(ada, ".people li", "Bob");
    await convert(".people input");
    await pressOn(ada, "body", "x");
    await untilFocus(ada, ".composer__to input");
    await ada.keyboard.type("Bo");
    await untilText(ada, ".composer__to .completion__label", "Bob");
    await convert(".composer__to input");
    assert.equal(await countOf(ada, ".composer__to .pill"), 0);
    assert.equal(await fragmentOf(ada), "#recent");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".composer__to .pill", "Bob");
  });

  it("that gives up the composition of a character gives up nothing else", async () => {
    const { id } = await bench.server.send("Ada", "general", "composition", "Half a word");
    const ada = await as("Ada", await at("general", "composition"));
    const giveUp = (selector) => dispatchKey(ada, selector, { key: "Escape", isComposing: true });
    await pressOn(ada, `[data-id="${id}"]`, "e");
    await typeInto(ada, ".editor-form textarea", " more");
    await giveUp(".editor-form textarea");
    await untilEqual(ada, ".editor-form textarea", (area) => area.value, "Half a word more");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector(".editor-form"));
    await pressOn(ada, `[data-id="${id}"]`, ":");
    await untilFocus(ada, ".emoji-picker input");
    await giveUp(".emoji-picker input");
    assert.equal(await countOf(ada, ".emoji-picker"), 1);
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector(".emoji-picker"));
  });

  it("Enter leads from a search into the conversation, and answers elsewhere", async () => {
    const { id } = await bench.server.send("Bob", "general", "enter", "Look at the marmalade");
    const ada = await as("Ada", "#narrow/search/marmalade");
    await pressOn(ada, `[data-id="${id}"]`, "Enter");
    await until(ada, (wanted) => location.hash.endsWith(`/topic/enter/near/${wanted}`), id);
    await go(ada, "#feed");
    await untilText(ada, ".header h1", "Combined feed");
    await pressOn(ada, `[data-id="${id}"]`, "Enter");
    await untilFocus(ada, ".composer .editor__text");
    await eventually(async () => assert.match(await onElement(ada, ".composer .editor__text", (area) => area.placeholder), /enter/));
    assert.equal(await fragmentOf(ada), "#feed");
  });
});

/** The client in headless Chromium against the real server: everyday use, and what users of such clients complain of. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { axeViolations } from "./axe.js";
import { act, atRest, click, clickButton, clickText, clickWithMouse, compose, countOf, drawn, enter, eventually, focusOn, IS_FIREFOX, onElement, onElements, pagePause, press, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilStable, untilText, wake, write } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

/** Puts the pages' connection away, or back. */
const setOffline = (page, isOffline) => page.setOfflineMode(isOffline);

const rows = (page) => onElements(page, ".message-row .content", (elements) => elements.map((element) => element.textContent.trim()));

describe("a conversation", () => {
  it("goes between two browsers and a script", async () => {
    const where = await at("general", "lunch");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    await compose(ada, "Soup?");
    await untilText(bob, ".message-row", "Soup?");
    await typeInto(bob, ".composer .editor__text", "Salad");
    await untilText(ada, ".timeline__typing", "Bob is typing");
    await compose(bob, " :salad:");
    await untilText(ada, ".message-row", "Salad");
    await bench.server.send("Cleo", "general", "lunch", "A script eats, too");
    for (const page of [ada, bob]) await untilText(page, ".message-row", "A script eats");
    await untilAllEqual(ada, ".message-row", (all) => all.length, 3);
  });

  it("shows reactions, edits, stars and deletion to the others", async () => {
    const where = await at("general", "changes");
    const { id } = await bench.server.send("Bob", "general", "changes", "First words");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    await pressOn(ada, `[data-id="${id}"]`, "+");
    await untilText(bob, ".reaction", "Ada");
    await pressOn(bob, `[data-id="${id}"]`, "e");
    await onElement(bob, ".editor-form textarea", (area) => { area.value = "Better words"; });
    await clickText(bob, ".editor-form .button--primary", "Save");
    await untilText(ada, ".message-row", "Better words");
    await untilText(ada, ".mark", "edited");
    await pressOn(ada, `[data-id="${id}"]`, "H");
    await untilText(ada, "dialog .version", "First");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    await focusOn(ada, `[data-id="${id}"]`);
    await press(ada, "Control+s");
    await ada.waitForSelector(`[data-id="${id}"][data-starred]`);
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    for (const page of [ada, bob]) await until(page, (gone) => !document.querySelector(`[data-id="${gone}"]`), id);
  });

  it("keeps an edit under way while the message changes", async () => {
    const { id } = await bench.server.send("Bob", "general", "edits", "To be edited");
    const bob = await as("Bob", await at("general", "edits"));
    await pressOn(bob, `[data-id="${id}"]`, "e");
    await untilFocus(bob, ".editor-form textarea");
    await bob.keyboard.type(" soon");
    await bench.server.call("Ada", "POST", `/messages/${id}/reactions`, { emoji_name: "eyes" });
    await bob.waitForSelector(".reaction");
    await bob.keyboard.type(" enough");
    await untilEqual(bob, ".editor-form textarea", (area) => area.value, "To be edited soon enough");
    await bob.keyboard.press("Escape");
    await until(bob, () => !document.querySelector(".editor-form") && !document.querySelector(".message-row .content").hidden);
  });

  it("moves with its topic, and is resolved", async () => {
    const { id } = await bench.server.send("Bob", "general", "old name", "Where am I?");
    const ada = await as("Ada", await at("general", "old.20name"));
    await ada.waitForSelector(`[data-id="${id}"]`);
    await click(ada, "[aria-label='Mark as resolved']");
    await untilText(ada, ".side-list--topics", "old name");
    await until(ada, () => [...document.querySelectorAll(".side-list--topics .side-item")].some((item) => item.title.startsWith("✔")));
    await go(ada, `#narrow/channel/1/topic/whatever/with/${id}`);
  });

  it("has polls and tasks", async () => {
    const where = await at("general", "poll");
    const { id } = await bench.server.send("Bob", "general", "poll", "/poll Lunch?\nSoup\nSalad");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    await click(ada, `[data-id="${id}"] .widget__vote`);
    await untilText(bob, ".widget__names", "Ada");
    await bench.server.send("Bob", "general", "poll", "/todo Shopping\nbread: fresh");
    await untilText(ada, ".widget__title", "Shopping");
    // What is half written stays while others vote, and so does the focus.
    await typeInto(ada, `[data-id="${id}"] .widget__add input`, "Bread");
    await click(bob, `[data-id="${id}"] .widget__vote`);
    await untilText(ada, ".widget__names", "Bob");
    await untilFocus(ada, ".widget__add input");
    await ada.keyboard.type(" and cheese");
    await ada.keyboard.press("Enter");
    await untilText(bob, ".widget__list", "Bread and cheese");
    await pressOn(bob, `[data-id="${id}"] .widget__vote`, "Enter");
    await until(bob, () => !document.querySelector(".widget__names").textContent.includes("Bob"));
    await untilFocus(bob, ".widget__vote");
    // Only who wrote the list changes its title.
    assert.equal(await countOf(ada, ".widget__title [aria-label=Rename]"), 0);
    await clickButton(bob, "Rename");
    await onElement(bob, "dialog input[aria-label=Title]", (input) => {
      input.value = "Supper";
      input.form.requestSubmit();
    });
    await untilText(ada, ".widget__title", "Supper");
  });

  it("keeps its rows while people change what no row shows", async () => {
    const ada = await as("Ada", await at("general", "kept"));
    const { id } = await bench.server.send("Ada", "general", "kept", "A row");
    await onElement(ada, `[data-id="${id}"]`, (row) => { window.row = row; });
    for (const name of ["Ada", "Bob"]) await bench.server.call(name, "PATCH", "/settings", { timezone: "Asia/Tokyo" });
    const { id: next } = await bench.server.send("Bob", "general", "kept", "Another");
    await ada.waitForSelector(`[data-id="${next}"]`);
    assert.equal(await ada.evaluate(() => window.row.isConnected), true);
    await bench.server.call("Ada", "PATCH", "/settings", { twenty_four_hour_time: true });
    await until(ada, () => !window.row.isConnected);
  });

  it("completes names, channels and emoji while one writes", async () => {
    const ada = await as("Ada", await at("general", "completion"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const text = () => onElement(ada, ".composer .editor__text", (area) => area.value);
    await typeInto(ada, ".composer .editor__text", "Hi @bo");
    await untilText(ada, ".completion__label", "Bob");
    await ada.keyboard.press("Enter");
    await eventually(async () => assert.equal(await text(), "Hi @**Bob** "));
    await ada.keyboard.type("see #des");
    await untilText(ada, ".completion__label", "#design");
    await ada.keyboard.press("Tab");
    await ada.keyboard.type(":tad");
    await untilText(ada, ".completion__label", ":tada:");
    await ada.keyboard.press("Enter");
    await eventually(async () => assert.equal(await text(), "Hi @**Bob** see #**design** :tada: "));
  });

  it("uploads a file that is dropped in", async () => {
    const where = await at("general", "files");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await onElement(ada, ".composer .editor", async (editor) => {
      const canvas = document.createElement("canvas");
      canvas.width = 400;
      canvas.height = 200;
      const blob = await new Promise((resolve) => canvas.toBlob(resolve));
      const data = new DataTransfer();
      data.items.add(new File([blob], "plan.png", { type: "image/png" }));
      editor.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await until(ada, () => document.querySelector(".composer .editor__text").value.includes("/user_uploads/"));
    await compose(ada, "");
    await until(bob, () => document.querySelector(".message_inline_image img")?.naturalWidth > 0);
  });
});

describe("reading", () => {
  it("does not jump when older messages, pictures or other widths arrive", async () => {
    const where = await at("general", "history");
    for (let number = 0; number < 400; number++) await bench.server.send("Bob", "general", "history", `Message ${number} ${"with more words ".repeat(number % 7)}`);
    const ada = await as("Ada", where);
    await ada.waitForSelector(".message-row");
    const place = () => untilStable(ada, ".timeline__scroller", (scroller) => {
      const edge = scroller.getBoundingClientRect().top;
      const row = [...document.querySelectorAll(".message-row")].find((one) => one.getBoundingClientRect().bottom > edge + 4);
      return { id: row.dataset.id, top: row.getBoundingClientRect().top, rows: document.querySelectorAll(".message-row").length };
    });
    // It begins at the end.
    await place();
    await onElement(ada, ".timeline__scroller", (scroller) => { scroller.scrollTop = 2500; });
    const before = await place();
    await onElement(ada, ".message-row", (row) => row.style.setProperty("padding-top", "321px"));
    const late = await place();
    assert.equal(late.id, before.id);
    assert.ok(Math.abs(late.top - before.top) <= 1, `moved by ${late.top - before.top}`);
    await ada.setViewport({ width: 900, height: 800 });
    await until(ada, () => innerWidth === 900);
    const narrow = await place();
    assert.equal(narrow.id, before.id);

    // All the way up: the rows stay few, and the place stays while older ones come.
    await until(ada, () => {
      document.querySelector(".timeline__scroller").scrollTop -= 900;
      return document.querySelector(".timeline__top").textContent.includes("beginning");
    });
    await until(ada, () => [...document.querySelectorAll(".message-row .content")].some((content) => content.textContent.trim() === "Message 0"));
    assert.ok((await place()).rows <= 420, "a window of rows");
    await clickText(ada, ".timeline__jump", "Newest");
    await untilText(ada, ".message-row", "Message 399");
  });

  it("marks as read what was seen with the focus, and counts in the title", async () => {
    const ada = await as("Ada", "#inbox");
    await bench.server.send("Bob", "design", "unread", "Not yet seen");
    await untilText(ada, ".inbox-section", "unread");
    await until(ada, () => /^\(\d+\) /.test(document.title));
    await clickText(ada, ".inbox-section a", "unread");
    await untilText(ada, ".message-row", "Not yet seen");
    await until(ada, () => !document.querySelector(".message-row[data-unread]"));
    await eventually(async () => {
      const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["channel", "design"], ["topic", "unread"]] });
      assert.ok(messages[0].flags.includes("read"));
    });
  });

  it("finds by operators, and leads anywhere with Ctrl-K", async () => {
    await bench.server.send("Bob", "design", "mauve walls", "The wallpaper is mauve");
    const ada = await as("Ada", "#inbox");
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await ada.keyboard.type("sender:bo");
    await untilText(ada, ".search .completion__label", "sender:Bob");
    await ada.keyboard.press("ArrowDown");
    await ada.keyboard.press("Tab");
    await ada.keyboard.type("mauve");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".message-row .content .highlight", "mauve");
    await untilText(ada, ".recipient-bar .highlight", "mauve");
    await ada.keyboard.press("Escape");
    await press(ada, "Control+k");
    await untilFocus(ada, ".dialog--palette input");
    await ada.keyboard.type("design");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".header h1", "design");
  });

  it("finds direct messages that include a person, and topics that are written in quotes", async () => {
    await bench.server.direct("Bob", ["Ada", "Cleo"], "The three of us");
    await bench.server.send("Bob", "design", "long run", "Forty kilometres");
    const ada = await as("Ada", "#inbox");
    await click(ada, "[aria-label='Card of Cleo']");
    await clickText(ada, ".card button", "Direct messages including");
    await untilText(ada, ".message-row", "The three of us");
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await typeInto(ada, ".search input", 'channel:"design" topic:"long run" forty');
    await untilAllEqual(ada, ".search .pill__text", (pills) => pills.map((pill) => pill.textContent), ["channel: design", "topic: long run"]);
    await ada.keyboard.press("Enter");
    await untilText(ada, ".message-row", "Forty kilometres");
  });
});

describe("bad networks", () => {
  it("keeps what is written without a connection, and sends it later", async () => {
    const where = await at("general", "offline");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    ada.expected.push(/ERR_INTERNET_DISCONNECTED/, /Failed to fetch/);
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await setOffline(ada, true);
    await compose(ada, "Written in a tunnel");
    await ada.waitForSelector(".message-row[data-state=unsure]");
    await untilText(ada, ".banner", "No connection");
    await setOffline(ada, false);
    await untilText(bob, ".message-row", "Written in a tunnel");
    await until(ada, () => !document.querySelector(".message-row[data-state]"));
    assert.equal((await rows(bob)).filter((text) => text.includes("tunnel")).length, 1, "once");
  });

  it("goes on after the server was started again", async () => {
    const where = await at("general", "restart");
    const ada = await as("Ada", where);
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await bench.stop();
    await bench.start();
    await bench.server.send("Bob", "general", "restart", "Here again");
    await untilText(ada, ".message-row", "Here again");
  });

  it("registers again when the queue has expired, without losing the page", async () => {
    const where = await at("general", "expired");
    await bench.server.send("Bob", "general", "expired", "Before");
    const ada = await bench.open();
    const queues = [];
    ada.on("response", (response) => {
      if (new URL(response.url()).pathname === "/json/register") response.json().then(({ queue_id: id }) => queues.push(id), () => {});
    });
    await enter(ada, bench.server, "Ada");
    await go(ada, where);
    ada.expected.push(/400 \(Bad Request\)/);
    await untilText(ada, ".message-row", "Before");
    await typeInto(ada, ".composer .editor__text", "A draft stays");
    await eventually(() => assert.ok(queues.length > 0));
    const [queue] = queues.splice(0).toReversed();
    const deleted = await ada.evaluate(async (id) => {
      const token = document.cookie.split("teamchat_csrf=")[1].split(";")[0];
      return (await fetch("/json/events", { method: "DELETE", body: new URLSearchParams({ queue_id: id }), headers: { "X-CSRFToken": token } })).status;
    }, queue);
    assert.equal(deleted, 200);
    await wake(ada);
    await eventually(() => assert.ok(queues.length > 0));
    await bench.server.send("Bob", "general", "expired", "After");
    await untilText(ada, ".message-row", "After");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "A draft stays");
  });

  it("polls at once after sleep", { skip: IS_FIREFOX }, async () => {
    const ada = await as("Ada", await at("general", "sleep"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const session = await ada.createCDPSession();
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await bench.server.send("Bob", "general", "sleep", "While you slept");
    await session.send("Page.setWebLifecycleState", { state: "active" });
    await untilText(ada, ".message-row", "While you slept");
  });
});

describe("phones and speed", () => {
  it("keeps the composer above the keyboard of the screen", async () => {
    const ada = await as("Ada", await at("general", "keyboard"), { width: 390, height: 780, touch: true });
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const bottom = () => onElement(ada, ".composer", (composer) => composer.getBoundingClientRect().bottom);
    await eventually(async () => assert.ok(Math.abs((await bottom()) - 780) < 2));
    // As on iOS, where the keyboard covers a part of the page.
    await ada.evaluate(() => {
      Object.defineProperty(visualViewport, "height", { get: () => 420, configurable: true });
      visualViewport.dispatchEvent(new Event("resize"));
    });
    await until(ada, () => document.querySelector(".composer").getBoundingClientRect().bottom <= 421);
    await ada.evaluate(() => {
      delete visualViewport.height;
      visualViewport.dispatchEvent(new Event("resize"));
    });
    await until(ada, () => document.querySelector(".composer").getBoundingClientRect().bottom > 770);
  });

  // Elements in place of times: figures.js measures those.
  it("draws little when switching between conversations and for each key, beside many rows and channels", async () => {
    for (let number = 0; number < 60; number++) await bench.server.channel(`channel ${number}`, ["Ada"]);
    for (let number = 0; number < 150; number++) await bench.server.send("Bob", "general", `fast ${number % 2}`, `Message ${number} **with** \`code\` :smile:`);
    const wheres = [await at("general", "fast.200"), await at("general", "fast.201")];
    const ada = await as("Ada", wheres[0]);
    const show = async (number) => {
      await go(ada, wheres[number]);
      await until(ada, (topic) => document.querySelector(".header h1").textContent.includes(topic) && document.querySelectorAll(".message-row").length === 75, `fast ${number}`);
    };
    for (const number of [1, 0]) await show(number);
    const rows = await onElements(ada, ".message-row", (all) => all.reduce((sum, row) => sum + 1 + row.querySelectorAll("*").length, 0));
    const switching = await drawn(ada, "body", () => show(1));
    assert.ok(switching < 2 * rows, `switching draws ${switching} elements, for rows of ${rows}`);
    const KEYS = 30;
    const keys = await drawn(ada, "body", async () => {
      await act(ada, ".composer .editor__text", 0, "focus");
      await ada.keyboard.type("x".repeat(KEYS));
    });
    assert.ok(keys < 5 * KEYS, `${KEYS} keys draw ${keys} elements`);
  });
});

describe("unread", () => {
  it("stays what came while the window had no focus, and goes when it is read elsewhere", async () => {
    const ada = await as("Ada", await at("design", "aside"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await ada.evaluate(() => {
      document.hasFocus = () => false;
      dispatchEvent(new Event("blur"));
    });
    const marked = [];
    ada.on("request", (request) => request.url().endsWith("/json/messages/flags") && marked.push(request.postData()));
    const { id } = await bench.server.send("Bob", "design", "aside", "Behind your back");
    await ada.waitForSelector(`[data-id="${id}"][data-unread]`);
    // What would mark it waits for less.
    await pagePause(ada, 600);
    assert.deepEqual(marked, []);
    await bench.server.call("Ada", "POST", "/messages/flags", { messages: [id], op: "add", flag: "read" });
    await ada.waitForSelector(`[data-id="${id}"]:not([data-unread])`);
    const again = await bench.server.send("Bob", "design", "aside", "And again");
    await ada.waitForSelector(`[data-id="${again.id}"][data-unread]`);
    await ada.evaluate(() => {
      document.hasFocus = () => true;
      dispatchEvent(new Event("focus"));
    });
    await ada.waitForSelector(`[data-id="${again.id}"]:not([data-unread])`);
  });
});

describe("tabs, drafts and recipients", () => {
  it("keeps a draft by conversation, never sends it to another, and shows it in a second tab", async () => {
    const ada = await as("Ada", await at("general", "one"));
    await write(ada, "Only for one");
    await go(ada, await at("general", "two"));
    await until(ada, () => document.querySelector(".composer .editor__text").placeholder.includes("two"));
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "");
    await go(ada, await at("general", "one"));
    await until(ada, () => document.querySelector(".composer .editor__text").value === "Only for one");
    await eventually(async () => {
      const { drafts } = await bench.server.call("Ada", "GET", "/drafts");
      assert.equal(drafts.filter((draft) => draft.content === "Only for one").length, 1);
    });
    const other = await as("Ada", await at("general", "one"));
    await until(other, () => document.querySelector(".composer .editor__text").value === "Only for one");
    await compose(other, "");
    await until(ada, () => document.querySelectorAll(".message-row").length === 1);
    // What was sent there is not sent here a second time.
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "");
  });

  it("keeps the draft of a conversation when another text gets it as its recipient", async () => {
    const ada = await as("Ada", await at("general", "lunch"));
    await until(ada, () => document.querySelector(".composer .editor__text").placeholder.includes("lunch"));
    await typeInto(ada, ".composer .editor__text", "Written long ago");
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await pressOn(ada, "body", "c");
    await untilFocus(ada, ".composer__to [aria-label=Channel]");
    await ada.keyboard.type("general");
    await untilText(ada, ".composer__to .completion__label", "general");
    await ada.keyboard.press("Enter");
    await untilFocus(ada, ".composer__to [aria-label=Topic]");
    await typeInto(ada, ".composer .editor__text", "Written just now");
    await typeInto(ada, ".composer__to [aria-label=Topic]", "lunches");
    await go(ada, "#drafts");
    const drafts = (page) => untilAllEqual(page, "dialog .row__text", (rows) => rows.map((row) => row.textContent).filter((words) => words.startsWith("Written")).sort(), ["Written just now", "Written long ago"]);
    await drafts(ada);
    await clickText(ada, "dialog .row__main", "Written long ago");
    await until(ada, () => document.querySelector(".composer .editor__text").value === "Written long ago");
    await go(ada, "#drafts");
    await drafts(ada);
  });
});

describe("keyboard users", () => {
  it("can do without a mouse", async () => {
    await bench.server.send("Bob", "general", "keys", "Press j");
    const ada = await as("Ada", "#inbox");
    await pressOn(ada, "body", "?");
    await untilText(ada, "dialog h2", "Keyboard shortcuts");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    await ada.keyboard.press("a");
    await untilText(ada, ".header h1", "Combined feed");
    await ada.waitForSelector(".message-row");
    await ada.keyboard.press("End");
    await untilText(ada, ".message-row", "Press j");
    await ada.keyboard.press("k");
    await until(ada, () => document.activeElement.classList.contains("message-row"));
    await ada.keyboard.press("r");
    await until(ada, () => document.activeElement.classList.contains("editor__text"));
    await ada.keyboard.type("By keys alone");
    await press(ada, "Control+Enter");
    await untilText(ada, ".header h1", "keys");
    await untilText(ada, ".message-row", "By keys alone");
    await until(ada, () => document.activeElement.classList.contains("editor__text"));
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.activeElement.classList.contains("editor__text"));
    await ada.keyboard.press("x");
    await until(ada, () => document.activeElement.closest(".picker") !== null);
    await ada.keyboard.type("bob");
    await untilText(ada, ".picker .completion__label", "Bob");
    await ada.keyboard.press("Enter");
    await until(ada, () => document.querySelector(".pill")?.textContent.includes("Bob"));
  });

  // Themes differ in colours alone.
  for (const [name, options, rule] of [["light", {}], ["dark", { dark: true }, "color-contrast"], ["a phone", { width: 390, height: 780, touch: true }]]) {
    it(`finds no violation with axe: ${name}`, async () => {
      await bench.server.send("Bob", "general", "axe", "Hello @**Ada** `code`\n```python\nprint(1)\n```\n> quote\n\n* list\n\n| a | b |\n|---|---|\n| 1 | 2 |");
      await bench.server.call("Bob", "POST", "/users/me/status", { status_text: "Busy" });
      for (const name of ["First", "Second"]) await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: `${name} ${Math.random()}`, field_type: 1, hint: "" });
      const ada = await as("Ada", "#inbox", options);
      // Each with words of the view, or of the dialog, that it opens.
      const views = {
        "#inbox": "Inbox",
        "#recent": "Recent conversations",
        "#feed": "Combined feed",
        [await at("general", "axe")]: "axe",
        "#topics/channel/1-general": "general",
        "#settings/profile": "Settings|Profile",
        "#settings/notifications": "Settings|Notifications",
        "#organization/organization-permissions": "Organization|Permissions",
        "#organization/users": "Organization|Accounts",
        "#organization/profile-field-settings": "Organization|Profile fields",
        "#organization/linkifier-settings": "Organization|Linkifiers",
        "#organization/default-channels-list": "Organization|Default channels",
        "#organization/organization-level-user-defaults": "Organization|Defaults for new people",
        "#organization/playground-settings": "Organization|Code playgrounds",
        "#organization/audit-log": "Organization|Audit log",
        "#channels/all": "Channels|All",
        "#channels/1/general/general": "Channels|General",
        "#groups/all": "Groups|",
        "#keyboard-shortcuts": "Keyboard shortcuts|",
        "#invite": "Invite people|",
        "#drafts": "Drafts|",
      };
      for (const [fragment, words] of Object.entries(views)) {
        await go(ada, fragment);
        await atRest(ada, words);
        const violations = await axeViolations(ada, rule);
        assert.deepEqual(violations, [], `${name} ${fragment}`);
      }
    });
  }

  it("finds no violation with axe: logging in", async () => {
    const page = await bench.open();
    await page.goto(bench.server.url);
    await page.waitForSelector("#id_username");
    assert.deepEqual(await axeViolations(page), []);
  });

  it("has no scroll bar at the width of a phone, and the columns slide in", async () => {
    const ada = await as("Ada", await at("general", "phone"), { width: 390, height: 780, touch: true });
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await eventually(async () => assert.ok(await ada.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
    await clickWithMouse(ada, ".header__left");
    await until(ada, () => getComputedStyle(document.querySelector(".sidebar")).visibility === "visible");
    await clickText(ada, ".sidebar a", "Inbox");
    await untilText(ada, ".header h1", "Inbox");
  });

  it("sees on a phone where it is and the button to send, also while the buttons to format are there", async () => {
    await bench.server.send("Bob", "general", "phone", "From afar");
    const ada = await as("Ada", await at("general", "phone"), { width: 390, height: 780, touch: true });
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await eventually(async () => assert.ok(await onElement(ada, ".header__channel > span", (name) => name.scrollWidth <= name.clientWidth), "the channel's name is whole"));
    await focusOn(ada, ".composer .editor__text");
    await ada.waitForSelector(".composer .editor__format", { visible: true });
    await untilEqual(ada, ".composer__send", (button) => {
      const { left, right, top, height } = button.getBoundingClientRect();
      return right <= innerWidth && button.contains(document.elementFromPoint((left + right) / 2, top + height / 2));
    }, true);
    await ada.setViewport({ width: 360, height: 640 });
    await until(ada, () => innerWidth === 360);
    // Without touch, the page is another one, which loads again.
    await ada.waitForSelector(".composer__send", { visible: true });
    assert.deepEqual(await axeViolations(ada, "target-size"), [], "no button is below another");
    await go(ada, "#narrow/channel/1-general");
    await clickText(ada, ".composer__closed button", "general");
    await focusOn(ada, ".composer__to [data-next]");
    await untilEqual(ada, ".composer__to .picker:last-of-type .completions:has(.completion)", (list) => {
      const { left, right } = list.getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    }, true);
  });

  it("sees on a phone which word was searched for, and leaves it out", async () => {
    await bench.server.send("Bob", "general", "fruit", "marmalade");
    const ada = await as("Ada", "#narrow/search/marmalade", { width: 390, height: 780, touch: true });
    await untilText(ada, ".message-row", "marmalade");
    await untilAllEqual(ada, ".header__pills .pill__text", (pills) => pills.map((pill) => [pill.textContent, pill.offsetWidth > 0]), [["“marmalade”", true]]);
    await go(ada, "#narrow/is/starred");
    await untilEqual(ada, ".header h1", (title) => title.textContent, "Starred messages");
    assert.equal(await countOf(ada, ".header__pills"), 0);
    await go(ada, "#narrow/search/marmalade");
    await clickButton(ada, "Remove “marmalade” from the search");
    await ada.waitForSelector(".inbox__list");
  });

  it("reads on a phone where recent conversations are, and has a box as high as its text", async () => {
    await bench.server.channel("preparations for the summer", ["Ada", "Bob"]);
    await bench.server.send("Bob", "preparations for the summer", "who brings the tent", "I do");
    const ada = await as("Ada", "#recent", { width: 360, height: 640, touch: true });
    const isWhole = (elements, name) => {
      const element = elements.find((one) => one.textContent === name);
      return element.scrollWidth <= element.clientWidth;
    };
    for (const [selector, name] of [[".conversation__place > span", "preparations for the summer"], [".conversation__name", "who brings the tent"]]) await untilAllEqual(ada, `.recent ${selector}`, isWhole, true, name);
    const height = (page) => onElement(page, ".composer .editor__text", (area) => area.clientHeight);
    await go(ada, await at("general", "x"));
    await until(ada, () => document.querySelector(".composer .editor__text").placeholder.endsWith("> x"));
    const least = await height(ada);
    const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "preparations for the summer" });
    await go(ada, `#narrow/channel/${id}-x/topic/who.20brings.20the.20tent`);
    await untilEqual(ada, ".composer .editor__text", (area) => area.placeholder.includes("tent") && area.scrollHeight <= area.clientHeight, true);
    assert.ok((await height(ada)) > least, "two lines");
    await go(ada, await at("general", "x"));
    await untilEqual(ada, ".composer .editor__text", (area) => area.placeholder.endsWith("> x") && area.clientHeight, least);
  });
});

describe("the session", () => {
  it("ends with logging out, and other devices can be logged out", async () => {
    const [one, two] = [await as("Cleo"), await as("Cleo")];
    for (const page of [one, two]) page.expected.push(/401/);
    await go(one, "#settings/devices");
    // Each button says what it ends.
    await untilAllEqual(one, "dialog .row button", (buttons) => buttons.length > 0 && buttons.every(({ ariaLabel, title }) => /^Log out \S/.test(ariaLabel) && /^Since/.test(title)), true);
    await clickText(one, "dialog .button--danger", "Log out all other devices");
    await clickText(one, "dialog.dialog--small .button--danger", "Log out");
    await until(one, () => document.querySelectorAll(".row").length === 1);
    await wake(two);
    await two.waitForSelector("#id_username");
    await go(one, "#inbox");
    await until(one, () => !document.querySelector("dialog"));
    await click(one, "[aria-label='Your menu']");
    await clickText(one, "[role=menuitem]", "Log out");
    await one.waitForSelector("#id_username");
  });
});

/** Where links, overlays and channels lead, and how words of other scripts stand; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { click, clickButton, clickText, clickToast, countOf, enter, eventually, focusOn, hold, intercept, onElement, onElements, pressOn, selectIn, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilStable, untilText, write } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

const closed = (page) => until(page, () => !document.querySelector("dialog"));

describe("an overlay", () => {
  it("leads back to where one was, however it was opened, and Back does not open it again", async () => {
    await bench.server.send("Bob", "general", "here", "We are here");
    const where = await at("general", "here");
    const ada = await as("Ada", "#recent");
    await ada.waitForSelector(".conversation");
    await go(ada, where);
    await untilText(ada, ".message-row", "We are here");
    // By a link, by a menu with steps inside, and by a key.
    await clickText(ada, ".people a", "Invite people");
    await untilText(ada, "dialog h2", "Invite");
    await ada.keyboard.press("Escape");
    await closed(ada);
    await until(ada, (wanted) => location.hash === wanted && document.querySelector(".message-row"), where);
    await go(ada, "#settings/profile");
    await ada.waitForSelector("dialog");
    await go(ada, "#settings/notifications");
    await until(ada, () => document.querySelector("dialog [aria-current=page], dialog [aria-selected=true]")?.textContent.includes("Notifications"));
    await clickButton(ada, "Close");
    await closed(ada);
    await until(ada, (wanted) => location.hash === wanted, where);
    await pressOn(ada, ".message-row", "?");
    await ada.waitForSelector("dialog");
    await ada.keyboard.press("Escape");
    await closed(ada);
    await until(ada, (wanted) => location.hash === wanted, where);
    await ada.goBack();
    await until(ada, () => location.hash === "#recent" && !document.querySelector("dialog"));
    await ada.goForward();
    await until(ada, (wanted) => location.hash === wanted && !document.querySelector("dialog"), where);
    // What is opened by its address has nothing below.
    await ada.goto(`${bench.server.url}/?#settings/profile`);
    await ada.waitForSelector("dialog");
    await ada.reload();
    await ada.waitForSelector("dialog");
    await ada.keyboard.press("Escape");
    await closed(ada);
    await until(ada, () => location.hash === "" || location.hash === "#" || !location.hash.startsWith("#settings"));
  });

  it("leaves the view below as it is", async () => {
    for (let count = 0; count < 40; count++) await bench.server.send("Ada", "general", "below", count === 20 ? "long\n\n".repeat(400) : `Point ${count}`);
    const ada = await as("Ada", await at("general", "below"));
    await untilText(ada, ".message-row", "Point 39");
    await click(ada, ".content__more");
    await onElement(ada, ".message-row.is-expanded", (row) => row.focus());
    await onElement(ada, ".timeline__scroller", (scroller) => { scroller.scrollTop = scroller.scrollHeight / 2; });
    const seen = () => untilStable(ada, ".timeline__scroller", (scroller) => [scroller.scrollTop, scroller.querySelectorAll(".is-expanded").length, document.activeElement.className]);
    const before = await seen();
    for (const fragment of ["#settings/profile", "#drafts", "#keyboard-shortcuts"]) {
      await go(ada, fragment);
      await ada.waitForSelector("dialog");
      await ada.keyboard.press("Escape");
      await closed(ada);
    }
    await eventually(async () => assert.deepEqual(await seen(), before));
  });

  it("stays while the conversation below it moves, and leads to its new place", async () => {
    const { id } = await bench.server.send("Bob", "general", "below", "Under it");
    const ada = await as("Ada", await at("general", "below"));
    await untilText(ada, ".message-row", "Under it");
    await go(ada, "#settings/profile");
    await ada.waitForSelector("dialog");
    await bench.server.call("Bob", "PATCH", `/messages/${id}`, { topic: "above", propagate_mode: "change_all", send_notification_to_new_thread: false });
    await until(ada, () => document.querySelector(".header__topic")?.textContent === "above");
    await ada.waitForSelector("dialog[open]");
    await ada.keyboard.press("Escape");
    await closed(ada);
    await untilText(ada, ".message-row", "Under it");
    await until(ada, () => location.hash.endsWith("/topic/above"));
  });
});

describe("a channel", () => {
  it("opens the same way with the first click as with the second", async () => {
    const id = await bench.server.channel("orchard", ["Ada", "Bob"]);
    await bench.server.send("Bob", "orchard", "apples", "Ripe");
    await bench.server.send("Bob", "orchard", "pears", "Not yet");
    const ada = await as("Ada", "#inbox");
    for (const way of ["click", "click", "key"]) {
      if (way === "click") await clickText(ada, ".sidebar [data-channel] a", "orchard");
      else {
        await go(ada, await at("general", "x"));
        await untilText(ada, ".header h1", "general");
        const fragment = () => ada.evaluate(() => location.hash);
        for (let before = await fragment(); !new RegExp(`/channel/${id}\\b`).test(before); before = await fragment()) {
          await pressOn(ada, "body", "D");
          await until(ada, (old) => location.hash !== old, before);
        }
      }
      await until(ada, () => document.querySelector(".header__topic")?.textContent === "pears");
      await go(ada, "#inbox");
      await ada.waitForSelector(".inbox__list");
    }
    // Its name above a topic leads to all its messages.
    await clickText(ada, ".sidebar [data-channel] a", "orchard");
    await until(ada, () => document.querySelector(".header__topic")?.textContent === "pears");
    await click(ada, ".header__channel");
    await untilText(ada, ".message-row", "Ripe");
  });

  it("opens also if its topics do not come, and the last one that is chosen", async () => {
    const ada = await bench.open();
    const held = await hold(ada, (request) => /\/users\/me\/\d+\/topics/.test(request.url()));
    await enter(ada, bench.server, "Ada");
    await go(ada, "#recent");
    for (const [at, name] of ["general", "design"].entries()) {
      await clickText(ada, ".sidebar a[data-opens-channel]", name);
      await eventually(() => assert.equal(held.length, at + 1));
    }
    // Further clicks do not make it wait longer.
    await eventually(async () => {
      await clickText(ada, ".sidebar a[data-opens-channel]", "design");
      assert.match(await ada.evaluate(() => location.hash), /^#narrow\/channel\/\d+-design$/);
    });
  });

  it("has its present name in links to it, to its topics and to its messages", async () => {
    const id = await bench.server.channel("harbour", ["Ada", "Bob"]);
    const { id: message } = await bench.server.send("Bob", "harbour", "tides", "High at noon");
    await bench.server.send("Bob", "general", "trips", `#**harbour** #**harbour>tides** #**harbour>** #**harbour>tides@${message}**`);
    const ada = await as("Ada", await at("general", "trips"));
    const untilNamed = (name) => untilAllEqual(ada, ".message-row .content a", (links) => links.map((link) => link.textContent), [`#${name}`, `#${name} > tides`, `#${name} > general chat`, `#${name} > tides @ 💬`]);
    await untilNamed("harbour");
    await bench.server.call("Ada", "PATCH", `/streams/${id}`, { new_name: "marina" });
    await untilNamed("marina");
  });

  it("has its present name in the box in which one writes, as people have", async () => {
    const id = await bench.server.channel("quay", ["Ada"]);
    const nora = await bench.server.person("Nora");
    const untilFor = (page, words) => untilEqual(page, ".composer .editor__text", (area) => area.placeholder, words);
    const ada = await as("Ada", `#narrow/channel/${id}/topic/boats`);
    await untilFor(ada, "Message #quay > boats");
    await bench.server.call("Ada", "PATCH", `/streams/${id}`, { new_name: "pier" });
    await untilFor(ada, "Message #pier > boats");
    await go(ada, `#narrow/dm/${nora}-dm`);
    await untilFor(ada, "Message Nora");
    await bench.server.call("Nora", "PATCH", "/settings", { full_name: "Eleonora" });
    await untilFor(ada, "Message Eleonora");
  });
});

describe("emoji", () => {
  it("begin with the thumb that points up", async () => {
    const { id } = await bench.server.send("Bob", "general", "thumbs", "Good?");
    const ada = await as("Ada", await at("general", "thumbs"));
    await pressOn(ada, `[data-id="${id}"]`, ":");
    await until(ada, () => document.querySelectorAll(".emoji-grid button").length > 50);
    await onElement(ada, ".emoji-grid button", (button) => button.click());
    await eventually(async () => {
      const { message } = await bench.server.call("Bob", "GET", `/messages/${id}`);
      assert.deepEqual(message.reactions.map((reaction) => reaction.emoji_code), ["1f44d"]);
    });
  });

  it("stay above the keyboard of the screen", async () => {
    const ada = await as("Ada", await at("general", "thumbs"), { width: 390, height: 780, touch: true });
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await clickButton(ada, "Emoji");
    await untilFocus(ada, ".emoji-picker input");
    await ada.setViewport({ ...ada.viewport(), height: 440 });
    await untilEqual(ada, ".popover", (box) => innerHeight === 440 && box.getBoundingClientRect().bottom <= innerHeight, true);
    // As on iOS, where the keyboard covers a part of the page.
    await ada.evaluate(() => {
      Object.defineProperty(visualViewport, "height", { get: () => 340 });
      visualViewport.dispatchEvent(new Event("resize"));
    });
    await untilEqual(ada, ".popover", (box) => box.getBoundingClientRect().bottom <= 340, true);
  });

  it("say that they could not be loaded, and are loaded on request", async () => {
    const { id } = await bench.server.send("Bob", "general", "thumbs", "Well?");
    const ada = await as("Ada", await at("general", "thumbs"));
    ada.expected.push(/503/);
    let fails = true;
    await intercept(ada, (request) => fails && request.url().includes("/emoji_api.json") && [503, { result: "error", msg: "Busy" }]);
    await pressOn(ada, `[data-id="${id}"]`, ":");
    await untilText(ada, ".emoji-picker [role=alert]:not([hidden])", "This could not be loaded.");
    fails = false;
    await pressOn(ada, ".emoji-picker [role=alert] button", "Enter");
    await until(ada, () => document.querySelectorAll(".emoji-grid button").length > 50 && document.querySelector(".emoji-picker [role=alert]").hidden);
    await untilFocus(ada, ".emoji-picker input");
  });

  it("keep the focus when their names arrive late", async () => {
    const { id } = await bench.server.send("Bob", "general", "thumbs", "Really?");
    const ada = await as("Ada", await at("general", "thumbs"));
    const held = await hold(ada, (request) => request.url().includes("/emoji_api.json"));
    await pressOn(ada, `[data-id="${id}"]`, ":");
    await untilFocus(ada, ".emoji-picker input");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.press("ArrowDown");
    await untilFocus(ada, ".emoji-grid button");
    const focused = await ada.evaluate(() => document.activeElement.title);
    await held[0].continue();
    await until(ada, () => document.querySelectorAll(".emoji-grid button").length > 50);
    assert.equal(await ada.evaluate(() => document.activeElement.title), focused);
  });
});

describe("tones of skin", () => {
  it("are chosen once, and written into messages, not into reactions", async () => {
    const { id } = await bench.server.send("Bob", "general", "tones", "Good?");
    const ada = await as("Ada", await at("general", "tones"));
    await ada.waitForSelector(`[data-id="${id}"]`);
    await focusOn(ada, ".composer .editor__text");
    await clickButton(ada, "Emoji");
    await until(ada, () => document.querySelectorAll(".emoji-section").length > 8);
    await clickButton(ada, "Medium dark");
    await until(ada, () => document.querySelector(".emoji-grid button")?.textContent === "👍🏾" && document.querySelector("[aria-label='Medium dark']").ariaChecked === "true");
    await onElement(ada, ".emoji-grid button", (button) => button.click());
    await until(ada, () => document.querySelector(".composer .editor__text").value === "👍🏾 ");
    await typeInto(ada, ".composer .editor__text", "and :clap");
    await untilText(ada, ".completion__label", ":clap:");
    await ada.keyboard.press("Enter");
    await until(ada, () => document.querySelector(".composer .editor__text").value === "👍🏾 and 👏🏾 ");
    await clickButton(ada, "Send");
    await untilText(ada, ".message-row .content", "👍🏾 and 👏🏾");
    await pressOn(ada, `[data-id="${id}"]`, ":");
    await until(ada, () => document.querySelectorAll(".emoji-section").length > 8);
    assert.equal(await countOf(ada, ".emoji-tones"), 0);
    await untilEqual(ada, ".emoji-grid button", (button) => button.textContent, "👍️".replace("\uFE0F", ""));
  });
});

describe("a message from elsewhere", () => {
  it("gets its channel and topic by typing, and emoji by words for them", async () => {
    await bench.server.send("Bob", "design", "colours of spring", "Green");
    const ada = await as("Ada", "#inbox");
    await ada.waitForSelector(".inbox__list");
    await ada.keyboard.press("c");
    await until(ada, () => document.activeElement.getAttribute("aria-label") === "Channel");
    await ada.keyboard.type("desi");
    await untilText(ada, ".composer__to .completion__label", "design");
    await ada.keyboard.press("Enter");
    await until(ada, () => document.activeElement.getAttribute("aria-label") === "Topic" && document.querySelector(".composer [aria-label=Channel]").value === "design");
    await ada.keyboard.type("spring");
    await untilText(ada, ".composer__to .completion__label", "colours of spring");
    await ada.keyboard.press("ArrowDown");
    await ada.keyboard.press("Enter");
    await until(ada, () => document.querySelector(".composer [aria-label=Topic]").value === "colours of spring");
    await focusOn(ada, ".composer .editor__text");
    await clickButton(ada, "Emoji");
    await until(ada, () => document.querySelectorAll(".emoji-section").length > 8);
    await typeInto(ada, ".emoji-picker input", "thumb up");
    await until(ada, () => document.querySelector(".emoji-grid button")?.title === "+1" && document.querySelectorAll(".emoji-section").length === 1);
    await ada.keyboard.press("ArrowDown");
    await ada.keyboard.press("Enter");
    await until(ada, () => document.querySelector(".composer .editor__text").value === ":+1: ");
    await clickButton(ada, "Send");
    await untilText(ada, ".header__topic", "colours of spring");
    await eventually(async () => {
      const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["channel", "design"], ["topic", "colours of spring"]] });
      assert.match(messages[0].content, /1f44d/);
    });
  });
});

describe("a list of choices", () => {
  it("is scrolled by a finger, and a tap chooses, or a click of a screen reader", async () => {
    const ada = await as("Ada", await at("general", "fingers"));
    const value = (text) => untilEqual(ada, ".composer .editor__text", (area) => area.value, text);
    const pressed = (pointerType, type, detail) => onElement(ada, ".completion", (choice, how) => {
      const options = { bubbles: true, cancelable: true, pointerType: how.pointerType, detail: how.detail };
      choice.dispatchEvent(new PointerEvent(how.type, options));
    }, { pointerType, type, detail });
    const offered = async (text) => {
      await typeInto(ada, ".composer .editor__text", text);
      await untilText(ada, ".completion__label", "Bob");
    };
    await offered("@Bo");
    await pressed("touch", "pointerdown", 0);
    await value("@Bo");
    await pressed("touch", "click", 1);
    await value("@**Bob** ");
    await offered("@Bo");
    await pressed("mouse", "pointerdown", 0);
    await value("@**Bob** @**Bob** ");
    await offered("@Bo");
    await pressed("", "click", 0);
    await value("@**Bob** @**Bob** @**Bob** ");
  });
});

describe("a topic whose last message is deleted", () => {
  it("leads to the other topics, and not to itself", async () => {
    const { id } = await bench.server.send("Bob", "general", "lonely", "Soon gone");
    await bench.server.send("Bob", "general", "busy", "Here to stay");
    const ada = await as("Ada", await at("general", "lonely"));
    await untilText(ada, ".message-row", "Soon gone");
    // The list of topics is there.
    await untilText(ada, ".sidebar", "busy");
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    await untilEqual(ada, ".timeline .empty a.button", (link) => link.textContent, "Topics of #general");
  });
});

describe("a message to a channel without topics", () => {
  it("gets none, and the box has the focus once the channel is chosen", async () => {
    const subscribers = ["Ada", "Bob"].map((name) => bench.server.accounts[name].user_id);
    await bench.server.call("Ada", "POST", "/channels/create", { name: "notices", subscribers, topics_policy: "empty_topic_only" });
    const ada = await as("Ada", "#inbox");
    await ada.waitForSelector(".inbox__list");
    await ada.keyboard.press("c");
    await typeInto(ada, ".composer [aria-label=Topic]", "Not here");
    await typeInto(ada, ".composer [aria-label=Channel]", "noti");
    await untilText(ada, ".composer__to .completion__label", "notices");
    await ada.keyboard.press("Enter");
    await untilFocus(ada, ".composer .editor__text");
    await untilEqual(ada, ".composer [aria-label=Topic]", (field) => [field.disabled, field.value, field.placeholder], [true, "", "general chat"]);
    await ada.keyboard.type("The lift is out of order");
    await clickButton(ada, "Send");
    await untilText(ada, ".message-row", "The lift is out of order");
    await untilEqual(ada, ".header__topic", (topic) => topic.textContent, "general chat");
  });

  it("keeps a topic that was written before, to be taken out", async () => {
    const id = await bench.server.channel("memos", ["Ada"]);
    const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: "newest", num_before: 10, num_after: 0, narrow: [["channel", "memos"]] });
    for (const message of messages) await bench.server.call("Ada", "DELETE", `/messages/${message.id}`);
    const ada = await as("Ada", "#inbox");
    await ada.waitForSelector(".inbox__list");
    await ada.keyboard.press("c");
    await typeInto(ada, ".composer [aria-label=Channel]", "memo");
    await untilText(ada, ".composer__to .completion__label", "memos");
    await ada.keyboard.press("Enter");
    await untilFocus(ada, ".composer [aria-label=Topic]");
    await ada.keyboard.type("Too late");
    await focusOn(ada, ".composer .editor__text");
    await bench.server.call("Ada", "PATCH", `/streams/${id}`, { topics_policy: "empty_topic_only" });
    await untilEqual(ada, ".composer [aria-label=Topic]", (field) => [field.disabled, field.value, field.placeholder], [false, "Too late", "general chat"]);
  });
});

describe("words that run from right to left", () => {
  it("stand in their own order, with names and topics", async () => {
    const { id } = await bench.server.send("Bob", "general", "שלום", "مرحبا Bob، كيف الحال.\n\nAnd in English.\n\n* قائمة\n\n> اقتباس");
    const ada = await as("Ada", await at("general", encodeURIComponent("שלום").replaceAll("%", ".")));
    await ada.waitForSelector(`[data-id="${id}"] p`);
    await until(ada, (row) => [...document.querySelectorAll(`[data-id="${row}"] .content > p`)].map((one) => getComputedStyle(one).direction).join() === "rtl,ltr", id);
    await untilAllEqual(ada, `[data-id="${id}"] :is(ul, blockquote)`, (blocks) => blocks.map((one) => getComputedStyle(one).direction), ["rtl", "rtl"]);
    await write(ada, "مرحبا");
    await untilEqual(ada, ".composer .editor__text", (area) => getComputedStyle(area).direction, "rtl");
    await untilEqual(ada, ".header__topic", (topic) => getComputedStyle(topic).direction, "rtl");
    // In lists, a description does not turn what is said of it.
    await bench.server.call("Ada", "POST", "/user_groups/create", { name: "מעצבים", description: "كتاب one", members: [] });
    await go(ada, "#groups/all");
    await untilText(ada, "dialog .row bdi", "كتاب one");
    await untilEqual(ada, "dialog .row strong", (name) => getComputedStyle(name).unicodeBidi, "plaintext");
    const [start, end] = await onElement(ada, "dialog .row .muted", (line) => [line.querySelector("bdi").getBoundingClientRect().left, line.getBoundingClientRect().left]);
    assert.equal(start, end, "the description is first");
  });
});

describe("the right column", () => {
  it("has the people of the open channel before the others, and follows who comes and goes", async () => {
    await bench.server.channel("duo", ["Ada", "Bob"]);
    const ada = await as("Ada", await at("duo", "song"));
    const column = () => onElements(ada, ".people section:not([hidden])", (sections) => sections.map((section) => [section.querySelector("h3").textContent, ...[...section.querySelectorAll("bdi")].map((name) => name.textContent)]));
    await eventually(async () => assert.deepEqual(await column(), [["In this channel (2)", "Ada", "Bob"], ["Others", "Cleo", "Eleonora"]]));
    await bench.server.channel("duo", ["Cleo"]);
    await untilText(ada, ".people h3", "In this channel (3)");
    await bench.server.call("Ada", "DELETE", "/users/me/subscriptions", { subscriptions: ["duo"], principals: [bench.server.accounts.Bob.user_id] });
    await eventually(async () => assert.deepEqual((await column())[1], ["Others", "Bob", "Eleonora"]));
    await go(ada, `#narrow/dm/${bench.server.accounts.Bob.user_id}`);
    await eventually(async () => assert.deepEqual(await column(), [["In this conversation (2)", "Ada", "Bob"], ["Others", "Cleo", "Eleonora"]]));
  });
});

describe("small things", () => {
  it("are at their place: the buttons of polls, short messages with long formulas, the bar of a long run", async () => {
    await bench.server.send("Bob", "general", "poll", "/poll Lunch?\nSoup");
    const { id: formulas } = await bench.server.send("Bob", "general", "poll", "$$\\frac{a+b+c+d}{e+f+g+h}$$ and $$\\frac{a+b+c+d}{e+f+g+h}$$ and $$\\sum_{i=0}^{n} \\frac{x_i + y_i + z_i}{n^2}$$");
    const { id: high } = await bench.server.send("Bob", "general", "poll", Array.from({ length: 80 }, (_, line) => `Line ${line} of a long message that is read in part at first, if it is as high as that`).join("\n"));
    const ada = await as("Ada", await at("general", "poll"));
    await ada.waitForSelector(".widget__add button");
    await eventually(async () => {
      const { height, width } = await onElement(ada, ".widget__add button", (button) => button.getBoundingClientRect().toJSON());
      assert.ok(height < 45 && width > 40, `${width}x${height}`);
    });
    await ada.waitForSelector(`[data-id="${high}"] .content__more`);
    assert.equal(await countOf(ada, `[data-id="${formulas}"] .content__more`), 0);
    // What counts is the height, not the length; it depends on the width.
    const { id: list } = await bench.server.send("Bob", "general", "heights", "- a\n".repeat(45));
    const { id: text } = await bench.server.send("Bob", "general", "heights", "Some words of a long text. ".repeat(90));
    await go(ada, await at("general", "heights"));
    const folded = (ids) => until(ada, (wanted) => [...document.querySelectorAll(".message-row")].filter((row) => row.querySelector(".content__more")).map((row) => Number(row.dataset.id)).join() === wanted.join(), ids);
    await folded([list]);
    await ada.setViewport({ width: 400, height: 900 });
    await folded([list, text]);
    await ada.setViewport({ width: 1440, height: 900 });
    await folded([list]);
    // What is collapsed is shown again as a whole.
    await pressOn(ada, `[data-id="${list}"]`, "-");
    await untilEqual(ada, `[data-id="${list}"] .content__more`, (button) => button.checkVisibility(), false);
    for (let number = 0; number < 60; number++) await bench.server.send("Bob", "design", "long run", `Step ${number}`);
    await go(ada, "#feed");
    await untilText(ada, ".message-row", "Step 59");
    // The list may go to its end once more.
    await until(ada, () => {
      const scroller = document.querySelector(".timeline__scroller");
      scroller.scrollTop = scroller.scrollHeight;
      return !document.querySelector(".timeline__sticky").hidden && document.querySelector(".timeline__sticky").textContent.includes("long run");
    });
  });

  it("can be taken back, and ask before they change much", async () => {
    await bench.server.call("Ada", "PATCH", "/realm", { enable_guest_user_indicator: true });
    await bench.server.person("Dan");
    const { id } = await bench.server.send("Bob", "design", "undone", "Unread");
    const ada = await as("Ada", "#inbox");
    await untilText(ada, ".inbox__list .conversation", "undone");
    await clickButton(ada, "Mark undone as read");
    await until(ada, () => ![...document.querySelectorAll(".inbox__list .conversation")].some((link) => link.textContent.includes("undone")));
    await clickToast(ada, "Undo");
    await untilText(ada, ".inbox__list .conversation", "undone");
    const { message } = await bench.server.call("Ada", "GET", `/messages/${id}`);
    assert.ok(!message.flags.includes("read"));
    await go(ada, "#organization/users");
    await ada.waitForSelector("dialog select[aria-label='Role of Dan']");
    await selectIn(ada, "dialog select[aria-label='Role of Dan']", "600");
    await clickText(ada, "dialog button", "Cancel");
    await until(ada, () => document.querySelector("select[aria-label='Role of Dan']").value === "400");
    await selectIn(ada, "dialog select[aria-label='Role of Dan']", "600");
    await clickText(ada, "dialog button", "Change");
    await untilText(ada, ".people", "guest");
  });

  it("search by a part of a name, and complete before they search; a row says its content", async () => {
    const { id } = await bench.server.send("Bob", "design", "paint", "The wallpaper is mauve");
    const ada = await as("Ada", "#inbox");
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await ada.keyboard.type("sender:bo");
    await untilText(ada, ".search .completion__label", "sender:Bob");
    await ada.keyboard.press("ArrowDown");
    await ada.keyboard.press("Enter");
    // It is a term now; Backspace takes it out.
    await untilText(ada, ".search .pill", "sender: Bob");
    await eventually(async () => assert.equal(await ada.evaluate(() => document.activeElement.value), ""));
    await ada.keyboard.press("Backspace");
    await until(ada, () => !document.querySelector(".search .pill"));
    await ada.keyboard.type("from:bo mauve");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".message-row .highlight", "mauve");
    await eventually(async () => assert.match(await onElement(ada, `[data-id="${id}"]`, (row) => document.getElementById(row.getAttribute("aria-describedby")).textContent), /mauve/));
    await click(ada, `[data-id="${id}"] .message-row__sender`);
    await untilText(ada, ".card", "Copy mention");
    assert.ok(!(await onElements(ada, ".card button", (buttons) => buttons.map((button) => button.textContent))).includes("Mention"));
  });

  it("go by the server's clock, and take files that are dropped anywhere", async () => {
    const ada = await as("Ada");
    await ada.evaluateOnNewDocument(() => {
      const now = Date.now;
      Date.now = () => now() + 3_600_000;
    });
    await bench.server.call("Bob", "POST", "/users/me/presence", { status: "active", new_user_input: true });
    await ada.goto(`${bench.server.url}/${await at("general", "clock")}`);
    await ada.reload();
    await until(ada, () => [...document.querySelectorAll(".people li")].find((row) => row.textContent.includes("Bob"))?.querySelector("[data-presence=active]"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    // The box for messages shows where they go, until they go elsewhere.
    const drag = (type) => onElement(ada, ".timeline__scroller", (scroller, name) => {
      const data = new DataTransfer();
      data.items.add(new File(["text"], "notes.txt", { type: "text/plain" }));
      const event = new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
      scroller.dispatchEvent(event);
      return document.body.dataset.drop ?? null;
    }, type);
    assert.equal(await drag("dragover"), "here");
    await until(ada, () => !("drop" in document.body.dataset));
    await drag("dragover");
    assert.equal(await drag("drop"), null);
    await until(ada, () => document.querySelector(".composer .editor__text").value.includes("/user_uploads/"));
  });
});

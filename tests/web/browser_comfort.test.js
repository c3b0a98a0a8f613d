/** Searching by days, taking back what was done, and the page for those who hear it; in a headless browser against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TIME_TO_UNDO } from "../../web/js/store/deletions.js";
import { ACTION_TIME } from "../../web/js/views/toasts.js";
import { axeViolations } from "./axe.js";
import { choose, click, clickButton, clickText, clickToast, enter, eventually, focusOn, hide, hold, hoverOver, intercept, IS_FIREFOX, onElement, onElements, press, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilStable, untilText, untilToast } from "./harness.js";

const bench = setUp({ args: ["--max-file-upload-size-mib", "1"] });
const { as, at, go } = bench;

/** A page whose timers of this number of milliseconds wait for the test, which ends them by `ends` of the page. */
async function holding(name, milliseconds) {
  const page = await bench.open();
  await page.evaluateOnNewDocument((held) => {
    const real = window.setTimeout;
    window.ends = [];
    window.setTimeout = (run, time, ...rest) => {
      if (time !== held) return real(run, time, ...rest);
      window.ends.push(run);
      return real(() => {}, 0);
    };
  }, milliseconds);
  await enter(page, bench.server, name);
  return page;
}

describe("a page that is open at midnight", () => {
  it("says that the messages of the day before are those of yesterday", async () => {
    await bench.server.send("Bob", "general", "late", "Good night");
    const ada = await bench.open();
    await ada.evaluateOnNewDocument(() => {
      const Real = Date;
      window.ahead = 0;
      window.Date = class extends Real {
        static now = () => Real.now() + window.ahead;

        constructor(...args) {
          super(...(args.length > 0 ? args : [window.Date.now()]));
        }
      };
    });
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "late"));
    await untilText(ada, ".message-row__day", "Today");
    await ada.evaluate(() => { window.ahead = 86_400_000; });
    await untilText(ada, ".message-row__day", "Yesterday");
  });
});

describe("a search for a day", () => {
  it("leads to where it begins, in the channel that is searched", async () => {
    for (let count = 0; count < 60; count++) await bench.server.send("Bob", count % 2 ? "design" : "general", "paint", `Coat ${count}`);
    const { messages: [first] } = await bench.server.call("Ada", "GET", "/messages", { anchor: "oldest", num_before: 0, num_after: 1, narrow: [["channel", "design"]] });
    const ada = await as("Ada", "#inbox");
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await ada.keyboard.type("channel:desi date:tod");
    await untilText(ada, ".search .pill", "channel: design");
    await untilText(ada, ".search .completion__label", "date:today");
    await ada.keyboard.press("ArrowDown");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".search .pill", "date: today");
    await ada.keyboard.press("Enter");
    await until(ada, (id) => location.hash.endsWith(`/near/${id}`), first.id);
    await ada.waitForSelector(`[data-id="${first.id}"]`);
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await ada.keyboard.type("before:today");
    await ada.keyboard.press("Enter");
    await untilToast(ada, "There are no messages before that day");
  });
});

describe("a search for a day that takes long", () => {
  it("does not lead away from where one has gone meanwhile", async () => {
    await bench.server.send("Bob", "general", "paint", "Primer");
    const ada = await bench.open();
    const held = await hold(ada, (request) => new URL(request.url()).searchParams.get("anchor") === "oldest");
    await enter(ada, bench.server, "Ada");
    await typeInto(ada, ".search input", "date:today ");
    await untilText(ada, ".search .pill", "date: today");
    await ada.keyboard.press("Enter");
    await eventually(() => assert.equal(held.length, 1));
    await go(ada, "#recent");
    const last = ada.waitForResponse((response) => new URL(response.url()).searchParams.get("num_before") === "1");
    await held[0].continue();
    await (await last).text();
    await untilStable(ada, ".header h1", (title) => title.textContent);
    assert.equal(await ada.evaluate(() => location.hash), "#recent");
  });
});

describe("what was done", () => {
  const deleted = async (id) => bench.server.call("Ada", "GET", `/messages/${id}`).then(() => false, () => true);

  it("is taken back: a deleted message, a channel that was left, an alert word", async () => {
    const { id } = await bench.server.send("Ada", "general", "regrets", "Please stay");
    const other = await bench.server.send("Ada", "general", "regrets", "Please go");
    // A message is deleted after this time.
    const ada = await holding("Ada", TIME_TO_UNDO);
    await go(ada, await at("general", "regrets"));
    const remove = async (which) => {
      await pressOn(ada, `[data-id="${which}"]`, "i");
      await clickText(ada, "[role=menuitem]", "Delete");
      await until(ada, (one) => !document.querySelector(`[data-id="${one}"]`), which);
    };
    await remove(id);
    await clickToast(ada, "Undo");
    await ada.waitForSelector(`[data-id="${id}"]`);
    await remove(other.id);
    assert.equal(await deleted(other.id), false, "not yet");
    // Leaving the page deletes it now.
    await hide(ada);
    await eventually(async () => assert.equal(await deleted(other.id), true));
    assert.equal(await deleted(id), false);
    // The button is still there, and says that it is too late.
    await clickToast(ada, "Undo");
    await untilToast(ada, "The message was deleted for everyone.");
    await ada.reload();
    await ada.waitForSelector(".app");
    await go(ada, await at("design", "x"));
    // A topic without messages gives the box the focus, which closes a menu.
    await untilFocus(ada, ".composer .editor__text");
    await clickButton(ada, "Actions on design");
    await clickText(ada, "[role=menuitem]", "Unsubscribe");
    await clickToast(ada, "Undo", "You left #design");
    await eventually(async () => assert.ok((await bench.server.call("Ada", "GET", "/users/me/subscriptions")).subscriptions.some(({ name }) => name === "design")));
    await bench.server.call("Ada", "POST", "/users/me/alert_words", { alert_words: ["mauve"] });
    await go(ada, "#settings/alert-words");
    await clickButton(ada, "Remove mauve");
    await clickToast(ada, "Undo");
    await eventually(async () => assert.deepEqual((await bench.server.call("Ada", "GET", "/users/me/alert_words")).alert_words, ["mauve"]));
  });
});

describe("what was done in a dialog", () => {
  it("can still be taken back when the dialog is closed", async () => {
    await bench.server.call("Ada", "POST", "/users/me/alert_words", { alert_words: ["teal"] });
    const ada = await holding("Ada", ACTION_TIME);
    await go(ada, "#settings/alert-words");
    await clickButton(ada, "Remove teal");
    await untilText(ada, "dialog .toast", "Undo");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    await clickText(ada, ".toast button", "Undo");
    await eventually(async () => assert.ok((await bench.server.call("Ada", "GET", "/users/me/alert_words")).alert_words.includes("teal")));
    await bench.server.call("Ada", "DELETE", "/users/me/alert_words", { alert_words: ["teal"] });
  });
});

describe("what was done just before logging out", () => {
  it("is done: a message is deleted", async () => {
    const { id } = await bench.server.send("Ada", "general", "last words", "Forget this");
    const ada = await as("Ada", await at("general", "last words"));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await clickText(ada, "[role=menuitem]", "Delete");
    await untilToast(ada, "The message was deleted for everyone.");
    await clickButton(ada, "Your menu");
    await clickText(ada, "[role=menuitem]", "Log out");
    await ada.waitForSelector("#id_username");
    await assert.rejects(bench.server.call("Bob", "GET", `/messages/${id}`), /400|BAD_REQUEST|Invalid/);
  });
});

describe("short messages", () => {
  it("that come at once are all shown, and each of them goes by itself", async () => {
    // Errors go after this time.
    const ada = await holding("Ada", 8000);
    await go(ada, await at("general", "large"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const drop = (...names) => onElement(ada, ".composer .editor", (editor, titles) => {
      const data = new DataTransfer();
      for (const title of titles) data.items.add(new File([new Uint8Array(2 ** 21)], title));
      editor.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, names);
    await drop("one", "two", "three");
    const untilShown = (...names) => untilAllEqual(ada, ".toast[role=alert] span", (texts) => texts.map((text) => text.textContent), names.map((name) => `${name} is larger than 1 MiB.`));
    await untilShown("one", "two", "three");
    await ada.evaluate(() => window.ends[1]());
    await untilShown("one", "three");
    for (const left of [["three"], []]) {
      await pressOn(ada, ".toast [aria-label=Dismiss]", "Enter");
      await untilShown(...left);
    }
    // What comes again is there once.
    await drop("same", "same");
    await untilShown("same");
  });
});

describe("a message to another conversation", () => {
  it("can be shown once it is sent", async () => {
    await bench.server.call("Cleo", "PATCH", "/settings", { web_navigate_to_sent_message: false });
    const { id } = await bench.server.send("Ada", "design", "lamps", "Bright?");
    const cleo = await as("Cleo", "#feed");
    await pressOn(cleo, `[data-id="${id}"]`, "r");
    await untilFocus(cleo, ".composer .editor__text");
    await cleo.keyboard.type("Warm");
    await press(cleo, "Control+Enter");
    await untilToast(cleo, "Sent.", "Show the message");
    await untilText(cleo, ".header__topic", "lamps");
  });
});

describe("a row", () => {
  it("says its text, and which of how many it is", async () => {
    const ids = [];
    for (const text of ["One **strong** word", "Two"]) ids.push((await bench.server.send("Bob", "general", "heard", text)).id);
    const ada = await as("Ada", await at("general", "heard"));
    await ada.waitForSelector(`[data-id="${ids[1]}"]`);
    await until(ada, () => document.querySelector(".message-row:last-of-type").ariaSetSize === "2");
    const heard = (id) => onElement(ada, `[data-id="${id}"]`, (row) => [row.getAttribute("role") ?? row.localName, row.ariaLabel.split(",")[0], document.getElementById(row.getAttribute("aria-describedby")).textContent.trim(), row.ariaPosInSet, row.ariaSetSize]);
    await eventually(async () => assert.deepEqual(await heard(ids[0]), ["article", "Bob", "One strong word", "1", "2"]));
    await eventually(async () => assert.deepEqual(await heard(ids[1]), ["article", "Bob", "Two", "2", "2"]));
  });
});

describe("the history of a message", () => {
  it("is not offered where the organization hides it", async () => {
    const { id } = await bench.server.send("Cleo", "general", "doubts", "One");
    await bench.server.call("Cleo", "PATCH", `/messages/${id}`, { content: "Two" });
    const menuOf = async (name) => {
      const page = await as(name, await at("general", "doubts"));
      await untilText(page, `[data-id="${id}"]`, "edited");
      await pressOn(page, `[data-id="${id}"]`, "i");
      return onElements(page, "[role=menuitem]", (items) => {
        const texts = items.map((item) => item.textContent).join();
        if (!texts.includes("Quote and reply")) throw new Error(`not the menu of a message: ${texts}`);
        return texts;
      });
    };
    assert.match(await menuOf("Ada"), /Edit history/);
    // The next test needs the history.
    const setPolicy = (policy) => bench.server.call("Ada", "PATCH", "/realm", { message_edit_history_visibility_policy: policy });
    await setPolicy("none");
    const hidden = await menuOf("Bob").finally(() => setPolicy("all"));
    assert.doesNotMatch(hidden, /Edit history/);
  });
});

describe("the history of a message that has moved", () => {
  it("names the topics, also the one without a name", async () => {
    const { id } = await bench.server.send("Bob", "general", "", "Where does this belong?");
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { topic: "belongings", send_notification_to_new_thread: false });
    const ada = await as("Ada", await at("general", "belongings"));
    await pressOn(ada, `[data-id="${id}"]`, "H");
    await untilText(ada, "dialog .version", "topic changed from “general chat” to “belongings”");
  });
});

describe("a message that is reported", () => {
  it("reaches the moderators with the reason", async () => {
    const id = await bench.server.channel("moderators", ["Ada"], { invite_only: true });
    await bench.server.call("Ada", "PATCH", "/realm", { moderation_request_channel_id: id });
    const sent = await bench.server.send("Cleo", "general", "ads", "Buy my tonic");
    const bob = await as("Bob", await at("general", "ads"));
    await pressOn(bob, `[data-id="${sent.id}"]`, "i");
    await clickText(bob, "[role=menuitem]", "Report");
    await choose(bob, "What is wrong with it?", "spam");
    await clickText(bob, "dialog button[type=submit]", "Report");
    await untilToast(bob, "The moderators have been notified");
    const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["channel", "moderators"]] });
    assert.match(messages[0].content, /spam/i);
  });
});

describe("the left column", () => {
  it("lists the views that the user chooses, and searches that are kept", async () => {
    const ada = await as("Ada", "#narrow/has/link/sender/me");
    const listed = () => onElements(ada, ".sidebar .side-item[href]", (links) => links.map((link) => link.getAttribute("href")));
    await until(ada, () => document.querySelector(".sidebar a[href='#feed']"));
    // Settings that are opened before the view do not offer to keep it.
    await ada.waitForSelector(".timeline__list");
    await go(ada, "#settings/views");
    await clickText(ada, "dialog .checkbox", "Combined feed");
    await until(ada, () => !document.querySelector(".sidebar a[href='#feed']"));
    await typeInto(ada, "dialog form input", "My links");
    await clickText(ada, "dialog button", "Save this view");
    await untilText(ada, ".sidebar .side-item", "My links");
    await eventually(async () => assert.ok((await listed()).some((href) => href.startsWith("#narrow/has/link"))));
    await clickText(ada, "dialog .checkbox", "Combined feed");
    await until(ada, () => document.querySelector(".sidebar a[href='#feed']"));
    await clickButton(ada, "Remove My links");
    await until(ada, () => ![...document.querySelectorAll(".sidebar .side-item")].some((item) => item.textContent.includes("My links")));
  });
});

describe("the inbox", () => {
  it("leaves sections folded, but for what is looked for", async () => {
    await bench.server.direct("Ada", ["Cleo"], "Are you in?");
    const cleo = await as("Cleo", "#inbox");
    await click(cleo, "[data-section=dm]");
    const untilFolded = () => untilEqual(cleo, "[data-section=dm]", (button) => button.ariaExpanded, "false");
    await untilFolded();
    await cleo.reload();
    await untilFolded();
    await typeInto(cleo, "[aria-label='Filter the inbox']", "Ada");
    await untilText(cleo, ".inbox__list .conversation", "Ada");
    // That changes nothing of what is folded.
    await click(cleo, "[data-section=dm]");
    await onElement(cleo, "[aria-label='Filter the inbox']", (input) => {
      input.value = "";
      input.dispatchEvent(new Event("input"));
    });
    await untilFolded();
  });
});

describe("the keys for unread messages", () => {
  it("lead on from conversations that stay unread", async () => {
    await bench.server.person("Pia");
    await bench.server.call("Pia", "PATCH", "/settings", { web_mark_read_on_scroll_policy: 3 });
    // Her first login gives a notice.
    const pia = await as("Pia", "#inbox");
    await bench.server.call("Pia", "POST", "/mark_all_as_read");
    for (const name of ["Bob", "Cleo", "Ada"]) await bench.server.direct(name, ["Pia"], `From ${name}`);
    await until(pia, () => [...document.querySelectorAll(".sidebar a[href*='/dm/'] .count")].filter((count) => count.textContent === "1").length === 3);
    for (const name of ["Bob", "Cleo", "Ada", "Bob"]) {
      await pressOn(pia, "body", "p");
      await untilText(pia, ".message-row", `From ${name}`);
    }
    await bench.server.call("Pia", "POST", "/users/me/subscriptions", { subscriptions: [{ name: "general" }] });
    for (const name of ["north", "east", "south"]) await bench.server.send("Bob", "general", name, `To the ${name}`);
    await until(pia, () => [...document.querySelectorAll(".sidebar [data-channel] .count")].some((count) => count.textContent === "3"));
    for (const name of ["north", "east", "south", "north"]) {
      await pressOn(pia, "body", "n");
      await untilText(pia, ".message-row", `To the ${name}`);
    }
    // From a topic, direct messages come in their order too.
    await bench.server.direct("Cleo", ["Pia"], "Later from Cleo");
    await until(pia, () => [...document.querySelectorAll(".sidebar a[href*='/dm/'] .count")].some((count) => count.textContent === "2"));
    await pressOn(pia, "body", "p");
    await untilText(pia, ".message-row", "From Bob");
  });
});

describe("an inbox with very many unread messages", () => {
  it("says that the oldest are not counted", async () => {
    const bob = await bench.open();
    // The server sends the newest 50,000.
    await bob.evaluateOnNewDocument(() => {
      const { json } = Response.prototype;
      Response.prototype.json = async function read() {
        const reply = await json.call(this);
        if (reply.unread_msgs) reply.unread_msgs.old_unreads_missing = true;
        return reply;
      };
    });
    await enter(bob, bench.server, "Bob");
    await until(bob, () => [...document.querySelectorAll(".page p")].some((line) => line.checkVisibility() && line.textContent === "Older unread messages are not counted."));
  });
});

describe("a row of the inbox", () => {
  it("is muted by a key", async () => {
    await bench.server.send("Ada", "design", "chairs", "Four legs?");
    await bench.server.send("Ada", "design", "tables", "Three legs?");
    await bench.server.send("Ada", "general", "benches", "No legs?");
    const bob = await as("Bob", "#inbox");
    await bob.waitForSelector("a.conversation[href$='/topic/benches']");
    const after = await onElements(bob, "a.conversation", (links) => links[links.findIndex(({ hash }) => hash.endsWith("/topic/chairs")) + 1].hash);
    await pressOn(bob, "a.conversation[href$='/topic/chairs']", "M");
    await untilToast(bob, "The topic is muted.");
    await until(bob, () => document.querySelector("a.conversation[href$='/topic/tables']") && !document.querySelector("a.conversation[href$='/topic/chairs']"));
    // The next row has its place.
    await until(bob, (hash) => document.activeElement.hash === hash, after);
    await go(bob, "#recent");
    await clickText(bob, ".page__tools button", "Muted");
    await pressOn(bob, "a.conversation[href$='/topic/chairs']", "M");
    await untilToast(bob, "The topic follows its channel's setting again.");
  });
});

describe("the menu of a topic", () => {
  it("mutes a topic that one follows in a muted channel", async () => {
    const id = await bench.server.channel("quiet", ["Ada", "Bob"]);
    await bench.server.send("Ada", "quiet", "stools", "Three legs");
    await bench.server.call("Bob", "POST", "/users/me/subscriptions/properties", { subscription_data: [{ stream_id: id, property: "is_muted", value: true }] });
    await bench.server.call("Bob", "POST", "/user_topics", { stream_id: id, topic: "stools", visibility_policy: 3 });
    const bob = await as("Bob", await at("quiet", "stools"));
    await bob.waitForSelector(".header [aria-label=Unfollow]");
    await clickButton(bob, "Actions on the topic");
    await clickText(bob, "[role=menuitem]", "Mute");
    await untilToast(bob, "The topic follows its channel's setting again.");
    await bob.waitForSelector(".header [aria-label=Follow]");
    await clickButton(bob, "Actions on the topic");
    await clickText(bob, "[role=menuitem]", "Unmute");
    await untilToast(bob, "The topic is unmuted.");
  });
});

describe("a mention of everyone", () => {
  it("counts only while its topic is not muted", async () => {
    await bench.server.person("Mona");
    await bench.server.call("Mona", "POST", "/mark_all_as_read");
    const id = await bench.server.channel("yard", ["Ada", "Mona"]);
    await bench.server.send("Ada", "yard", "rain", "@**all** umbrellas");
    const mona = await as("Mona", "#inbox");
    const untilCounted = (count) => untilEqual(mona, ".sidebar [href='#narrow/is/mentioned']", (link) => link.textContent.replace(/\D/g, ""), count);
    await untilCounted("1");
    for (const [visibility_policy, count] of [[1, ""], [0, "1"]]) {
      await bench.server.call("Mona", "POST", "/user_topics", { stream_id: id, topic: "rain", visibility_policy });
      await untilCounted(count);
    }
  });
});

describe("a mention", () => {
  it("offers people of the channel first, also in a view of several channels", async () => {
    for (const name of ["Zane", "Zara"]) await bench.server.person(name);
    await bench.server.channel("harbour", ["Ada", "Zara"]);
    const { id } = await bench.server.send("Ada", "harbour", "crew", "Ready?");
    const ada = await as("Ada", "#feed");
    await pressOn(ada, `[data-id="${id}"]`, "r");
    await untilFocus(ada, ".composer .editor__text");
    await ada.keyboard.type("@Za");
    await untilAllEqual(ada, ".completions .completion__label", (labels) => labels.map((label) => label.textContent), ["Zara", "Zane"]);
  });

  it("asks once for the people of a channel, also where the server refuses them", async () => {
    const { id } = await bench.server.send("Ada", "design", "crew", "Ready?");
    const ada = await as("Ada", "#feed");
    ada.expected.push(/400/);
    let asked = 0;
    await intercept(ada, (request) => new URL(request.url()).pathname.endsWith("/members") && ++asked && [400, { result: "error", msg: "Not for you", code: "BAD_REQUEST" }]);
    await pressOn(ada, `[data-id="${id}"]`, "r");
    await untilFocus(ada, ".composer .editor__text");
    for (const key of "@Cle") {
      await ada.keyboard.press(key);
      // What a key asks for is asked before this.
      await ada.evaluate(async () => (await fetch("/api/v1/server_settings")).text());
    }
    await untilText(ada, ".completions .completion__label", "Cleo");
    assert.equal(asked, 1);
  });
});

describe("a profile", () => {
  it("names the groups, and lets administrators edit it", async () => {
    const id = bench.server.accounts.Bob.user_id;
    await bench.server.call("Ada", "POST", "/user_groups/create", { name: "painters", description: "", members: [id] });
    const ada = await as("Ada", `#user/${id}`);
    await untilText(ada, "dialog dd", "painters");
    await clickText(ada, "dialog button", "Edit");
    await untilText(ada, "dialog h2", "Edit Bob");
    const bob = await as("Bob", `#user/${id}`);
    await untilText(bob, "dialog dd", "painters");
    assert.ok(!(await onElements(bob, "dialog button", (all) => all.map((button) => button.textContent))).includes("Edit"));
  });
});

describe("a small window", () => {
  it("at 400 % or on its side shows messages, and the page prints all of them", async () => {
    for (let count = 0; count < 40; count++) await bench.server.send("Bob", "general", "minutes", `Point ${count}`);
    const ada = await as("Ada", await at("general", "minutes"), { width: 360, height: 225 });
    await untilText(ada, ".message-row", "Point 39");
    await eventually(async () => {
      const room = await onElement(ada, ".timeline__scroller", (scroller) => scroller.clientHeight);
      assert.ok(room >= 120, `${room} px`);
    });
    await eventually(async () => assert.equal(await onElement(ada, ".banner", (banner) => banner.checkVisibility()), false, "a question takes no room of messages"));
    await eventually(async () => assert.equal(await ada.evaluate(() => document.documentElement.scrollWidth), 360));
    // 1280x1024 at 400 %. The box can be reached, though it is below.
    await ada.setViewport({ width: 320, height: 256 });
    await until(ada, () => innerHeight === 256 && document.querySelector(".timeline__scroller").clientHeight >= 130);
    await until(ada, () => document.documentElement.scrollWidth === 320);
    await focusOn(ada, "body");
    await focusOn(ada, ".composer .editor__text");
    await until(ada, () => {
      const { top, bottom } = document.querySelector(".composer .editor__text").getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    // Firefox under test has no view of what is printed.
    if (IS_FIREFOX) return;
    await ada.setViewport({ width: 1024, height: 700 });
    await ada.emulateMediaType("print");
    const print = () => onElement(ada, ".timeline__scroller", (scroller) => {
      const seen = (selector) => [...document.querySelectorAll(selector)].some((element) => element.checkVisibility());
      return { rows: document.querySelectorAll(".message-row").length, isWhole: scroller.clientHeight >= document.querySelector(".timeline__list").scrollHeight, others: [".sidebar", ".people", ".composer", ".search"].filter(seen) };
    });
    await eventually(async () => {
      const printed = await print();
      assert.deepEqual([printed.rows >= 40, printed.isWhole, printed.others], [true, true, []], JSON.stringify(printed));
    });
    // Long code is printed whole, and the buttons of the row under the pointer are not.
    await bench.server.send("Bob", "general", "minutes", `\`\`\`\n${"line\n".repeat(80)}\`\`\``);
    await eventually(async () => assert.equal(await onElement(ada, ".content pre", (pre) => pre.scrollHeight > 1000 && pre.scrollHeight === pre.clientHeight), true));
    await hoverOver(ada, ".message-row");
    await eventually(async () => assert.equal(await onElement(ada, ".message-actions", (actions) => actions.checkVisibility()), false));
  });

  it("shows what is chosen where colours are those of the system", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "contrast", "/poll Lunch?\nSoup\nBread");
    const ada = await as("Ada", await at("general", "contrast"));
    const session = await ada.createCDPSession();
    await session.send("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
    await clickText(ada, `[data-id="${id}"] .widget__vote`, "0");
    await typeInto(ada, ".composer .editor__text", "@b");
    for (const selector of [".widget__vote[aria-pressed=true]", ".completion[aria-selected=true]", ".composer .editor"])
      await untilEqual(ada, selector, (element) => getComputedStyle(element).outlineStyle, "solid");
  });
});

describe("what is sent later", () => {
  it("gets another time, and comes back after it was deleted; saved texts are edited", async () => {
    const soon = Math.floor(Date.now() / 1000) + 90_000;
    await bench.server.call("Ada", "POST", "/scheduled_messages", { type: "direct", to: [bench.server.accounts.Bob.user_id], content: "Happy birthday!", scheduled_delivery_timestamp: soon });
    const scheduled = async () => (await bench.server.call("Ada", "GET", "/scheduled_messages")).scheduled_messages;
    const ada = await as("Ada", "#scheduled");
    const when = await onElement(ada, "dialog .row", (row) => row.textContent);
    await clickButton(ada, "Another time");
    await clickText(ada, "dialog .choices button", "Monday at 9");
    await eventually(async () => assert.notEqual((await scheduled())[0].scheduled_delivery_timestamp, soon));
    await until(ada, (before) => document.querySelector("dialog .row").textContent !== before, when);
    const [{ scheduled_delivery_timestamp: time }] = await scheduled();
    await clickButton(ada, "Delete");
    await clickToast(ada, "Undo");
    await eventually(async () => assert.deepEqual((await scheduled()).map((one) => [one.content, one.scheduled_delivery_timestamp]), [["Happy birthday!", time]]));
    await bench.server.call("Ada", "POST", "/saved_snippets", { title: "Greeting", content: "Dear all" });
    await go(ada, await at("general", "x"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await clickButton(ada, "More ways to send");
    await clickText(ada, "[role=menuitem]", "Insert a saved text");
    await clickButton(ada, "Edit Greeting");
    await onElement(ada, "dialog.dialog--small textarea", (area) => { area.value = "Dear friends"; });
    await clickText(ada, "dialog.dialog--small button", "Save");
    await clickText(ada, "dialog .row__main", "Dear friends");
    await until(ada, () => document.querySelector(".composer .editor__text").value.includes("Dear friends"));
  });
});

describe("the list of what is sent later", () => {
  it("deletes by a key what has the focus", async () => {
    const soon = Math.floor(Date.now() / 1000) + 90_000;
    await bench.server.call("Bob", "POST", "/scheduled_messages", { type: "direct", to: [bench.server.accounts.Ada.user_id], content: "Too early", scheduled_delivery_timestamp: soon });
    const bob = await as("Bob", "#scheduled");
    await pressOn(bob, "dialog .row__main", "Delete");
    await untilToast(bob, "It will not be sent.");
    assert.deepEqual((await bench.server.call("Bob", "GET", "/scheduled_messages")).scheduled_messages, []);
  });
});

describe("new dialogs", () => {
  it("can be used with assistive technology", async () => {
    await bench.server.call("Ada", "POST", "/users/me/subscriptions", { subscriptions: [{ name: "design" }] });
    const ada = await as("Ada", "#integrations");
    await untilText(ada, "dialog .programs .row", "GitHub");
    assert.deepEqual(await axeViolations(ada), []);
    await clickText(ada, "dialog .programs button", "GitHub");
    await untilText(ada, "dialog h2", "Connect GitHub");
    assert.deepEqual(await axeViolations(ada), []);
    for (const [fragment, text] of [["#settings/views", "Your own"], ["#organization/organization-profile", "Logos"], ["#organization/organization-settings", "Video calls"], ["#channels/new", "Announce the channel"]]) {
      await go(ada, fragment);
      await untilText(ada, "dialog", text);
      assert.deepEqual(await axeViolations(ada), [], fragment);
    }
    await go(ada, "#organization/users/active");
    await clickButton(ada, "Edit Bob");
    await untilText(ada, "dialog h2", "Edit Bob");
    assert.deepEqual(await axeViolations(ada), []);
    await go(ada, "#narrow/sender/me/has/link");
    await ada.waitForSelector(".search .pill");
    await focusOn(ada, ".composer, .search input");
    assert.deepEqual(await axeViolations(ada), []);
  });
});

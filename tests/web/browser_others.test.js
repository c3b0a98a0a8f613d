/** What one reads and writes, while others rename, resolve, move, delete, remove and archive; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { act, clickButton, clickText, clickToast, compose, countOf, eventually, intercept, onElement, onElements, press, pressOn, setUp, typeInto, until, untilEqual, untilFocus, untilText, untilToast, wake, write } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

const text = (page) => onElement(page, ".composer .editor__text", (area) => area.value);
const place = (page) => onElement(page, ".composer .editor__text", (area) => area.placeholder);
const rename = (name, id, topic) => bench.server.call(name, "PATCH", `/messages/${id}`, { topic, propagate_mode: "change_all", send_notification_to_new_thread: false });

describe("a conversation that moves", () => {
  it("is followed when it is resolved, and when that is taken back", async () => {
    const { id } = await bench.server.send("Bob", "general", "door", "It squeaks");
    const ada = await as("Ada", await at("general", "door"));
    await ada.waitForSelector(`[data-id="${id}"]`);
    await clickButton(ada, "Mark as resolved");
    await ada.waitForSelector(".header [aria-label='Mark as unresolved']");
    await untilEqual(ada, ".header__topic", (topic) => topic.textContent, "door");
    await untilText(ada, ".message-row", "has marked this topic as resolved");
    await clickButton(ada, "Mark as unresolved");
    await ada.waitForSelector(".header [aria-label='Mark as resolved']");
    await ada.waitForSelector(`[data-id="${id}"]`);
    await eventually(async () => {
      const titles = await onElements(ada, ".side-list--topics a", (links) => links.map((link) => link.title).filter((title) => title.includes("door")));
      assert.deepEqual(titles, ["door"]);
    });
    await compose(ada, "Oiled");
    await eventually(async () => {
      const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["channel", "general"]] });
      assert.deepEqual([messages[0].subject, messages[0].content], ["door", "<p>Oiled</p>"]);
    });
  });

  it("is found by links to its messages, also at the start", async () => {
    const { id } = await bench.server.send("Bob", "general", "plan", "Roof first");
    const old = await at("general", "plan");
    await rename("Bob", id, "plan for June");
    const ada = await as("Ada", "#inbox");
    for (const operator of ["near", "with"]) {
      await go(ada, `${old}/${operator}/${id}`);
      await ada.waitForSelector(`[data-id="${id}"]`);
      await until(ada, () => document.querySelector(".header__topic")?.textContent === "plan for June");
      await eventually(async () => assert.match(await place(ada), /plan for June/));
      await go(ada, "#inbox");
      await ada.waitForSelector(".inbox__list");
    }
    const cold = await as("Ada", `${old}/with/${id}`);
    await cold.reload();
    await until(cold, () => document.querySelector(".header__topic")?.textContent === "plan for June");
    await cold.waitForSelector(`[data-id="${id}"]`);
    // A link whose message is gone leads to the topic that it names.
    await bench.server.send("Bob", "general", "plan", "Another plan");
    await go(cold, `${old}/near/999999`);
    cold.expected.push(/400/);
    await untilText(cold, ".message-row", "Another plan");
  });

  it("is found by a link without a message: where it is resolved, or among the topics", async () => {
    const { id } = await bench.server.send("Bob", "general", "gutter", "It leaks");
    const old = await at("general", "gutter");
    await rename("Bob", id, "✔ gutter");
    const ada = await as("Ada", old);
    await untilText(ada, ".timeline__top", "There are no messages in this topic. If it had some, they were moved or deleted.");
    await clickText(ada, ".timeline__top a", "✔ gutter");
    await ada.waitForSelector(`[data-id="${id}"]`);
    await rename("Bob", id, "rain");
    await until(ada, () => location.hash.endsWith("/topic/rain"));
    await go(ada, old);
    await clickText(ada, ".timeline__top a", "Topics of #general");
    await until(ada, () => location.hash.startsWith("#topics/channel/"));
  });

  it("is found by a link to a message that was in a channel which the user does not see", async () => {
    await bench.server.channel("vault", ["Ada", "Bob"], { invite_only: true });
    const { id } = await bench.server.send("Ada", "vault", "gold", "It is lead");
    const old = await at("vault", "gold");
    const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" });
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { stream_id, propagate_mode: "change_all" });
    const cleo = await as("Cleo", `${old}/near/${id}`);
    await untilText(cleo, ".message-row.is-target", "It is lead");
    await untilText(cleo, ".header h1", "design");
  });

  it("is opened by a link that only says near which message", async () => {
    const { id } = await bench.server.send("Bob", "general", "cellar", "It is damp");
    const { id: note } = await bench.server.direct("Bob", ["Ada"], "Bring boots");
    await rename("Bob", id, "basement");
    const ada = await as("Ada", `#narrow/near/${id}`);
    await untilText(ada, ".message-row.is-target", "It is damp");
    await untilEqual(ada, ".header__topic", (topic) => topic.textContent, "basement");
    await go(ada, `#narrow/near/${note}`);
    await untilText(ada, ".message-row.is-target", "Bring boots");
    await until(ada, () => location.hash.startsWith("#narrow/dm/"));
  });

  it("shows messages that come from a topic which was never open", async () => {
    const { id } = await bench.server.send("Bob", "general", "attic", "Mice");
    await bench.server.send("Bob", "general", "house", "The roof leaks");
    const ada = await as("Ada", await at("general", "house"));
    await untilText(ada, ".message-row", "The roof leaks");
    await rename("Bob", id, "house");
    await ada.waitForSelector(`[data-id="${id}"]`);
    await untilText(ada, ".message-row", "Mice");
  });

  it("is marked as unread from its menu, and stays unread while it is open", async () => {
    const { id } = await bench.server.send("Bob", "general", "garage", "Locked");
    const isUnread = async () => {
      const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: id, num_before: 0, num_after: 0 });
      return !messages[0].flags.includes("read");
    };
    const ada = await as("Ada", await at("general", "garage"));
    await eventually(async () => assert.equal(await isUnread(), false));
    await untilEqual(ada, `[data-id="${id}"]`, (row) => "unread" in row.dataset, false);
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menuitem]", "Mark as unread");
    await untilText(ada, ".timeline__notice", "Messages are not marked as read here.");
    await eventually(async () => assert.equal(await isUnread(), true));
    // The menu has what the page knows.
    await untilEqual(ada, `[data-id="${id}"]`, (row) => "unread" in row.dataset, true);
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menuitem]", "Mark as read");
    await eventually(async () => assert.equal(await isUnread(), false));
  });

  it("is found by the link that its menu copies", async () => {
    const { id } = await bench.server.send("Bob", "general", "fence", "Green or brown?");
    const ada = await as("Ada", await at("general", "fence"));
    await untilText(ada, ".message-row", "Green or brown?");
    await ada.evaluate(() => { navigator.clipboard.writeText = async (words) => { window.copied = words; }; });
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menuitem]", "Copy link");
    await untilToast(ada, "Link copied.");
    const link = await ada.evaluate(() => new URL(window.copied).hash);
    await go(ada, "#inbox");
    await rename("Bob", id, "paint");
    await go(ada, link);
    await untilText(ada, ".message-row", "Green or brown?");
    await untilEqual(ada, ".header__topic", (topic) => topic.textContent, "paint");
  });

  it("takes along what is being written", async () => {
    const { id } = await bench.server.send("Bob", "general", "menu", "Which one?");
    const ada = await as("Ada", await at("general", "menu"));
    await ada.waitForSelector(`[data-id="${id}"]`);
    await write(ada, "A long answer that I am just wri");
    await rename("Bob", id, "✔ menu");
    await until(ada, () => document.querySelector(".header__topic")?.textContent === "menu" && document.querySelector(".header [aria-label='Mark as unresolved']"));
    await ada.keyboard.type("ting");
    await eventually(async () => assert.equal(await text(ada), "A long answer that I am just writing"));
    await eventually(async () => {
      const { drafts } = await bench.server.call("Ada", "GET", "/drafts");
      assert.deepEqual(drafts.filter(({ content }) => content.startsWith("A long answer")).map(({ topic, content }) => [topic, content]), [["✔ menu", "A long answer that I am just writing"]]);
    });
    // From another view, and to another channel.
    await go(ada, "#feed");
    await untilText(ada, ".header h1", "Combined feed");
    await act(ada, ".message-row", "last", "focus");
    await ada.keyboard.press("r");
    await until(ada, () => document.querySelector(".composer .editor__text").value.startsWith("A long answer"));
    const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" });
    await bench.server.call("Bob", "PATCH", `/messages/${id}`, { stream_id, topic: "menu", propagate_mode: "change_all", send_notification_to_old_thread: false, send_notification_to_new_thread: false });
    await until(ada, () => document.querySelector(".composer .editor__text").placeholder.includes("#design > menu"));
    await eventually(async () => assert.equal(await text(ada), "A long answer that I am just writing"));
    await compose(ada, "!");
    await eventually(async () => {
      const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["channel", "design"], ["topic", "menu"]] });
      assert.match(messages[0]?.content ?? "", /A long answer.*!/);
    });
  });

  it("is followed after a time without connection", async () => {
    const { id } = await bench.server.send("Bob", "general", "away", "Still there?");
    const ada = await as("Ada", await at("general", "away"));
    ada.expected.push(/ERR_INTERNET_DISCONNECTED/, /400/);
    await ada.waitForSelector(`[data-id="${id}"]`);
    await ada.setOfflineMode(true);
    await rename("Bob", id, "back");
    await wake(ada);
    await ada.setOfflineMode(false);
    await until(ada, () => document.querySelector(".header__topic")?.textContent === "back");
    await ada.waitForSelector(`[data-id="${id}"]`);
  });
});

describe("what is written", () => {
  it("is kept as a draft without a recipient, and comes back", async () => {
    const ada = await as("Ada", "#inbox");
    await ada.keyboard.press("c");
    await ada.waitForSelector(".composer [aria-label=Channel]");
    await typeInto(ada, ".composer .editor__text", "To whom shall I send this");
    await clickButton(ada, "Close");
    await clickText(ada, ".side-item", "Drafts");
    await clickText(ada, "dialog .row__main", "To whom shall I send this");
    await until(ada, () => !document.querySelector("dialog") && document.querySelector(".composer .editor__text").value === "To whom shall I send this");
    await ada.reload();
    await ada.waitForSelector(".app");
    await until(ada, () => [...document.querySelectorAll(".sidebar .side-item")].some((item) => item.textContent.includes("Drafts")));
    await ada.keyboard.press("c");
    await until(ada, () => document.querySelector(".composer .editor__text").value === "To whom shall I send this");
    await onElement(ada, ".composer .editor__text", (area) => { area.value = ""; area.dispatchEvent(new Event("input")); });
    await until(ada, () => ![...document.querySelectorAll(".sidebar .side-item")].some((item) => item.textContent.includes("Drafts") && item.textContent.includes("1")));
  });

  it("is kept in an edit while one looks elsewhere", async () => {
    const { id } = await bench.server.send("Ada", "general", "wording", "Frist");
    const where = await at("general", "wording");
    const ada = await as("Ada", where);
    await pressOn(ada, `[data-id="${id}"]`, "e");
    await untilFocus(ada, ".editor-form textarea");
    await ada.keyboard.type(" of all");
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await go(ada, where);
    await until(ada, () => document.querySelector(".editor-form textarea")?.value === "Frist of all");
    await ada.reload();
    await until(ada, () => document.querySelector(".editor-form textarea")?.value === "Frist of all");
    await clickText(ada, ".editor-form .button--primary", "Save");
    await untilText(ada, ".message-row .content", "Frist of all");
    // The event may come before the reply.
    await until(ada, () => !document.querySelector(".editor-form"));
    await ada.reload();
    await untilText(ada, ".message-row .content", "Frist of all");
    assert.equal(await countOf(ada, ".editor-form"), 0);
  });

  it("becomes a draft when the message that is edited is deleted", async () => {
    const { id } = await bench.server.send("Ada", "general", "short-lived", "Not for long");
    await bench.server.send("Bob", "general", "short-lived", "It stays");
    const ada = await as("Ada", await at("general", "short-lived"));
    await pressOn(ada, `[data-id="${id}"]`, "e");
    await untilFocus(ada, ".editor-form textarea");
    await ada.keyboard.type(", but better");
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    await untilToast(ada, "Your text is among the drafts.");
    await go(ada, "#drafts");
    await untilText(ada, "dialog .row__text", "Not for long, but better");
  });

  it("becomes a draft when the message that is edited moves to where one cannot see it, and says so", async () => {
    const { id } = await bench.server.send("Bob", "general", "too open", "Between us");
    await bench.server.send("Ada", "general", "too open", "It stays");
    const stream_id = await bench.server.channel("owners", ["Ada"], { invite_only: true });
    const bob = await as("Bob", await at("general", "too.20open"));
    await pressOn(bob, `[data-id="${id}"]`, "e");
    await untilFocus(bob, ".editor-form textarea");
    await bob.keyboard.type(" two");
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { stream_id, propagate_mode: "change_one" });
    await untilToast(bob, "was deleted, or you can no longer see it. Your text is among the drafts.");
    await go(bob, "#drafts");
    await untilText(bob, "dialog .row__text", "Between us two");
  });

  it("becomes a draft when the message is deleted elsewhere: while another view is open, or none", async () => {
    const ada = await as("Ada");
    ada.expected.push(/400/);
    for (const [text, leave] of [["Seen", "#inbox"], ["Unseen", "about:blank"]]) {
      const { id } = await bench.server.send("Ada", "general", "gone", text);
      await go(ada, await at("general", "gone"));
      await pressOn(ada, `[data-id="${id}"]`, "e");
      await untilFocus(ada, ".editor-form textarea");
      await ada.keyboard.type(", but better");
      await ada.goto(leave.startsWith("#") ? `${bench.server.url}/${leave}` : leave);
      // The page that comes does not know the message.
      if (leave.startsWith("#")) await ada.reload();
      if (leave.startsWith("#")) await ada.waitForSelector(".inbox__list");
      await bench.server.call("Ada", "DELETE", `/messages/${id}`);
      if (!leave.startsWith("#")) await ada.goto(`${bench.server.url}/#inbox`);
      await untilToast(ada, "Your text is among the drafts.");
      await go(ada, "#drafts");
      await untilText(ada, "dialog .row__text", `${text}, but better`);
      await go(ada, "#inbox");
    }
  });

  it("comes back after an edit is discarded, and stays while another is saved", async () => {
    const { id } = await bench.server.send("Ada", "general", "hasty", "One");
    const ada = await as("Ada", await at("general", "hasty"));
    await pressOn(ada, `[data-id="${id}"]`, "e");
    await untilFocus(ada, ".editor-form textarea");
    await ada.keyboard.type(", two");
    await ada.keyboard.press("Escape");
    await clickToast(ada, "Undo", "The edit is discarded.");
    await untilFocus(ada, ".editor-form textarea");
    await untilEqual(ada, ".editor-form textarea", (area) => area.value, "One, two");
    // The reply comes when more is written.
    await ada.evaluate(() => {
      const real = window.fetch;
      const released = new Promise((resolve) => { window.release = resolve; });
      window.fetch = async (url, options) => {
        const response = await real(url, options);
        if (options?.method === "PATCH") {
          window.isAnswered = true;
          await released;
        }
        return response;
      };
    });
    await clickText(ada, ".editor-form .button--primary", "Save");
    await until(ada, () => window.isAnswered);
    await typeInto(ada, ".editor-form textarea", ", three");
    await ada.evaluate(() => window.release());
    await untilText(ada, ".message-row .content", "One, two");
    await untilEqual(ada, ".editor-form textarea", (area) => area.value, "One, two, three");
    await clickText(ada, ".editor-form .button--primary", "Save");
    await until(ada, () => !document.querySelector(".editor-form"));
    await untilText(ada, ".message-row .content", "One, two, three");
  });

  it("stays after a command that is refused, and a press beside a dialog", async () => {
    const ada = await as("Ada", await at("general", "commands"));
    ada.expected.push(/400/);
    await intercept(ada, (request) => request.method() === "PATCH" && request.url().endsWith("/json/settings") && [400, { result: "error", msg: "Not now" }]);
    await compose(ada, "/dark");
    await untilToast(ada, "Not now");
    assert.equal(await text(ada), "/dark");
    await go(ada, "#invite");
    await typeInto(ada, "dialog textarea", "dan@example.com");
    await ada.mouse.click(5, 5);
    assert.equal(await onElement(ada, "dialog textarea", (area) => area.value), "dan@example.com");
    await go(ada, "#drafts");
    await untilText(ada, "dialog", "Drafts");
    await ada.mouse.click(5, 5);
    await until(ada, () => !document.querySelector("dialog"));
  });

  it("asks before it replaces an edit from elsewhere", async () => {
    const { id } = await bench.server.send("Ada", "general", "twice", "First");
    const ada = await as("Ada", await at("general", "twice"));
    ada.expected.push(/400/);
    await pressOn(ada, `[data-id="${id}"]`, "e");
    await untilFocus(ada, ".editor-form textarea");
    await ada.keyboard.type(" of all");
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { content: "Second" });
    await clickText(ada, ".editor-form .button--primary", "Save");
    await untilText(ada, "dialog h2", "Replace the other edit?");
    await clickText(ada, "dialog button", "Cancel");
    await until(ada, () => !document.querySelector("dialog") && document.querySelector(".editor-form textarea").value === "First of all");
    await clickText(ada, ".editor-form .button--primary", "Save");
    await clickText(ada, "dialog button", "Save");
    await untilText(ada, ".message-row .content", "First of all");
  });
});

describe("a channel that one is not in", () => {
  it("shows what one sends there, says that one is not in it, and can be joined", async () => {
    await bench.server.channel("garden", ["Ada", "Bob"]);
    await bench.server.send("Bob", "garden", "roses", "Prune them");
    const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "garden" });
    const cleo = await as("Cleo", `#narrow/channel/${stream_id}-garden/topic/roses`);
    await untilText(cleo, ".message-row", "Prune them");
    await untilText(cleo, ".timeline__notice", "You are not subscribed");
    // What others write comes with what one sends.
    await bench.server.send("Bob", "garden", "roses", "In March");
    await compose(cleo, "Thank you");
    await until(cleo, () => !document.querySelector("[data-state]") && [...document.querySelectorAll(".message-row .content")].map((content) => content.textContent.trim()).join() === "Prune them,In March,Thank you");
    await clickButton(cleo, "Actions on the topic");
    await untilText(cleo, "[role=menuitem]", "Copy link");
    await cleo.keyboard.press("Escape");
    await go(cleo, `#narrow/channel/${stream_id}-garden`);
    await untilText(cleo, ".message-row", "In March");
    await clickButton(cleo, "Actions on garden");
    await untilText(cleo, "[role^=menuitem]", "Subscribe");
    const items = await onElements(cleo, "[role^=menuitem]", (all) => all.map((item) => item.textContent));
    assert.ok(!items.some((item) => /Unsubscribe|Pin|Mute/.test(item)), items.join());
    await cleo.keyboard.press("Escape");
    await clickText(cleo, ".timeline__notice button", "Subscribe");
    await until(cleo, () => [...document.querySelectorAll(".timeline__notice")].every((notice) => notice.hidden));
    await bench.server.send("Bob", "garden", "roses", "Welcome");
    await untilText(cleo, ".message-row", "Welcome");
  });

  it("is said when one is removed while reading", async () => {
    for (const [name, isPrivate, words] of [["open house", false, "no longer subscribed"], ["closed house", true, "no longer in this channel"]]) {
      await bench.server.channel(name, ["Ada", "Cleo"], { invite_only: isPrivate });
      await bench.server.send("Ada", name, "door", `In ${name}`);
      const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: name });
      const cleo = await as("Cleo", `#narrow/channel/${stream_id}/topic/door`);
      await untilText(cleo, ".message-row", `In ${name}`);
      // The lists of topics and people may be asked for at this moment, and are refused then.
      cleo.expected.push(/status of 400 .*\/(topics|members)/);
      await bench.server.call("Ada", "DELETE", "/users/me/subscriptions", { subscriptions: [name], principals: [bench.server.accounts.Cleo.user_id] });
      await untilText(cleo, ".timeline__notice", words);
      if (isPrivate) await until(cleo, () => document.querySelector(".composer__form").hidden);
    }
  });

  it("is an honest page where it is unknown or private", async () => {
    await bench.server.channel("salaries", ["Ada"], { invite_only: true });
    const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "salaries" });
    const cleo = await as("Cleo", `#narrow/channel/${stream_id}-salaries/topic/mine`);
    await untilText(cleo, ".timeline", "you do not have access to it");
    await untilEqual(cleo, ".composer__form", (form) => form.hidden, true);
    assert.equal(await countOf(cleo, ".header [aria-label='Mark as resolved']"), 0);
    await go(cleo, "#narrow/channel/424242-nothing");
    await untilText(cleo, ".timeline", "does not exist");
    // It opens by itself once one may see it.
    await go(cleo, `#narrow/channel/${stream_id}-salaries/topic/mine`);
    await untilText(cleo, ".timeline", "you do not have access to it");
    await bench.server.send("Ada", "salaries", "mine", "Raised");
    await bench.server.channel("salaries", ["Cleo"]);
    await bench.server.send("Ada", "salaries", "mine", "Twice");
    await untilText(cleo, ".message-row", "Twice");
    await until(cleo, () => !document.querySelector(".composer__form").hidden);
  });

  it("that is archived takes no messages any more", async () => {
    await bench.server.channel("fair", ["Ada", "Bob"]);
    const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "fair" });
    await bench.server.send("Ada", "fair", "stand", "Ours is number 5");
    const bob = await as("Bob", `#narrow/channel/${stream_id}/topic/stand`);
    await untilText(bob, ".message-row", "number 5");
    await write(bob, "Half a sen");
    // The notice that he is typing may arrive after the channel was archived, and is refused then.
    bob.expected.push(/status of 400 .*\/typing/);
    await bench.server.call("Ada", "DELETE", `/streams/${stream_id}`);
    await untilText(bob, ".composer__banner", "archived");
    await eventually(async () => assert.equal(await text(bob), "Half a sen"));
  });
});

describe("a list that is open", () => {
  it("follows a message: its versions, its source, and who has read it", async () => {
    const { id } = await bench.server.send("Ada", "general", "history", "First words");
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { content: "Second words" });
    const ada = await as("Ada", await at("general", "history"));
    await untilText(ada, ".message-row", "Second words");
    await pressOn(ada, `[data-id="${id}"]`, "H");
    await untilText(ada, "dialog .version", "Second");
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { content: "Third words" });
    await untilText(ada, "dialog .version", "Third");
    await ada.keyboard.press("Escape");
    await pressOn(ada, `[data-id="${id}"]`, "V");
    await untilText(ada, "dialog", "No one has read it yet.");
    await bench.server.call("Bob", "POST", "/messages/flags", { messages: [id], op: "add", flag: "read" });
    await bench.server.call("Bob", "POST", `/messages/${id}/reactions`, { emoji_name: "tada" });
    await untilText(ada, "dialog .people-list", "Bob");
    const bob = await as("Bob", await at("general", "history"));
    await untilText(bob, ".message-row", "Third words");
    await pressOn(bob, `[data-id="${id}"]`, "e");
    await untilEqual(bob, "dialog textarea", (area) => area.value, "Third words");
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { content: "Last words" });
    await untilEqual(bob, "dialog textarea", (area) => area.value, "Last words");
  });

  it("follows uploads, keys and the audit log", async () => {
    const { email, api_key } = bench.server.accounts.Ada;
    const ada = await as("Ada", "#settings/uploaded-files");
    await untilText(ada, "dialog", "0 files");
    const form = new FormData();
    form.append("file", new File(["notes"], "notes.txt"));
    const headers = { Authorization: `Basic ${Buffer.from(`${email}:${api_key}`).toString("base64")}` };
    const response = await fetch(`${bench.server.url}/api/v1/user_uploads`, { method: "POST", body: form, headers });
    assert.equal(response.status, 200);
    await untilText(ada, "dialog .row", "notes.txt");
    await clickText(ada, "dialog .row button", "");
    await clickText(ada, "dialog.dialog--small .button--danger", "Delete");
    await untilText(ada, "dialog", "0 files");
    // The audit log has no events of its own.
    await go(ada, "#organization/audit-log");
    await untilText(ada, "dialog", "client: ");
    const id = await bench.server.person("Lena");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 300 });
    await untilText(ada, "dialog .row", "role changed: Lena");
    // Keys have none at all: they are asked for again when the page is connected again, or looked at.
    const lena = await as("Lena", "#settings/devices");
    await untilText(lena, "dialog .row", "(this browser)");
    await eventually(async () => {
      const answer = await fetch(`${bench.server.url}/api/v1/fetch_api_key`, { method: "POST", headers: { "User-Agent": "Robot/1" }, body: new URLSearchParams({ username: "lena@example.com", password: "correct horse" }) });
      assert.equal(answer.status, 200);
    });
    await wake(lena);
    await untilText(lena, "dialog .row", "Robot");
  });

  it("follows the people of a channel, and keeps what is half written", async () => {
    const id = await bench.server.channel("club", ["Ada", "Bob"]);
    const ada = await as("Ada", `#channels/${id}/club/subscribers`);
    await untilText(ada, "dialog .row", "Bob");
    await typeInto(ada, "dialog [aria-label='Add people']", "Cl");
    await bench.server.call("Bob", "DELETE", "/users/me/subscriptions", { subscriptions: ["club"] });
    await until(ada, () => [...document.querySelectorAll("dialog .row")].every((row) => !row.textContent.includes("Bob")));
    await untilEqual(ada, "dialog [aria-label='Add people']", (input) => input.value, "Cl");
    await untilText(ada, ".completions:not([hidden]) .completion__label", "Cleo");
    await ada.keyboard.press("Enter");
    await clickText(ada, "dialog button[type=submit]", "Add");
    await untilText(ada, "dialog .row", "Cleo");
    await untilEqual(ada, "dialog [aria-label='Add people']", (input) => input.value, "");
  });
});

describe("what cannot be loaded", () => {
  it("says so, and is loaded when the connection is back, or on request", async () => {
    for (const topic of ["one", "two"]) await bench.server.send("Bob", "design", topic, `Words of ${topic}`);
    const ada = await as("Ada", "#inbox");
    ada.expected.push(/ERR_INTERNET_DISCONNECTED/, /503/);
    await ada.setOfflineMode(true);
    await go(ada, await at("design", "one"));
    await untilText(ada, ".timeline__top", "could not be loaded");
    await ada.setOfflineMode(false);
    await untilText(ada, ".message-row", "Words of one");
    // One request alone fails.
    let fails = true;
    await intercept(ada, (request) => {
      const isFailing = fails && request.method() === "GET" && /\/json\/(messages|users\/me\/\d+\/topics)\?/.test(`${request.url()}?`);
      return isFailing && [503, { result: "error", msg: "Busy" }];
    });
    for (const [fragment, selector] of [[await at("design", "two"), ".message-row"], ["#recent", ".conversation"]]) {
      fails = true;
      await go(ada, fragment);
      await untilText(ada, ".middle__view .load-hint", "could not be loaded");
      fails = false;
      await clickText(ada, ".middle__view .load-hint button", "Try again");
      await ada.waitForSelector(`.middle__view ${selector}`);
    }
    // What the server refuses is said as it says it.
    ada.expected.push(/400/);
    await go(ada, "#narrow/mentions/bo");
    await untilText(ada, ".timeline__top", "cannot be shown");
  });

  it("leads back to the text, if it is the preview", async () => {
    const ada = await as("Ada", await at("design", "preview"));
    ada.expected.push(/503/);
    await intercept(ada, (request) => request.url().endsWith("/json/messages/render") && [503, { result: "error", msg: "Busy" }]);
    await write(ada, "**strong**");
    await press(ada, "Alt+p");
    await untilToast(ada, "Busy");
    await untilFocus(ada, ".composer .editor__text");
    assert.equal(await countOf(ada, ".editor__preview:not([hidden])"), 0);
  });
});

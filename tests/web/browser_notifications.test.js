/** What a page tells of: notifications, sound, title and icon; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clickText, eventually, logIn, setUp, until, untilText } from "./harness.js";

const bench = setUp();
const { at, go } = bench;

/** Records notifications and sounds instead of showing them. The worker's are as good as the page's. */
function record(permission) {
  const shown = [];
  window.recorded = { shown, closed: [], sounds: 0 };
  const add = (title, options) => shown.push({ title, ...options });
  class Recorder {
    static permission = permission;
    static async requestPermission() {
      Recorder.permission = "granted";
      return "granted";
    }
    constructor(title, options) {
      add(title, options);
      this.tag = options.tag;
    }
    close() {
      window.recorded.closed.push(this.tag);
    }
  }
  window.Notification = Recorder;
  ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
    add(title, options);
  };
  ServiceWorkerRegistration.prototype.getNotifications = async ({ tag }) => [{ close: () => window.recorded.closed.push(tag) }];
  window.AudioContext = class {
    constructor() {
      window.recorded.sounds += 1;
      throw new Error("silence");
    }
  };
  let isFocused = true;
  document.hasFocus = () => isFocused;
  window.setFocus = (value) => {
    isFocused = value;
    dispatchEvent(new Event(value ? "focus" : "blur"));
  };
}

/** A logged-in page that records. */
async function recording(name, fragment, permission = "granted") {
  const page = await bench.open();
  await page.evaluateOnNewDocument(record, permission);
  await logIn(page, bench.server, name);
  await go(page, fragment);
  await page.waitForSelector(".header h1");
  return page;
}

const shown = (page) => page.evaluate(() => window.recorded.shown.map(({ title, body }) => [title, body]));
const sounds = (page) => page.evaluate(() => window.recorded.sounds);
const setFocus = (page, value) => page.evaluate((is) => window.setFocus(is), value);
const settle = () => new Promise((resolve) => setTimeout(resolve, 700));

describe("notifications", () => {
  it("are asked for with a click", async () => {
    const ada = await recording("Ada", "#settings/notifications", "default");
    await clickText(ada, "dialog button", "Turn on notifications");
    await untilText(ada, "dialog p", "This browser shows notifications.");
    await bench.go(ada, "#inbox");
  });

  it("say when the browser blocks them", async () => {
    const ada = await recording("Ada", "#settings/notifications", "denied");
    await untilText(ada, "dialog .problem", "blocks notifications");
  });

  it("come for direct messages and mentions when the window is not focused", async () => {
    const ada = await recording("Ada", "#inbox");
    await setFocus(ada, false);
    await bench.server.direct("Bob", ["Ada"], "Do you **have** a minute? :tada:");
    await eventually(async () => assert.deepEqual(await shown(ada), [["Bob (to you)", "Do you have a minute? 🎉"]]));
    await bench.server.direct("Bob", ["Ada"], "Or two?");
    await eventually(async () => assert.deepEqual((await shown(ada))[1], ["2 messages from Bob (to you)", "Or two?"]));
    await bench.server.send("Bob", "general", "bells", "Nothing for Ada");
    await bench.server.send("Cleo", "general", "bells", "@**Ada** look, ||this||");
    await eventually(async () => assert.match((await shown(ada))[2]?.[0] ?? "", /^Cleo \(#general > bells\)$/));
    const tags = await ada.evaluate(() => window.recorded.shown.map(({ tag }) => tag));
    assert.ok(tags[0] === tags[1] && tags[1] !== tags[2], "one for each conversation");
    assert.ok((await sounds(ada)) >= 3);
    await setFocus(ada, true);
    await eventually(async () => assert.equal(await ada.evaluate(() => new Set(window.recorded.closed).size), 2, "gone with the focus"));
  });

  it("do not come for the conversation that one reads, nor while the window has the focus", async () => {
    const ada = await recording("Ada", await at("general", "focused"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await bench.server.send("Bob", "general", "focused", "@**Ada** you read this");
    await untilText(ada, ".message-row", "you read this");
    await settle();
    assert.deepEqual(await shown(ada), []);
    assert.equal(await sounds(ada), 0, "no sound for what is on the screen");
    await bench.server.direct("Bob", ["Ada"], "Elsewhere");
    await eventually(async () => assert.equal(await sounds(ada), 1, "a sound for another conversation"));
    await settle();
    assert.deepEqual(await shown(ada), []);
  });

  it("obey the settings, and what is muted", async () => {
    const { stream_id: stream } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" });
    await bench.server.call("Bob", "PATCH", "/settings", { pm_content_in_desktop_notifications: false, enable_sounds: false });
    await bench.server.call("Bob", "POST", "/user_topics", { stream_id: stream, topic: "followed", visibility_policy: 3 });
    await bench.server.call("Bob", "POST", "/user_topics", { stream_id: stream, topic: "muted", visibility_policy: 1 });
    const bob = await recording("Bob", "#inbox");
    await setFocus(bob, false);
    await bench.server.send("Ada", "design", "muted", "Not a word");
    await bench.server.send("Ada", "design", "plain", "Nothing either");
    await bench.server.send("Ada", "design", "followed", "This one");
    await bench.server.direct("Ada", ["Bob"], "A secret");
    await eventually(async () => assert.equal((await shown(bob)).length, 2));
    assert.deepEqual(await shown(bob), [["Ada (#design > followed)", "This one"], ["Ada (to you)", "New direct message from Ada"]]);
    await bench.server.call("Bob", "PATCH", "/settings", { enable_desktop_notifications: false });
    await settle();
    await bench.server.direct("Ada", ["Bob"], "Silent");
    await settle();
    assert.equal((await shown(bob)).length, 2);
  });

  it("come once in two tabs, and none while the other tab has the focus", async () => {
    const one = await recording("Cleo", "#inbox");
    const two = await one.browserContext().newPage();
    await two.evaluateOnNewDocument(record, "granted");
    await two.goto(`${bench.server.url}/#inbox`);
    await two.waitForSelector(".app");
    for (const page of [one, two]) await setFocus(page, false);
    await bench.server.direct("Bob", ["Cleo"], "Once");
    const all = async () => [...(await shown(one)), ...(await shown(two))];
    await eventually(async () => assert.equal((await all()).length, 1));
    await settle();
    assert.equal((await all()).length, 1);
    await setFocus(two, true);
    await bench.server.direct("Bob", ["Cleo"], "None");
    await settle();
    assert.equal((await all()).length, 1);
  });

  it("go away when the message is read elsewhere, and lead to it with a click", async () => {
    const ada = await recording("Ada", "#inbox");
    await setFocus(ada, false);
    const { id } = await bench.server.send("Bob", "general", "elsewhere", "@**Ada** hello");
    await eventually(async () => assert.equal((await shown(ada)).length, 1));
    const fragment = await ada.evaluate(() => window.recorded.shown[0].data.fragment);
    await bench.server.call("Ada", "POST", "/messages/flags", { messages: [id], op: "add", flag: "read" });
    await eventually(async () => assert.equal(await ada.evaluate(() => window.recorded.closed.length), 1));
    // What the service worker sends after a click.
    await ada.evaluate((data) => navigator.serviceWorker.dispatchEvent(new MessageEvent("message", { data })), { fragment });
    await untilText(ada, ".message-row", "hello");
  });
});

describe("title and icon", () => {
  it("count what is unread, as the settings say", async () => {
    const messages = (await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 100, num_after: 0 })).messages;
    await bench.server.call("Bob", "POST", "/messages/flags", { messages: messages.map(({ id }) => id), op: "add", flag: "read" });
    const bob = await recording("Bob", "#inbox");
    const title = (start) => until(bob, (wanted) => document.title.startsWith(wanted), start);
    const icon = () => bob.$eval("link[rel=icon]", (link) => link.href);
    await title("Inbox");
    const plain = await icon();
    assert.ok(plain.startsWith(bench.server.url));
    await bench.server.send("Ada", "general", "counted", "One");
    await bench.server.direct("Ada", ["Bob"], "Two");
    await title("(2) Inbox");
    await eventually(async () => assert.match(await icon(), /^blob:/));
    await bench.server.call("Bob", "PATCH", "/settings", { desktop_icon_count_display: 3 });
    await title("(1) Inbox");
    await bench.server.call("Bob", "PATCH", "/settings", { desktop_icon_count_display: 4 });
    await title("Inbox");
    await eventually(async () => assert.equal(await icon(), plain));
  });
});

/** Alerts of a page: notifications, sound, title and icon; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clickButton, clickText, enter, eventually, focusOn, intercept, IS_FIREFOX, onElement, onElements, setUp, until, untilText, untilToast } from "./harness.js";

const bench = setUp();
const { at, go } = bench;

/** Records notifications and sounds instead of showing them. The worker's are as good as the page's. */
function record(permission) {
  // Firefox runs this also in the empty page before, which has no storage.
  if (self.origin === "null") return;
  const shown = [];
  window.recorded = { shown, closed: [], sounds: 0 };
  const add = (title, options) => shown.push({ title, ...options });
  class Recorder {
    // A browser keeps what was allowed.
    static permission = localStorage.getItem("recorded permission") ?? permission;
    static async requestPermission() {
      Recorder.permission = "granted";
      localStorage.setItem("recorded permission", "granted");
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
  // Firefox under test has no workers.
  if ("ServiceWorkerRegistration" in window) {
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      add(title, options);
    };
    ServiceWorkerRegistration.prototype.getNotifications = async ({ tag }) => [{ close: () => window.recorded.closed.push(tag) }];
  }
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
  await enter(page, bench.server, name);
  await go(page, fragment);
  await page.waitForSelector(".header h1");
  return page;
}

const shown = (page) => page.evaluate(() => window.recorded.shown.map(({ title, body }) => [title, body]));
const sounds = (page) => page.evaluate(() => window.recorded.sounds);
const setFocus = (page, value) => page.evaluate((is) => window.setFocus(is), value);
/** Marks all messages of a user as read. */
async function readAll(name) {
  const { messages } = await bench.server.call(name, "GET", "/messages", { anchor: "newest", num_before: 100, num_after: 0 });
  await bench.server.call(name, "POST", "/messages/flags", { messages: messages.map(({ id }) => id), op: "add", flag: "read" });
}

const ofServer = (page) => page.evaluate(async () => (await fetch("/json/users/me/web_push")).json());

describe("notifications", () => {
  it("are asked for with a click", async () => {
    const ada = await recording("Ada", "#settings/notifications", "default");
    await clickText(ada, "dialog button", "Turn on notifications");
    await untilText(ada, "dialog p", "This browser shows notifications.");
    await bench.go(ada, "#inbox");
  });

  it("are asked for by buttons that keep the focus while settings change", async () => {
    const ada = await recording("Ada", "#inbox", "default");
    await focusOn(ada, ".banner .link");
    await bench.server.call("Ada", "PATCH", "/settings", { color_scheme: 2 });
    await until(ada, () => document.documentElement.dataset.theme === "dark");
    await bench.server.call("Ada", "PATCH", "/settings", { color_scheme: 1 });
    assert.equal(await ada.evaluate(() => document.activeElement.textContent), "Not now");
    await ada.keyboard.press("Enter");
    await until(ada, () => document.querySelector(".banner").hidden);
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
    await eventually(async () => assert.ok((await sounds(ada)) >= 3));
    await setFocus(ada, true);
    await eventually(async () => assert.equal(await ada.evaluate(() => new Set(window.recorded.closed).size), 2, "gone with the focus"));
  });

  it("come for a mention that an edit adds, once", async () => {
    const ada = await recording("Ada", "#inbox");
    await setFocus(ada, false);
    const { id } = await bench.server.send("Bob", "general", "edited", "Nothing for Ada");
    const { id: other } = await bench.server.direct("Bob", ["Ada"], "A first");
    await eventually(async () => assert.deepEqual(await shown(ada), [["Bob (to you)", "A first"]]));
    for (const content of ["@**Ada** look", "@**Ada** look again"]) await bench.server.call("Bob", "PATCH", `/messages/${id}`, { content });
    await bench.server.call("Bob", "PATCH", `/messages/${other}`, { content: "@**Ada** a first" });
    await bench.server.direct("Cleo", ["Ada"], "The last");
    await eventually(async () => assert.deepEqual((await shown(ada)).slice(1).map(([title]) => title), ["Bob (#general > edited)", "Cleo (to you)"]));
  });

  it("count from the start again once the conversation was read elsewhere", async () => {
    await readAll("Ada");
    const ada = await recording("Ada", "#inbox");
    await setFocus(ada, false);
    await bench.server.direct("Bob", ["Ada"], "First");
    await eventually(async () => assert.deepEqual(await shown(ada), [["Bob (to you)", "First"]]));
    await readAll("Ada");
    await until(ada, () => window.recorded.closed.length > 0);
    await bench.server.direct("Bob", ["Ada"], "Second");
    await eventually(async () => assert.deepEqual((await shown(ada)).slice(1), [["Bob (to you)", "Second"]]));
  });

  it("do not come for the conversation that one reads, nor while the window has the focus", async () => {
    const ada = await recording("Ada", await at("general", "focused"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await bench.server.send("Bob", "general", "focused", "@**Ada** you read this");
    await untilText(ada, ".message-row", "you read this");
    await bench.server.direct("Bob", ["Ada"], "Elsewhere");
    await eventually(async () => assert.equal(await sounds(ada), 1, "a sound for another conversation alone"));
    // What comes after them all is shown alone, with a second sound.
    await setFocus(ada, false);
    await bench.server.direct("Cleo", ["Ada"], "The last");
    await eventually(async () => assert.deepEqual([await shown(ada), await sounds(ada)], [[["Cleo (to you)", "The last"]], 2]));
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
    await eventually(async () => assert.deepEqual(await shown(bob), [["Ada (#design > followed)", "This one"], ["Ada (to you)", "New direct message from Ada"]]));
    await bench.server.call("Bob", "PATCH", "/settings", { enable_desktop_notifications: false });
    await bench.server.direct("Ada", ["Bob"], "Silent");
    await bench.server.call("Bob", "PATCH", "/settings", { enable_desktop_notifications: true });
    await bench.server.direct("Cleo", ["Bob"], "Loud");
    await eventually(async () => assert.deepEqual((await shown(bob)).slice(2), [["Cleo (to you)", "New direct message from Cleo"]]));
  });

  it("come once in two tabs, and none while the other tab has the focus", async () => {
    const prepare = async (page) => {
      await page.evaluateOnNewDocument(record, "granted");
      // The tabs may get a message at times that are further apart than the claim of one lasts.
      await page.evaluateOnNewDocument(() => {
        const real = window.setTimeout;
        window.setTimeout = (run, time, ...rest) => real(run, time === 3000 ? 600_000 : time, ...rest);
      });
    };
    const one = await bench.open();
    await prepare(one);
    await enter(one, bench.server, "Cleo");
    const two = await one.browserContext().newPage();
    await prepare(two);
    await two.goto(`${bench.server.url}/`);
    await two.waitForSelector(".app");
    // There may be a notice of the login.
    await readAll("Cleo");
    for (const page of [one, two]) {
      await go(page, "#inbox");
      await until(page, () => document.title.startsWith("Inbox"));
      await setFocus(page, false);
    }
    /** Sends a message, and waits until both tabs are done with it: it counts, and they have claimed it and shown it, or not. */
    const send = async (content, count) => {
      await bench.server.direct("Bob", ["Cleo"], content);
      for (const page of [one, two]) {
        await until(page, (start) => document.title.startsWith(start), `(${count}) `);
        await page.evaluate(async () => {
          await navigator.locks.request("last", () => {});
          await navigator.serviceWorker?.getRegistration();
        });
      }
    };
    const bodies = async () => [...(await shown(one)), ...(await shown(two))].map(([, body]) => body).toSorted();
    await send("Once", 1);
    await setFocus(two, true);
    await send("None", 2);
    await setFocus(two, false);
    await send("The last", 3);
    await eventually(async () => assert.deepEqual(await bodies(), ["Once", "The last"]));
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
    // It is read as in any conversation that is opened.
    await setFocus(ada, true);
    await bench.server.call("Ada", "POST", "/messages/flags", { messages: [id], op: "remove", flag: "read" });
    await go(ada, "#inbox");
    await go(ada, `#${fragment}`);
    await eventually(async () => assert.ok((await bench.server.call("Ada", "GET", `/messages/${id}`)).message.flags.includes("read")));
  });
});

/** The keys of a subscription: a point of P-256, and a secret. */
const KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** A subscription of a browser. The browsers of tests have no push service. */
function fakePush(endpoint, keys) {
  const stored = () => JSON.parse(localStorage.getItem("fake push") ?? "null");
  const subscription = (key) => ({
    options: { applicationServerKey: Uint8Array.from(key).buffer },
    toJSON: () => ({ endpoint, keys }),
    unsubscribe: async () => localStorage.removeItem("fake push"),
  });
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("wrong options");
    localStorage.setItem("fake push", JSON.stringify([...applicationServerKey]));
    return subscription(applicationServerKey);
  };
  PushManager.prototype.getSubscription = async () => stored() && subscription(stored());
}

/** Firefox under test has no workers. */
describe("push notifications", { skip: IS_FIREFOX }, () => {
  const open = async (name, permission) => {
    const page = await bench.open();
    await page.evaluateOnNewDocument(record, permission);
    await page.evaluateOnNewDocument(fakePush, "https://push.example/browser", KEYS);
    await enter(page, bench.server, name);
    await go(page, "#settings/notifications");
    await page.waitForSelector("dialog h3");
    return page;
  };

  it("are turned on and off for the device, stay on after a start, and end with the session", async () => {
    const page = await open("Cleo", "default");
    await clickText(page, "dialog button", "Turn on push notifications on this device");
    await untilText(page, "dialog p", "This device receives push notifications");
    await eventually(async () => assert.deepEqual((await ofServer(page)).subscription, { endpoint: "https://push.example/browser", shows_content: true }));
    await onElements(page, "dialog label", (labels) => labels.find((label) => label.textContent.includes("Show names and texts")).querySelector("input").click());
    await eventually(async () => assert.equal((await ofServer(page)).subscription.shows_content, false));
    // The server lost it, for example with a new password.
    const lose = (params) => page.evaluate(async (method) => {
      const token = document.cookie.split("teamchat_csrf=")[1].split(";")[0];
      await fetch("/json/users/me/web_push", { method, headers: { "X-CSRFToken": token } });
    }, params);
    await lose("DELETE");
    await eventually(async () => assert.equal((await ofServer(page)).subscription, null));
    await page.reload();
    await eventually(async () => assert.deepEqual((await ofServer(page)).subscription, { endpoint: "https://push.example/browser", shows_content: false }));
    await go(page, "#settings/notifications");
    await clickText(page, "dialog button", "Turn off on this device");
    await untilText(page, "dialog button", "Turn on push notifications on this device");
    await eventually(async () => assert.equal((await ofServer(page)).subscription, null));
    await eventually(async () => assert.equal(await page.evaluate(() => localStorage.getItem("fake push")), null));
  });

  it("stay on if the logout fails, and end on this device after it", async () => {
    const page = await open("Bob", "granted");
    page.expected.push(/503/);
    await clickText(page, "dialog button", "Turn on push notifications on this device");
    await eventually(async () => assert.notEqual((await ofServer(page)).subscription, null));
    await go(page, "#inbox");
    let fails = true;
    await intercept(page, (request) => fails && request.url().endsWith("/accounts/logout/") && [503, { result: "error", msg: "Busy" }]);
    const logOut = async () => {
      await until(page, () => !document.querySelector("dialog"));
      await clickButton(page, "Your menu");
      await clickText(page, "[role=menuitem]", "Log out");
    };
    const isSubscribed = () => page.evaluate(() => localStorage.getItem("fake push") !== null);
    await logOut();
    await untilToast(page, "Busy");
    assert.notEqual((await ofServer(page)).subscription, null);
    assert.equal(await isSubscribed(), true);
    fails = false;
    await logOut();
    await page.waitForSelector("#id_username");
    assert.equal(await isSubscribed(), false);
  });

  it("say that their state could not be loaded, and are shown once it is", async () => {
    const page = await bench.open();
    page.expected.push(/503/);
    await page.evaluateOnNewDocument(record, "granted");
    await enter(page, bench.server, "Ada");
    let fails = true;
    await intercept(page, (request) => fails && request.url().endsWith("/json/users/me/web_push") && [503, { result: "error", msg: "Busy" }]);
    await go(page, "#settings/notifications");
    await untilText(page, "dialog [role=alert]", "This could not be loaded. Busy");
    fails = false;
    await clickText(page, "dialog [role=alert] button", "Try again");
    await untilText(page, "dialog button", "Turn on push notifications on this device");
  });

  it("say what is in the way", async () => {
    const denied = await open("Cleo", "denied");
    await untilText(denied, "dialog .problem", "This browser blocks notifications of this page.");
    const old = await bench.open();
    await old.evaluateOnNewDocument(() => delete window.PushManager);
    await enter(old, bench.server, "Cleo");
    await go(old, "#settings/notifications");
    await untilText(old, "dialog .problem", "This browser does not support push notifications.");
    const phone = await bench.open();
    await phone.setUserAgent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1");
    await phone.evaluateOnNewDocument(() => delete window.PushManager);
    await enter(phone, bench.server, "Cleo");
    await go(phone, "#settings/notifications");
    await untilText(phone, "dialog .problem", "Add to Home Screen");
  });

  it("stay on when the browser changes or ends its subscription", async () => {
    const page = await bench.open();
    await enter(page, bench.server, "Cleo");
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    const target = await page.browserContext().waitForTarget((one) => one.type() === "service_worker");
    const worker = await target.worker();
    /** Dispatches the change in the worker, and waits until it has handled it. */
    const change = (endpoint, isChanged) =>
      worker.evaluate(
        async (url, keys, isThere) => {
          const subscription = { toJSON: () => ({ endpoint: url, keys }) };
          const options = { userVisibleOnly: true };
          PushManager.prototype.subscribe = async (asked) => {
            if (isThere || asked !== options) throw new Error("asked for another subscription");
            return subscription;
          };
          let work;
          // An event of a script cannot wait by itself.
          const waitUntil = (promise) => {
            work = promise;
          };
          const event = new ExtendableEvent("pushsubscriptionchange");
          self.dispatchEvent(Object.assign(event, { newSubscription: isThere ? subscription : null, oldSubscription: { options }, waitUntil }));
          await work;
        },
        endpoint,
        KEYS,
        isChanged,
      );
    for (const [endpoint, isChanged] of [["https://push.example/changed", true], ["https://push.example/ended", false]]) {
      await change(endpoint, isChanged);
      assert.deepEqual((await ofServer(page)).subscription, { endpoint, shows_content: true });
    }
  });
});

describe("title and icon", () => {
  it("count what is unread, as the settings say", async () => {
    const bob = await recording("Bob", "#inbox");
    // There may be a notice of the login.
    await readAll("Bob");
    const title = (start) => until(bob, (wanted) => document.title.startsWith(wanted), start);
    const icon = () => onElement(bob, "link[rel=icon]", (link) => link.href);
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

/** Messages on their way: two tabs, lost replies, and browsers that keep nothing; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { clickButton, clickText, compose, countOf, enter, eventually, focusOn, IS_FIREFOX, noteToasts, onElement, openPage, pagePause, pressOn, setUp, typeInto, until, untilEqual, untilFocus, untilText, untilToast, wake, write } from "./harness.js";

const bench = setUp();
const { as, at } = bench;
const box = ".composer .editor__text";

const contents = async (topic) => {
  const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 50, num_after: 0, narrow: [["channel", "general"], ["topic", topic]], apply_markdown: false });
  return messages.map(({ content }) => content);
};

/** Another tab of the same browser. `prepare` runs in it before the page. */
async function tabBeside(page, prepare) {
  const tab = await page.browserContext().newPage();
  await tab.evaluateOnNewDocument(noteToasts);
  if (prepare) await tab.evaluateOnNewDocument(prepare);
  await tab.setViewport({ width: 1200, height: 800 });
  await tab.goto(page.url());
  await tab.waitForSelector(".composer .editor__text", { visible: true });
  return tab;
}

/** A function that freezes a page, and lets it go on. Chromium only. */
async function lifecycleOf(page) {
  const session = await page.createCDPSession();
  return (state) => session.send("Page.setWebLifecycleState", { state });
}

/** Holds the replies to messages that the page sends, and its events, until `release` of the page. */
async function holdReplies(page) {
  await page.evaluate(() => {
    const real = window.fetch;
    const released = new Promise((resolve) => { window.release = resolve; });
    window.fetch = async (url, options) => {
      const response = await real(url, options);
      if (String(url).startsWith("/json/events?") || (options?.method === "POST" && String(url).endsWith("/json/messages"))) await released;
      return response;
    };
  });
  // The poll that is under way is not held: the next one is.
  await wake(page);
}

describe("two tabs", () => {
  it("lose nothing that was written without a connection", async () => {
    const one = await as("Ada", await at("general", "tabs"));
    await one.waitForSelector(".composer .editor__text", { visible: true });
    const two = await tabBeside(one);
    await bench.stop();
    await compose(one, "Written in the first");
    await one.waitForSelector(".message-row[data-state=unsure]");
    await compose(two, "Written in the second");
    await two.waitForSelector(".message-row[data-state]");
    await one.close();
    await until(two, () => document.querySelectorAll(".message-row[data-state]").length === 2);
    await bench.start();
    await until(two, () => !document.querySelector(".message-row[data-state]") && document.querySelectorAll(".message-row").length === 2);
    await eventually(async () => assert.deepEqual((await contents("tabs")).toSorted(), ["Written in the first", "Written in the second"]));
  });

  it("show one draft, and the older text does not replace the newer", async () => {
    const fragment = await at("general", "draft");
    const textOf = (page) => onElement(page, ".composer .editor__text", (area) => area.value);
    const one = await as("Ada", fragment);
    await write(one, "A common draft");
    await until(one, () => Object.values(localStorage).some((text) => text.includes("A common draft")));
    const two = await tabBeside(one);
    await eventually(async () => assert.equal(await textOf(two), "A common draft"));
    await typeInto(one, ".composer .editor__text", ", longer");
    await eventually(async () => assert.equal(await textOf(two), "A common draft, longer"));
    await one.close();
    await bench.go(two, "#inbox");
    await two.waitForSelector(".inbox__list");
    await bench.go(two, fragment);
    await eventually(async () => assert.equal(await textOf(two), "A common draft, longer"));
  });

  it("empty the box of a draft that one of them sends", async () => {
    const one = await as("Ada", await at("general", "sent"));
    await write(one, "Said once");
    await until(one, () => Object.values(localStorage).some((text) => text.includes("Said once")));
    const two = await tabBeside(one);
    await untilEqual(two, box, (area) => area.value, "Said once");
    await compose(one, "");
    await untilText(two, ".message-row", "Said once");
    await untilEqual(two, box, (area) => area.value, "");
  });

  it("show one edit, and end it together", async () => {
    const { id } = await bench.server.send("Ada", "general", "edited", "Frist");
    const area = ".editor-form .editor__text";
    const one = await as("Ada", await at("general", "edited"));
    const two = await tabBeside(one);
    await two.waitForSelector(`[data-id="${id}"]`);
    await pressOn(one, `[data-id="${id}"]`, "e");
    await untilFocus(one, area);
    await one.keyboard.type(" of all");
    await untilEqual(two, area, (field) => field.value, "Frist of all");
    // It also goes on in a page that begins.
    await two.reload();
    await untilEqual(two, area, (field) => field.value, "Frist of all");
    await focusOn(two, box);
    await typeInto(one, area, " things");
    await untilEqual(two, area, (field) => field.value, "Frist of all things");
    await clickText(one, ".editor-form button", "Save");
    for (const tab of [one, two]) {
      await until(tab, () => !document.querySelector(".editor-form"));
      await untilText(tab, ".message-row .content", "Frist of all things");
    }
    await untilFocus(two, box);
    await pressOn(one, `[data-id="${id}"]`, "e");
    await typeInto(one, area, ", again");
    await untilEqual(two, area, (field) => field.value, "Frist of all things, again");
    await clickText(one, ".editor-form button", "Cancel");
    for (const tab of [one, two]) await until(tab, () => !document.querySelector(".editor-form"));
  });

  it("leave no draft that goes with the session, although one of them was frozen", { skip: IS_FIREFOX }, async () => {
    const one = await as("Ada", await at("general", "frozen"));
    await write(one, "Private words");
    const kept = () => one.evaluate(() => Object.values(localStorage).filter((text) => text.includes("Private words")).map((text) => JSON.parse(text)));
    await eventually(async () => assert.deepEqual((await kept()).map(({ id, isChanged }) => id !== undefined && !isChanged), [true]));
    const two = await tabBeside(one);
    await untilEqual(two, box, (area) => area.value, "Private words");
    const setState = await lifecycleOf(two);
    await setState("frozen");
    await clickButton(one, "Your menu");
    await clickText(one, "[role=menuitem]", "Log out");
    await one.waitForSelector("#id_username");
    await eventually(async () => assert.deepEqual(await kept(), []));
    await setState("active");
    await two.waitForSelector("#id_username");
    assert.deepEqual(await kept(), []);
  });

  it("do not take a message for lost that another tab is sending", async () => {
    const one = await as("Ada", await at("general", "slow"));
    await one.waitForSelector(".composer .editor__text", { visible: true });
    await holdReplies(one);
    await compose(one, "Slowly");
    const two = await tabBeside(one);
    await untilText(two, ".message-row", "Slowly");
    await one.waitForSelector(".message-row[data-state]");
    assert.equal(await countOf(two, "[data-state]"), 0);
    // A tab sends in the order of writing: what it had taken over would come first.
    await compose(two, "Afterwards");
    await eventually(async () => assert.deepEqual(await contents("slow"), ["Slowly", "Afterwards"]));
    await one.evaluate(() => window.release());
    await until(one, () => !document.querySelector("[data-state]"));
  });
});

describe("two tabs without locks, as over plain http", () => {
  const withoutLocks = () => Object.defineProperty(Navigator.prototype, "locks", { get: () => undefined });
  /** A tab with a text, and another one that has the same draft. */
  async function tabsWith(topic, write) {
    const one = await bench.open();
    await one.evaluateOnNewDocument(withoutLocks);
    await enter(one, bench.server, "Ada");
    await bench.go(one, await at("general", topic));
    await one.waitForSelector(box, { visible: true });
    await write(one);
    return [one, await tabBeside(one, withoutLocks)];
  }

  it("leave each other's uploads, until the tab of the upload ends", async () => {
    let setState = () => {};
    const [one, two] = await tabsWith("slides", async (page) => {
      await typeInto(page, box, "See");
      await page.evaluate(() => { XMLHttpRequest.prototype.send = () => {}; });
      const input = await page.waitForSelector(".composer input[type=file]");
      await input.uploadFile(fileURLToPath(import.meta.url));
      await until(page, () => Object.entries(localStorage).some(([name, text]) => name.includes("/drafts/") && text.includes("Uploading")));
      // A tab that answers nothing is there all the same.
      if (!IS_FIREFOX) setState = await lifecycleOf(page);
      await setState("frozen");
    });
    await untilEqual(two, box, (area) => area.value.includes("Uploading"), true);
    await pagePause(two, 3000);
    await setState("active");
    await compose(two, "");
    await untilToast(two, "Please wait until the files are uploaded.");
    for (const page of [one, two]) await untilEqual(page, box, (area) => area.value.includes("Uploading"), true);
    await one.close();
    await untilEqual(two, box, (area) => area.value.trim(), "See");
  });

  it("send each message once", async () => {
    const [one, two] = await tabsWith("once", () => {});
    await bench.stop();
    await compose(one, "Waits in its tab");
    await one.waitForSelector(".message-row[data-state]");
    // The other tab knows of it, and would send it as its own.
    await pagePause(two, 3000);
    assert.equal(await countOf(two, ".message-row[data-state]"), 0);
    await bench.start();
    await until(one, () => !document.querySelector("[data-state]"));
    assert.deepEqual(await contents("once"), ["Waits in its tab"]);
  });
});

describe("a tab of a session that another tab has replaced", () => {
  it("begins again as the other person, with nothing of the first one", async () => {
    const one = await as("Ada", await at("general", "replaced"));
    await write(one, "Not to be said by Cleo");
    await until(one, () => Object.values(localStorage).some((text) => text.includes("Not to be said by Cleo")));
    await one.evaluate(() => { window.isOfAda = true; });
    await enter(await one.browserContext().newPage(), bench.server, "Cleo");
    await wake(one);
    await until(one, () => !window.isOfAda && document.querySelector(".composer .editor__text"));
    await untilEqual(one, box, (area) => area.value, "");
    const { drafts } = await bench.server.call("Cleo", "GET", "/drafts");
    assert.ok(!drafts.some(({ content }) => content.includes("Not to be said by Cleo")));
  });
});

describe("a message whose reply is lost", () => {
  it("is there once", async () => {
    const ada = await as("Ada");
    ada.expected.push(/400/);
    // The first reply is lost, and so is the queue with the message's event.
    await ada.evaluateOnNewDocument(() => {
      const real = window.fetch;
      const broken = () => Promise.reject(new TypeError("the connection broke"));
      let state = "before";
      window.fetch = async (url, options) => {
        const isEvents = String(url).startsWith("/json/events?");
        if (isEvents && state === "during") return broken();
        if (options?.method === "POST" && url === "/json/messages" && state === "before") {
          state = "during";
          await real(url, options);
          await real("/json/events", { method: "DELETE", body: new URLSearchParams({ queue_id: options.body.get("queue_id") }), headers: options.headers });
          state = "after";
          return broken();
        }
        const response = await real(url, options);
        return isEvents && state === "during" ? broken() : response;
      };
    });
    await ada.goto(`${bench.server.url}/${await at("general", "lost")}`);
    await ada.reload();
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await compose(ada, "Once");
    await until(ada, () => document.querySelectorAll(".message-row").length === 1 && !document.querySelector("[data-state]"));
    await compose(ada, "And another");
    await until(ada, () => document.querySelectorAll(".message-row").length === 2 && !document.querySelector("[data-state]"));
    await eventually(async () => assert.deepEqual(await contents("lost"), ["Once", "And another"]));
  });
});

describe("a message whose connection is dead", () => {
  it("is sent again after a time, and so are those after it", async () => {
    const ada = await as("Ada", await at("general", "dead"));
    await ada.waitForSelector(box, { visible: true });
    await ada.evaluate(() => {
      // Times end when the test says so.
      window.times = [];
      AbortSignal.timeout = () => {
        const time = new AbortController();
        window.times.push(() => time.abort(new DOMException("It took too long.", "TimeoutError")));
        return time.signal;
      };
      const real = window.fetch;
      window.fetch = (url, options) => {
        if (window.isDead || options?.method !== "POST" || url !== "/json/messages") return real(url, options);
        window.isDead = true;
        return new Promise((_, reject) => options.signal?.addEventListener("abort", () => reject(options.signal.reason)));
      };
    });
    await compose(ada, "First");
    await until(ada, () => window.isDead);
    await compose(ada, "Second");
    await ada.evaluate(() => { for (const end of window.times) end(); });
    await until(ada, () => document.querySelectorAll(".message-row").length === 2 && !document.querySelector("[data-state]"));
    await eventually(async () => assert.deepEqual(await contents("dead"), ["First", "Second"]));
  });
});

describe("a browser that keeps nothing", () => {
  for (const [name, getter] of [["refuses", () => { throw new DOMException("blocked", "SecurityError"); }], ["is full", () => ({ getItem: () => null, removeItem() {}, setItem() { throw new DOMException("full", "QuotaExceededError"); } })]]) {
    it(`is served all the same: it ${name}`, async () => {
      const ada = await as("Ada");
      await ada.evaluateOnNewDocument((code) => Object.defineProperty(window, "localStorage", { get: new Function(`return (${code})()`) }), String(getter));
      await ada.goto(`${bench.server.url}/${await at("general", name)}`);
      await ada.reload();
      await compose(ada, "Kept nowhere");
      await until(ada, () => document.querySelectorAll(".message-row").length === 1 && !document.querySelector("[data-state]"));
      await ada.keyboard.type("A draft");
      await bench.go(ada, "#inbox");
      await ada.waitForSelector(".inbox__list");
      await bench.go(ada, await at("general", name));
      await until(ada, () => document.querySelector(".composer .editor__text").value === "A draft");
    });
  }
});

describe("a part of the page that cannot be drawn", () => {
  it("says so in its place, and the others work", async () => {
    const ada = await openPage(bench.browser, bench.server);
    try {
      const cookies = await (await as("Ada")).cookies();
      await ada.browserContext().setCookie(...cookies);
      await ada.evaluateOnNewDocument(() => {
        const { createElement } = Document.prototype;
        Document.prototype.createElement = function create(tag, ...more) {
          if (tag === "nav" && window.__broken) throw new Error("no left column");
          return createElement.call(this, tag, ...more);
        };
        let broken = new URLSearchParams(location.search).has("broken");
        Object.defineProperty(window, "__broken", { get: () => { const was = broken; broken = false; return was; } });
      });
      await ada.goto(`${bench.server.url}/?broken=1${await at("general", "parts")}`);
      await untilText(ada, ".sidebar [role=alert]", "cannot be shown");
      await compose(ada, "Still works");
      await untilText(ada, ".message-row", "Still works");
      await eventually(async () => assert.match(await onElement(ada, ".sidebar", (column) => column.textContent), /Load the page again.*Log out/));
    } finally {
      await ada.closeContext();
    }
  });
});

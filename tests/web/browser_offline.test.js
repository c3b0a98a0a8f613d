/** The page as an application: it opens and is read without a connection, takes what other programs share, and can be installed. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clickButton, clickText, compose, enter, eventually, hide, intercept, IS_FIREFOX, setUp, typeInto, until, untilText, wake } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;
/** The service worker keeps no files of a folder, which may change. */
const skip = Boolean(process.env.TEAMCHAT_WEB_DIR);
const REFUSED = /ERR_CONNECTION_REFUSED|NetworkError|ERR_FAILED/;

/** Waits until the page can open without the server. */
const untilInstalled = (page) => until(page, async () => (await navigator.serviceWorker.ready).active?.state === "activated" && (await caches.match("/")) !== undefined);

/** What the browser keeps: the contents of messages, and the unread topics of the state. Null if there is no database. */
const copyOf = (page) => page.evaluate(async () => {
  if (!(await indexedDB.databases()).some(({ name }) => name === "teamchat")) return null;
  const done = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: () => resolve(request.result), onerror: () => reject(request.error) }));
  const opening = indexedDB.open("teamchat");
  // It was erased just now: a database that this makes would have no tables.
  opening.onupgradeneeded = () => opening.transaction.abort();
  const database = await done(opening).catch(() => null);
  if (database === null) return null;
  try {
    const table = (name) => database.transaction(name).objectStore(name);
    const runs = await done(table("runs").getAll());
    const state = await done(table("state").get("state"));
    return { hasState: state !== undefined, unread: state?.unread_msgs?.streams.map(({ topic }) => topic), texts: runs.flatMap(({ messages }) => messages.map(({ content }) => content)) };
  } finally {
    database.close();
  }
});

/** Waits until a text is in the copy, or no longer. */
const untilKept = (page, text, isKept = true) => eventually(async () => {
  const copy = await copyOf(page);
  assert.equal(copy?.hasState === true && copy.texts.some((one) => one.includes(text)), isKept);
});

/** Runs something without the server, and without another one that got its port from the system. */
async function withoutServer(run) {
  assert.ok(Number(new URL(bench.server.url).port) < 32_768);
  await bench.stop();
  try {
    await run();
  } finally {
    await bench.start();
  }
}

describe("without a connection", { skip }, () => {
  it("the newest conversations are read and answered, and everything goes on with the connection", async () => {
    const [first, second] = [await at("general", "kept"), await at("design", "kept too")];
    await bench.server.send("Bob", "general", "kept", "To be read on the train");
    await bench.server.send("Bob", "design", "kept too", "In the tunnel");
    const ada = await as("Ada", first);
    ada.expected.push(REFUSED);
    await untilText(ada, ".message-row", "To be read on the train");
    await go(ada, second);
    await untilText(ada, ".message-row", "In the tunnel");
    await untilInstalled(ada);
    await untilKept(ada, "To be read on the train");
    await untilKept(ada, "In the tunnel");
    await withoutServer(async () => {
      await ada.reload();
      await untilText(ada, ".message-row", "In the tunnel");
      await go(ada, first);
      await untilText(ada, ".message-row", "To be read on the train");
      await untilText(ada, ".banner", "No connection");
      await compose(ada, "Written underground");
      await ada.waitForSelector(".message-row[data-state]");
    });
    await eventually(async () => {
      const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0 });
      assert.match(messages[0].content, /Written underground/);
    });
    await bench.server.send("Bob", "general", "kept", "Welcome back");
    await untilText(ada, ".message-row", "Welcome back");
  });

  it("a browser that keeps nothing says that there is no connection", async () => {
    const ada = await bench.open();
    ada.expected.push(REFUSED);
    await ada.evaluateOnNewDocument(() => {
      Object.defineProperty(window, "indexedDB", { get: () => { throw new DOMException("blocked", "SecurityError"); } });
    });
    await enter(ada, bench.server, "Ada");
    await untilInstalled(ada);
    await withoutServer(async () => {
      await ada.reload();
      await untilText(ada, "h1", "No connection");
    });
    await ada.waitForSelector(".app");
  });

  it("the copy of another session is not shown, and is erased", async () => {
    await bench.server.send("Bob", "general", "private", "For Ada alone");
    const page = await as("Ada", await at("general", "private"));
    page.expected.push(REFUSED);
    await untilText(page, ".message-row", "For Ada alone");
    await untilInstalled(page);
    await untilKept(page, "For Ada alone");
    await enter(page, bench.server, "Cleo");
    await eventually(async () => assert.ok(!(await copyOf(page))?.texts.some((text) => text.includes("For Ada alone"))));
  });
});

describe("the copy of conversations", () => {
  it("is without what is deleted, and is erased with the session", async () => {
    const where = await at("general", "copied");
    const { id } = await bench.server.send("Bob", "general", "copied", "A slip of the tongue");
    await bench.server.send("Bob", "general", "copied", "A considered opinion");
    const ada = await as("Ada", where);
    await untilKept(ada, "A slip of the tongue");
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    await untilKept(ada, "A slip of the tongue", false);
    await untilKept(ada, "A considered opinion");
    await clickButton(ada, "Your menu");
    await clickText(ada, "[role=menuitem]", "Log out");
    await ada.waitForSelector("#id_username");
    await eventually(async () => assert.equal(await copyOf(ada), null));
  });

  it("has what events have changed, once the page is hidden", async () => {
    const ada = await as("Ada", "#inbox");
    await eventually(async () => assert.equal((await copyOf(ada))?.hasState, true));
    await bench.server.send("Bob", "general", "after the start", "News");
    await untilText(ada, ".inbox__list .conversation", "after the start");
    await hide(ada);
    await eventually(async () => assert.ok((await copyOf(ada)).unread.includes("after the start")));
  });

  it("goes with the drafts that the server has", async () => {
    const ada = await as("Ada", await at("general", "copied"));
    await typeInto(ada, ".composer .editor__text", "Unsent and private");
    const drafts = () => ada.evaluate(() => Object.values(localStorage).filter((text) => text.includes("Unsent and private")).map((text) => JSON.parse(text)));
    await eventually(async () => assert.deepEqual((await drafts()).map(({ id, isChanged }) => id !== undefined && !isChanged), [true]));
    await clickButton(ada, "Your menu");
    await clickText(ada, "[role=menuitem]", "Log out");
    await ada.waitForSelector("#id_username");
    await eventually(async () => assert.deepEqual(await drafts(), []));
    const { drafts: onServer } = await bench.server.call("Ada", "GET", "/drafts");
    assert.ok(onServer.some(({ content }) => content === "Unsent and private"));
  });

  it("leaves drafts that the server has deleted because they are no longer kept there", async () => {
    const bob = await as("Bob", await at("general", "copied"));
    await typeInto(bob, ".composer .editor__text", "For this browser alone");
    const drafts = () => bob.evaluate(() => Object.values(localStorage).filter((text) => text.includes("For this browser alone")).map((text) => JSON.parse(text)));
    await eventually(async () => assert.deepEqual((await drafts()).map(({ id, isChanged }) => id !== undefined && !isChanged), [true]));
    await bench.server.call("Bob", "PATCH", "/settings", { enable_drafts_synchronization: false });
    try {
      await eventually(async () => assert.deepEqual((await drafts()).map(({ id }) => id), [undefined]));
      await clickButton(bob, "Your menu");
      await clickText(bob, "[role=menuitem]", "Log out");
      await bob.waitForSelector("#id_username");
      assert.equal((await drafts()).length, 1);
      await enter(bob, bench.server, "Bob");
      await go(bob, await at("general", "copied"));
      await until(bob, () => document.querySelector(".composer .editor__text")?.value === "For this browser alone");
    } finally {
      await bench.server.call("Bob", "PATCH", "/settings", { enable_drafts_synchronization: true });
    }
  });

  it("is given up where the browser has no room", async () => {
    const ada = await bench.open();
    await ada.evaluateOnNewDocument(() => {
      window.refused = 0;
      IDBObjectStore.prototype.put = () => {
        window.refused += 1;
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "copied"));
    await untilText(ada, ".message-row", "A considered opinion");
    await until(ada, () => window.refused > 0);
    await eventually(async () => assert.equal(await copyOf(ada), null));
  });
});

describe("an application", () => {
  it("takes text, links and files that other programs share into the composer", async () => {
    const ada = await as("Ada");
    await until(ada, async () => (await navigator.serviceWorker.ready).active?.state === "activated" && navigator.serviceWorker.controller !== null);
    const loaded = ada.waitForNavigation();
    await ada.evaluate(() => {
      const form = Object.assign(document.createElement("form"), { method: "POST", action: "/share", enctype: "multipart/form-data" });
      for (const [name, value] of [["title", "A page"], ["text", "worth reading"], ["url", "https://example.com/1"]]) form.append(Object.assign(document.createElement("input"), { name, value }));
      const files = Object.assign(document.createElement("input"), { name: "files", type: "file" });
      const transfer = new DataTransfer();
      transfer.items.add(new File(["shared"], "notes & more.txt", { type: "text/plain" }));
      files.files = transfer.files;
      form.append(files);
      document.body.append(form);
      form.submit();
    });
    await loaded;
    await untilText(ada, "dialog p", "notes & more.txt");
    const uploaded = async () => (await bench.server.call("Ada", "GET", "/attachments")).attachments.length;
    assert.equal(await uploaded(), 0, "a page of another site may have shared it");
    await clickText(ada, "dialog button", "Upload files");
    await until(ada, () => {
      const text = document.querySelector(".composer .editor__text")?.value ?? "";
      return text.startsWith("A page\nworth reading\nhttps://example.com/1") && /\[notes & more\.txt\]\(\/user_uploads\//.test(text);
    });
    await eventually(async () => assert.equal(await ada.evaluate(() => caches.has("shared")), false));
  });

  it("takes only the beginning of a long text that is shared", async () => {
    const ada = await as("Ada");
    await until(ada, async () => (await navigator.serviceWorker.ready).active?.state === "activated" && navigator.serviceWorker.controller !== null);
    const length = await ada.evaluate(async () => {
      const form = new FormData();
      form.set("text", "a".repeat(300_000));
      await fetch("/share", { method: "POST", body: form });
      const kept = await (await caches.open("shared")).match("/shared/text");
      const { length } = await kept.text();
      await caches.delete("shared");
      return length;
    });
    assert.equal(length, 100_000);
  });
});

describe("a built page", { skip }, () => {
  it("starts with few requests, and needs one more for what is on demand", async () => {
    const where = await at("general", "requests");
    const { id } = await bench.server.send("Bob", "general", "requests", "The first message");
    const ada = await as("Ada");
    const asked = [];
    let openings = 0;
    ada.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      asked.push(pathname);
      if (pathname === "/json/messages" && searchParams.get("anchor") === "first_unread") openings += 1;
    });
    await ada.goto(`${bench.server.url}/${where}`);
    await untilText(ada, ".message-row", "The first message");
    // Marking it as read is another request, which comes some time later.
    await eventually(async () => {
      const { messages } = await bench.server.call("Ada", "GET", "/messages", { message_ids: [id] });
      assert.ok(messages[0].flags.includes("read"));
    });
    asked.length = openings = 0;
    await ada.reload();
    await untilText(ada, ".message-row", "The first message");
    const different = new Set(asked);
    assert.ok(different.size <= 20, [...different].join("\n"));
    assert.equal(openings, 1, "the messages that are asked for early are those that are shown");
    const names = (list) => [...new Set(list.filter((path) => /\.(js|css)$/.test(path)).map((path) => path.split("/").at(-1)))].toSorted();
    for (const file of ["/later.js", "/overviews.js"]) await eventually(async () => assert.ok(asked.some((path) => path.endsWith(file))));
    assert.deepEqual(names(asked).filter((name) => name !== "service_worker.js"), ["early.js", "later.js", "main.js", "overviews.js", "styles.css"]);
  });

  it("asks again for what is on demand, if it could not be loaded, when the connection is back", { skip: IS_FIREFOX }, async () => {
    const ada = await bench.open();
    ada.expected.push(/ERR_FAILED/);
    const asked = [];
    await intercept(ada, (request) => {
      const { pathname, search } = new URL(request.url());
      if (!pathname.endsWith("/later.js")) return false;
      asked.push(search);
      if (search !== "") return false;
      void request.abort();
      return true;
    });
    const failed = new Promise((resolve) => ada.on("requestfailed", (request) => request.url().endsWith("/later.js") && resolve()));
    await enter(ada, bench.server, "Ada");
    await failed;
    await wake(ada);
    await eventually(() => assert.deepEqual(asked, ["", "?1"]));
  });
});

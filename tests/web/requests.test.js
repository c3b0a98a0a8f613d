/** The token of requests, requests that are given up, and uploads of several tabs. No server, no browser. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { csrfToken, sessionEnd } from "../../web/js/api/client.js";
import { register, registerEarly } from "../../web/js/api/endpoints.js";
import { upload } from "../../web/js/api/upload.js";
import { createUploads } from "../../web/js/store/uploads.js";

/** Gives tests what a page has. */
const inPage = async (parts, run) => {
  const before = Object.fromEntries(["document", ...Object.keys(parts)].map((name) => [name, globalThis[name]]));
  Object.assign(globalThis, { document: { cookie: "" }, ...parts });
  try {
    await run();
  } finally {
    Object.assign(globalThis, before);
  }
};

describe("the token of requests", () => {
  it("is that of the page, although the host has that of another session", async () => {
    const [plain, secure] = ["teamchat_csrf=plain", "__Host-teamchat_csrf=secure"];
    for (const [protocol, cookies, expected] of [
      ["https:", [plain, secure], "secure"],
      ["https:", [secure, plain], "secure"],
      ["http:", [secure, plain], "plain"],
      ["http:", [plain, secure], "plain"],
      ["https:", ["other=one", plain], "plain"],
      ["https:", ["other=one"], ""],
    ]) {
      const parts = { document: { cookie: cookies.join("; ") }, location: { protocol } };
      await inPage(parts, () => assert.equal(csrfToken(), expected));
    }
  });
});

describe("a registration that was asked for early", () => {
  it("is given up as another one is", async () => {
    const asked = [];
    const fetch = (path, { signal }) => {
      asked.push(path);
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        // Without a signal, the request ends in another way.
        setTimeout(() => reject(new Error("not given up")));
      });
    };
    await inPage({ fetch }, async () => {
      registerEarly();
      for (const count of [1, 2]) {
        const given = new AbortController();
        const reply = register(given.signal);
        given.abort();
        await assert.rejects(reply, { name: "AbortError" });
        assert.equal(asked.length, count);
      }
    });
    assert.deepEqual(asked, ["/json/register", "/json/register"]);
  });
});

describe("an upload", () => {
  it("that is cancelled before it is sent leaves nothing behind", async () => {
    /** One that was not sent has no end when it is aborted. */
    class XMLHttpRequest {
      upload = {};
      open() {}
      setRequestHeader() {}
      send() {
        throw new Error("sent");
      }
      abort() {}
    }
    await inPage({ XMLHttpRequest }, async () => {
      const before = getEventListeners(sessionEnd, "abort").length;
      const { done, cancel } = upload(new Blob(["text"]));
      assert.equal(getEventListeners(sessionEnd, "abort").length, before + 1);
      cancel();
      await assert.rejects(done, { name: "AbortError" });
      assert.equal(getEventListeners(sessionEnd, "abort").length, before);
    });
  });
});

describe("files on their way into texts", () => {
  const placeholder = (name) => `[Uploading ${name}…]()`;
  /** The uploads of a tab of a browser that keeps this. */
  const uploadsOf = (tab, kept) =>
    createUploads({ entries: () => ({ all: () => new Map(kept), set: (key, text) => (text === null ? kept.delete(key) : kept.set(key, text)) }), tab });

  it("hold back only the texts that they are for, and no text once they have failed", () => {
    const uploads = uploadsOf("one", new Map());
    const ended = [];
    for (const [name, hasFailed] of [["a", false], ["b", true], ["c", true], ["d", true]]) uploads.add(placeholder(name), { name, hasFailed, end: () => ended.push(name) });
    const [running, failed] = [`See ${placeholder("a")}`, `See ${placeholder("b")} and ${placeholder("c")}`];
    assert.deepEqual([running, failed, ""].map((text) => uploads.isRunning(text)), [true, false, false]);
    assert.deepEqual([running, failed].map((text) => uploads.failedIn(text)), [[], ["b", "c"]]);
    assert.deepEqual([running, failed].map((text) => uploads.withoutFailed(text)), [running, "See  and "]);
    uploads.giveUpFailed(failed);
    assert.deepEqual(ended, ["b", "c"]);
  });

  it("hold back texts that other tabs have too, until they have arrived or their tab has ended", () => {
    const kept = new Map();
    const [one, two] = ["one", "two"].map((tab) => uploadsOf(tab, kept));
    const text = `See ${placeholder("a")}`;
    const file = { name: "a", hasFailed: false, end: () => {} };
    one.add(placeholder("a"), file);
    assert.deepEqual([two.isTaken(placeholder("a")), two.isRunning(text), two.isRunning("See")], [true, true, false]);
    assert.deepEqual([one.elsewhere(), two.elsewhere()], [[], [[`one/${placeholder("a")}`, placeholder("a")]]]);
    one.remove(placeholder("a"));
    assert.deepEqual([two.isTaken(placeholder("a")), two.isRunning(text)], [false, false]);
    one.add(placeholder("a"), file);
    const [[key]] = two.elsewhere();
    assert.deepEqual([two.removeOther(key), two.removeOther(key), two.isRunning(text)], [true, false, false]);
  });
});

/** Requests that are given up. No server, no browser. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { sessionEnd } from "../../web/js/api/client.js";
import { register, registerEarly } from "../../web/js/api/endpoints.js";
import { upload } from "../../web/js/api/upload.js";

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

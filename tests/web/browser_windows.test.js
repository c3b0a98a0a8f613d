/** What a browser without windows cannot do: notifications of the system, and pages that are installed; in Chromium against the real
 * server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { enter, eventually, IS_FIREFOX, keptWords, setUp, untilText } from "./harness.js";

const bench = setUp({ hasWindows: true });

describe("push notifications", { skip: IS_FIREFOX }, () => {
  it("are shown by the service worker, once for each conversation, and lead to it", async () => {
    const page = await bench.open();
    await page.browserContext().overridePermissions(bench.server.url, ["notifications"]);
    await enter(page, bench.server, "Bob");
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    const target = await page.browserContext().waitForTarget((one) => one.type() === "service_worker");
    const worker = await target.worker();
    const session = await page.createCDPSession();
    const registrations = [];
    session.on("ServiceWorker.workerRegistrationUpdated", (event) => registrations.push(...event.registrations));
    await session.send("ServiceWorker.enable");
    await eventually(async () => assert.ok(registrations.some(({ scopeURL }) => scopeURL.startsWith(bench.server.url))));
    const { registrationId } = registrations.find(({ scopeURL }) => scopeURL.startsWith(bench.server.url));
    await page.goto("about:blank");
    // A push is for those without an open page that has the focus.
    await eventually(async () => assert.equal(await worker.evaluate(async () => (await self.clients.matchAll({ type: "window" })).length), 0));
    // Chromium removes notifications after 20 seconds, except those that require interaction. It forgets one that it is about to
    // show if it is asked for those that are shown: so this waits until all are shown, and looks then.
    await worker.evaluate(() => {
      const { showNotification } = ServiceWorkerRegistration.prototype;
      self.pushes = 0;
      ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
        await showNotification.call(this, title, { ...options, requireInteraction: true });
        self.pushes += 1;
      };
    });
    /** Delivers pushes, and waits until all of them have shown something. */
    const push = async (...all) => {
      const before = await worker.evaluate(() => self.pushes);
      for (const data of all) await session.send("ServiceWorker.deliverPushMessage", { origin: bench.server.url, registrationId, data });
      await eventually(async () => assert.equal((await worker.evaluate(() => self.pushes)) - before, all.length));
    };
    const shown = () =>
      worker.evaluate(async () =>
        (await self.registration.getNotifications()).map(({ title, body, tag, data }) => [title, body, tag, data.fragment]).sort(),
      );
    const notice = { type: "message", id: 5, tag: "dm/9", fragment: "narrow/dm/9/near/5", title: "Bob", body: "one", count: 1, time: 1, close: [] };
    await push(JSON.stringify(notice));
    await eventually(async () => assert.deepEqual(await shown(), [["Bob", "one", "dm/9", "narrow/dm/9/near/5"]]));
    await push(JSON.stringify({ ...notice, id: 6, body: "two", count: 2 }));
    await eventually(async () => assert.deepEqual(await shown(), [["Bob (2)", "two", "dm/9", "narrow/dm/9/near/5"]]));
    await push(JSON.stringify({ ...notice, id: 7, tag: "channel/1/x", title: "#general > x", body: "Cleo: three", close: ["dm/9"] }));
    await eventually(async () => assert.deepEqual(await shown(), [["#general > x", "Cleo: three", "channel/1/x", "narrow/dm/9/near/5"]]));
    await push("no JSON");
    await eventually(async () => assert.deepEqual((await shown()).map(([title]) => title), ["#general > x", "New messages"]));
    // Those that come at once are shown in turn: the last one closes what the first one shows.
    const others = Array.from({ length: 5 }, (_, number) => ({ ...notice, id: 8 + number, tag: `dm/${10 + number}`, title: `Person ${number}`, body: "four" }));
    others.at(-1).close = ["dm/10"];
    await push(...others.map((one) => JSON.stringify(one)));
    await eventually(async () => assert.deepEqual((await shown()).map(([title]) => title), ["#general > x", "New messages", "Person 1", "Person 2", "Person 3", "Person 4"]));
    // The documentation shows no messages: it neither keeps pushes from being shown, nor is it what they lead to.
    const pages = () => worker.evaluate(async () => [(await self.clients.matchAll({ type: "window" })).length, (await self.openPages()).length]);
    await page.goto(`${bench.server.url}/help/`);
    await eventually(async () => assert.deepEqual(await pages(), [1, 0]));
    // The page closes what is shown once it has the focus.
    await page.goto(`${bench.server.url}/#inbox`);
    await page.waitForSelector(".app");
    await eventually(async () => assert.deepEqual(await pages(), [1, 1]));
    await page.bringToFront();
    await eventually(async () => assert.deepEqual(await shown(), []));
    // A push that cannot be read has a text in the language of the page, whose words are kept.
    for (const [language, words, title] of [["de", ["de.json"], "Neue Nachrichten"], ["en", [], "New messages"]]) {
      await page.goto("about:blank");
      await bench.server.call("Bob", "PATCH", "/settings", { default_language: language });
      await page.goto(`${bench.server.url}/#inbox`);
      await eventually(async () => assert.deepEqual(await keptWords(page), words));
      await page.goto("about:blank");
      await eventually(async () => assert.equal(await worker.evaluate(async () => (await self.clients.matchAll({ type: "window" })).length), 0));
      await push("no JSON");
      await eventually(async () => assert.deepEqual((await shown()).map(([shownTitle]) => shownTitle), [title]));
    }
    // The worker may be updated while no page is open. It takes over the words that the earlier one kept.
    await worker.evaluate(async () => {
      await (await caches.open("/static/earlier/")).put("/static/earlier/words/de.json", new Response("{}"));
      await self.keepAll();
      await caches.delete("/static/earlier/");
    });
    assert.deepEqual(await keptWords(worker), ["de.json"]);
  });
});

describe("push notifications that the operator has turned off", { skip: IS_FIREFOX }, () => {
  const without = setUp({ hasWindows: true, args: ["--web-push", "off"] });

  it("are not offered", async () => {
    const page = await without.open();
    await page.browserContext().overridePermissions(without.server.url, ["notifications"]);
    await enter(page, without.server, "Cleo");
    await without.go(page, "#settings/notifications");
    await untilText(page, "dialog .problem", "The operator of this server has turned push notifications off.");
  });
});

describe("an application", { skip: IS_FIREFOX }, () => {
  it("can be installed under the name of the organization", async () => {
    await bench.server.call("Ada", "PATCH", "/realm", { name: "The Analysts" });
    const ada = await bench.as("Ada");
    const session = await ada.createCDPSession();
    const { data, errors } = await session.send("Page.getAppManifest");
    assert.deepEqual(errors, []);
    const { name, id, shortcuts, icons, share_target: share } = JSON.parse(data);
    assert.deepEqual([name, id, shortcuts.length, icons.map(({ purpose }) => purpose), share.action], ["The Analysts", "/", 4, ["any", "maskable"], "/share"]);
    // The pages of tests are in contexts like private windows.
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    assert.deepEqual(installabilityErrors.map(({ errorId }) => errorId), ["in-incognito"]);
  });
});

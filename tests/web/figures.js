/**
 * Figures of the web client, measured in one run:
 *
 *   node figures.js [messages] [channels]
 *   node figures.js large [start] [elsewhere] [switching] [flood]      see figures_large.js
 *
 * Bytes and time to the first message on a cold load with 200 channels; memory after scrolling through 10,000 messages;
 * time from a send in one browser to its picture in another, against a bare page that polls and prints.
 */

import { measureLarge } from "./figures_large.js";
import { focusOn, launchBrowser, logIn, openPage, press, startServer, until } from "./harness.js";

const report = (name, value) => console.log(`${name.padEnd(64)} ${value}`);

if (process.argv[2] === "large") {
  const parts = process.argv.slice(3);
  await measureLarge(report, parts.length > 0 ? parts : ["start", "elsewhere", "switching", "flood"]);
  process.exit();
}

const MESSAGES = Number(process.argv[2] ?? 100_000);
const CHANNELS = Number(process.argv[3] ?? 200);
const AT_ONCE = 16;

const server = await startServer({ people: [{ name: "Ada", role: "owner" }, { name: "Bob" }] });
const browser = await launchBrowser();
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const ids = [];
for (let number = 0; number < CHANNELS; number++) ids.push(await server.channel(`channel ${number}`, ["Ada", "Bob"]));
let sent = 0;
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  while (sent < MESSAGES) {
    const number = sent++;
    // A tenth of all is one long conversation, to be scrolled through.
    const [channel, topic] = number % 10 === 0 ? [ids[0], "long"] : [ids[number % CHANNELS], `topic ${number % 7}`];
    await server.call("Bob", "POST", "/messages", { type: "channel", to: channel, topic, content: `Message ${number} with a **few** words, \`code\` and a :smile:` });
  }
}));
report("messages in the file", sent);

// Cold load.
const page = await openPage(browser, server);
await logIn(page, server, "Ada");
const where = `#narrow/channel/${ids[0]}-channel-0/topic/long`;
let [bytes, requests] = [0, 0];
const times = [];
for (let round = 0; round < 5; round++) {
  const cold = await page.browserContext().newPage();
  const session = await cold.createCDPSession();
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Network.setBypassServiceWorker", { bypass: true });
  [bytes, requests] = [0, 0];
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  const started = performance.now();
  await cold.bringToFront();
  await cold.goto(`${server.url}/${where}`, { waitUntil: "domcontentloaded" });
  await cold.waitForSelector(".message-row");
  times.push(performance.now() - started);
  await cold.close();
}
report("cold load: bytes over the network until the first message", bytes);
report("cold load: requests", requests);
report("cold load: time to the first message, median of 5", `${median(times).toFixed(0)} ms`);

// Scrolling.
await page.bringToFront();
await page.evaluate((hash) => { location.hash = hash; }, where);
await page.waitForSelector(".message-row");
const memory = async () => {
  const session = await page.createCDPSession();
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1024 / 1024;
};
const before = await memory();
await page.evaluate(() => { document.querySelector(".timeline__jump").click(); });
await new Promise((resolve) => setTimeout(resolve, 500));
const seen = new Set();
for (let step = 0; step < 6000 && seen.size < Math.min(10_000, MESSAGES / 10 - 100); step++) {
  for (const id of await page.evaluate(() => {
    const scroller = document.querySelector(".timeline__scroller");
    scroller.scrollTop -= 4000;
    return [...document.querySelectorAll(".message-row")].map((row) => row.dataset.id);
  })) seen.add(id);
  await new Promise((resolve) => setTimeout(resolve, 15));
  if (await page.evaluate(() => document.querySelector(".timeline__top").textContent.includes("beginning"))) break;
}
report("scrolled through messages", seen.size);
report("rows in the page after that", await page.$$eval(".message-row", (rows) => rows.length));
report("script memory before and after scrolling", `${before.toFixed(1)} MiB, ${(await memory()).toFixed(1)} MiB`);

// From a send to its picture.
const [ada, bob] = [page, await openPage(browser, server)];
await logIn(bob, server, "Bob");
const conversation = `#narrow/channel/${ids[1]}-channel-1/topic/latency`;
for (const one of [ada, bob]) await one.evaluate((hash) => { location.hash = hash; }, conversation);
for (const one of [ada, bob]) await one.waitForSelector(".composer .editor__text", { visible: true });
const ours = [];
await bob.bringToFront();
for (let round = 0; round < 15; round++) {
  const text = `Ping ${round} ${Math.random()}`;
  const arrived = until(bob, (wanted) => [...document.querySelectorAll(".message-row")].some((row) => row.textContent.includes(wanted)), text);
  await focusOn(ada, ".composer .editor__text");
  await ada.$eval(".composer .editor__text", (area, value) => { area.value = value; area.dispatchEvent(new Event("input")); }, text);
  const started = performance.now();
  await press(ada, "Control+Enter");
  await arrived;
  ours.push(performance.now() - started);
}
await bob.evaluate(() => {
  document.body.replaceChildren();
  const token = document.cookie.split("teamchat_csrf=")[1].split(";")[0];
  const loop = async () => {
    const state = await (await fetch("/json/register", { method: "POST", headers: { "X-CSRFToken": token }, body: new URLSearchParams({ event_types: '["message"]', fetch_event_types: "[]" }) })).json();
    let last = state.last_event_id;
    window.ready = true;
    for (;;) {
      const { events } = await (await fetch(`/json/events?queue_id=${state.queue_id}&last_event_id=${last}`)).json();
      for (const event of events) {
        last = event.id;
        if (event.message) document.body.append(Object.assign(document.createElement("div"), { className: "message-row", textContent: event.message.content }));
      }
    }
  };
  void loop();
});
await until(bob, () => window.ready);
const bare = [];
for (let round = 0; round < 15; round++) {
  const text = `Pong ${round} ${Math.random()}`;
  const arrived = until(bob, (wanted) => [...document.querySelectorAll(".message-row")].some((row) => row.textContent.includes(wanted)), text);
  const started = performance.now();
  await server.call("Ada", "POST", "/messages", { type: "channel", to: ids[1], topic: "latency", content: text });
  await arrived;
  bare.push(performance.now() - started);
}
report("send in one browser to picture in another, median of 15", `${median(ours).toFixed(0)} ms`);
report("send by a script to text in a bare page, median of 15", `${median(bare).toFixed(0)} ms`);
await browser.close();
await server.close();

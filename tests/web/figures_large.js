/** Figures of the web client in an organization of the size of a company (organization.js): what a message elsewhere, a flood
 * of messages and the switch to another conversation cost. Processor times are those of the page's main thread
 * (`TaskDuration` in thread time), which depend little on what else the machine does. */

import { enter, launchBrowser, openPage, processorTime, startServer } from "./harness.js";
import { largeOrganization } from "./organization.js";

/** Messages, conversations and seconds that are measured. */
const ELSEWHERE = 30;
const SWITCHES = 40;
const FLOOD_SECONDS = 10;
const FLOOD_RATE = 100;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const percentile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)];

/** Waits until the page has been at rest for a while. */
const rest = (page) => page.evaluate(() => new Promise((resolve) => {
  requestIdleCallback(() => requestAnimationFrame(() => requestIdleCallback(resolve)));
}));

/** Starts the organization, and a page in it. */
async function start() {
  const server = await startServer({ fixtures: largeOrganization() });
  const browser = await launchBrowser();
  const page = await openPage(browser, server);
  await enter(page, server, "Ada");
  const busy = await processorTime(page);
  // What is loaded while the page is idle is no part of the figures.
  await pause(6000);
  const id = async (channel) => (await server.call("Ada", "GET", "/get_stream_id", { stream: channel })).stream_id;
  const go = async (fragment) => {
    await page.evaluate((hash) => { location.hash = hash; }, fragment);
    await page.waitForSelector(".message-row, .conversation");
    await pause(500);
  };
  return { server, browser, page, busy, id, go };
}

/** Fast 3G, as browsers emulate it: bytes per second, and milliseconds for each request. */
const FAST_3G = { offline: false, downloadThroughput: (1.6e6 / 8) * 0.9, uploadThroughput: (750e3 / 8) * 0.9, latency: 150 * 3.75 };

/** Cold loads until the first message: bytes and requests, and the time without limits and on fast 3G, in a page like a phone's. */
export async function cold(bench, report, fragment) {
  const { server, page } = bench;
  for (const [name, network] of [["this machine", null], ["fast 3G", FAST_3G]]) {
    const times = [];
    let [bytes, requests] = [0, 0];
    for (let round = 0; round < 5; round++) {
      const fresh = await page.browserContext().newPage();
      await fresh.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true });
      const session = await fresh.createCDPSession();
      await session.send("Network.enable");
      await session.send("Network.setCacheDisabled", { cacheDisabled: true });
      await session.send("Network.setBypassServiceWorker", { bypass: true });
      if (network) await session.send("Network.emulateNetworkConditions", network);
      [bytes, requests] = [0, 0];
      session.on("Network.loadingFinished", ({ encodedDataLength }) => {
        bytes += encodedDataLength;
        requests += 1;
      });
      await fresh.bringToFront();
      const started = performance.now();
      await fresh.goto(`${server.url}/${fragment}`, { waitUntil: "domcontentloaded" });
      await fresh.waitForSelector(".message-row");
      times.push(performance.now() - started);
      if (network === null && round === 4) report("cold load until the first message: bytes and requests", `${(bytes / 1000).toFixed(0)} kB, ${requests}`);
      await fresh.close();
    }
    report(`cold load until the first message, ${name}, median of 5`, `${median(times).toFixed(0)} ms`);
  }
  await page.bringToFront();
}

/** The processor time of a page for a message in another conversation. */
async function elsewhere(bench, report, views) {
  const { server, page, busy, go } = bench;
  for (const [name, fragment] of views) {
    await go(fragment);
    await rest(page);
    const send = async (number) => {
      await server.send("Bob", "channel 014", "noise", `Noise ${number}`);
      await pause(200);
    };
    for (let number = 0; number < 3; number++) await send(number);
    const idle = await busy();
    await pause(200 * ELSEWHERE);
    const before = await busy();
    for (let number = 0; number < ELSEWHERE; number++) await send(number);
    const after = await busy();
    report(`one message elsewhere, ${name}`, `${((after - before - (before - idle)) / ELSEWHERE).toFixed(1)} ms`);
  }
}

/** The frames of a page while a hundred messages arrive each second, in ten conversations. */
async function flood(bench, report, views) {
  const { server, page, go } = bench;
  for (const [name, fragment, channel, topics] of views) {
    await go(fragment);
    await rest(page);
    await page.evaluate(() => {
      window.__frames = [];
      window.__counts = true;
      let last = performance.now();
      const frame = (now) => {
        window.__frames.push(now - last);
        last = now;
        if (window.__counts) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    const started = performance.now();
    let sent = 0;
    const running = new Set();
    while (performance.now() - started < FLOOD_SECONDS * 1000) {
      while (sent < ((performance.now() - started) / 1000) * FLOOD_RATE && running.size < 16) {
        const request = server.send("Bob", channel, topics(sent), `Flood ${sent}`);
        running.add(request);
        void request.finally(() => running.delete(request));
        sent += 1;
      }
      await pause(5);
    }
    await Promise.all(running);
    const frames = await page.evaluate(() => {
      window.__counts = false;
      return window.__frames;
    });
    const seconds = frames.reduce((sum, one) => sum + one, 0) / 1000;
    report(`flood of ${(sent / seconds).toFixed(0)} messages/s, ${name}`, `${(frames.length / seconds).toFixed(0)} frames/s, 95 % within ${percentile(frames, 0.95).toFixed(0)} ms, longest ${Math.max(...frames).toFixed(0)} ms`);
  }
}

/** The processor time of a switch between conversations. */
async function switching(bench, report, fragments) {
  const { page, busy } = bench;
  const visit = async (fragment) => {
    await rest(page);
    const before = await busy();
    await page.evaluate((hash) => { location.hash = hash; }, fragment);
    await page.waitForFunction(() => document.querySelector(".timeline__list[aria-busy=false] .message-row"), { polling: "raf" });
    await pause(250);
    return (await busy()) - before;
  };
  for (const name of ["first visit", "conversation seen before"]) {
    const times = [];
    for (const fragment of fragments) times.push(await visit(fragment));
    report(`switching, ${name}, median and 95 % of ${fragments.length}`, `${median(times).toFixed(0)} and ${percentile(times, 0.95).toFixed(0)} ms`);
  }
}

/** @param {(name: string, value: unknown) => void} report @param {string[]} parts Some of: start elsewhere flood switching */
export async function measureLarge(report, parts) {
  const bench = await start();
  const busiest = await bench.id("channel 007");
  const views = [
    ["in a topic", `#narrow/channel/${busiest}/topic/long.20run`],
    ["in a channel", `#narrow/channel/${busiest}`],
    ["in a direct conversation", `#narrow/dm/${(await bench.server.call("Ada", "GET", "/users")).members.find(({ full_name }) => full_name === "Person 005").user_id}`],
    ["in the inbox", "#inbox"],
    ["in the recent conversations", "#recent"],
    ["in the list of topics", `#topics/channel/${busiest}`],
    ["in the combined feed", "#feed"],
  ];
  if (parts.includes("start")) await cold(bench, report, views[0][1]);
  if (parts.includes("elsewhere")) await elsewhere(bench, report, views);
  if (parts.includes("switching")) {
    const fragments = [];
    for (let index = 0; index < SWITCHES; index++) fragments.push(`#narrow/channel/${await bench.id(`channel ${String(30 + index).padStart(3, "0")}`)}/topic/long.20run`);
    await switching(bench, report, fragments);
  }
  if (parts.includes("flood")) {
    const ten = (number) => `flood ${number % 10}`;
    await flood(bench, report, [
      ["in the conversation that is open", `#narrow/channel/${busiest}/topic/long.20run`, "channel 007", () => "long run"],
      ...views.filter(([name]) => name !== "in a channel").map(([name, fragment]) => [`elsewhere, ${name}`, fragment, "channel 021", ten]),
    ]);
  }
  await bench.browser.close();
  await bench.server.close();
}

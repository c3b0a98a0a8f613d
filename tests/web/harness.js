/** A server on a file of its own, people in it, and browsers. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve as absolute } from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach, before } from "node:test";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BINARY = absolute(process.env.TEAMCHAT_BINARY ?? join(ROOT, "target/release/teamchat"));
const PYTHON = process.env.TEAMCHAT_PYTHON ?? join(ROOT, "target/clients/python/bin/python");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/** How long a server may take to listen, in milliseconds: one that begins with thousands of messages writes them first. */
const START_TIMEOUT = 240_000;

/** How long a test waits for what must come, in milliseconds. It is longer than each pause of the client, and costs nothing
 * where tests pass. */
const TIMEOUT = Number(process.env.TEAMCHAT_TEST_TIMEOUT ?? 60) * 1000;

/** The environment of the server: options of the shell in which the tests run do not apply to it. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TEAMCHAT_")));

/** Starts a server; `people` are accounts with the password `correct horse`. With `fixtures` it begins with those, and
 * forgets everything in the end. */
export async function startServer({ people = [], args = [], fixtures } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "teamchat-web-"));
  const db = join(folder, "chat.sqlite");
  const accounts = {};
  for (const { name, role = "member" } of people) {
    const email = `${name.toLowerCase()}@example.com`;
    const out = execFileSync(BINARY, ["user", "create", "--db", db, "--email", email, "--full-name", name, "--role", role, "--password-stdin", "--json"], { input: "correct horse\n", env: ENVIRONMENT });
    accounts[name] = JSON.parse(out);
  }
  let kept = ["--db", db];
  if (fixtures) {
    const path = join(folder, "fixtures.json");
    writeFileSync(path, JSON.stringify(fixtures));
    kept = ["--ephemeral", "--fixtures", path];
    for (const { email, full_name, api_key } of fixtures.users) accounts[full_name] = { email, api_key };
  }
  let child;
  let url = "";
  const launch = async (listen) => {
    child = spawn(BINARY, ["serve", ...kept, "--listen", listen, ...(process.env.TEAMCHAT_WEB_DIR ? ["--web-dir", process.env.TEAMCHAT_WEB_DIR] : []), ...args], { stdio: ["ignore", "pipe", "inherit"], env: ENVIRONMENT });
    url = await new Promise((resolve, reject) => {
      let text = "";
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`the server does not say where it listens: ${text}`));
      }, START_TIMEOUT);
      timer.unref();
      child.stdout.on("data", (data) => {
        text += data;
        const found = /listening\s+(?:\x1b\[\d+m)?(http:\S+?)(?:\x1b|\s)/.exec(text);
        if (!found) return;
        clearTimeout(timer);
        resolve(found[1]);
      });
      child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
    });
  };
  const stop = () => new Promise((resolve) => {
    child.removeAllListeners("exit");
    child.on("exit", resolve);
    child.kill("SIGTERM");
  });
  await launch("127.0.0.1:0");
  process.on("exit", () => child.kill("SIGKILL"));
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => process.exit(1));
  const server = {
    accounts,
    get url() {
      return url;
    },
    stop,
    start: () => launch(new URL(url).host),
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
    /** A request of somebody over the interface. */
    async call(name, method, path, params = {}) {
      const { email, api_key } = accounts[name];
      const body = new URLSearchParams(Object.entries(params).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]));
      const isRead = method === "GET";
      const response = await fetch(`${url}/api/v1${path}${isRead && body.size ? `?${body}` : ""}`, {
        method, body: isRead ? undefined : body,
        headers: { Authorization: `Basic ${Buffer.from(`${email}:${api_key}`).toString("base64")}`, "User-Agent": "harness/1" },
      });
      const reply = await response.json();
      if (reply.result !== "success") throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
      return reply;
    },
    /** Creates a channel, or subscribes to one that is there already: a new organization begins with one. Returns its id. */
    async channel(name, members, properties = {}) {
      const principals = members.map((member) => accounts[member].user_id);
      await server.call("Ada", "POST", "/users/me/subscriptions", { subscriptions: [{ name, description: properties.description ?? "" }], principals, ...properties });
      return (await server.call("Ada", "GET", "/get_stream_id", { stream: name })).stream_id;
    },
    send: (name, channel, topic, content) => server.call(name, "POST", "/messages", { type: "channel", to: channel, topic, content }),
    direct: (name, to, content) => server.call(name, "POST", "/messages", { type: "direct", to: to.map((other) => accounts[other].user_id), content }),
  };
  return server;
}

const FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-background-networking"];

/** Whether the browser is Firefox, which can less of what the protocol for tests has. */
export const IS_FIREFOX = process.env.TEAMCHAT_BROWSER === "firefox";

/** As `seem` has it for Chromium: what fades in has no colours to be judged yet. */
const CALM = { "ui.prefersReducedMotion": 1 };

export const launchBrowser = () =>
  IS_FIREFOX
    ? puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true, timeout: START_TIMEOUT, protocolTimeout: START_TIMEOUT, extraPrefsFirefox: CALM })
    : puppeteer.launch({ executablePath: CHROMIUM, headless: true, timeout: START_TIMEOUT, protocolTimeout: START_TIMEOUT, args: FLAGS });

/** The browser that the files of a run share, or one for this file. Of a shared one, only the contexts of this file are seen. */
async function openBrowser() {
  const browserWSEndpoint = process.env.TEAMCHAT_BROWSER_ENDPOINT;
  if (!browserWSEndpoint) {
    const browser = await launchBrowser();
    return { browser, close: () => browser.close() };
  }
  const own = new Set();
  const targetFilter = (target) => {
    const context = target._getTargetInfo().browserContextId;
    return context === undefined || own.has(context);
  };
  const browser = await puppeteer.connect({ browserWSEndpoint, protocolTimeout: START_TIMEOUT, targetFilter });
  const create = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (options) => {
    const context = await create(options);
    own.add(context.id);
    return context;
  };
  return { browser, close: () => browser.disconnect() };
}

/** Chooses a theme, and lets the page believe that it has the focus, as if it were alone. */
async function seem(page, dark) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }]);
  const session = await page.createCDPSession();
  await session.send("Emulation.setFocusEmulationEnabled", { enabled: true });
}

/** A page in a context of its own. What it complains of, and what it asks other servers for, is collected in `problems`. */
export async function openPage(browser, server, { width = 1440, height = 900, dark = false, touch = false } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT);
  await page.setViewport(IS_FIREFOX ? { width, height } : { width, height, hasTouch: touch, isMobile: touch, deviceScaleFactor: 1 });
  if (!IS_FIREFOX) await seem(page, dark);
  const problems = [];
  // A page that is loaded anew takes the icon with the count with it.
  const expected = [/ERR_FILE_NOT_FOUND blob:/];
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const text = `${message.text()} ${message.location().url ?? ""}`;
    if (!expected.some((pattern) => pattern.test(text))) problems.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(server.url) && !/^(data|blob|about):/.test(asked)) problems.push(`elsewhere: ${asked}`);
  });
  // The list may be drawn anew after an element in it is found: then a plain click fails, and a plain focus has no effect.
  const click = (selector) => page.locator(selector).click();
  const focus = (selector) => until(page, (where) => {
    const element = document.querySelector(where);
    element?.focus();
    return element !== null && document.activeElement === element;
  }, selector);
  return Object.assign(page, { problems, expected, click, focus, closeContext: () => context.close() });
}

export async function logIn(page, server, name, fragment = "") {
  await page.goto(`${server.url}/${fragment}`);
  await page.waitForSelector("#id_username");
  await page.type("#id_username", server.accounts[name].email);
  await page.type("#id_password", "correct horse");
  await Promise.all([page.waitForSelector(".app"), page.keyboard.press("Enter")]);
}

/** A function that answers how long the main thread of a page has been busy, in milliseconds of processor time. Chromium only. */
export async function processorTime(page) {
  const session = await page.createCDPSession();
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  };
}

/** Begins a session as the form for logging in does, which has tests of its own, and loads the client. */
export async function enter(page, server, name) {
  const login = new URLSearchParams({ username: server.accounts[name].email, password: "correct horse" });
  // A busy machine answers 503 before it hashes a password late.
  const headers = { "User-Agent": await page.browser().userAgent() };
  const response = await eventually(async () => {
    const answer = await fetch(`${server.url}/accounts/login/`, { method: "POST", body: login, headers });
    assert.equal(answer.status, 200);
    return answer;
  });
  const cookies = response.headers.getSetCookie().map((cookie) => /^(?<name>\w+)=(?<value>[^;]+)/.exec(cookie).groups);
  await page.browserContext().setCookie(...cookies.map((cookie) => ({ ...cookie, domain: new URL(server.url).hostname, path: "/" })));
  await page.goto(`${server.url}/`);
  await page.waitForSelector(".app");
}

/** Waits until a function of the page returns something true. One that throws, since an element is not there yet, is called
 * again. */
export async function until(page, run, ...args) {
  const calm = new Function("...args", `return (async () => { try { return await (${run})(...args); } catch { return false; } })();`);
  try {
    return await page.waitForFunction(calm, { timeout: TIMEOUT, polling: 50 }, ...args);
  } catch (error) {
    error.message += ` (${args.join(", ")}); the page: ${await page.evaluate(describePage).catch((failure) => failure.message)}`;
    throw error;
  }
}

/** What a page shows when a test gave up: its place, the focus, boxes and words that were said. */
function describePage() {
  const brief = (element) => element && `${element.outerHTML.slice(0, 120)}… ${element.textContent.slice(0, 120)}`;
  const shown = [document.activeElement, ...document.querySelectorAll("dialog, .popover, .toast")];
  return JSON.stringify([location.hash, ...shown.map(brief)]);
}

/** Waits until some element with this text is there. */
export const untilText = (page, selector, text) =>
  until(page, (where, wanted) => [...document.querySelectorAll(where)].some((element) => element.textContent.includes(wanted)), selector, text);

/** Waits for an element and acts on it in the same step: `click` or `focus`. `which` is a number, "last", or a text in it.
 * A click may lead to another page: so this looks by itself, as `until` would look there again. */
export const act = (page, selector, which, action = "click") => eventually(async () => {
  const isDone = await page.evaluate((where, one, how) => {
    const all = [...document.querySelectorAll(where)];
    const found = one === "last" ? all.at(-1) : typeof one === "number" ? all[one] : all.find((element) => element.textContent.includes(one));
    if (!found) return false;
    found[how]();
    return how !== "focus" || document.activeElement === found;
  }, selector, which, action);
  if (!isDone) throw new Error(`no ${action} on ${selector}, ${which}; the page: ${await page.evaluate(describePage)}`);
});

/** Waits until a property of the first such element has this value. */
export async function untilValue(page, selector, property, expected) {
  await until(page, (where, name, value) => document.querySelector(where)[name] === value, selector, property, expected);
}

/** Clicks the element with this text. */
export const clickText = (page, selector, text) => act(page, selector, text);

/** Writes into the composer and sends. */
export async function compose(page, text) {
  await page.waitForSelector(".composer .editor__text", { visible: true });
  await act(page, ".composer .editor__text", 0, "focus");
  await page.keyboard.type(text);
  await press(page, "Control+Enter");
}

/** Presses keys together, as in `Control+k`. */
export async function press(page, keys) {
  const [key, ...held] = keys.split("+").toReversed();
  for (const one of held.toReversed()) await page.keyboard.down(one);
  await page.keyboard.press(key);
  for (const one of held) await page.keyboard.up(one);
}

/** Finds the element of a field by the text of its label. */
export const fieldSelector = async (page, label) => {
  const id = await until(page, (wanted) => {
    const { control } = [...document.querySelectorAll("label")].findLast((element) => element.textContent.trim() === wanted);
    control.id ||= `test-${Math.random().toString(36).slice(2)}`;
    return control.id;
  }, label);
  return `[id="${await id.jsonValue()}"]`;
};

/** Acts on the field with this label. A form may be drawn anew after the field in it is found. */
const withField = (page, label, run) => eventually(async () => run(await fieldSelector(page, label)));

/** Writes into the field with this label. */
export const fillIn = (page, label, text) =>
  withField(page, label, async (selector) => {
    await page.$eval(selector, (control) => {
      control.value = "";
      control.focus();
    });
    await page.keyboard.type(text);
  });

/** Chooses the option with this value in the field with this label. */
export const choose = (page, label, value) => withField(page, label, (selector) => page.select(selector, String(value)));

/** Types into the field with this label, and takes the choice with this text. */
export async function chooseFrom(page, label, text, choice) {
  await fillIn(page, label, text);
  await untilText(page, ".completions:not([hidden]) .completion__label", choice);
  await page.keyboard.press("Enter");
}

/** Clicks the button with this name. */
export const clickButton = (page, name) => act(page, `[aria-label="${name}"]`, 0);

/** Counts the elements that are put into the page while something happens. */
export async function drawn(page, selector, run) {
  await page.evaluate((where) => {
    window.__drawn = 0;
    window.__observer = new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) if (node instanceof Element) window.__drawn += 1 + node.querySelectorAll("*").length;
    });
    window.__observer.observe(document.querySelector(where), { childList: true, subtree: true });
  }, selector);
  await run();
  // What follows in later frames counts as well.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  return page.evaluate(() => {
    window.__observer.disconnect();
    return window.__drawn;
  });
}

/** Repeats a check until it passes. */
export async function eventually(check) {
  const end = Date.now() + TIMEOUT;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A program with the package `zulip` that takes part as somebody: see participant.py. */
export async function startParticipant(server, name) {
  const { email, api_key } = server.accounts[name];
  const child = spawn(PYTHON, [fileURLToPath(new URL("participant.py", import.meta.url)), email, api_key, server.url], { stdio: ["pipe", "pipe", "inherit"], env: { ...ENVIRONMENT, PYTHONDONTWRITEBYTECODE: "1" } });
  const results = [];
  const messages = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { result, message } = JSON.parse(line);
    if (message) messages.push(message);
    else results.push(result);
  });
  const nextResult = () => eventually(() => {
    assert.ok(results.length > 0, `${name} does not answer`);
    return results.shift();
  });
  await nextResult();
  return {
    /** Calls a method of `zulip.Client`. */
    async call(method, ...args) {
      child.stdin.write(`${JSON.stringify([method, ...args])}\n`);
      const result = await nextResult();
      assert.equal(result.result, "success", `${method}: ${JSON.stringify(result)}`);
      return result;
    },
    /** Waits for a message with this text. */
    hears: (text) => eventually(() => {
      const found = messages.find(({ content }) => content.includes(text));
      assert.ok(found, `${name} does not hear ${text}`);
      return found;
    }),
    stop: () => child.kill(),
  };
}

/** A server with three people in two channels, or with fixtures, and a browser, for the tests of a file. After each test its
 * pages are closed; they must not have complained, nor asked another server for anything. */
export function setUp({ args, fixtures } = {}) {
  let pages = [];
  let closeBrowser;
  const bench = {
    server: null,
    browser: null,
    /** A page that nobody is logged in to. */
    async open(options) {
      const page = await openPage(bench.browser, bench.server, options);
      pages.push(page);
      return page;
    },
    /** A logged-in page. */
    async as(name, fragment = "", options = {}) {
      const page = await bench.open(options);
      await enter(page, bench.server, name);
      if (fragment) await bench.go(page, fragment);
      return page;
    },
    /** Goes to a fragment. The page hears of it a moment later: a key pressed before would act on the view that is left. */
    go: (page, fragment) => page.evaluate((hash) => new Promise((resolve) => {
      const before = location.hash;
      addEventListener("hashchange", () => resolve(), { once: true });
      location.hash = hash;
      if (location.hash === before) resolve();
    }), fragment),
    /** The fragment of a topic. */
    async at(channel, topic) {
      const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: channel });
      return `#narrow/channel/${id}-${channel}/topic/${topic}`;
    },
  };
  before(async () => {
    if (fixtures) {
      bench.server = await startServer({ args, fixtures });
    } else {
      bench.server = await startServer({ people: [{ name: "Ada", role: "owner" }, { name: "Bob" }, { name: "Cleo" }], args });
      for (const name of ["general", "design"]) await bench.server.channel(name, ["Ada", "Bob", "Cleo"]);
    }
    ({ browser: bench.browser, close: closeBrowser } = await openBrowser());
  });
  after(async () => {
    await closeBrowser?.();
    await bench.server?.close();
  });
  afterEach(async () => {
    if (process.env.TEAMCHAT_SCREENSHOTS) for (const [index, page] of pages.entries()) await page.screenshot({ path: `${process.env.TEAMCHAT_SCREENSHOTS}/last-${index}.png` }).catch(() => {});
    const problems = pages.flatMap((page) => page.problems);
    for (const page of pages) await page.closeContext();
    pages = [];
    assert.deepEqual(problems, [], "no console errors, and no requests elsewhere");
  });
  return bench;
}

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The violations of WCAG 2.2 AA that axe finds in a page, in short; or those of one rule. */
export async function axeViolations(page, rule) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const runOnly = rule ? { type: "rule", values: [rule] } : { type: "tag", values: WCAG };
  const { violations } = await page.evaluate((only) => window.axe.run(document, { runOnly: only, resultTypes: ["violations"] }), runOnly);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? node.all[0]?.message ?? node.none[0]?.message ?? ""}`).join(" | ")}`);
}

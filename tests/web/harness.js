/** Pages in browsers, and what tests do with them; and a server for them. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { after, afterEach, before } from "node:test";
import puppeteer from "puppeteer-core";
import { applyMode } from "./modes.js";
import { eventually, ROOT, startServer, TIMEOUT } from "./server.js";

export { ENVIRONMENT, eventually, ROOT, startServer } from "./server.js";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Chromium without windows; empty if it is not installed. With windows, a new page takes four times the processor time. */
const CHROMIUM_SHELL = process.env.CHROMIUM_SHELL ?? "";
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

const FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-background-networking"];

/** How long a browser may take to start, and to answer, in milliseconds. */
const START_TIMEOUT = 240_000;

/** Whether the browser is Firefox, which can less of what the protocol for tests has. */
export const IS_FIREFOX = process.env.TEAMCHAT_BROWSER === "firefox";

/** As `seem` has it for Chromium: what fades in has no colours to be judged yet. */
const CALM = { "ui.prefersReducedMotion": 1 };

/** Starts a browser. One without windows neither shows notifications nor installs pages. */
export function launchBrowser({ hasWindows = false } = {}) {
  const times = { timeout: START_TIMEOUT, protocolTimeout: START_TIMEOUT };
  if (IS_FIREFOX) return puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true, extraPrefsFirefox: CALM, ...times });
  const program = hasWindows || !CHROMIUM_SHELL ? { executablePath: CHROMIUM, headless: true } : { executablePath: CHROMIUM_SHELL, headless: "shell" };
  return puppeteer.launch({ ...program, args: FLAGS, ...times });
}

/** The browser that the files of a run share, or one for this file. Of a shared one, only the contexts of this file are seen. */
async function openBrowser(hasWindows) {
  const browserWSEndpoint = process.env.TEAMCHAT_BROWSER_ENDPOINT;
  if (!browserWSEndpoint || hasWindows) {
    const browser = await launchBrowser({ hasWindows });
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
  // The icon with the count is a blob, which a reload discards.
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
  await page.evaluateOnNewDocument(noteToasts);
  await applyMode(page);
  return Object.assign(page, { problems, expected, closeContext: () => context.close() });
}

export async function logIn(page, server, name, fragment = "") {
  await page.goto(`${server.url}/${fragment}`);
  await sendLogin(page, server.accounts[name].email);
  await page.waitForSelector(".app");
}

/** Fills in the page for logging in that is shown, and sends it: again if the server was too busy. */
export async function sendLogin(page, email, password = "correct horse") {
  await typeInto(page, "#id_username", email);
  await typeInto(page, "#id_password", password);
  page.expected.push(/503/);
  for (let attempt = 0; attempt < 6; attempt++) {
    const answered = page.waitForResponse((response) => response.request().method() === "POST" && new URL(response.url()).pathname === "/accounts/login/");
    await pressOn(page, "#id_password", "Enter");
    if ((await answered).status() !== 503) return;
    await until(page, () => !document.querySelector("#login_form button").disabled);
  }
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

/** Decides on the requests of a page, also on those that the service worker would make for it. `decide` returns a status and an
 * object to answer with, `true` to hold the request, or nothing to let it pass. */
export async function intercept(page, decide) {
  if (!IS_FIREFOX) await page.setBypassServiceWorker(true);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const decision = decide(request);
    if (Array.isArray(decision)) void request.respond({ status: decision[0], contentType: "application/json", body: JSON.stringify(decision[1]) });
    else if (!decision) void request.continue();
  });
}

/** Holds the requests of a page that match. `matches` gets those that are held as well. Returns them: each has to be continued or aborted. */
export async function hold(page, matches) {
  const held = [];
  await intercept(page, (request) => matches(request, held) && held.push(request) > 0);
  return held;
}

/** Waits until a function of the page returns something true. One that throws, since an element is not there yet, is called
 * again. */
export async function until(page, run, ...args) {
  const calm = new Function("...args", `return (async () => { try { return await (${run})(...args); } catch { return false; } })();`);
  return explained(page, page.waitForFunction(calm, { timeout: TIMEOUT, polling: 50 }, ...args), args);
}

/** Adds to an error what was looked for, and what the page shows. */
const explained = (page, result, args) => result.catch(async (error) => {
  error.message += ` (${args.join(", ")}); the page: ${await page.evaluate(describePage).catch((failure) => failure.message)}`;
  throw error;
});

/** What a page shows when a test gave up: its place, the focus, boxes and words that were said. */
function describePage() {
  const brief = (element) => element && `${element.outerHTML.slice(0, 120)}… ${element.textContent.slice(0, 120)}`;
  const shown = [document.activeElement, ...document.querySelectorAll("dialog, .popover, .toast")];
  return JSON.stringify([location.hash, ...shown.map(brief)]);
}

/** Waits until some element with this text is there. */
export const untilText = (page, selector, text) =>
  until(page, (where, wanted) => [...document.querySelectorAll(where)].some((element) => element.textContent.includes(wanted)), selector, text);

/** Waits until a view, or a dialog and the entry of its list, is there and has all that it asked for. */
export const atRest = (page, words) => until(page, (wanted) => {
  const [title, entry] = wanted.split("|");
  const dialog = document.querySelector("dialog[open]");
  const isOpen = entry === undefined
    ? !dialog && document.querySelector(".header h1").textContent.includes(title)
    : dialog.querySelector("h2").textContent === title && (entry === "" || dialog.querySelector("[aria-current], [aria-selected=true]").textContent === entry);
  return isOpen && ![...document.querySelectorAll(".load-hint, [aria-busy=true]")].some((one) => one.checkVisibility());
}, words);

/** The files with words that the browser keeps for a page, or for a service worker. */
export const keptWords = (context) => context.evaluate(async () => {
  const kept = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
  return kept.flat().map(({ url }) => url.split("/words/")[1]).filter(Boolean);
});

/** Notes the short messages of a page. They go after seconds, before a slow machine has looked. */
export function noteToasts() {
  window.toasts = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element && node.matches(".toast")) window.toasts.push(node);
  }).observe(document, { childList: true, subtree: true });
}

/** Waits for a short message with this text, that no test has waited for yet; and clicks a button of it. */
export const untilToast = (page, text, label = "") => until(page, (wanted, name) => {
  const buttonOf = (toast) => [...toast.querySelectorAll("button")].find((button) => button.textContent.includes(name));
  const at = window.toasts.findIndex((toast) => toast.textContent.includes(wanted) && buttonOf(toast));
  if (at < 0) return false;
  const [toast] = window.toasts.splice(at, 1);
  if (name) buttonOf(toast).click();
  return true;
}, text, label);

/** Clicks a button of such a message. */
export const clickToast = (page, label, text = "") => untilToast(page, text, label);

/** Waits for an element and acts on it in the same step: `click` or `focus`. `which` is a number, "last", or a text in it. */
export const act = (page, selector, which, action = "click") => onElements(page, selector, (all, one, how) => {
  const found = one === "last" ? all.at(-1) : typeof one === "number" ? all[one] : all.find((element) => element.textContent.includes(one));
  // A disabled control does nothing, and an element below a dialog cannot be clicked. The close event of a dialog comes in the next frame:
  // until then the dialog is in the document, and the button that opened it does nothing.
  const dialog = [...document.querySelectorAll(":modal")].at(-1);
  if (!found || found.disabled || document.querySelector("dialog:not([open])") || (dialog && !dialog.contains(found) && !found.closest("[popover]"))) throw new Error(`no ${how} on ${one}`);
  found[how]();
  if (how === "focus" && document.activeElement !== found) throw new Error(`${one} does not take the focus`);
}, which, action);

/** Clicks the element with this text. */
export const clickText = (page, selector, text) => act(page, selector, text);

/** Writes into the composer. */
export async function write(page, text) {
  await page.waitForSelector(".composer .editor__text", { visible: true });
  await typeInto(page, ".composer .editor__text", text);
}

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

/** Where `reader` looks for what a selector names. */
const FIRST = "document.querySelector(where)";
const ALL = "[...document.querySelectorAll(where)]";
const FIELD = '[...document.querySelectorAll("label")].findLast((label) => label.textContent.trim() === where)?.control';

/** A function of the page that finds something and runs a function with it in the same step: nothing is drawn in between. It
 * returns null if there is nothing. */
const reader = (find, run) => new Function("where", "args", `return (async () => {
  const found = ${find};
  return found ? { value: await (${run})(found, ...args) } : null;
})();`);

/** Runs a function with what is found. One that throws, since something is not there yet, runs again. A click may lead to another
 * page: so this looks by itself, as `until` would look there again. */
const onFound = (find) => (page, where, run, ...args) => explained(page, eventually(async () => {
  const found = await page.evaluate(reader(find, run), where, args);
  assert.ok(found, `the page has no ${where}`);
  return found.value;
}), [where, ...args]);

/** Waits for an element, and reads something of it, or changes it, in the same step. */
export const onElement = onFound(FIRST);

/** Reads or changes all elements, of which there may be none, in the step that finds them. */
export const onElements = onFound(ALL);

/** Reads or changes the field with this label. A form may be drawn again at any time. */
export const onField = onFound(FIELD);

const untilRead = (find) => (page, where, read, expected, ...args) =>
  eventually(async () => assert.deepEqual(await page.evaluate(reader(find, read), where, args), { value: expected }));

/** Waits until what is read of an element has this value. Names what it found when it gives up. */
export const untilEqual = untilRead(FIRST);

/** The same for all elements, as a list. */
export const untilAllEqual = untilRead(ALL);

/** How many elements there are at this moment. */
export const countOf = (page, selector) => page.evaluate((where) => document.querySelectorAll(where).length, selector);

/** Waits until an element is the same after two frames, and answers what is read of it then. */
export const untilStable = (page, selector, read) => onElement(page, selector, new Function("element", `return (async () => {
  // Pages in the background have no frames.
  const frame = () => Promise.race([new Promise(requestAnimationFrame), new Promise((next) => setTimeout(next, 100))]).then(() => new Promise((next) => setTimeout(next)));
  const look = () => JSON.stringify((${read})(element));
  for (let [before, frames] = [look(), 0]; ; ) {
    await frame();
    const now = look();
    frames = now === before ? frames + 1 : 0;
    before = now;
    if (frames === 2) return JSON.parse(now);
  }
})();`));

/** Waits by the timers of the page: those that it has set for less run before. */
export const pagePause = (page, milliseconds) => page.evaluate((time) => new Promise((resolve) => setTimeout(resolve, time)), milliseconds);

/** Clicks the first of the elements. */
export const click = (page, selector) => act(page, selector, 0);

/** Clicks with the mouse, which gives the focus as well. A row that is drawn again meanwhile loses the click: use `click` there. */
export const clickWithMouse = (page, selector) => page.locator(selector).click();

/** Moves the mouse over an element. */
export const hoverOver = (page, selector) => page.locator(selector).hover();

/** Waits for an element that takes the focus, and gives it. On `body`, nothing has the focus. */
export const focusOn = (page, selector) => until(page, (where) => {
  const element = document.querySelector(where);
  if (element === document.body) document.activeElement.blur();
  else element.focus();
  return document.activeElement === element;
}, selector);

/** Waits until an element has the focus, for what is typed next. */
export const untilFocus = (page, selector) => until(page, (where) => document.activeElement.matches(where), selector);

/** Presses a key on an element. If the focus has gone elsewhere meanwhile, the page does not get the key, and it is pressed again. */
export const pressOn = (page, selector, key) => eventually(async () => {
  await focusOn(page, selector);
  await page.evaluate((where) => {
    window.__pressed = false;
    addEventListener("keydown", (event) => {
      window.__pressed = event.target === document.querySelector(where);
      if (window.__pressed) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, { capture: true, once: true });
  }, selector);
  await page.keyboard.press(key);
  // A key may lead to another page, which knows of none.
  assert.ok((await page.evaluate(() => window.__pressed).catch(() => true)) !== false, `${selector} did not get the key`);
});

/** Types into an element. */
export async function typeInto(page, selector, text) {
  await focusOn(page, selector);
  await page.keyboard.type(text);
}

/** Gives a control another value, as by hand. A list has to have it. */
function changeValue(control, value) {
  control.value = value;
  if (control.value !== value) throw new Error(`there is no ${value}`);
  for (const type of ["input", "change"]) control.dispatchEvent(new Event(type, { bubbles: true }));
}

/** Chooses the option with this value. */
export const selectIn = (page, selector, value) => onElement(page, selector, changeValue, value);

/** Writes into the field with this label: again if the form was drawn again meanwhile. */
export const fillIn = (page, label, text) =>
  eventually(async () => {
    await onField(page, label, (control) => {
      control.value = "";
      control.focus();
    });
    await page.keyboard.type(text);
    assert.equal(await onField(page, label, (control) => control.value), text);
  });

/** Chooses the option with this value in the field with this label. */
export const choose = (page, label, value) => onField(page, label, changeValue, String(value));

/** Types into the field with this label, and takes the choice with this text. */
export async function chooseFrom(page, label, text, choice) {
  await fillIn(page, label, text);
  await untilText(page, ".completions:not([hidden]) .completion__label", choice);
  await page.keyboard.press("Enter");
}

/** Clicks the button with this name. */
export const clickButton = (page, name) => click(page, `[aria-label="${name}"]`);

/** Lets a page poll at once, as when the connection comes back. It may be loading again, since its session has ended. */
export async function wake(page) {
  try {
    await page.evaluate(() => dispatchEvent(new Event("online")));
  } catch (error) {
    if (!error.message.includes("Execution context was destroyed")) throw error;
  }
}

/** Lets a page believe that it is hidden. */
export const hide = (page) => page.evaluate(() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
});

/** Counts the elements that are put into the page while something happens. */
export async function drawn(page, selector, run) {
  await onElement(page, selector, (element) => {
    window.__drawn = 0;
    window.__observer = new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) if (node instanceof Element) window.__drawn += 1 + node.querySelectorAll("*").length;
    });
    window.__observer.observe(element, { childList: true, subtree: true });
  });
  await run();
  // What follows in later frames counts as well.
  await pagePause(page, 400);
  return page.evaluate(() => {
    window.__observer.disconnect();
    return window.__drawn;
  });
}

/** Saves a picture of each tab of a test that failed, and prints its path and the URL. */
async function savePictures(test, pages) {
  const folder = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, "target"), "web");
  mkdirSync(folder, { recursive: true });
  const name = `${basename(process.argv[1], ".test.js")}-${test.fullName}`.replace(/[^\w-]+/g, "-").slice(0, 200);
  const tabs = await Promise.all(pages.map((page) => page.browserContext().pages()));
  for (const [index, tab] of tabs.flat().entries()) {
    const path = join(folder, `${name}-${index + 1}.png`);
    await tab.screenshot({ path });
    console.log(`picture of ${tab.url()}: ${path}`);
  }
}

/** A server with three people in two channels, or with fixtures, and a browser, with windows or not, for the tests of a file. After each test its
 * pages are closed; they must not have complained, nor asked another server for anything. */
export function setUp({ args, fixtures, hasWindows = false } = {}) {
  let pages = [];
  let closeBrowser;
  const bench = {
    server: null,
    browser: null,
    /** A page without a session. */
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
    /** Goes to a fragment, and waits for the change: a key pressed before would act on the previous view. */
    go: (page, fragment) => page.evaluate((hash) => new Promise((resolve) => {
      const before = location.hash;
      addEventListener("hashchange", () => resolve(), { once: true });
      location.hash = hash;
      if (location.hash === before) resolve();
    }), fragment),
    /** Stops the server: pages fail to reach it from now on. */
    async stop() {
      for (const page of pages) page.expected.push(/ERR_|Failed to fetch|NetworkError|status of 503/);
      await bench.server.stop();
    },
    /** Starts the server again, and lets all pages poll at once: by themselves they wait for half a minute at most. */
    async start() {
      await bench.server.start();
      for (const page of pages) for (const tab of await page.browserContext().pages()) await wake(tab);
    },
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
    ({ browser: bench.browser, close: closeBrowser } = await openBrowser(hasWindows));
  });
  after(async () => {
    await closeBrowser?.();
    await bench.server?.close();
  });
  afterEach(async (test) => {
    const problems = pages.flatMap((page) => page.problems);
    if (test.passed === false || problems.length > 0) await savePictures(test, pages).catch((error) => console.log(`no picture: ${error.message}`));
    for (const page of pages) await page.closeContext();
    pages = [];
    assert.deepEqual(problems, [], "no console errors, and no requests elsewhere");
  });
  return bench;
}

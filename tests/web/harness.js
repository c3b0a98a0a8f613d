/** A server on a file of its own, people in it, and browsers. */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve as absolute } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BINARY = absolute(process.env.TEAMCHAT_BINARY ?? join(ROOT, "target/release/teamchat"));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** How long a server may take to listen, in milliseconds. */
const START_TIMEOUT = 60_000;

/** The environment of the server: options of the shell in which the tests run do not apply to it. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TEAMCHAT_")));

/** Starts a server; `people` are accounts with the password `correct horse`. */
export async function startServer({ people = [], args = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "teamchat-web-"));
  const db = join(folder, "chat.sqlite");
  const accounts = {};
  for (const { name, role = "member" } of people) {
    const email = `${name.toLowerCase()}@example.com`;
    const out = execFileSync(BINARY, ["user", "create", "--db", db, "--email", email, "--full-name", name, "--role", role, "--password-stdin", "--json"], { input: "correct horse\n", env: ENVIRONMENT });
    accounts[name] = JSON.parse(out);
  }
  let child;
  let url = "";
  const launch = async (listen) => {
    child = spawn(BINARY, ["serve", "--db", db, "--listen", listen, ...(process.env.TEAMCHAT_WEB_DIR ? ["--web-dir", process.env.TEAMCHAT_WEB_DIR] : []), ...args], { stdio: ["ignore", "pipe", "inherit"], env: ENVIRONMENT });
    url = await new Promise((resolve, reject) => {
      let text = "";
      const timer = setTimeout(() => reject(new Error(`the server does not say where it listens: ${text}`)), START_TIMEOUT);
      timer.unref();
      child.stdout.on("data", (data) => {
        text += data;
        const found = /listening\s+(?:\x1b\[\d+m)?(http:\S+?)(?:\x1b|\s)/.exec(text);
        if (found) resolve(found[1]);
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

export const launchBrowser = () => puppeteer.launch({ executablePath: CHROMIUM, headless: true, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });

/** A page in a context of its own. What it complains of, and what it asks other servers for, is collected in `problems`. */
export async function openPage(browser, server, { width = 1440, height = 900, dark = false, touch = false } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width, height, hasTouch: touch, isMobile: touch, deviceScaleFactor: 1 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }]);
  const problems = [];
  const expected = [];
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
  return Object.assign(page, { problems, expected, closeContext: () => context.close() });
}

export async function logIn(page, server, name, fragment = "") {
  await page.goto(`${server.url}/${fragment}`);
  await page.waitForSelector("#id_username");
  await page.type("#id_username", server.accounts[name].email);
  await page.type("#id_password", "correct horse");
  await Promise.all([page.waitForSelector(".app"), page.keyboard.press("Enter")]);
}

/** Waits until a function of the page answers something true. */
export const until = (page, run, ...args) => page.waitForFunction(run, { timeout: 15_000, polling: 50 }, ...args);

/** Waits until some element with this text is there. */
export const untilText = (page, selector, text) =>
  until(page, (where, wanted) => [...document.querySelectorAll(where)].some((element) => element.textContent.includes(wanted)), selector, text);

/** Clicks the element with this text. */
export async function clickText(page, selector, text) {
  await untilText(page, selector, text);
  await page.evaluate((where, wanted) => [...document.querySelectorAll(where)].find((element) => element.textContent.includes(wanted)).click(), selector, text);
}

/** Writes into the composer and sends. */
export async function compose(page, text) {
  await page.waitForSelector(".composer .editor__text", { visible: true });
  await page.focus(".composer .editor__text");
  await page.type(".composer .editor__text", text);
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
}

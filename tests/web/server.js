/** A server on a file of its own, and people in it. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve as absolute } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BINARY = absolute(process.env.TEAMCHAT_BINARY ?? join(ROOT, "target/release/teamchat"));

/** How long a test waits for what must come, in milliseconds. It is longer than each pause of the client, and costs nothing
 * where tests pass. */
export const TIMEOUT = Number(process.env.TEAMCHAT_TEST_TIMEOUT ?? 180) * 1000;

/** The next port of a server. Systems give those from 32768 on to anyone who asks for some port: with one of them, the server of another
 * file could answer the pages of a server that is stopped, and log them out. */
let nextPort = 11_000 + (process.pid % 2000) * 10;

/** The environment of the server: options of the shell in which the tests run do not apply to it. */
export const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TEAMCHAT_")));

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
  await eventually(() => launch(`127.0.0.1:${nextPort++}`));
  process.on("exit", () => child.kill("SIGKILL"));
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => process.exit(1));
  const server = {
    accounts,
    get url() {
      return url;
    },
    stop,
    /** Starts it again, on its port. */
    start: () => eventually(() => launch(new URL(url).host)),
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
    /** A request of a user over the interface. */
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
    /** Runs a command of the program on the file of the server, and returns what it prints. */
    run: (...words) => execFileSync(BINARY, [...words, "--db", db], { env: ENVIRONMENT, encoding: "utf8" }),
    /** An account of its own, for a test that changes it. */
    async person(name) {
      const email = `${name.toLowerCase()}@example.com`;
      const login = { username: email, password: "correct horse" };
      const { user_id } = await server.call("Ada", "POST", "/users", { email, full_name: name, password: login.password });
      const { api_key } = await eventually(async () => {
        const response = await fetch(`${url}/api/v1/fetch_api_key`, { method: "POST", body: new URLSearchParams(login) });
        assert.equal(response.status, 200);
        return response.json();
      });
      accounts[name] = { email, user_id, api_key };
      return user_id;
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

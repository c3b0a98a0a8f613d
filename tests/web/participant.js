/** A program that takes part in conversations. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ENVIRONMENT, eventually, ROOT } from "./harness.js";

const PYTHON = process.env.TEAMCHAT_PYTHON ?? join(ROOT, "target/clients/python/bin/python");

/** A program with the package `zulip` that acts as a user: see participant.py. */
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

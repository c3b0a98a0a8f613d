/** Runs the files of browser tests, some side by side in one browser: `node browsers.js FILE...`. Each file has contexts, a
 * server and a database of its own. Firefox serves one program at a time: there each file has a browser of its own, one after
 * the other.
 *
 * A file that fails runs once more, alone. Tests that then pass are named as flaky, also in the file that TEAMCHAT_FLAKY
 * names. With TEAMCHAT_RETRY=0 nothing runs again. */

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { IS_FIREFOX, launchBrowser } from "./harness.js";

/** How many files run side by side: they wait for the server and for frames half of the time. */
const CONCURRENCY = Number(process.env.TEAMCHAT_WEB_JOBS ?? (IS_FIREFOX ? 1 : 3));

const pattern = process.env.TEAMCHAT_WEB_TESTS ? [`--test-name-pattern=${process.env.TEAMCHAT_WEB_TESTS}`] : [];

/** Runs one file and prints its output when it ends. Returns whether it passed, and the names of tests that failed. */
const runFile = (file, environment) =>
  new Promise((resolve) => {
    const started = Date.now();
    const tests = spawn(process.execPath, ["--test", ...pattern, file], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
    let output = "";
    for (const stream of [tests.stdout, tests.stderr]) stream.on("data", (data) => { output += data; });
    tests.on("close", (code) => {
      const hasPassed = code === 0;
      process.stdout.write(`${output}=== ${file}: ${hasPassed ? "passed" : "FAILED"} in ${Math.round((Date.now() - started) / 1000)} s\n`);
      // A suite fails with its tests.
      const failed = [...output.matchAll(/^ *not ok \d+ - (.*)\n *---\n *duration_ms.*\n(?! *type: 'suite')/gm)].map(([, name]) => name);
      resolve({ file, hasPassed, failed });
    });
  });

const files = process.argv.slice(2);
const waiting = [...files];
const results = [];
const browser = IS_FIREFOX ? null : await launchBrowser();
const shared = browser ? { TEAMCHAT_BROWSER_ENDPOINT: browser.wsEndpoint() } : {};
const work = async () => {
  for (let file = waiting.shift(); file; file = waiting.shift()) results.push(await runFile(file, shared));
};
await Promise.all(Array.from({ length: CONCURRENCY }, work));
await browser?.close();

const failing = [];
const flaky = [];
for (const { file, failed } of results.filter(({ hasPassed }) => !hasPassed)) {
  const again = process.env.TEAMCHAT_RETRY === "0" ? { hasPassed: false, failed } : await runFile(file, {});
  if (again.hasPassed) flaky.push(...failed.map((name) => `FLAKY ${file}: ${name}`));
  else failing.push({ file, failed: again.failed });
}
for (const line of flaky) console.log(line);
if (process.env.TEAMCHAT_FLAKY) appendFileSync(process.env.TEAMCHAT_FLAKY, flaky.map((line) => `${line}\n`).join(""));
for (const { file, failed } of failing) for (const name of failed.length > 0 ? failed : ["the whole file"]) console.log(`FAILED ${file}: ${name}`);
console.log(`${files.length - failing.length} passed, ${failing.length} failed`);
process.exit(failing.length > 0 ? 1 : 0);

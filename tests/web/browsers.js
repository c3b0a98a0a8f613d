/** Runs the files of browser tests: `node browsers.js FILE...`. A file that fails runs once more; tests that then pass are
 * named as flaky, also in the file that TEAMCHAT_FLAKY names. */

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

/** Runs one file. Returns whether it passed, and the names of tests that failed. */
const runFile = (file) =>
  new Promise((resolve) => {
    const tests = spawn(process.execPath, ["--test", file], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    tests.stdout.on("data", (data) => {
      output += data;
      process.stdout.write(data);
    });
    tests.on("close", (code) => {
      // A suite fails with its tests.
      const failed = [...output.matchAll(/^ *not ok \d+ - (.*)\n *---\n *duration_ms.*\n(?! *type: 'suite')/gm)].map(([, name]) => name);
      resolve({ hasPassed: code === 0, failed });
    });
  });

const failing = [];
const flaky = [];
for (const file of process.argv.slice(2)) {
  console.log(`=== ${file}`);
  const first = await runFile(file);
  if (first.hasPassed) continue;
  console.log(`=== ${file} failed, and runs once more`);
  const second = await runFile(file);
  if (second.hasPassed) flaky.push(...first.failed.map((name) => `${file}: ${name}`));
  else failing.push(file);
}
for (const name of flaky) console.log(`FLAKY ${name}`);
if (process.env.TEAMCHAT_FLAKY) appendFileSync(process.env.TEAMCHAT_FLAKY, flaky.map((name) => `FLAKY ${name}\n`).join(""));
for (const file of failing) console.log(`FAILED ${file}`);
process.exit(failing.length > 0 ? 1 : 0);

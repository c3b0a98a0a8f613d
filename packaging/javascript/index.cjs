// A real chat server inside a test, for clients and bots of the Zulip API. CommonJS, which `require` and Jest need;
// index.js is the same for `import`.

'use strict';

const { execFile, spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const { mkdtemp, readFile, rm, writeFile } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createInterface } = require('node:readline');
const { promisify } = require('node:util');
const { version } = require('./package.json');

/** The program: $TEAMCHAT_BINARY, the one in this package, or that of $PATH. */
function defaultBinary() {
  const own = join(__dirname, 'bin', `${process.platform}-${process.arch}`, 'teamchat');
  return process.env.TEAMCHAT_BINARY ?? (existsSync(own) ? own : 'teamchat');
}

/** The server refused a request or did not start; the message has the reason. */
class ControlError extends Error {}

/** The default users and channels of a server. */
async function sampleFixtures(binary = defaultBinary()) {
  try {
    const { stdout } = await promisify(execFile)(binary, ['fixtures', 'sample']);
    return JSON.parse(stdout);
  } catch (error) {
    throw notStarted(error, binary);
  }
}

/** The error of a program that could not be started. */
function notStarted(error, binary) {
  if (error.code === 'ENOENT') return new ControlError(`there is no ${binary}; set TEAMCHAT_BINARY to the program`);
  return new ControlError(`the server did not start: ${error.message}`);
}

/** Warns if the program is not that of the release of this package. */
function checkVersion(ready, binary) {
  if (ready.version === version) return;
  const program = ready.version ?? 'of an earlier version';
  process.emitWarning(`teamchat-testing ${version} runs ${binary}, which is teamchat ${program}: use those of the same release`);
}

/** The final error of the program, without its log. */
function refusal(printed) {
  return printed.slice(Math.max(printed.lastIndexOf('error: '), 0)).trim();
}

/** Replaces the line number of a temporary file by the text of the line. */
function withLines(text, file, lines) {
  const [before, after] = text.split(`${file}: `);
  if (after === undefined) return text;
  const [, number, what] = /^(?:line (\d+): )?([^]*)$/.exec(after);
  const line = lines[number - 1]?.trim().replace(/,$/, '');
  return `${before}the fixtures${line ? `, at ${line}` : ''}: ${what}`;
}

/** The programs that run. */
const running = new Set();

function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

/** Kills a program when this process ends: a test that forgets the server must not leave it running. */
function killAtExit(child) {
  if (!running.size) process.on('exit', killAll);
  running.add(child);
  child.once('close', () => {
    running.delete(child);
    if (!running.size) process.off('exit', killAll);
  });
}

/** Parses a file of JSON, which may begin with a byte order mark. */
async function parseFile(path) {
  const bytes = await readFile(path);
  const encoding = { 0xfffe: 'utf-16le', 0xfeff: 'utf-16be' }[(bytes[0] << 8) | bytes[1]] ?? 'utf-8';
  return JSON.parse(new TextDecoder(encoding).decode(bytes));
}

/** A server on a free port of this machine. */
class TestServer {
  #process;

  constructor(process, ready, fixtures) {
    this.#process = process;
    this.fixtures = fixtures;
    this.url = ready.url;
    this.testControlUrl = ready.test_control_url;
  }

  /** Starts a server with fixtures: an object, or the path of a file. The server is ready when this resolves. */
  static async start(fixtures, { binary = defaultBinary(), flags = [] } = {}) {
    // The program reads a file itself, so that its errors name the file and the line.
    const given = typeof fixtures === 'string' ? fixtures : undefined;
    if (!given) fixtures ??= await sampleFixtures(binary);
    const folder = await mkdtemp(join(tmpdir(), 'teamchat-fixtures-'));
    try {
      const written = given ? '' : JSON.stringify(fixtures, null, 1);
      const file = given ?? join(folder, 'fixtures.json');
      if (!given) await writeFile(file, written);
      const environment = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !name.startsWith('TEAMCHAT_')),
      );
      const child = spawn(
        binary,
        ['serve', '--ephemeral', '--fixtures', file, '--json', '--listen', '127.0.0.1:0', '--test-control', '127.0.0.1:0', ...flags],
        { stdio: ['ignore', 'pipe', 'pipe'], env: environment },
      );
      killAtExit(child);
      let errors = '';
      child.stderr.on('data', (text) => { errors += text; });
      const line = await new Promise((resolve, reject) => {
        child.once('error', (error) => reject(notStarted(error, binary)));
        child.once('close', () => {
          const text = given ? refusal(errors) : withLines(refusal(errors), file, written.split('\n'));
          reject(new ControlError(`the server did not start: ${text}`));
        });
        createInterface({ input: child.stdout }).once('line', resolve);
      });
      // A test that forgets the server must not wait for it.
      child.unref();
      child.stdout.unref?.();
      child.stderr.unref?.();
      try {
        if (given) fixtures = await parseFile(given);
        const ready = JSON.parse(line);
        checkVersion(ready, binary);
        return new TestServer(child, ready, fixtures);
      } catch (error) {
        child.kill('SIGKILL');
        throw error;
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Stops the server and deletes its data. */
  async stop() {
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => {
      child.once('close', resolve);
      child.ref();
      child.kill('SIGKILL');
    });
  }

  /** A user of the fixtures, by email. */
  user(email) {
    const user = this.fixtures.users?.find((one) => one.email.toLowerCase() === email.toLowerCase());
    if (!user) throw new ControlError(`no user has the email '${email}'`);
    return user;
  }

  /** Sends a request to the control, as described in docs/testing.md. */
  async control(method, path, body) {
    let response;
    try {
      response = await fetch(this.testControlUrl + path, { method, body: body && JSON.stringify(body) });
    } catch (error) {
      const code = this.#process.signalCode ?? this.#process.exitCode;
      const ended = code === null ? '' : `; the program ended with ${code}`;
      throw new ControlError(`the server does not answer: ${error.cause?.message ?? error.message}${ended}`);
    }
    const answer = await response.json();
    if (!response.ok) throw new ControlError(answer.msg);
    return answer;
  }

  /** The requests so far; with `wait`, resolves once that many match, or to fewer after `timeout` seconds. */
  async requests(filter = {}) {
    const given = Object.entries(filter).filter(([, value]) => value !== undefined);
    return (await this.control('GET', `/requests?${new URLSearchParams(given)}`)).requests;
  }

  async clearRequests() { await this.control('DELETE', '/requests'); }

  /** `now`, `timestamp` and `frozen`. */
  clock() { return this.control('GET', '/clock'); }

  /** Sets, advances, freezes or resumes the clock: `{ now, advance, frozen }`. */
  setClock(change) { return this.control('PUT', '/clock', change); }

  /** Adds a fault. */
  async fault(fault) { await this.control('POST', '/faults', fault); }

  /** The faults that are left. `fired` is the number of requests that each has affected. */
  async faults() { return (await this.control('GET', '/faults')).faults; }

  async clearFaults() { await this.control('DELETE', '/faults'); }

  /** Expires the event queues of a user, or all. Resolves to their number. */
  async expireQueues(user) { return (await this.control('POST', '/queues/expire', user ? { user } : {})).expired; }

  /** Emulates an older server. */
  async setLevel(featureLevel, version) {
    await this.control('PUT', '/level', { feature_level: featureLevel, ...(version && { version }) });
  }

  /** Makes the present data, and a clock that was set, what `reset` restores. */
  async snapshot() { await this.control('POST', '/snapshot'); }

  /** Restores the fixtures, or the snapshot, in milliseconds. */
  async reset() { await this.control('POST', '/reset'); }

  /** Restarts the server at the same URL, with the same data: `{ abrupt, down }`. */
  async restart(how = {}) { await this.control('POST', '/restart', how); }

  /** Acts as a user: `{ channel, topic, content }`, `{ react, message }`, `{ typing, to }`, or any endpoint. */
  act(user, what) { return this.control('POST', '/act', { user, ...what }); }
}

module.exports = { ControlError, TestServer, sampleFixtures };

// A real chat server inside a test, for clients and bots of the Zulip API.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const defaultBinary = () => process.env.TEAMCHAT_BINARY ?? 'teamchat';

/** The server refused what it was asked for, or did not start; the message says why. */
export class ControlError extends Error {}

/** The people and channels that a server starts with if nothing else is given. */
export async function sampleFixtures(binary = defaultBinary()) {
  const { stdout } = await promisify(execFile)(binary, ['fixtures', 'sample']);
  return JSON.parse(stdout);
}

/** A server on a free port of this machine. */
export class TestServer {
  #process;

  constructor(process, ready, fixtures) {
    this.#process = process;
    this.fixtures = fixtures;
    this.url = ready.url;
    this.testControlUrl = ready.test_control_url;
  }

  /** Starts a server with fixtures: an object, or the path of a file. It answers when this resolves. */
  static async start(fixtures, { binary = defaultBinary(), flags = [] } = {}) {
    if (typeof fixtures === 'string') fixtures = JSON.parse(await readFile(fixtures, 'utf8'));
    fixtures ??= await sampleFixtures(binary);
    const folder = await mkdtemp(join(tmpdir(), 'teamchat-fixtures-'));
    try {
      const file = join(folder, 'fixtures.json');
      await writeFile(file, JSON.stringify(fixtures, null, 1));
      const environment = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !name.startsWith('TEAMCHAT_')),
      );
      const child = spawn(
        binary,
        ['serve', '--ephemeral', '--fixtures', file, '--json', '--listen', '127.0.0.1:0', '--test-control', '127.0.0.1:0', ...flags],
        { stdio: ['ignore', 'pipe', 'pipe'], env: environment },
      );
      let errors = '';
      child.stderr.on('data', (text) => { errors += text; });
      const line = await new Promise((resolve, reject) => {
        child.once('error', (error) => reject(new ControlError(`the server did not start: ${error.message}`)));
        child.once('close', () => reject(new ControlError(`the server did not start: ${errors.trim()}`)));
        createInterface({ input: child.stdout }).once('line', resolve);
      });
      // A test that forgets the server must not wait for it.
      child.unref();
      child.stdout.unref?.();
      child.stderr.unref?.();
      return new TestServer(child, JSON.parse(line), fixtures);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Ends the server. All its data is gone. */
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
    const user = this.fixtures.users.find((one) => one.email.toLowerCase() === email.toLowerCase());
    if (!user) throw new ControlError(`nobody has the email '${email}'`);
    return user;
  }

  /** Asks the control for anything that docs/testing.md describes. */
  async control(method, path, body) {
    const response = await fetch(this.testControlUrl + path, { method, body: body && JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new ControlError(answer.msg);
    return answer;
  }

  /** The requests so far; with `wait`, once so many match, or after `timeout` seconds. */
  async requests(filter = {}) {
    const given = Object.entries(filter).filter(([, value]) => value !== undefined);
    return (await this.control('GET', `/requests?${new URLSearchParams(given)}`)).requests;
  }

  async clearRequests() { await this.control('DELETE', '/requests'); }

  /** `now`, `timestamp` and `frozen`. */
  clock() { return this.control('GET', '/clock'); }

  /** Sets, moves, stops or starts the clock: `{ now, advance, frozen }`. */
  setClock(change) { return this.control('PUT', '/clock', change); }

  /** Orders a fault. */
  async fault(fault) { await this.control('POST', '/faults', fault); }

  async clearFaults() { await this.control('DELETE', '/faults'); }

  /** Expires the event queues of a user, or all. Resolves to how many. */
  async expireQueues(user) { return (await this.control('POST', '/queues/expire', user ? { user } : {})).expired; }

  /** Poses as an older server. */
  async setLevel(featureLevel, version) {
    await this.control('PUT', '/level', { feature_level: featureLevel, ...(version && { version }) });
  }

  /** Goes back to the fixtures, in milliseconds. */
  async reset() { await this.control('POST', '/reset'); }

  /** Stops and starts again at the same URL, with the same data: `{ abrupt, down }`. */
  async restart(how = {}) { await this.control('POST', '/restart', how); }

  /** Lets a user do something: `{ channel, topic, content }`, `{ react, message }`, `{ typing, to }`, or any endpoint. */
  act(user, what) { return this.control('POST', '/act', { user, ...what }); }
}

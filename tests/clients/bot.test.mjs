// A bot of zulip-js and what it has to survive.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { after, beforeEach, test } from 'node:test';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestServer } from 'teamchat-testing';

const zulip = createRequire(`${process.env.CLIENTS_NODE_FOLDER}/`)('zulip-js');
const BOT = 'default-bot@zulip.com';
const HAMLET = 'hamlet@zulip.com';

const server = await TestServer.start();
after(() => server.stop());

/** Answers each message with "echo" in it with the same text, until it is stopped. */
class EchoBot {
  static async start() {
    const { email, api_key } = server.user(BOT);
    const bot = new EchoBot();
    bot.client = await zulip({ username: email, apiKey: api_key, realm: server.url });
    bot.done = bot.run();
    return bot;
  }

  async run() {
    while (!this.stopped) {
      const queue = await this.insist(() => this.client.queues.register({ event_types: ['message'] }));
      let last = queue.last_event_id;
      for (;;) {
        const answer = await this.insist(() => this.client.events.retrieve({ queue_id: queue.queue_id, last_event_id: last }));
        if (this.stopped || answer.code === 'BAD_EVENT_QUEUE_ID') break;
        for (const event of answer.events ?? []) {
          last = event.id;
          const { content = '', sender_email, display_recipient: to, subject: topic } = event.message ?? {};
          if (sender_email === BOT || !content.includes('echo')) continue;
          await this.insist(() => this.client.messages.send({ type: 'stream', to, topic, content: content.replace(/<.*?>/g, '') }));
        }
      }
    }
  }

  /** Tries until the server answers and does not ask to wait. */
  async insist(call) {
    for (;;) {
      try {
        const answer = await call();
        if (answer.code !== 'RATE_LIMIT_HIT') return answer;
        await new Promise((resolve) => setTimeout(resolve, 1000 * answer['retry-after']));
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  async stop() {
    this.stopped = true;
    await server.expireQueues(BOT);
    await this.done;
  }
}

const say = (content) => server.act(HAMLET, { channel: 'Verona', topic: 't', content });
const sent = async (count) => {
  const requests = await server.requests({ path: '/messages', user: BOT, wait: count, timeout: 60 });
  return requests.map(({ form, status }) => [form.content, status]);
};

async function withBot(work) {
  const bot = await EchoBot.start();
  await server.requests({ path: '/events', user: BOT, pending: true, wait: 1, timeout: 60 });
  try {
    await work();
  } finally {
    await bot.stop();
  }
}

beforeEach(() => server.reset());

test('the bot answers, and waits after a rate limit', () => withBot(async () => {
  await server.fault({ path: '/messages', user: BOT, status: 429, headers: { 'Retry-After': '0.01' }, times: 2 });
  await say('echo one');
  assert.deepEqual(await sent(3), [['echo one', 429], ['echo one', 429], ['echo one', 200]]);
  await server.fault({ path: '/mesages', status: 500 });
  assert.deepEqual((await server.faults()).map(({ fired }) => fired), [0]);
}));

test('the bot survives a lost queue', () => withBot(async () => {
  await server.clearRequests();
  assert.equal(await server.expireQueues(BOT), 1);
  await server.requests({ path: '/register', user: BOT, wait: 1, timeout: 60 });
  await say('echo two');
  assert.deepEqual(await sent(1), [['echo two', 200]]);
}));

test('the bot survives a cut connection', () => withBot(async () => {
  // Half an answer would not do: the package waits for the other half for ever.
  await server.fault({ path: '/events', drop: 'answer' });
  await say('echo three');
  assert.deepEqual(await sent(1), [['echo three', 200]]);
}));

test('the bot survives a restart with its queue', () => withBot(async () => {
  await server.clearRequests();
  await server.restart({ abrupt: true, down: 0.2 });
  await say('echo four');
  assert.deepEqual(await sent(1), [['echo four', 200]]);
  assert.deepEqual(await server.requests({ path: '/register', user: BOT }), []);
}));

test('a program of another version is noticed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'teamchat-'));
  const binary = join(folder, 'teamchat');
  const ready = JSON.stringify({ url: '', test_control_url: '', version: '0.0.1' });
  await writeFile(binary, `#!/bin/sh\necho '${ready}'\nexec sleep 60\n`, { mode: 0o755 });
  const warnings = [];
  const note = ({ message }) => warnings.push(message);
  process.on('warning', note);
  await (await TestServer.start({ users: [] }, { binary })).stop();
  await rm(folder, { recursive: true });
  const noticed = /^teamchat-testing [\d.]+ runs .*teamchat, which is teamchat 0\.0\.1: use those of the same release$/;
  assert.equal(warnings.filter((text) => noticed.test(text)).length, 1, warnings.join('\n'));
  await (await TestServer.start()).stop();
  assert.equal(warnings.filter((text) => text.startsWith('teamchat-testing')).length, 1, warnings.join('\n'));
  process.off('warning', note);
});

const isRunning = (url) => fetch(`${url}/api/v1/server_settings`).then(() => true, () => false);

test('a server that is forgotten ends with the program', async () => {
  const script = `import { TestServer } from 'teamchat-testing'; console.log((await TestServer.start({ users: [] })).url);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  assert.match(stdout, /^http:/);
  while (await isRunning(stdout.trim())) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('users who are not in the fixtures are named', async () => {
  const empty = await TestServer.start({});
  assert.throws(() => empty.user('typo@example.com'), /no user has the email 'typo@example.com'/);
  await empty.stop();
});

test('a server that has ended is named', async () => {
  const ended = await TestServer.start({ users: [] });
  await ended.stop();
  await assert.rejects(ended.reset(), /^Error: the server does not answer: .*; the program ended with SIGKILL$/);
});

test('a file may begin with a byte order mark', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'teamchat-'));
  const text = '\ufeff{"users": [{"email": "zoe@example.com", "full_name": "Zo\u00eb", "role": "owner"}]}';
  for (const encoding of ['utf8', 'utf16le']) {
    const file = join(folder, `${encoding}.json`);
    await writeFile(file, text, encoding);
    const one = await TestServer.start(file);
    assert.equal(one.user('zoe@example.com').full_name, 'Zo\u00eb');
    await one.stop();
  }
  await rm(folder, { recursive: true });
});

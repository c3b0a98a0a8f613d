// zulip-js on behalf of conversation.py: one JSON request on each line of standard input, one JSON answer on each line
// of standard output. `{"login": {...}}` logs in; `{"call": "messages.send", "params": {...}}` calls a function of the
// client by its name. Which server, and what is expected, only conversation.py knows.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const zulip = createRequire(`${process.env.CLIENTS_NODE_FOLDER}/`)('zulip-js');

// The package logs to standard output, which is ours.
console.log = console.error;

let client;

async function answer({ login, call, params }) {
  if (login) {
    client = await zulip(login);
    return { api_key: client.config.apiKey };
  }
  const names = call.split('.');
  const owner = names.slice(0, -1).reduce((object, name) => object[name], client);
  return owner[names.at(-1)](params);
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { answer: await answer(JSON.parse(line)) };
  } catch (error) {
    reply = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

// The npm package in Jest, whose modules and globals are its own.
import { TestServer } from 'teamchat-testing';

let server;
let firstId;
beforeAll(async () => { server = await TestServer.start(); });
beforeEach(() => server.reset());
afterAll(() => server.stop());

test.each([1, 2])('every test starts with the same data, time %i', async () => {
  const sent = await server.act('hamlet@zulip.com', { channel: 'Verona', topic: 't', content: 'hello' });
  const { api_key } = server.user('iago@zulip.com');
  const headers = { Authorization: `Basic ${btoa(`iago@zulip.com:${api_key}`)}` };
  const response = await fetch(`${server.url}/api/v1/messages/${sent.id}`, { headers });
  expect((await response.json()).message.content).toBe('<p>hello</p>');
  expect(await server.requests({ path: '/messages/*' })).toMatchObject([{ user: 'iago@zulip.com', status: 200 }]);
  firstId ??= sent.id;
  expect(sent.id).toBe(firstId);
});

// The npm package in Jest as it comes, without a flag of node's: `require`.
const { ControlError, TestServer } = require('teamchat-testing');

test('the package can be required', async () => {
  const server = await TestServer.start();
  expect(server.user('Iago@zulip.com').full_name).toBe('Iago');
  expect(() => server.user('typo@zulip.com')).toThrow("no user has the email 'typo@zulip.com'");
  await server.stop();
});

test('what is wrong is said in the words of who wrote it', async () => {
  const binary = '/nowhere/teamchat';
  await expect(TestServer.start({}, { binary })).rejects.toThrow(ControlError);
  await expect(TestServer.start({}, { binary })).rejects.toThrow(`there is no ${binary}; set TEAMCHAT_BINARY to the program`);
  const wrong = { users: [{ email: 'ada@example.com', fullname: 'Ada', role: 'owner' }] };
  await expect(TestServer.start(wrong)).rejects.toThrow(/^the server did not start: error: the fixtures, at "fullname": "Ada": unknown field/);
});

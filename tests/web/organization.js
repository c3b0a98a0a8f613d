/** An organization of the size of a company, as fixtures: for tests and figures. */

const PEOPLE = 1000;
const CHANNELS = 300;
const MINE = 200;
const DIRECT = 60;
const MESSAGES = 20_000;

/** Most messages are a line; some have formatting, emoji, a quotation or code. @param {number} index */
function contentOf(index) {
  const line = `Message ${index}`;
  if (index % 20 === 7) return `${line}\n\`\`\`js\nconst answer = ${index};\nconsole.log(answer);\n\`\`\``;
  if (index % 11 === 5) return `${line}\n> What was said before\n\n* a point\n* and **another** one`;
  if (index % 3 === 1) return `${line} with a **few** words, \`code\` and a :smile:, and [a link](https://example.com/${index})`;
  return line;
}

/** A thousand people, Ada among them, who is in two hundred of three hundred channels and writes with sixty people. */
export function largeOrganization() {
  const names = ["Ada", "Bob", ...Array.from({ length: PEOPLE - 2 }, (_, index) => `Person ${String(index).padStart(3, "0")}`)];
  const email = (name) => `${name.toLowerCase().replace(" ", ".")}@example.com`;
  const users = names.map((name, index) => ({ email: email(name), full_name: name, role: index === 0 ? "owner" : "member", ...(index < 2 ? { api_key: `${name}-key`, password: "correct horse" } : {}) }));
  const channels = Array.from({ length: CHANNELS }, (_, index) => ({ name: `channel ${String(index).padStart(3, "0")}`, subscribers: [...(index < MINE ? [email("Ada")] : []), email("Bob"), email(names[2 + (index % 998)])] }));
  const messages = [];
  const now = Math.floor(Date.now() / 1000) - MESSAGES;
  for (let index = 0; index < DIRECT; index++) messages.push({ sender: email(names[2 + index]), to: [email("Ada")], content: `Hello from ${index}`, read: index % 2 === 0 });
  for (let index = messages.length; index < MESSAGES; index++) {
    const channel = (index * 7) % CHANNELS;
    messages.push({ sender: index % 3 === 0 ? email("Bob") : channels[channel].subscribers.at(-1), channel: channels[channel].name, topic: Math.floor(index / CHANNELS) % 4 === 0 ? "long run" : `topic ${index % 23}`, content: contentOf(index), read: index < MESSAGES - 1500 });
  }
  for (const [index, message] of messages.entries()) message.date = now + index;
  return { users, channels, messages };
}

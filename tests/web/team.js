/** A small team with a few conversations, for pictures of the client. */

import { startServer } from "./harness.js";

const PEOPLE = [{ name: "Ada", role: "owner" }, { name: "Bob" }, { name: "Cleo" }, { name: "Dmitri" }, { name: "Eun-ji" }, { name: "Fatima" }];
const CHANNELS = [["general", "Questions and announcements"], ["design", "How it looks, and why"], ["garden", "Tomatoes, mostly"], ["kitchen", "Lunch"], ["releases", "What goes out when"]];

/** Starts a server with the team. `idOf` returns the id of one of its channels. */
export async function startTeam() {
  const server = await startServer({ people: PEOPLE });
  const ids = Object.values(server.accounts).map(({ user_id }) => user_id);
  for (const [name, description] of CHANNELS) await server.channel(name, Object.keys(server.accounts), { description });
  await server.channel("finances", ["Ada", "Bob", "Cleo"], { description: "For few", invite_only: true });
  const folder = await server.call("Ada", "POST", "/channel_folders/create", { name: "Products", description: "" });
  const { streams } = await server.call("Ada", "GET", "/streams");
  const idOf = (name) => streams.find((stream) => stream.name === name).stream_id;
  for (const name of ["design", "releases"]) await server.call("Ada", "PATCH", `/streams/${idOf(name)}`, { folder_id: folder.channel_folder_id });
  await server.call("Ada", "POST", "/users/me/subscriptions/properties", { subscription_data: [{ stream_id: idOf("general"), property: "pin_to_top", value: true }, { stream_id: idOf("kitchen"), property: "is_muted", value: true }] });

  await server.send("Bob", "general", "offsite", "We have the house from Thursday to Sunday. Who comes by train?");
  const offsite = await server.send("Cleo", "general", "offsite", "I do! The 9:12 is the last one without changing :train:\n\n* bring **boots**\n* and a torch");
  await server.send("Dmitri", "general", "offsite", "> the 9:12 is the last one\n\nThen I should leave at eight. @**Ada** do you drive?");
  await server.call("Ada", "POST", `/messages/${offsite.id}/reactions`, { emoji_name: "tada" });
  await server.call("Bob", "POST", `/messages/${offsite.id}/reactions`, { emoji_name: "tada" });
  await server.send("Ada", "general", "offsite", "I do, and there are three seats left.");
  await server.send("Eun-ji", "general", "offsite", "/poll What do we cook?\nLentils\nLasagne\nSoup");
  await server.send("Bob", "design", "contrast", "This is what the tokens compute:\n\n```python\ndef contrast(one, other):\n    # WCAG 2.2, 1.4.3\n    light, dark = sorted((luminance(one), luminance(other)), reverse=True)\n    return (light + 0.05) / (dark + 0.05)\n```\n\n| theme | text | ratio |\n|---|---|--:|\n| light | quiet | 5.4 |\n| dark | quiet | 7.1 |");
  await server.send("Cleo", "design", "contrast", "And $$L = 0.2126 R + 0.7152 G + 0.0722 B$$ as a formula. See #**general>offsite**.");
  await server.send("Fatima", "garden", "slugs", "They are back :snail:");
  await server.send("Fatima", "releases", "0.2", "Tagged. <time:2027-03-01T10:00:00Z> is when it goes out.");
  await server.send("Dmitri", "kitchen", "coffee", "We are out of coffee.");
  await server.send("Cleo", "finances", "2027", "The draft is in the folder.");
  await server.direct("Bob", ["Ada"], "Do you have a minute?");
  await server.direct("Cleo", ["Ada", "Bob"], "The three of us should talk about the budget.");
  await server.call("Bob", "POST", "/users/me/status", { status_text: "In a meeting", emoji_name: "calendar" });
  for (const name of ["Bob", "Cleo"]) await server.call(name, "POST", "/users/me/presence", { status: name === "Bob" ? "active" : "idle", new_user_input: true });
  await server.call("Ada", "POST", "/scheduled_messages", { type: "direct", to: [ids[1]], content: "Happy birthday!", scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 90_000 });
  await server.call("Ada", "POST", "/drafts", { drafts: [{ type: "stream", to: [idOf("garden")], topic: "slugs", content: "Has anybody tried copper?" }] });

  for (const [name, type, data] of [["Pronouns", 8, {}], ["Lunch", 3, { 0: { text: "Soup", order: "1" }, 1: { text: "Salad", order: "2" } }], ["Birthday", 4, {}]]) await server.call("Ada", "POST", "/realm/profile_fields", { name, field_type: type, field_data: data, hint: "" });
  for (const [pattern, url_template] of [["#(?P<id>[0-9]+)", "https://example.com/issues/{id}"], ["DOC-(?P<id>[0-9]+)", "https://example.com/documents/{id}"]]) await server.call("Ada", "POST", "/realm/filters", { pattern, url_template });
  return { server, idOf };
}

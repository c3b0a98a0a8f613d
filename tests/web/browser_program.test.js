/** Two browsers and a program with the package `zulip` hold a conversation, through all that one can do in it. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { click, clickButton, clickText, compose, eventually, onElement, press, pressOn, setUp, until, untilText } from "./harness.js";
import { startParticipant } from "./participant.js";

const bench = setUp();
const { as, at, go } = bench;
let program;

const ID = { Ada: () => bench.server.accounts.Ada.user_id, Bob: () => bench.server.accounts.Bob.user_id };
const say = (topic, content) => program.call("send_message", { type: "stream", to: "general", topic, content });

describe("two browsers and a program", () => {
  before(async () => {
    program = await startParticipant(bench.server, "Cleo");
  });

  after(() => program?.stop());

  it("messages, mentions, replies and quotes go both ways", async () => {
    const where = await at("general", "weather");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    await compose(ada, "@**Cleo** is it raining?");
    assert.equal((await program.hears("is it raining?")).sender_email, bench.server.accounts.Ada.email);
    const { id } = await say("weather", "It **is**, @**Ada** :rain_cloud:");
    for (const page of [ada, bob]) await page.waitForSelector(`[data-id="${id}"] strong`);
    await ada.waitForSelector(`[data-id="${id}"][data-mention=direct]`);
    await bob.waitForSelector(`[data-id="${id}"]:not([data-mention])`);
    await pressOn(bob, `[data-id="${id}"]`, ">");
    await until(bob, () => document.activeElement.matches(".composer .editor__text") && document.activeElement.value.includes("It **is**"));
    await bob.keyboard.type("Bring an umbrella");
    await press(bob, "Control+Enter");
    await untilText(ada, ".message-row blockquote", "It is");
    await program.hears("Bring an umbrella");
  });

  it("typing, edits, reactions, moves and deletion of the program are seen", async () => {
    const where = await at("general", "drafting");
    const [ada, bob] = [await as("Ada", where), await as("Bob", where)];
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const { stream_id: stream } = await program.call("get_stream_id", "general");
    await program.call("set_typing_status", { type: "stream", op: "start", stream_id: stream, topic: "drafting" });
    await untilText(ada, ".timeline__typing", "Cleo is typing");
    const { id } = await say("drafting", "First words");
    await ada.waitForSelector(`[data-id="${id}"]`);
    await until(ada, () => document.querySelector(".timeline__typing").textContent === "");
    await program.call("update_message", { message_id: id, content: "Second words" });
    for (const page of [ada, bob]) await untilText(page, `[data-id="${id}"]`, "Second words");
    await pressOn(ada, `[data-id="${id}"]`, "+");
    await untilText(bob, ".reaction", "Ada");
    await eventually(async () => assert.equal((await program.call("get_raw_message", id)).message.reactions.length, 1));
    await program.call("add_reaction", { message_id: id, emoji_name: "thumbs_up" });
    await untilText(ada, ".reaction", "Cleo");
    await program.call("update_message", { message_id: id, topic: "drafted", propagate_mode: "change_all" });
    for (const page of [ada, bob]) await untilText(page, ".header h1", "drafted");
    await program.call("delete_message", id);
    for (const page of [ada, bob]) await until(page, (gone) => !document.querySelector(`[data-id="${gone}"]`), id);
  });

  it("files, polls and formulas of the program are shown", async () => {
    const ada = await as("Ada", await at("general", "shared"));
    const { uri } = await program.call("upload", "notes.txt", "What was said");
    await say("shared", `[notes](${uri})`);
    const text = await onElement(ada, ".message-row a[href*='/user_uploads/']", async (link) => (await fetch(link.getAttribute("href"))).text());
    assert.equal(text, "What was said");
    await say("shared", "$$x^2$$ and ```math\ny\n```");
    await ada.waitForSelector(".message-row math");
    const { id } = await say("shared", "/poll Tea?\nYes\nNo");
    await click(ada, `[data-id="${id}"] .widget__vote`);
    await untilText(ada, `[data-id="${id}"] .widget__names`, "Ada");
    await eventually(async () => assert.ok((await program.call("get_raw_message", id)).message.submessages.length >= 2));
  });

  it("direct messages to one and to several arrive, and are marked as read", async () => {
    const ada = await as("Ada", "#inbox");
    await program.call("send_message", { type: "private", to: [ID.Ada(), ID.Bob()], content: "The three of us" });
    await clickText(ada, ".inbox-section a", "Bob, Cleo");
    await untilText(ada, ".message-row", "The three of us");
    await compose(ada, "All here");
    const heard = await program.hears("All here");
    assert.equal(heard.display_recipient.length, 3);
    const bob = await as("Bob", "#inbox");
    await untilText(bob, ".sidebar", "Ada, Cleo");
    const { id } = await program.call("send_message", { type: "private", to: [ID.Ada()], content: "Only you" });
    // Only a page with the focus marks as read; in Firefox, the other one has taken it.
    await ada.bringToFront();
    await go(ada, `#narrow/dm/${bench.server.accounts.Cleo.user_id}`);
    await untilText(ada, ".message-row", "Only you");
    await eventually(async () => {
      const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: id, num_before: 0, num_after: 0 });
      assert.ok(messages[0].flags.includes("read"));
    });
  });

  it("presence, status and subscriptions of the program are shown", async () => {
    const ada = await as("Ada", await at("general", "weather"));
    await program.call("update_presence", { status: "active", ping_only: false, new_user_input: true });
    await until(ada, () => [...document.querySelectorAll(".people li")].some((item) => item.textContent.includes("Cleo") && item.querySelector("[data-presence=active]")));
    await program.call("add_subscriptions", [{ name: "made by a program" }]);
    await go(ada, "#channels/notsubscribed");
    await untilText(ada, "dialog .row", "made by a program");
    await clickText(ada, "dialog .row button", "Subscribe");
    await untilText(ada, ".sidebar", "made by a program");
    await clickButton(ada, "Close");
    await until(ada, () => !document.querySelector("dialog"));
  });
});

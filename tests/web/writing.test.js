/** What is written: rules of writing, drafts, and what is offered while one writes. Pure functions of a state: no server, no browser. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { completionsFor } from "../../web/js/selectors/completions.js";
import { channelChoices, channelText, topicChoices, userChoices } from "../../web/js/selectors/choices.js";
import { emojiSections, findEmoji } from "../../web/js/selectors/emoji_choices.js";
import { rank, ranked } from "../../web/js/selectors/ranking.js";
import { commandSettings, manyMentioned, mayHaveTopic, needsTopic, placeholderOf, problem, refusal, remark } from "../../web/js/selectors/writing.js";
import { createComposition } from "../../web/js/store/composition.js";
import { createDrafts, isSameDestination, moving } from "../../web/js/store/drafts.js";
import { destinationOf, directKey } from "../../web/js/store/conversations.js";
import { charactersOf } from "../../web/js/lib/emoji.js";
import { toned } from "../../web/js/lib/emoji_words.js";
import { allEmoji, recentEmoji, setSkinTone, takeEmojiNames, textOfEmoji, useEmoji } from "../../web/js/store/emoji.js";
import { user, channel, storeWith, topic, direct, inTopic, toPeople } from "./states.js";

describe("writing", () => {
  it("says where a text goes, and why it cannot", () => {
    const store = storeWith({ subscriptions: [channel(10, "general"), channel(11, "design", { topics_policy: "disable_empty_topic" }), channel(13, "old", { is_archived: true }), channel(14, "news", { can_send_message_group: { direct_members: [2], direct_subgroups: [] } })] });
    assert.deepEqual([null, direct(), direct(2, 3), topic(10, "soup"), topic(10, ""), { type: "stream", to: [], topic: "" }].map((to) => placeholderOf(store, to)), ["", "Write a direct message", "Message Bob, Cleo", "Message #general > soup", "Message #general", "Message #…"]);
    const ready = { isOver: false, isUploading: false };
    const problems = [direct(), { type: "stream", to: [], topic: "a" }, topic(11, " "), topic(10, ""), topic(13, "a"), topic(14, "a"), direct(2)].map((to) => problem(store, to, ready));
    assert.deepEqual(problems, ["Please choose whom to write to.", "Please choose a channel.", "Please choose a topic.", null, "This channel is archived.", "You do not have permission to post in this channel.", null]);
    store.users.get(3).is_active = false;
    assert.deepEqual([direct(2, 3), direct(2)].map((to) => problem(store, to, ready)), ["You cannot send messages to deactivated users.", null]);
    assert.equal(problem(store, direct(2), { isOver: true, isUploading: false }), "The message is too long.");
    store.users.get(3).is_active = true;
    const [nobody, onlyCleo] = [{ id: 70, name: "role:nobody", members: [], direct_subgroup_ids: [] }, { id: 71, name: "authorizers", members: [3], direct_subgroup_ids: [] }];
    store.state.realm_user_groups = [nobody, onlyCleo];
    const refusalsOf = (rules) => {
      Object.assign(store.state, rules);
      return [[], [1], [2], [2, 3]].map((ids) => remark(store, direct(...ids), "")?.reason ?? null);
    };
    const disabled = "Direct messages are disabled in this organization.";
    assert.deepEqual(refusalsOf({ realm_direct_message_permission_group: 70 }), [disabled, null, disabled, disabled]);
    assert.deepEqual(refusalsOf({ realm_direct_message_permission_group: 71 }), [null, null, "This conversation does not include anyone who can authorize it.", null]);
    const start = "You do not have permission to start direct conversations.";
    assert.deepEqual(refusalsOf({ realm_direct_message_permission_group: undefined, realm_direct_message_initiator_group: 71 }), [null, null, start, start]);
    store.directs.set(directKey(store, [2]), { user_ids: [2], max_id: 5 });
    assert.deepEqual(refusalsOf({}), [null, null, null, start]);
    store.users.get(3).is_bot = true;
    assert.equal(refusal(store, direct(3)), null);
    Object.assign(store.state, { realm_direct_message_initiator_group: undefined });
    store.users.get(3).is_bot = false;
    assert.equal(problem(store, direct(2), { isOver: false, isUploading: true }), "Please wait until the files are uploaded.");
    store.state.realm_topics_policy = "disable_empty_topic";
    assert.deepEqual([topic(10, ""), direct(2)].map((to) => needsTopic(store, to)), [true, true]);
    store.channels.get(10).topics_policy = "empty_topic_only";
    assert.deepEqual([10, 11].map((id) => [needsTopic(store, topic(id, "")), mayHaveTopic(store, topic(id, ""))]), [[false, false], [true, true]]);
  });

  it("remarks on refusals, on mentions of many and on resolved topics, in this order", () => {
    const store = storeWith({ subscriptions: [channel(10, "general", { subscriber_count: 16 }), channel(11, "design", { subscriber_count: 15 }), channel(13, "old", { is_archived: true, subscriber_count: 99 })] });
    assert.deepEqual(remark(store, topic(13, "✔ a"), "@**all**"), { kind: "refused", reason: "This channel is archived." });
    assert.deepEqual(remark(store, topic(10, "✔ a"), "so @**all**"), { kind: "many", count: 16 });
    assert.deepEqual(remark(store, topic(10, "✔ a"), "well"), { kind: "resolved", streamId: 10, topic: "✔ a", mayResolve: true });
    assert.deepEqual([remark(store, topic(10, "✔ a"), " "), remark(store, topic(11, "a"), "@**everyone**"), remark(store, direct(2), "@**all**"), remark(store, null, "")], [null, null, null, null]);
    const counts = (...texts) => texts.map((text) => manyMentioned(store, topic(10, "a"), text));
    assert.deepEqual(counts("x@**all**", "@**channel**", "@**stream**", "@**Ada**", "so @**Ada** and @**all**"), [null, 16, 16, null, 16]);
    assert.deepEqual(counts("(@**all**)", '"@**channel**"', "cc/@**everyone**", ".@**all**", "@****"), [16, 16, 16, null, null]);
    assert.deepEqual(counts("```quote\n@**all**\n```", "> see @**all**", "```\n@**all**\n```\n@**all**"), [null, null, 16]);
    assert.deepEqual(counts("```spoiler End\n@**all**\n```", "````quote\n```spoiler\n@**all**\n```\n````"), [16, null]);
    store.state.realm_can_mention_many_users_group = { direct_members: [2], direct_subgroups: [] };
    const reason = "You do not have permission to mention everyone in this channel.";
    assert.deepEqual([10, 11].map((id) => remark(store, topic(id, "a"), "@**all**")), [{ kind: "refused", reason }, null]);
    assert.equal(problem(store, topic(10, "a"), { text: "@**all**", isOver: false, isUploading: false }), reason);
  });

  it("names people who are mentioned and not in the channel", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo"), user(4, "Bob"), user(5, "Rob", { is_bot: true })] });
    const said = (text, to = topic(10, "a")) => remark(store, to, text);
    assert.equal(said("@**Cleo**"), null, "its people are not known yet");
    store.subscribers.set(10, new Set([1, 2]));
    assert.deepEqual(["@**Bob**", "@_**Cleo**", "@**Rob**", "@**Ada**", "@**Nobody**", "> @**Cleo**", "```quote\n@**Cleo**\n```"].map((text) => said(text)), Array(7).fill(null));
    assert.equal(said("@**Cleo**", direct(2)), null);
    assert.deepEqual(said("(@**|3**)").ids, [3]);
    assert.deepEqual(said("hi @**cleo**, @**Bob|4** and @**Cleo**"), { kind: "outside", streamId: 10, ids: [3, 4], names: "Cleo, Bob", mayAdd: true });
    store.state.realm_can_add_subscribers_group = { direct_members: [2], direct_subgroups: [] };
    assert.equal(said("@**Cleo**").mayAdd, false);
    const general = store.channels.get(10);
    for (const [holder, setting, value] of [
      [general, "can_add_subscribers_group", { direct_members: [1], direct_subgroups: [] }],
      [general, "can_administer_channel_group", { direct_members: [1], direct_subgroups: [] }],
      [store.state, "is_admin", true],
    ]) {
      holder[setting] = value;
      assert.equal(said("@**Cleo**").mayAdd, true, setting);
      delete holder[setting];
      assert.equal(said("@**Cleo**").mayAdd, false);
    }
  });

  it("knows commands, and the conversation of a message", () => {
    const store = storeWith();
    assert.deepEqual(["/dark", " /day ", "/me", "dark"].map(commandSettings), [{ color_scheme: 2 }, { color_scheme: 3 }, null, null]);
    assert.deepEqual(destinationOf(store, inTopic(1, 10, "soup")), topic(10, "soup"));
    assert.deepEqual(destinationOf(store, toPeople(1, [3, 1, 2])), direct(2, 3));
    assert.ok(isSameDestination(topic(10, "Soup"), topic(10, "soup")) && !isSameDestination(null, null) && !isSameDestination(topic(10, "a"), topic(11, "a")));
  });
});

describe("what is being written", () => {
  function bench() {
    const kept = new Map();
    const box = { text: "", saved: 0 };
    const entries = { all: () => new Map(), set: (key, text) => (text === null ? kept.delete(key) : kept.set(key, JSON.parse(text).content)) };
    const drafts = createDrafts({ entries, api: {}, isSynchronized: () => false });
    const composition = createComposition({ drafts: () => drafts, text: () => box.text, now: () => 1, onSaved: () => { box.saved += 1; } });
    const open = (to, content) => { box.text = composition.open(to, content); };
    return { composition, drafts, kept, box, open };
  }

  it("is a draft of its conversation, and comes back with it", () => {
    const { composition, kept, box, open } = bench();
    open(topic(10, "a"));
    box.text = "in a";
    open(topic(10, "b"));
    assert.deepEqual([box.text, ...kept], ["", ["channel/10/a", "in a"]]);
    open(topic(10, "a"));
    assert.equal(box.text, "in a");
    composition.save(false);
    composition.change({ to: [11] });
    assert.deepEqual([[...kept], composition.destination], [[], topic(11, "a")]);
    open(null);
    assert.deepEqual([...kept], [["channel/11/a", "in a"]]);
  });

  it("does not take the place of what is written elsewhere when it is put aside or sent", () => {
    const { composition, kept, box, open } = bench();
    composition.show(topic(10, "here"), false);
    open(topic(10, "here"));
    box.text = "for here";
    open(direct(2));
    box.text = "for Bob";
    composition.leave();
    open(composition.shown);
    assert.equal(box.text, "for here");
    open(direct(2));
    assert.equal(box.text, "for Bob");
    composition.sent(direct(2), () => { box.text = ""; });
    assert.equal(composition.destination, null);
    open(composition.shown);
    assert.deepEqual([box.text, [...kept]], ["for here", [["channel/10/here", "for here"]]]);
    composition.sent(topic(10, "here"), () => { box.text = ""; });
    assert.deepEqual([composition.destination, [...kept]], [topic(10, "here"), []]);
    assert.ok(box.saved > 0);
  });

  it("is kept beside the draft of a conversation that it gets as its recipient, or that it is opened for", () => {
    const { composition, drafts, kept, box, open } = bench();
    open(topic(10, "lunch"));
    box.text = "the old draft";
    open({ type: "stream", to: [], topic: "" });
    box.text = "another text";
    for (const name of ["l", "lunch", "lunches"]) {
      composition.change({ to: [10], topic: name });
      composition.save(false);
      assert.equal(drafts.get(topic(10, "lunch")).content, "the old draft");
    }
    assert.deepEqual([...kept], [["channel/10/lunch", "the old draft"], ["channel/10/lunches", "another text"]]);
    composition.change({ topic: "lunch" });
    composition.save(false);
    assert.deepEqual([...kept.values()], ["the old draft", "another text"]);
    composition.moved(topic(10, "lunch"), topic(11, "tea"), drafts.move(moving(topic(10, "lunch"), topic(11, "tea")), false));
    box.text = "another text, longer";
    composition.save(false);
    assert.deepEqual([drafts.get(topic(11, "tea")).content, ...drafts.all().map(({ content }) => content)], ["the old draft", "the old draft", "another text, longer"]);
    composition.sent(topic(11, "tea"), () => { box.text = ""; });
    assert.deepEqual([...kept], [["channel/11/tea", "the old draft"]]);
    // An empty box leaves a draft alone that came meanwhile.
    open(topic(12, "coffee"));
    drafts.move(moving(topic(11, "tea"), topic(12, "coffee")), false);
    composition.save(true);
    assert.deepEqual([...kept], [["channel/12/coffee", "the old draft"]]);
    drafts.move(moving(topic(12, "coffee"), topic(11, "tea")), false);
    // A text that comes from elsewhere, such as a scheduled message.
    open(topic(11, "tea"), "taken back");
    composition.leave();
    assert.deepEqual([...kept.values()], ["the old draft", "taken back"]);
  });

  it("is kept unless it is too short, in linear time", () => {
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api: {}, isSynchronized: () => false });
    const isKept = (text) => drafts.set(topic(10, "a"), text, 1, false);
    for (const text of ["", " \n", "a", " ab\n", "a ", "\u00a0ab\u3000"]) assert.equal(isKept(text), false, text);
    for (const text of ["abc", "a b", "\n a  b", "\u6c34", " \u6c34 "]) assert.equal(isKept(text), true, text);
    for (const space of [" ", "\n"]) assert.equal(isKept(`${space.repeat(500_000)}abc`), true);
  });

  it("follows its draft in another tab, and neither replaces the text of the other", () => {
    const disk = new Map();
    const entries = { all: () => new Map(disk), set: (key, text) => (text === null ? disk.delete(key) : disk.set(key, text)) };
    const tab = () => {
      const drafts = createDrafts({ entries, api: {}, isSynchronized: () => false });
      const box = { text: "", write: (text) => { drafts.readAgain(); box.text = text; composition.save(true); } };
      const composition = createComposition({ drafts: () => drafts, text: () => box.text, now: () => 1 });
      /** As after an event of the browser about a change in another tab. */
      box.hear = () => {
        drafts.readAgain();
        box.text = composition.follow() ?? box.text;
      };
      box.open = () => { box.text = composition.open(topic(10, "a")); };
      box.send = () => composition.sent(topic(10, "a"), () => { box.text = ""; });
      return box;
    };
    const texts = () => [...disk.values()].map((text) => JSON.parse(text).content);
    const [one, two] = [tab(), tab()];
    one.open();
    one.write("the draft");
    two.hear();
    two.open();
    assert.equal(two.text, "the draft");
    one.write("the draft, longer");
    // The other tab is hidden before it gets the event, and keeps its text.
    two.write(two.text);
    assert.deepEqual(texts(), ["the draft, longer"]);
    two.hear();
    assert.equal(two.text, "the draft, longer");
    // Both are changed.
    two.text = "the draft, shorter";
    one.write("the draft, much longer");
    two.hear();
    assert.equal(two.text, "the draft, shorter");
    two.write(two.text);
    assert.deepEqual(texts(), ["the draft, much longer", "the draft, shorter"]);
    two.write("the draft, shorter by far");
    one.hear();
    assert.deepEqual([one.text, ...texts()], ["the draft, much longer", "the draft, much longer", "the draft, shorter by far"]);
    two.send();
    assert.deepEqual(texts(), ["the draft, much longer"]);
    two.open();
    one.write("the last words");
    two.hear();
    assert.equal(two.text, "the last words");
    one.text = "the very last words";
    two.write("other words");
    one.hear();
    one.send();
    assert.deepEqual(texts(), ["other words"], "what is sent is not the draft of the other tab");
  });

  it("leaves the box when its draft is sent in another tab, or goes with the session, unless it was changed here", () => {
    const disk = new Map();
    const entries = { all: () => new Map(disk), set: (key, text) => (text === null ? disk.delete(key) : disk.set(key, text)) };
    const tab = () => {
      const drafts = createDrafts({ entries, api: {}, isSynchronized: () => false });
      const box = { text: "" };
      const composition = createComposition({ drafts: () => drafts, text: () => box.text, now: () => 1 });
      box.text = composition.open(topic(10, "a"));
      const hear = () => {
        drafts.readAgain();
        box.text = composition.follow() ?? box.text;
      };
      return { box, composition, drafts, hear };
    };
    const texts = () => [...disk.values()].map((text) => JSON.parse(text).content);
    const one = tab();
    one.box.text = "the draft";
    one.composition.save(true);
    const two = tab();
    assert.equal(two.box.text, "the draft");
    one.composition.sent(topic(10, "a"), () => { one.box.text = ""; });
    // The other tab is left before its box is empty.
    two.drafts.readAgain();
    two.composition.save(true);
    assert.deepEqual(texts(), []);
    two.hear();
    assert.equal(two.box.text, "");
    two.box.text = "another draft";
    two.composition.save(true);
    one.hear();
    two.box.text = "another draft, longer";
    disk.clear();
    two.hear();
    two.composition.save(true);
    assert.deepEqual([two.box.text, ...texts()], ["another draft, longer", "another draft, longer"]);
    // One tab hears before the other that the conversation moved.
    const change = moving(topic(10, "a"), topic(10, "b"));
    one.drafts.readAgain();
    one.drafts.move(change, true);
    two.hear();
    assert.equal(two.box.text, "another draft, longer");
    two.composition.moved(topic(10, "a"), topic(10, "b"), two.drafts.move(change, false));
    two.box.text = "another draft, longer still";
    two.composition.save(true);
    assert.deepEqual(texts(), ["another draft, longer still"]);
  });

  it("goes on in the copy that is made of its draft when another device has a newer one", () => {
    const { composition, drafts, kept, box, open } = bench();
    const adopt = (content, timestamp) => drafts.adopt([{ id: 5, type: "stream", to: [10], topic: "a", content, timestamp }]);
    adopt("the draft", 0);
    open(topic(10, "a"));
    box.text = "the draft of this device";
    composition.save(false);
    box.text = "the draft of this device, longer";
    adopt("the draft of another", 9);
    assert.equal(composition.follow(), null, "the text stays in the box");
    composition.save(false);
    assert.deepEqual([...kept.values()], ["the draft of another", "the draft of this device, longer"]);
    adopt("the draft of another, longer", 10);
    assert.equal(composition.follow(), null);
    composition.sent(topic(10, "a"), () => { box.text = ""; });
    assert.deepEqual([...kept.values()], ["the draft of another, longer"], "what was sent is no draft");
    // Without a change here, the box shows the newer one.
    open(topic(10, "a"));
    adopt("the draft of another, again", 11);
    assert.equal(composition.follow(), "the draft of another, again");
  });

  it("stays while one writes to another on purpose, and goes along with a conversation that moves", () => {
    const { composition, open } = bench();
    composition.show(topic(10, "a"), false);
    open(topic(10, "a"));
    assert.equal(composition.show(topic(10, "b"), true), false, "the box follows the view");
    open(topic(10, "b"));
    assert.ok(composition.isHere());
    assert.equal(composition.show(topic(10, "B"), false), true, "the same");
    open(direct(3));
    assert.equal(composition.show(topic(10, "c"), true), true, "written on purpose");
    assert.equal(composition.show(topic(10, "d"), false), false);
    open(topic(10, "d"));
    assert.equal(composition.moved(topic(10, "d"), topic(11, "e"), new Map()), true);
    assert.deepEqual([composition.destination, composition.shown], [topic(11, "e"), topic(11, "e")]);
    assert.equal(composition.moved(topic(10, "d"), topic(11, "f"), new Map()), false);
  });

  it("is the same text after a move, and another one once another conversation was opened", () => {
    const { composition, drafts, kept, box, open } = bench();
    const [before, after] = [topic(10, "a"), topic(10, "✔ a")];
    composition.show(before, false);
    open(before);
    box.text = "for later";
    composition.save(false);
    const { opened } = composition;
    composition.moved(before, after, drafts.move(moving(before, after), false));
    assert.deepEqual([composition.opened, composition.destination], [opened, after]);
    // The request names the conversation as it was.
    composition.sent(before, () => { box.text = ""; });
    assert.deepEqual([box.text, ...kept], [""]);
    open(topic(10, "b"));
    open(after);
    assert.notEqual(composition.opened, opened);
  });
});

const settled = () => new Promise((resolve) => setTimeout(resolve));
const asSent = (id, content = "some words") => ({ id, type: "stream", to: [10], topic: "a", content, timestamp: 1 });

describe("a draft that is sent without a connection", () => {
  it("is deleted on the server with the next one, and does not come back before", async () => {
    const asked = [];
    let status = 0;
    const api = { remove: async (id) => asked.push(id) && Promise.reject(Object.assign(new Error("not deleted"), { status })) };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    drafts.adopt([asSent(7)]);
    drafts.removeKey("channel/10/a");
    await settled();
    drafts.adopt([asSent(7), asSent(8, "other words")]);
    assert.deepEqual([drafts.all().map(({ content }) => content), asked], [["other words"], [7]]);
    // The server has deleted it, although its first reply was lost.
    status = 404;
    for (let count = 0; count < 2; count++) {
      drafts.pushAll();
      await settled();
    }
    assert.deepEqual(asked, [7, 7]);
  });
});

describe("drafts that a repeated request has created twice", () => {
  function bench() {
    const calls = [];
    const api = { create: async () => 8, edit: async (id, { content }) => calls.push(["edit", id, content]), remove: async (id) => calls.push(["remove", id]) };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    return { calls, drafts, api, all: () => drafts.all().map(({ id, content }) => [id, content]) };
  }

  it("are one again: the first stays", async () => {
    const { calls, drafts, all } = bench();
    drafts.set(topic(10, "a"), "some words", 1, true);
    await settled();
    assert.deepEqual(all(), [[8, "some words"]]);
    // The event about the first request comes late.
    for (let count = 0; count < 2; count++) drafts.adopt([asSent(8), asSent(7), asSent(9, "other words")]);
    await settled();
    assert.deepEqual(all(), [[7, "some words"], [9, "other words"]]);
    assert.deepEqual(calls, [["remove", 8]]);
  });

  it("stay where the server has cut them: they differ behind that", async () => {
    const { calls, drafts, api, all } = bench();
    let next = 7;
    api.create = async () => next++;
    const to = topic(10, "a");
    for (const text of ["some words, and more", "some words, and others"]) drafts.set(to, text, 1, true, drafts.freeKey(to, 1));
    await settled();
    drafts.adopt([7, 8].map((id) => asSent(id, "some words\n[message truncated]")));
    await settled();
    assert.deepEqual([all(), calls], [[[7, "some words, and more"], [8, "some words, and others"]], []]);
  });

  it("keep what was written meanwhile", async () => {
    const { calls, drafts, all } = bench();
    drafts.set(topic(10, "a"), "some words", 1, true);
    await settled();
    drafts.set(topic(10, "a"), "some words, and more", 2, true);
    drafts.adopt([asSent(7), asSent(8)]);
    await settled();
    assert.deepEqual(all(), [[7, "some words, and more"]]);
    assert.deepEqual(calls, [["edit", 7, "some words, and more"], ["remove", 8]]);
  });

  it("are saved again if the one that goes is being saved", async () => {
    const { calls, drafts, api } = bench();
    drafts.set(topic(10, "a"), "some words", 1, true);
    await settled();
    let answer = () => {};
    const { edit } = api;
    api.edit = (...args) => edit(...args) && new Promise((resolve) => { answer = resolve; });
    drafts.set(topic(10, "a"), "some words, and more", 2, true);
    await settled();
    drafts.adopt([asSent(7), asSent(8)]);
    answer();
    await settled();
    answer();
    await settled();
    assert.deepEqual(calls, [["edit", 8, "some words, and more"], ["remove", 8], ["edit", 7, "some words, and more"]]);
    assert.equal(drafts.all()[0].isChanged, undefined);
  });
});

describe("a link to a topic", () => {
  it("is completed by what the topic is called that has no name", () => {
    const store = storeWith();
    store.topics.set(10, [{ name: "", max_id: 3 }, { name: "soup", max_id: 1 }]);
    const found = (query) => completionsFor(store, { kind: "topic", start: 0, query, channel: "general" }, { isChannel: true, channel: 10, emoji: [] }).map(({ label, detail }) => [label, detail]);
    assert.deepEqual(found("general ch"), [["general chat", undefined], ["general ch", "New topic"]]);
    assert.deepEqual(found("General chat"), [["general chat", undefined]]);
  });
});

describe("people to mention", () => {
  it("are those of the channel, then those who wrote here, then those of direct messages, and bots last", () => {
    const names = ["Anna", "Anton", "Antonia", "Andrea", "Andy"];
    const store = storeWith({ realm_users: [user(1, "Ada"), ...names.map((name, at) => user(20 + at, name)), user(30, "Animal", { is_bot: true })], recent_private_conversations: [{ user_ids: [21], max_message_id: 50_000_005 }, { user_ids: [22], max_message_id: 50_000_006 }] });
    const found = (recent = []) => completionsFor(store, { kind: "mention", start: 0, query: "an" }, { isChannel: true, channel: 10, recent, emoji: [] }).map(({ label }) => label);
    assert.deepEqual(found(), ["Antonia", "Anton", "Anna", "Andrea", "Andy", "Animal"]);
    assert.deepEqual(found([24, 20]).slice(0, 3), ["Andy", "Anna", "Antonia"]);
    store.subscribers.set(10, new Set([1, 23, 30]));
    assert.deepEqual(found([24]), ["Andrea", "Andy", "Antonia", "Anton", "Anna", "Animal"]);
  });

  it("are joined by the groups that the user may mention", () => {
    const groups = [["book readers", undefined], ["book writers", 51], ["book editors", { direct_members: [2], direct_subgroups: [] }]];
    const store = storeWith({ realm_user_groups: groups.map(([name, can_mention_group], at) => ({ id: 50 + at, name, members: [1], direct_subgroup_ids: [], can_mention_group })) });
    const found = (kind) => completionsFor(store, { kind, start: 0, query: "book" }, { isChannel: true, channel: 10, emoji: [] }).map(({ label }) => label);
    assert.deepEqual([found("mention"), found("silent")], [["book readers", "book writers"], ["book readers", "book writers", "book editors"]]);
    store.state.realm_user_groups[1].members = [];
    assert.deepEqual(found("mention"), ["book readers"]);
  });

  it("are compared by an order that is computed once for each", () => {
    const asked = [];
    const items = Array.from({ length: 50 }, (_, at) => ({ name: `Person ${at}`, order: (at * 7) % 50 }));
    const found = ranked(items, "per", ({ name }) => [name], (item) => asked.push(item) && item.order);
    assert.deepEqual([found.map(({ order }) => order), asked.length], [items.map((_, at) => at), 50]);
  });
});

describe("names", () => {
  const found = (query, ...names) => ranked(names, query, (name) => [name]);

  it("match also within a word, after those that begin with the text", () => {
    assert.deepEqual(found("hook", "webhooks", "hooks", "off the hook", "ho ok"), ["hooks", "off the hook", "webhooks"]);
    assert.deepEqual([found("verwaltung", "Personalverwaltung"), found("太郎", "山田太郎"), found("cafe", "Straßencafé")], [["Personalverwaltung"], ["山田太郎"], ["Straßencafé"]]);
    const described = [{ name: "news", description: "what happens" }, { name: "happy hour", description: "" }];
    assert.deepEqual(["hap", "appe", "app"].map((query) => ranked(described, query, ({ name, description }) => [name, description]).map(({ name }) => name)), [["happy hour", "news"], [], ["happy hour"]]);
  });

  it("match at parts of double names, and within words only by longer texts", () => {
    assert.deepEqual(["smith-j", "smith-jones ada", "jones", "a smith"].map((query) => rank("Ada Smith-Jones", query)), [2, 3, 2, 3]);
    assert.deepEqual([found("12", "team-2012", "12 angry people"), found("oO", "moon", "so oo"), found("oon", "moon"), found("мо", "Тимо")], [["12 angry people"], ["so oo"], ["moon"], ["Тимо"]]);
  });

  it("of groups and of everyone come before people who have the text within a word", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Ann Hopson"), user(3, "Sally"), user(4, "Allan")], realm_user_groups: [{ id: 50, name: "ops", members: [1], direct_subgroup_ids: [] }] });
    const found = (query, isChannel) => completionsFor(store, { kind: "mention", start: 0, query }, { isChannel, channel: isChannel ? 10 : null, emoji: [] }).map(({ label }) => label);
    assert.deepEqual([found("ops", true), found("all", false), found("all", true)], [["ops", "Ann Hopson"], ["Allan", "all", "Sally"], ["all", "Allan", "Sally"]]);
  });

  it("of languages match from the beginning: Enter would write another one", () => {
    const languages = (query) => completionsFor(storeWith(), { kind: "language", start: 0, query }, { isChannel: true, channel: 10, emoji: [] }).map(({ label }) => label);
    assert.deepEqual([languages("ml"), languages("type")], [[], ["typescript"]]);
  });
});

describe("choices", () => {
  it("are channels of the user, or others that are wanted", () => {
    const store = storeWith({ subscriptions: [channel(10, "general"), channel(11, "design"), channel(13, "design talks", { pin_to_top: true }), channel(14, "design of old", { is_archived: true })] });
    assert.deepEqual(channelChoices(store, "").map(({ name }) => name), ["design talks", "design", "general"]);
    assert.deepEqual(channelChoices(store, "desi").map(({ name }) => name), ["design talks", "design"]);
    assert.deepEqual(channelChoices(store, "talks").map(({ name }) => name), ["design talks"]);
    assert.deepEqual(channelChoices(store, "garden", () => true).map(({ name }) => name), ["secret garden"]);
    assert.deepEqual([channelText(store, 10), channelText(store, null)], ["general", ""]);
  });

  it("are the topics of a channel, and the text itself where none is called so", () => {
    const store = storeWith();
    store.topics.set(10, [{ name: "soup of the day", max_id: 2 }, { name: "", max_id: 1 }]);
    const shown = (id, query) => topicChoices(store, id, query).map(({ label, isNew }) => (isNew ? `${label}!` : label));
    assert.deepEqual(shown(10, ""), ["soup of the day", "general chat"]);
    assert.deepEqual([shown(10, "day"), shown(10, "Soup of the day"), shown(10, "salad"), shown(null, "")], [["soup of the day", "day!"], ["soup of the day"], ["salad!"], []]);
  });

  it("are people who are not chosen yet, bots last", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bo Bot", { is_bot: true }), user(3, "Bo Diddley"), user(5, "Bo Derek")], realm_non_active_users: [user(4, "Bo Gone", { is_active: false })] });
    assert.deepEqual(userChoices(store, "bo", { without: [5], withBots: true }).map(({ full_name }) => full_name), ["Bo Diddley", "Bo Bot"]);
    assert.deepEqual(userChoices(store, "bo", { without: [], withBots: false }).map(({ full_name }) => full_name), ["Bo Diddley", "Bo Derek"]);
  });
});

describe("emoji", () => {
  takeEmojiNames({ "1f44d": ["+1", "thumbs_up", "like"], "1f959": ["doner_kebab"], "2705": ["check", "all_good"], "1f642": ["smile"], "1f600": ["grinning", "happy"], "1f431": ["cat"], "1f1eb-1f1ee": ["finland"], "1f389": ["tada"], "1f44c": ["ok"], "1faf0": ["fingers", "thumb"], ffff1: ["new_one"] });
  const store = storeWith({ realm_emoji: { 7: { id: "7", name: "parrot" }, 8: { id: "8", name: "gone", deactivated: true } } });

  it("are found by their names and by words for them", () => {
    const found = (query) => findEmoji(allEmoji(store), query).map(({ name }) => name);
    assert.deepEqual(["thumb up", "thumbs_up", "done", "like", "parrot", "gone"].map((query) => found(query)[0]), ["+1", "+1", "check", "+1", "parrot", undefined]);
    assert.deepEqual(found("yes"), ["+1", "check"]);
    assert.deepEqual(found("happy"), ["smile", "grinning"]);
    // Popular ones come before others of which it is a name, but not before the one of this name.
    assert.deepEqual([found("thumb"), found("ok").slice(0, 2)], [["+1", "fingers"], ["ok", "+1"]]);
  });

  it("have a tone of skin, where they show one person", () => {
    assert.deepEqual(["1f44d", "270b", "1f9d1-200d-1f4bb", "1f431", "1f468-200d-1f469-200d-1f467"].map((code) => toned(charactersOf(code), "\u{1F3FD}")), ["👍🏽", "✋🏽", "🧑🏽‍💻", "🐱", "👨‍👩‍👧"]);
    assert.equal(toned(charactersOf("1f46f"), ""), "👯");
    const written = () => allEmoji(store).filter(({ code }) => ["1f44d", "1f431", "7"].includes(code)).map(textOfEmoji);
    assert.deepEqual(written(), [":parrot:", ":+1:", ":cat:"]);
    setSkinTone("\u{1F3FF}");
    assert.deepEqual(written(), [":parrot:", "👍🏿", ":cat:"]);
    setSkinTone("nonsense");
    assert.deepEqual(written(), [":parrot:", ":+1:", ":cat:"]);
  });

  it("stand in groups, the thumb and those of late first", () => {
    const sections = () => emojiSections(allEmoji(store), recentEmoji(allEmoji(store))).map(({ title, emoji }) => [title, ...emoji.map(({ name }) => name)]);
    assert.deepEqual(sections(), [["Often used", "+1", "tada", "smile"], ["Smileys", "grinning", "smile"], ["People", "ok", "fingers", "+1"], ["Nature", "cat"], ["Food", "doner_kebab"], ["Activities", "tada"], ["Symbols", "check", "new_one"], ["Flags", "finland"], ["This organization", "parrot", "zulip"]]);
    for (const code of ["1f431", "1f959", "1f431"]) useEmoji({ type: "unicode_emoji", code });
    useEmoji({ type: "realm_emoji", code: "8" });
    assert.deepEqual(sections()[0], ["Often used", "+1", "cat", "doner_kebab", "tada", "smile"]);
  });
});

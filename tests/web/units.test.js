/** What views show and do, as pure functions of a state: no server, no browser. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { updateFlags } from "../../web/js/api/endpoints.js";
import { createMemo } from "../../web/js/lib/memo.js";
import { distinct, effect, flush, scope, signal } from "../../web/js/lib/signal.js";
import { actionOfEnter, asBlock, asCode, isInCode, nextItem, openFences, pastedLink, prefixed, sendHint, wrapped } from "../../web/js/lib/text_edits.js";
import { fenced, hasEnd, placeOf } from "../../web/js/lib/text_edits_on_demand.js";
import { relativeTime } from "../../web/js/lib/time.js";
import { setLocale } from "../../web/js/lib/words.js";
import { clamped, moved, pinch, WHOLE, zoomed } from "../../web/js/lib/zoom.js";
import { completionsFor } from "../../web/js/selectors/completions.js";
import { channelChoices, channelText, topicChoices, userChoices } from "../../web/js/selectors/choices.js";
import { emojiSections, findEmoji } from "../../web/js/selectors/emoji_choices.js";
import { anchorToLoad, beginsUnread, centreOf, emptyText, firstUnreadOf, placesToTry } from "../../web/js/selectors/opening.js";
import { inboxRows, isNew, recentRows } from "../../web/js/selectors/overview_rows.js";
import { hasPartialConversations, kindOf, messageFragment, requestTerms } from "../../web/js/selectors/narrow.js";
import { peopleOf, peopleRows } from "../../web/js/selectors/people_rows.js";
import { ranked } from "../../web/js/selectors/ranking.js";
import { mayResetPassword } from "../../web/js/selectors/roles.js";
import { channelFragment, isKnownRoute, narrowFragment, routeOf, viewName } from "../../web/js/selectors/routes.js";
import { dayOfText } from "../../web/js/selectors/dates.js";
import { mayDelete, mayMove, moveRights } from "../../web/js/selectors/message_rights.js";
import { messageAt } from "../../web/js/selectors/message_at.js";
import { noticePlace } from "../../web/js/selectors/notice_place.js";
import { timelineRows } from "../../web/js/selectors/timeline_rows.js";
import { suggestions } from "../../web/js/selectors/search_suggestions.js";
import { parseSearch, searchProblem, splitDate, takeTerms } from "../../web/js/selectors/search_terms.js";
import { channelSections } from "../../web/js/selectors/sidebar_items.js";
import { directRows, sectionRows, topicRows, viewRows } from "../../web/js/selectors/sidebar_rows.js";
import { searchPills, titleCount } from "../../web/js/selectors/title.js";
import { commandSettings, isSameDestination, manyMentioned, mayResolve, needsTopic, placeholderOf, problem, refusal, remark } from "../../web/js/selectors/writing.js";
import { topTopic } from "../../web/js/store/channels.js";
import { createComposition } from "../../web/js/store/composition.js";
import { createDrafts, moving } from "../../web/js/store/drafts.js";
import { destinationOf, directKey, topicKey, topicOfKey } from "../../web/js/store/conversations.js";
import { applyEvents, applyLatest } from "../../web/js/store/events.js";
import { createFetching, createReplies, createSubscriberLists, createTopicLists } from "../../web/js/store/fetching.js";
import { createReading } from "../../web/js/store/reading.js";
import { charactersOf } from "../../web/js/lib/emoji.js";
import { toned } from "../../web/js/lib/emoji_words.js";
import { allEmoji, recentEmoji, setSkinTone, takeEmojiNames, textOfEmoji, useEmoji } from "../../web/js/store/emoji.js";
import { createStore, reset } from "../../web/js/store/store.js";
import { applyPresences } from "../../web/js/store/users.js";
import { addUnread, removeUnread, unreadCounts, unreadOfChannel } from "../../web/js/store/unread.js";

const user = (user_id, full_name, more = {}) => ({ user_id, full_name, email: `user${user_id}@example.com`, role: 400, is_bot: false, is_active: true, avatar_url: null, ...more });
const channel = (stream_id, name, more = {}) => ({ stream_id, name, description: "", rendered_description: "", color: "#123456", is_muted: false, pin_to_top: false, invite_only: false, is_web_public: false, is_archived: false, subscriber_count: 3, ...more });

/** A store of Ada with Bob and Cleo, in the channels general and design. */
function storeWith(more = {}) {
  const store = createStore();
  reset(store, {
    user_id: 1,
    realm_users: [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo")],
    realm_non_active_users: [],
    cross_realm_bots: [],
    subscriptions: [channel(10, "general"), channel(11, "design")],
    unsubscribed: [],
    never_subscribed: [channel(12, "secret garden")],
    user_settings: {},
    unread_msgs: { streams: [], pms: [], huddles: [], mentions: [] },
    realm_user_groups: [],
    max_message_length: 10_000,
    ...more,
  });
  return store;
}
const topic = (to, name) => ({ type: "stream", to: [to], topic: name });
const direct = (...to) => ({ type: "direct", to, topic: "" });
const inTopic = (id, stream_id, subject, sender_id = 2, more = {}) => ({ id, type: "stream", stream_id, subject, display_recipient: "", sender_id, flags: [], timestamp: 1000 + id, content: "", ...more });
const toPeople = (id, ids, sender_id = 2) => ({ id, type: "private", subject: "", display_recipient: ids.map((one) => ({ id: one })), sender_id, flags: [], timestamp: 1000 + id, content: "" });
const narrowRoute = (terms) => ({ kind: "narrow", terms, narrow: kindOf(terms) });
const topicTerms = (id, name) => [{ operator: "channel", operand: id }, { operator: "topic", operand: name }];

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
  });

  it("remarks on refusals, on mentions of many and on resolved topics, in this order", () => {
    const store = storeWith({ subscriptions: [channel(10, "general", { subscriber_count: 16 }), channel(11, "design", { subscriber_count: 15 }), channel(13, "old", { is_archived: true, subscriber_count: 99 })] });
    assert.deepEqual(remark(store, topic(13, "✔ a"), "@**all**"), { kind: "refused", reason: "This channel is archived." });
    assert.deepEqual(remark(store, topic(10, "✔ a"), "so @**all**"), { kind: "many", count: 16 });
    assert.deepEqual(remark(store, topic(10, "✔ a"), "well"), { kind: "resolved", streamId: 10, topic: "✔ a", mayResolve: true });
    assert.deepEqual([remark(store, topic(10, "✔ a"), " "), remark(store, topic(11, "a"), "@**everyone**"), remark(store, direct(2), "@**all**"), remark(store, null, "")], [null, null, null, null]);
    const counts = (...texts) => texts.map((text) => manyMentioned(store, topic(10, "a"), text));
    assert.deepEqual(counts("x@**all**", "@**channel**", "@**stream**", "@**Ada**", "so @**Ada** and @**all**"), [null, 16, 16, null, 16]);
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
    assert.deepEqual(said("hi @**cleo**, @**Bob|4** and @**Cleo**"), { kind: "outside", streamId: 10, ids: [3, 4], names: "Cleo, Bob", mayAdd: true });
    store.state.realm_can_add_subscribers_group = { direct_members: [2], direct_subgroups: [] };
    assert.equal(said("@**Cleo**").mayAdd, false);
    store.channels.get(10).can_add_subscribers_group = { direct_members: [1], direct_subgroups: [] };
    assert.equal(said("@**Cleo**").mayAdd, true);
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
      /** As when the browser tells of a change in another tab. */
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
    // The other tab is hidden before it hears of that, and keeps what it has.
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

describe("edits of a text", () => {
  /** A text with the selection between bars, or the cursor at one. */
  const marked = (text) => {
    const [before, inside, after] = text.split("|");
    return after === undefined ? { value: before + inside, start: before.length, end: before.length } : { value: before + inside + after, start: before.length, end: before.length + inside.length };
  };
  const applied = (text, edit) => {
    const from = marked(text);
    const { start, end, text: put, select } = edit(from);
    const value = from.value.slice(0, start) + put + from.value.slice(end);
    const [at, to] = select ?? [start + put.length, start + put.length];
    return at === to ? `${value.slice(0, at)}|${value.slice(at)}` : `${value.slice(0, at)}|${value.slice(at, to)}|${value.slice(to)}`;
  };

  it("put marks around what is selected, and take them away", () => {
    const bold = (selected) => wrapped(selected, "**", "**", "bold");
    assert.equal(applied("a |b| c", bold), "a **|b|** c");
    assert.equal(applied("a **|b|** c", bold), "a |b| c");
    assert.equal(applied("a |", bold), "a **|bold|**");
    assert.equal(applied("|a|", (selected) => wrapped(selected, "[", "](url)")), "[|a|](url)");
    assert.equal(applied("|a|", asCode), "`|a|`");
    assert.equal(applied("|a\nb|", asCode), "```\n|a\nb|\n```");
  });

  it("put marks before lines, and blocks on lines of their own", () => {
    assert.equal(applied("x\na|b\nc|d\ny", (selected) => prefixed(selected, () => "* ")), "x\n* ab\n* cd|\ny");
    assert.equal(applied("|a\nb|", (selected) => prefixed(selected, (index) => `${index + 1}. `)), "1. a\n2. b|");
    assert.equal(applied("a|", (selected) => asBlock(selected, "B")), "a\nB|");
    assert.equal(applied("a\n|", (selected) => asBlock(selected, "B")), "a\nB|");
    assert.deepEqual([fenced("a"), fenced("```\na\n```", "quote")], ["```\na\n```\n", "````quote\n```\na\n```\n````\n"]);
    assert.equal(applied("|", (selected) => asBlock(selected, "B")), "B|");
  });

  it("continue lists, and end them after an empty item", () => {
    assert.equal(applied("* one|", nextItem), "* one\n* |");
    assert.equal(applied("  9. nine|", nextItem), "  9. nine\n  10. |");
    assert.equal(applied("- one\n- |", nextItem), "- one\n|");
    assert.deepEqual(["plain|", "* |one|"].map((text) => nextItem(marked(text))), [null, null]);
  });

  it("make links of pasted URLs, and replace what was uploaded in its place", () => {
    assert.equal(applied("|here|", (selected) => pastedLink(selected, "https://example.com/x")), "[here](https://example.com/x)|");
    assert.deepEqual([pastedLink(marked("a|"), "https://example.com"), pastedLink(marked("|a|"), "two words")], [null, null]);
    assert.deepEqual([isInCode(marked("```\na|")), isInCode(marked("```\na\n```\n|"))], [true, false]);
    assert.deepEqual(["````\n```\n|", "```quote\n|", "```quote\n``` py\n|", "a ```\n|"].map((text) => isInCode(marked(text))), [true, false, true, false]);
    assert.deepEqual(["~~~ .spoiler x\n```\n~~~", "```quotes\n```js\n", "```a`\n``` \n", "```(\n"].map((text) => openFences(text).map(({ fence }) => fence)), [["~~~", "```"], ["```"], ["```"], []]);
    const ends = ["```py|\n\n```", "```py|\na\n```\n```js\nb\n```", "```py|", "```py|\n```js\nb\n```", "```py|\n\n```\nb\n```", "````py|\n```"];
    assert.deepEqual(ends.map((text) => hasEnd(marked(text).value, marked(text).start, text.match(/^`+/)[0])), [true, true, false, false, false, false]);
    assert.deepEqual(placeOf(marked("[Up]() and|"), "[Up]()", "[x](y)"), { at: 0, mode: "end" });
    assert.deepEqual(placeOf(marked("|a [Up]()"), "[Up]()", "[x](y)"), { at: 2, mode: "preserve" });
    assert.equal(placeOf(marked("gone|"), "[Up]()", "[x](y)"), null);
  });

  it("know what Enter does", () => {
    const keys = (...held) => Object.fromEntries(["shiftKey", "ctrlKey", "metaKey", "altKey"].map((name) => [name, held.includes(name)]));
    const actions = (sends) => [[], ["shiftKey"], ["ctrlKey"], ["metaKey"], ["altKey"]].map((held) => actionOfEnter(keys(...held), sends)).join();
    assert.equal(actions(false), "item,line,send,send,line");
    assert.equal(actions(true), "send,line,send,send,send");
    assert.deepEqual([sendHint(false, false), sendHint(true, false), sendHint(true, true)], ["Ctrl+Enter sends", "Enter sends, Shift+Enter begins a line", ""]);
  });
});

describe("routes", () => {
  it("are what the fragment says, or the home view", () => {
    const store = storeWith();
    const kinds = ["", "inbox", "recent", "recent_topics", "feed", "topics/channel/10-general", "topics/channel/99", "narrow/nonsense/1", "narrow/channel/10"].map((fragment) => routeOf(store, fragment).kind);
    assert.deepEqual(kinds, ["inbox", "inbox", "recent", "recent", "narrow", "topics", "inbox", "inbox", "narrow"]);
    store.state.user_settings.web_home_view = "recent_topics";
    assert.equal(routeOf(store, "").kind, "recent");
    store.state.user_settings.web_home_view = "all_messages";
    assert.equal(viewName(store, routeOf(store, "")), "Combined feed");
    assert.equal(viewName(store, routeOf(store, "topics/channel/10")), "Topics of #general");
    assert.deepEqual(["narrow/channel/10", "narrow/channel/77", "inbox"].map((fragment) => isKnownRoute(store, routeOf(store, fragment))), [true, false, true]);
    assert.equal(narrowFragment(store, [{ operator: "in", operand: "home" }]), "feed");
  });

  it("lead everyone to the same direct message", () => {
    const links = [toPeople(5, [2, 1]), toPeople(6, [3, 1, 2]), toPeople(7, [1])].map((message) => messageFragment(storeWith(), message));
    assert.deepEqual(links, ["narrow/dm/1,2-dm/near/5", "narrow/dm/1,2,3-group/near/6", "narrow/dm/1-dm/near/7"]);
    const readBy = (user_id) => links.slice(0, 2).map((link) => routeOf(storeWith({ user_id }), link).narrow.userIds);
    assert.deepEqual([readBy(1), readBy(2)], [[[2], [2, 3]], [[1], [1, 3]]]);
  });

  it("lead from a channel where the user's setting says", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "old", unread_message_ids: [5] }], pms: [], huddles: [], mentions: [] } });
    const all = "narrow/channel/10-general";
    store.state.user_settings.web_channel_default_view = 1;
    assert.equal(channelFragment(store, 10), all, "its topics are not known yet");
    store.topics.set(10, [{ name: "new", max_id: 9 }, { name: "old", max_id: 5 }]);
    const leads = [1, 2, 3, 4].map((view) => {
      store.state.user_settings.web_channel_default_view = view;
      return channelFragment(store, 10);
    });
    assert.deepEqual(leads, [`${all}/topic/new`, all, "topics/channel/10-general", `${all}/topic/old`]);
    const unread = { streams: ["old", "older"].map((name, at) => ({ stream_id: 10, topic: name, unread_message_ids: [5 - at] })), pms: [], huddles: [], mentions: [] };
    const leadsWith = (isMuted, policies) => {
      const own = storeWith({ unread_msgs: unread, subscriptions: [channel(10, "general", { is_muted: isMuted })], user_topics: policies.map(([topic_name, visibility_policy]) => ({ stream_id: 10, topic_name, visibility_policy })) });
      own.topics.set(10, ["new", "old", "older"].map((name, at) => ({ name, max_id: 9 - at })));
      return [1, 4].map((view) => {
        own.state.user_settings.web_channel_default_view = view;
        return channelFragment(own, 10).slice(`${all}/topic/`.length);
      });
    };
    assert.deepEqual(leadsWith(false, [["new", 1], ["old", 1]]), ["older", "older"]);
    assert.deepEqual(leadsWith(true, [["older", 3]]), ["older", "older"]);
    assert.deepEqual(leadsWith(true, [["new", 1]]), ["old", "old"]);
    assert.deepEqual(leadsWith(false, [["new", 1], ["old", 1], ["older", 1]]), ["new", "new"]);
    // Of a muted channel without policies only one topic is looked at, however many there are.
    let looks = 0;
    const muted = storeWith({ subscriptions: [channel(10, "general", { is_muted: true })], user_topics: [{ stream_id: 11, topic_name: "x", visibility_policy: 3 }] });
    muted.topics.set(10, Array.from({ length: 50 }, (_, at) => ({ max_id: 90 - at, get name() { looks += 1; return `topic ${at}`; } })));
    assert.deepEqual([topTopic(muted, 10), looks], ["topic 0", 1]);
  });
});

describe("links for new passwords", () => {
  it("are made by administrators, while passwords can be used", () => {
    const store = storeWith({ is_admin: true, is_owner: false });
    const may = (id) => mayResetPassword(store, store.users.get(id));
    assert.deepEqual([may(1), may(2)], [false, true]);
    store.state.realm_password_auth_enabled = false;
    assert.equal(may(2), false);
    store.state.realm_password_auth_enabled = true;
    store.state.is_admin = false;
    assert.equal(may(2), false);
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

  it("are compared by an order that is computed once for each", () => {
    const asked = [];
    const items = Array.from({ length: 50 }, (_, at) => ({ name: `Person ${at}`, order: (at * 7) % 50 }));
    const found = ranked(items, "per", ({ name }) => [name], (item) => asked.push(item) && item.order);
    assert.deepEqual([found.map(({ order }) => order), asked.length], [items.map((_, at) => at), 50]);
  });
});

describe("the title of a notification", () => {
  it("says where a message is, and counts people whose names are too long", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo"), user(4, "Wolfeschlegelsteinhausenbergerdorff the Elder")] });
    const long = "why the dishwasher in the second kitchen leaks every Monday";
    const places = [toPeople(1, [1, 2]), toPeople(2, [1, 2, 3]), toPeople(3, [1, 2, 3, 4]), toPeople(4, [1, 2, 4]), inTopic(5, 10, long)].map((message) => noticePlace(store, message));
    assert.deepEqual(places, ["to you", "to you and Cleo", "to you and 2 others", "to you and one more", `#general > ${long}`]);
  });
});

describe("the left column", () => {
  const unread = { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3] }], pms: [{ other_user_id: 2, unread_message_ids: [4] }], huddles: [], mentions: [2] };

  it("has views with counts, of which one is current", () => {
    const store = storeWith({ unread_msgs: unread, scheduled_messages: [{}], user_settings: { starred_message_counts: true }, starred_messages: [1] });
    const rows = viewRows(store, { fragment: "", route: routeOf(store, ""), drafts: 2 });
    assert.deepEqual(rows.filter(({ count }) => count).map(({ label, count }) => [label, count]), [["Inbox", 4], ["Mentions", 1], ["Starred", 1], ["Drafts", 2], ["Scheduled", 1]]);
    assert.deepEqual(rows.filter(({ isCurrent }) => isCurrent).map(({ label }) => label), ["Inbox"]);
    store.state.user_settings.web_home_view = "all_messages";
    const current = (fragment) => viewRows(store, { fragment, route: routeOf(store, fragment), drafts: 0 }).filter(({ isCurrent }) => isCurrent).map(({ label }) => label);
    assert.deepEqual(["", "all_messages", "narrow/is/starred", "narrow/channel/10"].map(current), [["Combined feed"], ["Combined feed"], ["Starred"], []]);
    assert.deepEqual(viewRows(storeWith(), { fragment: "narrow/is/starred", route: routeOf(store, ""), drafts: 0 }).map(({ label }) => label), ["Inbox", "Recent conversations", "Combined feed", "Mentions", "Starred"]);
  });

  it("has the latest direct conversations, the unread ones and the open one", () => {
    const people = Array.from({ length: 30 }, (_, at) => user(100 + at, `Person ${at}`));
    const recent = people.map(({ user_id }, at) => ({ user_ids: [user_id], max_message_id: 1000 - at }));
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), ...people], recent_private_conversations: recent, unread_msgs: unread });
    const rows = directRows(store, narrowRoute([{ operator: "dm", operand: [129] }]), false);
    assert.deepEqual([rows.length, rows.at(-1).key, rows.at(-2).name, rows.find(({ isCurrent }) => isCurrent).name], [11, "more", "Bob", "Person 29"]);
    assert.equal(directRows(store, { kind: "inbox" }, true).length, 31);
    store.unread = new Map(people.map(({ user_id }) => [directKey(store, [user_id]), new Set([user_id])]));
    assert.equal(directRows(store, { kind: "inbox" }, false).length, 16, "15 and what shows the others");
  });

  it("has channels in sections; of folded ones only the open channel", () => {
    const store = storeWith({ unread_msgs: unread, subscriptions: [channel(10, "general", { pin_to_top: true }), channel(11, "design", { is_muted: true })] });
    const rows = (folded, route = { kind: "inbox" }) => sectionRows(store, channelSections(store), { route, folded: new Set(folded), hrefOf: (id) => `c/${id}` });
    assert.deepEqual(rows([]).map(({ key, hasHead, rows: all }) => [key, hasHead, ...all.map(({ name, count, isQuiet, hasMention }) => [name, count, isQuiet, hasMention])]), [["pinned", true, ["general", 2, false, true]], ["other", true, ["design", 0, true, false]]]);
    store.state.user_settings.web_stream_unreads_count_display_policy = 1;
    assert.deepEqual(rows([]).flatMap(({ rows: all }) => all.map(({ name, count, isQuiet }) => [name, count, isQuiet])), [["general", 2, false], ["design", 1, true]]);
    assert.deepEqual(rows(["pinned"]).map(({ rows: all }) => all.length), [0, 1]);
    assert.deepEqual(rows(["pinned"], narrowRoute([{ operator: "channel", operand: 10 }]))[0].rows.map(({ isCurrent }) => isCurrent), [true]);
    store.state.user_settings.web_stream_unreads_count_display_policy = 3;
    assert.deepEqual(rows([]).flatMap(({ rows: all }) => all.map(({ count }) => count)), [0, 0]);
  });

  it("has inactive channels at the end, but not those that the user has just joined", () => {
    const store = storeWith({ user_settings: { demote_inactive_streams: 2 }, subscriptions: [channel(10, "general"), channel(11, "design", { is_recently_active: false })] });
    const sections = () => channelSections(store).map(({ key, channels }) => [key, ...channels.map(({ name }) => name)]);
    assert.deepEqual(sections(), [["other", "general"], ["inactive", "design"]]);
    applyEvents(store, [{ type: "subscription", op: "add", subscriptions: [channel(12, "secret garden", { is_recently_active: false })] }], { matches: () => false });
    assert.deepEqual(sections(), [["other", "general", "secret garden"], ["inactive", "design"]]);
  });

  it("has the topics of the open channel", () => {
    const store = storeWith({ unread_msgs: unread });
    store.topics.set(10, Array.from({ length: 20 }, (_, at) => ({ name: `topic ${at}`, max_id: 100 - at })));
    const rows = topicRows(store, narrowRoute(topicTerms(10, "just begun")), false);
    assert.deepEqual([rows[0].name, rows[0].isCurrent, rows.length, ...rows.slice(-2).map(({ key }) => key)], ["just begun", true, 10, "more", "new"]);
    assert.equal(topicRows(store, narrowRoute(topicTerms(10, "topic 0")), true).length, 21);
    assert.deepEqual(topicRows(store, narrowRoute(topicTerms(10, "TOPIC 3")), true).filter(({ isCurrent }) => isCurrent).map(({ name }) => name), ["topic 3"]);
    for (const at of [0, 1, 2]) store.userTopics.set(topicKey(10, `topic ${at}`), 1);
    const names = topicRows(store, narrowRoute(topicTerms(10, "Topic 15")), false).map(({ name }) => name);
    assert.deepEqual([names[0], names[7], names[8], names.length], ["topic 3", "topic 10", "topic 15", 11]);
    assert.deepEqual([topicRows(store, { kind: "inbox" }, false), topicRows(store, narrowRoute(topicTerms(99, "x")), false)], [[], []]);
  });
});

describe("the right column", () => {
  const people = [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo"), user(4, "Dora"), user(5, "Robot", { is_bot: true })];
  const names = (list) => list.map(({ user: { full_name } }) => full_name);

  it("has the people of the open conversation first, and then the others", () => {
    const store = storeWith({ realm_users: people, presences: {} });
    store.presences.set(4, { active_timestamp: 990 });
    const inChannel = narrowRoute([{ operator: "channel", operand: 10 }]);
    assert.equal(peopleOf(store, inChannel), null, "its people are not known yet");
    store.subscribers.set(10, new Set([1, 2, 4, 5]));
    const { title, ids } = peopleOf(store, inChannel);
    assert.equal(title, "In this channel");
    const shown = (filter, here = ids) => peopleRows(store, { filter, now: 1000, here });
    assert.deepEqual([names(shown("").here), names(shown("").others)], [["Ada", "Dora", "Bob"], ["Cleo"]]);
    assert.deepEqual([names(shown("cl").here), names(shown("cl").others)], [[], ["Cleo"]]);
    assert.deepEqual(names(shown("", null).others), ["Ada", "Dora", "Bob", "Cleo"]);
    const direct = peopleOf(store, narrowRoute([{ operator: "dm", operand: [3] }]));
    assert.deepEqual([direct.title, [...direct.ids]], ["In this conversation", [3, 1]]);
    assert.equal(peopleOf(store, { kind: "inbox" }), null);
  });

  it("shows those who are offline in a large organization only where they belong to the conversation", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), ...Array.from({ length: 700 }, (_, at) => user(10 + at, `Person ${at}`))], presences: {} });
    const { here, others, hidden } = peopleRows(store, { filter: "", now: 1000, here: new Set([1, 15, 16]) });
    assert.deepEqual([names(here), names(others), hidden], [["Ada", "Person 5", "Person 6"], [], 698]);
    assert.deepEqual(names(peopleRows(store, { filter: "person 699", now: 1000, here: null }).others), ["Person 699"]);
    assert.equal(peopleRows(store, { filter: "pers", now: 1000, here: null }).others.length, 700);
  });

  it("follows who comes and goes", async () => {
    const store = storeWith();
    let requests = 0;
    const need = createSubscriberLists(store, createReplies(store), async () => { requests += 1; return { subscribers: [1, 2] }; });
    await Promise.all([need(10), need(10)]);
    await need(10);
    assert.equal(requests, 1);
    applyEvents(store, [
      { type: "subscription", op: "peer_add", stream_ids: [10, 11], user_ids: [3] },
      { type: "subscription", op: "peer_remove", stream_ids: [10], user_ids: [2] },
      { type: "subscription", op: "remove", subscriptions: [{ stream_id: 10 }] },
    ], { matches: () => false });
    assert.deepEqual([...store.subscribers], [[10, new Set([3])]]);
  });
});

describe("topics with a setting", () => {
  it("are written as people write them", () => {
    const store = storeWith({ user_topics: [{ stream_id: 10, topic_name: "V1/Plan", visibility_policy: 3 }] });
    applyEvents(store, [{ type: "user_topic", stream_id: 11, topic_name: "Über uns", visibility_policy: 1 }], { matches: () => false });
    assert.deepEqual([...store.userTopics.keys()].map(topicOfKey), [{ streamId: 10, topic: "V1/Plan" }, { streamId: 11, topic: "Über uns" }]);
    assert.deepEqual(topicOfKey("channel/12/a/b"), { streamId: 12, topic: "a/b" });
  });
});

describe("what is counted", () => {
  it("is made again only where it changes", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3] }], pms: [], huddles: [], mentions: [2] } });
    const [memo, folded] = [createMemo(), new Set()];
    const sections = () => inboxRows(store, { filter: "", topics: "all", folded }, memo);
    const [design, general] = sections();
    addUnread(store, topicKey(11, "blue"), inTopic(9, 11, "blue"), []);
    const [laterDesign, laterGeneral] = sections();
    assert.deepEqual([design.rows[0].count, laterDesign.rows[0].count], [1, 2]);
    assert.equal(laterGeneral.rows[0], general.rows[0], "the same object, which lists skip");
    assert.equal(general.rows[0].hasMention, true);
    const columns = createMemo();
    const channels = () => sectionRows(store, channelSections(store), { route: { kind: "inbox" }, folded, hrefOf: String }, columns).flatMap(({ rows }) => rows);
    const before = channels();
    removeUnread(store, [9]);
    assert.deepEqual(channels().map((row, at) => row === before[at]), [false, true]);
  });

  it("has mentions that an edit adds, and not those that it removes", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1] }], pms: [], huddles: [], mentions: [] } });
    const edit = (message_id, ...flags) => {
      applyEvents(store, [{ type: "update_message", message_id, message_ids: [message_id], stream_id: 10, content: "x", rendered_content: "x", flags }], { matches: () => false });
      return [...store.mentions];
    };
    assert.deepEqual([edit(1, "mentioned"), edit(1), edit(1, "stream_wildcard_mentioned"), edit(2, "read", "mentioned")], [[1], [], [1], [1]]);
    store.userTopics.set(topicKey(10, "soup"), 1);
    assert.deepEqual(edit(1, "stream_wildcard_mentioned"), []);
  });

  it("has mentions of everyone only where the topic is not muted, as the server counts them", () => {
    const store = storeWith({ subscriptions: [channel(10, "general", { is_muted: true }), channel(11, "design")], user_topics: [{ stream_id: 10, topic_name: "soup", visibility_policy: 2 }] });
    const arrives = (id, streamId, name, flag) => addUnread(store, topicKey(streamId, name), inTopic(id, streamId, name), [flag]);
    arrives(1, 10, "bread", "stream_wildcard_mentioned");
    arrives(2, 10, "bread", "mentioned");
    arrives(3, 10, "soup", "topic_wildcard_mentioned");
    arrives(4, 11, "blue", "stream_wildcard_mentioned");
    assert.deepEqual([...store.mentions], [2, 3, 4]);
  });

  it("counts each message once in the title", () => {
    const store = storeWith({
      unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3, 4] }], pms: [{ other_user_id: 2, unread_message_ids: [5, 6] }], huddles: [], mentions: [1, 3, 5] },
      user_topics: [{ stream_id: 10, topic_name: "soup", visibility_policy: 3 }],
    });
    const counts = [1, 2, 3, 4].map((policy) => {
      store.state.user_settings.desktop_icon_count_display = policy;
      return titleCount(store);
    });
    assert.deepEqual(counts, [6, 5, 4, 0]);
  });

  it("is said to others only where it is another", () => {
    const source = signal(1);
    let runs = 0;
    const end = scope(() => {
      const isOdd = distinct(() => source.value % 2 === 1);
      effect(() => { isOdd.value; runs += 1; });
    });
    for (const value of [3, 5, 6]) { source.value = value; flush(); }
    end();
    assert.equal(runs, 2);
  });
});

describe("effects in a flood of changes", () => {
  it("leave as much time to the user as they take, and one after a pause is not held up", () => {
    const { requestAnimationFrame, setTimeout } = globalThis;
    const { now } = performance;
    let time = 10_000;
    let frames = [];
    let timers = [];
    performance.now = () => time;
    globalThis.requestAnimationFrame = (run) => frames.push(run);
    globalThis.setTimeout = (run, delay = 0) => timers.push([time + delay, run]);
    try {
      const source = signal(0);
      let runs = 0;
      const end = effect(() => { source.value; runs += 1; time += 40; });
      const advance = (milliseconds) => {
        time += milliseconds;
        for (const [, run] of timers.filter(([due]) => due <= time)) run();
        timers = timers.filter(([due]) => due > time);
      };
      const change = () => { source.value += 1; };
      const frame = () => { for (const run of frames.splice(0)) run(); advance(0); };
      // Whatever waits from before.
      flush();
      time += 1000;
      change();
      frame();
      change();
      assert.equal(frames.length, 1, "the second frame comes at once");
      frame();
      assert.equal(runs, 3);
      change();
      assert.equal(frames.length, 0, "the third waits");
      advance(45);
      assert.equal(frames.length, 1);
      frame();
      assert.equal(runs, 4);
      advance(1000);
      change();
      assert.equal(frames.length, 1, "after a pause there is no rest");
      frame();
      end();
    } finally {
      Object.assign(globalThis, { requestAnimationFrame, setTimeout });
      performance.now = now;
    }
  });
});

describe("overviews", () => {
  it("show what is unread by conversation, and filter it", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3] }], pms: [{ other_user_id: 2, unread_message_ids: [4] }], huddles: [], mentions: [] } });
    const shown = (more = {}) => inboxRows(store, { filter: "", topics: "all", folded: new Set(), ...more }).map(({ title, count, rows }) => [title, count, ...rows.map(({ name }) => name)]);
    assert.deepEqual(shown(), [["Direct messages", 1, "Bob"], ["design", 1, "blue"], ["general", 2, "soup"]]);
    assert.deepEqual(shown({ filter: "gen SOU" }), [["general", 2, "soup"]]);
    assert.deepEqual(shown({ topics: "followed" }), [["Direct messages", 1, "Bob"]]);
    assert.deepEqual(shown({ folded: new Set(["dm"]) })[0], ["Direct messages", 1]);
    assert.deepEqual([unreadOfChannel(store, 10), unreadOfChannel(store, 1)], [[1, 2], []]);
  });

  it("help the owner of a new organization, until others are there", () => {
    const people = (...users) => isNew(storeWith({ is_admin: true, realm_users: [user(1, "Ada"), ...users] }));
    assert.deepEqual([people(), people(user(2, "Helper", { is_bot: true })), people(user(3, "Bob"))], [true, true, false]);
    assert.equal(isNew(storeWith({ realm_users: [user(1, "Ada")] })), false, "nobody who may not change it");
  });

  it("show by an icon what is resolved", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "✔ soup", unread_message_ids: [1] }], pms: [], huddles: [], mentions: [] } });
    store.messages.put([inTopic(1, 10, "✔ soup"), inTopic(2, 11, "✔")]);
    const inbox = inboxRows(store, { filter: "", topics: "all", folded: new Set() }).flatMap(({ rows }) => rows);
    const recent = recentRows(store, [1, 2], { filter: "", only: new Set() });
    assert.deepEqual([...inbox, ...recent].map(({ name, isResolved }) => [name, isResolved]), [["soup", true], ["✔", false], ["soup", true]]);
  });

  it("show recent conversations with their people, the latest first", () => {
    const store = storeWith();
    store.messages.put([inTopic(1, 10, "soup"), inTopic(2, 11, "blue", 3), toPeople(3, [1, 2]), inTopic(4, 10, "Soup", 1), inTopic(5, 12, "not in it")]);
    const shown = (...only) => recentRows(store, [1, 2, 3, 4, 5], { filter: "", only: new Set(only) }).map(({ name, people }) => [name, ...people.map((one) => one.name)]);
    assert.deepEqual(shown("dm"), [["Soup", "Ada", "Bob"], ["Bob", "Bob"], ["blue", "Cleo"]]);
    assert.deepEqual(shown(), [["Soup", "Ada", "Bob"], ["blue", "Cleo"]]);
    assert.deepEqual(shown("participated"), [["Soup", "Ada", "Bob"]]);
    assert.deepEqual(shown("dm", "unread"), []);
    store.userTopics.set(topicKey(11, "blue"), 3);
    assert.deepEqual(shown("dm", "followed"), [["Bob", "Bob"], ["blue", "Cleo"]]);
    assert.deepEqual(recentRows(store, [1, 2], { filter: "DES", only: new Set() }).map(({ name }) => name), ["blue"]);
  });

  it("sort recent conversations by time, unread messages, channel or topic", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 4] }, { stream_id: 11, topic: "zebra 10", unread_message_ids: [3] }], pms: [], huddles: [], mentions: [] } });
    store.messages.put([inTopic(1, 10, "soup"), inTopic(2, 11, "Zebra 2"), inTopic(3, 11, "zebra 10"), inTopic(4, 10, "soup"), inTopic(5, 10, "apple")]);
    const sorted = (order) => recentRows(store, [1, 2, 3, 4, 5], { filter: "", only: new Set(), order }).map(({ name }) => name);
    assert.deepEqual(sorted("oldest"), ["Zebra 2", "zebra 10", "soup", "apple"]);
    assert.deepEqual(sorted("unread"), ["soup", "zebra 10", "apple", "Zebra 2"]);
    assert.deepEqual(sorted("channel"), ["zebra 10", "Zebra 2", "apple", "soup"]);
    assert.deepEqual(sorted("topic"), ["apple", "soup", "Zebra 2", "zebra 10"]);
    assert.deepEqual([sorted(""), sorted("constructor")], Array(2).fill(["apple", "soup", "zebra 10", "Zebra 2"]));
  });
});

describe("a timeline opens", () => {
  it("at the message of the link, at the first unread one, where it was left, or at the end", () => {
    const ids = [1, 2, 3];
    assert.deepEqual([[2, ids], [9, ids], [2, null], [undefined, ids]].map(([near, known]) => anchorToLoad({ near, ids: known, beginsUnread: true })), [null, 9, 2, null]);
    assert.deepEqual([true, false].map((begins) => anchorToLoad({ near: undefined, ids: null, beginsUnread: begins })), ["first_unread", "newest"]);
    const place = { id: 2, fraction: 0.5 };
    assert.deepEqual([centreOf({ near: 9, firstUnread: 1, place, isFetched: false }), centreOf({ near: undefined, firstUnread: 1, place, isFetched: false }), centreOf({ near: undefined, firstUnread: null, place, isFetched: false }), centreOf({ near: undefined, firstUnread: null, place, isFetched: true })], [9, 1, 2, Infinity]);
    assert.deepEqual(placesToTry({ near: 9, unreadLine: 1, place }).map(({ id, isTarget }) => [id, isTarget]), [[9, true], [1, false], [2, false]]);
    assert.deepEqual(placesToTry({ near: undefined, unreadLine: null, place: undefined }), []);
    assert.deepEqual([[{ operator: "search", operand: "x" }], [{ operator: "is", operand: "starred" }], topicTerms(10, "a")].map((terms) => beginsUnread(terms, kindOf(terms))), [false, true, true]);
    assert.equal(firstUnreadOf(ids, new Map([[1, { flags: ["read"] }], [3, { flags: [] }]])), 3);
  });

  it("says what is not there", () => {
    const said = [[{ operator: "channel", operand: 10 }], [{ operator: "dm", operand: [2] }], [{ operator: "search", operand: "x" }], [{ operator: "is", operand: "starred" }], [{ operator: "is", operand: "starred", negated: true }]].map((terms) => emptyText(kindOf(terms), terms));
    assert.deepEqual(said.map((text) => text.slice(0, 26)), ["There are no messages here", "There are no messages here", "Nothing was found.", "Messages that you star app", "There are no messages here"]);
  });
});

describe("the rows of a timeline", () => {
  it("have a bar each where messages between them may be missing", () => {
    const store = storeWith();
    store.messages.put([inTopic(1, 10, "soup"), inTopic(2, 10, "soup"), inTopic(3, 11, "blue")]);
    const bars = (terms) => timelineRows(store, [1, 2, 3], { isMixed: true, isPartial: hasPartialConversations(terms), firstUnread: null, revealed: new Set() }).map(({ hasBar, showsSender }) => [hasBar, showsSender]);
    const [whole, each] = [[[true, true], [false, false], [true, true]], [1, 2, 3].map(() => [true, true])];
    const views = [[{ operator: "in", operand: "home" }], [{ operator: "search", operand: "x" }], [{ operator: "is", operand: "starred" }]];
    assert.deepEqual(views.map(bars), [whole, each, each]);
  });

  it("says between which messages the user joined or left the channel, also if they wrote to it before", () => {
    const store = storeWith();
    const old = { flags: ["read", "historical"] };
    store.messages.put([inTopic(1, 10, "a", 2, old), inTopic(2, 10, "a", 1), inTopic(3, 10, "a", 3, old), inTopic(4, 10, "a", 3), inTopic(5, 10, "a", 3), inTopic(6, 10, "a", 3, old)]);
    const changes = (isOfChannel) => timelineRows(store, [1, 2, 3, 4, 5, 6], { isMixed: true, isOfChannel, firstUnread: null, revealed: new Set() }).map(({ change, hasBar, showsSender }) => [change, hasBar, showsSender]);
    assert.deepEqual(changes(true), [[null, true, true], [null, false, true], [null, false, true], ["subscribed", true, true], [null, false, false], ["unsubscribed", true, true]]);
    assert.deepEqual(changes(false).map(([change]) => change), Array(6).fill(null));
    // An edit does not say it.
    applyEvents(store, [{ type: "update_message", message_id: 1, message_ids: [1], stream_id: 10, content: "x", rendered_content: "x", flags: ["read"] }], { matches: () => true });
    assert.equal(changes(true)[3][0], "subscribed");
  });
});

describe("fetching", () => {
  const matches = (_store, terms, message) => message.subject === terms[1].operand;
  const reply = (messages, more = {}) => ({ messages, found_oldest: true, found_newest: true, ...more });

  it("takes in what arrives meanwhile, and asks for each end once", async () => {
    const store = storeWith();
    const asked = [];
    let answer;
    const replies = createReplies(store);
    const fetching = createFetching(store, replies, { matches, requestTerms: (terms) => terms, getMessages: (params) => { asked.push(params); return new Promise((resolve) => { answer = resolve; }); } });
    const range = store.messages.range("a", topicTerms(10, "a"));
    const loading = fetching.load(range, "first_unread");
    replies.note([inTopic(7, 10, "a"), inTopic(8, 10, "b")].map((message) => ({ type: "message", message, flags: [] })));
    answer(reply([inTopic(5, 10, "a")], { found_oldest: false }));
    await loading;
    assert.deepEqual([range.ids, range.isLoaded, range.isStale], [[5, 7], true, false]);
    const older = [fetching.extend(range, "older"), fetching.extend(range, "older")];
    answer(reply([inTopic(4, 10, "a")]));
    assert.deepEqual(await Promise.all(older), [true, false]);
    assert.deepEqual([range.ids, range.hasOldest], [[4, 5, 7], true]);
    assert.equal(await fetching.extend(range, "newer"), false, "there are none");
    assert.deepEqual(asked.map(({ anchor, num_before, num_after }) => [anchor, num_before, num_after]), [["first_unread", 60, 150], ["5", 100, 0]]);
  });

  /** Requests that are answered when the test says so, each with an answer of its own. */
  const asking = () => {
    const open = [];
    return { open, ask: () => new Promise((resolve) => open.push(resolve)) };
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  /** Events as the session takes them. */
  const eventsOf = (store, replies) => (...events) => {
    applyEvents(store, events, { matches: (range, message) => matches(store, range.terms, message) });
    replies.note(events);
  };
  const arrives = (id, subject) => ({ type: "message", message: { ...inTopic(id, 10, subject), sender_id: 2, display_recipient: "" }, flags: ["read"] });
  const moves = (ids, from, to) => ({ type: "update_message", message_id: ids[0], message_ids: ids, stream_id: 10, orig_subject: from, subject: to, propagate_mode: "change_all" });

  it("asks again if another state was registered meanwhile", async () => {
    const store = storeWith();
    const replies = createReplies(store);
    const { open, ask } = asking();
    const fetching = createFetching(store, replies, { matches, requestTerms: (terms) => terms, getMessages: ask });
    const range = store.messages.range("a", topicTerms(10, "a"));
    const loading = fetching.load(range, "newest");
    const [members, subscribers] = [asking(), createSubscriberLists(store, replies, () => members.ask())];
    const listed = subscribers(10);
    reset(store, { user_id: 1, realm_users: [] });
    open[0](reply([{ ...inTopic(5, 10, "a"), content: "old" }]));
    members.open[0]({ subscribers: [1] });
    await settled();
    assert.deepEqual([range.isLoaded, store.messages.byId.size, store.subscribers.size, open.length, members.open.length], [false, 0, 0, 2, 2]);
    open[1](reply([{ ...inTopic(5, 10, "a"), content: "new" }]));
    members.open[1]({ subscribers: [1, 2] });
    await Promise.all([loading, listed]);
    assert.deepEqual([range.isLoaded, range.isStale, store.messages.byId.get(5).content, store.subscribers.get(10).size], [true, false, "new", 2]);
  });

  it("brings lists of topics and people up to date that are older than events", async () => {
    const store = storeWith();
    const replies = createReplies(store);
    const come = eventsOf(store, replies);
    const [topics, people] = [asking(), asking()];
    const lists = createTopicLists(store, replies, topics.ask);
    const loads = [lists.load(10), createSubscriberLists(store, replies, people.ask)(10)];
    come(
      arrives(8, "New"),
      arrives(9, "b"),
      { type: "subscription", op: "peer_add", stream_ids: [10], user_ids: [3, 4] },
      { type: "subscription", op: "peer_remove", stream_ids: [10], user_ids: [2, 4] },
    );
    topics.open[0]({ topics: [{ name: "a", max_id: 7 }, { name: "B", max_id: 2 }] });
    people.open[0]({ subscribers: [1, 2] });
    await Promise.all(loads);
    assert.deepEqual(store.topics.get(10), [{ name: "B", max_id: 9 }, { name: "New", max_id: 8 }, { name: "a", max_id: 7 }]);
    assert.deepEqual([...store.subscribers.get(10)], [1, 3]);

    for (const event of [moves([7], "a", "c"), { type: "delete_message", message_type: "stream", message_ids: [7], stream_id: 10, topic: "a" }]) {
      store.topics.clear();
      topics.open.length = 0;
      const load = lists.load(10);
      come(event);
      topics.open[0]({ topics: [{ name: "a", max_id: 7 }] });
      await settled();
      assert.deepEqual([store.topics.size, topics.open.length], [0, 2], event.type);
      topics.open[1]({ topics: [] });
      await load;
      assert.deepEqual(store.topics.get(10), []);
    }
  });

  it("keeps what is newer than the reply to a report of one's presence", async () => {
    const store = storeWith();
    const replies = createReplies(store);
    const { open, ask } = asking();
    const report = replies.take(ask, (found, since) => {
      applyPresences(store, found);
      applyLatest(store, since, ["presence"]);
    });
    eventsOf(store, replies)({ type: "presence", presences: { 2: { active_timestamp: 100 } } });
    open[0]({ presences: { 2: { active_timestamp: 40, idle_timestamp: 40 }, 3: { active_timestamp: 50 } } });
    await report;
    assert.deepEqual([store.presences.get(2).active_timestamp, store.presences.get(3).active_timestamp], [100, 50]);
  });

  it("notices messages that nobody knows here, whether they are moved or arrive", async () => {
    const store = storeWith();
    const replies = createReplies(store);
    const come = eventsOf(store, replies);
    const { open, ask } = asking();
    const fetching = createFetching(store, replies, { matches: (_store, terms, message) => (terms[1].operator === "search" ? null : matches(store, terms, message)), requestTerms: (terms) => terms, getMessages: ask });
    const range = store.messages.range("a", topicTerms(10, "a"));
    const loading = fetching.load(range, "newest");
    come(moves([3, 6], "b", "a"));
    open[0](reply([inTopic(5, 10, "a"), inTopic(7, 10, "a")], { found_oldest: false }));
    await loading;
    assert.equal(range.isStale, true, "6 is between those that are shown");
    range.isStale = false;
    come(moves([4], "b", "a"), moves([8, 6], "b", "c"));
    assert.equal(range.isStale, false, "4 is before what was fetched, and the others are elsewhere");
    come(moves([8], "b", "a"));
    assert.equal(range.isStale, true);

    const found = store.messages.range("search", [{ operator: "channel", operand: 10 }, { operator: "search", operand: "x" }]);
    const searching = fetching.load(found, "newest");
    come(arrives(9, "c"));
    open[1](reply([inTopic(5, 10, "a")]));
    await searching;
    assert.deepEqual([found.ids, found.hasNewest], [[5], false], "only the server knows whether 9 is found");
  });

  it("keeps a message hidden that is about to be deleted", () => {
    const store = storeWith();
    store.messages.put([inTopic(5, 10, "a")]);
    store.messages.update(5, () => ({ isLeaving: true }));
    store.messages.put([inTopic(5, 10, "a")]);
    assert.equal(store.messages.byId.get(5).isLeaving, true);
  });

  it("fetches each list of topics once, and again after a failure", async () => {
    const store = storeWith();
    let fails = true;
    const asked = [];
    const lists = createTopicLists(store, createReplies(store), async (id) => { asked.push(id); if (fails) throw new Error("no network"); return { topics: [{ name: "a", max_id: 1 }] }; });
    await lists.need(10);
    await assert.rejects(lists.load(10));
    fails = false;
    await Promise.all([lists.need(10), lists.load(10)]);
    assert.equal(lists.load(10), undefined);
    await lists.needOf([10, 11, 12], () => store.topics.size < 2);
    assert.deepEqual([asked.slice(0, 3), store.topics.get(10)], [[10, 10, 10], [{ name: "a", max_id: 1 }]]);
  });
});

describe("a page that is open for days", () => {
  const arrive = (store, shown, first, last) => {
    const context = { matches: (range) => range === shown };
    for (let id = first; id <= last; id++) applyEvents(store, [{ type: "message", message: inTopic(id, 10, "news"), flags: ["read"] }], context);
  };

  it("cuts runs that grow, at the old end", () => {
    const store = storeWith();
    const range = Object.assign(store.messages.range("feed", []), { isLoaded: true, hasOldest: true, hasNewest: true });
    arrive(store, range, 1, 6000);
    assert.deepEqual([range.ids.length, range.isLong(), range.hasOldest], [6000, true, true]);
    arrive(store, range, 6001, 6001);
    assert.deepEqual([range.ids.length, range.ids.at(-1), range.isLong(), range.hasOldest, range.hasNewest], [1500, 6001, false, false, true]);
    // One that is read in the middle is cut around that place.
    arrive(store, range, 6002, 9000);
    range.trimAround(5000);
    assert.deepEqual([range.ids[0], range.ids.length, range.hasNewest], [4502, 1500, false]);
  });

  it("forgets messages that no run has", () => {
    const store = storeWith();
    const range = Object.assign(store.messages.range("topic", []), { isLoaded: true, hasOldest: true, hasNewest: true });
    arrive(store, range, 1, 100);
    arrive(store, null, 101, 30_000);
    assert.ok(store.messages.byId.size <= 8000, `${store.messages.byId.size} messages`);
    assert.ok(range.ids.every((id) => store.messages.byId.has(id)));
  });
});

describe("reading", () => {
  it("marks here at once, and on the server in one request, again if that breaks", async () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "a", unread_message_ids: [1, 2] }], pms: [], huddles: [], mentions: [] } });
    store.messages.put([inTopic(1, 10, "a"), inTopic(2, 10, "a")]);
    const sent = [];
    let fails = true;
    const reading = createReading(store, { isTransient: () => true, requestTerms: (terms) => terms, updateFlags: async (ids) => { sent.push(ids); if (fails) throw new Error("no network"); }, updateFlagsForNarrow: async (params) => { sent.push(params.anchor); return { found_newest: sent.length > 3, last_processed_id: 77 }; } });
    reading.mark([1]);
    reading.mark([1, 2]);
    assert.equal(unreadCounts(store).home, 0);
    reading.flush();
    await new Promise((resolve) => setTimeout(resolve));
    fails = false;
    await reading.markNarrow(topicTerms(10, "a"), "add");
    assert.deepEqual(sent, [[1, 2], [1, 2], "oldest", "77"]);
    flush();
  });

  it("leave nothing that is not counted once all messages are marked", async () => {
    const store = storeWith({ unread_msgs: { streams: [], pms: [], huddles: [], mentions: [], old_unreads_missing: true } });
    const reading = createReading(store, { isTransient: () => true, requestTerms: (terms) => terms, updateFlags: async () => {}, updateFlagsForNarrow: async () => ({ found_newest: true, last_processed_id: 5 }) });
    const left = [];
    for (const [terms, op] of [[topicTerms(10, "a"), "add"], [[], "remove"], [[], "add"]]) {
      await reading.markNarrow(terms, op);
      left.push(store.hasOlderUnread);
    }
    assert.deepEqual(left, [true, true, false]);
    flush();
  });

  it("are sent at once when the page is left, in requests that outlive it", async () => {
    const unread = [{ stream_id: 10, topic: "a", unread_message_ids: [1, 2] }];
    const store = storeWith({ unread_msgs: { streams: unread, pms: [], huddles: [], mentions: [] } });
    const requests = [];
    const before = { fetch: globalThis.fetch, document: globalThis.document };
    Object.assign(globalThis, { document: { cookie: "" }, fetch: (path, { body, keepalive }) => {
      requests.push([path, JSON.parse(body.get("messages")), keepalive]);
      return new Promise(() => {});
    } });
    const reading = createReading(store, { isTransient: () => true, requestTerms: (terms) => terms, updateFlags, updateFlagsForNarrow: async () => ({ found_newest: true, last_processed_id: null }) });
    for (const id of [1, 2]) {
      reading.mark([id]);
      reading.flush();
    }
    Object.assign(globalThis, before);
    assert.deepEqual(requests, [1, 2].map((id) => ["/json/messages/flags", [id], true]));
    flush();
  });
});

describe("deleting a message", () => {
  it("is offered by the permissions of the organization and the channel, and within the time limit", () => {
    const only = (...ids) => ({ direct_members: ids, direct_subgroups: [] });
    const rights = (state, ...messages) => {
      const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), user(4, "Helper", { is_bot: true, bot_owner_id: 1 })], realm_can_delete_any_message_group: only(), realm_can_delete_own_message_group: only(), ...state });
      return messages.map((message) => mayDelete(store, message));
    };
    const now = Date.now() / 1000;
    const [own, bots, others] = [1, 4, 2].map((sender) => inTopic(5, 10, "a", sender, { timestamp: now - 100 }));
    assert.deepEqual(rights({}, own, bots, others, toPeople(6, [1, 2], 1)), [false, false, false, false]);
    assert.deepEqual(rights({ realm_can_delete_own_message_group: only(1) }, own, bots, others), [true, true, false]);
    assert.deepEqual(rights({ realm_can_delete_own_message_group: only(1), realm_message_content_delete_limit_seconds: 60 }, own, bots), [false, false]);
    assert.deepEqual(rights({ realm_can_delete_any_message_group: only(1), realm_message_content_delete_limit_seconds: 60 }, own, others), [true, true]);
    assert.deepEqual(rights({ subscriptions: [channel(10, "general", { can_delete_any_message_group: only(1) })] }, others, toPeople(6, [1, 2], 1)), [true, false]);
  });
});

describe("moving messages", () => {
  it("is offered by the permissions of the organization and of both channels, and within the time limits", () => {
    const only = (...ids) => ({ direct_members: ids, direct_subgroups: [] });
    const none = { realm_can_move_messages_between_topics_group: only(), realm_can_move_messages_between_channels_group: only(), realm_can_resolve_topics_group: only() };
    const rights = (state, ...args) => {
      const { topic: toTopic, channel: toChannel } = moveRights(storeWith({ ...none, ...state }), ...args);
      return [toTopic, toChannel];
    };
    const general = (more) => ({ subscriptions: [channel(10, "general", more), channel(11, "design")] });
    assert.deepEqual(rights({}, 10), [false, false]);
    assert.deepEqual(rights({ is_admin: true }, 10), [true, true]);
    assert.deepEqual(rights({ realm_can_move_messages_between_topics_group: only(1) }, 10), [true, false]);
    assert.deepEqual(rights({ realm_can_move_messages_between_channels_group: only(1) }, 10), [false, true]);
    assert.deepEqual(rights(general({ can_administer_channel_group: only(1) }), 10), [true, true]);
    assert.deepEqual(rights(general({ can_move_messages_out_of_channel_group: only(1) }), 10), [false, true]);
    assert.deepEqual(rights(general({ can_move_messages_within_channel_group: only(1) }), 10), [true, false]);
    assert.deepEqual(rights(general({ can_move_messages_within_channel_group: only(1) }), 11), [false, false]);
    assert.deepEqual(rights(general({ can_move_messages_within_channel_group: only(1) }), 11, { to: 10 }), [true, false]);
    assert.deepEqual(rights({ is_admin: true, ...general({ is_archived: true }) }, 10), [false, false]);
    const limits = { realm_can_move_messages_between_topics_group: only(1), realm_can_move_messages_between_channels_group: only(1), realm_move_messages_within_stream_limit_seconds: 60, realm_move_messages_between_streams_limit_seconds: 3600 };
    const timestamp = Date.now() / 1000 - 100;
    assert.deepEqual([rights(limits, 10, { timestamp }), rights(limits, 10), rights({ ...limits, is_moderator: true }, 10, { timestamp })], [[false, true], [true, true], [true, true]]);
    const promoted = storeWith({ ...none, ...limits });
    applyEvents(promoted, [{ type: "realm_user", op: "update", person: { user_id: 1, role: 200 } }], { matches: () => false });
    assert.deepEqual(moveRights(promoted, 10, { timestamp }), { topic: true, channel: true });
    const store = storeWith({ ...none, ...limits });
    assert.deepEqual([inTopic(5, 10, "a", 2, { timestamp }), inTopic(5, 10, "a", 2, { timestamp: timestamp - 3600 }), toPeople(6, [1, 2])].map((message) => mayMove(store, message)), [true, false, false]);
  });

  it("is another right than resolving topics", () => {
    const only = (...ids) => ({ direct_members: ids, direct_subgroups: [] });
    const store = storeWith({ realm_can_resolve_topics_group: only(2), realm_can_move_messages_between_topics_group: only(1), subscriptions: [channel(10, "general", { can_resolve_topics_group: only(1) }), channel(11, "design", { can_resolve_topics_group: only() }), channel(13, "old", { can_resolve_topics_group: only(1), is_archived: true })] });
    assert.deepEqual([10, 11, 13].map((id) => mayResolve(store, id)), [true, false, false]);
    assert.equal(remark(store, topic(11, "✔ a"), "well").mayResolve, false);
  });
});

describe("times in lists", () => {
  it("are those of the clock for 24 hours, and days after that", () => {
    // Without one, names of days and months are in the language of the machine.
    setLocale("en", []);
    const at = (...parts) => new Date(2026, ...parts).getTime() / 1000;
    const now = at(4, 13, 9, 0);
    const shown = (...parts) => relativeTime(at(...parts), true, now);
    assert.deepEqual([shown(4, 13, 8, 59), shown(4, 12, 23, 50), shown(4, 12, 9, 1)], ["08:59", "23:50", "09:01"]);
    assert.deepEqual([shown(4, 12, 8, 59), shown(4, 12, 0, 1), shown(4, 11, 23, 59), shown(4, 7, 12, 0)], ["Yesterday", "Yesterday", "Monday", "Thursday"]);
    assert.deepEqual([shown(4, 1, 12, 0), shown(-3, 1, 12, 0)], ["May 1", "Oct 1, 2025"]);
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

describe("a picture", () => {
  const [picture, stage] = [{ width: 400, height: 200 }, { width: 400, height: 300 }];

  it("is enlarged around a point, and stays on the stage", () => {
    assert.deepEqual(zoomed(WHOLE, 2, { x: 50, y: -20 }), { scale: 2, x: -50, y: 20 });
    assert.equal(zoomed(WHOLE, 100, { x: 0, y: 0 }).scale, 8);
    assert.deepEqual(zoomed({ scale: 2, x: -50, y: 20 }, 0.5, { x: 50, y: -20 }), WHOLE);
    assert.deepEqual(clamped({ scale: 2, x: 500, y: -500 }, picture, stage), { scale: 2, x: 200, y: -50 });
    assert.deepEqual(clamped({ scale: 1.2, x: 10, y: 90 }, picture, stage), { scale: 1.2, x: 10, y: 0 });
    assert.deepEqual(clamped({ scale: 1.01, x: 10, y: 5 }, picture, stage), WHOLE);
    assert.deepEqual(moved({ scale: 2, x: 1, y: 1 }, 4, -1), { scale: 2, x: 5, y: 0 });
    assert.deepEqual(pinch({ x: 0, y: 0 }, { x: 6, y: 8 }), { x: 3, y: 4, space: 10 });
  });
});

describe("a search", () => {
  const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bo Diddley"), user(3, "Bo Derek"), user(4, "Cleo")] });

  it("is shown term by term, each of which can be left out", () => {
    const terms = parseSearch(store, "sender:cleo -channel:general has:link soup of the day");
    assert.deepEqual(searchPills(store, [...terms, { operator: "near", operand: 5 }]).map(({ label, others }) => [label, others.length]), [["sender: Cleo", 3], ["not channel: general", 3], ["has: link", 3], ["“soup of the day”", 3]]);
  });

  it("keeps what it understands as terms, and the rest as words", () => {
    const taken = ({ terms, rest }) => [...terms.map(({ operator, operand, negated }) => `${negated ? "-" : ""}${operator} ${operand}`), rest];
    assert.deepEqual(taken(takeTerms(store, "soup channel:gen -sender:cleo of before:2026-11-24 channel:e sender:")), ["channel 10", "-sender 4", "before 2026-11-24", "soup of channel:e sender:"]);
    assert.deepEqual(parseSearch(store, "on:2026-11-24 soup").map(({ operator, operand }) => [operator, operand]), [["date", "2026-11-24"], ["search", "soup"]]);
    const { others, seconds, isBefore } = splitDate(parseSearch(store, "until:2026-11-24 channel:design"));
    assert.deepEqual([others.map(({ operator }) => operator), seconds, isBefore], [["channel"], new Date(2026, 10, 24).getTime() / 1000, true]);
    assert.deepEqual(suggestions(store, "date:yes").map(({ text }) => text), ["date:yesterday "]);
    assert.deepEqual(suggestions(store, "date:2025-03").map(({ text, detail }) => [text, detail]), [["date:2025-03 ", "2025-03-01"]]);
  });

  it("knows days, and finds where they begin with few requests", async () => {
    const now = new Date(2026, 10, 24, 15, 30);
    const day = (text) => { const seconds = dayOfText(text, now); return seconds === null ? null : new Date(seconds * 1000).toDateString(); };
    assert.deepEqual(["today", "Yesterday", "monday", "tuesday", "2026-02-28", "2026-02", "2026"].map(day), ["Tue Nov 24 2026", "Mon Nov 23 2026", "Mon Nov 23 2026", "Tue Nov 17 2026", "Sat Feb 28 2026", "Sun Feb 01 2026", "Thu Jan 01 2026"]);
    assert.deepEqual(["2026-02-30", "soon", "", "26-1-1"].map(day), [null, null, null, null]);
    // Ten thousand messages with gaps between their ids, most of them of late.
    const all = Array.from({ length: 10_000 }, (_, index) => ({ id: 7 + index * 3 + (index % 2), timestamp: 1_000_000 + Math.floor(index ** 0.5 * 1000) }));
    let requests = 0;
    const load = async ({ anchor, num_before, num_after }) => {
      requests++;
      const at = anchor === "oldest" ? 0 : anchor === "newest" ? all.length : all.findIndex(({ id }) => id >= anchor);
      return all.slice(Math.max(0, at - num_before), at + num_after);
    };
    for (const wanted of [0, 4, 1234, 5000, 9998]) {
      requests = 0;
      const seconds = all[wanted].timestamp + 1;
      assert.equal(await messageAt(load, seconds, false), all.find(({ timestamp }) => timestamp >= seconds).id, String(wanted));
      assert.equal(await messageAt(load, seconds, true), all.findLast(({ timestamp }) => timestamp < seconds).id, String(wanted));
      assert.ok(requests < 40, `${requests} requests`);
    }
    assert.deepEqual([await messageAt(load, 5, false), await messageAt(load, 5, true)], [7, null]);
    assert.deepEqual([await messageAt(load, 9_999_999, false), await messageAt(load, 9_999_999, true)], [null, all.at(-1).id]);
    assert.equal(await messageAt(async () => [], 5, false), null);
  });

  it("takes names of several words, and spaces in quotes", () => {
    const terms = (text) => parseSearch(store, text).map(({ operator, operand }) => `${operator} ${operand}`);
    assert.deepEqual(terms("sender:Bo Diddley soup"), ["sender 2", "search soup"]);
    assert.deepEqual(terms("dm:bo derek,bo diddley soup"), ["dm 2,3", "search soup"]);
    assert.deepEqual(terms("sender:cleo diddley"), ["sender 4", "search diddley"]);
    assert.deepEqual(terms('channel:"general" topic:"long run" soup'), ["channel 10", "topic long run", "search soup"]);
    assert.deepEqual(terms("streams:public soup"), ["channels public", "search soup"]);
    assert.deepEqual(takeTerms(store, "sender:Bo Diddley ").rest, "");
    const namesakes = storeWith({ realm_users: [user(1, "Ada"), { ...user(2, "Bo"), email: "bo@x.org" }, { ...user(3, "Bo"), email: "bo@y.org" }] });
    assert.deepEqual(suggestions(namesakes, "sender:bo").map(({ label, detail }) => [label, detail]), [["sender:bo@x.org", "Bo"], ["sender:bo@y.org", "Bo"]]);
    assert.deepEqual(["from:cl", "stream:gen", "pm-with:cl"].map((text) => suggestions(store, text)[0]?.text), ["from:Cleo ", "stream:general ", "pm-with:Cleo "]);
    assert.deepEqual(["fro", "-str", "pm-w"].map((text) => suggestions(store, text)[0]?.text), ["sender:", "-channel:", "dm:"]);
    assert.deepEqual(suggestions(store, "has:link dm:Bo D").map(({ text }) => text), ["has:link dm:Bo+Diddley ", "has:link dm:Bo+Derek "]);
  });

  it("asks for one person in each term, as the server takes them", () => {
    const sent = requestTerms([{ operator: "dm-including", operand: [2, 3] }, { operator: "dm", operand: [2, 3] }, { operator: "near", operand: 5 }]);
    assert.deepEqual(sent.map(({ operator, operand }) => [operator, operand]), [["dm-including", 2], ["dm-including", 3], ["dm", [2, 3]]]);
  });

  it("says what it does not understand, instead of looking for it as words", () => {
    const said = (text) => searchProblem(store, text)?.split(/[.:“]/)[0] ?? null;
    assert.deepEqual(["sender:bo", "from:nobody", "before:2026-13-01", "channel:e", "colour:red", "topic:"].map(said), ["", "", "", "", "There is no search operator ", "Please write something after "]);
    assert.match(searchProblem(store, "since:long ago"), /^“long” is not a day\. Write it as \d{4}-\d\d-\d\d/);
    assert.match(searchProblem(store, "sender:bo"), /^“bo” matches no person, or several/);
    assert.deepEqual(["sender:cleo soup", "sender:diddley", "\"colour:red\"", "https://example.com", "at 12:30", "-is:muted x"].map((text) => searchProblem(store, text)), [null, null, null, null, null, null]);
  });
});

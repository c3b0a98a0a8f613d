/** Messages: which of them a timeline has and where it opens, reading, deleting and moving them. No server, no browser. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { updateFlags } from "../../web/js/api/endpoints.js";
import { flush } from "../../web/js/lib/signal.js";
import { agesUnseen, anchorToLoad, beginsUnread, centreOf, emptyText, firstUnreadOf, placesToTry } from "../../web/js/selectors/opening.js";
import { hasPartialConversations, kindOf, topicTerms } from "../../web/js/selectors/narrow.js";
import { groupRights, mayAddTo, mayRemoveFrom } from "../../web/js/selectors/group_settings.js";
import { mayDelete, mayMove, moveRights } from "../../web/js/selectors/message_rights.js";
import { differOnlyInReading, timelineRows } from "../../web/js/selectors/timeline_rows.js";
import { topicItems } from "../../web/js/selectors/sidebar_items.js";
import { mayResolve, remark } from "../../web/js/selectors/writing.js";
import { topTopic } from "../../web/js/store/channels.js";
import { applyEvents, applyLatest } from "../../web/js/store/events.js";
import { createFetching, createReplies, createSubscriberLists, createTopicLists } from "../../web/js/store/fetching.js";
import { may, mayIn } from "../../web/js/store/lists.js";
import { createReading } from "../../web/js/store/reading.js";
import { reset } from "../../web/js/store/store.js";
import { applyPresences } from "../../web/js/store/users.js";
import { unreadCounts } from "../../web/js/store/unread.js";
import { user, channel, storeWith, topic, inTopic, toPeople } from "./states.js";

describe("a timeline opens", () => {
  it("at the message of the link, at the first unread one, where it was left, or at the end", () => {
    const ids = [1, 2, 3];
    assert.deepEqual([[2, ids], [9, ids], [2, null], [undefined, ids]].map(([near, known]) => anchorToLoad({ near, ids: known, beginsUnread: true })), [null, 9, 2, null]);
    assert.deepEqual([true, false].map((begins) => anchorToLoad({ near: undefined, ids: null, beginsUnread: begins })), ["first_unread", "newest"]);
    const place = { id: 2, fraction: 0.5 };
    assert.deepEqual([centreOf({ near: 9, firstUnread: 1, place, isFetched: false }), centreOf({ near: undefined, firstUnread: 1, place, isFetched: false }), centreOf({ near: undefined, firstUnread: null, place, isFetched: false }), centreOf({ near: undefined, firstUnread: null, place, isFetched: true })], [9, 1, 2, Infinity]);
    assert.deepEqual(placesToTry({ near: 9, unreadLine: 1, place }).map(({ id, isMark, isTarget }) => [id, isMark, isTarget]), [[9, true, true], [1, true, false], [2, false, false]]);
    assert.deepEqual(placesToTry({ near: undefined, unreadLine: null, place: undefined }), []);
    assert.deepEqual([[{ operator: "search", operand: "x" }], [{ operator: "is", operand: "starred" }], topicTerms(10, "a")].map((terms) => beginsUnread(terms, kindOf(terms))), [false, true, true]);
    assert.equal(firstUnreadOf(ids, new Map([[1, { flags: ["read"] }], [3, { flags: [] }]])), 3);
  });

  it("says what is not there", () => {
    const said = [[{ operator: "channel", operand: 10 }], [{ operator: "dm", operand: [2] }], [{ operator: "search", operand: "x" }], [{ operator: "is", operand: "starred" }], [{ operator: "is", operand: "starred", negated: true }]].map((terms) => emptyText(kindOf(terms), terms));
    assert.deepEqual(said.map((text) => text.slice(0, 26)), ["There are no messages here", "There are no messages here", "Nothing was found.", "Messages that you star app", "There are no messages here"]);
  });
});

describe("a view that was opened before", () => {
  it("is fetched again once it has other messages", () => {
    const store = storeWith();
    const names = ["is:starred", "is:mentioned", "is:alerted", "is:followed", "is:muted", "in:home", "in:all", "search:x"];
    const ranges = names.map((name) => {
      const [operator, operand] = name.split(":");
      return Object.assign(store.messages.range(name, [{ operator, operand }]), { isLoaded: true });
    });
    const staleAfter = (event) => {
      for (const range of ranges) range.isStale = false;
      applyEvents(store, [event], { matches: () => null });
      return ranges.filter(({ isStale }) => isStale).map(({ key }) => key);
    };
    const flag = (op, name) => staleAfter({ type: "update_message_flags", flag: name, op, all: false, messages: [7] });
    assert.deepEqual([flag("add", "starred"), flag("remove", "starred"), flag("add", "read")], [["is:starred"], ["is:starred"], []]);
    const edit = (...flags) => staleAfter({ type: "update_message", message_id: 7, message_ids: [7], stream_id: 10, content: "x", rendered_content: "x", flags });
    assert.deepEqual([edit("read"), edit("topic_wildcard_mentioned"), edit("has_alert_word")], [[], ["is:mentioned"], ["is:alerted"]]);
    store.messages.put([{ ...inTopic(7, 10, "soup"), flags: ["mentioned"] }]);
    assert.deepEqual([edit("read"), edit("read")], [["is:mentioned"], []], "the mention is taken out");
    const policy = (value) => staleAfter({ type: "user_topic", stream_id: 10, topic_name: "soup", visibility_policy: value });
    assert.deepEqual([policy(3), policy(3), policy(1), policy(2)], [["is:followed"], [], ["is:followed", "is:muted", "in:home"], ["is:muted", "in:home"]]);
    const subscription = (event) => staleAfter({ type: "subscription", stream_id: 10, ...event });
    assert.deepEqual(subscription({ op: "update", property: "color", value: "#abcdef" }), []);
    assert.deepEqual(subscription({ op: "update", property: "is_muted", value: true }), ["is:muted", "in:home"]);
    assert.deepEqual(subscription({ op: "remove", subscriptions: [{ stream_id: 10 }] }), ["is:muted", "in:home"]);
  });

  it("is fetched again each time if no event says that it has", () => {
    const views = [["is", "unread"], ["has", "reaction"], ["is", "starred"], ["has", "link"], ["search", "unread"]];
    assert.deepEqual(views.map(([operator, operand]) => agesUnseen([{ operator: "sender", operand: 2 }, { operator, operand }])), [true, true, false, false, false]);
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

  it("stay as they are when a message is fetched and comes with its event as well", () => {
    const store = storeWith();
    const message = inTopic(1, 10, "tea", 2, { flags: undefined, reactions: [], submessages: [] });
    const row = () => timelineRows(store, [1], { isMixed: false, firstUnread: null, revealed: new Set() })[0];
    store.messages.put([{ ...structuredClone(message), flags: [] }]);
    const before = row();
    applyEvents(store, [{ type: "message", message, flags: [] }], { matches: () => true });
    assert.notEqual(row().rev, before.rev);
    assert.equal(differOnlyInReading(before, row()), true);
    store.messages.update(1, () => ({ reactions: [{ emoji_name: "tada", emoji_code: "1f389", reaction_type: "unicode_emoji", user_id: 3 }] }));
    assert.equal(differOnlyInReading(before, row()), false);
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

  it("shows lists of topics until newer ones have come", async () => {
    const store = storeWith();
    const replies = createReplies(store);
    const { open, ask } = asking();
    const lists = createTopicLists(store, replies, ask);
    /** Lets the list be fetched, if it has to be. Returns what is shown before and after that. */
    const fetched = async (...names) => {
      const shown = () => topicItems(store, 10, null, true).items.map(({ name }) => name);
      const before = shown();
      const loading = lists.load(10);
      open.shift()?.({ topics: names.map((name, at) => ({ name, max_id: 9 - at })) });
      await loading;
      return [before, shown(), topTopic(store, 10)];
    };
    assert.deepEqual(await fetched("a", "b"), [[], ["a", "b"], "a"]);
    eventsOf(store, replies)(moves([7], "b", "c"));
    assert.equal(topTopic(store, 10), undefined, "links lead to no topic that may have gone");
    assert.deepEqual(await fetched("a", "c"), [["a", "b"], ["a", "c"], "a"]);
    assert.deepEqual(await fetched(), [["a", "c"], ["a", "c"], "a"], "it is up to date");
    eventsOf(store, replies)({ type: "delete_message", message_type: "stream", message_ids: [7], stream_id: 10, topic: "c" });
    assert.deepEqual(await fetched("a"), [["a", "c"], ["a"], "a"]);
    reset(store, { user_id: 1, realm_users: [], subscriptions: [channel(10, "general")] });
    assert.deepEqual(await fetched("d", "a"), [["a"], ["d", "a"], "d"]);
    reset(store, { user_id: 1, realm_users: [], subscriptions: [] });
    assert.equal(store.topics.size, 0, "a channel that the user cannot see any more");
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

  it("shows the text of an edit in place of what a search has found", async () => {
    const store = storeWith();
    const replies = createReplies(store);
    const found = inTopic(5, 10, "a", 2, { match_content: "an <b>old</b> text", match_subject: "a" });
    const fetching = createFetching(store, replies, { matches, requestTerms: (terms) => terms, getMessages: async () => reply([found, { ...found, id: 6 }]) });
    const range = store.messages.range("search", topicTerms(10, "a"));
    await fetching.load(range, "newest");
    const before = [...range.matches.keys()];
    eventsOf(store, replies)({ type: "update_message", message_id: 5, message_ids: [5], stream_id: 10, content: "new", rendered_content: "new", flags: [] });
    assert.deepEqual([before, [...range.matches.keys()]], [[5, 6], [6]]);
  });

  it("counts mentions of everyone again in what is muted, no longer muted, or moved there", async () => {
    const streams = [{ stream_id: 10, topic: "a", unread_message_ids: [1, 2] }, { stream_id: 10, topic: "b", unread_message_ids: [3] }];
    const store = storeWith({ unread_msgs: { streams, pms: [], huddles: [], mentions: [1, 2, 3] } });
    const replies = createReplies(store);
    const flags = new Map([[1, ["stream_wildcard_mentioned"]], [2, ["mentioned"]], [3, ["topic_wildcard_mentioned"]]]);
    const asked = [];
    const getMessages = async ({ narrow }) => {
      asked.push(narrow.map(({ operand }) => operand));
      return reply([...flags].map(([id, own]) => inTopic(id, 10, "", 2, { flags: own })));
    };
    const fetching = createFetching(store, replies, { matches, requestTerms: (terms) => terms, getMessages });
    const counts = async (...events) => {
      const under = [];
      const onMuting = (...place) => under.push(fetching.recountMentions(...place));
      applyEvents(store, events, { matches: () => false, onMuting });
      replies.note(events);
      await Promise.all(under);
      return [...store.mentions].toSorted();
    };
    const policy = (topic_name, visibility_policy) => ({ type: "user_topic", stream_id: 10, topic_name, visibility_policy });
    assert.deepEqual(await counts(policy("A", 1)), [2, 3]);
    assert.deepEqual(await counts(policy("b", 3)), [2, 3], "it counts as before");
    assert.deepEqual(await counts({ type: "subscription", op: "update", stream_id: 10, property: "is_muted", value: true }, policy("c", 1)), [2, 3]);
    assert.deepEqual(await counts(policy("a", 2)), [1, 2, 3]);
    assert.deepEqual(await counts(moves([3], "b", "c")), [1, 2]);
    assert.deepEqual(await counts(policy("c", 2), { type: "update_message", message_id: 1, message_ids: [1], stream_id: 10, content: "", flags: [] }), [2, 3], "the edit is newer than the reply");
    assert.deepEqual(asked, [[10, "A", "mentioned", "unread"], [10, "mentioned", "unread"], [10, "a", "mentioned", "unread"], ...[1, 2].map(() => [10, "c", "mentioned", "unread"])]);
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

describe("people of a channel", () => {
  it("are added and removed by those who may", () => {
    const only = (...ids) => ({ direct_members: ids, direct_subgroups: [] });
    const helper = user(4, "Helper", { is_bot: true, bot_owner_id: 1 });
    const rights = (state, settings = {}) => {
      const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), helper], realm_can_add_subscribers_group: only(), subscriptions: [channel(10, "general", settings)], ...state });
      const general = store.channels.get(10);
      return [mayAddTo(store, general), ...[1, 2, 4].map((id) => mayRemoveFrom(store, general, store.users.get(id)))];
    };
    assert.deepEqual(rights({}), [false, true, false, true], "oneself and one's bots");
    assert.deepEqual(rights({ realm_can_add_subscribers_group: only(1) }), [true, true, false, true]);
    assert.deepEqual(rights({}, { can_add_subscribers_group: only(1) }), [true, true, false, true]);
    assert.deepEqual(rights({}, { can_remove_subscribers_group: only(1) }), [false, true, true, true]);
    for (const all of [rights({}, { can_administer_channel_group: only(1) }), rights({ is_admin: true })]) assert.deepEqual(all, [true, true, true, true]);
  });
});

describe("a guest", () => {
  const all = { direct_members: [1], direct_subgroups: [] };
  const rules = { closed: { allow_everyone_group: false }, open: { allow_everyone_group: true } };
  const supported = {
    realm: { can_delete_any_message_group: rules.closed, can_delete_own_message_group: rules.open, can_move_messages_between_channels_group: rules.closed, can_move_messages_between_topics_group: rules.open, can_add_subscribers_group: rules.closed, can_resolve_topics_group: rules.open, can_manage_all_groups: rules.closed },
    stream: { can_delete_any_message_group: rules.closed, can_administer_channel_group: rules.closed, can_move_messages_out_of_channel_group: rules.open, can_add_subscribers_group: rules.closed },
    group: { can_manage_group: rules.closed, can_add_members_group: rules.closed, can_remove_members_group: rules.closed, can_join_group: rules.closed, can_leave_group: rules.open },
  };
  const permissions = (kind, prefix) => Object.fromEntries(Object.keys(supported[kind]).map((name) => [prefix + name, all]));
  const storeFor = (is_guest, more = {}) => storeWith({ is_guest, server_supported_permission_settings: supported, ...permissions("realm", "realm_"), ...more });

  it("has no permission that may not be given to everyone, even through a group that has it", () => {
    const settings = Object.keys(supported.realm);
    assert.deepEqual(settings.filter((name) => may(storeFor(false), name)), settings);
    assert.deepEqual(settings.filter((name) => may(storeFor(true), name)), settings.filter((name) => supported.realm[name] === rules.open));
    const group = { id: 5, name: "editors", members: [], direct_subgroup_ids: [], ...permissions("group", "") };
    const rightsOf = (is_guest, members) => Object.entries(groupRights(storeFor(is_guest), { ...group, members })).filter(([, is]) => is).map(([name]) => name);
    assert.deepEqual(rightsOf(false, []), ["mayManage", "mayAdd", "mayRemove", "mayJoin"]);
    assert.deepEqual([rightsOf(true, []), rightsOf(true, [1])], [[], ["isMember"]]);
  });

  it("has none of those in a channel either", () => {
    const nobody = { direct_members: [], direct_subgroups: [] };
    const none = Object.fromEntries(Object.keys(supported.realm).map((name) => [`realm_${name}`, nobody]));
    const rightsOf = (is_guest, setting) => {
      const store = storeFor(is_guest, { ...none, subscriptions: [channel(10, "general", { [setting]: all })] });
      const { topic: toTopic, channel: toChannel } = moveRights(store, 10);
      return [mayDelete(store, inTopic(5, 10, "a")), mayIn(store, "can_add_subscribers_group", store.channels.get(10)), toTopic, toChannel];
    };
    const settings = Object.keys(supported.stream);
    assert.deepEqual(settings.map((setting) => rightsOf(false, setting)), [[true, false, false, false], [false, false, true, true], [false, false, false, true], [false, true, false, false]]);
    assert.deepEqual(settings.map((setting) => rightsOf(true, setting).indexOf(true)), [-1, -1, 3, -1]);
  });
});

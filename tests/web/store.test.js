/** The store: a state and the events after it are the same as a later state. Against the real server. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { REGISTRATION } from "../../web/js/api/endpoints.js";
import { fragmentOf, matches, narrowKey, parseNarrow } from "../../web/js/selectors/narrow.js";
import { completionsFor, triggerAt } from "../../web/js/selectors/completions.js";
import { parseSearch, searchText } from "../../web/js/selectors/search_terms.js";
import { differOnlyInReading, isSameRow, timelineRows } from "../../web/js/selectors/timeline_rows.js";
import { channelSections, directItems } from "../../web/js/selectors/sidebar_items.js";
import { keep, kept } from "../../web/js/lib/storage.js";
import { Range } from "../../web/js/store/messages.js";
import { createOutbox } from "../../web/js/store/outbox.js";
import { createDrafts, forgetKnownDrafts, moving } from "../../web/js/store/drafts.js";
import { applyEvents } from "../../web/js/store/events.js";
import { createFetching, createReplies } from "../../web/js/store/fetching.js";
import { createStore, reset } from "../../web/js/store/store.js";
import { unreadCounts } from "../../web/js/store/unread.js";
import { createMessageWindow } from "../../web/js/views/message_window.js";
import { startServer } from "./harness.js";

let server;
const ids = {};

before(async () => {
  server = await startServer({ people: [{ name: "Ada", role: "owner" }, { name: "Bob" }, { name: "Cleo" }] });
  for (const [name, { user_id }] of Object.entries(server.accounts)) ids[name] = user_id;
  for (const name of ["general", "a.b (c)"]) await server.channel(name, Object.keys(ids));
});

after(() => server?.close());

const register = (name) => server.call(name, "POST", "/register", REGISTRATION);

function storeOf(state) {
  const store = createStore();
  reset(store, structuredClone(state));
  return store;
}

/** What can be compared: not times of presence, and nothing of the queue. */
function snapshot(store) {
  const sorted = (map) => Object.fromEntries([...map].map(([key, value]) => [key, value instanceof Set ? [...value].sort() : value]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  const skipped = /^(queue_id|last_event_id|max_message_id|server_timestamp|presence|event_queue|.*_count$|realm_user_groups)/;
  const state = Object.fromEntries(Object.entries(store.state).filter(([name]) => !skipped.test(name)));
  const channels = sorted(new Map([...store.channels].map(([id, { subscriber_count: _c, stream_weekly_traffic: _t, is_recently_active: _a, email_address: _e, subscribers: _s, partial_subscribers: _p, ...channel }]) => [id, channel])));
  const groups = (store.state.realm_user_groups ?? []).toSorted((a, b) => a.id - b.id);
  return JSON.parse(JSON.stringify({ state, groups, users: sorted(store.users), statuses: sorted(store.statuses), muted: [...store.mutedUsers], channels, topics: sorted(store.userTopics), unread: sorted(store.unread), mentions: [...store.mentions].sort(), starred: [...store.starred].sort(), directs: sorted(store.directs) }));
}

describe("state and events", () => {
  it("are the same as a later state", async () => {
    const before = await register("Ada");
    const store = storeOf(before);
    const stream = (await server.call("Ada", "GET", "/streams")).streams.find(({ name }) => name === "general").stream_id;
    const one = await server.send("Bob", "general", "first", "Hello @**Ada**");
    const two = await server.send("Bob", "general", "first", "Again");
    await server.send("Cleo", "general", "second", "@**all** look");
    const direct = await server.direct("Bob", ["Ada"], "psst");
    await server.direct("Cleo", ["Ada", "Bob"], "the three of us");
    await server.call("Ada", "POST", "/messages/flags", { messages: [one.id], op: "add", flag: "starred" });
    await server.call("Ada", "POST", "/messages/flags", { messages: [two.id, direct.id], op: "add", flag: "read" });
    await server.call("Ada", "POST", "/messages/flags", { messages: [direct.id], op: "remove", flag: "read" });
    await server.call("Bob", "PATCH", `/messages/${one.id}`, { topic: "elsewhere", propagate_mode: "change_all" });
    await server.call("Ada", "PATCH", "/settings", { twenty_four_hour_time: true, full_name: "Ada L" });
    await server.call("Ada", "PATCH", "/realm", { name: "The team", mandatory_topics: true });
    await server.call("Ada", "POST", "/user_topics", { stream_id: stream, topic: "second", visibility_policy: 3 });
    await server.call("Ada", "POST", "/users/me/subscriptions/properties", { subscription_data: [{ stream_id: stream, property: "pin_to_top", value: true }] });
    await server.call("Ada", "PATCH", `/streams/${stream}`, { description: "New *words*" });
    await server.call("Ada", "POST", "/channels/create", { name: "third", subscribers: [ids.Ada, ids.Bob] });
    await server.call("Ada", "DELETE", "/users/me/subscriptions", { subscriptions: ["a.b (c)"] });
    await server.call("Ada", "POST", "/user_groups/create", { name: "gardeners", description: "", members: [ids.Ada, ids.Bob] });
    await server.call("Ada", "POST", "/drafts", { drafts: [{ type: "stream", to: [stream], topic: "x", content: "draft" }] });
    await server.call("Ada", "POST", "/saved_snippets", { title: "t", content: "c" });
    await server.call("Ada", "POST", "/scheduled_messages", { type: "direct", to: [ids.Bob], content: "later", scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3600 });
    await server.call("Ada", "POST", "/users/me/alert_words", { alert_words: ["tea"] });
    await server.call("Ada", "POST", `/users/me/muted_users/${ids.Cleo}`);
    await server.call("Ada", "POST", "/users/me/status", { status_text: "Busy", emoji_name: "tada" });
    await server.call("Ada", "POST", "/users/me/status", { emoji_name: "", emoji_code: "", reaction_type: "" });
    await server.call("Ada", "POST", "/channel_folders/create", { name: "Projects", description: "" });
    await server.call("Ada", "POST", "/realm/filters", { pattern: "#(?P<id>[0-9]+)", url_template: "https://example.com/{id}" });
    const filters = [await server.call("Ada", "POST", "/realm/filters", { pattern: "DOC-(?P<id>[0-9]+)", url_template: "https://example.com/{id}" })];
    const { linkifiers } = await server.call("Ada", "GET", "/realm/linkifiers");
    assert.equal(linkifiers.at(-1).id, filters[0].id);
    await server.call("Ada", "PATCH", "/realm/linkifiers", { ordered_linkifier_ids: linkifiers.map(({ id }) => id).reverse() });
    await server.call("Ada", "POST", "/realm/playgrounds", { name: "Try", pygments_language: "Python", url_template: "https://example.com/{code}" });
    await server.call("Ada", "POST", "/default_streams", { stream_id: stream });
    await server.call("Ada", "PATCH", "/realm/user_settings_defaults", { web_home_view: "all_messages" });
    for (const name of ["Lunch", "Tea"]) await server.call("Ada", "POST", "/realm/profile_fields", { name, field_type: 1, hint: "" });
    const { custom_fields: fields } = await server.call("Ada", "GET", "/realm/profile_fields");
    await server.call("Ada", "PATCH", "/realm/profile_fields", { order: fields.map(({ id }) => id).reverse() });
    await server.call("Ada", "PATCH", `/users/${ids.Bob}`, { role: 300 });
    const gone = await server.send("Bob", "general", "gone", "Delete me");
    await server.call("Ada", "DELETE", `/messages/${gone.id}`);

    const { events } = await server.call("Ada", "GET", "/events", { queue_id: before.queue_id, last_event_id: before.last_event_id, dont_block: true });
    applyEvents(store, events, { matches: () => false });
    const later = storeOf(await register("Ada"));
    assert.deepEqual(snapshot(store), snapshot(later));
    assert.deepEqual(unreadCounts(store), unreadCounts(later));
    assert.deepEqual(channelSections(store).map(({ key }) => key), channelSections(later).map(({ key }) => key));
    assert.deepEqual(directItems(store, null, true).items.map(({ key }) => key), directItems(later, null, true).items.map(({ key }) => key));
  });
});

describe("a reply that is older than the events", () => {
  it("is brought up to date", async () => {
    const before = await register("Ada");
    const store = storeOf(before);
    const terms = [{ operator: "channel", operand: (await server.call("Ada", "GET", "/get_stream_id", { stream: "general" })).stream_id }, { operator: "topic", operand: "late" }];
    const sent = {};
    for (const name of ["edited", "liked", "starred", "moved", "deleted"]) sent[name] = (await server.send("Bob", "general", "late", name)).id;
    sent.poll = (await server.send("Bob", "general", "late", "/poll Tea?\nYes")).id;
    let reply;
    const fetchingOf = (one, replies) => createFetching(one, replies, {
      getMessages: async (params) => (reply ? reply.promise : server.call("Ada", "GET", "/messages", { ...params, apply_markdown: true })),
      getMessage: (id) => server.call("Ada", "GET", `/messages/${id}`),
      requestTerms: (own) => own,
      matches,
    });
    const replies = createReplies(store);
    const fetching = fetchingOf(store, replies);
    const old = await server.call("Ada", "GET", "/messages", { narrow: terms, anchor: "newest", num_before: 100, num_after: 0 });
    reply = {};
    reply.promise = new Promise((resolve) => { reply.resolve = resolve; });
    const range = store.messages.range("late", terms);
    const loaded = fetching.load(range, "newest");

    await server.call("Bob", "PATCH", `/messages/${sent.edited}`, { content: "edited later" });
    await server.call("Bob", "POST", `/messages/${sent.liked}/reactions`, { emoji_name: "tada" });
    await server.call("Ada", "POST", "/messages/flags", { messages: [sent.starred], op: "add", flag: "starred" });
    await server.call("Bob", "PATCH", `/messages/${sent.moved}`, { topic: "elsewhere", propagate_mode: "change_one", send_notification_to_new_thread: false });
    await server.call("Ada", "DELETE", `/messages/${sent.deleted}`);
    await server.call("Bob", "POST", "/submessage", { message_id: sent.poll, msg_type: "widget", content: JSON.stringify({ type: "vote", key: "canned,0", vote: 1 }) });
    await server.send("Cleo", "general", "late", "new");
    await server.call("Ada", "POST", "/mark_all_as_read");
    await server.send("Cleo", "general", "late", "newer");
    const { events } = await server.call("Ada", "GET", "/events", { queue_id: before.queue_id, last_event_id: before.last_event_id, dont_block: true });
    applyEvents(store, events, { matches: (one, message) => matches(store, one.terms, message) });
    replies.note(events);
    reply.resolve(old);
    await loaded;

    reply = undefined;
    const later = storeOf(await register("Ada"));
    const known = later.messages.range("late", terms);
    await fetchingOf(later, createReplies(later)).load(known, "newest");
    const shown = (one, run) => run.ids.map((id) => {
      const { content, subject, flags, reactions, submessages } = one.messages.byId.get(id);
      const who = reactions.map(({ user_id, emoji_code }) => [user_id, emoji_code]);
      return { id, content, subject, flags: flags.toSorted(), who, votes: submessages.map((vote) => vote.content) };
    });
    assert.equal(known.ids.length, 6);
    assert.deepEqual(shown(store, range), shown(later, known));
    assert.deepEqual(unreadCounts(store), unreadCounts(later));
  });
});

describe("narrows", () => {
  it("are written and read as published", async () => {
    const store = storeOf(await register("Ada"));
    const odd = [...store.channels.values()].find(({ name }) => name === "a.b (c)").stream_id;
    const terms = [{ operator: "channel", operand: odd }, { operator: "topic", operand: "100% (sure). é" }];
    const fragment = fragmentOf(store, terms);
    assert.equal(fragment, `narrow/channel/${odd}-a.2Eb-.28c.29/topic/100.25.20.28sure.29.2E.20.C3.A9`);
    assert.deepEqual(parseNarrow(store, fragment.slice(7)), terms);
    assert.deepEqual(parseNarrow(store, `stream/${odd}/subject/x/`), [{ operator: "channel", operand: odd }, { operator: "topic", operand: "x" }]);
    assert.deepEqual(parseNarrow(store, `pm-with/${ids.Ada},${ids.Bob}-group`), [{ operator: "dm", operand: [ids.Bob] }]);
    assert.deepEqual(parseNarrow(store, "-is/muted"), [{ operator: "is", operand: "muted", negated: true }]);
    for (const wrong of ["channel", "foo/bar", "topic/foo.bar", "id/x"]) assert.equal(parseNarrow(store, wrong), null, wrong);
    assert.equal(narrowKey([...terms, { operator: "near", operand: 5 }]), narrowKey(terms));
    const message = { id: 1, type: "stream", stream_id: odd, subject: "100% (SURE). é", flags: [], display_recipient: "", sender_id: ids.Bob };
    assert.equal(matches(store, terms, message), true);
    assert.equal(matches(store, [{ operator: "search", operand: "x" }], message), null);
    assert.equal(matches(store, [{ operator: "sender", operand: ids.Bob, negated: true }], message), false);
  });

  it("are typed into the search box and back", async () => {
    const store = storeOf(await register("Ada"));
    const terms = parseSearch(store, "channel:general sender:Bob -has:links two words");
    assert.deepEqual(terms.map(({ operator, operand, negated }) => [operator, typeof operand, Boolean(negated)]), [["channel", "number", false], ["sender", "number", false], ["has", "string", true], ["search", "string", false]]);
    assert.equal(searchText(store, terms), "channel:general sender:Bob -has:link two words");
  });
});

describe("completion", () => {
  it("begins where the published client's does", () => {
    const kinds = { "@bo": "mention", "hi @_bo": "silent", "#gen": "channel", "#**general>to": "topic", ":smi": "emoji", "```py": "language", "/po": "command", "<time": "time" };
    for (const [text, kind] of Object.entries(kinds)) assert.equal(triggerAt(text, text.length)?.kind, kind, text);
    for (const text of ["a@b.c", ":-x", ":P", "so :3", "1:30", "```\n@bo", "a /me", "# "]) assert.equal(triggerAt(text, text.length), null, text);
  });

  it("ends a block with the fence that began it", () => {
    const kinds = { "````py": "language", "~~~py": "language", "````\n```\n````\n@bo": "mention", "```quote\n```py\nx\n```\n@bo": "mention", "```quote\n```py": "language" };
    for (const [text, kind] of Object.entries(kinds)) assert.equal(triggerAt(text, text.length)?.kind, kind, text);
    assert.deepEqual(triggerAt("````py", 6), { kind: "language", start: 4, query: "py" });
    for (const text of ["````\n```\n@bo", "```\n````\n@bo", "```\n~~~\n@bo", "````\n```py", "```py @bo"]) assert.equal(triggerAt(text, text.length), null, text);
  });

  it("tells people of one name apart", async () => {
    const store = storeOf(await register("Ada"));
    store.users.set(9999, { ...store.users.get(ids.Bob), user_id: 9999 });
    const found = completionsFor(store, { kind: "mention", start: 0, query: "bob" }, { isChannel: true, channel: null, emoji: [] });
    assert.deepEqual(found.filter(({ kind }) => kind === "user").map(({ text }) => text).sort(), [`@**Bob|${ids.Bob}** `, "@**Bob|9999** "].sort());
  });
});

describe("rows", () => {
  it("are grouped by sender, conversation and day", async () => {
    const store = storeOf(await register("Ada"));
    const start = Date.UTC(2026, 5, 1, 12) / 1000;
    const add = (id, sender, seconds, subject = "t") => store.messages.byId.set(id, { id, sender_id: sender, timestamp: start + seconds, type: "stream", stream_id: 1, subject, flags: ["read"], rev: 1, display_recipient: "" });
    add(1, ids.Bob, 0);
    add(2, ids.Bob, 60);
    add(3, ids.Bob, 60 + 601);
    add(4, ids.Cleo, 700);
    add(5, ids.Cleo, 701, "other");
    add(6, ids.Cleo, 86_400 * 2);
    const rows = timelineRows(store, [1, 2, 3, 4, 5, 6], { isMixed: true, firstUnread: 2, revealed: new Set() });
    assert.deepEqual(rows.map(({ showsSender }) => showsSender), [true, true, true, true, true, true]);
    assert.deepEqual(rows.map(({ hasBar }) => hasBar), [true, false, false, false, true, true]);
    assert.deepEqual(rows.map(({ isFirstUnread }) => isFirstUnread), [false, true, false, false, false, false]);
    const plain = timelineRows(store, [1, 2, 3], { isMixed: false, firstUnread: null, revealed: new Set() });
    assert.deepEqual(plain.map(({ showsSender }) => showsSender), [true, false, true]);
  });
});

describe("a row whose message is read", () => {
  it("stays as it is, but for that", async () => {
    const row = (flags, more = {}) => ({ id: 1, rev: 1, day: null, hasBar: false, showsSender: true, isFirstUnread: false, isHidden: false, isUnread: !flags.includes("read"), message: { id: 1, content: "x", flags, rev: 1, ...more } });
    assert.equal(isSameRow(row([]), row(["read"])), false);
    assert.equal(differOnlyInReading(row([]), row(["read"], { rev: 2 })), true);
    assert.equal(differOnlyInReading(row([]), row(["read", "starred"], { rev: 2 })), false);
    assert.equal(differOnlyInReading(row([]), row(["read"], { rev: 2, content: "y" })), false);
    assert.equal(differOnlyInReading(row([]), row(["read"], { rev: 2, last_edit_timestamp: 7 })), false);
    assert.equal(differOnlyInReading(row([]), { ...row(["read"]), showsSender: false }), false);
  });
});

describe("the window of a timeline", () => {
  const runOf = (count) => Object.assign(new Range("key", []), { ids: Array.from({ length: count }, (_, index) => index + 1), hasNewest: true });
  const endsOf = (shown) => [shown.ids()[0], shown.ids().at(-1), shown.ids().length];

  it("moves over a run in both directions, and has no more rows than the page bears", () => {
    const range = runOf(1000);
    const shown = createMessageWindow(range);
    shown.toNewest();
    assert.deepEqual([endsOf(shown), shown.hasNewest()], [[701, 1000, 300], true]);
    assert.ok(shown.moveBack());
    assert.deepEqual([endsOf(shown), shown.hasNewest()], [[601, 900, 300], false]);
    while (shown.moveBack());
    assert.deepEqual([endsOf(shown), shown.hasOldest()], [[1, 300, 300], false]);
    range.hasOldest = true;
    assert.ok(shown.hasOldest());
    assert.ok(shown.moveOn());
    assert.deepEqual(endsOf(shown), [101, 400, 300]);
    while (shown.moveOn());
    assert.deepEqual([endsOf(shown), shown.hasNewest()], [[701, 1000, 300], true]);
    shown.around(500);
    assert.deepEqual(endsOf(shown), [350, 650, 301]);
    shown.around(2000);
    assert.deepEqual(endsOf(shown), [701, 1000, 300]);
  });

  it("takes in what arrives only at its newest end, until that is too long", () => {
    const range = runOf(400);
    const shown = createMessageWindow(range);
    shown.toNewest();
    range.merge(Array.from({ length: 150 }, (_, index) => 401 + index));
    assert.deepEqual([endsOf(shown), shown.isLong()], [[101, 550, 450], true]);
    shown.toNewest();
    assert.deepEqual([endsOf(shown), shown.isLong()], [[251, 550, 300], false]);
    shown.moveBack();
    range.merge([551]);
    assert.equal(shown.ids().at(-1), 450);
  });
});

describe("the outbox", () => {
  const disk = () => {
    const texts = new Map();
    return { all: () => new Map(texts), set: (key, text) => (text === null ? texts.delete(key) : texts.set(key, text)) };
  };
  /** Tabs that end when the test says so. */
  const tab = (id, ended = []) => ({ id, isFirst: () => true, whenEnded: (other, run) => ended.push({ other, run }) });
  const to = { type: "direct", to: [5], topic: "" };
  const settled = () => new Promise((resolve) => setTimeout(resolve));

  it("keeps what could not be sent, and another tab sends it in order, under the same names, once this one has ended", async () => {
    const entries = disk();
    const sent = [];
    let fails = true;
    const how = { entries, isFinal: (error) => error.final, send: async ({ content, localId, queueId }) => {
      sent.push([content, localId, queueId]);
      if (fails) throw new Error("no network");
      return { id: sent.length };
    } };
    const outbox = createOutbox({ ...how, tabs: tab("a"), queueId: () => "queue of a" });
    const names = [outbox.add(to, "one", 1), outbox.add(to, "two", 2)];
    await settled();
    assert.deepEqual(outbox.items.map(({ state }) => state), ["unsure", "waiting"]);
    const ended = [];
    const other = createOutbox({ ...how, tabs: tab("b", ended), queueId: () => "queue of b" });
    other.add(to, "three", 3);
    await settled();
    assert.deepEqual([entries.all().size, other.items.length], [3, 1], "each message is kept by itself");
    sent.length = 0;
    fails = false;
    assert.deepEqual(ended.map((one) => one.other), ["a"]);
    ended[0].run();
    other.connected();
    await settled();
    assert.deepEqual(sent.map(([content, , queue]) => [content, queue]), [["one", "queue of a"], ["two", "queue of b"], ["three", "queue of b"]]);
    assert.deepEqual(sent.slice(0, 2).map(([, name]) => name), names);
    assert.equal(entries.all().size, 0);
  });

  it("waits before it sends again what the server could not take", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const done = () => new Promise((resolve) => setImmediate(resolve));
    const counts = { sent: 0, asked: 0 };
    const send = async () => {
      counts.sent += 1;
      if (counts.sent === 1) throw new Error("The disk is full");
      return { id: 7 };
    };
    const outbox = createOutbox({ entries: disk(), tabs: tab("a"), queueId: () => "queue", isFinal: () => false, pauseAfter: () => 3000, onUnsure: () => { counts.asked += 1; }, send });
    outbox.add(to, "patient", 1);
    await done();
    assert.deepEqual(outbox.items.map(({ state, error }) => [state, error]), [["unsure", "The disk is full"]]);
    test.mock.timers.tick(2999);
    await done();
    assert.deepEqual(counts, { sent: 1, asked: 0 });
    test.mock.timers.tick(1);
    await done();
    assert.deepEqual([counts.sent, outbox.items[0].sentId, outbox.items[0].error], [2, 7, undefined]);
  });

  it("sends what was written later to the same conversation after it", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const done = () => new Promise((resolve) => setImmediate(resolve));
    const sent = [];
    let isFull = true;
    const send = async ({ content }) => {
      if (isFull) throw new Error("The disk is full");
      return { id: sent.push(content) };
    };
    const outbox = createOutbox({ entries: disk(), tabs: tab("a"), queueId: () => "queue", isFinal: () => false, pauseAfter: () => 3000, send });
    outbox.add(to, "first", 1);
    await done();
    isFull = false;
    outbox.add(to, "second", 2);
    outbox.add({ ...to, to: [6] }, "to another", 3);
    await done();
    assert.deepEqual(sent, ["to another"]);
    test.mock.timers.tick(3000);
    await done();
    assert.deepEqual(sent, ["to another", "first", "second"]);
  });

  it("does not send again what has arrived, nor what was refused", async () => {
    const outbox = createOutbox({ entries: disk(), tabs: tab("a"), queueId: () => "queue", isFinal: (error) => error.final, send: ({ content }) => Promise.reject(Object.assign(new Error("No such channel"), { final: content === "refused" })) });
    const id = outbox.add(to, "arrived", 1);
    await settled();
    outbox.confirm(id, 7);
    outbox.connected();
    outbox.add(to, "refused", 2);
    await settled();
    assert.deepEqual(outbox.items.map(({ state, error }) => [state, error]), [["failed", "No such channel"]]);
  });
});

describe("drafts", () => {
  it("belong to a conversation, and are created once on the server", async () => {
    const calls = [];
    const api = { create: async (draft) => (calls.push(["create", draft.content]), 3), edit: async (id, draft) => calls.push(["edit", id, draft.content]), remove: async (id) => calls.push(["remove", id]) };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    const [one, other] = [{ type: "stream", to: [1], topic: "A" }, { type: "stream", to: [1], topic: "b" }];
    drafts.set(one, "some words", 1, true);
    drafts.set(one, "some more words", 2, true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(drafts.get(other), undefined);
    assert.equal(drafts.get({ ...one, topic: "a" }).content, "some more words");
    // As while one types: here soon, on the server later.
    drafts.set(one, "some more words, and a last one", 3, false);
    drafts.set(one, "some more words, and a last one", 3, true);
    drafts.set(one, "some more words, and a last one", 3, true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(calls.at(-1), ["edit", 3, "some more words, and a last one"]);
    drafts.set(one, "", 3, true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(calls.map(([what]) => what), ["create", "edit", "remove"]);
  });

  it("are kept from three letters on, or one character of other scripts", () => {
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api: {}, isSynchronized: () => false });
    const isKept = (text) => drafts.set({ type: "direct", to: [5], topic: "" }, text, 1, false);
    assert.deepEqual(["", " \n\t ", "no", " a b", "\n ok \n", "yes", "はい", "好", "é", "👍"].map(isKept), [false, false, false, true, false, true, true, true, true, true]);
  });

  it("leave the browser with the session if the server has them", () => {
    const draft = { destination: { type: "stream", to: [1], topic: "a" }, content: "some words", timestamp: 1 };
    const entries = {
      "5/drafts/known": { ...draft, id: 3 },
      "6/drafts/known": { ...draft, id: 4, isChanged: false },
      "5/drafts/changed": { ...draft, id: 5, isChanged: true },
      "5/drafts/unknown": draft,
      "5/drafts/cut": { ...draft, id: 6, content: "a".repeat(10_001) },
      "5/outbox/known": { ...draft, id: 7 },
    };
    for (const [name, entry] of Object.entries(entries)) keep(name, JSON.stringify(entry));
    forgetKnownDrafts();
    const left = Object.keys(entries).filter((name) => kept(name) !== null);
    for (const name of left) keep(name, null);
    assert.deepEqual(left, ["5/drafts/changed", "5/drafts/unknown", "5/drafts/cut", "5/outbox/known"]);
  });

  it("stay in the browser when they are no longer kept on the server, which deletes them", async () => {
    let isSynchronized = true;
    const api = { create: async () => 7, edit: async () => {}, remove: async () => {} };
    const entries = { all: () => new Map(), set: (key, text) => keep(`5/drafts/${key}`, text) };
    const drafts = createDrafts({ entries, api, isSynchronized: () => isSynchronized });
    const to = { type: "stream", to: [1], topic: "a" };
    drafts.set(to, "some words", 5, true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(drafts.all().map(({ id, content, isChanged }) => [id, content, isChanged]), [[7, "some words", undefined]]);
    isSynchronized = false;
    drafts.adopt([]);
    forgetKnownDrafts();
    assert.equal(drafts.get(to)?.content, "some words");
    assert.match(kept("5/drafts/channel/1/a") ?? "", /some words/);
    keep("5/drafts/channel/1/a", null);
  });

  it("keep what the server does not have yet when it says what it has", async () => {
    const api = { create: async () => 7, edit: () => new Promise(() => {}), remove: async () => {} };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    const to = { type: "stream", to: [1], topic: "a" };
    drafts.set(to, "some words", 5, true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    drafts.set(to, "some words and more", 5, true);
    // The event about the first text comes within the same second, or not yet.
    drafts.adopt([{ id: 7, type: "stream", to: [1], topic: "a", content: "some words", timestamp: 5 }]);
    assert.deepEqual(drafts.all().map(({ id, content }) => [id, content]), [[7, "some words and more"]]);
    assert.equal(drafts.all()[0].isChanged, true, "the server has another text");
    drafts.adopt([]);
    assert.equal(drafts.get(to).content, "some words and more");
    drafts.adopt([{ id: 7, type: "stream", to: [1], topic: "a", content: "some words", timestamp: 5 }]);
    assert.deepEqual(drafts.all().map(({ id, content }) => [id, content]), [[7, "some words and more"]]);
  });

  it("stay as they were written where the server has trimmed or cut them, and beside those of another device", async () => {
    const api = { create: async () => 7, edit: async () => {}, remove: async () => {} };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    const to = { type: "stream", to: [1], topic: "a" };
    const adopt = (content, more = {}) => drafts.adopt([{ id: 7, type: "stream", to: [1], topic: "a", content, timestamp: 5, ...more }]);
    for (const [text, kept] of [["\nfour ", "four"], ["a long text", "a lo\n[message truncated]"]]) {
      drafts.set(to, text, 5, true);
      await new Promise((resolve) => setTimeout(resolve, 5));
      adopt(kept);
      assert.equal(drafts.get(to).content, text);
    }
    adopt("changed elsewhere", { timestamp: 6 });
    assert.equal(drafts.get(to).content, "changed elsewhere");
    drafts.set(to, "changed here without a connection", 7, false);
    adopt("changed elsewhere later", { timestamp: 8 });
    assert.deepEqual(drafts.all().map(({ id, content }) => [id, content]), [[7, "changed elsewhere later"], [undefined, "changed here without a connection"]]);
    const other = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => false });
    other.set(to, "written without a connection", 5, false);
    other.adopt([{ id: 8, type: "stream", to: [1], topic: "a", content: "written elsewhere", timestamp: 9 }]);
    assert.deepEqual(other.all().map(({ content }) => content), ["written elsewhere", "written without a connection"]);
  });

  it("are changed on the server again when they change during a request", async () => {
    const calls = [];
    let answer;
    const api = { create: () => new Promise((resolve) => { answer = () => resolve(7); }), edit: async (id, { topic, content }) => calls.push([id, topic, content]), remove: async () => {} };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    const [old, now] = [{ type: "stream", to: [1], topic: "old" }, { type: "stream", to: [1], topic: "now" }];
    drafts.set(old, "some words", 1, true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    drafts.move(moving(old, now), true);
    answer();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(calls, [[7, "now", "some words"]]);
  });

  it("go along when their conversation moves, and wait for a recipient; none takes the place of another", async () => {
    let next = 0;
    const api = { create: async () => ++next, edit: async () => {}, remove: async () => {} };
    const drafts = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    const [old, now] = [{ type: "stream", to: [1], topic: "Old" }, { type: "stream", to: [2], topic: "now" }];
    drafts.set(old, "written there", 1, true);
    drafts.set(now, "written here", 2, true);
    drafts.set({ type: "stream", to: [], topic: "" }, "to nobody yet", 3, true);
    drafts.set({ type: "direct", to: [], topic: "" }, "to nobody, either", 4, true);
    drafts.move(moving({ ...old, topic: "old" }, now), true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(drafts.get(old), undefined);
    assert.deepEqual(drafts.all().map(({ content, id }) => [content, id]), [["to nobody, either", 3], ["to nobody yet", 2], ["written here", 1], ["written there", 4]]);
    const { key } = drafts.all().at(-1);
    drafts.promote(key);
    assert.deepEqual([drafts.get(now).content, drafts.all().length], ["written there", 4]);
    // As the server has them: two of the same conversation stay two.
    const server = [{ id: 4, type: "stream", to: [2], topic: "now", content: "written there", timestamp: 1 }, { id: 1, type: "stream", to: [2], topic: "now", content: "written here", timestamp: 2 }, { id: 2, type: "", to: [], topic: "", content: "to nobody yet", timestamp: 3 }];
    drafts.adopt(server);
    assert.deepEqual(drafts.all().map(({ id }) => id), [2, 1, 4]);
    const fresh = createDrafts({ entries: { all: () => new Map(), set: () => {} }, api, isSynchronized: () => true });
    fresh.adopt(server);
    assert.deepEqual(fresh.all().map(({ content }) => content), ["to nobody yet", "written here", "written there"]);
  });
});

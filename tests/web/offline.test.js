/** The copy of conversations for reading without a connection: its limits, and the session that it belongs to. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { applyEvents } from "../../web/js/store/events.js";
import { createOffline, stateOf } from "../../web/js/store/offline.js";
import { createOfflineCopy } from "../../web/js/store/offline_copy.js";
import { createStore, reset } from "../../web/js/store/store.js";
import { channel, inTopic, storeWith, toPeople, user } from "./states.js";

/** A database in memory. */
function memory() {
  const tables = { state: new Map(), runs: new Map() };
  return {
    tables,
    isFull: false,
    readTable: async (table) => structuredClone(tables[table]),
    readValue: async (table, key) => structuredClone(tables[table].get(key)),
    async writeTable(table, values) {
      if (this.isFull) return false;
      for (const [key, value] of structuredClone(values)) {
        if (value === null) tables[table].delete(key);
        else tables[table].set(key, value);
      }
      return true;
    },
    async eraseDatabase() {
      for (const table of Object.values(tables)) table.clear();
    },
  };
}

/** A store with runs, which are channels, and what keeps them. */
function start({ database = memory(), session = "one" } = {}) {
  const store = createStore();
  const at = { now: 1, session };
  const offline = createOffline(store, { database: { ...database, writeTable: (...args) => database.writeTable(...args) }, session, token: () => at.session, now: () => at.now++ });
  let id = 0;
  const run = (channel, contents, { isWhole = true } = {}) => {
    store.channels.set(channel, { stream_id: channel });
    const messages = contents.map((content) => ({ id: ++id, content }));
    store.messages.put(messages);
    const range = store.messages.range(`${channel}`, [{ operator: "channel", operand: channel }]);
    range.merge(messages.map((message) => message.id));
    Object.assign(range, { isLoaded: true, hasNewest: isWhole, hasOldest: true });
    return messages;
  };
  const kept = () => [...database.tables.runs.keys()].toSorted((a, b) => a - b);
  return { store, offline, database, at, run, kept };
}

it("keeps the newest runs, the newest messages of each, and no more text than there is room for", async () => {
  const { offline, run, database, kept } = start();
  offline.outdate();
  run(1, Array.from({ length: 100 }, (_, index) => `${index}`));
  run(2, ["the middle of a conversation"], { isWhole: false });
  await offline.save();
  assert.deepEqual(kept(), ["1"]);
  const { messages, hasOldest } = database.tables.runs.get("1");
  assert.deepEqual([messages.length, messages[0].content, messages.at(-1).content, hasOldest], [60, "40", "99", false]);
  for (let channel = 3; channel < 43; channel++) {
    run(channel, ["short"]);
    await offline.save();
  }
  assert.deepEqual(kept(), Array.from({ length: 40 }, (_, index) => `${index + 3}`));
  run(50, ["x".repeat(1_999_990)]);
  await offline.save();
  assert.deepEqual(kept(), ["41", "42", "50"]);
});

it("writes only what changed", async () => {
  const { offline, run, database, store } = start();
  run(1, ["one"]);
  await offline.save();
  const before = database.tables.runs.get("1").at;
  run(2, ["two"]);
  await offline.save();
  assert.equal(database.tables.runs.get("1").at, before);
  store.messages.update(1, () => ({ content: "changed" }));
  await offline.save();
  assert.equal(database.tables.runs.get("1").messages[0].content, "changed");
});

it("loses deleted messages, and channels that the user may no longer see", async () => {
  const { offline, run, database, kept, store } = start();
  const [gone] = run(1, ["gone", "stays"]);
  run(2, ["lost"]);
  await offline.save();
  store.messages.ranges.clear();
  store.channels.delete(2);
  offline.forget([gone.id]);
  await offline.save();
  assert.deepEqual(kept(), ["1"]);
  assert.deepEqual(database.tables.runs.get("1").messages.map(({ content }) => content), ["stays"]);
});

it("writes next time what changes while it writes", async () => {
  const { offline, run, database, store } = start();
  const [one, two] = [run(1, ["kept", "deleted"]), run(2, ["kept", "deleted meanwhile"])];
  offline.outdate();
  await offline.save();
  const remove = ({ id }) => {
    offline.forget([id]);
    store.messages.delete([id]);
  };
  const write = database.writeTable;
  database.writeTable = async function (...args) {
    database.writeTable = write;
    remove(two[1]);
    return write.apply(this, args);
  };
  remove(one[1]);
  await offline.save();
  // The run was dropped from memory: only the list of deleted messages says what has to go.
  store.messages.ranges.delete("2");
  await offline.save();
  assert.deepEqual([...database.tables.runs.values()].map(({ messages }) => messages.length), [1, 1]);
});

it("has the state that events have changed, at most once a minute while the page is shown", async () => {
  const { offline, store, database, at } = start();
  const keptName = async (name, isLeaving) => {
    store.state = { full_name: name };
    offline.outdate();
    await offline.save(isLeaving);
    return database.tables.state.get("state").full_name;
  };
  assert.deepEqual([await keptName("Ada", false), await keptName("Bea", false)], ["Ada", "Ada"]);
  assert.equal(await keptName("Cleo", true), "Cleo", "the page is hidden");
  assert.equal(await keptName("Dora", false), "Cleo");
  at.now += 60_000;
  await offline.save(false);
  assert.equal(database.tables.state.get("state").full_name, "Dora");
});

it("has a state from which the same store is made", () => {
  const store = storeWith({
    server_timestamp: 1000,
    realm_non_active_users: [user(4, "Dora")],
    unsubscribed: [channel(13, "left")],
    user_topics: [{ stream_id: 10, topic_name: "Soup", visibility_policy: 3 }],
    unread_msgs: { streams: [{ stream_id: 11, topic: "Blue", unread_message_ids: [1, 2] }], pms: [{ other_user_id: 1, unread_message_ids: [3] }], huddles: [{ user_ids_string: "1,2,3", unread_message_ids: [4] }], mentions: [2], old_unreads_missing: true },
    starred_messages: [1],
    muted_users: [{ id: 3, timestamp: 1 }],
    presences: { 2: { active_timestamp: 5 } },
    user_status: { 2: { status_text: "away" } },
    recent_private_conversations: [{ user_ids: [2, 3], max_message_id: 4 }, { user_ids: [], max_message_id: 3 }],
  });
  const message = (one) => ({ type: "message", message: one, flags: [] });
  const events = [
    message(inTopic(5, 10, "Soup")),
    message(toPeople(6, [1, 2])),
    { type: "update_message_flags", flag: "read", op: "add", all: false, messages: [1] },
    { type: "subscription", op: "update", stream_id: 11, property: "is_muted", value: true },
    { type: "realm_user", op: "add", person: { ...user(5, "Emil"), profile_data: {} } },
  ];
  applyEvents(store, events, { matches: () => false });
  const sorted = (map) => [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const partsOf = ({ state: { server_timestamp: _time, ...state }, selfId, hasOlderUnread, mentions, starred, mutedUsers, ...maps }) => {
    const names = ["users", "presences", "statuses", "channels", "userTopics", "directs", "unread", "unreadOf"];
    return { state, selfId, hasOlderUnread, mentions, starred, mutedUsers, maps: names.map((name) => [name, sorted(maps[name])]) };
  };
  const copy = createStore();
  reset(copy, structuredClone(stateOf(store)));
  assert.deepEqual(partsOf(copy), partsOf(store));
  assert.equal(copy.skew, 0, "people were active then, not now");
  assert.deepEqual([...copy.unreadOf.keys()].toSorted(), [2, 3, 4, 5, 6]);
});

it("belongs to one session", async () => {
  const first = start();
  first.store.state = { user_id: 8 };
  first.offline.outdate();
  first.run(1, ["for Ada"]);
  await first.offline.save();
  assert.equal((await first.offline.load()).state.user_id, 8);
  const second = start({ database: first.database, session: "two" });
  assert.equal(await second.offline.load(), null);
  assert.deepEqual(first.kept(), []);

  await first.offline.save();
  first.run(2, ["again"]);
  await first.offline.save();
  second.offline.outdate();
  second.run(3, ["for Bob"]);
  await second.offline.save();
  assert.deepEqual(first.kept(), ["3"]);
  second.at.session = "";
  second.run(4, ["after the logout"]);
  await second.offline.save();
  assert.deepEqual(first.kept(), ["3"]);
});

it("is given up where there is no room, and never made of a copy", async () => {
  const { offline, run, database, kept, store } = start();
  run(1, ["one"]);
  store.isFromStorage = true;
  await offline.save();
  assert.deepEqual(kept(), []);
  store.isFromStorage = false;
  await offline.save();
  database.isFull = true;
  run(2, ["two"]);
  await offline.save();
  assert.deepEqual(kept(), []);
  database.isFull = false;
  run(3, ["three"]);
  await offline.save();
  assert.deepEqual(kept(), []);
});

it("is empty, and no error, where there is no database", async () => {
  const store = createStore();
  const copy = createOfflineCopy(store, () => "one");
  await copy.erase();
  copy.outdate();
  copy.forget([1]);
  await copy.save();
  assert.equal(await copy.load(), null);
  await copy.erase();
});

/**
 * The copy of the state and of the newest runs of messages that the page shows while the server cannot be reached. It belongs to
 * one session, and is erased with it.
 * @module
 */

import { topicOfKey } from "./conversations.js";

/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").State} State */
/** @typedef {{ terms: import("../../types/api.js").Term[], at: number, hasOldest: boolean, messages: Message[] }} Run */
/** @typedef {{ readTable: (table: "state" | "runs") => Promise<Map<string, unknown>>, readValue: (table: "state" | "runs", key: string) => Promise<unknown>,
 *   writeTable: (table: "state" | "runs", values: Map<string, unknown>) => Promise<boolean>, eraseDatabase: () => Promise<void> }} Database */

/** How many runs are kept, how many messages of each, and how many characters of content in all. */
const MAX_RUNS = 40;
const MAX_MESSAGES = 60;
const MAX_CHARACTERS = 2_000_000;

/** The state is written at most once in this time while the page is shown, in milliseconds: it is large, and in a busy organization
 * always changes. */
const STATE_INTERVAL = 60_000;

/** @param {import("./store.js").Store} store
 * @param {{ database: Database, session: string, token: () => string, now: () => number }} how `session`: its token, empty without one;
 *   `token`: that of the session that the browser has by now. */
export function createOffline(store, { database, session, token, now }) {
  /** Versions of the state: the present one, and the one that is written. */
  let [stateVersion, writtenVersion] = [0, 0];
  /** When the state was written; long ago if it is to be written next time. */
  let stateAt = -Infinity;
  /** Versions of the runs that are written. @type {Map<string, number>} */
  const written = new Map();
  /** Messages that are deleted, until they are deleted here. @type {Set<number>} */
  const gone = new Set();
  /** Whether the browser has room, as far as is known. */
  let hasRoom = true;
  let isWriting = false;

  /** A run as it is kept; null if it is not to be. @param {import("./messages.js").Range} range @returns {Run | null} */
  function runOf(range) {
    if (!range.isLoaded || range.isStale || !range.hasNewest || range.matches.size > 0) return null;
    const ids = range.ids.slice(-MAX_MESSAGES);
    const messages = ids.flatMap((id) => store.messages.byId.get(id) ?? []);
    const hasOldest = range.hasOldest && ids.length === range.ids.length;
    return { terms: range.terms, at: now(), hasOldest, messages };
  }

  /** The runs that there is room for, the newest first. @param {Map<string, Run>} runs */
  function withinLimits(runs) {
    let left = MAX_CHARACTERS;
    const kept = [...runs].toSorted(([, a], [, b]) => b.at - a.at).slice(0, MAX_RUNS);
    return new Map(
      kept.filter(([, run]) => {
        left -= run.messages.reduce((sum, { content }) => sum + content.length, 0);
        return left >= 0;
      }),
    );
  }

  async function erase() {
    written.clear();
    await database.eraseDatabase();
  }

  return {
    erase,
    /** The state has changed. */
    outdate() {
      stateVersion += 1;
    },
    /** Messages are deleted. @param {number[]} ids */
    forget(ids) {
      for (const id of ids) gone.add(id);
    },
    /** Writes what changed since the last time. Messages that are deleted, and those of channels that the user lost, go.
     * @param {boolean} isLeaving The page is hidden, and may be closed. */
    async save(isLeaving) {
      // If it is being written now, the next time writes the state.
      if (isLeaving) stateAt = -Infinity;
      // Another tab may have logged out.
      if (!hasRoom || isWriting || session === "" || token() !== session || store.isFromStorage) return;
      isWriting = true;
      try {
        const changed = [...store.messages.ranges.values()].filter((range) => written.get(range.key) !== range.version.peek());
        const runs = new Map(
          changed.flatMap((range) => {
            const run = runOf(range);
            return run ? [[range.key, run]] : [];
          }),
        );
        // What changes from here on is written next time.
        const [seen, deleted, at] = [stateVersion, new Set(gone), now()];
        const state = seen > writtenVersion && at - stateAt >= STATE_INTERVAL ? stateOf(store) : null;
        const versions = changed.map((range) => /** @type {const} */ ([range.key, range.version.peek()]));
        if (runs.size === 0 && !state && deleted.size === 0) return;
        if (state && (await database.readValue("state", "session")) !== session) await erase();
        const known = /** @type {Map<string, Run>} */ (await database.readTable("runs"));
        for (const [key, run] of known) {
          const left = run.messages.filter(({ id }) => !deleted.has(id));
          if (left.length < run.messages.length && !runs.has(key)) runs.set(key, { ...run, messages: left });
        }
        const all = withinLimits(new Map([...known, ...runs].filter(([, run]) => mayRead(store, run))));
        const lost = [...known.keys(), ...runs.keys()].filter((key) => !all.has(key));
        const changes = new Map([...runs, ...lost.map((key) => /** @type {const} */ ([key, null]))]);
        const isKept =
          token() === session &&
          (await database.writeTable("runs", changes)) &&
          (!state || (await database.writeTable("state", new Map(Object.entries({ session, state })))));
        if (!isKept) {
          // A part of it would be worse than nothing.
          hasRoom = false;
          await erase();
          return;
        }
        if (state) [writtenVersion, stateAt] = [seen, at];
        for (const id of deleted) gone.delete(id);
        for (const [key, version] of versions) written.set(key, version);
      } finally {
        isWriting = false;
      }
      if (token() !== session) await erase();
    },
    /** The state and the runs of this session, if they are kept; those of another session are erased.
     * @returns {Promise<{ state: State, runs: Map<string, Run> } | null>} */
    async load() {
      const kept = await database.readTable("state");
      if (session !== "" && kept.get("session") === session)
        return /** @type {{ state: State, runs: Map<string, Run> }} */ ({
          state: kept.get("state"),
          runs: await database.readTable("runs"),
        });
      if (kept.size > 0) await erase();
      return null;
    },
  };
}

/** The state as `reset` takes it, of a store that events have changed. All direct conversations are in one list.
 * @param {import("./store.js").Store} store @returns {State} */
export function stateOf(store) {
  const unread = [...store.unread].map(([key, ids]) => ({ key, unread_message_ids: [...ids] }));
  const isDirect = (/** @type {{ key: string }} */ { key }) => key.startsWith("dm/");
  const topic = (/** @type {string} */ key) => {
    const { streamId, topic: name } = topicOfKey(key);
    return { stream_id: streamId, topic: name, topic_name: name };
  };
  const [users, channels] = [[...store.users.values()], [...store.channels.values()]];
  const parts = {
    // The copy is read later: its time would set the clock back, and show people as active who were so then.
    server_timestamp: undefined,
    realm_users: users.filter((user) => user.is_active !== false),
    realm_non_active_users: users.filter((user) => user.is_active === false),
    presences: Object.fromEntries(store.presences),
    user_status: Object.fromEntries(store.statuses),
    muted_users: [...store.mutedUsers].map((id) => ({ id })),
    subscriptions: channels.filter((channel) => channel.subscribed),
    never_subscribed: channels.filter((channel) => !channel.subscribed),
    user_topics: [...store.userTopics].map(([key, policy]) => ({ ...topic(key), visibility_policy: policy })),
    unread_msgs: {
      streams: unread.filter((one) => !isDirect(one)).map(({ key, ...ids }) => ({ ...topic(key), ...ids })),
      huddles: unread.filter(isDirect).map(({ key, ...ids }) => ({ user_ids_string: key.slice(3), ...ids })),
      mentions: [...store.mentions],
      old_unreads_missing: store.hasOlderUnread,
    },
    starred_messages: [...store.starred],
    recent_private_conversations: [...store.directs.values()].map(({ user_ids, max_id }) => ({ user_ids, max_message_id: max_id })),
  };
  return /** @type {State} */ (/** @type {unknown} */ ({ ...store.state, ...parts }));
}

/** Whether the user may still see the channel of a run. @param {import("./store.js").Store} store @param {Run} run */
function mayRead(store, run) {
  const channel = run.terms.find(({ operator }) => operator === "channel");
  return !channel || store.channels.has(Number(channel.operand));
}

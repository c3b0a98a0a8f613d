/**
 * The copy of the state and of the newest runs of messages that the page shows while the server cannot be reached. It belongs to
 * one session, and is erased with it.
 * @module
 */

/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").State} State */
/** @typedef {{ terms: import("../../types/api.js").Term[], at: number, hasOldest: boolean, messages: Message[] }} Run */
/** @typedef {{ readTable: (table: "state" | "runs") => Promise<Map<string, unknown>>, readValue: (table: "state" | "runs", key: string) => Promise<unknown>,
 *   writeTable: (table: "state" | "runs", values: Map<string, unknown>) => Promise<boolean>, eraseDatabase: () => Promise<void> }} Database */

/** How many runs are kept, how many messages of each, and how many characters of content in all. */
const MAX_RUNS = 40;
const MAX_MESSAGES = 60;
const MAX_CHARACTERS = 2_000_000;

/** @param {import("./store.js").Store} store
 * @param {{ database: Database, session: string, token: () => string, now: () => number }} how `session`: its token, empty without one;
 *   `token`: that of the session that the browser has by now. */
export function createOffline(store, { database, session, token, now }) {
  /** The state as it came, until it is written. @type {State | null} */
  let fresh = null;
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
    /** The server has sent a state, which is not yet taken apart. @param {State} state */
    remember(state) {
      fresh = { ...state };
    },
    /** Messages are deleted. @param {number[]} ids */
    forget(ids) {
      for (const id of ids) gone.add(id);
    },
    /** Writes what changed since the last time. Messages that are deleted, and those of channels that the user lost, go. */
    async save() {
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
        const [state, deleted] = [fresh, new Set(gone)];
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
        if (fresh === state) fresh = null;
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

/** Whether the user may still see the channel of a run. @param {import("./store.js").Store} store @param {Run} run */
function mayRead(store, run) {
  const channel = run.terms.find(({ operator }) => operator === "channel");
  return !channel || store.channels.has(Number(channel.operand));
}

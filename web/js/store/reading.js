/**
 * Marking messages as read: in the store at once, and on the server a moment later, together with others.
 * @module
 */

import { removeUnread } from "./unread.js";

/** @typedef {import("../../types/api.js").Term} Term */

/** How long marks of read messages are collected, in milliseconds. */
const READ_DELAY = 300;

/** How long after a failure they are sent again, in milliseconds. */
const RETRY_DELAY = 5000;

/** @param {import("./store.js").Store} store
 * @param {{ updateFlags: (ids: number[], op: "add" | "remove", flag: string) => Promise<unknown>, updateFlagsForNarrow: (params: Record<string, unknown>) => Promise<import("../../types/api.js").FlagsForNarrow>,
 *   requestTerms: (terms: Term[]) => Term[], isTransient: (error: unknown) => boolean }} how */
export function createReading(store, { updateFlags, updateFlagsForNarrow, requestTerms, isTransient }) {
  /** @type {Set<number>} */
  const toMark = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** Ends once all marks so far have reached the server. */
  let marking = Promise.resolve();

  /** @param {number} delay */
  function sendLater(delay) {
    clearTimeout(timer);
    timer = setTimeout(() => void send(), delay);
  }

  function send() {
    clearTimeout(timer);
    marking = marking.then(sendNow);
    return marking;
  }

  async function sendNow() {
    const ids = [...toMark];
    toMark.clear();
    if (ids.length === 0) return;
    try {
      await updateFlags(ids, "add", "read");
    } catch (error) {
      if (!isTransient(error)) return;
      for (const id of ids) toMark.add(id);
      sendLater(RETRY_DELAY);
    }
  }

  return {
    /** Sends what waits now, without waiting for requests under way: the page is left. @returns {Promise<void>} ends with all of them */
    flush() {
      clearTimeout(timer);
      const [before, now] = [marking, sendNow()];
      marking = now.then(() => before);
      return marking;
    },
    /** @param {number[]} ids */
    mark(ids) {
      const unread = ids.filter((id) => !store.messages.byId.get(id)?.flags.includes("read") || store.unreadOf.has(id));
      if (unread.length === 0) return;
      store.messages.updateAll(unread, ({ flags }) => (flags.includes("read") ? {} : { flags: [...flags, "read"] }));
      removeUnread(store, unread);
      for (const id of unread) toMark.add(id);
      sendLater(READ_DELAY);
    },
    /** Changes the flag of all messages of a narrow from an anchor on. @param {Term[]} terms @param {"add" | "remove"} op
     * @param {import("./fetching.js").Anchor} [anchor] */
    async markNarrow(terms, op, anchor = "oldest") {
      // Marks that are under way would undo this one.
      await send();
      let from = anchor;
      for (;;) {
        const reply = await updateFlagsForNarrow({
          anchor: String(from),
          include_anchor: from === anchor,
          num_before: 0,
          num_after: 5000,
          op,
          flag: "read",
          narrow: requestTerms(terms),
        });
        if (reply.found_newest || reply.last_processed_id === null) break;
        from = reply.last_processed_id;
      }
      // Everything is read, also what the server has not counted.
      if (terms.length > 0 || op === "remove") return;
      store.hasOlderUnread = false;
      store.touch("unread");
    },
  };
}

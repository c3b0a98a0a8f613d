/**
 * The window of a range: the messages that have rows. It has a limited size, and moves when the user comes near an end.
 * @module
 */

/** @typedef {import("../store/messages.js").Range} Range */

/** Messages in the window, and how far it moves at a time. */
const SIZE = 300;
const STEP = 100;

/** @param {Range} range */
export function createMessageWindow(range) {
  /** The ids at the ends. If the end is infinite, messages that arrive are in the window. */
  let start = 0;
  let end = Infinity;

  const idsInWindow = () => range.ids.filter((id) => id >= start && id <= end);

  function toNewest() {
    start = range.ids[Math.max(0, range.ids.length - SIZE)] ?? 0;
    end = Infinity;
  }

  return {
    ids: idsInWindow,
    /** Whether the oldest message of all is in the window. */
    hasOldest: () => range.hasOldest && start <= (range.ids[0] ?? 0),
    /** Whether the newest message of all is in the window, and those to come. */
    hasNewest: () => range.hasNewest && end === Infinity,
    toNewest,
    toOldest() {
      start = 0;
      end = range.ids[Math.min(range.ids.length - 1, SIZE)] ?? Infinity;
    },
    /** Centres the window on an id. @param {number} id */
    around(id) {
      const { ids } = range;
      const at = ids.findIndex((other) => other >= id);
      if (at < 0) return toNewest();
      start = ids[Math.max(0, at - SIZE / 2)] ?? 0;
      end = at + SIZE / 2 >= ids.length && range.hasNewest ? Infinity : (ids[Math.min(ids.length - 1, at + SIZE / 2)] ?? Infinity);
    },
    /** Moves towards older messages. @returns {boolean} false if the range has none */
    moveBack() {
      const { ids } = range;
      const at = ids.findIndex((id) => id >= start);
      if (at <= 0) return false;
      const from = Math.max(0, at - STEP);
      start = ids[from];
      const last = end === Infinity ? ids.length : ids.findLastIndex((id) => id <= end);
      if (last - from > SIZE) end = ids[from + SIZE - 1];
      return true;
    },
    /** Moves towards newer messages. @returns {boolean} false if the range has none */
    moveOn() {
      const { ids } = range;
      const at = ids.findLastIndex((id) => id <= end);
      if (at >= ids.length - 1) {
        if (range.hasNewest) end = Infinity;
        return false;
      }
      const to = Math.min(ids.length - 1, at + STEP);
      end = to === ids.length - 1 && range.hasNewest ? Infinity : ids[to];
      start = ids[Math.max(0, to - SIZE + 1)];
      return true;
    },
    /** Whether the window has grown so much that the oldest messages should leave it. */
    isLong: () => end === Infinity && idsInWindow().length > SIZE + STEP,
  };
}

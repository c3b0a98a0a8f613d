/**
 * Messages, and the ranges of them that narrows show: for each narrow that is or was open, a sequence of ids without gaps.
 * @module
 */

import { signal } from "../lib/signal.js";

/** @typedef {import("../../types/api.js").Message} Message */

/** How many ranges are kept, and how many messages each may have. */
const MAX_RANGES = 40;
const MAX_IDS = 1500;

/** The number of messages from which those without a range are dropped. */
const MANY = 8000;

/** Messages of a narrow without gaps, ascending. */
export class Range {
  /** @param {string} key @param {import("../../types/api.js").Term[]} terms */
  constructor(key, terms) {
    this.key = key;
    this.terms = terms;
    /** @type {number[]} */
    this.ids = [];
    this.hasOldest = false;
    this.hasNewest = false;
    /** Whether it was fetched at all. */
    this.isLoaded = false;
    /** Whether events may be missing since the queue was lost. */
    this.isStale = false;
    /** Counts changes of `ids` and of the messages. */
    this.version = signal(0);
    /** Search results highlight what was found. @type {Map<number, { match_content?: string, match_subject?: string }>} */
    this.matches = new Map();
  }

  bump() {
    this.version.value = this.version.peek() + 1;
  }

  /** Marks the range as out of date: it is fetched again when it is shown. */
  markStale() {
    this.isStale = true;
    this.bump();
  }

  /** Whether a message with this id would be in the range if the narrow showed it. @param {number} id */
  spans(id) {
    const isAfterStart = this.hasOldest || id >= this.ids[0];
    return this.isLoaded && isAfterStart && (this.hasNewest || id <= Number(this.ids.at(-1)));
  }

  /** Whether the range has grown so long that messages far from the reading position should be dropped. */
  isLong() {
    return this.ids.length > 2 * MAX_IDS;
  }

  /** Adds the id of a message that arrives. A range that grows further is not the one that is read. @param {number} id */
  push(id) {
    this.ids.push(id);
    if (this.ids.length > 4 * MAX_IDS) this.trimAround(id);
  }

  /** Adds ids at either end. @param {number[]} ids */
  merge(ids) {
    this.ids = [...new Set([...this.ids, ...ids])].sort((a, b) => a - b);
    this.bump();
  }

  /** @param {Set<number>} gone */
  remove(gone) {
    const left = this.ids.filter((id) => !gone.has(id));
    if (left.length === this.ids.length) return;
    this.ids = left;
    this.bump();
  }

  /** Forgets everything, to be fetched again. */
  clear() {
    this.ids = [];
    this.isLoaded = this.hasOldest = this.hasNewest = this.isStale = false;
    this.matches.clear();
    this.bump();
  }

  /** Drops messages far from `id`, so that long reading does not need more memory. @param {number} id */
  trimAround(id) {
    if (this.ids.length <= MAX_IDS) return;
    const at = this.ids.findIndex((other) => other >= id);
    const start = Math.min(Math.max(0, (at < 0 ? this.ids.length : at) - MAX_IDS / 2), this.ids.length - MAX_IDS);
    if (start > 0) this.hasOldest = false;
    if (start + MAX_IDS < this.ids.length) this.hasNewest = false;
    this.ids = this.ids.slice(start, start + MAX_IDS);
  }
}

export function createMessages() {
  /** @type {Map<number, Message>} */
  const byId = new Map();
  /** The least recently used first. @type {Map<string, Range>} */
  const ranges = new Map();

  /** The number of messages from which those without a range are dropped next. */
  let limit = MANY;

  /** Drops messages that no range refers to, once there are many. */
  function tidy() {
    if (byId.size <= limit) return;
    const used = new Set();
    for (const range of ranges.values()) for (const id of range.ids) used.add(id);
    for (const id of byId.keys()) if (!used.has(id)) byId.delete(id);
    limit = Math.max(MANY, 2 * byId.size);
  }

  return {
    byId,
    ranges,

    /** The range of a narrow. @param {string} key @param {import("../../types/api.js").Term[]} terms */
    range(key, terms) {
      const found = ranges.get(key) ?? new Range(key, terms);
      ranges.delete(key);
      ranges.set(key, found);
      for (const [old] of ranges) {
        if (ranges.size <= MAX_RANGES) break;
        ranges.delete(old);
      }
      tidy();
      return found;
    },

    /** Takes over fetched messages. One that is about to be deleted stays hidden. @param {Message[]} messages */
    put(messages) {
      for (const message of messages) {
        const { match_content: _content, match_subject: _subject, ...plain } = message;
        const known = byId.get(message.id);
        byId.set(message.id, { ...plain, ...(known?.isLeaving ? { isLeaving: true } : {}), rev: (known?.rev ?? 0) + 1 });
      }
    },

    /** Changes a message. @param {number} id @param {(message: Message) => Partial<Message>} change */
    update(id, change) {
      const message = byId.get(id);
      if (!message) return;
      byId.set(id, /** @type {Message} */ ({ ...message, ...change(message), rev: message.rev + 1 }));
      for (const range of ranges.values()) if (range.ids.includes(id)) range.bump();
    },

    /** Changes several messages. @param {Iterable<number>} ids @param {(message: Message) => Partial<Message>} change */
    updateAll(ids, change) {
      const changed = new Set();
      for (const id of ids) {
        const message = byId.get(id);
        if (!message) continue;
        byId.set(id, /** @type {Message} */ ({ ...message, ...change(message), rev: message.rev + 1 }));
        changed.add(id);
      }
      if (changed.size === 0) return;
      for (const range of ranges.values()) if (range.ids.some((id) => changed.has(id))) range.bump();
    },

    /** @param {number[]} ids */
    delete(ids) {
      const gone = new Set(ids);
      for (const range of ranges.values()) range.remove(gone);
      for (const id of ids) byId.delete(id);
    },

    /** Marks all ranges as out of date: they have to be fetched again. */
    markStale() {
      for (const range of ranges.values()) range.markStale();
    },

    tidy,
  };
}

/**
 * The outbox: messages that are being sent. They are stored in the browser until the server has them, sent in order, and shown as
 * source text.
 *
 * Without a connection they wait. A refusal is final: the message is marked as failed, and the user can send it again or edit it. If
 * the connection breaks during a request, the message is sent again with the same local id, and the server deduplicates it.
 *
 * Each message has its own entry, and belongs to the tab in which it was written. Another tab takes it over when that one has ended.
 * @module
 */

import { errorText } from "../api/client.js";
import { asObject, parseJson } from "../lib/parse.js";
import { signal } from "../lib/signal.js";
import { isSameDestination } from "./drafts.js";

/** @typedef {{ type: "stream" | "direct", to: number[], topic: string }} Destination */
/** @typedef {{ localId: string, owner: string, queueId?: string, destination: Destination, content: string, timestamp: number,
 *   state: "waiting" | "sending" | "unsure" | "failed", error?: string, sentId?: number }} OutgoingMessage
 *   `queueId`: the queue of the first attempt. With `localId` it is the name under which the server knows the message. */

/** Stored texts by key; null deletes one. @typedef {{ all: () => Map<string, string>, set: (key: string, text: string | null) => void }} Entries */

/** The tabs of this browser: the name of this one, what to do once another has ended, and whether this one works for all.
 * @typedef {{ id: string, whenEnded: (id: string, run: () => void) => void, isFirst: () => boolean }} Tabs */

/** @param {{ send: (message: OutgoingMessage) => Promise<{ id: number }>, queueId: () => string | null, isFinal: (error: unknown) => boolean,
 *   pauseAfter?: (error: unknown) => number | null, entries: Entries, tabs: Tabs, onSent?: (message: OutgoingMessage, id: number) => void,
 *   onUnsure?: () => void, onRefused?: (message: OutgoingMessage) => void }} how
 *   `pauseAfter`: milliseconds after which it is sent again, if the server could not take it now; null if there was no answer: it is
 *   sent again when `connected` is called. */
export function createOutbox({ send, queueId, isFinal, pauseAfter = () => null, entries, tabs, onSent, onUnsure, onRefused }) {
  /** @type {OutgoingMessage[]} */
  let items = [];
  const version = signal(0);
  let isSending = false;
  let counter = 0;
  /** Tabs whose end is awaited. @type {Set<string>} */
  const others = new Set();

  /** Stores the new state of a message and updates views. @param {OutgoingMessage} item */
  const changed = (item) => {
    const isKept = items.includes(item) && item.sentId === undefined;
    entries.set(item.localId, isKept ? JSON.stringify(item) : null);
    version.value = version.peek() + 1;
  };

  /** The messages that are kept. @returns {OutgoingMessage[]} */
  const kept = () =>
    [...entries.all().values()]
      .map((text) => /** @type {OutgoingMessage} */ (asObject(parseJson(text))))
      .filter((item) => item.localId && item.destination);

  /** Takes over the messages of a tab that has ended. @param {string} owner */
  function takeOver(owner) {
    others.delete(owner);
    for (const item of kept()) {
      if (item.owner !== owner || items.some(({ localId }) => localId === item.localId)) continue;
      item.owner = tabs.id;
      if (item.state !== "failed") item.state = "waiting";
      items.push(item);
      changed(item);
    }
    items.sort((one, other) => one.timestamp - other.timestamp);
    void flush();
  }

  /** Whether an earlier message to the same conversation will be sent again. @param {OutgoingMessage} item */
  const isBehind = (item) =>
    items
      .slice(0, items.indexOf(item))
      .some(({ state, destination }) => state === "unsure" && isSameDestination(destination, item.destination));

  async function flush() {
    if (isSending) return;
    isSending = true;
    try {
      for (;;) {
        const next = items.find((item) => item.state === "waiting" && !isBehind(item));
        const queue = queueId();
        if (!next || queue === null) return;
        next.state = "sending";
        delete next.error;
        next.queueId ??= queue;
        changed(next);
        try {
          const { id } = await send(next);
          next.sentId = id;
          onSent?.(next, id);
          changed(next);
        } catch (error) {
          const isKnown = !items.includes(next);
          if (isKnown) continue;
          const pause = pauseAfter(error);
          if (isFinal(error) || pause !== null) next.error = errorText(error);
          if (isFinal(error)) {
            next.state = "failed";
            changed(next);
            onRefused?.(next);
          } else {
            next.state = "unsure";
            changed(next);
            if (pause === null) onUnsure?.();
            else setTimeout(() => outbox.connected(), pause);
            return;
          }
        }
      }
    } finally {
      isSending = false;
    }
  }

  const outbox = {
    version,
    /** @returns {readonly OutgoingMessage[]} */
    get items() {
      return items;
    },
    /** Looks for messages of other tabs, to take them over when those have ended. */
    watchOthers() {
      for (const { owner } of kept()) {
        if (owner === tabs.id || others.has(owner)) continue;
        others.add(owner);
        tabs.whenEnded(owner, () => takeOver(owner));
      }
    },
    /** @param {Destination} destination @param {string} content @param {number} now UNIX seconds */
    add(destination, content, now) {
      counter += 1;
      const localId = `${now}.${String(counter).padStart(2, "0")}${Math.floor(Math.random() * 100_000)}`;
      /** @type {OutgoingMessage} */
      const item = { localId, owner: tabs.id, destination, content, timestamp: now, state: "waiting" };
      items.push(item);
      changed(item);
      void flush();
      return localId;
    },
    /** The server has the message. @param {string | undefined} localId @param {number} id */
    confirm(localId, id) {
      const known = items.filter((item) => item.localId === localId || item.sentId === id);
      if (known.length === 0) return;
      items = items.filter((item) => !known.includes(item));
      for (const item of known) changed(item);
    },
    /** The server can be reached, and all events until now have arrived. */
    connected() {
      for (const item of items) if (item.state === "unsure") item.state = "waiting";
      version.value = version.peek() + 1;
      void flush();
    },
    /** A conversation moved: what waits for it goes there. @param {(destination: Destination) => Destination | null} moved */
    move(moved) {
      for (const item of items) {
        const next = moved(item.destination);
        if (!next) continue;
        item.destination = next;
        changed(item);
      }
    },
    /** @param {string} localId */
    retry(localId) {
      const item = items.find((one) => one.localId === localId);
      if (!item) return;
      item.state = "waiting";
      delete item.error;
      changed(item);
      void flush();
    },
    /** @param {string} localId @returns {OutgoingMessage | undefined} */
    remove(localId) {
      const item = items.find((one) => one.localId === localId);
      if (!item) return undefined;
      items = items.filter((one) => one !== item);
      changed(item);
      return item;
    },
  };
  outbox.watchOthers();
  return outbox;
}

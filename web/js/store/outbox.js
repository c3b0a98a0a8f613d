/**
 * Messages on their way: kept on the disk until the server has them, sent in order, shown as the text that was written.
 *
 * Without a connection they wait. A refusal is final: the message stays as failed, to be sent again or taken back. After
 * a connection broke during a request the message is sent again only once the events until then have arrived, since they
 * say whether the server has it.
 * @module
 */

import { asList, parseJson } from "../lib/parse.js";
import { signal } from "../lib/signal.js";

/** @typedef {{ type: "stream" | "direct", to: number[], topic: string }} Destination */
/** @typedef {{ localId: string, destination: Destination, content: string, timestamp: number,
 *   state: "waiting" | "sending" | "unsure" | "failed", error?: string, sentId?: number }} OutgoingMessage */

/** @typedef {{ load: () => string | null, save: (text: string) => void }} Storage */

/** @param {{ send: (message: OutgoingMessage) => Promise<{ id: number }>, isFinal: (error: any) => boolean, storage: Storage,
 *   onSent?: (message: OutgoingMessage, id: number) => void, onUnsure?: () => void }} how */
export function createOutbox({ send, isFinal, storage, onSent, onUnsure }) {
  /** @type {OutgoingMessage[]} */
  let items = asList(parseJson(storage.load()));
  for (const item of items) if (item.state === "sending") item.state = "unsure";
  const version = signal(0);
  let isSending = false;
  let counter = 0;

  const changed = () => {
    storage.save(JSON.stringify(items.filter((item) => item.sentId === undefined)));
    version.value = version.peek() + 1;
  };

  async function flush() {
    if (isSending) return;
    isSending = true;
    try {
      for (;;) {
        const next = items.find((item) => item.state === "waiting");
        if (!next) return;
        next.state = "sending";
        changed();
        try {
          const { id } = await send(next);
          next.sentId = id;
          onSent?.(next, id);
          changed();
        } catch (error) {
          const isKnown = !items.includes(next);
          if (isKnown) continue;
          if (isFinal(error)) {
            next.state = "failed";
            next.error = error instanceof Error ? error.message : String(error);
            changed();
          } else {
            next.state = "unsure";
            changed();
            onUnsure?.();
            return;
          }
        }
      }
    } finally {
      isSending = false;
    }
  }

  return {
    version,
    /** @returns {readonly OutgoingMessage[]} */
    get items() {
      return items;
    },
    /** @param {Destination} destination @param {string} content @param {number} now UNIX seconds */
    add(destination, content, now) {
      counter += 1;
      const localId = `${now}.${String(counter).padStart(2, "0")}${Math.floor(Math.random() * 1000)}`;
      items.push({ localId, destination, content, timestamp: now, state: "waiting" });
      changed();
      void flush();
      return localId;
    },
    /** The server has the message. @param {string | undefined} localId @param {number} id */
    confirm(localId, id) {
      const before = items.length;
      items = items.filter((item) => item.localId !== localId && item.sentId !== id);
      if (items.length !== before) changed();
    },
    /** All events until now have arrived: what they did not confirm was not sent.
     * @param {boolean} isSameQueue Whether they are those of the queue in which the messages were sent. */
    connected(isSameQueue) {
      for (const item of items) {
        if (item.state !== "unsure") continue;
        item.state = isSameQueue ? "waiting" : "failed";
        if (!isSameQueue) item.error = "The connection broke while this was being sent. It may have arrived.";
      }
      changed();
      void flush();
    },
    /** @param {string} localId */
    retry(localId) {
      const item = items.find((one) => one.localId === localId);
      if (!item) return;
      item.state = "waiting";
      delete item.error;
      changed();
      void flush();
    },
    /** @param {string} localId @returns {OutgoingMessage | undefined} */
    remove(localId) {
      const item = items.find((one) => one.localId === localId);
      items = items.filter((one) => one !== item);
      changed();
      return item;
    },
  };
}

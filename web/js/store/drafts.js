/**
 * Drafts: on this device at once, and on the server soon after, one for each conversation.
 * @module
 */

import { asObject, parseJson } from "../lib/parse.js";

/** @typedef {import("./outbox.js").Destination} Destination */
/** @typedef {import("./outbox.js").Storage} Storage */
/** @typedef {{ destination: Destination, content: string, timestamp: number, id?: number }} LocalDraft */

/** Shorter texts are not worth keeping. */
const MIN_LENGTH = 3;

/** @param {Destination} destination */
export const draftKey = ({ type, to, topic }) =>
  type === "stream" ? `channel/${to[0]}/${topic.toLowerCase()}` : `dm/${to.toSorted((a, b) => a - b).join(",")}`;

/** @param {LocalDraft} draft */
const asParams = ({ destination: { type, to, topic }, content, timestamp }) => ({
  type: type === "stream" ? "stream" : "private",
  to,
  topic: type === "stream" ? topic : "",
  content,
  timestamp,
});

/** @param {{ storage: Storage, api: { create: (draft: any) => Promise<number>, edit: (id: number, draft: any) => Promise<any>,
 *   remove: (id: number) => Promise<any> }, isSynchronized: () => boolean }} how */
export function createDrafts({ storage, api, isSynchronized }) {
  /** @type {Record<string, LocalDraft>} */
  const drafts = asObject(parseJson(storage.load()));
  /** One request after the other, so that a draft is not created twice. @type {Promise<unknown>} */
  let queue = Promise.resolve();
  const save = () => storage.save(JSON.stringify(drafts));

  /** @param {string} key */
  const push = (key) => {
    if (!isSynchronized()) return;
    queue = queue.then(async () => {
      const draft = drafts[key];
      if (!draft) return;
      try {
        if (draft.id === undefined) draft.id = await api.create(asParams(draft));
        else await api.edit(draft.id, asParams(draft));
      } catch (/** @type {any} */ error) {
        // Deleted elsewhere: it is created anew with the next change. Without a connection, too.
        if (error?.status === 404) delete draft.id;
      }
      save();
    });
  };

  return {
    /** @param {Destination} destination @returns {LocalDraft | undefined} */
    get: (destination) => drafts[draftKey(destination)],
    /** Keeps a text. A text that is too short removes the draft.
     * @param {Destination} destination @param {string} content @param {number} now @param {boolean} sync Whether the server is told now. */
    set(destination, content, now, sync) {
      const key = draftKey(destination);
      if (content.trim().length < MIN_LENGTH) {
        this.remove(destination);
        return;
      }
      const before = drafts[key];
      if (before?.content === content && (!sync || before.id !== undefined)) return;
      drafts[key] = { ...before, destination, content, timestamp: before?.content === content ? before.timestamp : now };
      save();
      if (sync) push(key);
    },
    /** @param {Destination} destination */
    remove(destination) {
      const key = draftKey(destination);
      const draft = drafts[key];
      if (!draft) return;
      delete drafts[key];
      save();
      queue = queue.then(() => (draft.id === undefined ? undefined : api.remove(draft.id).catch(() => {})));
    },
    /** Takes over the server's drafts: the newer of two wins. One that is gone there was sent or deleted elsewhere.
     * @param {any[]} fromServer */
    adopt(fromServer) {
      const ids = new Set(fromServer.map((draft) => draft.id));
      for (const [key, draft] of Object.entries(drafts)) {
        if (draft.id !== undefined && !ids.has(draft.id)) delete drafts[key];
      }
      for (const draft of fromServer) {
        if (draft.type === "") continue;
        /** @type {Destination} */
        const destination = { type: draft.type === "stream" ? "stream" : "direct", to: draft.to, topic: draft.topic };
        const key = draftKey(destination);
        const known = drafts[key];
        if (known && known.id !== undefined && known.id !== draft.id) continue;
        if (known && known.timestamp > draft.timestamp) known.id = draft.id;
        else drafts[key] = { destination, content: draft.content, timestamp: draft.timestamp, id: draft.id };
      }
      save();
    },
    /** All drafts, the newest first. @returns {LocalDraft[]} */
    all: () => Object.values(drafts).toSorted((a, b) => b.timestamp - a.timestamp),
    /** Tells the server of all that it does not know. */
    pushAll() {
      for (const [key, draft] of Object.entries(drafts)) if (draft.id === undefined) push(key);
    },
  };
}

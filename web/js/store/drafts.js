/**
 * Drafts: on this device at once, and on the server soon after, one for each conversation, and one for what has no
 * recipient yet.
 * @module
 */

import { asObject, asText, parseJson } from "../lib/parse.js";
import { keep, kept, names } from "../lib/storage.js";

/** @typedef {import("./outbox.js").Destination} Destination */
/** @typedef {import("./outbox.js").Entries} Entries */
/** @typedef {{ destination: Destination, content: string, timestamp: number, id?: number, isChanged?: boolean }} LocalDraft
 *   `isChanged`: the server has another text, or another conversation. */
/** @typedef {ReturnType<typeof createDrafts>} Drafts */

/** Whether a text is too short to be worth keeping: none, or at most two ASCII characters. In other scripts, one character can be a
 * word. @param {string} text */
const isTooShort = (text) => /^\p{ASCII}{0,2}$/u.test(text.trim());

/** The end of a text that the server has cut. */
const CUT = /\n\[message truncated\]$/;

/** Whether the server has a text, from which it removes surrounding white space and the end, if it is too long. @param {string} own @param {string} kept */
const isSame = (own, kept) => own.trim() === kept.trim() || (CUT.test(kept) && own.trim().startsWith(kept.replace(CUT, "").trim()));

/** Whether the server says that it does not have a draft. @param {any} error */
const isGoneThere = (error) => error?.status === 404 || error?.status === 400;

/** The most UTF-16 code units of a text that the server does not cut. */
const MAX_UNCUT = 10_000;

/** Deletes from the browser the drafts of all accounts that the server has, so that the next user of the browser does not find them. The
 * next session fetches them again. */
export function forgetKnownDrafts() {
  for (const name of names("")) {
    if (!/^\d+\/drafts\//.test(name)) continue;
    const { id, isChanged, content } = asObject(parseJson(kept(name)));
    if (id !== undefined && !isChanged && asText(content).length <= MAX_UNCUT) keep(name, null);
  }
}

/** @param {Destination} destination */
export function draftKey({ type, to, topic }) {
  if (to.length === 0) return type === "stream" ? `new/channel/${topic.toLowerCase()}` : "new/dm";
  return type === "stream" ? `channel/${to[0]}/${topic.toLowerCase()}` : `dm/${to.toSorted((a, b) => a - b).join(",")}`;
}

/** @param {Destination | null} one @param {Destination | null} other */
export const isSameDestination = (one, other) => one !== null && other !== null && draftKey(one) === draftKey(other);

/** The change of destinations when a conversation moved as a whole. @param {Destination} from @param {Destination} to
 * @returns {(destination: Destination) => Destination | null} null where nothing changes */
export const moving = (from, to) => (destination) => (isSameDestination(destination, from) ? to : null);

/** @param {LocalDraft} draft */
const asParams = ({ destination: { type, to, topic }, content, timestamp }) => ({
  type: type === "direct" ? "private" : to.length > 0 ? "stream" : "",
  to,
  topic: type === "stream" ? topic : "",
  content,
  timestamp,
});

/** @param {import("../../types/api.js").Draft} draft As the server has it. @returns {Destination} */
const destinationOf = ({ type, to, topic }) =>
  type === "private" ? { type: "direct", to, topic: "" } : { type: "stream", to: type === "stream" ? to : [], topic };

/** @param {{ entries: Entries, api: { create: (draft: object) => Promise<number>, edit: (id: number, draft: object) => Promise<unknown>,
 *   remove: (id: number) => Promise<unknown> }, isSynchronized: () => boolean }} how */
export function createDrafts({ entries, api, isSynchronized }) {
  /** By the key of the conversation. A second draft of a conversation has a longer key. @type {Map<string, LocalDraft>} */
  const drafts = new Map();
  /** One request after the other, so that a draft is not created twice. @type {Promise<unknown>} */
  let queue = Promise.resolve();

  /** @param {string} key @param {LocalDraft | undefined} draft */
  const put = (key, draft) => {
    if (draft) drafts.set(key, draft);
    else drafts.delete(key);
    entries.set(key, draft ? JSON.stringify(draft) : null);
  };

  /** Reads what is kept. What has not changed stays the same object: its request may be under way. */
  function readEntries() {
    const before = new Map([...drafts].map(([key, draft]) => [key + JSON.stringify(draft), draft]));
    drafts.clear();
    for (const [key, text] of entries.all()) {
      const draft = before.get(key + text) ?? /** @type {LocalDraft} */ (asObject(parseJson(text)));
      if (draft.destination && draft.content) drafts.set(key, draft);
    }
  }
  readEntries();

  /** Whether the server does not have the text. @param {LocalDraft} draft */
  const isUnknown = (draft) => draft.id === undefined || draft.isChanged === true;

  /** @param {string} key */
  const push = (key) => {
    if (!isSynchronized()) return;
    queue = queue.then(async () => {
      const draft = drafts.get(key);
      if (!draft || !isUnknown(draft)) return;
      const { content, destination, id } = draft;
      try {
        if (id === undefined) draft.id = await api.create(asParams(draft));
        else await api.edit(id, asParams(draft));
        const isEdited = id === undefined || draft.id === id;
        if (isEdited && draft.content === content && draft.destination === destination) delete draft.isChanged;
      } catch (error) {
        // Deleted elsewhere: it is created again with the next change. Without a connection, too.
        if (draft.id === id && isGoneThere(error)) delete draft.id;
      }
      // It may have moved meanwhile.
      for (const [place, one] of drafts) if (one === draft) put(place, draft);
    });
  };

  /** Drafts that are deleted here: what the server says of them is older. @type {Set<number>} */
  const deleted = new Set();
  /** Those that the server could not be asked to delete. @type {Set<number>} */
  const undeleted = new Set();

  /** Deletes a draft on the server, or else with the next connection. @param {number} id */
  function removeThere(id) {
    deleted.add(id);
    queue = queue.then(() => api.remove(id)).catch((error) => isGoneThere(error) || undeleted.add(id));
  }

  /** Finds drafts with the same text for the same conversation, and deletes all but the first on the server: a request to create one
   * is repeated if the page is left before its reply. @param {import("../../types/api.js").Draft[]} fromServer
   * @returns {Map<number, number>} the id of the first, by the id of each */
  function withoutDuplicates(fromServer) {
    /** @type {Map<string, number>} */
    const firsts = new Map();
    /** @type {Map<number, number>} */
    const firstOf = new Map();
    for (const draft of fromServer.toSorted((a, b) => a.id - b.id)) {
      const text = JSON.stringify([draftKey(destinationOf(draft)), draft.content]);
      // Long texts can differ behind the place where the server has cut them.
      const first = CUT.test(draft.content) ? draft.id : (firsts.get(text) ?? draft.id);
      firsts.set(text, first);
      firstOf.set(draft.id, first);
      if (first !== draft.id) removeThere(draft.id);
    }
    return firstOf;
  }

  /** A key for another text of a conversation: that of the conversation, if it has no draft. @param {Destination} destination @param {number} now */
  function freeKey(destination, now) {
    const first = draftKey(destination);
    let key = first;
    for (let suffix = now; drafts.has(key); suffix++) key = `${first}#${suffix}`;
    return key;
  }

  /** @param {string} key */
  function removeKey(key) {
    const draft = drafts.get(key);
    if (!draft) return;
    put(key, undefined);
    if (draft.id !== undefined) removeThere(draft.id);
    // Its id may be on its way.
    else queue = queue.then(() => draft.id !== undefined && removeThere(draft.id));
  }

  return {
    /** @param {Destination} destination @returns {LocalDraft | undefined} */
    get: (destination) => drafts.get(draftKey(destination)),
    /** @param {string} key */
    textOf: (key) => drafts.get(key)?.content,
    /** The key of the draft of a conversation that has this text. @param {Destination} destination @param {string} content */
    keyOf: (destination, content) =>
      [...drafts].find(([, draft]) => draft.content === content && isSameDestination(draft.destination, destination))?.[0],
    /** Keeps a text. A text that is too short removes the draft.
     * @param {Destination} destination @param {string} content @param {number} now @param {boolean} sync Whether it is sent to the server now.
     * @param {string} [key] Where it is kept, if the conversation has another draft.
     * @returns {boolean} whether it is kept */
    set(destination, content, now, sync, key = draftKey(destination)) {
      if (isTooShort(content)) {
        removeKey(key);
        return false;
      }
      const before = drafts.get(key);
      const isSame = before?.content === content;
      if (isSame && (!sync || !isUnknown(before))) return true;
      put(key, Object.assign(before ?? {}, { destination, content, timestamp: isSame ? before.timestamp : now, isChanged: true }));
      if (sync) push(key);
      return true;
    },
    freeKey,
    removeKey,
    /** Makes a draft the one that its conversation shows. @param {string} key */
    promote(key) {
      const draft = drafts.get(key);
      const first = draft && draftKey(draft.destination);
      if (!first || first === key) return;
      const other = drafts.get(first);
      put(first, draft);
      put(key, other);
    },
    /** A conversation moved: its drafts go along. What is written there already is kept beside them.
     * @param {(destination: Destination) => Destination | null} moved @param {boolean} sync
     * @returns {Map<string, string>} where each of them is now */
    move(moved, sync) {
      const places = new Map();
      for (const [key, draft] of [...drafts]) {
        const destination = moved(draft.destination);
        if (!destination) continue;
        put(key, undefined);
        const next = freeKey(destination, draft.timestamp);
        places.set(key, next);
        put(next, Object.assign(draft, { destination, isChanged: true }));
        if (sync) push(next);
      }
      return places;
    },
    /** Another tab keeps other drafts. */
    readAgain: readEntries,
    /** Takes over the server's drafts: the newer of two wins. One that is gone there was sent or deleted elsewhere.
     * @param {import("../../types/api.js").Draft[]} fromServer */
    adopt(fromServer) {
      const there = fromServer.filter(({ id }) => !deleted.has(id));
      const firstOf = withoutDuplicates(there);
      /** @type {Map<number, string>} */
      const keys = new Map();
      for (const [key, draft] of [...drafts]) {
        if (draft.id === undefined) continue;
        const first = firstOf.get(draft.id);
        if (first !== undefined && !keys.has(first)) {
          keys.set(first, key);
          if (draft.id !== first && draft.isChanged) push(key);
          draft.id = first;
        }
        // What the server does not have yet stays, and so does all that it deletes when drafts are no longer kept there.
        else if (draft.isChanged || !isSynchronized()) put(key, Object.assign(draft, { id: undefined }));
        else put(key, undefined);
      }
      for (const draft of there) {
        if (firstOf.get(draft.id) !== draft.id) continue;
        const destination = destinationOf(draft);
        let key = keys.get(draft.id) ?? draftKey(destination);
        /** @param {LocalDraft} own */
        const isNewer = (own) => own.timestamp - draft.timestamp >= (own.isChanged ? 0 : 1) || isSame(own.content, draft.content);
        const other = drafts.get(key);
        // What the server never had stays beside what was written on another device.
        if (other && other.id !== draft.id && (other.id !== undefined || !isNewer(other))) key = `${key}#${draft.id}`;
        const known = drafts.get(key);
        if (known && isNewer(known)) {
          put(key, Object.assign(known, { id: draft.id }));
          continue;
        }
        if (known?.isChanged) put(freeKey(known.destination, known.timestamp), { ...known, id: undefined });
        put(key, { destination, content: draft.content, timestamp: draft.timestamp, id: draft.id });
      }
    },
    /** All drafts, the newest first. @returns {(LocalDraft & { key: string })[]} */
    all: () => [...drafts].map(([key, draft]) => ({ ...draft, key })).toSorted((a, b) => b.timestamp - a.timestamp),
    /** Sends everything that the server does not have, and deletes there what is deleted here. */
    pushAll() {
      for (const id of undeleted) removeThere(id);
      undeleted.clear();
      for (const [key, draft] of drafts) if (isUnknown(draft)) push(key);
    },
  };
}

/**
 * A logged-in session: the store and what keeps it up to date, and the actions that need more than one request.
 * @module
 */

import { ApiError } from "../api/client.js";
import * as api from "../api/endpoints.js";
import { createEventQueue } from "../api/event_queue.js";
import { signal } from "../lib/signal.js";
import { keep, kept, names, whenKeptElsewhere } from "../lib/storage.js";
import { createDrafts, moving } from "./drafts.js";
import { applyEvents } from "./events.js";
import { createOutbox } from "./outbox.js";
import { createStore, reset } from "./store.js";
import { removeUnread } from "./unread.js";

/** @typedef {ReturnType<typeof createSession>} Session */
/** @typedef {import("./messages.js").Range} Range */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {number | "newest" | "oldest" | "first_unread"} Anchor */

/** Messages per request: around an anchor, and further ones. */
const BEFORE = 60;
const AFTER = 150;
const PAGE = 100;

/** How many lists of topics are asked for at a time. */
const TOPIC_REQUESTS = 4;

/** How long marks of read messages are collected, in milliseconds. */
const READ_DELAY = 300;

/** How long the event of a message that was sent may take before the message is fetched, in milliseconds. */
const EVENT_PATIENCE = 10_000;

/** @typedef {import("./outbox.js").Destination} Destination */

/** @param {{ matches: (store: import("./store.js").Store, terms: Term[], message: Message) => boolean | null,
 *   requestTerms: (terms: Term[]) => any[], tabs: import("./outbox.js").Tabs }} how */
export function createSession({ matches, requestTerms, tabs }) {
  const store = createStore();
  /** Text of what failed or was done, for the user. @type {import("../lib/signal.js").Signal<{ text: string, isError: boolean, action?: { label: string, run: () => void } } | null>} */
  const notice = signal(null);
  /** @type {Set<(message: Message, event: any) => void>} */
  const messageListeners = new Set();
  /** @type {Set<(from: Destination, to: Destination) => void>} */
  const moveListeners = new Set();
  /** Counts how often the connection came back, for what failed meanwhile. */
  const recoveries = signal(0);
  /** Messages that arrived while requests were under way. @type {Message[]} */
  let arrived = [];
  let underWay = 0;
  let registrations = 0;

  /** @param {string} name @returns {import("./outbox.js").Entries} */
  const entriesOf = (name) => {
    const prefix = `${store.selfId}/${name}/`;
    return {
      all: () => new Map(names(prefix).map((full) => [full.slice(prefix.length), kept(full) ?? ""])),
      set: (key, text) => keep(prefix + key, text),
    };
  };
  /** @type {import("./outbox.js").Entries} */
  const nowhere = { all: () => new Map(), set: () => {} };
  /** @type {ReturnType<typeof createOutbox>} */
  let outbox = createOutbox({
    send: () => Promise.reject(new Error("not started")),
    queueId: () => null,
    isFinal: () => true,
    entries: nowhere,
    tabs,
  });
  /** @type {ReturnType<typeof createDrafts>} */
  let drafts = createDrafts({
    entries: nowhere,
    api: { create: async () => 0, edit: async () => {}, remove: async () => {} },
    isSynchronized: () => false,
  });
  /** Texts of messages that are being edited, by id. */
  const edits = {
    /** @type {Map<string, string>} */
    texts: new Map(),
    /** @param {string} id @param {string | null} text Null: the edit has ended. */
    set(id, text) {
      if (text === null) edits.texts.delete(id);
      else edits.texts.set(id, text);
      entriesOf("edits").set(id, text);
    },
  };

  const queue = createEventQueue({
    onState(state) {
      reset(store, state);
      registrations += 1;
      if (registrations === 1) start();
      drafts.adopt(store.state.drafts ?? []);
      drafts.pushAll();
      outbox.connected();
      recoveries.value += 1;
    },
    onEvents(events) {
      applyEvents(store, events, {
        matches: (range, message) => matches(store, range.terms, message),
        onMessage(message, event) {
          if (underWay > 0) arrived.push(message);
          outbox.confirm(event.local_message_id, message.id);
          for (const listener of messageListeners) listener(message, event);
        },
      });
      if (events.some((event) => event.type === "drafts")) drafts.adopt(store.state.drafts ?? []);
      for (const event of events) followMove(event);
    },
    onRecovered() {
      outbox.connected();
      drafts.pushAll();
      recoveries.value += 1;
    },
  });

  /** A whole conversation moved: what is written to it goes along. @param {import("../../types/api.js").Event} event */
  function followMove(event) {
    if (event.type !== "update_message" || event.propagate_mode !== "change_all" || event.orig_subject === undefined) return;
    const topic = event.subject ?? event.orig_subject;
    moved(
      { type: "stream", to: [event.stream_id], topic: event.orig_subject },
      { type: "stream", to: [event.new_stream_id ?? event.stream_id], topic },
    );
  }

  /** @param {Destination} from @param {Destination} to */
  function moved(from, to) {
    const change = moving(from, to);
    drafts.move(change, tabs.isFirst());
    outbox.move(change);
    for (const listener of moveListeners) listener(from, to);
    store.touch("drafts");
  }

  function start() {
    outbox = createOutbox({
      entries: entriesOf("outbox"),
      tabs,
      queueId: () => queue.id,
      isFinal: (error) => error instanceof ApiError && !error.isTransient,
      send: ({ destination: { type, to, topic }, content, localId, queueId }) => {
        const place = type === "stream" ? { type: "channel", to: to[0], topic } : { type: "direct", to };
        return api.sendMessage({ ...place, content, queue_id: queueId, local_id: localId });
      },
      // The open poll may be as dead as the request that failed, and say nothing of it.
      onUnsure: () => queue.kick(),
      onSent: ({ localId, destination }, id) => {
        if (store.messages.byId.has(id)) return outbox.confirm(localId, id);
        // Channels that one is not in have no events.
        const hasEvents = destination.type === "direct" || store.channels.get(destination.to[0])?.subscribed;
        if (hasEvents) setTimeout(() => void fetchSent(localId, id), EVENT_PATIENCE);
        else void fetchSent(localId, id);
      },
    });
    edits.texts = entriesOf("edits").all();
    drafts = createDrafts({
      entries: entriesOf("drafts"),
      isSynchronized: () => store.setting("enable_drafts_synchronization") !== false,
      api: {
        create: async (draft) => (await api.createDrafts([draft])).ids[0],
        edit: api.editDraft,
        remove: api.deleteDraft,
      },
    });
  }

  whenKeptElsewhere((name) => {
    if (name.startsWith(`${store.selfId}/outbox/`)) outbox.watchOthers();
    if (!name.startsWith(`${store.selfId}/drafts/`)) return;
    drafts.readAgain();
    store.touch("drafts");
  });

  /** Shows a message that the server has taken, although no event tells of it. @param {string} localId @param {number} id */
  async function fetchSent(localId, id) {
    if (!store.messages.byId.has(id)) {
      const reply = await api.getMessage(id).catch(() => null);
      if (reply) store.messages.put([reply.message]);
      // Others may have written meanwhile.
      for (const range of store.messages.ranges.values()) {
        if (!reply || !range.isLoaded || matches(store, range.terms, reply.message) === false) continue;
        range.isStale = true;
        range.bump();
      }
    }
    outbox.confirm(localId, id);
  }

  /** Runs an action, and tells the user if it fails. @template T @param {Promise<T>} action @returns {Promise<T | undefined>} */
  async function attempt(action) {
    try {
      return await action;
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return undefined;
      if (!(error instanceof ApiError)) console.error(error);
      tell(error instanceof Error ? error.message : String(error), true);
      return undefined;
    }
  }

  /** @param {string} text @param {boolean} [isError] @param {{ label: string, run: () => void }} [action] What can be done about it. */
  function tell(text, isError = false, action) {
    notice.value = { text, isError, action };
  }

  /** @param {Range} range @param {Record<string, any>} params @param {(reply: any) => void} take */
  async function fetchInto(range, params, take) {
    underWay += 1;
    try {
      const reply = await api.getMessages({ narrow: requestTerms(range.terms), ...params });
      store.messages.put(reply.messages);
      for (const { id, match_content, match_subject } of reply.messages) {
        if (match_content !== undefined) range.matches.set(id, { match_content, match_subject });
      }
      take(reply);
      if (range.hasNewest) {
        const newest = range.ids.at(-1) ?? 0;
        const missed = arrived
          .filter((message) => message.id > newest && matches(store, range.terms, message))
          .map((message) => message.id);
        if (missed.length > 0) range.merge(missed);
      }
      range.bump();
      return reply;
    } finally {
      underWay -= 1;
      if (underWay === 0) arrived = [];
    }
  }

  /** @type {Map<Range, Promise<any>>} */
  const loading = new Map();
  /** One request at a time for each end of a range. @type {Set<string>} */
  const extending = new Set();

  /** Fetches the messages around an anchor, in place of those that the range has.
   * @param {Range} range @param {Anchor} anchor @returns {Promise<any>} the reply, with the anchor that was found */
  async function load(range, anchor) {
    const running = loading.get(range);
    if (running) await running.catch(() => {});
    const before = anchor === "oldest" ? 0 : BEFORE;
    const after = anchor === "newest" ? 0 : AFTER;
    const request = fetchInto(range, { anchor: String(anchor), num_before: before, num_after: after }, (reply) => {
      range.ids = reply.messages.map((/** @type {Message} */ message) => message.id);
      range.hasOldest = reply.found_oldest;
      range.hasNewest = reply.found_newest;
      range.isLoaded = true;
      range.isStale = false;
    });
    loading.set(range, request);
    try {
      return await request;
    } finally {
      if (loading.get(range) === request) loading.delete(range);
    }
  }

  /** Fetches further messages at one end. @param {Range} range @param {"older" | "newer"} side @returns {Promise<boolean>} Whether there were any */
  async function extend(range, side) {
    const isOlder = side === "older";
    const key = `${side} ${range.key}`;
    if (extending.has(key) || loading.has(range) || (isOlder ? range.hasOldest : range.hasNewest)) return false;
    const anchor = isOlder ? range.ids[0] : range.ids.at(-1);
    if (anchor === undefined) return false;
    extending.add(key);
    try {
      const params = { anchor: String(anchor), include_anchor: false, num_before: isOlder ? PAGE : 0, num_after: isOlder ? 0 : PAGE };
      const reply = await fetchInto(range, params, (found) => {
        range.merge(found.messages.map((/** @type {Message} */ message) => message.id));
        if (isOlder) range.hasOldest = found.found_oldest;
        else range.hasNewest = found.found_newest;
        range.trimAround(anchor);
      });
      return reply.messages.length > 0;
    } finally {
      extending.delete(key);
    }
  }

  /** @type {Set<number>} */
  const toMark = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let markTimer;

  /** Marks messages as read: here at once, on the server a moment later together with others. @param {number[]} ids */
  function markRead(ids) {
    const unread = ids.filter((id) => !store.messages.byId.get(id)?.flags.includes("read") || store.unreadOf.has(id));
    if (unread.length === 0) return;
    store.messages.updateAll(unread, ({ flags }) => (flags.includes("read") ? {} : { flags: [...flags, "read"] }));
    removeUnread(store, unread);
    for (const id of unread) toMark.add(id);
    clearTimeout(markTimer);
    markTimer = setTimeout(() => void sendMarks(), READ_DELAY);
  }

  /** Ends once all marks so far have reached the server. */
  let marking = Promise.resolve();

  function sendMarks() {
    clearTimeout(markTimer);
    marking = marking.then(sendMarksNow);
    return marking;
  }

  async function sendMarksNow() {
    const ids = [...toMark];
    toMark.clear();
    if (ids.length === 0) return;
    try {
      await api.updateFlags(ids, "add", "read");
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isTransient) return;
      for (const id of ids) toMark.add(id);
      markTimer = setTimeout(() => void sendMarks(), 5000);
    }
  }

  /** Changes a flag of all messages of a narrow from an anchor on. @param {Term[]} terms @param {"add" | "remove"} op @param {Anchor} [anchor] */
  async function markNarrow(terms, op, anchor = "oldest") {
    // Marks that are under way would undo this one.
    await sendMarks();
    /** @type {Anchor} */
    let from = anchor;
    for (;;) {
      const reply = await api.updateFlagsForNarrow({
        anchor: String(from),
        include_anchor: from === anchor,
        num_before: 0,
        num_after: 5000,
        op,
        flag: "read",
        narrow: requestTerms(terms),
      });
      if (reply.found_newest || reply.last_processed_id === null) return;
      from = reply.last_processed_id;
    }
  }

  /** Marks a narrow as read, and offers to take that back. @param {Term[]} terms @param {Iterable<number>} ids Its unread messages. */
  async function markNarrowRead(terms, ids) {
    const marked = [...ids];
    await attempt(markNarrow(terms, "add").then(() => tell("Marked as read.", false, { label: "Undo", run: () => void undo() })));
    const undo = () => attempt(api.updateFlags(marked, "remove", "read"));
  }

  /** @type {Map<number, Promise<void>>} */
  const topicRequests = new Map();

  /** Fetches the topics of a channel, if they are not there. @param {number} streamId */
  const needTopics = (streamId) => loadTopics(streamId)?.catch(() => {});

  /** The same, for those who say it if that fails. @param {number} streamId @returns {Promise<void> | undefined} */
  function loadTopics(streamId) {
    if (store.topics.has(streamId)) return undefined;
    const running = topicRequests.get(streamId);
    if (running) return running;
    const request = api
      .channelTopics(streamId)
      .then(({ topics }) => {
        store.topics.set(
          streamId,
          topics.map((/** @type {any} */ { name, max_id }) => ({ name, max_id })),
        );
        store.touch("topics");
      })
      .finally(() => topicRequests.delete(streamId));
    topicRequests.set(streamId, request);
    return request;
  }

  /** Fetches the topics of several channels, a few at a time. @param {number[]} streamIds @param {() => boolean} isWanted Whether to go on. */
  async function needTopicsOf(streamIds, isWanted) {
    const left = streamIds.filter((id) => !store.topics.has(id));
    const work = async () => {
      for (let id = left.shift(); id !== undefined && isWanted(); id = left.shift()) await needTopics(id);
    };
    await Promise.all(Array.from({ length: TOPIC_REQUESTS }, work));
  }

  return {
    store,
    queue,
    notice,
    get outbox() {
      return outbox;
    },
    get drafts() {
      return drafts;
    },
    edits,
    recoveries,
    moved,
    attempt,
    tell,
    load,
    extend,
    markRead,
    flushMarks: () => void sendMarks(),
    markNarrow,
    markNarrowRead,
    needTopics,
    loadTopics,
    needTopicsOf,
    /** @param {(message: Message, event: any) => void} listener */
    onMessage(listener) {
      messageListeners.add(listener);
      return () => messageListeners.delete(listener);
    },
    /** @param {(from: Destination, to: Destination) => void} listener */
    onMove(listener) {
      moveListeners.add(listener);
    },
  };
}

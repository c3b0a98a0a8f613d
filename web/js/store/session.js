/**
 * A logged-in session: the store and what keeps it up to date, and the actions that need more than one request.
 * @module
 */

import { ApiError, csrfToken, pinSession } from "../api/client.js";
import * as api from "../api/endpoints.js";
import { createEventQueue } from "../api/event_queue.js";
import { signal } from "../lib/signal.js";
import { keep, kept, names, whenKeptElsewhere } from "../lib/storage.js";
import { throttle } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { destinationOf } from "./conversations.js";
import { createDeletions } from "./deletions.js";
import { createDrafts, moving } from "./drafts.js";
import { applyEvents, deletedIds } from "./events.js";
import { createFetching, createReplies, createSubscriberLists, createTopicLists } from "./fetching.js";
import { createNotices } from "./notices.js";
import { createOfflineCopy } from "./offline_copy.js";
import { createOutbox } from "./outbox.js";
import { createReading } from "./reading.js";
import { createStore, reset } from "./store.js";
import { createUploads } from "./uploads.js";

/** @typedef {ReturnType<typeof createSession>} Session */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").Term} Term */

/** How long the event of a message that was sent may take before the message is fetched, in milliseconds. */
const EVENT_TIMEOUT = 10_000;

/** How long a message waits that the server could not take, in milliseconds, if the server does not say how long. */
const SEND_PAUSE = 3_000;

/** Types of events whose changes are soon out of date: the copy for reading without a connection is not written for them. */
const PASSING = ["presence", "typing"];

/** The most messages of which one request changes a flag. */
const MAX_FLAGGED = 5000;

/** @typedef {import("./outbox.js").Destination} Destination */

/** @param {{ matches: (store: import("./store.js").Store, terms: Term[], message: Message) => boolean | null,
 *   requestTerms: (terms: Term[]) => Term[], tabs: import("./outbox.js").Tabs }} how */
export function createSession({ matches, requestTerms, tabs }) {
  const store = createStore();
  const token = csrfToken();
  const { tell, tellError, attempt, take: takeNotices } = createNotices();
  /** @type {Set<(message: Message, event: import("../../types/api.js").Event) => void>} */
  const messageListeners = new Set();
  /** @type {Set<(message: Message) => void>} */
  const editListeners = new Set();
  /** @type {Set<(from: Destination, to: Destination, places: Map<string, string>) => void>} */
  const moveListeners = new Set();
  /** @type {Set<(message: import("./outbox.js").OutgoingMessage) => void>} */
  const refusalListeners = new Set();
  /** Counts how often the connection came back, for what failed meanwhile. */
  const recoveries = signal(0);
  let isStarted = false;
  const offline = createOfflineCopy(store, csrfToken);
  const replies = createReplies(store);
  const fetching = createFetching(store, replies, { getMessages: api.getMessages, getMessage: api.getMessage, requestTerms, matches });
  const topicLists = createTopicLists(store, replies, api.channelTopics);
  const needSubscribers = createSubscriberLists(store, replies, api.channelMembers);
  const reading = createReading(store, {
    ...{ updateFlags: api.updateFlags, updateFlagsForNarrow: api.updateFlagsForNarrow, requestTerms },
    isTransient: (error) => error instanceof ApiError && error.isTransient,
  });

  /** @param {string} name @returns {import("./outbox.js").Entries} */
  const entriesOf = (name) => {
    const prefix = `${store.selfId}/${name}/`;
    return {
      all: () => new Map(names(prefix).map((full) => [full.slice(prefix.length), kept(full) ?? ""])),
      set: (key, text) => keep(prefix + key, text),
    };
  };
  const uploads = createUploads({ entries: () => entriesOf("uploads"), tab: tabs.id });
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
      offline.outdate();
      start();
      drafts.adopt(store.state.drafts ?? []);
      drafts.pushAll();
      outbox.connected();
      recoveries.value += 1;
      void checkEdits();
    },
    onEvents(events) {
      for (const event of events) if (event.type === "delete_message") keepEdits(event);
      applyEvents(store, events, {
        matches: (range, message) => matches(store, range.terms, message),
        onMessage(message, event) {
          outbox.confirm(event.local_message_id, message.id);
          for (const listener of messageListeners) listener(message, event);
        },
        onEdit(message) {
          for (const listener of editListeners) listener(message);
        },
        // If this fails, the next registration corrects the count.
        onMuting: (streamId, topic) => void fetching.recountMentions(streamId, topic).catch(() => {}),
      });
      replies.note(events);
      if (events.some(({ type }) => !PASSING.includes(type))) offline.outdate();
      const isSwitch = events.some(({ type, property }) => type === "user_settings" && property === "enable_drafts_synchronization");
      if (isSwitch || events.some((event) => event.type === "drafts")) drafts.adopt(store.state.drafts ?? []);
      for (const event of events) {
        followMove(event);
        if (event.type === "delete_message") offline.forget(deletedIds(event));
        if (event.type === "restart")
          tell(t("The server has a new version."), { label: t("Load the page again"), run: () => location.reload() });
      }
    },
    onRecovered() {
      outbox.connected();
      drafts.pushAll();
      recoveries.value += 1;
    },
  });

  /** Messages are deleted: what was written into one of them becomes a draft. @param {import("../../types/api.js").Event} event */
  function keepEdits(event) {
    const isChannel = event.message_type === "stream";
    /** @type {Destination} */
    const place = isChannel ? { type: "stream", to: [event.stream_id], topic: event.topic } : { type: "direct", to: [], topic: "" };
    for (const id of deletedIds(event)) keepEdit(id, place);
  }

  /** A message is gone. @param {number} id @param {Destination} place For a message that is not known here. */
  function keepEdit(id, place) {
    if (!edits.texts.has(String(id))) return;
    // Another tab may have made it a draft by now.
    const text = entriesOf("edits").all().get(String(id));
    edits.set(String(id), null);
    if (!text) return;
    const message = store.messages.byId.get(id);
    const now = Math.floor(Date.now() / 1000);
    const destination = message ? destinationOf(store, message) : place;
    drafts.set(destination, text, now, true, drafts.freeKey(destination, now));
    store.touch("drafts");
    // The event is the same: the server sends that of a deletion to users who lose access.
    tellError(t("The message that you were editing was deleted, or you can no longer see it. Your text is among the drafts."));
  }

  /** Finds edited messages that were deleted, or became hidden, while no events came. */
  async function checkEdits() {
    for (const key of [...edits.texts.keys()]) {
      const id = Number(key);
      const isGone = (/** @type {unknown} */ error) => error instanceof ApiError && error.status === 400;
      await api.getMessage(id).catch((error) => isGone(error) && keepEdit(id, { type: "stream", to: [], topic: "" }));
    }
  }

  /** Replaces a part of unsent texts that are not in a box. @param {string} before @param {string} after */
  function replaceKept(before, after) {
    const now = Math.floor(Date.now() / 1000);
    const replaced = (/** @type {string} */ text) => text.replace(before, () => after);
    for (const [id, text] of edits.texts) if (text.includes(before)) edits.set(id, replaced(text));
    for (const { key, destination, content } of drafts.all())
      if (content.includes(before)) drafts.set(destination, replaced(content), now, true, key);
    store.touch("drafts");
  }

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
    const places = drafts.move(change, tabs.isFirst());
    outbox.move(change);
    for (const listener of moveListeners) listener(from, to, places);
    store.touch("drafts");
  }

  /** Shows the copy of the state that this browser has, if it has one, and no other came meanwhile. */
  async function showCopy() {
    const copy = await offline.load();
    if (!copy || store.generation.peek() > 0) return copy !== null;
    reset(store, copy.state);
    store.isFromStorage = true;
    for (const [key, { terms, messages, hasOldest }] of copy.runs) {
      store.messages.put(messages);
      const ids = messages.map(({ id }) => id);
      Object.assign(store.messages.range(key, terms), { ids, hasOldest, hasNewest: true, isLoaded: true, isStale: true });
    }
    start();
    return true;
  }

  function start() {
    if (isStarted) return;
    isStarted = true;
    pinSession(token);
    outbox = createOutbox({
      entries: entriesOf("outbox"),
      tabs,
      queueId: () => queue.id,
      isFinal: (error) => error instanceof ApiError && !error.isTransient,
      // Asking the connection would not help: it works.
      pauseAfter: (error) =>
        error instanceof ApiError && error.status > 0 ? Math.max(SEND_PAUSE, Number(error.body["retry-after"] ?? 0) * 1000) : null,
      send: ({ destination: { type, to, topic }, content, localId, queueId }) => {
        const place = type === "stream" ? { type: "channel", to: to[0], topic } : { type: "direct", to };
        return api.sendMessage({ ...place, content, queue_id: queueId, local_id: localId });
      },
      // The open poll may be as dead as the request that failed, and say nothing of it. If it works, the message is sent again at once:
      // what refuses only messages, as a filter of a proxy, is not asked without a pause.
      onUnsure: throttle(() => queue.kick(), SEND_PAUSE),
      onRefused(message) {
        for (const listener of refusalListeners) listener(message);
      },
      onSent: ({ localId, destination }, id) => {
        if (store.messages.byId.has(id)) return outbox.confirm(localId, id);
        // Channels that one is not in have no events.
        const hasEvents = destination.type === "direct" || store.channels.get(destination.to[0])?.subscribed;
        if (hasEvents) setTimeout(() => void fetchSent(localId, id), EVENT_TIMEOUT);
        else void fetchSent(localId, id);
      },
    });
    readEdits();
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
    if (name.startsWith(`${store.selfId}/drafts/`)) readDrafts();
    if (name.startsWith(`${store.selfId}/edits/`)) readEdits();
    if (name.startsWith(`${store.selfId}/uploads/`)) store.touch("uploads");
  });

  /** Takes over the drafts that other tabs keep. */
  function readDrafts() {
    drafts.readAgain();
    store.touch("drafts");
  }

  /** Takes over the edits that other tabs keep. */
  function readEdits() {
    edits.texts = entriesOf("edits").all();
    store.touch("edits");
  }

  /** Shows a message that the server has taken, although no event comes. @param {string} localId @param {number} id */
  async function fetchSent(localId, id) {
    if (!store.messages.byId.has(id)) {
      const message = await fetching.fetchOne(id).catch(() => null);
      // Others may have written meanwhile.
      for (const range of store.messages.ranges.values()) {
        if (message && range.isLoaded && matches(store, range.terms, message) !== false) range.markStale();
      }
    }
    outbox.confirm(localId, id);
  }

  const deletions = createDeletions({
    hide: (id, isHidden) => store.messages.update(id, () => ({ isLeaving: isHidden })),
    remove: (id) => attempt(api.deleteMessage(id)),
  });

  /** Deletes a message, and offers to take that back. @param {number} id */
  function deleteMessage(id) {
    deletions.begin(id);
    const words = t("The message was deleted for everyone.");
    const undo = () => {
      // The page was hidden meanwhile.
      const isLate = !deletions.undo(id) && store.messages.byId.get(id)?.isLeaving !== false;
      if (isLate) tellError(words);
    };
    tell(words, { label: t("Undo"), run: undo });
  }

  /** Marks a narrow as read, and offers to take that back. @param {Term[]} terms @param {Iterable<number>} ids Its unread messages. */
  async function markNarrowRead(terms, ids) {
    const marked = [...ids];
    await attempt(reading.markNarrow(terms, "add").then(() => tell(t("Marked as read."), { label: t("Undo"), run: () => void undo() })));
    const undo = async () => {
      for (let at = 0; at < marked.length; at += MAX_FLAGGED)
        if (!(await attempt(api.updateFlags(marked.slice(at, at + MAX_FLAGGED), "remove", "read")))) return;
    };
  }

  return {
    store,
    queue,
    takeNotices,
    get outbox() {
      return outbox;
    },
    get drafts() {
      return drafts;
    },
    readDrafts,
    readEdits,
    edits,
    uploads,
    replaceKept,
    recoveries,
    offline,
    showCopy,
    moved,
    attempt,
    tell,
    tellError,
    take: replies.take,
    load: fetching.load,
    fetchInto: fetching.fetchInto,
    extend: fetching.extend,
    markRead: reading.mark,
    flushMarks: reading.flush,
    deleteMessage,
    flushDeletions: deletions.flush,
    markNarrow: reading.markNarrow,
    markNarrowRead,
    needTopics: topicLists.need,
    loadTopics: topicLists.load,
    needTopicsOf: topicLists.needOf,
    needSubscribers,
    /** @param {(message: Message, event: import("../../types/api.js").Event) => void} listener */
    onMessage(listener) {
      messageListeners.add(listener);
      return () => messageListeners.delete(listener);
    },
    /** An edit has given a known message a flag, such as that of a mention. @param {(message: Message) => void} listener */
    onEdit(listener) {
      editListeners.add(listener);
    },
    /** The server has refused a message that was written here. @param {(message: import("./outbox.js").OutgoingMessage) => void} listener */
    onRefused(listener) {
      refusalListeners.add(listener);
    },
    /** @param {(from: Destination, to: Destination, places: Map<string, string>) => void} listener `places`: where its drafts are now. */
    onMove(listener) {
      moveListeners.add(listener);
    },
  };
}

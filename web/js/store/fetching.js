/**
 * Fetching the messages of a range: those around an anchor, and further ones at its ends; and the topics of channels.
 * @module
 */

import { messagesAround } from "../api/endpoints.js";
import { bumpTopic, followSubscribers, hasTopics } from "./channels.js";
import { topicKey } from "./conversations.js";
import { applyAgain, movesOrDeletes } from "./events.js";
import { unreadCount, unreadOfChannel, updateMention } from "./unread.js";

/** @typedef {import("./messages.js").Range} Range */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").Messages} Messages */
/** @typedef {number | "newest" | "oldest" | "first_unread"} Anchor */

/** Further messages per request. */
const PAGE = 100;

/** The most mentions that are counted again at a time. */
const MENTIONS = 1000;

/** How many lists of topics are asked for at a time. */
const TOPIC_REQUESTS = 4;

/** @typedef {ReturnType<typeof createReplies>} Replies */

/** Takes over replies. One may be older than events that came while it was on its way, and than a state that was registered
 * meanwhile. @param {import("./store.js").Store} store */
export function createReplies(store) {
  /** Events since the oldest request that is under way. @type {Event[]} */
  let events = [];
  let underWay = 0;
  return {
    /** Notes events that were applied. @param {Event[]} came */
    note(came) {
      if (underWay > 0) events.push(...came);
    },
    /** Asks, and asks again if another state was registered meanwhile: the events in between are missing.
     * @template T, R @param {() => Promise<T>} ask
     * @param {(reply: T, since: Event[]) => R} place Puts the reply where it belongs. `since`: the events since the request, to be applied to it.
     * @param {(since: Event[]) => boolean} [isOutdated] Whether events say that the reply is to be asked for again.
     * @returns {Promise<R>} */
    async take(ask, place, isOutdated = () => false) {
      underWay += 1;
      try {
        for (;;) {
          const [generation, first] = [store.generation.peek(), events.length];
          const reply = await ask();
          const since = events.slice(first);
          if (generation === store.generation.peek() && !isOutdated(since)) return place(reply, since);
        }
      } finally {
        underWay -= 1;
        if (underWay === 0) events = [];
      }
    },
  };
}

/** @param {import("./store.js").Store} store @param {Replies} replies
 * @param {{ getMessages: (params: Record<string, unknown>) => Promise<Messages>, getMessage: (id: number) => Promise<{ message: Message }>, requestTerms: (terms: Term[]) => Term[],
 *   matches: (store: import("./store.js").Store, terms: Term[], message: Message) => boolean | null }} how */
export function createFetching(store, replies, { getMessages, getMessage, requestTerms, matches }) {
  /** @type {Map<Range, Promise<unknown>>} */
  const loading = new Map();
  /** One request at a time for each end of a range. @type {Set<string>} */
  const extending = new Set();
  const context = { matches: (/** @type {Range} */ range, /** @type {Message} */ message) => matches(store, range.terms, message) };

  /** Adds what arrived behind the messages of a reply. @param {Range} range @param {Event[]} since The events since the request. */
  function mergeArrived(range, since) {
    const newest = range.ids.at(-1) ?? 0;
    const arrived = since.flatMap(({ type, message }) => (type === "message" ? (store.messages.byId.get(message.id) ?? []) : []));
    const missed = arrived.filter(({ id }) => id > newest).map((message) => ({ id: message.id, isShown: context.matches(range, message) }));
    if (missed.some(({ isShown }) => isShown === null)) range.hasNewest = false;
    const shown = missed.filter(({ isShown }) => isShown).map(({ id }) => id);
    if (range.hasNewest && shown.length > 0) range.merge(shown);
  }

  /** Fetches messages for a range. @param {Range} range @param {Record<string, unknown>} params
   * @param {(reply: Messages) => void} place Puts their ids into the range. */
  const fetchInto = (range, params, place) =>
    replies.take(
      () => getMessages({ narrow: requestTerms(range.terms), ...params }),
      (reply, since) => {
        store.messages.put(reply.messages);
        for (const { id, match_content, match_subject } of reply.messages) {
          if (match_content !== undefined) range.matches.set(id, { match_content, match_subject });
        }
        place(reply);
        applyAgain(store, since, context);
        if (range.hasNewest) mergeArrived(range, since);
        range.bump();
        return reply;
      },
    );

  return {
    fetchInto,
    /** Fetches one message. @param {number} id */
    fetchOne: (id) =>
      replies.take(
        () => getMessage(id),
        ({ message }, since) => {
          store.messages.put([message]);
          applyAgain(store, since, context);
          return message;
        },
      ),
    /** Counts mentions again in a channel, or one of its topics, that was muted or no longer is. The state lists unread messages neither with
     * the kind of their mention nor, where they are muted, with mentions of everyone.
     * @param {number} streamId @param {string} [topic] */
    async recountMentions(streamId, topic) {
      const isTopic = topic !== undefined;
      if (isTopic ? unreadCount(store, topicKey(streamId, topic)) === 0 : unreadOfChannel(store, streamId).length === 0) return;
      const narrow = requestTerms([
        { operator: "channel", operand: streamId },
        ...(isTopic ? [{ operator: "topic", operand: topic }] : []),
        { operator: "is", operand: "mentioned" },
        { operator: "is", operand: "unread" },
      ]);
      await replies.take(
        () => getMessages({ narrow, anchor: "newest", num_before: MENTIONS, num_after: 0 }),
        ({ messages }, since) => {
          const edits = since.filter(({ type, flags }) => type === "update_message" && flags);
          for (const { id, flags, stream_id } of messages) updateMention(store, id, flags, stream_id);
          for (const { message_id, flags, stream_id } of edits) updateMention(store, message_id, flags, stream_id);
        },
      );
    },
    /** Fetches the messages around an anchor, in place of those that the range has.
     * @param {Range} range @param {Anchor} anchor @returns {Promise<Messages>} the reply, with the anchor that was found */
    async load(range, anchor) {
      const running = loading.get(range);
      if (running) await running.catch(() => {});
      const request = fetchInto(range, messagesAround(requestTerms(range.terms), anchor), (reply) => {
        range.ids = reply.messages.map((message) => message.id);
        range.hasOldest = reply.found_oldest;
        range.hasNewest = reply.found_newest;
        range.isLoaded = true;
        range.isStale = reply.isEarly === true;
      });
      loading.set(range, request);
      try {
        return await request;
      } finally {
        if (loading.get(range) === request) loading.delete(range);
      }
    },
    /** Fetches further messages at one end. @param {Range} range @param {"older" | "newer"} side @returns {Promise<boolean>} Whether there were any */
    async extend(range, side) {
      const isOlder = side === "older";
      const key = `${side} ${range.key}`;
      if (extending.has(key) || loading.has(range) || (isOlder ? range.hasOldest : range.hasNewest)) return false;
      const anchor = isOlder ? range.ids[0] : range.ids.at(-1);
      if (anchor === undefined) return false;
      extending.add(key);
      try {
        const params = { anchor: String(anchor), include_anchor: false, num_before: isOlder ? PAGE : 0, num_after: isOlder ? 0 : PAGE };
        const reply = await fetchInto(range, params, (found) => {
          range.merge(found.messages.map((message) => message.id));
          if (isOlder) range.hasOldest = found.found_oldest;
          else range.hasNewest = found.found_newest;
          range.trimAround(anchor);
        });
        return reply.messages.length > 0;
      } finally {
        extending.delete(key);
      }
    },
  };
}

/** Requests by channel, one at a time for each. @returns {(streamId: number, send: () => Promise<void>) => Promise<void>} */
function createShared() {
  /** @type {Map<number, Promise<void>>} */
  const running = new Map();
  return (streamId, send) => {
    const request = running.get(streamId) ?? send().finally(() => running.delete(streamId));
    running.set(streamId, request);
    return request;
  };
}

/** Fetches the people of a channel, if they are not there. @param {import("./store.js").Store} store @param {Replies} replies
 * @param {(streamId: number) => Promise<{ subscribers: number[] }>} channelMembers @returns {(streamId: number) => Promise<void> | undefined} */
export function createSubscriberLists(store, replies, channelMembers) {
  const shared = createShared();
  return (streamId) => {
    if (store.subscribers.has(streamId)) return undefined;
    const ask = () => channelMembers(streamId);
    const place = (/** @type {Awaited<ReturnType<typeof ask>>} */ { subscribers }, /** @type {Event[]} */ since) => {
      store.subscribers.set(streamId, new Set(subscribers));
      for (const event of since) if (event.type === "subscription") followSubscribers(store, event);
      store.touch("subscribers");
    };
    // What shows the list does without it if that fails. The next visit asks again.
    return shared(streamId, () => replies.take(ask, place).catch(() => {}));
  };
}

/** @param {import("./store.js").Store} store @param {Replies} replies
 * @param {(streamId: number) => Promise<{ topics: { name: string, max_id: number }[] }>} channelTopics */
export function createTopicLists(store, replies, channelTopics) {
  const shared = createShared();

  /** Fetches the topics of a channel, if they are not there. @param {number} streamId @returns {Promise<void> | undefined} */
  function load(streamId) {
    if (hasTopics(store, streamId)) return undefined;
    const ask = () => channelTopics(streamId);
    const place = (/** @type {Awaited<ReturnType<typeof ask>>} */ { topics }, /** @type {Event[]} */ since) => {
      const list = topics.map(({ name, max_id }) => ({ name, max_id }));
      store.topics.set(streamId, list);
      store.outdatedTopics.delete(streamId);
      for (const { type, message } of since) {
        if (type === "message" && message.stream_id === streamId) bumpTopic(store, streamId, message.subject, message.id);
      }
      store.touch("topics");
    };
    const isOutdated = (/** @type {Event[]} */ since) => since.some((event) => movesOrDeletes(event, streamId));
    return shared(streamId, () => replies.take(ask, place, isOutdated));
  }

  /** The same, for those who do not say it if that fails. @param {number} streamId */
  const need = (streamId) => load(streamId)?.catch(() => {});

  return {
    load,
    need,
    /** Fetches the topics of several channels, a few at a time. @param {number[]} streamIds @param {() => boolean} isWanted Whether to go on. */
    async needOf(streamIds, isWanted) {
      const left = streamIds.filter((id) => !hasTopics(store, id));
      const work = async () => {
        for (let id = left.shift(); id !== undefined && isWanted(); id = left.shift()) await need(id);
      };
      await Promise.all(Array.from({ length: TOPIC_REQUESTS }, work));
    },
  };
}

/**
 * Fetching the messages of a range: those around an anchor, and further ones at its ends; and the topics of channels.
 * @module
 */

import { messagesAround } from "../api/endpoints.js";
import { applyAgain, isAboutMessages } from "./events.js";

/** @typedef {import("./messages.js").Range} Range */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").Messages} Messages */
/** @typedef {number | "newest" | "oldest" | "first_unread"} Anchor */

/** Further messages per request. */
const PAGE = 100;

/** How many lists of topics are asked for at a time. */
const TOPIC_REQUESTS = 4;

/** @param {import("./store.js").Store} store
 * @param {{ getMessages: (params: Record<string, unknown>) => Promise<Messages>, getMessage: (id: number) => Promise<{ message: Message }>, requestTerms: (terms: Term[]) => any[],
 *   matches: (store: import("./store.js").Store, terms: Term[], message: Message) => boolean | null }} how */
export function createFetching(store, { getMessages, getMessage, requestTerms, matches }) {
  /** Events about messages since the oldest request that is under way. @type {Event[]} */
  let events = [];
  let underWay = 0;
  /** @type {Map<Range, Promise<unknown>>} */
  const loading = new Map();
  /** One request at a time for each end of a range. @type {Set<string>} */
  const extending = new Set();
  const context = { matches: (/** @type {Range} */ range, /** @type {Message} */ message) => matches(store, range.terms, message) };

  /** Adds what arrived behind the messages of a reply. @param {Range} range @param {Event[]} since The events since the request. */
  function mergeArrived(range, since) {
    const newest = range.ids.at(-1) ?? 0;
    const missed = since.flatMap(({ type, message }) => {
      const arrived = type === "message" ? store.messages.byId.get(message.id) : undefined;
      return arrived && arrived.id > newest && context.matches(range, arrived) ? [arrived.id] : [];
    });
    if (missed.length > 0) range.merge(missed);
  }

  /** Takes over the messages of a reply. It may be older than events that came while it was on its way: they are applied to it.
   * @template T @param {Promise<T>} request @param {(reply: T) => Message[]} messagesOf
   * @param {(reply: T) => void} [place] Runs before the events are applied.
   * @returns {Promise<{ reply: T, since: Event[] }>} `since`: the events */
  async function take(request, messagesOf, place) {
    const first = events.length;
    underWay += 1;
    try {
      const reply = await request;
      const since = events.slice(first);
      store.messages.put(messagesOf(reply));
      place?.(reply);
      applyAgain(store, since, context);
      return { reply, since };
    } finally {
      underWay -= 1;
      if (underWay === 0) events = [];
    }
  }

  /** Fetches messages for a range. @param {Range} range @param {Record<string, unknown>} params
   * @param {(reply: Messages) => void} place Puts their ids into the range. */
  async function fetchInto(range, params, place) {
    const request = getMessages({ narrow: requestTerms(range.terms), ...params });
    const { reply, since } = await take(
      request,
      ({ messages }) => messages,
      (found) => {
        for (const { id, match_content, match_subject } of found.messages) {
          if (match_content !== undefined) range.matches.set(id, { match_content, match_subject });
        }
        place(found);
      },
    );
    if (range.hasNewest) mergeArrived(range, since);
    range.bump();
    return reply;
  }

  return {
    /** Notes events that were applied. @param {Event[]} came */
    note(came) {
      if (underWay > 0) events.push(...came.filter(isAboutMessages));
    },
    fetchInto,
    /** Fetches one message. @param {number} id */
    fetchOne: (id) => take(getMessage(id), ({ message }) => [message]).then(({ reply }) => reply.message),
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

/** Fetches the people of a channel, if they are not there. @param {import("./store.js").Store} store
 * @param {(streamId: number) => Promise<{ subscribers: number[] }>} channelMembers @returns {(streamId: number) => Promise<void>} */
export function createSubscriberLists(store, channelMembers) {
  /** @type {Set<number>} */
  const running = new Set();
  return async (streamId) => {
    if (store.subscribers.has(streamId) || running.has(streamId)) return;
    running.add(streamId);
    const generation = store.generation.peek();
    try {
      const { subscribers } = await channelMembers(streamId);
      if (generation !== store.generation.peek()) return;
      store.subscribers.set(streamId, new Set(subscribers));
      store.touch("subscribers");
    } catch {
      // The list of people does without them; the next visit asks again.
    } finally {
      running.delete(streamId);
    }
  };
}

/** @param {import("./store.js").Store} store @param {(streamId: number) => Promise<{ topics: { name: string, max_id: number }[] }>} channelTopics */
export function createTopicLists(store, channelTopics) {
  /** @type {Map<number, Promise<void>>} */
  const running = new Map();

  /** Fetches the topics of a channel, if they are not there. @param {number} streamId @returns {Promise<void> | undefined} */
  function load(streamId) {
    if (store.topics.has(streamId)) return undefined;
    const known = running.get(streamId);
    if (known) return known;
    const request = channelTopics(streamId)
      .then(({ topics }) => {
        store.topics.set(
          streamId,
          topics.map(({ name, max_id }) => ({ name, max_id })),
        );
        store.touch("topics");
      })
      .finally(() => running.delete(streamId));
    running.set(streamId, request);
    return request;
  }

  /** The same, for those who do not say it if that fails. @param {number} streamId */
  const need = (streamId) => load(streamId)?.catch(() => {});

  return {
    load,
    need,
    /** Fetches the topics of several channels, a few at a time. @param {number[]} streamIds @param {() => boolean} isWanted Whether to go on. */
    async needOf(streamIds, isWanted) {
      const left = streamIds.filter((id) => !store.topics.has(id));
      const work = async () => {
        for (let id = left.shift(); id !== undefined && isWanted(); id = left.shift()) await need(id);
      };
      await Promise.all(Array.from({ length: TOPIC_REQUESTS }, work));
    },
  };
}

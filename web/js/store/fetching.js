/**
 * Fetching the messages of a range: those around an anchor, and further ones at its ends; and the topics of channels.
 * @module
 */

import { messagesAround } from "../api/endpoints.js";

/** @typedef {import("./messages.js").Range} Range */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {number | "newest" | "oldest" | "first_unread"} Anchor */

/** Further messages per request. */
const PAGE = 100;

/** How many lists of topics are asked for at a time. */
const TOPIC_REQUESTS = 4;

/** @param {import("./store.js").Store} store
 * @param {{ getMessages: (params: Record<string, unknown>) => Promise<import("../../types/api.js").Messages>, requestTerms: (terms: Term[]) => any[],
 *   matches: (store: import("./store.js").Store, terms: Term[], message: Message) => boolean | null }} how */
export function createFetching(store, { getMessages, requestTerms, matches }) {
  /** Messages that arrived while requests were under way. @type {Message[]} */
  let arrived = [];
  let underWay = 0;
  /** @type {Map<Range, Promise<unknown>>} */
  const loading = new Map();
  /** One request at a time for each end of a range. @type {Set<string>} */
  const extending = new Set();

  /** Adds what arrived behind the messages of a reply. @param {Range} range */
  function mergeArrived(range) {
    const newest = range.ids.at(-1) ?? 0;
    const missed = arrived.filter((message) => message.id > newest && matches(store, range.terms, message)).map((message) => message.id);
    if (missed.length > 0) range.merge(missed);
  }

  /** @param {Range} range @param {Record<string, unknown>} params @param {(reply: import("../../types/api.js").Messages) => void} take */
  async function fetchInto(range, params, take) {
    underWay += 1;
    try {
      const reply = await getMessages({ narrow: requestTerms(range.terms), ...params });
      store.messages.put(reply.messages);
      for (const { id, match_content, match_subject } of reply.messages) {
        if (match_content !== undefined) range.matches.set(id, { match_content, match_subject });
      }
      take(reply);
      if (range.hasNewest) mergeArrived(range);
      range.bump();
      return reply;
    } finally {
      underWay -= 1;
      if (underWay === 0) arrived = [];
    }
  }

  return {
    /** A message arrived. @param {Message} message */
    arrive(message) {
      if (underWay > 0) arrived.push(message);
    },
    /** Fetches the messages around an anchor, in place of those that the range has.
     * @param {Range} range @param {Anchor} anchor @returns {Promise<import("../../types/api.js").Messages>} the reply, with the anchor that was found */
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

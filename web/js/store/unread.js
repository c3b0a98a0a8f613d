/**
 * Unread messages: those of the state, and the counts that follow from them.
 * @module
 */

import { computed } from "../lib/signal.js";
import { channelOf, FOLLOWED, isTopicMuted, policyOf } from "./channels.js";
import { directKey, topicKey } from "./conversations.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("../../types/api.js").State} State */
/** @typedef {import("../../types/api.js").Event} Event */

/** @param {Store} store @param {State} state */
export function resetUnread(store, state) {
  store.unread = new Map();
  store.unreadOf = new Map();
  const { streams = [], pms = [], huddles = [], mentions = [] } = state.unread_msgs ?? {};
  for (const { stream_id, topic, unread_message_ids } of streams) add(store, topicKey(stream_id, topic), unread_message_ids, topic);
  for (const { other_user_id, unread_message_ids } of pms) add(store, directKey(store, [other_user_id]), unread_message_ids);
  for (const { user_ids_string, unread_message_ids } of huddles) {
    add(store, directKey(store, user_ids_string.split(",").map(Number)), unread_message_ids);
  }
  store.mentions = new Set(mentions);
}

/** The spelling of topics, for lists of what is unread. @type {Map<string, string>} */
const spellings = new Map();

/** @param {Store} store @param {string} key @param {number[]} ids @param {string} [topic] */
function add(store, key, ids, topic) {
  const known = store.unread.get(key) ?? new Set();
  for (const id of ids) {
    known.add(id);
    store.unreadOf.set(id, key);
  }
  if (known.size > 0) store.unread.set(key, known);
  if (topic !== undefined) spellings.set(key, topic);
}

/** @param {Store} store @param {number[]} ids */
function remove(store, ids) {
  for (const id of ids) {
    const key = store.unreadOf.get(id);
    store.mentions.delete(id);
    if (key === undefined) continue;
    store.unreadOf.delete(id);
    const known = store.unread.get(key);
    known?.delete(id);
    if (known?.size === 0) store.unread.delete(key);
  }
}

/** @param {Store} store @param {string} key @param {import("../../types/api.js").Message} message @param {string[]} flags */
export function addUnread(store, key, message, flags) {
  add(store, key, [message.id], message.type === "stream" ? message.subject : undefined);
  if (flags.includes("mentioned") || flags.includes("stream_wildcard_mentioned") || flags.includes("topic_wildcard_mentioned"))
    store.mentions.add(message.id);
  store.touch("unread");
}

/** @param {Store} store @param {number[]} ids */
export function removeUnread(store, ids) {
  remove(store, ids);
  store.touch("unread");
}

/** Messages became unread. @param {Store} store @param {Record<string, any>} details As in the event. */
export function restoreUnread(store, details) {
  for (const [id, detail] of Object.entries(details)) {
    const isChannel = detail.type === "stream";
    const key = isChannel ? topicKey(detail.stream_id, detail.topic) : directKey(store, detail.user_ids);
    add(store, key, [Number(id)], isChannel ? detail.topic : undefined);
    if (detail.mentioned) store.mentions.add(Number(id));
  }
  store.touch("unread");
}

/** Messages moved to another topic. @param {Store} store @param {number[]} ids @param {number} streamId @param {string} topic */
export function moveUnread(store, ids, streamId, topic) {
  const moved = ids.filter((id) => store.unreadOf.has(id));
  if (moved.length === 0) return;
  const mentions = moved.filter((id) => store.mentions.has(id));
  remove(store, moved);
  add(store, topicKey(streamId, topic), moved, topic);
  for (const id of mentions) store.mentions.add(id);
  store.touch("unread");
}

/** @param {Store} store @param {string} key @returns {number} */
export const unreadCount = (store, key) => store.unread.get(key)?.size ?? 0;

/** @typedef {{ streamId: number, topic: string, key: string, ids: Set<number>, isMuted: boolean, isFollowed: boolean, hasMention: boolean, newest: number }} UnreadTopic */

/** A value that is computed once for all that read it until something in one of the areas changes.
 * @template T @param {(store: Store) => T} compute @returns {(store: Store) => T} */
function derived(compute) {
  /** @type {WeakMap<Store, import("../lib/signal.js").ReadSignal<T>>} */
  const known = new WeakMap();
  return (store) => {
    const found =
      known.get(store) ??
      computed(() => {
        store.on("unread");
        store.on("channels");
        store.on("userTopics");
        return compute(store);
      });
    known.set(store, found);
    return found.value;
  };
}

/** The topics with unread messages, of subscribed channels. */
export const unreadTopics = derived(findUnreadTopics);

/** The counts of titles and lists. */
export const unreadCounts = derived(countUnread);

/** @param {Store} store @returns {readonly UnreadTopic[]} */
function findUnreadTopics(store) {
  /** @type {UnreadTopic[]} */
  const topics = [];
  for (const [key, ids] of store.unread) {
    if (!key.startsWith("channel/")) continue;
    const streamId = Number(key.split("/")[1]);
    if (!channelOf(store, streamId).subscribed) continue;
    const topic = spellings.get(key) ?? key.slice(`channel/${streamId}/`.length);
    topics.push({
      streamId,
      topic,
      key,
      ids,
      isMuted: isTopicMuted(store, streamId, topic),
      isFollowed: policyOf(store, streamId, topic) === FOLLOWED,
      hasMention: [...ids].some((id) => store.mentions.has(id)),
      newest: Math.max(...ids),
    });
  }
  return topics;
}

/** @param {Store} store @returns {{ key: string, userIds: number[], ids: Set<number>, newest: number }[]} */
export function unreadDirects(store) {
  return [...store.unread]
    .filter(([key]) => key.startsWith("dm/"))
    .map(([key, ids]) => {
      return { key, userIds: key.slice(3).split(",").map(Number), ids, newest: Math.max(...ids) };
    });
}

/** @param {Store} store @returns {{ home: number, directs: number, mentions: number, followed: number, muted: number,
 *   channels: Map<number, { unmuted: number, muted: number, hasMention: boolean }> }} */
function countUnread(store) {
  const counts = { home: 0, directs: 0, mentions: 0, followed: 0, muted: 0, channels: new Map() };
  for (const { ids } of unreadDirects(store)) counts.directs += ids.size;
  for (const { streamId, ids, isMuted, isFollowed, hasMention } of unreadTopics(store)) {
    const channel = counts.channels.get(streamId) ?? { unmuted: 0, muted: 0, hasMention: false };
    channel[isMuted ? "muted" : "unmuted"] += ids.size;
    channel.hasMention ||= hasMention;
    counts.channels.set(streamId, channel);
    if (isFollowed) counts.followed += ids.size;
    if (isMuted) counts.muted += ids.size;
    else counts.home += ids.size;
  }
  counts.home += counts.directs;
  counts.mentions = store.mentions.size;
  return counts;
}

/**
 * Unread messages: those of the state, and the counts that follow from them.
 * @module
 */

import { computedOf } from "../lib/signal.js";
import { channelOf, FOLLOWED, INHERIT, isMutedBy, MUTED } from "./channels.js";
import { directKey, noteTopic, topicOfKey } from "./conversations.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("../../types/api.js").State} State */

/** @param {Store} store @param {State} state */
export function resetUnread(store, state) {
  store.unread = new Map();
  store.unreadOf = new Map();
  const { streams = [], pms = [], huddles = [], mentions = [] } = state.unread_msgs ?? {};
  for (const { stream_id, topic, unread_message_ids } of streams) add(store, noteTopic(stream_id, topic), unread_message_ids);
  for (const { other_user_id, unread_message_ids } of pms) add(store, directKey(store, [other_user_id]), unread_message_ids);
  for (const { user_ids_string, unread_message_ids } of huddles) {
    add(store, directKey(store, user_ids_string.split(",").map(Number)), unread_message_ids);
  }
  store.mentions = new Set(mentions);
  store.hasOlderUnread = state.unread_msgs?.old_unreads_missing === true;
}

/** @param {Store} store @param {string} key @param {number[]} ids */
function add(store, key, ids) {
  const known = new Set([...(store.unread.get(key) ?? []), ...ids]);
  for (const id of ids) store.unreadOf.set(id, key);
  if (known.size > 0) store.unread.set(key, known);
}

/** @param {Store} store @param {number[]} ids */
function remove(store, ids) {
  /** @type {Map<string, Set<number>>} */
  const changed = new Map();
  for (const id of ids) {
    const key = store.unreadOf.get(id);
    store.mentions.delete(id);
    if (key === undefined) continue;
    store.unreadOf.delete(id);
    const left = changed.get(key) ?? new Set(store.unread.get(key));
    left.delete(id);
    changed.set(key, left);
  }
  for (const [key, left] of changed) {
    if (left.size > 0) store.unread.set(key, left);
    else store.unread.delete(key);
  }
}

/** @param {Store} store @param {string} key @param {import("../../types/api.js").Message} message @param {string[]} flags */
export function addUnread(store, key, message, flags) {
  if (message.type === "stream") noteTopic(Number(message.stream_id), message.subject);
  add(store, key, [message.id]);
  updateMention(store, message.id, flags, message.stream_id);
}

/** Counts an unread message as a mention, or no longer. @param {Store} store @param {number} id @param {string[]} flags
 * @param {number} [streamId] Of a message in a channel. */
export function updateMention(store, id, flags, streamId) {
  const key = store.unreadOf.get(id);
  if (key === undefined) return;
  const isMuted = streamId !== undefined && isMutedBy(store.userTopics.get(key) ?? INHERIT, channelOf(store, streamId));
  const isWildcard = flags.includes("stream_wildcard_mentioned") || flags.includes("topic_wildcard_mentioned");
  // As the server counts mentions: one of everyone does not count where the topic is muted.
  store.mentions[flags.includes("mentioned") || (isWildcard && !isMuted) ? "add" : "delete"](id);
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
    const key = detail.type === "stream" ? noteTopic(detail.stream_id, detail.topic) : directKey(store, detail.user_ids);
    add(store, key, [Number(id)]);
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
  add(store, noteTopic(streamId, topic), moved);
  for (const id of mentions) store.mentions.add(id);
  store.touch("unread");
}

/** The unread messages of a channel. @param {Store} store @param {number} streamId @returns {number[]} */
export const unreadOfChannel = (store, streamId) =>
  [...store.unread].flatMap(([key, ids]) => (key.startsWith(`channel/${streamId}/`) ? [...ids] : []));

/** @param {Store} store @param {string} key @returns {number} */
export const unreadCount = (store, key) => store.unread.get(key)?.size ?? 0;

/** @typedef {{ streamId: number, topic: string, key: string, ids: Set<number>, isMuted: boolean, isFollowed: boolean, hasMention: boolean, newest: number }} UnreadTopic */

/** A value that is computed once for all readers, until one of these areas changes.
 * @template T @param {(store: Store) => T} compute @returns {(store: Store) => T} */
const derived = (compute) =>
  computedOf((/** @type {Store} */ store) => {
    store.on("unread", "channels", "userTopics");
    return compute(store);
  });

/** The topics with unread messages, of subscribed channels. */
export const unreadTopics = derived(findUnreadTopics);

/** The counts of titles and lists. */
export const unreadCounts = derived(countUnread);

/** The unread topic that a click on a channel may open, by channel. */
export const newestUnreadTopics = derived(findNewestTopics);

/** The largest of some ids. A set may have more than a call may have arguments. @param {Iterable<number>} ids */
function newestOf(ids) {
  let newest = 0;
  for (const id of ids) if (id > newest) newest = id;
  return newest;
}

/** Values derived from the unread messages of a conversation, by their set, which is another object after each change.
 * @type {WeakMap<Set<number>, { streamId: number, topic: string, newest: number }>} */
const details = new WeakMap();

/** @param {string} key @param {Set<number>} ids */
function detailsOf(key, ids) {
  const known = details.get(ids);
  if (known) return known;
  const found = { ...topicOfKey(key), newest: newestOf(ids) };
  details.set(ids, found);
  return found;
}

/** The conversations with unread messages that mention the user. @param {Store} store */
const mentioning = (store) => new Set([...store.mentions].map((id) => store.unreadOf.get(id)));

/** @param {Store} store @returns {readonly UnreadTopic[]} */
function findUnreadTopics(store) {
  const mentions = mentioning(store);
  /** @type {UnreadTopic[]} */
  const topics = [];
  for (const [key, ids] of store.unread) {
    if (!key.startsWith("channel/")) continue;
    const { streamId, topic, newest } = detailsOf(key, ids);
    const channel = channelOf(store, streamId);
    if (!channel.subscribed) continue;
    const policy = store.userTopics.get(key) ?? INHERIT;
    topics.push({
      ...{ streamId, topic, key, ids, newest, hasMention: mentions.has(key) },
      isMuted: isMutedBy(policy, channel),
      isFollowed: policy === FOLLOWED,
    });
  }
  return topics;
}

/** @param {Store} store @returns {{ key: string, userIds: number[], ids: Set<number>, newest: number }[]} */
export function unreadDirects(store) {
  const directs = [];
  for (const [key, ids] of store.unread) {
    if (key.startsWith("dm/")) directs.push({ key, userIds: key.slice(3).split(",").map(Number), ids, newest: newestOf(ids) });
  }
  return directs;
}

/** The unread direct messages as text, which is another where one of their counts is. @param {Store} store */
export function directsSign(store) {
  store.on("unread");
  return unreadDirects(store)
    .map(({ key, ids, newest }) => `${key} ${ids.size} ${newest}`)
    .join();
}

/** The newest unread topic of each channel, without muted topics. In a muted channel, unmuted and followed topics come first.
 * @param {Store} store @returns {Map<number, UnreadTopic>} */
function findNewestTopics(store) {
  /** @type {Map<number, UnreadTopic>} */
  const newest = new Map();
  for (const topic of unreadTopics(store)) {
    if (store.userTopics.get(topic.key) === MUTED) continue;
    const other = newest.get(topic.streamId);
    if (!other || (topic.isMuted === other.isMuted ? topic.newest > other.newest : other.isMuted)) newest.set(topic.streamId, topic);
  }
  return newest;
}

/** @param {Store} store @returns {{ home: number, directs: number, mentions: number, mentionsInDirects: number, followed: number,
 *   mentionsInFollowed: number, channels: Map<number, { unmuted: number, muted: number, hasMention: boolean }> }} */
function countUnread(store) {
  const counts = { home: 0, directs: 0, mentions: 0, mentionsInDirects: 0, followed: 0, mentionsInFollowed: 0, channels: new Map() };
  /** Whether the user follows them, by the keys of topics. */
  const followed = new Map();
  for (const { ids } of unreadDirects(store)) counts.directs += ids.size;
  for (const { streamId, key, ids, isMuted, isFollowed, hasMention } of unreadTopics(store)) {
    const channel = counts.channels.get(streamId) ?? { unmuted: 0, muted: 0, hasMention: false };
    channel[isMuted ? "muted" : "unmuted"] += ids.size;
    channel.hasMention ||= hasMention;
    counts.channels.set(streamId, channel);
    followed.set(key, isFollowed);
    if (isFollowed) counts.followed += ids.size;
    if (!isMuted) counts.home += ids.size;
  }
  for (const id of store.mentions) {
    const key = store.unreadOf.get(id);
    const isDirect = key?.startsWith("dm/");
    // Mentions in channels that the user left do not count, like the other messages there.
    if (isDirect || followed.has(key)) counts.mentions += 1;
    if (isDirect) counts.mentionsInDirects += 1;
    else if (followed.get(key)) counts.mentionsInFollowed += 1;
  }
  counts.home += counts.directs;
  return counts;
}

/**
 * The items of the lists of conversations and people, in their order.
 * @module
 */

import { t } from "../lib/words.js";
import { channelOf, FOLLOWED, isTopicMuted, MUTED, openChannels, policyOf, UNMUTED } from "../store/channels.js";
import { isResolvedTopic, topicKey } from "../store/conversations.js";
import { unreadCount, unreadDirects, unreadTopics } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { fold } from "./ranking.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Channel} Channel */

/** Compares names as people sort them. */
export const collator = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });

/** The words of a filter, without case and accents. @param {string} filter @returns {string[]} */
export const wordsOf = (filter) => fold(filter).split(/\s+/).filter(Boolean);

/** Whether a text contains each of these words. @param {string} text @param {string[]} words As of `wordsOf`. */
export const hasWords = (text, words) => words.every((word) => fold(text).includes(word));

/** @param {Channel} a @param {Channel} b Muted ones last, then by name. */
const byMuteAndName = (a, b) => Number(a.is_muted) - Number(b.is_muted) || collator.compare(a.name, b.name);

/** @typedef {{ key: string, title: string, channels: Channel[] }} ChannelSection */

/** The subscribed channels in sections: pinned, folders in their order, others, inactive.
 * @param {Store} store @param {string} [filter] @returns {ChannelSection[]} */
export function channelSections(store, filter = "") {
  const words = wordsOf(filter);
  const subscribed = openChannels(store).filter((channel) => channel.subscribed && hasWords(channel.name, words));
  const policy = store.setting("demote_inactive_streams") ?? 1;
  const demotes = policy === 2 || (policy === 1 && subscribed.length >= 30);
  const byFolder = store.setting("web_left_sidebar_show_channel_folders") !== false;
  const folders = byFolder ? (store.state.channel_folders ?? []).filter((folder) => !folder.is_archived) : [];
  /** @type {Map<string, ChannelSection>} */
  const sections = new Map();
  sections.set("pinned", { key: "pinned", title: t("Pinned"), channels: [] });
  for (const folder of folders) sections.set(`folder/${folder.id}`, { key: `folder/${folder.id}`, title: folder.name, channels: [] });
  sections.set("other", { key: "other", title: folders.length > 0 ? t("Other channels") : t("Channels"), channels: [] });
  sections.set("inactive", { key: "inactive", title: t("Inactive channels"), channels: [] });
  for (const channel of subscribed) {
    const isInactive = demotes && channel.is_recently_active === false && !store.joined.has(channel.stream_id);
    const folder = `folder/${channel.folder_id}`;
    const key = channel.pin_to_top ? "pinned" : isInactive ? "inactive" : sections.has(folder) ? folder : "other";
    sections.get(key)?.channels.push(channel);
  }
  for (const section of sections.values()) section.channels.sort(byMuteAndName);
  return [...sections.values()].filter((section) => section.channels.length > 0);
}

/** How many conversations a list has if it is not shown in full: recent ones, and including those with unread messages. */
const TOPICS = { recent: 8, unread: 12 };
const DIRECTS = { recent: 8, unread: 15 };

/** The conversations of a list that is not shown in full: recent ones, older ones with unread messages, and the open one.
 * @template {{ unread: number }} T @param {T[]} items The latest first.
 * @param {{ recent: number, unread: number, isCurrent: (item: T) => boolean, isOff?: (item: T) => boolean }} which */
function pick(items, { recent, unread, isCurrent, isOff = () => false }) {
  let shown = 0;
  return items.filter((item) => {
    const isPicked = !isOff(item) && shown < (item.unread > 0 ? unread : recent);
    if (isPicked) shown += 1;
    return isPicked || isCurrent(item);
  });
}

/** @typedef {{ name: string, key: string, unread: number, isMuted: boolean, isFollowed: boolean, hasMention: boolean, isResolved: boolean }} TopicItem */

/** The topics of a channel in the sidebar: the recent ones, those with unread messages, and the open one.
 * @param {Store} store @param {number} streamId @param {string | null} current @param {boolean} all @returns {{ items: TopicItem[], hasMore: boolean }} */
export function topicItems(store, streamId, current, all) {
  const names = (store.topics.get(streamId) ?? []).map(({ name }) => name);
  const isCurrent = (/** @type {string} */ name) => name.toLowerCase() === current?.toLowerCase();
  if (current !== null && !names.some(isCurrent)) names.unshift(current);
  const items = names.map((name) => {
    const key = topicKey(streamId, name);
    const policy = policyOf(store, streamId, name);
    return {
      name,
      key,
      unread: unreadCount(store, key),
      isMuted: isTopicMuted(store, streamId, name),
      isFollowed: policy === FOLLOWED,
      isPreferred: policy === UNMUTED || policy === FOLLOWED,
      isOff: policy === MUTED,
      hasMention: [...(store.unread.get(key) ?? [])].some((id) => store.mentions.has(id)),
      isResolved: isResolvedTopic(name),
    };
  });
  if (all) return { items, hasMore: false };
  const isMutedChannel = channelOf(store, streamId).is_muted;
  if (isMutedChannel) items.sort((a, b) => Number(b.isPreferred) - Number(a.isPreferred));
  const picked = pick(items, { ...TOPICS, isCurrent: ({ name }) => isCurrent(name), isOff: (item) => item.isOff });
  return { items: picked, hasMore: picked.length < items.length };
}

/** @typedef {{ key: string, userIds: number[], unread: number, name: string, maxId: number }} DirectItem */

/** @param {Store} store @param {number[]} userIds */
export function namesOf(store, userIds) {
  if (userIds.length === 1 && userIds[0] === store.selfId) return t("{name} (you)", { name: userOf(store, store.selfId).full_name });
  return userIds.map((id) => userOf(store, id).full_name).join(", ");
}

/** Direct conversations, the latest first. @param {Store} store @param {string | null} current @param {boolean} all
 * @returns {{ items: DirectItem[], hasMore: boolean }} */
export function directItems(store, current, all) {
  /** @type {Map<string, { userIds: number[], maxId: number }>} */
  const known = new Map();
  for (const [key, { user_ids, max_id }] of store.directs) known.set(key, { userIds: user_ids, maxId: max_id });
  for (const { key, userIds, newest } of unreadDirects(store)) {
    known.set(key, { userIds, maxId: Math.max(newest, known.get(key)?.maxId ?? 0) });
  }
  if (current?.startsWith("dm/") && !known.has(current))
    known.set(current, { userIds: current.slice(3).split(",").map(Number), maxId: Infinity });
  const items = [...known].map(([key, { userIds, maxId }]) => ({ key, userIds, maxId, unread: unreadCount(store, key) }));
  items.sort((a, b) => b.maxId - a.maxId);
  const picked = all ? items : pick(items, { ...DIRECTS, isCurrent: ({ key }) => key === current });
  return { items: picked.map((item) => ({ ...item, name: namesOf(store, item.userIds) })), hasMore: picked.length < items.length };
}

/** @typedef {{ key: string, title: string, channel: Channel | null, conversations: InboxItem[], count: number }} InboxSection */
/** @typedef {{ key: string, topic: string | null, userIds: number[] | null, streamId: number | null, count: number, hasMention: boolean, isFollowed: boolean, isMuted: boolean, newest: number, ids: Set<number> }} InboxItem */

/** Everything unread, by conversation. @param {Store} store
 * @param {{ filter: string, topics: "all" | "unmuted" | "followed", nameOf: (topic: string) => string }} options `nameOf`: what a topic is called.
 * @returns {InboxSection[]} */
export function inboxSections(store, { filter, topics, nameOf }) {
  const words = wordsOf(filter);
  /** @type {InboxSection[]} */
  const sections = [];
  const directs = unreadDirects(store)
    .filter(({ userIds }) => hasWords(namesOf(store, userIds), words))
    .sort((a, b) => b.newest - a.newest);
  if (directs.length > 0) {
    sections.push({
      key: "dm",
      title: t("Direct messages"),
      channel: null,
      count: directs.reduce((sum, { ids }) => sum + ids.size, 0),
      conversations: directs.map((direct) => ({
        ...{ ...direct, count: direct.ids.size, topic: null, streamId: null },
        ...{ hasMention: false, isFollowed: false, isMuted: false },
      })),
    });
  }
  /** @type {Map<number, InboxSection>} */
  const channels = new Map();
  for (const item of unreadTopics(store).toSorted((a, b) => b.newest - a.newest)) {
    if (topics === "unmuted" && item.isMuted && !item.hasMention) continue;
    if (topics === "followed" && !item.isFollowed) continue;
    const channel = channelOf(store, item.streamId);
    if (!hasWords(`${channel.name} ${nameOf(item.topic)}`, words)) continue;
    const section = channels.get(item.streamId) ?? {
      key: `channel/${item.streamId}`,
      title: channel.name,
      channel,
      conversations: [],
      count: 0,
    };
    section.conversations.push({ ...item, userIds: null, count: item.ids.size });
    section.count += item.ids.size;
    channels.set(item.streamId, section);
  }
  const order = (/** @type {InboxSection} */ { channel }) => (channel ? (channel.pin_to_top ? 0 : 2) + Number(channel.is_muted) : -1);
  return [...sections, ...[...channels.values()].sort((a, b) => order(a) - order(b) || collator.compare(a.title, b.title))];
}

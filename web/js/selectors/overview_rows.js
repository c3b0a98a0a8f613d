/**
 * The rows of the inbox and of the recent conversations as plain data; rows whose data have changed are drawn again. Pure.
 * @module
 */

import { createMemo } from "../lib/memo.js";
import { dayOf, relativeTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { channelOf, FOLLOWED, INHERIT, isMutedBy } from "../store/channels.js";
import { conversationKey, isResolvedTopic, otherIds, recipientIds } from "../store/conversations.js";
import { unreadCount, unreadTopics } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { conversationTerms, directTerms, topicTerms } from "./narrow.js";
import { collator, hasWords, inboxSections, namesOf, wordsOf } from "./sidebar_items.js";
import { plainTopicName, topicName } from "./title.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Message} Message */
/** @template T @typedef {import("../lib/memo.js").Memo<T>} Memo */

/** @typedef {{ key: string, terms: Term[], name: string, isResolved: boolean, person: number | null, picture: string | null, isDirect: boolean, isFollowed: boolean, isMuted: boolean, hasMention: boolean, count: number }} InboxRow */
/** @typedef {{ key: string, title: string, streamId: number | null, color: string | null, isWebPublic: boolean, isPrivate: boolean, isMuted: boolean, isFolded: boolean, count: number, rows: InboxRow[] }} InboxSectionRow */

/** @param {Store} store @param {import("./sidebar_items.js").InboxItem} item @returns {InboxRow} */
function inboxRow(store, { key, userIds, streamId, topic, isFollowed, isMuted, hasMention, count }) {
  const terms = userIds ? directTerms(userIds) : topicTerms(Number(streamId), String(topic));
  const name = userIds ? namesOf(store, userIds) : plainTopicName(store, String(topic));
  const isResolved = topic !== null && isResolvedTopic(topic);
  const person = userIds?.length === 1 ? userIds[0] : null;
  const picture = person === null ? null : userOf(store, person).avatar_url;
  return { key, terms, name, isResolved, person, picture, isDirect: userIds !== null, isFollowed, isMuted, hasMention, count };
}

/** @param {Store} store @param {{ filter: string, topics: "all" | "unmuted" | "followed", folded: Set<string> }} shown
 * @param {Memo<InboxRow>} [memo] Rows that stay the same are the same objects. @returns {InboxSectionRow[]} */
export function inboxRows(store, { filter, topics, folded }, memo = createMemo()) {
  // Names and pictures.
  const version = store.on("users", "realm");
  const nameOf = (/** @type {string} */ topic) => topicName(store, topic);
  return inboxSections(store, { filter, topics, nameOf }).map(({ key, title, channel, count, conversations }) => {
    const isFolded = folded.has(key);
    return {
      ...{ key, title, count, isFolded, streamId: channel?.stream_id ?? null, color: channel?.color ?? null },
      ...{ isMuted: channel?.is_muted ?? false, isWebPublic: channel?.is_web_public ?? false, isPrivate: channel?.invite_only ?? false },
      rows: isFolded
        ? []
        : conversations.map((item) => {
            const inputs = [item.ids, item.isMuted, item.isFollowed, item.hasMention, version];
            return memo(item.key, inputs, () => inboxRow(store, item));
          }),
    };
  });
}

/** The text of an inbox without rows. The choice of topics may leave out unread messages. @param {Store} store
 * @param {{ filter: string, topics: "all" | "unmuted" | "followed" }} shown */
export function emptyInboxText(store, { filter, topics }) {
  if (filter !== "") return t("No matches.");
  if (unreadTopics(store).length === 0) return t("You have read everything.");
  return topics === "followed"
    ? t("You have read everything in the topics that you follow.")
    : t("You have read everything except muted topics.");
}

/** Whether the user has begun an organization, and is alone in it. @param {Store} store */
export const isNew = (store) =>
  store.state.is_admin === true && [...store.users.values()].filter((user) => !user.is_bot && user.is_active !== false).length === 1;

/** @typedef {{ newest: Message, senders: Set<number>, isMine: boolean }} Recent */
/** @typedef {{ key: string, terms: Term[], streamId: number | null, channel: string | null, color: string | null, name: string, isResolved: boolean, isMuted: boolean, isFollowed: boolean, unread: number, people: { id: number, name: string, picture: string | null }[], time: string }} RecentRow */

/** The conversations of some messages, the latest first. @param {Store} store @param {number[]} ids Ascending. @returns {Map<string, Recent>} */
function recentConversations(store, ids) {
  /** @type {Map<string, Recent>} */
  const conversations = new Map();
  for (const id of ids.toReversed()) {
    const message = store.messages.byId.get(id);
    if (!message || (message.type === "stream" && !channelOf(store, Number(message.stream_id)).subscribed)) continue;
    const key = conversationKey(store, message);
    const found = conversations.get(key) ?? { newest: message, senders: new Set(), isMine: false };
    found.senders.add(message.sender_id);
    found.isMine ||= message.sender_id === store.selfId;
    conversations.set(key, found);
  }
  return conversations;
}

/** @param {Store} store @param {string} key @param {Recent} conversation @returns {RecentRow} */
function recentRow(store, key, { newest, senders }) {
  const streamId = newest.type === "stream" ? Number(newest.stream_id) : null;
  const others = streamId === null ? otherIds(store, recipientIds(newest)) : [];
  const { name: channel, color } = streamId === null ? { name: null, color: null } : channelOf(store, streamId);
  const policy = streamId === null ? INHERIT : (store.userTopics.get(key) ?? INHERIT);
  return {
    ...{ key, streamId, channel, color, terms: conversationTerms(store, newest), unread: unreadCount(store, key) },
    name: streamId === null ? namesOf(store, others) : plainTopicName(store, newest.subject),
    isResolved: streamId !== null && isResolvedTopic(newest.subject),
    isMuted: streamId === null ? others.every((id) => store.mutedUsers.has(id)) : isMutedBy(policy, channelOf(store, streamId)),
    isFollowed: policy === FOLLOWED,
    people: [...senders].map((id) => ({ id, name: userOf(store, id).full_name, picture: userOf(store, id).avatar_url })),
    time: relativeTime(newest.timestamp, store.is24Hours),
  };
}

/** The inputs of a row of the recent conversations. @param {Store} store @param {string} key @param {Recent} conversation */
const recentInputs = (store, key, { newest, senders }) => [
  ...[newest, senders.size, newest.type === "stream" ? store.channels.get(Number(newest.stream_id)) : null],
  ...[store.unread.get(key), store.userTopics.get(key), dayOf(Date.now() / 1000), Date.now() / 1000 - newest.timestamp < 86_400],
];

/** Orders of the recent conversations. By default, the newest message is first.
 * @type {Record<string, (one: RecentRow, other: RecentRow) => number>} */
const RECENT_ORDERS = {
  topic: (one, other) => collator.compare(one.name, other.name),
  channel: (one, other) => collator.compare(one.channel ?? "", other.channel ?? ""),
  unread: (one, other) => other.unread - one.unread,
};

/** @param {Store} store @param {number[]} ids Ascending. @param {{ filter: string, only: Set<string>, order?: string }} shown `only`: what is in the list
 *   besides channels (`dm`, `muted`), and what alone is in it (`unread`, `participated`, and of channels `followed`). `order`: `oldest`, or a name of
 *   `RECENT_ORDERS`.
 * @param {Memo<RecentRow>} [memo] Rows that stay the same are the same objects. @returns {RecentRow[]} */
export function recentRows(store, ids, { filter, only, order = "" }, memo = createMemo()) {
  // Names and pictures, and the format of times.
  const version = store.on("users", "realm", "settings");
  const words = wordsOf(filter);
  const rows = [...recentConversations(store, ids)].flatMap(([key, conversation]) => {
    const row = memo(key, [...recentInputs(store, key, conversation), version], () => recentRow(store, key, conversation));
    const isOut =
      (row.streamId === null && !only.has("dm")) ||
      (only.has("unread") && row.unread === 0) ||
      (only.has("participated") && !conversation.isMine) ||
      (only.has("followed") && row.streamId !== null && !row.isFollowed) ||
      (row.isMuted && !only.has("muted")) ||
      !hasWords(`${row.channel ?? ""} ${row.name}`, words);
    return isOut ? [] : [row];
  });
  if (order === "oldest") return rows.reverse();
  return Object.hasOwn(RECENT_ORDERS, order) ? rows.sort(RECENT_ORDERS[order]) : rows;
}

/**
 * The rows of a timeline: one for each message, with what stands above it. Pure.
 * @module
 */

import { dayName, dayOf } from "../lib/time.js";
import { conversationKey } from "../store/conversations.js";

/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../store/store.js").Store} Store */

/** Messages of one sender further apart than this, in seconds, each show who sent them. */
const GROUP_SECONDS = 10 * 60;

/** @typedef {{ id: number, message: Message, rev: number, day: string | null, hasBar: boolean, showsSender: boolean,
 *   isUnread: boolean, isFirstUnread: boolean, isHidden: boolean }} Row */

/** @param {Store} store @param {number[]} ids
 * @param {{ isMixed: boolean, firstUnread: number | null, revealed: Set<number>, now?: number }} options
 *   `isMixed`: whether the view shows several conversations; `firstUnread`: the id of the unread line. @returns {Row[]} */
export function timelineRows(store, ids, { isMixed, firstUnread, revealed, now }) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {Message | null} */
  let previous = null;
  for (const id of ids) {
    const message = store.messages.byId.get(id);
    if (!message) continue;
    const isNewDay = !previous || dayOf(previous.timestamp) !== dayOf(message.timestamp);
    const isNewConversation = !previous || conversationKey(store, previous) !== conversationKey(store, message);
    const isFirstUnread = firstUnread !== null && id >= firstUnread && (previous === null || previous.id < firstUnread);
    const hasBar = isMixed && (isNewConversation || isNewDay);
    const continues =
      previous !== null &&
      !isNewDay &&
      !hasBar &&
      !isFirstUnread &&
      !isNewConversation &&
      previous.sender_id === message.sender_id &&
      !previous.is_me_message &&
      !message.is_me_message &&
      message.timestamp - previous.timestamp <= GROUP_SECONDS;
    rows.push({
      id,
      message,
      rev: message.rev,
      day: isNewDay ? dayName(message.timestamp, now) : null,
      hasBar,
      showsSender: !continues,
      isUnread: !message.flags.includes("read"),
      isFirstUnread,
      isHidden: store.mutedUsers.has(message.sender_id) && !revealed.has(id),
    });
    previous = message;
  }
  return rows;
}

/** Whether two rows look the same. @param {Row} one @param {Row} other */
export function isSameRow(one, other) {
  return (
    one.rev === other.rev &&
    one.day === other.day &&
    one.hasBar === other.hasBar &&
    one.showsSender === other.showsSender &&
    one.isUnread === other.isUnread &&
    one.isFirstUnread === other.isFirstUnread &&
    one.isHidden === other.isHidden
  );
}

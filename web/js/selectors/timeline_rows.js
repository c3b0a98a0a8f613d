/**
 * The rows of a timeline: one for each message, with its dates and bars. Pure.
 * @module
 */

import { dayName, dayOf } from "../lib/time.js";
import { conversationKey } from "../store/conversations.js";

/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../store/store.js").Store} Store */

/** Messages of one sender further apart than this, in seconds, each show who sent them. */
const GROUP_SECONDS = 10 * 60;

/** @typedef {{ id: number, message: Message, rev: number, day: string | null, change: "subscribed" | "unsubscribed" | null, hasBar: boolean,
 *   showsSender: boolean, isUnread: boolean, isFirstUnread: boolean, isHidden: boolean }} Row
 *   `change`: what the user did with the channel before the message. */

/** @param {Store} store @param {number[]} ids
 * @param {{ isMixed: boolean, isPartial?: boolean, isOfChannel?: boolean, firstUnread: number | null, revealed: Set<number>, now?: number }} options
 *   `isMixed`: whether the view shows several conversations; `isPartial`: whether messages between two of them may be missing, as in a
 *   search; `isOfChannel`: whether all are of one channel; `firstUnread`: the id of the unread line. @returns {Row[]} */
export function timelineRows(store, ids, { isMixed, isPartial = false, isOfChannel = false, firstUnread, revealed, now }) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {Message | null} */
  let previous = null;
  let previousKey = "";
  /** Whether the user was not subscribed to the channel. @type {boolean | null} */
  let wasOutside = null;
  for (const id of ids) {
    const message = store.messages.byId.get(id);
    if (!message || message.isLeaving) continue;
    const isNewDay = !previous || dayOf(previous.timestamp) !== dayOf(message.timestamp);
    const key = conversationKey(store, message);
    const isNewConversation = previousKey !== key;
    const isFirstUnread = firstUnread !== null && id >= firstUnread && (previous === null || previous.id < firstUnread);
    // One can write to a channel without a subscription.
    /** @type {boolean | null} */
    const isOutside = message.sender_id === store.selfId ? wasOutside : message.flags.includes("historical");
    const isChange = isOfChannel && wasOutside !== null && isOutside !== wasOutside;
    const hasBar = isMixed && (isPartial || isNewConversation || isNewDay || isChange);
    const continues =
      previous !== null &&
      !isChange &&
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
      change: isChange ? (isOutside ? "unsubscribed" : "subscribed") : null,
      hasBar,
      showsSender: !continues,
      isUnread: !message.flags.includes("read"),
      isFirstUnread,
      isHidden: store.mutedUsers.has(message.sender_id) && !revealed.has(id),
    });
    previous = message;
    previousKey = key;
    wasOutside = isOutside;
  }
  return rows;
}

/** Whether two rows look the same. @param {Row} one @param {Row} other */
export const isSameRow = (one, other) => one.rev === other.rev && one.isUnread === other.isUnread && isSameFrame(one, other);

/** Whether two rows of a message differ at most in whether it is read, which is the most frequent change of all. A message that is fetched
 * and also comes with its event is another object with the same content.
 * @param {Row} one @param {Row} other */
export const differOnlyInReading = (one, other) => isSameFrame(one, other) && isSameMessage(one.message, other.message);

/** Whether two rows differ at most in their message. @param {Row} one @param {Row} other */
function isSameFrame(one, other) {
  return (
    one.day === other.day &&
    one.change === other.change &&
    one.hasBar === other.hasBar &&
    one.showsSender === other.showsSender &&
    one.isFirstUnread === other.isFirstUnread &&
    one.isHidden === other.isHidden
  );
}

/** @param {Message} one @param {Message} other */
function isSameMessage(one, other) {
  const flags = [one, other].map((message) => message.flags.filter((flag) => flag !== "read").join());
  const names = /** @type {Set<keyof Message>} */ (new Set([...Object.keys(one), ...Object.keys(other)]));
  const isSame = (/** @type {keyof Message} */ name) =>
    one[name] === other[name] || JSON.stringify(one[name]) === JSON.stringify(other[name]);
  return flags[0] === flags[1] && [...names].every((name) => name === "flags" || name === "rev" || isSame(name));
}

/**
 * Names of views, and the count in the title.
 * @module
 */

import { channelOf } from "../store/channels.js";
import { unreadCounts } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { kindOf } from "./narrow.js";
import { namesOf } from "./sidebar_items.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Term} Term */

/** What an empty topic is called. @param {Store} store */
export const emptyTopicName = (store) => store.state.realm_empty_topic_display_name ?? "general chat";

/** @param {Store} store @param {string} topic */
export const topicName = (store, topic) => (topic === "" ? emptyTopicName(store) : topic);

/** @type {Record<string, string>} */
const IS = {
  starred: "Starred messages",
  mentioned: "Mentions",
  dm: "Direct messages",
  unread: "Unread messages",
  followed: "Followed topics",
  resolved: "Resolved topics",
  alerted: "Alert words",
  muted: "Muted messages",
};

/** @param {Store} store @param {Term[]} terms @returns {string} */
export function narrowName(store, terms) {
  const kind = kindOf(terms);
  if (kind.kind === "topic") return `#${channelOf(store, kind.streamId).name} > ${topicName(store, kind.topic)}`;
  if (kind.kind === "channel") return `#${channelOf(store, kind.streamId).name}`;
  if (kind.kind === "dm") return namesOf(store, kind.userIds);
  if (kind.kind === "feed") return "Combined feed";
  const [{ operator, operand, negated }] = terms;
  if (terms.length === 1 && !negated) {
    if (operator === "is") return IS[String(operand)] ?? "Messages";
    if (operator === "sender") return `Messages sent by ${userOf(store, Number(operand)).full_name}`;
    if (operator === "dm-including") return `Direct messages including ${namesOf(store, /** @type {number[]} */ (operand))}`;
  }
  if (terms.length === 2 && operator === "has" && operand === "reaction") return "Reactions";
  return "Search results";
}

/** The count of the title. @param {Store} store @returns {number} */
export function titleCount(store) {
  const counts = unreadCounts(store);
  const policy = store.setting("desktop_icon_count_display") ?? 1;
  if (policy === 1) return counts.home;
  if (policy === 4) return 0;
  return counts.directs + counts.mentions + (policy === 2 ? counts.followed : 0);
}

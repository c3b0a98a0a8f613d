/**
 * Names of views and topics, terms of a search in words, and the count in the title.
 * @module
 */

import { t } from "../lib/words.js";
import { channelOf } from "../store/channels.js";
import { plainTopic } from "../store/conversations.js";
import { unreadCounts } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { kindOf } from "./narrow.js";
import { namesOf } from "./sidebar_items.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Term} Term */

/** The server's name of an empty topic, in English. */
const EMPTY_TOPIC = "general chat";

/** The name of an empty topic. @param {Store} store */
export function emptyTopicName({ state }) {
  const name = state.realm_empty_topic_display_name ?? EMPTY_TOPIC;
  return name === EMPTY_TOPIC ? t("general chat") : name;
}

/** @param {Store} store @param {string} topic */
export const topicName = (store, topic) => (topic === "" ? emptyTopicName(store) : topic);

/** The name of a topic beside an icon that says that it is resolved. @param {Store} store @param {string} topic */
export const plainTopicName = (store, topic) => topicName(store, plainTopic(topic));

/** @type {() => Record<string, string>} */
const flagNames = () => ({
  starred: t("Starred messages"),
  mentioned: t("Mentions"),
  dm: t("Direct messages"),
  unread: t("Unread messages"),
  followed: t("Followed topics"),
  resolved: t("Resolved topics"),
  alerted: t("Alert words"),
  muted: t("Muted messages"),
});

/** @param {Store} store @param {Term[]} terms @returns {string} */
export function narrowName(store, terms) {
  const kind = kindOf(terms);
  if (kind.kind === "topic") return `#${channelOf(store, kind.streamId).name} > ${topicName(store, kind.topic)}`;
  if (kind.kind === "channel") return `#${channelOf(store, kind.streamId).name}`;
  if (kind.kind === "dm") return namesOf(store, kind.userIds);
  if (kind.kind === "feed") return t("Combined feed");
  const [{ operator, operand, negated }] = terms;
  if (terms.length === 1 && !negated) {
    if (operator === "is") return flagNames()[String(operand)] ?? t("Messages");
    if (operator === "sender") return t("Messages sent by {name}", { name: userOf(store, Number(operand)).full_name });
    if (operator === "dm-including")
      return t("Direct messages including {names}", { names: namesOf(store, /** @type {number[]} */ (operand)) });
  }
  if (terms.length === 2 && operator === "has" && operand === "reaction") return t("Reactions");
  return t("Search results");
}

/** The operand of a term as people write it. @param {Store} store @param {Term} term */
export function operandText(store, { operator, operand }) {
  if (operator === "channel") return channelOf(store, Number(operand)).name;
  if (operator === "sender") return userOf(store, Number(operand)).full_name;
  if (operator !== "dm" && operator !== "dm-including") return String(operand);
  const ids = /** @type {number[]} */ (operand);
  return ids.map((id) => userOf(store, id).full_name).join(",");
}

/** The terms of a search, each with the terms that remain without it. A place in the messages is not among them.
 * @param {Store} store @param {Term[]} terms @returns {{ label: string, others: Term[] }[]} */
export function searchPills(store, terms) {
  const parts = terms.filter(({ operator }) => operator !== "near");
  return parts.map((term) => {
    const text = term.operator === "topic" ? topicName(store, String(term.operand)) : operandText(store, term);
    const own = term.operator === "search" ? `“${text}”` : `${term.operator}: ${text}`;
    return { label: term.negated ? t("not {term}", { term: own }) : own, others: parts.filter((other) => other !== term) };
  });
}

/** The count of the title. Each message counts once. @param {Store} store @returns {number} */
export function titleCount(store) {
  const counts = unreadCounts(store);
  const policy = store.setting("desktop_icon_count_display") ?? 1;
  if (policy === 1) return counts.home;
  if (policy === 4) return 0;
  const personal = counts.directs + counts.mentions - counts.mentionsInDirects;
  return policy === 2 ? personal + counts.followed - counts.mentionsInFollowed : personal;
}

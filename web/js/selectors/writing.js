/**
 * Rules of writing: the recipient of a text, the permission to send it, and remarks in the composer. Pure.
 * @module
 */

import { openFences } from "../lib/text_edits.js";
import { t } from "../lib/words.js";
import { channelOf } from "../store/channels.js";
import { directKey, isResolvedTopic } from "../store/conversations.js";
import { isInGroup, may, mayIn } from "../store/lists.js";
import { GUEST, userCalled } from "../store/users.js";
import { mayAddTo } from "./group_settings.js";
import { namesOf } from "./sidebar_items.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../store/outbox.js").Destination} Destination */

/** The number of subscribers above which mentioning all of them needs a confirmation. */
const MANY = 15;

/** A mention: a name, and the id of a person where others have the same name, or instead of the name. As on the server, an opening mark may
 * be before it. */
const MENTION = /(?<![^\s'"({[/<])@\*\*([^*|\n]*)(?:\|(\d+))?\*\*/g;

/** Names that mention everyone in a channel. */
const WILDCARDS = ["all", "everyone", "channel", "stream"];

/** The mentions of a text that notify: those in quotations and code do not. @param {string} text @returns {{ name: string, id: number | null }[]} */
const mentionsIn = (text) =>
  [...text.matchAll(MENTION)].flatMap(({ 1: name, 2: id, index }) => {
    const isInQuote = text.slice(text.lastIndexOf("\n", index) + 1).startsWith(">");
    const isQuoted = isInQuote || openFences(text.slice(0, index)).some(({ isSpoiler }) => !isSpoiler);
    return isQuoted ? [] : [{ name, id: id === undefined ? null : Number(id) }];
  });

/** @param {Destination | null} destination */
export const isComplete = (destination) => destination !== null && destination.to.length > 0;

/** The channel that is chosen. @param {Destination | null} destination @returns {number | null} */
export const channelOfDestination = (destination) => (destination?.type === "stream" ? (destination.to[0] ?? null) : null);

/** The rule for topics of the chosen channel. @param {Store} store @param {Destination | null} destination */
function topicsPolicy(store, destination) {
  const id = channelOfDestination(destination);
  const own = id === null ? undefined : channelOf(store, id).topics_policy;
  return own === undefined || own === "inherit" ? store.state.realm_topics_policy : own;
}

/** Whether messages of the chosen channel need a topic. @param {Store} store @param {Destination | null} destination */
export const needsTopic = (store, destination) => topicsPolicy(store, destination) === "disable_empty_topic";

/** Whether messages of the chosen channel can have a topic. @param {Store} store @param {Destination | null} destination */
export const mayHaveTopic = (store, destination) => topicsPolicy(store, destination) !== "empty_topic_only";

/** The placeholder of the empty box. @param {Store} store @param {Destination | null} destination */
export function placeholderOf(store, destination) {
  if (!destination) return "";
  const { type, to, topic } = destination;
  if (type === "direct") return to.length > 0 ? t("Message {names}", { names: namesOf(store, to) }) : t("Write a direct message");
  const name = to.length > 0 ? channelOf(store, to[0]).name : "…";
  return topic ? t("Message #{name} > {topic}", { name, topic }) : t("Message #{name}", { name });
}

/** The reason why the user may not send a text there; null if they may.
 * @param {Store} store @param {Destination | null} destination @param {string} [text] @returns {string | null} */
export function refusal(store, destination, text = "") {
  const id = channelOfDestination(destination);
  if (id === null) return destination?.type === "direct" ? directRefusal(store, destination.to) : null;
  const channel = channelOf(store, id);
  if (channel.is_archived) return t("This channel is archived.");
  if (channel.can_send_message_group !== undefined && !isInGroup(store, store.selfId, channel.can_send_message_group))
    return t("You do not have permission to post in this channel.");
  if (!may(store, "can_mention_many_users_group") && manyMentioned(store, destination, text) !== null)
    return t("You do not have permission to mention everyone in this channel.");
  return null;
}

/** The reason why the user may not write to these people; null if they may. Everyone may write to bots and to themselves.
 * @param {Store} store @param {number[]} to @returns {string | null} */
function directRefusal(store, to) {
  if (to.some((user) => store.users.get(user)?.is_active === false)) return t("You cannot send messages to deactivated users.");
  if (to.length > 0 && to.every((user) => user === store.selfId || store.users.get(user)?.is_bot)) return null;
  const { realm_direct_message_permission_group: permission, realm_direct_message_initiator_group: initiator } = store.state;
  const isNobody = (store.state.realm_user_groups ?? []).some(({ id, name }) => id === permission && name === "role:nobody");
  if (isNobody) return t("Direct messages are disabled in this organization.");
  if (to.length === 0) return null;
  if (permission !== undefined && ![...to, store.selfId].some((user) => isInGroup(store, user, permission)))
    return t("This conversation does not include anyone who can authorize it.");
  if (initiator !== undefined && !isInGroup(store, store.selfId, initiator) && !store.directs.has(directKey(store, to)))
    return t("You do not have permission to start direct conversations.");
  return null;
}

/** The number of people whom a text mentions by a wildcard, if they are many; or else null. @param {Store} store @param {Destination | null} destination @param {string} text @returns {number | null} */
export function manyMentioned(store, destination, text) {
  const id = channelOfDestination(destination);
  const count = id === null ? 0 : (channelOf(store, id).subscriber_count ?? 0);
  const isAll = () => mentionsIn(text).some((mention) => mention.id === null && WILDCARDS.includes(mention.name));
  return count > MANY && isAll() ? count : null;
}

/** The people whom a text mentions, and who are not in the channel: they are not notified. Empty while its people are not known.
 * @param {Store} store @param {Destination | null} destination @param {string} text @returns {number[]} */
function outsidersOf(store, destination, text) {
  const people = store.subscribers.get(channelOfDestination(destination) ?? 0);
  if (!people) return [];
  /** @type {Set<number>} */
  const outside = new Set();
  for (const { name, id } of mentionsIn(text)) {
    const user = id === null ? userCalled(store, name) : store.users.get(id);
    if (user && user.is_active !== false && !user.is_bot && !people.has(user.user_id)) outside.add(user.user_id);
  }
  outside.delete(store.selfId);
  return [...outside];
}

/** The guests that a direct message goes to, where the organization wants to be warned of that. Guests are not warned of each other.
 * @param {Store} store @param {Destination | null} destination */
function guestsOf(store, destination) {
  if (destination?.type !== "direct" || store.state.realm_enable_guest_user_dm_warning !== true || store.self.role === GUEST) return [];
  return destination.to.filter((id) => store.users.get(id)?.role === GUEST);
}

/** Whether the user may resolve topics of a channel, and take that back. @param {Store} store @param {number} streamId */
export function mayResolve(store, streamId) {
  const channel = channelOf(store, streamId);
  return !channel.is_archived && mayIn(store, "can_resolve_topics_group", channel);
}

/** The remark above the box. @param {Store} store @param {Destination | null} destination @param {string} text
 * @returns {{ kind: "refused", reason: string } | { kind: "many", count: number } | { kind: "guests", names: string } | { kind: "outside", streamId: number, ids: number[], names: string, mayAdd: boolean } |
 *   { kind: "resolved", streamId: number, topic: string, mayResolve: boolean } | null} */
export function remark(store, destination, text) {
  const reason = refusal(store, destination, text);
  if (reason) return { kind: "refused", reason };
  const count = manyMentioned(store, destination, text);
  if (count !== null) return { kind: "many", count };
  const guests = guestsOf(store, destination);
  if (guests.length > 0) return { kind: "guests", names: namesOf(store, guests) };
  const ids = outsidersOf(store, destination, text);
  if (destination && ids.length > 0) {
    const [streamId] = destination.to;
    return { kind: "outside", streamId, ids, names: namesOf(store, ids), mayAdd: mayAddTo(store, channelOf(store, streamId)) };
  }
  if (destination?.type === "stream" && isResolvedTopic(destination.topic) && text.trim())
    return { kind: "resolved", streamId: destination.to[0], topic: destination.topic, mayResolve: mayResolve(store, destination.to[0]) };
  return null;
}

/** The reason why a text cannot be sent; null if it can. @param {Store} store @param {Destination} destination
 * @param {{ text?: string, isOver: boolean, isUploading: boolean }} editor @returns {string | null} */
export function problem(store, destination, { text, isOver, isUploading }) {
  if (destination.to.length === 0)
    return destination.type === "direct" ? t("Please choose whom to write to.") : t("Please choose a channel.");
  if (destination.type === "stream" && destination.topic.trim() === "" && needsTopic(store, destination))
    return t("Please choose a topic.");
  if (isOver) return t("The message is too long.");
  if (isUploading) return t("Please wait until the files are uploaded.");
  return refusal(store, destination, text);
}

/** The settings that a command such as `/dark` changes; null if the text is no such command. @param {string} text */
export function commandSettings(text) {
  const scheme = { "/dark": 2, "/night": 2, "/light": 3, "/day": 3 }[text.trim()];
  return scheme === undefined ? null : { color_scheme: scheme };
}

/**
 * Narrows: the messages that a view shows, as terms, as the fragment of a URL, as parameters of a request, and as a predicate for
 * one message.
 * @module
 */

import { decodeFragment } from "../lib/parse.js";
import { channelByName, channelOf, isTopicMuted } from "../store/channels.js";
import { directKey, isResolvedTopic, otherIds, recipientIds } from "../store/conversations.js";
import { userOf } from "../store/users.js";
import { matchesWords } from "./ranking.js";

/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../store/store.js").Store} Store */

/** Older spellings of operators. @type {Record<string, string>} */
export const ALIASES = {
  stream: "channel",
  streams: "channels",
  subject: "topic",
  "pm-with": "dm",
  "group-pm-with": "dm-including",
  from: "sender",
  "pm-including": "dm-including",
};

const OPERATORS = new Set([
  "channel",
  "topic",
  "dm",
  "dm-including",
  "sender",
  "is",
  "has",
  "in",
  "search",
  "channels",
  "id",
  "near",
  "with",
  "mentions",
]);

/** @param {string} text */
export function encodeFragment(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/[%().!'*]/g, (char) =>
    char === "%" ? "." : `.${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** @param {string} name */
const slug = (name) => name.replace(/[\s"%/<>`\p{Cc}]+/gu, "-");

/** @param {Store} store @param {number} id */
const channelSlug = (store, id) => `${id}-${encodeFragment(channelOf(store, id).name.replaceAll(" ", "-"))}`;

/** The fragment of the list of a channel's topics. @param {Store} store @param {number} id */
export const topicsFragment = (store, id) => `topics/channel/${channelSlug(store, id)}`;

/** @param {Store} store @param {number[]} ids */
export function directSlug(store, ids) {
  const name = ids.length === 1 ? slug(userOf(store, ids[0]).full_name) : "group";
  return `${ids.join(",")}-${encodeFragment(name)}`;
}

/** The fragment of a narrow, without `#`. @param {Store} store @param {Term[]} terms */
export function fragmentOf(store, terms) {
  const parts = terms.flatMap(({ operator, operand, negated }) => {
    const name = `${negated ? "-" : ""}${operator}`;
    if (operator === "channel") return [name, channelSlug(store, Number(operand))];
    if (operator === "dm" || operator === "dm-including") return [name, directSlug(store, /** @type {number[]} */ (operand))];
    if (operator === "sender") return [name, `${operand}-${encodeFragment(slug(userOf(store, Number(operand)).full_name))}`];
    return [name, encodeFragment(String(operand))];
  });
  return ["narrow", ...parts].join("/");
}

/** Parses what follows `#narrow/`. @param {Store} store @param {string} fragment @returns {Term[] | null} */
export function parseNarrow(store, fragment) {
  const parts = fragment.split("/");
  /** @type {Term[]} */
  const terms = [];
  for (let at = 0; at < parts.length; at += 2) {
    if (parts[at] === "") break;
    const raw = decodeFragment(parts[at]);
    const operand = parts[at + 1] === undefined ? null : decodeFragment(parts[at + 1]);
    if (raw === null || operand === null) return null;
    const negated = raw.startsWith("-");
    const name = negated ? raw.slice(1) : raw;
    const term = toTerm(store, ALIASES[name] ?? name, operand);
    if (!term) return null;
    terms.push(negated ? { ...term, negated } : term);
  }
  return terms.length > 0 ? terms : null;
}

/** @param {Store} store @param {string} operator @param {string} operand @returns {Term | null} */
export function toTerm(store, operator, operand) {
  if (!OPERATORS.has(operator)) return null;
  if (operand === "" && operator !== "topic") return null;
  if (operator === "channel") {
    const id = Number(/^(\d+)(-.*)?$/s.exec(operand)?.[1]);
    if (store.channels.has(id)) return { operator, operand: id };
    const named = channelByName(store, operand) ?? channelByName(store, operand.replaceAll("-", " "));
    return named ? { operator, operand: named.stream_id } : { operator, operand: Number.isNaN(id) ? -1 : id };
  }
  if (operator === "dm" || operator === "dm-including" || operator === "sender") {
    const ids = userIds(store, operand);
    if (!ids) return null;
    return operator === "sender" ? { operator, operand: ids[0] } : { operator, operand: otherIds(store, ids) };
  }
  if (operator === "is" && operand === "private") return { operator, operand: "dm" };
  if (operator === "has") return { operator, operand: operand.replace(/s$/, "") };
  if (["id", "near", "with"].includes(operator)) return /^\d+$/.test(operand) ? { operator, operand: Number(operand) } : null;
  return { operator, operand };
}

/** The person whose name, or a word of it, begins with a text, if there is only one. @param {Store} store @param {string} start */
function onlyOneCalled(store, start) {
  const people = [...store.users.values()].filter(
    (user) => user.is_active !== false && !user.is_bot && matchesWords(user.full_name, start),
  );
  return start !== "" && people.length === 1 ? people[0] : undefined;
}

/** @param {Store} store @param {string} text @returns {number[] | null} */
function userIds(store, text) {
  if (text === "me") return [store.selfId];
  const ids = /^([\d,]+)(-.*)?$/s.exec(text)?.[1];
  if (ids) return ids.split(",").filter(Boolean).map(Number);
  const wanted = text
    .toLowerCase()
    .split(",")
    .map((part) => part.trim());
  const found = wanted.map(
    (part) =>
      [...store.users.values()].find((user) =>
        [user.email, user.delivery_email, user.full_name].some((name) => name?.toLowerCase() === part),
      ) ?? onlyOneCalled(store, part),
  );
  return found.every((user) => user !== undefined) ? found.map((user) => user.user_id) : null;
}

/** The parameter `narrow` of a request. Muted topics are left out of the combined feed by the server, and `dm-including` takes one
 * person in each term.
 * @param {Term[]} terms */
export function requestTerms(terms) {
  const parts = terms.filter(({ operator }) => operator !== "near");
  return parts.flatMap(({ operator, operand, negated }) => {
    const operands = operator === "dm-including" ? /** @type {number[]} */ (operand) : [operand];
    return operands.map((one) => ({ operator, operand: one, negated: negated ?? false }));
  });
}

/** Whether a term names the message at which a narrow opens, and not which messages it has. @param {Term} term */
export const isPlace = ({ operator }) => operator === "near" || operator === "with";

/** The terms that say which messages a narrow has, without the place in it. @param {Term[]} terms */
export function ownTerms(terms) {
  const own = terms.filter((term) => !isPlace(term));
  return own.length > 0 ? own : terms;
}

/** The key of a narrow's messages. @param {Term[]} terms */
export function narrowKey(terms) {
  return JSON.stringify(
    ownTerms(terms).map(({ operator, operand, negated }) => [
      operator,
      operator === "topic" ? String(operand).toLowerCase() : operand,
      negated ?? false,
    ]),
  );
}

/** @param {Term[]} terms @param {string} operator @returns {any} */
export const operandOf = (terms, operator) => terms.find((term) => term.operator === operator && !term.negated)?.operand;

/** The narrow of a channel. @param {number} streamId @returns {Term[]} */
export const channelTerms = (streamId) => [{ operator: "channel", operand: streamId }];

/** The narrow of a topic. @param {number} streamId @param {string} topic @returns {Term[]} */
export const topicTerms = (streamId, topic) => [...channelTerms(streamId), { operator: "topic", operand: topic }];

/** The narrow of a direct conversation. @param {number[]} userIds @returns {Term[]} */
export const directTerms = (userIds) => [{ operator: "dm", operand: userIds }];

/** The narrow of a conversation. @param {Store} store @param {Message} message @returns {Term[]} */
export function conversationTerms(store, message) {
  if (message.type === "stream") return topicTerms(Number(message.stream_id), message.subject);
  return directTerms(otherIds(store, recipientIds(message)));
}

/** The narrow that a link to a message leads to. @param {Store} store @param {Message} message @returns {Term[]} */
export const messageTerms = (store, message) => [...conversationTerms(store, message), { operator: "near", operand: message.id }];

/** The fragment of a link to a message, which leads everyone in its conversation there: that of a direct message names oneself, too.
 * @param {Store} store @param {Message} message */
export function messageFragment(store, message) {
  if (message.type === "stream") return fragmentOf(store, messageTerms(store, message));
  const ids = recipientIds(message).toSorted((a, b) => a - b);
  return `narrow/dm/${ids.join(",")}-${ids.length > 2 ? "group" : "dm"}/near/${message.id}`;
}

/** The kinds of narrows that views distinguish.
 * @typedef {{ kind: "topic", streamId: number, topic: string } | { kind: "channel", streamId: number } | { kind: "dm", userIds: number[] }
 *   | { kind: "feed" } | { kind: "other" }} NarrowKind */

/** @param {Term[]} terms @returns {NarrowKind} */
export function kindOf(terms) {
  const own = terms.filter((term) => !isPlace(term));
  const [first, second] = own;
  if (own.some((term) => term.negated)) return { kind: "other" };
  if (own.length === 1 && first.operator === "channel") return { kind: "channel", streamId: Number(first.operand) };
  if (own.length === 1 && first.operator === "dm") return { kind: "dm", userIds: /** @type {number[]} */ (first.operand) };
  if (own.length === 1 && first.operator === "in" && first.operand === "home") return { kind: "feed" };
  if (own.length === 2 && operandOf(own, "channel") !== undefined && operandOf(own, "topic") !== undefined) {
    const channel = first.operator === "channel" ? first : second;
    const topic = channel === first ? second : first;
    return { kind: "topic", streamId: Number(channel.operand), topic: String(topic.operand) };
  }
  return { kind: "other" };
}

/** The channel that a view is about, if it is about one. @param {import("../../types/app.js").Route} route @returns {number | null} */
export function channelOfRoute(route) {
  if (route.kind === "topics") return route.streamId;
  return route.kind === "narrow" && (route.narrow.kind === "channel" || route.narrow.kind === "topic") ? route.narrow.streamId : null;
}

/** The conversation that a view is, if it is one. @param {import("../../types/app.js").Route} route
 * @returns {import("../store/outbox.js").Destination | null} */
export function conversationOfRoute(route) {
  if (route.kind !== "narrow") return null;
  const { narrow } = route;
  if (narrow.kind === "topic") return { type: "stream", to: [narrow.streamId], topic: narrow.topic };
  if (narrow.kind === "dm") return { type: "direct", to: narrow.userIds, topic: "" };
  return null;
}

/** Operators and flags whose messages are whole conversations. */
const WHOLE = new Set(["channel", "topic", "dm", "dm-including", "in", "channels", "near", "with"]);
const WHOLE_FLAGS = new Set(["dm", "resolved", "followed", "muted"]);

/** Whether a narrow may show only some messages of a conversation, as a search does. @param {Term[]} terms */
export const hasPartialConversations = (terms) =>
  terms.some(({ operator, operand }) => (operator === "is" ? !WHOLE_FLAGS.has(String(operand)) : !WHOLE.has(operator)));

/** Whether reading a narrow marks its messages as read. @param {Term[]} terms @param {number} policy */
export function canMarkAsRead(terms, policy) {
  if (policy === 3 || terms.some(({ operator }) => operator === "near")) return false;
  const { kind } = kindOf(terms);
  if (kind === "topic" || kind === "dm" || kind === "channel") return policy === 1 || kind !== "channel";
  if (policy === 2 || terms.length !== 1) return false;
  const [{ operator, operand, negated }] = terms;
  if (operator === "is") return negated ? operand === "muted" : operand === "dm" || operand === "resolved";
  return operator === "in" && !negated;
}

/** Whether a narrow shows a message; null if only the server knows. @param {Store} store @param {Term[]} terms @param {Message} message
 * @returns {boolean | null} */
export function matches(store, terms, message) {
  let known = true;
  for (const term of terms) {
    const result = matchesTerm(store, term, message);
    if (result === null) known = false;
    else if (result === Boolean(term.negated)) return false;
  }
  return known ? true : null;
}

/** @param {Store} store @param {Term} term @param {Message} message @returns {boolean | null} */
function matchesTerm(store, { operator, operand }, message) {
  const isChannel = message.type === "stream";
  switch (operator) {
    case "channel":
      return isChannel && message.stream_id === operand;
    case "topic":
      return isChannel && message.subject.toLowerCase() === String(operand).toLowerCase();
    case "dm":
      return !isChannel && directKey(store, recipientIds(message)) === directKey(store, /** @type {number[]} */ (operand));
    case "dm-including":
      return !isChannel && /** @type {number[]} */ (operand).every((id) => recipientIds(message).includes(id));
    case "sender":
      return message.sender_id === operand;
    case "in":
      if (operand !== "home") return true;
      return (
        !isChannel ||
        message.flags.includes("mentioned") ||
        (channelOf(store, Number(message.stream_id)).subscribed && !isTopicMuted(store, Number(message.stream_id), message.subject))
      );
    case "near":
    case "with":
      return true;
    case "is":
      return matchesIs(store, String(operand), message);
    default:
      return null;
  }
}

/** @param {Store} store @param {string} operand @param {Message} message @returns {boolean | null} */
function matchesIs(store, operand, { flags, type, stream_id, subject }) {
  switch (operand) {
    case "dm":
      return type === "private";
    case "starred":
      return flags.includes("starred");
    case "mentioned":
      return flags.some((flag) => flag.endsWith("mentioned"));
    case "alerted":
      return flags.includes("has_alert_word");
    case "unread":
      return !flags.includes("read");
    case "resolved":
      return type === "stream" && isResolvedTopic(subject);
    case "muted":
      return type === "stream" && isTopicMuted(store, Number(stream_id), subject);
    default:
      return null;
  }
}

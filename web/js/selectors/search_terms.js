/**
 * The text of the search box: to terms and back, and suggestions for what is being typed. Pure.
 * @module
 */

import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { ranked } from "./completions.js";
import { toTerm } from "./narrow.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {{ text: string, label: string, detail: string }} Suggestion */

/** Splits at spaces outside of quotes. @param {string} text @returns {string[]} */
export function splitSearch(text) {
  return text.replace(/[“”]/g, '"').match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

/** @param {Store} store @param {string} text @returns {Term[]} */
export function parseSearch(store, text) {
  /** @type {Term[]} */
  const terms = [];
  /** @type {string[]} */
  const words = [];
  for (const part of splitSearch(text)) {
    const match = /^(-?)([a-z-]+):(.*)$/is.exec(part);
    const operand = match?.[3].replaceAll("+", " ").replaceAll('"', "") ?? "";
    const names = /** @type {Record<string, string>} */ ({ stream: "channel", from: "sender", "pm-with": "dm" });
    const operator = match ? (names[match[2].toLowerCase()] ?? match[2].toLowerCase()) : "";
    const isUser = ["dm", "dm-including", "sender"].includes(operator);
    const term =
      match && operand !== "" ? toTerm(store, operator, isUser ? match[3].replaceAll("+", " ").replaceAll('"', "") : operand) : null;
    if (match && term) terms.push(match[1] ? { ...term, negated: true } : term);
    else words.push(part);
  }
  if (words.length > 0) terms.push({ operator: "search", operand: words.join(" ") });
  return terms;
}

/** @param {Store} store @param {Term[]} terms @returns {string} */
export function searchText(store, terms) {
  return terms
    .map(({ operator, operand, negated }) => {
      if (operator === "search") return String(operand);
      const text =
        operator === "channel"
          ? channelOf(store, Number(operand)).name
          : operator === "sender"
            ? userOf(store, Number(operand)).full_name
            : operator === "dm" || operator === "dm-including"
              ? /** @type {number[]} */ (operand)
                  .map((id) => userOf(store, id).full_name)
                  .join(",")
              : String(operand);
      return `${negated ? "-" : ""}${operator}:${text.replaceAll(" ", "+")}`;
    })
    .join(" ");
}

/** The operators, with what they do. @type {[string, string][]} */
export const OPERATORS = [
  ["channel:", "in a channel"],
  ["topic:", "in a topic"],
  ["sender:", "sent by a person"],
  ["dm:", "in a direct conversation"],
  ["dm-including:", "in any direct conversation with a person"],
  ["has:link", "with a link"],
  ["has:image", "with a picture"],
  ["has:attachment", "with a file"],
  ["has:reaction", "with a reaction"],
  ["is:starred", "that you starred"],
  ["is:mentioned", "that mention you"],
  ["is:unread", "that you have not read"],
  ["is:dm", "direct messages"],
  ["is:followed", "in topics that you follow"],
  ["is:resolved", "in resolved topics"],
  ["is:alerted", "with one of your alert words"],
  ["is:muted", "in muted channels and topics"],
  ["channels:public", "in all public channels"],
];

/** Suggestions for the last word of a search. @param {Store} store @param {string} text @returns {Suggestion[]} */
export function suggestions(store, text) {
  const parts = splitSearch(text);
  const last = /\s$/.test(text) ? "" : (parts.pop() ?? "");
  const before = parts.length > 0 ? `${parts.join(" ")} ` : "";
  const [sign, word] = last.startsWith("-") ? ["-", last.slice(1)] : ["", last];
  const colon = word.indexOf(":");
  /** @param {string} operator @param {string} value @param {string} detail @returns {Suggestion} */
  const full = (operator, value, detail) => {
    const term = `${sign}${operator}:${value.replaceAll(" ", "+")}`;
    return { text: `${before}${term} `, label: term, detail };
  };
  const channels = [...store.channels.values()].filter((channel) => !channel.is_archived);
  const users = [...store.users.values()].filter((user) => user.is_active !== false);
  if (colon >= 0) {
    const [operator, value] = [
      word.slice(0, colon).toLowerCase(),
      word
        .slice(colon + 1)
        .replaceAll("+", " ")
        .replaceAll('"', ""),
    ];
    if (operator === "channel")
      return ranked(channels, value, (channel) => [channel.name])
        .slice(0, 8)
        .map((channel) => full(operator, channel.name, "Channel"));
    if (["sender", "dm", "dm-including"].includes(operator)) {
      const self = operator === "sender" && "me".startsWith(value) ? [full(operator, "me", "Yourself")] : [];
      return [
        ...self,
        ...ranked(users, value, (user) => [user.full_name, user.email])
          .slice(0, 8)
          .map((user) => full(operator, user.full_name, user.delivery_email ?? user.email)),
      ];
    }
    if (operator === "topic") {
      const channel = parseSearch(store, before).find((term) => term.operator === "channel");
      const known = channel
        ? (store.topics.get(Number(channel.operand)) ?? []).map((topic) => topic.name)
        : [...store.topics.values()].flat().map((topic) => topic.name);
      return ranked([...new Set(known)], value, (topic) => [topic])
        .slice(0, 8)
        .map((topic) => full(operator, topic, "Topic"));
    }
  }
  const operators = OPERATORS.filter(([operator]) => operator.startsWith(word.toLowerCase()) && operator !== word.toLowerCase());
  const found = operators.map(([operator, detail]) => ({
    text: `${before}${sign}${operator}${operator.endsWith(":") ? "" : " "}`,
    label: `${sign}${operator}`,
    detail: `Messages ${detail}`,
  }));
  if (word === "" || colon >= 0) return found;
  return [
    ...found,
    ...ranked(channels, word, (channel) => [channel.name])
      .slice(0, 4)
      .map((channel) => full("channel", channel.name, "Channel")),
    ...ranked(users, word, (user) => [user.full_name])
      .slice(0, 4)
      .map((user) => full("sender", user.full_name, "Messages sent by this person")),
  ];
}

/**
 * Suggestions for a search: operators, and their values. Pure.
 * @module
 */

import { t } from "../lib/words.js";
import { openChannels } from "../store/channels.js";
import { dayOfText, textOfDay } from "./dates.js";
import { ALIASES } from "./narrow.js";
import { ranked } from "./ranking.js";
import { DATES, openName, parseSearch, readOperand, splitSearch, writtenOperand } from "./search_terms.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {{ text: string, label: string, detail: string }} Suggestion */

/** The operators, and their descriptions. @type {() => [string, string][]} */
export const operatorTexts = () => [
  ["channel:", t("Messages in a channel")],
  ["topic:", t("Messages in a topic")],
  ["sender:", t("Messages sent by a person")],
  ["dm:", t("Messages in a direct conversation")],
  ["dm-including:", t("Messages in any direct conversation with a person")],
  ["has:link", t("Messages with a link")],
  ["has:image", t("Messages with a picture")],
  ["has:attachment", t("Messages with a file")],
  ["has:reaction", t("Messages with a reaction")],
  ["is:starred", t("Messages that you starred")],
  ["is:mentioned", t("Messages that mention you")],
  ["is:unread", t("Messages that you have not read")],
  ["is:dm", t("Messages in direct conversations")],
  ["is:followed", t("Messages in topics that you follow")],
  ["is:resolved", t("Messages in resolved topics")],
  ["is:alerted", t("Messages with one of your alert words")],
  ["is:muted", t("Messages in muted channels and topics")],
  ["channels:public", t("Messages in all public channels")],
  ["date:", t("Messages from a day on")],
  ["before:", t("Messages before a day")],
];

/** Common days, and the day that is typed. @param {string} value @returns {[string, string][]} */
function days(value) {
  const now = new Date();
  const ago = (/** @type {number} */ count) => textOfDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() - count));
  /** @type {[string, string][]} */
  const often = [
    ["today", ago(0)],
    ["yesterday", ago(1)],
    [ago(7), t("A week ago")],
    [ago(30), t("30 days ago")],
    [ago(365), t("A year ago")],
  ];
  const seconds = dayOfText(value, now);
  const own = seconds === null ? [] : [/** @type {[string, string]} */ ([value, textOfDay(new Date(seconds * 1000))])];
  return [...own, ...often.filter(([day]) => day.startsWith(value) && day !== value)];
}

/** Suggestions for the last word of a search. @param {Store} store @param {string} text @returns {Suggestion[]} */
export function suggestions(store, text) {
  const parts = splitSearch(text);
  const at = openName(store, parts);
  const last = at >= 0 ? parts.splice(at).join("+") : /\s$/.test(text) ? "" : (parts.pop() ?? "");
  const before = parts.length > 0 ? `${parts.join(" ")} ` : "";
  const [sign, word] = last.startsWith("-") ? ["-", last.slice(1)] : ["", last];
  const colon = word.indexOf(":");
  /** @param {string} operator @param {string} value @param {string} detail @returns {Suggestion} */
  const full = (operator, value, detail) => {
    const label = `${sign}${operator}:${value.replaceAll(" ", "+")}`;
    return { text: `${before}${sign}${operator}:${writtenOperand(value)} `, label, detail };
  };
  const channels = openChannels(store);
  const users = [...store.users.values()].filter((user) => user.is_active !== false);
  /** A person, by the address where others have the same name, or the name looks like those of several.
   * @param {string} operator @param {import("../../types/api.js").User} user @param {string} detail */
  const person = (operator, user, detail) => {
    const name = user.full_name.toLowerCase();
    const isUnclear = name.includes(",") || users.some((other) => other !== user && other.full_name.toLowerCase() === name);
    return isUnclear ? full(operator, user.email, user.full_name) : full(operator, user.full_name, detail);
  };
  if (colon >= 0) {
    const [operator, value] = [word.slice(0, colon).toLowerCase(), readOperand(word.slice(colon + 1))];
    const name = ALIASES[operator] ?? operator;
    if (name === "channel")
      return ranked(channels, value, (channel) => [channel.name])
        .slice(0, 8)
        .map((channel) => full(operator, channel.name, t("Channel")));
    if (["sender", "dm", "dm-including"].includes(name)) {
      const self = name === "sender" && "me".startsWith(value) ? [full(operator, "me", t("Yourself"))] : [];
      return [
        ...self,
        ...ranked(users, value, (user) => [user.full_name, user.email])
          .slice(0, 8)
          .map((user) => person(operator, user, user.delivery_email ?? user.email)),
      ];
    }
    if (DATES[operator]) return days(value).map(([day, detail]) => full(operator, day, detail));
    if (name === "topic") {
      const channel = parseSearch(store, before).find((term) => term.operator === "channel");
      const known = channel
        ? (store.topics.get(Number(channel.operand)) ?? []).map((topic) => topic.name)
        : [...store.topics.values()].flat().map((topic) => topic.name);
      return ranked([...new Set(known)], value, (topic) => [topic])
        .slice(0, 8)
        .map((topic) => full(operator, topic, t("Topic")));
    }
  }
  const start = word.toLowerCase();
  const older = Object.keys(ALIASES).filter((alias) => start !== "" && alias.startsWith(start));
  const isMeant = (/** @type {string} */ operator) =>
    operator.startsWith(start) || older.some((alias) => operator === `${ALIASES[alias]}:`);
  const operators = operatorTexts().filter(([operator]) => isMeant(operator) && operator !== start);
  const found = operators.map(([operator, detail]) => ({
    text: `${before}${sign}${operator}${operator.endsWith(":") ? "" : " "}`,
    label: `${sign}${operator}`,
    detail,
  }));
  if (word === "" || colon >= 0) return found;
  return [
    ...found,
    ...ranked(channels, word, (channel) => [channel.name])
      .slice(0, 4)
      .map((channel) => full("channel", channel.name, t("Channel"))),
    ...ranked(users, word, (user) => [user.full_name])
      .slice(0, 4)
      .map((user) => person("sender", user, t("Messages sent by this person"))),
  ];
}

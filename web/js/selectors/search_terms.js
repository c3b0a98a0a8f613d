/**
 * Conversion of the text of the search box to terms, and back. Pure.
 * @module
 */

import { decodeComponent } from "../lib/parse.js";
import { t } from "../lib/words.js";
import { channelByName, openChannels } from "../store/channels.js";
import { dayOfText, textOfDay } from "./dates.js";
import { ALIASES, toTerm } from "./narrow.js";
import { matchesWords } from "./ranking.js";
import { operandText, searchPills } from "./title.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Term} Term */

/** Operators of days, each with the one that it is an alias of: `date`, messages from a day on, or `before`. @type {Record<string, string>} */
export const DATES = { date: "date", on: "date", after: "date", since: "date", during: "date", before: "before", until: "before" };

/** Operators whose operand is a name, which may have several words. */
const NAMED = ["channel", "sender", "dm", "dm-including"];

/** Splits at spaces outside of quotes. @param {string} text @returns {string[]} */
export function splitSearch(text) {
  return text.replace(/[“”]/g, '"').match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

/** A channel by its name, or by the beginning of a word in it, if no other channel has one. @param {Store} store @param {string} text */
function channelCalled(store, text) {
  if (/^\d+(-|$)/.test(text) || channelByName(store, text) || channelByName(store, text.replaceAll("-", " "))) return text;
  const found = openChannels(store).filter(({ name }) => matchesWords(name, text));
  return found.length === 1 ? found[0].name : null;
}

/** Writes a text as an operand of a search: characters that have a meaning there as in a URL. @param {string} text */
export const writtenOperand = (text) => text.replace(/[%+"“”]/g, (char) => encodeURIComponent(char)).replaceAll(" ", "+");

/** Reads the text of an operand, where only these characters are written as in a URL. In quotes, `+` is not a space. @param {string} written */
export const readOperand = (written) =>
  written
    .replace(/"([^"]*)"?|\+/g, (_, quoted) => quoted ?? " ")
    .replace(/%(25|2B|22|E2%80%9[CD])/gi, (code) => decodeComponent(code) ?? code);

/** The topic without a name, as an operand. */
const NO_TOPIC = '""';

/** The term of an operator and its operand; null if it is none. @param {Store} store @param {string} operator @param {string} written @returns {Term | null} */
function termOf(store, operator, written) {
  const operand = readOperand(written);
  if (operand === "" && (operator !== "topic" || written !== NO_TOPIC)) return null;
  const date = DATES[operator];
  if (date) return dayOfText(operand, new Date()) === null ? null : { operator: date, operand };
  if (operator !== "channel") return toTerm(store, operator, operand);
  const name = channelCalled(store, operand);
  return name === null ? null : toTerm(store, operator, name);
}

/** The syntax of an operator with its operand. */
const OPERATOR = /^(-?)([a-z-]+):(.*)$/is;

/** The term of a part of a search; null if it is words. @param {Store} store @param {string} part @returns {Term | null} */
function termOfPart(store, part) {
  const match = OPERATOR.exec(part);
  if (!match) return null;
  const name = match[2].toLowerCase();
  const term = termOf(store, ALIASES[name] ?? name, match[3]);
  return term && match[1] ? { ...term, negated: true } : term;
}

/** Where a name begins that is not complete, followed by words only, as in `sender:Bo Did`; -1 if there is none.
 * @param {Store} store @param {string[]} parts */
export function openName(store, parts) {
  const at = parts.findLastIndex((part) => OPERATOR.test(part));
  const name = OPERATOR.exec(parts[at] ?? "")?.[2].toLowerCase() ?? "";
  return NAMED.includes(ALIASES[name] ?? name) && !termOfPart(store, parts[at]) ? at : -1;
}

/** The parts of a search. The words of a name belong together where the first one is not enough. @param {Store} store @param {string} text */
function searchParts(store, text) {
  /** @type {string[]} */
  const parts = [];
  for (const part of splitSearch(text)) {
    parts.push(part);
    const at = OPERATOR.test(part) ? -1 : openName(store, parts);
    const name = parts.slice(at).join("+");
    if (at >= 0 && termOfPart(store, name)) parts.splice(at, parts.length, name);
  }
  return parts;
}

/** @param {Store} store @param {string} text @returns {Term[]} */
export function parseSearch(store, text) {
  const { terms, rest } = takeTerms(store, text);
  return rest === "" ? terms : [...terms, { operator: "search", operand: rest }];
}

/** A term as text that parses to the same term. Names that would parse to another channel or person, or to none, are replaced by ids.
 * @param {Store} store @param {Term} term */
function textOfTerm(store, term) {
  const { operator, operand, negated } = term;
  if (operator === "search") return String(operand);
  const named = writtenOperand(operandText(store, term)) || NO_TOPIC;
  const isSame = String(termOf(store, operator, named)?.operand) === String(operand);
  return `${negated ? "-" : ""}${operator}:${isSame ? named : String(operand)}`;
}

/** @param {Store} store @param {Term[]} terms @returns {string} */
export const searchText = (store, terms) => terms.map((term) => textOfTerm(store, term)).join(" ");

/** An error text for the first part that looks like an operator but is none; null if there is no such part. @param {Store} store @param {string} text
 * @returns {string | null} */
export function searchProblem(store, text) {
  for (const part of searchParts(store, text)) {
    const match = /^-?([a-z-]+):(.*)$/is.exec(part);
    if (!match || part.startsWith('"') || /^(https?|mailto):/i.test(part)) continue;
    const [operator, operand] = [match[1].toLowerCase(), readOperand(match[2])];
    if (termOfPart(store, part)) continue;
    if (operand === "") return t("Please write something after “{operator}:”.", { operator: match[1] });
    if (DATES[operator])
      return t("“{operand}” is not a day. Write it as {day}, or today, yesterday, monday.", { operand, day: textOfDay(new Date()) });
    const name = ALIASES[operator] ?? operator;
    if (name === "channel") return t("“{operand}” matches no channel, or several. Please choose one from the list.", { operand });
    if (NAMED.includes(name)) return t("“{operand}” matches no person, or several. Please choose one from the list.", { operand });
    return t("There is no search operator “{operator}:”. To search for these words, put them in quotes.", { operator: match[1] });
  }
  return null;
}

/** Splits a text into terms and the remaining words, as the box shows it.
 * @param {Store} store @param {string} text @returns {{ terms: Term[], rest: string }} */
export function takeTerms(store, text) {
  /** @type {Term[]} */
  const terms = [];
  /** @type {string[]} */
  const words = [];
  for (const part of searchParts(store, text)) {
    const term = termOfPart(store, part);
    if (term) terms.push(term);
    else words.push(part);
  }
  return { terms, rest: words.join(" ") };
}

/** The label of a term in the box. @param {Store} store @param {Term} term */
export const termLabel = (store, term) => searchPills(store, [term])[0]?.label ?? "";

/** The day that a search is about, and the other terms. @param {Term[]} terms
 * @returns {{ others: Term[], seconds: number | null, isBefore: boolean }} */
export function splitDate(terms) {
  const isDate = (/** @type {Term} */ { operator }) => operator === "date" || operator === "before";
  const date = terms.findLast(isDate);
  return {
    others: terms.filter((term) => !isDate(term)),
    seconds: date ? dayOfText(String(date.operand), new Date()) : null,
    isBefore: date?.operator === "before",
  };
}

/**
 * The emoji of the picker: recent ones, popular ones and groups, or those that match a search. Pure.
 * @module
 */

import { groupEmoji, groupTitles } from "../lib/emoji_groups.js";
import { MORE_WORDS, POPULAR } from "../lib/emoji_words.js";
import { t } from "../lib/words.js";
import { ranked } from "./ranking.js";

/** @typedef {import("../store/emoji.js").CatalogEmoji} CatalogEmoji */

/** The most results of a search. */
const FOUND = 120;

/** @param {CatalogEmoji} emoji */
const popularity = ({ name, aliases }) => {
  const place = POPULAR.findIndex((wanted) => wanted === name || aliases.includes(wanted));
  return place < 0 ? POPULAR.length : place;
};

/** The rank of an emoji among results: the one of this name, then popular ones whose names begin with the text.
 * @param {CatalogEmoji} emoji @param {string} wanted */
function placeOf(emoji, wanted) {
  const names = [emoji.name, ...emoji.aliases.filter((one) => !MORE_WORDS[emoji.code]?.includes(one))];
  if (wanted === names[0]) return -1;
  return names.some((name) => name.startsWith(wanted)) ? popularity(emoji) : POPULAR.length;
}

/** Finds emoji by their names, aliases and keywords.
 * @template {CatalogEmoji} E @param {E[]} all @param {string} query @returns {E[]} */
export function findEmoji(all, query) {
  const text = query.replaceAll("_", " ").trim();
  const wanted = text.replaceAll(" ", "_").toLowerCase();
  return ranked(
    all,
    text,
    ({ name, aliases }) => [name, ...aliases].map((one) => one.replaceAll("_", " ")),
    (emoji) => (emoji.type === "realm_emoji" ? -1 : popularity(emoji)),
  )
    .sort((one, other) => placeOf(one, wanted) - placeOf(other, wanted))
    .slice(0, FOUND);
}

/** The sections of the picker, in their order. @param {CatalogEmoji[]} all @param {CatalogEmoji[]} recent
 * @returns {{ title: string, emoji: CatalogEmoji[] }[]} */
export function emojiSections(all, recent) {
  const popular = all.filter((emoji) => popularity(emoji) < POPULAR.length).sort((a, b) => popularity(a) - popularity(b));
  const first = [...new Set([...popular.slice(0, 1), ...recent, ...popular])];
  const own = all.filter(({ type }) => type !== "unicode_emoji");
  const titles = groupTitles();
  const groups = groupEmoji(all.filter(({ type }) => type === "unicode_emoji")).map(([name, emoji]) => ({ title: titles[name], emoji }));
  return [{ title: t("Often used"), emoji: first }, ...groups, { title: t("This organization"), emoji: own }].filter(
    ({ emoji }) => emoji.length > 0,
  );
}

/**
 * What the emoji picker shows: what was used lately, popular ones and groups, or what fits a search. Pure.
 * @module
 */

import { POPULAR } from "../lib/emoji.js";
import { groupEmoji, groupTitles } from "../lib/emoji_groups.js";
import { t } from "../lib/words.js";
import { ranked } from "./ranking.js";

/** @typedef {import("../store/emoji.js").CatalogEmoji} CatalogEmoji */

/** How many are found at once. */
const FOUND = 120;

/** @param {CatalogEmoji} emoji */
const popularity = ({ name, aliases }) => {
  const place = POPULAR.findIndex((wanted) => wanted === name || aliases.includes(wanted));
  return place < 0 ? POPULAR.length : place;
};

/** Emoji by their names, other names and words for them. @param {CatalogEmoji[]} all @param {string} query @returns {CatalogEmoji[]} */
export const findEmoji = (all, query) =>
  ranked(
    all,
    query.replaceAll("_", " ").trim(),
    ({ name, aliases }) => [name, ...aliases].map((one) => one.replaceAll("_", " ")),
    popularity,
  ).slice(0, FOUND);

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

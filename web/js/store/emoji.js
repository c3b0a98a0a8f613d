/**
 * The catalogue of emoji: those of the organization, and Unicode's with their names; and those that were used lately.
 * @module
 */

import { charactersOf } from "../lib/emoji.js";
import { MORE_WORDS, toned, tones } from "../lib/emoji_words.js";
import { asList, parseJson } from "../lib/parse.js";
import { keep, kept } from "../lib/storage.js";

/** @typedef {{ name: string, code: string, type: string, aliases: string[] }} CatalogEmoji `aliases`: other names, and words to find it by. */

/** How many are remembered. */
const RECENT = 16;

/** @type {CatalogEmoji[]} */
let unicode = [];

/** Takes over the names of Unicode emoji. @param {Record<string, string[]>} names By code, the first is the one to write. */
export function takeEmojiNames(names) {
  unicode = Object.entries(names).map(([code, [name, ...aliases]]) => {
    return { name, code, type: "unicode_emoji", aliases: [...aliases, ...(MORE_WORDS[code] ?? [])] };
  });
}

/** All emoji that can be used now. @param {import("./store.js").Store} store @returns {CatalogEmoji[]} */
export function allEmoji(store) {
  const own = Object.values(store.state.realm_emoji ?? {})
    .filter((emoji) => !emoji.deactivated)
    .map((emoji) => ({ name: emoji.name, code: String(emoji.id), type: "realm_emoji", aliases: [] }));
  return [...own, { name: "zulip", code: "zulip", type: "zulip_extra_emoji", aliases: [] }, ...unicode];
}

/** @param {CatalogEmoji} emoji */
export const asReaction = ({ name, code, type }) => ({ emoji_name: name, emoji_code: code, reaction_type: type });

/** The tone of skin that was chosen on this device. */
export function skinTone() {
  const chosen = kept("tone") ?? "";
  return tones().some(([tone]) => tone === chosen) ? chosen : "";
}

/** @param {string} tone */
export const setSkinTone = (tone) => keep("tone", tone);

/** An emoji in a message: its name, or the character where it has a tone of skin, for which there are no names. @param {CatalogEmoji} emoji */
export function textOfEmoji({ name, code, type }) {
  const characters = type === "unicode_emoji" ? charactersOf(code) : "";
  const next = toned(characters, skinTone());
  return next === characters ? `:${name}:` : next;
}

/** @param {{ type: string, code: string }} emoji */
const keyOf = ({ type, code }) => `${type}/${code}`;

/** The keys of those that were used lately, the latest first. @returns {string[]} */
const recentKeys = () => asList(parseJson(kept("emoji")));

/** @param {CatalogEmoji[]} all @returns {CatalogEmoji[]} the latest first */
export function recentEmoji(all) {
  const byKey = new Map(all.map((emoji) => [keyOf(emoji), emoji]));
  return recentKeys().flatMap((key) => byKey.get(key) ?? []);
}

/** Remembers that an emoji was used. @param {{ type: string, code: string }} emoji */
export function useEmoji(emoji) {
  const key = keyOf(emoji);
  keep("emoji", JSON.stringify([key, ...recentKeys().filter((other) => other !== key)].slice(0, RECENT)));
}

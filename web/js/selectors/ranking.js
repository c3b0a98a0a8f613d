/**
 * Matching names with what is typed, and ranking them. Pure.
 * @module
 */

/** The rank of a name that has the text only within a word, as compounds do, and names in scripts without spaces. */
const WITHIN = 4;

/** Texts that are looked for within words. Numbers and short texts are in too many: `#12` is an issue, and not the channel `team-2012`. */
const IS_WORD = /\P{ASCII}|[a-z]{3}/u;

/** How well a name matches: lower is better; null if it does not. @param {string} name @param {string} query @returns {number | null} */
export function rank(name, query) {
  const [text, wanted] = [fold(name), fold(query)];
  if (text === wanted) return 0;
  if (text.startsWith(wanted)) return 1;
  if (beginsWord(text, wanted)) return 2;
  const parts = wanted.split(/\s+/).filter(Boolean);
  if (parts.length > 1 && parts.every((part) => beginsWord(text, part))) return 3;
  return IS_WORD.test(wanted) && text.includes(wanted) ? WITHIN : null;
}

/** True if a name has the text, or each of its words, at the beginning of a word. @param {string} name @param {string} query */
export const matchesWords = (name, query) => (rank(name, query) ?? WITHIN) < WITHIN;

/** True if a text has another one at the beginning of one of its words. A double name has several. @param {string} text @param {string} wanted */
function beginsWord(text, wanted) {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    if (at === 0 || /[\s\-_:/]/.test(text[at - 1])) return true;
  }
  return false;
}

/** A text in lower case, without accents. @param {string} text */
export const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Choices of several kinds, with those last that have the text only within a word: the group "ops" comes before the person Hopson.
 * @template {{ label: string }} C @param {C[]} choices @param {string} query @returns {C[]} */
export function withinLast(choices, query) {
  const place = (/** @type {C} */ { label }) => Number(rank(label.replace(/^#/, ""), query) === WITHIN);
  return choices.toSorted((one, other) => place(one) - place(other));
}

/** The preference for channels of the user, pinned ones first. @param {import("../../types/api.js").Channel} channel */
export const channelPreference = ({ subscribed, pin_to_top }) => (subscribed ? 0 : 2) + (pin_to_top ? 0 : 1);

/** The items with a name that matches, the best ones first. Further names, such as an address or a description, match from the beginning of a word.
 * @template T @param {T[]} items @param {string} query @param {(item: T) => (string | null | undefined)[]} names @param {(item: T) => number} [preference]
 * @returns {T[]} */
export function ranked(items, query, names, preference = () => 0) {
  const rankOf = (/** @type {string | null | undefined} */ name, /** @type {number} */ index) => {
    const found = name ? rank(name, query) : null;
    return found === null || (index > 0 && found === WITHIN) ? 9 : found + Math.min(index, 1) / 2;
  };
  return items
    .map((item) => ({ item, rank: Math.min(...names(item).map(rankOf)) }))
    .filter((entry) => entry.rank < 9)
    .map((entry) => ({ ...entry, order: preference(entry.item) }))
    .sort((a, b) => a.rank - b.rank || a.order - b.order)
    .map(({ item }) => item);
}

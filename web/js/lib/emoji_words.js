/**
 * Emoji for pickers: tones of skin, and words to find them by.
 * @module
 */

import { t } from "./words.js";

/** Tones of skin: what follows the character, and its name. @type {() => [string, string][]} */
export const tones = () => [
  ["", t("No tone")],
  ["\u{1F3FB}", t("Light")],
  ["\u{1F3FC}", t("Medium light")],
  ["\u{1F3FD}", t("Medium")],
  ["\u{1F3FE}", t("Medium dark")],
  ["\u{1F3FF}", t("Dark")],
];

/** An emoji with a tone of skin; as it was, if it has none. Groups of people have none. @param {string} characters @param {string} tone */
export function toned(characters, tone) {
  const bases = characters.match(/\p{Emoji_Modifier_Base}/gu) ?? [];
  return tone === "" || bases.length !== 1 ? characters : characters.replace(/(\p{Emoji_Modifier_Base})\uFE0F?/u, `$1${tone}`);
}

/** The order of groups in pickers: popular ones. */
export const POPULAR = ["+1", "tada", "smile", "heart", "working_on_it", "octopus"];

/** Words for which people look besides the names, by code. @type {Record<string, string[]>} */
export const MORE_WORDS = {
  "1f44d": ["yes", "ok", "agree", "good", "thumb up"],
  "1f44e": ["no", "disagree", "bad", "thumb down"],
  2705: ["done", "yes", "ok", "ready"],
  2714: ["done", "yes"],
  "274c": ["no", "wrong", "cancel"],
  "1f389": ["party", "congratulations", "hooray", "celebrate"],
  "1f642": ["happy", "smiley"],
  "1f604": ["happy"],
  "1f602": ["lol", "laugh", "funny"],
  "1f622": ["sad"],
  "1f641": ["sad"],
  2764: ["love"],
  "1f64f": ["please", "thanks"],
  "1f440": ["look", "see"],
  "1f680": ["launch", "ship", "release"],
  "1f44b": ["hello", "hi", "bye"],
  "1f914": ["hmm"],
  "1f44f": ["bravo", "applause"],
  "1f41b": ["bug"],
  "1f6a8": ["alarm", "urgent"],
  "26a0": ["attention", "careful"],
  "1f373": ["breakfast"],
  2615: ["tea", "cafe"],
  "1f382": ["birthday"],
  "1f3e0": ["home"],
  "1f912": ["sick", "ill"],
  "1f334": ["holiday", "vacation"],
};

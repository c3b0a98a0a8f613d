/**
 * The language of the interface: that of the user's settings. Before they are known, it is the language of the last visit, or without a
 * session the language of the browser.
 * @module
 */

import { catalogue, csrfToken } from "../api/client.js";
import { keep, kept } from "../lib/storage.js";
import { bestLanguage, languageInUse, setLocale, setWords } from "../lib/words.js";

const NAME = "language";

/** The language before the settings are known. */
export const languageAtStart = () => (csrfToken() && kept(NAME)) || bestLanguage(navigator.languages);

/** Loads the words of a language, unless they are in use. Without a connection they stay as they are.
 * @param {string} code As in the settings: languages without a catalogue have the words of the nearest one. */
export async function useLanguage(code) {
  setLocale(code, navigator.languages);
  const wanted = bestLanguage([code]);
  document.documentElement.lang = wanted;
  if (wanted === languageInUse()) return;
  const words = await catalogue(wanted);
  if (words) setWords(wanted, words);
}

/** Whether the settings ask for words other than those of this page. The next page starts with them.
 * @param {string} code */
export function isOtherLanguage(code) {
  keep(NAME, code);
  return bestLanguage([code]) !== document.documentElement.lang;
}

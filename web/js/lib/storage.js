/**
 * Texts in the storage of the browser, by name. If the browser refuses to store a text, it is kept in memory until the page is left.
 * @module
 */

import { asList, parseJson } from "./parse.js";
import { signal } from "./signal.js";

/** The name of the database of the page, beside these texts. */
export const DATABASE = "teamchat";

/** Texts that the browser refused; null if a text is deleted. @type {Map<string, string | null>} */
const inMemory = new Map();

const PREFIX = "teamchat/";

/** @returns {Storage | null} Reading the member throws where cookies are blocked. */
function browserStorage() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}

/** @param {string} name @returns {string | null} */
export function kept(name) {
  const known = inMemory.get(name);
  return known === undefined ? (browserStorage()?.getItem(PREFIX + name) ?? null) : known;
}

/** @param {string} name @param {string | null} text Null deletes it. */
export function keep(name, text) {
  try {
    const storage = browserStorage();
    if (!storage) throw new Error("there is no storage");
    if (text === null) storage.removeItem(PREFIX + name);
    else storage.setItem(PREFIX + name, text);
    inMemory.delete(name);
  } catch {
    inMemory.set(name, text);
  }
}

/** A stored set of words. @param {string} name @param {string[]} [first] The initial words. */
export function keptSet(name, first = []) {
  const read = () => /** @type {Set<string>} */ (new Set(asList(parseJson(kept(name)) ?? first)));
  const words = signal(read());
  return {
    words,
    /** Adds a word, or takes it out. Other words are as another tab has left them. @param {string} word */
    toggle(word) {
      const next = read();
      next[words.peek().has(word) ? "delete" : "add"](word);
      keep(name, JSON.stringify([...next]));
      words.value = next;
    },
  };
}

/** The names of texts that begin with `start`. @param {string} start @returns {string[]} */
export function names(start) {
  const storage = browserStorage();
  const stored = storage ? Object.keys(storage).flatMap((key) => (key.startsWith(PREFIX) ? key.slice(PREFIX.length) : [])) : [];
  const all = new Set([...stored, ...inMemory.keys()]);
  return [...all].filter((name) => name.startsWith(start) && kept(name) !== null);
}

/** Calls `listener` when another tab of this browser changes the text of a name. @param {(name: string) => void} listener */
export function whenKeptElsewhere(listener) {
  globalThis.addEventListener?.("storage", (event) => {
    if (event.key?.startsWith(PREFIX)) listener(event.key.slice(PREFIX.length));
  });
}

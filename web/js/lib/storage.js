/**
 * What is kept in the browser, as text by name. Where the browser refuses to keep it, it is kept as long as the page.
 * @module
 */

import { asList, parseJson } from "./parse.js";
import { signal } from "./signal.js";

/** The name of the database of the page, beside these texts. */
export const DATABASE = "teamchat";

/** What the browser did not take. Null stands for what is deleted. @type {Map<string, string | null>} */
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

/** A set of words that the user chooses one by one. @param {string} name @param {string[]} [first] What is in it at first. */
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

/** The names that begin so. @param {string} start @returns {string[]} */
export function names(start) {
  const storage = browserStorage();
  const stored = storage ? Object.keys(storage).flatMap((key) => (key.startsWith(PREFIX) ? key.slice(PREFIX.length) : [])) : [];
  const all = new Set([...stored, ...inMemory.keys()]);
  return [...all].filter((name) => name.startsWith(start) && kept(name) !== null);
}

/** Calls `listener` when another tab of this browser keeps something else under a name. @param {(name: string) => void} listener */
export function whenKeptElsewhere(listener) {
  globalThis.addEventListener?.("storage", (event) => {
    if (event.key?.startsWith(PREFIX)) listener(event.key.slice(PREFIX.length));
  });
}

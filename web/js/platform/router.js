/**
 * The fragment of the URL as a signal, and navigation.
 *
 * Each entry of the history knows its place in it, and one with an overlay knows what is below: leaving an overlay goes back
 * there, however it was opened and whatever was shown in it.
 * @module
 */

import { flush, signal } from "../lib/signal.js";

export const fragment = signal(location.hash.slice(1));

const OVERLAYS =
  /^(settings|organization|channels|streams|groups|user|drafts|scheduled|reminders|invite|integrations|about-zulip|keyboard-shortcuts|message-formatting|search-operators)(\/|$)/;

/** @param {string} hash */
export const isOverlay = (hash) => OVERLAYS.test(hash);

/** @typedef {{ at: number, fragment: string }} Place */
/** What an entry has: its place, and that of what is below, if it is an overlay. @typedef {Place & { below?: Place }} Entry */

/** @returns {Entry} */
const entryOf = (/** @type {unknown} */ state) => /** @type {any} */ (state)?.entry;

/** @type {Entry} */
let current = entryOf(history.state) ?? { at: 0, fragment: fragment.peek() };

/** Stores the place in the entry of the history. @param {Entry} entry */
function note(entry) {
  current = entry;
  history.replaceState({ ...history.state, entry }, "");
}

/** The entry after `before`. @param {Entry} before @param {string} next @param {number} at @returns {Entry} */
function entryAfter(before, next, at) {
  if (!isOverlay(next)) return { at, fragment: next };
  const below = isOverlay(before.fragment) ? before.below : { at: before.at, fragment: before.fragment };
  return { at, fragment: next, ...(below ? { below } : {}) };
}

/** Where to go once the overlay has been left. @type {(() => void) | null} */
let afterwards = null;
let isLeaving = false;

addEventListener("hashchange", () => {
  const next = location.hash.slice(1);
  const known = entryOf(history.state);
  note(known?.fragment === next ? known : entryAfter(current, next, current.at + 1));
  fragment.value = next;
  isLeaving = false;
  const run = afterwards;
  afterwards = null;
  if (run) run();
  // Keys that come next are for what the address shows.
  else flush();
});

/** @param {string} next Without `#`. @param {{ replace?: boolean }} [options] */
export function go(next, { replace = false } = {}) {
  if (isLeaving) {
    afterwards = () => go(next, { replace });
    return;
  }
  if (next === fragment.peek()) return;
  if (replace) {
    history.replaceState(history.state, "", `#${next}`);
    note(entryAfter(current, next, current.at));
    fragment.value = next;
  } else {
    location.hash = `#${next}`;
  }
}

/** Leaves an overlay for what is below it. */
export function leaveOverlay() {
  if (!isOverlay(fragment.peek())) return;
  const { below } = current;
  if (!below) return go("", { replace: true });
  isLeaving = true;
  history.go(below.at - current.at);
}

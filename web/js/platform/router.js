/**
 * The fragment of the URL, as a signal; going to another and back.
 * @module
 */

import { signal } from "../lib/signal.js";

export const fragment = signal(location.hash.slice(1));

/** The fragment below an overlay, to return to. @type {string} */
let below = "";

const OVERLAYS =
  /^(settings|organization|channels|streams|groups|user|drafts|scheduled|reminders|invite|about-zulip|keyboard-shortcuts|message-formatting|search-operators)(\/|$)/;

/** @param {string} hash */
export const isOverlay = (hash) => OVERLAYS.test(hash);

addEventListener("hashchange", () => {
  fragment.value = location.hash.slice(1);
});

/** @param {string} next Without `#`. @param {{ replace?: boolean }} [options] */
export function go(next, { replace = false } = {}) {
  if (next === fragment.peek()) return;
  if (isOverlay(next) && !isOverlay(fragment.peek())) below = fragment.peek();
  if (replace) {
    history.replaceState(history.state, "", `#${next}`);
    fragment.value = next;
  } else {
    location.hash = `#${next}`;
  }
}

/** Leaves an overlay for what is below it. */
export function leaveOverlay() {
  if (isOverlay(fragment.peek())) go(below);
}

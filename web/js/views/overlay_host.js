/**
 * The overlay of the fragment of the URL, and the fragment of the view below it.
 * @module
 */

import { computed, effect, signal, untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { holdKeys } from "../platform/keyboard.js";
import { fragment, go, isOverlay, leaveOverlay } from "../platform/router.js";
import { showOverlay } from "./overlays.js";
import { askToLogIn, isOverlayForVisitors } from "./visitor.js";

/** @typedef {import("../../types/app.js").App} App */

/** The fragment of the view, also while an overlay is above it. */
export function createBelow() {
  let shown = "";
  /** The new fragment of a conversation that has moved below an overlay. @type {import("../lib/signal.js").Signal<{ from: string, to: string } | null>} */
  const moved = signal(null);
  const below = computed(() => {
    const [current, change] = [fragment.value, moved.value];
    if (!isOverlay(current)) shown = current;
    if (shown === change?.from) shown = change.to;
    return shown;
  });
  return {
    fragment: below,
    /** The conversation on the screen has moved. @param {string} to */
    follow(to) {
      if (isOverlay(fragment.peek())) moved.value = { from: moved.peek()?.from ?? below.peek(), to };
      else go(to, { replace: true });
    },
    /** The overlay was closed. @param {string} current */
    uncovered(current) {
      const change = moved.peek();
      if (change?.from === current) go(change.to, { replace: true });
      moved.value = null;
    },
  };
}

/** @param {App} app @param {ReturnType<typeof createBelow>} below */
export function followOverlays(app, below) {
  /** @type {HTMLDialogElement | null} */
  let overlay = null;
  let shownSection = "";

  function end() {
    // Dialogs above the overlay belong to it. If it is closed already, they are newer.
    if (overlay?.open) for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    overlay = null;
    shownSection = "";
  }

  /** @param {string} current */
  async function show(current) {
    const [section] = current.split("/");
    const isTaken = () => overlay?.dispatchEvent(new CustomEvent("route", { detail: current, cancelable: true })) === false;
    if (overlay && shownSection === section && isTaken()) return;
    shownSection = section;
    overlay?.close();
    overlay = null;
    try {
      overlay = (await holdKeys(showOverlay(app, current, () => fragment.peek() === current))) ?? overlay;
    } catch {
      app.session.tellError(t("This could not be loaded. Please load the page again."));
      // The same link asks again.
      if (fragment.peek() === current) leaveOverlay();
    }
  }

  effect(() => {
    const current = fragment.value;
    untracked(() => {
      if (isOverlay(current) && app.store.isVisitor && !isOverlayForVisitors(current)) {
        askToLogIn();
        return go(below.fragment.peek(), { replace: true });
      }
      if (isOverlay(current)) return void show(current);
      below.uncovered(current);
      end();
    });
  });
}

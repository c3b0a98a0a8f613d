/**
 * What a view loads: under way, there, or failed. A load that failed is tried again when the connection is back, or when
 * the user asks for it.
 * @module
 */

import { ApiError } from "../api/client.js";
import { fill, h } from "../lib/dom.js";
import { effect, signal, untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { button, keepFocus } from "./parts.js";

/** @template T @typedef {{ kind: "loading" } | { kind: "ready", value: T } | { kind: "failed", error: unknown }} LoadState */

/** Whether the server has refused a request: another attempt would not help. @param {unknown} error */
const isRefused = (error) => error instanceof ApiError && !error.isTransient;

/** What is said in the place of what could not be loaded. @param {() => unknown} retry @param {string} [reason] A sentence.
 * @returns {import("../lib/dom.js").Child[]} */
export const failedLoad = (retry, reason = "") => [
  t("This could not be loaded. {reason}", { reason }).trim(),
  " ",
  button(t("Try again"), retry, "small"),
];

/** @template T @param {import("../store/session.js").Session} session @param {() => Promise<T>} run */
export function createLoad(session, run) {
  /** @type {import("../lib/signal.js").Signal<LoadState<T>>} */
  const state = signal({ kind: "loading" });
  /** Only the latest attempt counts. */
  let attempts = 0;

  async function start() {
    attempts += 1;
    const own = attempts;
    /** @type {LoadState<T>} */
    let next;
    state.value = { kind: "loading" };
    try {
      next = { kind: "ready", value: await run() };
    } catch (error) {
      if (!(error instanceof ApiError)) console.error(error);
      next = { kind: "failed", error };
    }
    if (own === attempts) state.value = next;
  }

  return {
    state,
    start,
    /** Tries again when the connection is back. For the scope of the view. */
    watch() {
      effect(() => {
        session.recoveries.value;
        untracked(() => {
          const { kind } = state.peek();
          if (kind === "failed") void start();
        });
      });
    },
    /** A sentence for the place of what is not there. @returns {HTMLElement} */
    hint() {
      const now = state.value;
      if (now.kind !== "failed") return h("p", { class: "load-hint" }, t("Loading…"));
      const reason = now.error instanceof Error ? now.error.message : t("Something went wrong.");
      return h(
        "p",
        { class: "load-hint", role: "alert" },
        isRefused(now.error) ? t("This cannot be shown: {reason}", { reason }) : failedLoad(start, reason),
      );
    },
  };
}

/** An element that shows the reply to a request. It asks again when what `listen` reads has changed, and when the page is looked at or
 * connected again. For the scope of the view.
 * @template T @param {import("../../types/app.js").App} app @param {() => Promise<T>} ask
 * @param {(reply: T) => import("../lib/dom.js").Child} render @param {() => void} [listen] */
export function later({ session }, ask, render, listen = () => {}) {
  const place = h("div", { class: "form" });
  const load = createLoad(session, ask);
  /** The reply that is shown, as JSON: the same one is not drawn again. */
  let shown = "";
  effect(() => {
    listen();
    session.recoveries.value;
    const isSeen = isVisible.value && hasFocus.value;
    untracked(() => (isSeen || shown === "") && void load.start());
  });
  effect(() => {
    const now = load.state.value;
    // A reply that is shown stays until there is a newer one, or the user has lost access.
    if (shown !== "" && (now.kind === "loading" || (now.kind === "failed" && !isRefused(now.error)))) return;
    const next = now.kind === "ready" ? JSON.stringify(now.value) : "";
    if (next !== "" && next === shown) return;
    shown = next;
    untracked(() => keepFocus(place, () => fill(place, now.kind === "ready" ? render(now.value) : load.hint())));
  });
  return place;
}

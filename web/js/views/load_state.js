/**
 * The state of a load: loading, ready, or failed. A failed load is tried again when the connection is back, or when the user asks for
 * it.
 * @module
 */

import { ApiError } from "../api/client.js";
import { h } from "../lib/dom.js";
import { effect, signal, untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { button } from "./parts.js";

/** @template T @typedef {{ kind: "loading" } | { kind: "ready", value: T } | { kind: "failed", error: unknown }} LoadState */

/** Whether the server has refused a request: another attempt would not help. @param {unknown} error */
export const isRefused = (error) => error instanceof ApiError && !error.isTransient;

/** The content in place of a failed load. @param {() => unknown} retry @param {string} [reason] A sentence.
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
    /** The content in place of data that are not there. @returns {HTMLElement} */
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

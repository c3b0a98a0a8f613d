/**
 * Elements that show the reply to a request.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { effect, untracked } from "../lib/signal.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { createLoad, isRefused } from "./load_state.js";
import { keepFocus } from "./parts.js";

/** An element that shows the reply to a request. The request is repeated when values that `listen` reads have changed, and when the page
 * gets the focus or the connection back. For the scope of the view.
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

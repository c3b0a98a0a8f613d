/**
 * Toasts: short messages about actions that succeeded or failed.
 * @module
 */

import { fill, h, iconButton } from "../lib/dom.js";
import { t } from "../lib/words.js";

/** How many toasts are shown at a time, at most: the oldest make room. */
const MAX_TOASTS = 5;

/** How long a toast with a button is shown, in milliseconds. */
export const ACTION_TIME = 7_000;

/** Where toasts are: what is outside of an open dialog cannot be clicked. */
const host = () => document.querySelector("dialog[open]:last-of-type") ?? document.body;

/** Keeps the toasts of a dialog that was removed: what was done in it can still be taken back. @param {HTMLElement} dialog */
export function keepToasts(dialog) {
  const list = dialog.querySelector(".toasts");
  if (list) host().append(list);
}

/** Shows a line of text for some seconds, below those that are still shown. @param {string} text @param {boolean} isError @param {{ label: string, run: () => void }} [action] */
export function toast(text, isError, action) {
  const list = document.querySelector(".toasts") ?? h("div", { class: "toasts" });
  if (list.parentElement !== host()) host().append(list);
  // A text that comes again replaces the first; but what can be taken back differs each time.
  if (!action) for (const other of [...list.children]) if (other.textContent === text) other.remove();
  while (list.childElementCount >= MAX_TOASTS) list.firstElementChild?.remove();
  const element = h("div", { class: "toast", role: isError ? "alert" : "status", dataset: isError ? { error: "" } : {} });
  list.append(element);
  fill(
    element,
    h("span", null, text),
    action &&
      h(
        "button",
        {
          type: "button",
          class: "link",
          onclick: () => {
            element.remove();
            action.run();
          },
        },
        action.label,
      ),
    iconButton("close", t("Dismiss"), { onclick: () => element.remove() }),
  );
  setTimeout(() => element.remove(), isError ? 8000 : action ? ACTION_TIME : 4000);
}

/**
 * Parts of the overviews of conversations.
 * @module
 */

import { h } from "../lib/dom.js";
import { onEnd } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { bind } from "../platform/keyboard.js";

/** Keys that move the focus over links of a list. @param {HTMLElement} element */
export function bindListKeys(element) {
  const links = () => /** @type {HTMLElement[]} */ ([...element.querySelectorAll("a.conversation")]);
  /** @param {number} step */
  const move = (step) => {
    const all = links();
    const at = all.indexOf(/** @type {any} */ (document.activeElement));
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  onEnd(bind({ keys: ["ArrowDown", "j"], label: t("Next row"), group: t("Reading"), run: () => move(1) }));
  onEnd(bind({ keys: ["ArrowUp", "k"], label: t("Previous row"), group: t("Reading"), run: () => move(-1) }));
}

/** @param {string} label @param {import("../lib/signal.js").Signal<string>} text Gets what is written. */
export function filterInput(label, text) {
  const oninput = () => {
    text.value = input.value;
  };
  const input = h("input", { type: "search", placeholder: t("Filter"), "aria-label": label, oninput });
  return input;
}

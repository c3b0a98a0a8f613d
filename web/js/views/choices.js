/**
 * A listbox of choices beside a text control, which keeps the focus: the marked choice is its active descendant.
 * @module
 */

import { fill, h } from "../lib/dom.js";

/** @typedef {import("../lib/dom.js").Child} Child */

/** @template T @param {HTMLElement} control @param {HTMLElement} list With an id.
 * @param {{ render: (item: T) => Child[], choose: (item: T) => void }} how */
export function createChoices(control, list, { render, choose }) {
  /** @type {T[]} */
  let items = [];
  let first = 0;
  let at = 0;
  /** Whether a finger was the last to press: it may scroll the list, so only a tap chooses. */
  let isTouch = false;

  /** @param {number} next */
  function mark(next) {
    at = next;
    [...list.children].forEach((option, index) => {
      option.setAttribute("aria-selected", String(index === at));
      if (index === at) option.scrollIntoView({ block: "nearest" });
    });
    if (items[at] === undefined) control.removeAttribute("aria-activedescendant");
    else control.setAttribute("aria-activedescendant", `${list.id}-${at}`);
  }

  return {
    /** @param {T[]} next @param {number} [start] The one that is marked to begin with; -1: none, until an arrow key is pressed. */
    set(next, start = 0) {
      items = next;
      first = start;
      fill(
        list,
        items.map((item, index) => {
          const onpointerdown = (/** @type {PointerEvent} */ event) => {
            isTouch = event.pointerType === "touch";
            if (isTouch) return;
            event.preventDefault();
            choose(item);
          };
          // A screen reader clicks without a press.
          const onclick = (/** @type {MouseEvent} */ event) => {
            if (isTouch || event.detail === 0) choose(item);
          };
          // The control keeps the focus.
          const onmousedown = (/** @type {Event} */ event) => event.preventDefault();
          const does = { onpointerdown, onclick, onmousedown };
          return h("div", { class: "completion", role: "option", id: `${list.id}-${index}`, ...does }, render(item));
        }),
      );
      list.hidden = items.length === 0;
      if (control.role === "combobox") control.setAttribute("aria-expanded", String(items.length > 0));
      mark(first);
    },
    isEmpty: () => items.length === 0,
    /** @returns {T | undefined} */
    current: () => items[at],
    /** Moves the mark with the arrow keys; behind the last choice comes the first. @param {KeyboardEvent} event @returns {boolean} whether it was for the list */
    key(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step === undefined || items.length === 0) return false;
      const count = items.length - first;
      mark(first + ((at - first + step + count) % count));
      event.preventDefault();
      return true;
    },
  };
}

/** The text of a choice. @param {string} label @param {string | false | null | undefined} [detail] */
export const choiceText = (label, detail) => [
  h("span", { class: "completion__label" }, label),
  detail && h("span", { class: "completion__detail" }, detail),
];

/**
 * Rows of lists, of which one that cannot be drawn does not hide the others; and children of an element that follow a list: kept
 * by key, moved only where the order changed.
 * @module
 */

import { h } from "./dom.js";

/** Draws a row; if that fails, logs why, and returns another.
 * @template {HTMLElement | null} E @param {() => E} draw @param {() => HTMLElement} [replacement] @returns {E | HTMLElement} */
export function drawRow(draw, replacement = () => h("li", { class: "muted" }, "This row cannot be shown.")) {
  try {
    return draw();
  } catch (error) {
    console.error("a row cannot be shown", error);
    return replacement();
  }
}

/** @template T @template {HTMLElement | null} E @param {T[]} items @param {(item: T) => E} draw */
export const drawRows = (items, draw) => items.map((item) => drawRow(() => draw(item)));

/** The elements of a list, and what they were made from. @template T
 * @typedef {{ element: HTMLElement, item: T }} Entry */

/** @template T
 * @param {HTMLElement} parent
 * @param {{ key: (item: T) => string | number, create: (item: T) => HTMLElement,
 *   update?: (element: HTMLElement, item: T, before: T) => HTMLElement | void, replacement?: (item: T, old?: HTMLElement) => HTMLElement }} how
 *   `update` may return another element, which takes the place of the old one; `replacement` makes the row where one
 *   of them fails.
 */
export function keyedList(parent, { key, create, update, replacement }) {
  /** @type {Map<string | number, Entry<T>>} */
  let entries = new Map();
  return {
    /** @param {T[]} items */
    set(items) {
      /** @type {Map<string | number, Entry<T>>} */
      const next = new Map();
      for (const item of items) {
        const id = key(item);
        if (next.has(id)) continue;
        const old = entries.get(id);
        if (!old) {
          next.set(id, { element: drawRow(() => create(item), replacement && (() => replacement(item))), item });
          continue;
        }
        entries.delete(id);
        const element =
          old.item === item
            ? old.element
            : drawRow(() => update?.(old.element, item, old.item) ?? old.element, replacement && (() => replacement(item, old.element)));
        if (element !== old.element) old.element.replaceWith(element);
        next.set(id, { element, item });
      }
      for (const { element } of entries.values()) element.remove();
      /** @type {ChildNode | null} */
      let place = parent.firstChild;
      for (const { element } of next.values()) {
        if (element === place) place = place.nextSibling;
        else parent.insertBefore(element, place);
      }
      entries = next;
    },
    /** @param {string | number} id @returns {HTMLElement | undefined} */
    get: (id) => entries.get(id)?.element,
    clear() {
      for (const { element } of entries.values()) element.remove();
      entries = new Map();
    },
  };
}

/**
 * Keyed lists: the children of an element follow a list of items. Children are kept by key, updated only if their item has changed, and
 * moved only if the order has. A row that cannot be drawn does not hide the others.
 * @module
 */

import { h, morph } from "./dom.js";
import { t } from "./words.js";

/** Draws a row. If that fails, logs the error and returns a replacement.
 * @template {HTMLElement | null} E @param {() => E} draw @param {() => HTMLElement} [replacement] @returns {E | HTMLElement} */
export function drawRow(draw, replacement = () => h("li", { class: "muted" }, t("This row cannot be shown."))) {
  try {
    return draw();
  } catch (error) {
    console.error("a row cannot be shown", error);
    return replacement();
  }
}

/** An element of a list, and the item that it was made from. @template T
 * @typedef {{ element: HTMLElement, item: T }} Entry */

/** @template T
 * @param {HTMLElement} parent
 * @param {{ key: (item: T) => string | number, create: (item: T) => HTMLElement,
 *   update?: (element: HTMLElement, item: T, before: T) => HTMLElement | void, replacement?: (item: T, old?: HTMLElement) => HTMLElement }} how
 *   `update` may return another element, which takes the place of the old one; `replacement` makes the row where one
 *   of them fails.
 */
export function keyedList(parent, { key, create, update, replacement }) {
  /** Moves a child, with `moveBefore` where the browser has it, which preserves the state of the element. @param {Element} element @param {ChildNode | null} place */
  const move = (element, place) => {
    const to = /** @type {{ moveBefore?: (element: Element, place: ChildNode | null) => void }} */ (parent);
    if (to.moveBefore && element.parentNode === parent && parent.isConnected) to.moveBefore(element, place);
    else parent.insertBefore(element, place);
  };
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
      const focused = globalThis.document?.activeElement ?? null;
      const hadFocus = focused !== null && parent.contains(focused);
      /** @type {ChildNode | null} */
      let place = parent.firstChild;
      for (const { element } of next.values()) {
        if (element === place) place = place.nextSibling;
        else move(element, place);
      }
      entries = next;
      if (hadFocus && document.activeElement !== focused && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    },
    /** @param {string | number} id @returns {HTMLElement | undefined} */
    get: (id) => entries.get(id)?.element,
    clear() {
      for (const { element } of entries.values()) element.remove();
      entries = new Map();
    },
  };
}

/** A keyed list of plain data: a row whose data have changed is drawn again, and stays the same element.
 * @template T @param {HTMLElement} parent
 * @param {{ key: (item: T) => string | number, create: (item: T) => HTMLElement, part?: (row: Element) => Element | null }} how
 *   `part`: the part of a row that is made of its data, if not all of it. */
export function plainList(parent, { key, create, part = (row) => row }) {
  /** The data of rows as JSON, by key. Includes some rows that are gone. @type {Map<string | number, string>} */
  let signs = new Map();
  const list = keyedList(parent, {
    key,
    create(item) {
      signs.set(key(item), JSON.stringify(item));
      return create(item);
    },
    update(old, item) {
      const [id, sign] = [key(item), JSON.stringify(item)];
      if (signs.get(id) === sign) return;
      signs.set(id, sign);
      const [one, other] = [part(old), part(create(item))];
      if (one && other) morph(one, other);
    },
  });
  return {
    ...list,
    /** @param {T[]} items */
    set(items) {
      list.set(items);
      if (signs.size > 2 * items.length + 100) signs = new Map(items.map((item) => [key(item), signs.get(key(item)) ?? ""]));
    },
  };
}

/**
 * The menu or box that is open. The module that shows them, `popover.js`, is loaded on demand.
 * @module
 */

/** @typedef {{ element: HTMLElement, opener: Element, close: () => void }} OpenPopover */

/** @type {OpenPopover | null} */
let open = null;

export const openPopover = () => open;
export const closePopover = () => open?.close();

/** @param {OpenPopover | null} next */
export function setOpenPopover(next) {
  open = next;
}

/**
 * The message of a timeline that keys act on: the focused row, or else the one that was last clicked or shown.
 * @module
 */

/** @param {HTMLElement} scroller @param {HTMLElement} list @param {{ rowOf: (id: number) => HTMLElement | undefined,
 *   anchor: ReturnType<typeof import("./scroll_anchor.js").createScrollAnchor>, onScroll: () => void }} how */
export function createRowSelection(scroller, list, { rowOf, anchor, onScroll }) {
  let last = 0;

  /** @param {Element} row @param {DOMRect} [box] */
  function isOnScreen(row, box = scroller.getBoundingClientRect()) {
    const own = row.getBoundingClientRect();
    return own.bottom > box.top + 10 && own.top < box.bottom - 10;
  }

  /** The rows on the screen, from top to bottom. @returns {HTMLElement[]} */
  function visibleRows() {
    const box = scroller.getBoundingClientRect();
    return /** @type {HTMLElement[]} */ ([...list.children]).filter((row) => isOnScreen(row, box));
  }

  /** @returns {HTMLElement | null} */
  function focusedRow() {
    const row = document.activeElement?.closest?.(".message-row");
    return row instanceof HTMLElement && list.contains(row) ? row : null;
  }

  /** @returns {number} the id; 0 if there is none */
  function selected() {
    const focused = focusedRow();
    if (focused) return Number(focused.dataset.id);
    const visible = visibleRows().map((row) => Number(row.dataset.id));
    return visible.includes(last) ? last : (visible.at(-1) ?? 0);
  }

  /** @param {Element | null | undefined} row @param {boolean} [scroll] */
  function focus(row, scroll = true) {
    if (!(row instanceof HTMLElement)) return;
    last = Number(row.dataset.id);
    row.focus({ preventScroll: true });
    if (!scroll) return;
    const [box, own] = [scroller.getBoundingClientRect(), row.getBoundingClientRect()];
    if (own.top < box.top) scroller.scrollTop += own.top - box.top - 8;
    else if (own.bottom > box.bottom) scroller.scrollTop += Math.min(own.bottom - box.bottom + 8, own.top - box.top);
    onScroll();
  }

  function focusSelected() {
    const row = rowOf(selected()) ?? list.lastElementChild;
    if (row) focus(row);
    else scroller.focus({ preventScroll: true });
  }

  for (const type of ["pointerdown", "focusin"])
    scroller.addEventListener(type, (event) => {
      const row = event.target instanceof Element ? event.target.closest(".message-row") : null;
      if (row instanceof HTMLElement) last = Number(row.dataset.id);
    });

  return {
    visibleRows,
    selected,
    /** @param {number} id */
    select(id) {
      last = id;
    },
    focus,
    focusSelected,
    /** Runs a change of the rows. If the row with the focus goes from the screen, the one in its place gets the focus.
     * @param {() => void} change */
    keepFocus(change) {
      const row = focusedRow();
      const at = row && isOnScreen(row) ? [...list.children].indexOf(row) : -1;
      change();
      if (!row || at < 0 || row.isConnected || document.activeElement !== document.body) return;
      // A row that is drawn again gets it back by itself.
      const isThere = list.querySelector(`:scope > [data-id="${CSS.escape(row.dataset.id ?? "")}"]`) !== null;
      if (!isThere) focus(list.children[at] ?? list.lastElementChild, false);
    },
    /** Goes to the next row or the one before. @param {number} step */
    move(step) {
      const focused = focusedRow();
      if (!focused) return focusSelected();
      const next = step > 0 ? focused.nextElementSibling : focused.previousElementSibling;
      if (next) focus(next);
      else if (step > 0) anchor.toEnd();
    },
    /** Goes to what is a screen away. @param {number} direction */
    page(direction) {
      scroller.scrollBy({ top: direction * scroller.clientHeight * 0.9, behavior: "instant" });
      anchor.remember();
      const rows = visibleRows();
      focus(direction > 0 ? rows.at(-1) : rows[0], false);
    },
  };
}

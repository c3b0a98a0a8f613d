/**
 * Keeps the reading position when rows above it change: rows that are added or removed, images that load, edits, another width. At the
 * end of the list, it follows the end, up to the first unread message that arrived while the window had no focus, or together with more
 * messages than fit on the screen, because that message would otherwise count as read. No other module scrolls without the user.
 * @module
 */

/** How far from the end, in pixels, still counts as at the end. */
const SLACK = 32;

/** The space above the first unseen message, in pixels: the bar of views with several conversations covers it. */
const ABOVE = 48;

/** @param {HTMLElement} scroller @param {HTMLElement} list Its children are the rows. */
export function createScrollAnchor(scroller, list) {
  /** Whether the end of the list is the newest there is, so that staying there means following. */
  let follows = false;
  let isAtEnd = false;
  /** Rows that are drawn again are other elements with the same id. @type {{ row: HTMLElement, top: number, next: string | undefined } | null} */
  let anchor = null;
  /** The newest message that was there when the window lost the focus. Null while the window has it. @type {number | null} */
  let newestSeen = null;

  /** The row of the newest message that the server has; rows of messages on their way are behind it. */
  function newestRow() {
    let row = /** @type {HTMLElement | null} */ (list.lastElementChild);
    while (row?.dataset.state) row = /** @type {HTMLElement | null} */ (row.previousElementSibling);
    return row;
  }
  const newestShown = () => Number(newestRow()?.dataset.id ?? 0);

  /** How far, in pixels, it may scroll to stay at the end. @param {number} shown The newest message that was there before. */
  function room(shown) {
    /** @type {HTMLElement[]} */
    const unread = [];
    const seen = newestSeen ?? shown;
    // Another window may have marked some as read.
    for (let row = newestRow(); row && Number(row.dataset.id) > seen; row = /** @type {HTMLElement | null} */ (row.previousElementSibling))
      if (row.dataset.unread !== undefined) unread.push(row);
    const first = unread.at(-1);
    // A single message that arrives on a watched screen is followed, whatever its height.
    if (!first || (newestSeen === null && unread.length === 1)) return Number.POSITIVE_INFINITY;
    return Math.max(0, first.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ABOVE);
  }

  const distanceToEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;

  /** The first row that reaches below the upper edge, found by halving. @returns {HTMLElement | null} */
  function topRow() {
    const rows = list.children;
    const edge = scroller.getBoundingClientRect().top;
    let [low, high] = [0, rows.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].getBoundingClientRect().bottom > edge + 4) high = middle;
      else low = middle + 1;
    }
    const row = rows[low];
    return row instanceof HTMLElement ? row : null;
  }

  /** @param {string | undefined} id */
  const rowWithId = (id) => (id === undefined ? null : list.querySelector(`:scope > [data-id="${CSS.escape(id)}"]`));

  function remember() {
    isAtEnd = distanceToEnd() <= SLACK;
    const row = topRow();
    const next = row?.nextElementSibling;
    anchor = row ? { row, top: row.getBoundingClientRect().top, next: next instanceof HTMLElement ? next.dataset.id : undefined } : null;
  }

  /** Goes to the end, or to the first unread message that came unseen. @param {number} [shown] The newest message that was there before. */
  function follow(shown = Number.POSITIVE_INFINITY) {
    scroller.scrollTop = Math.min(scroller.scrollHeight, scroller.scrollTop + room(shown));
    remember();
  }

  /** @param {number} [shown] The newest message that was there before. */
  function restore(shown) {
    if (follows && isAtEnd) return follow(shown);
    const row = anchor && (anchor.row.isConnected ? anchor.row : (rowWithId(anchor.row.dataset.id) ?? rowWithId(anchor.next)));
    if (anchor && row) {
      const moved = row.getBoundingClientRect().top - anchor.top;
      if (Math.abs(moved) >= 0.5) scroller.scrollBy({ top: moved, behavior: "instant" });
    }
    remember();
  }

  const onScroll = () => remember();
  scroller.addEventListener("scroll", onScroll, { passive: true });
  const seeAll = () => {
    if (newestSeen !== null) newestSeen = newestShown();
  };
  // Some browsers scroll without the focus: the user reads.
  for (const type of ["wheel", "touchmove"]) scroller.addEventListener(type, seeAll, { passive: true });
  const observer = new ResizeObserver(() => restore());
  observer.observe(list);
  observer.observe(scroller);

  return {
    /** Runs a change of the rows, and keeps the place. @param {() => void} change */
    preserve(change) {
      if (!anchor) remember();
      const shown = newestShown();
      change();
      restore(shown);
    },
    /** @param {boolean} value */
    setFollows(value) {
      follows = value;
    },
    /** Whether the user looks at the messages that arrive. @param {boolean} value */
    setWatched(value) {
      newestSeen = value ? null : (newestSeen ?? newestShown());
    },
    isAtEnd: () => distanceToEnd() <= SLACK,
    /** Whether the user looks at the end. */
    isWatchedAtEnd: () => newestSeen === null && distanceToEnd() <= SLACK,
    toEnd() {
      seeAll();
      follow();
    },
    follow,
    /** Puts a row at a part of the height, from 0 for the upper edge to 1 for the lower. @param {HTMLElement} row @param {number} fraction */
    place(row, fraction) {
      const [box, own] = [scroller.getBoundingClientRect(), row.getBoundingClientRect()];
      scroller.scrollTop += own.top - box.top - Math.max(0, (box.height - own.height) * fraction);
      remember();
    },
    remember,
    end() {
      observer.disconnect();
      scroller.removeEventListener("scroll", onScroll);
    },
  };
}

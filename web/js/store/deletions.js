/**
 * Deletions of messages that can be undone: a message is hidden at once, and deleted after some time.
 * @module
 */

/** How long a deletion can be undone, in milliseconds: longer than the button for that is shown. */
export const TIME_TO_UNDO = 8_000;

/** @param {{ hide: (id: number, isHidden: boolean) => void, remove: (id: number) => Promise<unknown> }} does `remove` returns undefined if it failed. */
export function createDeletions({ hide, remove }) {
  /** @type {Map<number, ReturnType<typeof setTimeout>>} */
  const waiting = new Map();

  /** @param {number} id @returns {boolean} whether it was waiting */
  function stop(id) {
    clearTimeout(waiting.get(id));
    return waiting.delete(id);
  }

  /** @param {number} id */
  async function run(id) {
    if (stop(id) && (await remove(id)) === undefined) hide(id, false);
  }

  return {
    /** @param {number} id */
    begin(id) {
      if (waiting.has(id)) return;
      hide(id, true);
      waiting.set(
        id,
        setTimeout(() => void run(id), TIME_TO_UNDO),
      );
    },
    /** @param {number} id @returns {boolean} false if it is too late */
    undo(id) {
      const isWaiting = stop(id);
      if (isWaiting) hide(id, false);
      return isWaiting;
    },
    /** Deletes all of them now, because the page is left. */
    flush: () => Promise.all([...waiting.keys()].map(run)),
  };
}

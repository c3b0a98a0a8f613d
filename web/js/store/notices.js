/**
 * Notices for the user: short texts about actions that succeeded or failed, each shown once.
 * @module
 */

import { ApiError, errorText } from "../api/client.js";
import { signal } from "../lib/signal.js";

/** @typedef {{ text: string, isError: boolean, action?: { label: string, run: () => void } }} Notice `action`: a button below the text. */

/** Counts actions that failed. Controls that show a new value before the response, such as comboboxes, then show the former value again. */
export const failures = signal(0);

/** Creates an empty list of notices. */
export function createNotices() {
  /** Notices that are not shown yet. @type {import("../lib/signal.js").Signal<Notice[]>} */
  const notices = signal([]);

  /** @param {string} text @param {boolean} isError @param {Notice["action"]} [action] */
  const add = (text, isError, action) => {
    notices.value = [...notices.peek(), { text, isError, action }];
  };

  /** Adds a notice. @param {string} text @param {Notice["action"]} [action] */
  const tell = (text, action) => add(text, false, action);

  /** Adds a notice of a failure. @param {string} text @param {Notice["action"]} [action] */
  const tellError = (text, action) => add(text, true, action);

  /** Removes and returns all notices: several may have come since the last frame. */
  function take() {
    const taken = notices.value;
    if (taken.length > 0) notices.value = [];
    return taken;
  }

  /** Runs an action. If it fails, adds a notice with the error, and returns undefined.
   * @template {Promise<unknown>} P @param {P} action @returns {Promise<Awaited<P> | undefined>} */
  async function attempt(action) {
    try {
      return await action;
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return undefined;
      if (!(error instanceof ApiError)) console.error(error);
      failures.value = failures.peek() + 1;
      tellError(errorText(error));
      return undefined;
    }
  }

  return { tell, tellError, take, attempt };
}

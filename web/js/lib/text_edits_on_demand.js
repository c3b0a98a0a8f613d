/**
 * The edits of `text_edits.js` that quotations, pasted texts, completion and uploads need. Pure.
 * @module
 */

import { openFences, unusedFence } from "./text_edits.js";

/** @typedef {import("./text_edits.js").Selected} Selected */

/** A block with a fence that the text does not end. @param {string} text @param {string} [kind] A language, or another kind of block. */
export function fenced(text, kind = "") {
  const fence = unusedFence(text);
  return `${fence}${kind}\n${text}\n${fence}\n`;
}

/** Whether the block that begins in the line before the cursor has an end. Further blocks below may have the same fence.
 * @param {string} value @param {number} cursor @param {string} fence */
export function hasEnd(value, cursor, fence) {
  const below = value.slice(cursor);
  const isOpenIn = (/** @type {string} */ text) => openFences(text).some((one) => one.fence === fence);
  // Without the line before it, an end looks like the beginning of a block.
  if (isOpenIn(below)) return true;
  const next = below.split("\n").find((line) => line.startsWith(fence));
  return next?.trimEnd() === fence && !isOpenIn(value);
}

/** The place of a part of a text that is replaced, which is not at the cursor; null if the text does not contain it. `mode` is that of
 * `setRangeText`.
 * @param {Selected} selected @param {string} before @param {string} after @returns {{ at: number, mode: "end" | "preserve" } | null} */
export function placeOf({ value, start, end }, before, after) {
  const at = value.indexOf(before);
  if (at < 0 || before === after) return null;
  return { at, mode: start === end && start >= at ? "end" : "preserve" };
}

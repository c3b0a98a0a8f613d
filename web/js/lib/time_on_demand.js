/**
 * The texts of times that dialogs and settings need, beside those of `time.js`.
 * @module
 */

import { format } from "./time.js";

/** The name of a day of the week, 0 for Monday. @param {number} day */
export const weekdayName = (day) => format({ weekday: "long", timeZone: "UTC" }).format(Date.UTC(2024, 0, 1 + day));

/** A day in words. @param {string} text As in ISO 8601. */
export const dayText = (text) => format({ dateStyle: "long" }).format(new Date(text));

/** @param {Date} date The value of an `<input type="datetime-local">`. */
export function localInputValue(date) {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/**
 * Times as text, in the language and zone of the browser.
 * @module
 */

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {Intl.DateTimeFormatOptions} options */
function format(options) {
  const key = JSON.stringify(options);
  const found = formats.get(key) ?? new Intl.DateTimeFormat(undefined, options);
  formats.set(key, found);
  return found;
}

/** @param {number} seconds @param {boolean} is24Hours */
export function clockTime(seconds, is24Hours) {
  return format({ hour: "numeric", minute: "2-digit", hourCycle: is24Hours ? "h23" : "h12" }).format(seconds * 1000);
}

/** Distinguishes days in the local zone. @param {number} seconds */
export const dayOf = (seconds) => new Date(seconds * 1000).toDateString();

/** @param {number} seconds @param {number} [now] */
export function dayName(seconds, now = Date.now() / 1000) {
  if (dayOf(seconds) === dayOf(now)) return "Today";
  if (dayOf(seconds) === dayOf(now - 86_400)) return "Yesterday";
  const isThisYear = new Date(seconds * 1000).getFullYear() === new Date(now * 1000).getFullYear();
  return format({ weekday: "long", month: "long", day: "numeric", ...(isThisYear ? {} : { year: "numeric" }) }).format(seconds * 1000);
}

/** For lists: the time if it is less than a day ago, then the day.
 * @param {number} seconds @param {boolean} is24Hours @param {number} [now] */
export function relativeTime(seconds, is24Hours, now = Date.now() / 1000) {
  const age = now - seconds;
  if (age < 86_400 && dayOf(seconds) === dayOf(now)) return clockTime(seconds, is24Hours);
  if (dayOf(seconds) === dayOf(now - 86_400)) return "Yesterday";
  if (age < 7 * 86_400) return format({ weekday: "long" }).format(seconds * 1000);
  return format({ month: "short", day: "numeric", ...(age < 180 * 86_400 ? {} : { year: "numeric" }) }).format(seconds * 1000);
}

/** @param {number} seconds @param {boolean} is24Hours */
export function fullTime(seconds, is24Hours) {
  return format({ dateStyle: "full", timeStyle: "short", hourCycle: is24Hours ? "h23" : "h12" }).format(seconds * 1000);
}

/** @param {Date} date The value of an `<input type="datetime-local">`. */
export function localInputValue(date) {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/**
 * Days in a search: parsing and writing them. Pure.
 * @module
 */

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The first moment of a day, month or year, in the local zone: `2026-11-24`, `2026-11`, `2026`, `today`, `yesterday`, `monday`.
 * @param {string} text @param {Date} now @returns {number | null} in seconds */
export function dayOfText(text, now) {
  const wanted = text.trim().toLowerCase();
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const seconds = (/** @type {Date} */ date) => Math.floor(date.getTime() / 1000);
  if (wanted === "today") return seconds(new Date(year, month, day));
  if (wanted === "yesterday") return seconds(new Date(year, month, day - 1));
  if (DAYS.includes(wanted)) {
    const back = (now.getDay() - DAYS.indexOf(wanted) + 7) % 7 || 7;
    return seconds(new Date(year, month, day - back));
  }
  const parts = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(wanted);
  if (!parts) return null;
  const [wantedYear, wantedMonth, wantedDay] = [Number(parts[1]), Number(parts[2] ?? 1), Number(parts[3] ?? 1)];
  const date = new Date(wantedYear, wantedMonth - 1, wantedDay);
  const isReal = date.getMonth() === wantedMonth - 1 && date.getDate() === wantedDay;
  return isReal ? seconds(date) : null;
}

/** A day in the syntax of a search. @param {Date} date */
export const textOfDay = (date) =>
  [date.getFullYear(), String(date.getMonth() + 1).padStart(2, "0"), String(date.getDate()).padStart(2, "0")].join("-");

/**
 * Times as text, in the language of the user and the zone of the browser.
 * @module
 */

import { locale, t } from "./words.js";

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** The locale of the formats. @type {string | undefined} */
let formatsLocale;

/** @param {Intl.DateTimeFormatOptions} options */
export function format(options) {
  if (formatsLocale !== locale()) formats.clear();
  formatsLocale = locale();
  const key = JSON.stringify(options);
  const found = formats.get(key) ?? new Intl.DateTimeFormat(formatsLocale, options);
  formats.set(key, found);
  return found;
}

/** @param {number} seconds @param {boolean} is24Hours */
export function clockTime(seconds, is24Hours) {
  return format({ hour: "numeric", minute: "2-digit", hourCycle: is24Hours ? "h23" : "h12" }).format(seconds * 1000);
}

/** Days in the local zone, by quarter of an hour: zones differ by quarters, and lists ask for the same ones many times.
 * @type {Map<number, string>} */
const days = new Map();

/** Distinguishes days in the local zone. @param {number} seconds @returns {string} */
export function dayOf(seconds) {
  const quarter = Math.floor(seconds / 900);
  const found = days.get(quarter) ?? new Date(seconds * 1000).toDateString();
  days.set(quarter, found);
  return found;
}

/** @param {number} seconds @param {number} [now] */
export function dayName(seconds, now = Date.now() / 1000) {
  if (dayOf(seconds) === dayOf(now)) return t("Today");
  if (dayOf(seconds) === dayOf(now - 86_400)) return t("Yesterday");
  const isThisYear = new Date(seconds * 1000).getFullYear() === new Date(now * 1000).getFullYear();
  return format({ weekday: "long", month: "long", day: "numeric", ...(isThisYear ? {} : { year: "numeric" }) }).format(seconds * 1000);
}

/** For lists: the time if it is less than 24 hours ago, then the day.
 * @param {number} seconds @param {boolean} is24Hours @param {number} [now] */
export function relativeTime(seconds, is24Hours, now = Date.now() / 1000) {
  const age = now - seconds;
  if (Math.abs(age) < 86_400) return clockTime(seconds, is24Hours);
  if (dayOf(seconds) === dayOf(now - 86_400)) return t("Yesterday");
  if (age < 7 * 86_400) return format({ weekday: "long" }).format(seconds * 1000);
  return format({ month: "short", day: "numeric", ...(age < 180 * 86_400 ? {} : { year: "numeric" }) }).format(seconds * 1000);
}

/** @param {number} seconds @param {boolean} is24Hours */
export function fullTime(seconds, is24Hours) {
  return format({ dateStyle: "full", timeStyle: "short", hourCycle: is24Hours ? "h23" : "h12" }).format(seconds * 1000);
}

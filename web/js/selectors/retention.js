/**
 * Choices of the retention of messages. Pure.
 * @module
 */

import { t } from "../lib/words.js";

/** @type {() => [number, string][]} */
const periods = () => [
  [30, t({ one: "{count} day", other: "{count} days" }, { count: 30 })],
  [90, t({ one: "{count} day", other: "{count} days" }, { count: 90 })],
  [365, t({ one: "{count} year", other: "{count} years" }, { count: 1 })],
  [1095, t({ one: "{count} year", other: "{count} years" }, { count: 3 })],
];

/** The options of a list and the chosen one, as the interface takes them.
 * @param {number | null} days -1: for ever; null: as the organization says. @param {boolean} isChannel
 * @returns {{ options: [string | number, string][], value: string }} */
export function retentionChoices(days, isChannel) {
  const isOther = days !== null && days > 0 && !periods().some(([known]) => known === days);
  /** @type {[string | number, string][]} */
  const options = [
    ...(isChannel ? /** @type {[string, string][]} */ ([["realm_default", t("Set by the organization")]]) : []),
    ["unlimited", t("Forever")],
    ...periods(),
    ...(isOther
      ? /** @type {[number, string][]} */ ([[Number(days), t({ one: "{count} day", other: "{count} days" }, { count: Number(days) })]])
      : []),
    ["other", t("Another time…")],
  ];
  return { options, value: days === null ? "realm_default" : days < 0 ? "unlimited" : String(days) };
}

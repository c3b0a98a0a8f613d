/**
 * The audit log, for owners: logins and changes to accounts, keys, permissions and settings.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { fill, h } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { later } from "./account.js";
import { button, row, rows } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** Entries that are loaded at a time. */
const PAGE = 100;

/** A value as text; an object as its members. @param {unknown} value @returns {string} */
function shown(value) {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name.replaceAll("_", " ")}: ${shown(member)}`)
    .join(", ");
}

/** The values of an entry. @param {import("../../types/api.js").AuditEntry} entry */
function change({ before, after }) {
  if (before === null) return after === null ? "" : shown(after);
  return after === null ? t("before: {value}", { value: shown(before) }) : `${shown(before)} → ${shown(after)}`;
}

/** @param {import("../../types/api.js").AuditEntry} entry */
const author = ({ actor: name, address }) => (address ? t("by {name} from {address}", { name, address }) : t("by {name}", { name }));

/** @param {App} app @returns {Child[]} */
export function auditLog(app) {
  const is24 = Boolean(app.store.setting("twenty_four_hour_time"));
  const place = h("div");
  /** @param {number | undefined} before @param {HTMLElement} target */
  const show = (before, target) =>
    fill(
      target,
      later(app, api.auditLog(PAGE, before), ({ entries }) => {
        const rest = h("div");
        const more = button(t("Show older entries"), () => show(entries.at(-1)?.id, rest));
        if (entries.length === PAGE) fill(rest, more);
        return [
          rows(
            entries.map((entry) =>
              row(
                `${entry.action.replaceAll("_", " ")}: ${entry.subject}${entry.times > 1 ? ` (×${entry.times})` : ""}`,
                [fullTime(entry.time, is24), author(entry), change(entry)].filter(Boolean).join(", "),
              ),
            ),
          ),
          rest,
        ];
      }),
    );
  show(undefined, place);
  return [h("p", { class: "muted" }, t("Logins and changes to accounts, keys, permissions and settings, the newest first.")), place];
}

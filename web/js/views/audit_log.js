/**
 * The audit log, for owners: logins and changes to accounts, keys, permissions and settings.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { signal } from "../lib/signal.js";
import { fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { row, rows } from "./form_parts.js";
import { button } from "./parts.js";
import { later } from "./replies.js";

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
  const { store } = app;
  const pages = signal(1);

  /** The newest entries, of as many pages as are shown, and whether there may be older ones. */
  async function load() {
    /** @type {import("../../types/api.js").AuditEntry[]} */
    const all = [];
    let hasOlder = true;
    // It may be asked for by the change that ends the role of the user, before its section closes.
    for (let page = 0; page < pages.peek() && hasOlder && store.state.is_owner; page++) {
      const { entries } = await api.auditLog(PAGE, all.at(-1)?.id);
      all.push(...entries);
      hasOlder = entries.length === PAGE;
    }
    return { entries: all, hasOlder };
  }

  const showOlder = () => {
    pages.value += 1;
  };
  const list = later(
    app,
    load,
    ({ entries, hasOlder }) => [
      rows(
        entries.map((entry) =>
          row(
            `${entry.action.replaceAll("_", " ")}: ${entry.subject}${entry.times > 1 ? ` (×${entry.times})` : ""}`,
            [fullTime(entry.time, store.is24Hours), author(entry), change(entry)].filter(Boolean).join(", "),
          ),
        ),
      ),
      hasOlder && button(t("Show older entries"), showOlder),
    ],
    () => {
      pages.value;
      // The log has no events, but most of what it records has.
      store.on("realm", "users", "groups", "invites");
    },
  );
  return [h("p", { class: "muted" }, t("Logins and changes to accounts, keys, permissions and settings, the newest first.")), list];
}

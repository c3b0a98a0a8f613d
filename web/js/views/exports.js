/**
 * Exports of the organization: asking for one, downloading and deleting archives, and who allows the export of private data.
 * @module
 */

import { updateSettings } from "../api/endpoints.js";
import * as api from "../api/endpoints_on_demand.js";
import { h, iconButton } from "../lib/dom.js";
import { effect, untracked } from "../lib/signal.js";
import { relativeTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { applyLatest } from "../store/events.js";
import { field, live, row, rows } from "./form_parts.js";
import { createLoad } from "./load_state.js";
import { button, ownPath, select } from "./parts.js";
import { confirm } from "./popover.js";
import { exportConsent, settingControls } from "./setting_controls.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** `export_type`: public data, and with the private data of people who allow it. */
const PUBLIC = 1;
const WITH_CONSENT = 2;

/** @type {() => [number, string][]} */
const types = () => [
  [WITH_CONSENT, t("Public data, and private data of users who allow it")],
  [PUBLIC, t("Public data")],
];

/** @param {App} app @returns {Child[]} */
export function dataExports(app) {
  const { store, session } = app;
  const load = createLoad(session, async () => {
    await session.take(
      () => Promise.all([api.listExports(), api.listExportConsents()]),
      ([{ exports }, { export_consents }], since) => {
        store.state.realm_exports = exports;
        store.state.realm_export_consents = export_consents;
        applyLatest(store, since, ["realm_export", "realm_export_consent"]);
        store.touch("realm");
      },
    );
  });
  // Neither is in the state that the client takes over; events keep them current from here on.
  effect(() => {
    store.generation.value;
    untracked(() => void load.start());
  });
  load.watch();
  const chosen = select(types(), WITH_CONSENT);
  const start = async () => {
    if (await session.attempt(api.startExport(Number(chosen.value)))) session.tell(t("The export has begun. It takes a few minutes."));
  };
  return [
    h("p", { class: "muted" }, t("An export is an archive that other servers can import. Passwords are never in it.")),
    field(t("What is exported"), chosen),
    h("div", null, button(t("Start the export"), start, "primary")),
    live(() => {
      store.on("realm");
      const exports = store.state.realm_exports;
      if (!exports) return load.hint();
      return rows(
        exports.toReversed().map((one) => exportRow(app, one)),
        t("There are no exports."),
      );
    }),
    h("h3", null, t("Who allows the export of private data")),
    // Private data are exported only if an owner allows it as well.
    live(() => {
      store.on("settings");
      return settingControls(exportConsent(), store.state.user_settings, (params) => session.attempt(updateSettings(params)));
    }),
    live(() => {
      store.on("realm", "users");
      const consents = store.state.realm_export_consents;
      if (!consents) return null;
      const people = consents
        .filter((consent) => consent.consented)
        .flatMap(({ user_id }) => store.users.get(user_id) ?? [])
        .filter((user) => user.is_active !== false);
      return [
        h("p", { class: "muted" }, t("{count} of {total} people.", { count: people.length, total: consents.length })),
        rows(people.map((user) => row(user.full_name, user.delivery_email ?? ""))),
      ];
    }),
  ];
}

/** @param {App} app @param {import("../../types/api.js").Export} one */
function exportRow({ store, session }, one) {
  const time = (/** @type {number} */ seconds) => relativeTime(seconds, store.is24Hours);
  const who = store.users.get(one.acting_user_id)?.full_name ?? "";
  const name = types().find(([type]) => type === one.export_type)?.[1] ?? "";
  const remove = async () => {
    if (await confirm(t("Delete the archive?"), t("The archive cannot be downloaded any more."), t("Delete"), { isDanger: true }))
      await session.attempt(api.deleteExport(one.id));
  };
  const state = one.pending
    ? t("In progress")
    : one.failed_timestamp
      ? t("Failed {time}", { time: time(one.failed_timestamp) })
      : one.deleted_timestamp
        ? t("Deleted {time}", { time: time(one.deleted_timestamp) })
        : t("Complete");
  return row(
    name,
    `${who} · ${time(one.export_time)} · ${state}`,
    one.export_url && h("a", { class: "button button--small", href: ownPath(one.export_url), download: "" }, t("Download")),
    one.export_url && iconButton("trash", t("Delete the archive"), { onclick: remove }),
  );
}

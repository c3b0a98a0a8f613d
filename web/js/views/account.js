/**
 * One's own account: email, password, and the devices that are logged in.
 * @module
 */

import * as api from "../api/endpoints.js";
import { fill, h } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { button, field, form, row, rows, submitButton } from "./parts.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {App} app @returns {Child[]} */
export function account({ store, session }) {
  const email = h("input", { type: "email", value: store.self.delivery_email ?? store.state.delivery_email ?? "", autocomplete: "email" });
  const old = h("input", { type: "password", autocomplete: "current-password", required: true });
  const next = h("input", {
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: store.state.password_min_length ?? 6,
    maxlength: store.state.password_max_length ?? 100,
  });
  const changePassword = () =>
    api.updateSettings({ old_password: old.value, new_password: next.value }).then(() => {
      old.value = next.value = "";
      session.tell("Your password has been changed.");
    });
  return [
    form(
      () => session.attempt(api.updateSettings({ email: email.value.trim() }).then(() => session.tell("Saved."))),
      field("Email", email),
      submitButton("Change email"),
    ),
    h("h3", null, "Password"),
    form(
      () => session.attempt(changePassword()),
      h("input", { type: "text", autocomplete: "username", value: store.state.delivery_email ?? "", hidden: true }),
      field("Current password", old),
      field("New password", next),
      submitButton("Change password"),
    ),
  ];
}

/** An element that is filled once a request is answered. @param {App} app @param {Promise<any>} request @param {(reply: any) => Child} render */
export function later({ session }, request, render) {
  const place = h("div", { class: "form" }, h("p", { class: "muted" }, "Loading…"));
  void session.attempt(request).then((reply) => fill(place, reply && render(reply)));
  return place;
}

/** @param {App} app @returns {Child[]} */
export function devices(app) {
  const { store, session } = app;
  const is24 = Boolean(store.setting("twenty_four_hour_time"));
  const place = h("div");
  const revokeOthers = async () => {
    const words = "All other browsers, phones, programs and scripts that use your account have to log in again.";
    if ((await confirm("Log out everywhere else?", words, "Log out", { isDanger: true })) && (await session.attempt(api.revokeOtherKeys())))
      show();
  };
  const show = () =>
    fill(
      place,
      later(app, api.listKeys(), ({ sessions, current_session_id: current, api_keys: keys }) => [
        rows([
          ...sessions.map((/** @type {any} */ one) =>
            row(
              one.id === current ? `${one.client} (this browser)` : one.client,
              `Since ${fullTime(one.date_created, is24)}, last used ${fullTime(one.last_used, is24)} from ${one.address}`,
              one.id !== current && button("Log out", async () => (await session.attempt(api.endSession(one.id))) && show(), "small"),
            ),
          ),
          ...keys.map((/** @type {any} */ key) =>
            row(
              key.client,
              `Since ${fullTime(key.date_created, is24)}${key.last_used ? `, last used ${fullTime(key.last_used, is24)}` : ""}`,
              button("Log out", async () => (await session.attempt(api.revokeKey(key.id))) && show(), "small"),
            ),
          ),
        ]),
        h("div", null, button("Log out all other devices", revokeOthers, "danger", { disabled: sessions.length + keys.length < 2 })),
      ]),
    );
  show();
  return [h("p", { class: "muted" }, "Each browser, phone, program and script that uses your account is logged in by itself."), place];
}

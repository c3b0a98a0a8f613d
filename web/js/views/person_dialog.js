/**
 * The dialog in which administrators change an account or create one.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { distinct, effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { field, followChanges, form, live, saving, submitButton } from "./form_parts.js";
import { button } from "./parts.js";
import { showDialog } from "./popover.js";
import { profileField } from "./profile_field.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */

/** Edits a person: the name, for owners the email, the profile fields and the status. @param {App} app @param {User} user */
export function editPerson(app, user) {
  const { store, session } = app;
  const id = user.user_id;
  const current = () => store.users.get(id) ?? user;
  const name = h("input", { type: "text", required: true, maxlength: 100, value: user.full_name });
  const email = h("input", { type: "email", value: user.delivery_email ?? "" });
  const emailField = field(t("Email"), email, t("The person logs in with this address."));
  const statusText = () => store.statuses.get(id)?.status_text ?? "";
  const status = h("input", { type: "text", maxlength: 60, value: statusText() });
  const saveLine = submitButton(t("Save"));
  const statusLine = h("div", null, h("button", { type: "submit", class: "button" }, t("Set status")));
  const save = () => {
    const params = {
      ...(name.value.trim() !== current().full_name ? { full_name: name.value.trim() } : {}),
      ...(store.state.is_owner && email.value.trim() && email.value.trim() !== current().delivery_email
        ? { new_email: email.value.trim() }
        : {}),
    };
    return saving(session, api.updateUser(id, params));
  };
  showDialog(t("Edit {name}", { name: user.full_name }), () => {
    followChanges(
      () => store.on("users"),
      [
        [name, () => current().full_name],
        [email, () => current().delivery_email ?? ""],
      ],
    );
    followChanges(() => store.on("status"), [[status, statusText]]);
    const isFixed = distinct(() => (store.on("users"), !store.state.is_admin));
    effect(() => {
      name.disabled = status.disabled = saveLine.hidden = statusLine.hidden = isFixed.value;
    });
    effect(() => {
      store.on("users");
      emailField.hidden = !store.state.is_owner;
    });
    return [
      form(save, field(t("Name"), name), emailField, saveLine),
      form(() => saving(session, api.updateStatusOf(id, { status_text: status.value.trim() })), field(t("Status"), status), statusLine),
      live(() => {
        store.on("realm");
        const disabled = isFixed.value;
        return (store.state.custom_profile_fields ?? []).map((definition) => {
          const value = () => current().profile_data?.[definition.id]?.value ?? "";
          const change = (/** @type {unknown} */ next) =>
            void saving(session, api.updateUser(id, { profile_data: [{ id: definition.id, value: next === "" ? null : next }] }));
          return profileField(app, definition, value, change, { disabled });
        });
      }),
    ];
  });
}

/** Creates an account with a password, for a person without an invitation. @param {App} app */
export function createPerson({ store, session }) {
  const name = h("input", { type: "text", required: true, maxlength: 100, autocomplete: "off" });
  const email = h("input", { type: "email", required: true, autocomplete: "off" });
  const password = h("input", {
    type: "text",
    required: true,
    autocomplete: "off",
    minlength: store.state.password_min_length ?? 6,
    maxlength: store.state.password_max_length ?? 100,
  });
  showDialog(
    t("Create an account"),
    (close) => [
      form(
        async () => {
          const params = { full_name: name.value.trim(), email: email.value.trim(), password: password.value };
          if (!(await session.attempt(api.createUser(params)))) return;
          close();
          session.tell(t("{name} can log in now.", { name: params.full_name }));
        },
        field(t("Name"), name),
        field(t("Email"), email),
        field(
          t("Password"),
          password,
          t("Give them this password and ask them to change it. With an invitation, people choose their own."),
        ),
        h("div", { class: "dialog__buttons" }, button(t("Cancel"), close), submitButton(t("Create"))),
      ),
    ],
    { class: "dialog--small" },
  );
}

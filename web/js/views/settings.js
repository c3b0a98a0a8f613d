/**
 * One's own settings.
 * @module
 */

import * as api from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { asList, asObject, parseJson } from "../lib/parse.js";
import { askPermission, permission, playSound } from "../platform/notifications.js";
import { account, devices } from "./account.js";
import { showBots } from "./bots.js";
import { showPanes } from "./panes.js";
import { avatar, button, field, form, live, select, submitButton } from "./parts.js";
import { userPicker } from "./pickers.js";
import { NOTIFICATIONS, PREFERENCES, PRIVACY, pictureInput, settingControls } from "./setting_controls.js";
import { alertWords, mutedUsers, topics, uploadedFiles } from "./settings_lists.js";
import { showStatusDialog } from "./status.js";

/** @typedef {import("../../types/app.js").App} App */

/** Sections that older links name otherwise. @type {Record<string, string>} */
const OLDER = { "display-settings": "preferences", "your-account": "account-and-privacy" };

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showSettings(app, parts, onClose) {
  const { store, session } = app;
  const set = (/** @type {Record<string, any>} */ params) => session.attempt(api.updateSettings(params));
  /** @param {import("./setting_controls.js").Setting[]} settings */
  const controls = (settings) => live(() => (store.on("settings"), settingControls(settings, store.state.user_settings, set)));

  return showPanes(
    "Settings",
    "settings",
    [
      { key: "profile", title: "Profile", render: () => profile(app) },
      {
        key: "account-and-privacy",
        title: "Account and privacy",
        render: () => [...account(app), h("h3", null, "Privacy"), controls(PRIVACY)],
      },
      { key: "devices", title: "Keys and devices", render: () => devices(app) },
      { key: "preferences", title: "Preferences", render: () => [controls(PREFERENCES)] },
      {
        key: "notifications",
        title: "Notifications",
        render: () => [live(() => permissionLine(app)), controls(NOTIFICATIONS), h("p", null, button("Play the sound", playSound))],
      },
      { key: "your-bots", title: "Your bots", render: () => showBots(app) },
      { key: "alert-words", title: "Alert words", render: () => alertWords(app) },
      { key: "uploaded-files", title: "Uploaded files", render: () => uploadedFiles(app) },
      { key: "topics", title: "Topics", render: () => topics(app) },
      { key: "muted-users", title: "Muted people", render: () => mutedUsers(app) },
    ],
    [OLDER[parts[0]] ?? parts[0], ...parts.slice(1)],
    onClose,
  );
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function profile(app) {
  const { store, session } = app;
  const name = h("input", { type: "text", value: store.self.full_name, maxlength: 100, autocomplete: "name" });
  const picture = pictureInput(session, "/users/me/avatar");
  const buttons = live(() => {
    store.on("users");
    return h(
      "div",
      { class: "profile" },
      avatar(store.self, 80),
      button("Change picture", () => picture.click()),
      store.state.avatar_source === "U" && button("Remove picture", () => session.attempt(api.deleteAvatar())),
      button("Set status", () => showStatusDialog(app)),
    );
  });
  return [
    buttons,
    picture,
    form(
      () => session.attempt(api.updateSettings({ full_name: name.value.trim() }).then(() => session.tell("Saved."))),
      field("Name", name),
      submitButton("Save name"),
    ),
    live(() => {
      store.on("realm");
      return (store.state.custom_profile_fields ?? []).map((/** @type {any} */ definition) => profileField(app, definition));
    }),
  ];
}

/** @param {App} app @param {any} definition */
function profileField(app, definition) {
  const { store, session } = app;
  const { type, name, hint } = definition;
  const value = store.self.profile_data?.[definition.id]?.value ?? "";
  const save = (/** @type {unknown} */ next) =>
    void session.attempt(api.updateProfileData([{ id: definition.id, value: next }]).then(() => session.tell("Saved.")));
  const disabled = definition.editable_by_user === false;
  if (type === 6) {
    const people = userPicker(app, { label: name, chosen: asList(parseJson(value)), onChange: save });
    return h("div", { class: "field" }, h("span", { class: "field__label" }, name), people.element);
  }
  if (type === 3) {
    const choices = Object.entries(asObject(parseJson(definition.field_data))).sort(([, one], [, other]) => one.order - other.order);
    return field(
      name,
      select([["", "—"], ...choices.map(([key, { text }]) => /** @type {[string, string]} */ ([key, text]))], value, save, { disabled }),
      hint,
    );
  }
  const control =
    type === 2
      ? h("textarea", { rows: 3, maxlength: 500, value, disabled })
      : h("input", { type: type === 4 ? "date" : type === 5 ? "url" : "text", value, disabled });
  control.addEventListener("change", () => save(control.value));
  return field(name, control, hint);
}

/** Whether this browser shows notifications, and what can be done if not. @param {App} app */
function permissionLine({ session, store }) {
  store.on("settings");
  const state = permission();
  if (state === "granted") return h("p", null, "This browser shows notifications.");
  if (state === "unsupported")
    return h("p", { class: "problem" }, "This browser shows no notifications here: they need a secure connection (https).");
  if (state === "denied")
    return h("p", { class: "problem" }, "This browser blocks notifications of this page. Its settings of the page can change that.");
  const ask = async () => {
    const answer = await askPermission();
    session.tell(answer === "granted" ? "Notifications are on." : "This browser will show no notifications.");
    store.touch("settings");
  };
  return h("p", null, button("Turn on notifications in this browser", ask, "primary"));
}

/**
 * One's own settings.
 * @module
 */

import { updateSettings } from "../api/endpoints.js";
import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { distinct, effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { askPermission, permission } from "../platform/notifications.js";
import { playSound } from "../platform/sound.js";
import { mayChangeOwn } from "../selectors/roles.js";
import { failures } from "../store/notices.js";
import { account, closeAccount, devices } from "./account.js";
import { showBots } from "./bots.js";
import { field, followChanges, form, live, saving, submitButton } from "./form_parts.js";
import { showPanes } from "./panes.js";
import { avatar, button } from "./parts.js";
import { profileField } from "./profile_field.js";
import { pushSection } from "./push.js";
import {
  emailSettings,
  languageSetting,
  notificationSettings,
  pictureInput,
  preferences,
  privacySettings,
  pushSettings,
  settingControls,
} from "./setting_controls.js";
import { alertWords, mutedUsers, topics, uploadedFiles } from "./settings_lists.js";
import { showStatusDialog } from "./status.js";
import { timeZoneField } from "./time_zone.js";
import { viewSettings } from "./view_settings.js";

/** @typedef {import("../../types/app.js").App} App */

/** Sections that older links name otherwise. @type {Record<string, string>} */
const OLDER = { "display-settings": "preferences", "your-account": "account-and-privacy" };

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showSettings(app, parts, onClose) {
  const { store, session } = app;
  const set = (/** @type {Record<string, unknown>} */ params) => saving(session, updateSettings(params));
  /** @param {import("./setting_controls.js").Setting[]} settings */
  const controls = (settings) => live(() => (store.on("settings"), settingControls(settings, store.state.user_settings, set)));

  return showPanes(
    store,
    t("Settings"),
    "settings",
    [
      { key: "profile", title: t("Profile"), render: () => profile(app) },
      {
        key: "account-and-privacy",
        title: t("Account and privacy"),
        render: () => [...account(app), h("h3", null, t("Privacy")), controls(privacySettings()), ...closeAccount(app)],
      },
      { key: "devices", title: t("Keys and devices"), render: () => devices(app) },
      { key: "preferences", title: t("Preferences"), render: () => [controls(preferences())] },
      {
        key: "notifications",
        title: t("Notifications"),
        render: () => [
          live(() => permissionLine(app)),
          controls(notificationSettings()),
          h("p", null, button(t("Play the sound"), playSound)),
          h("h3", null, t("Push notifications")),
          pushSection(app),
          controls(pushSettings()),
          live(() => {
            store.on("realm", "settings");
            const values = store.state.user_settings;
            return settingControls(emailSettings(store.state, values), values, set);
          }),
        ],
      },
      { key: "views", title: t("Left column"), render: () => viewSettings(app) },
      { key: "your-bots", title: t("Your bots"), render: () => showBots(app) },
      { key: "alert-words", title: t("Alert words"), render: () => alertWords(app) },
      { key: "uploaded-files", title: t("Uploaded files"), render: () => uploadedFiles(app) },
      { key: "topics", title: t("Topics"), render: () => topics(app) },
      { key: "muted-users", title: t("Muted people"), render: () => mutedUsers(app) },
    ],
    [OLDER[parts[0]] ?? parts[0], ...parts.slice(1)],
    onClose,
  );
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function profile(app) {
  const { store, session } = app;
  const isAdmin = distinct(() => (store.on("users"), Boolean(store.state.is_admin)));
  const name = h("input", { type: "text", value: store.self.full_name, maxlength: 100, autocomplete: "name" });
  const saveLine = submitButton(t("Save name"));
  const fixed = h("p", { class: "field__hint" }, t("Only administrators can change names."));
  followChanges(() => store.on("users"), [[name, () => store.self.full_name]]);
  effect(() => {
    store.on("users", "realm");
    fixed.hidden = mayChangeOwn(store, "name");
    name.disabled = saveLine.hidden = !fixed.hidden;
  });
  const picture = pictureInput(session, "/users/me/avatar");
  const buttons = live(() => {
    store.on("users", "realm");
    const isFixed = !mayChangeOwn(store, "avatar");
    return h(
      "div",
      { class: "profile" },
      avatar(store.self, 80),
      !isFixed && button(t("Change picture"), () => picture.click()),
      !isFixed && store.state.avatar_source === "U" && button(t("Remove picture"), () => session.attempt(api.deleteAvatar())),
      button(t("Set status"), () => showStatusDialog(app)),
    );
  });
  return [
    buttons,
    picture,
    form(() => saving(session, updateSettings({ full_name: name.value.trim() })), field(t("Name"), name), fixed, saveLine),
    live(() => {
      store.on("settings");
      failures.value;
      return timeZoneField(store.state.user_settings?.timezone ?? "", (timezone) => session.attempt(updateSettings({ timezone })));
    }),
    live(() => {
      store.on("settings");
      return settingControls(languageSetting(), store.state.user_settings, (params) => session.attempt(updateSettings(params)));
    }),
    live(() => {
      store.on("realm");
      return (store.state.custom_profile_fields ?? []).map((definition) => ownField(app, definition, isAdmin.value));
    }),
  ];
}

/** @param {App} app @param {import("../../types/api.js").ProfileField} definition @param {boolean} isAdmin */
function ownField(app, definition, isAdmin) {
  const { store, session } = app;
  const current = () => store.self.profile_data?.[definition.id]?.value ?? "";
  const save = (/** @type {unknown} */ next) => void saving(session, api.updateProfileData([{ id: definition.id, value: next }]));
  return profileField(app, definition, current, save, { disabled: definition.editable_by_user === false && !isAdmin });
}

/** Whether this browser shows notifications, and what can be done if not. @param {App} app */
function permissionLine({ session, store }) {
  store.on("settings");
  const state = permission();
  if (state === "granted") return h("p", null, t("This browser shows notifications."));
  if (state === "unsupported")
    return h("p", { class: "problem" }, t("This browser shows notifications only over a secure connection (https)."));
  if (state === "denied")
    return h("p", { class: "problem" }, t("This browser blocks notifications of this page. You can allow them in its settings."));
  const ask = async () => {
    const answer = await askPermission();
    session.tell(answer === "granted" ? t("Notifications are on.") : t("This browser will show no notifications."));
    store.touch("settings");
  };
  return h("p", null, button(t("Turn on notifications in this browser"), ask, "primary"));
}

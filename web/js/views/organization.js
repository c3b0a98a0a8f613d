/**
 * Settings of the organization.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { membersOf } from "../store/lists.js";
import { auditLog } from "./audit_log.js";
import { dataExports } from "./exports.js";
import { checkbox, field, live, saving } from "./form_parts.js";
import { groupSelect } from "./group_select.js";
import { channelFolders, customEmoji, defaultChannels, linkifiers, playgrounds, profileFields } from "./organization_lists.js";
import { bots, people } from "./organization_people.js";
import { organizationProfile, welcomeMessage } from "./organization_profile.js";
import { allowedDomains, closing, noticeChannels, retentionField, videoCalls } from "./organization_rules.js";
import { FOR_OWNERS, organizationChoices, organizationPermissions, organizationSwitches } from "./organization_tables.js";
import { showPanes } from "./panes.js";
import { select } from "./parts.js";
import { emailSettings, languageSetting, notificationSettings, preferences, privacySettings, settingControls } from "./setting_controls.js";

/** @typedef {import("../../types/app.js").App} App */

/** Sections that older links name otherwise. @type {Record<string, string>} */
const OLDER = { "user-list-admin": "users" };

/** Settings of people without a default that the organization sets. @type {unknown[]} */
const WITHOUT_DEFAULT = ["allow_private_data_export", "enable_login_emails"];

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showOrganization(app, parts, onClose) {
  const { store, session } = app;
  const isAdmin = () => Boolean(store.state.is_admin);
  const set = (/** @type {Record<string, unknown>} */ params) => saving(session, api.updateRealm(params));
  const setDefaults = (/** @type {Record<string, unknown>} */ params) => session.attempt(api.updateDefaults(params));

  return showPanes(
    store,
    t("Organization"),
    "organization",
    [
      { key: "organization-profile", title: t("Name and icon"), render: () => organizationProfile(app, set) },
      {
        key: "organization-settings",
        title: t("Settings"),
        render: () => [
          live(() => (store.on("realm"), generalSettings(store.state, set, !isAdmin()))),
          videoCalls(app, set),
          noticeChannels(app, set),
          welcomeMessage(app, set),
          closing(app),
        ],
      },
      {
        key: "organization-permissions",
        title: t("Permissions"),
        render: () => [
          live(() => {
            store.on("realm", "groups");
            return organizationPermissions().map((permission) => {
              if (typeof permission === "string") return h("h3", null, permission);
              const [name, label] = permission;
              const value = membersOf(store.state)[`realm_${name}`];
              if (value === undefined) return null;
              const disabled = !(FOR_OWNERS.includes(name) ? store.state.is_owner : isAdmin());
              const change = (/** @type {unknown} */ next, /** @type {unknown} */ old) => void set({ [name]: { new: next, old } });
              return field(label, groupSelect(app, value, change, { disabled, setting: name, label }));
            });
          }),
        ],
      },
      { heading: t("People") },
      { key: "users", title: t("Accounts"), render: (rest) => people(app, rest[0] ?? "active") },
      { key: "allowed-domains", title: t("Email domains"), render: () => allowedDomains(app, set) },
      { key: "bot-list-admin", title: t("Bots"), render: () => bots(app) },
      { key: "profile-field-settings", title: t("Profile fields"), render: () => profileFields(app) },
      {
        key: "organization-level-user-defaults",
        title: t("Defaults for new people"),
        render: () => [
          h("p", { class: "muted" }, t("Settings for new people. People who have already joined keep their own settings.")),
          live(() => {
            store.on("realm");
            const values = store.state.realm_user_settings_defaults ?? {};
            const email = emailSettings(store.state, values);
            const all = [...preferences(), ...notificationSettings(), ...email, t("Privacy"), ...privacySettings()];
            const settings = all.filter(([name]) => !WITHOUT_DEFAULT.includes(name));
            return settingControls(settings, values, setDefaults, { disabled: !isAdmin() });
          }),
        ],
      },
      { key: "audit-log", title: t("Audit log"), render: () => auditLog(app), isOffered: () => store.state.is_owner === true },
      { key: "data-exports-admin", title: t("Data exports"), render: () => dataExports(app), isOffered: isAdmin },
      { heading: t("Channels and messages") },
      { key: "default-channels-list", title: t("Default channels"), render: () => defaultChannels(app) },
      { key: "channel-folders", title: t("Channel folders"), render: () => channelFolders(app) },
      { key: "emoji-settings", title: t("Emoji"), render: () => customEmoji(app) },
      { key: "linkifier-settings", title: t("Linkifiers"), render: () => linkifiers(app) },
      { key: "playground-settings", title: t("Code playgrounds"), render: () => playgrounds(app) },
    ],
    [OLDER[parts[0]] ?? parts[0], ...parts.slice(1)],
    onClose,
  );
}

/** @param {Record<string, any>} state @param {(params: Record<string, unknown>) => unknown} set @param {boolean} disabled */
function generalSettings(state, set, disabled) {
  const threshold = state.realm_waiting_period_threshold ?? 0;
  const days = h("input", { type: "number", min: 0, required: true, value: threshold, disabled: !state.is_owner });
  // An empty field is no period of 0 days.
  days.onchange = () => days.reportValidity() && void set({ waiting_period_threshold: Number(days.value) });
  const language = h("input", { type: "text", value: state.realm_default_code_block_language ?? "", placeholder: "python", disabled });
  language.onchange = () => void set({ default_code_block_language: language.value.trim() });
  const sendsMail = state.settings_send_digest_emails === true;
  const canJoinUninvited = sendsMail || Boolean(state.realm_authentication_methods?.["OpenID Connect"]);
  return [
    organizationSwitches(sendsMail).map((one) => {
      if (typeof one === "string") return h("h3", null, one);
      const [name, label] = one;
      const value = state[`realm_${name}`];
      // Without mail and single sign-on, people always need an invitation.
      if (value === undefined || (name === "invite_required" && !canJoinUninvited)) return null;
      const isFixed = disabled || (FOR_OWNERS.includes(name) && !state.is_owner);
      return checkbox(label, Boolean(value), (is) => void set({ [name]: is }), { disabled: isFixed });
    }),
    h("h3", null, t("Times and rules")),
    organizationChoices(sendsMail).map(([name, label, options, hint]) => {
      const change = (/** @type {string} */ value) => void set({ [name]: options.find(([key]) => String(key) === value)?.[0] });
      const value = state[`realm_${name}`] ?? "unlimited";
      // What was set over the interface may be no choice of this list.
      const known = options.some(([key]) => String(key) === String(value));
      const all = known
        ? options
        : [
            .../** @type {[string | number, string][]} */ ([
              [value, t({ one: "{count} second", other: "{count} seconds" }, { count: Number(value) })],
            ]),
            ...options,
          ];
      return field(label, select(all, value, change, { disabled }), hint);
    }),
    retentionField(state.realm_message_retention_days, (days) => void set({ message_retention_days: days }), { disabled: !state.is_owner }),
    field(t("Waiting period for new members"), days, t("In days. After this time, new members become full members.")),
    field(t("Default language of code blocks"), language, t("If empty, code blocks are plain text.")),
    settingControls(languageSetting(), { default_language: state.realm_default_language }, set, { disabled }),
  ];
}

/**
 * Settings of the organization.
 * @module
 */

import * as api from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { groupSelect } from "./group_select.js";
import { channelFolders, customEmoji, defaultChannels, linkifiers, playgrounds, profileFields } from "./organization_lists.js";
import { bots, people } from "./organization_people.js";
import { showPanes } from "./panes.js";
import { button, checkbox, field, form, live, ownPath, select, submitButton } from "./parts.js";
import { NOTIFICATIONS, PREFERENCES, PRIVACY, pictureInput, settingControls } from "./setting_controls.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {[string, string][]} */
const PERMISSIONS = [
  ["create_multiuse_invite_group", "Make invitation links"],
  ["can_invite_users_group", "Invite by email"],
  ["can_create_public_channel_group", "Create public channels"],
  ["can_create_private_channel_group", "Create private channels"],
  ["can_add_subscribers_group", "Add people to channels"],
  ["can_add_custom_emoji_group", "Add emoji"],
  ["can_create_bots_group", "Make bots"],
  ["can_create_groups", "Create groups"],
  ["can_manage_all_groups", "Manage all groups"],
  ["can_mention_many_users_group", "Mention everybody in large channels"],
  ["can_move_messages_between_topics_group", "Move messages to other topics"],
  ["can_move_messages_between_channels_group", "Move messages to other channels"],
  ["can_resolve_topics_group", "Resolve topics"],
  ["can_delete_own_message_group", "Delete their own messages"],
  ["can_delete_any_message_group", "Delete messages of others"],
  ["can_access_all_users_group", "See all people"],
  ["direct_message_permission_group", "Be part of direct messages"],
  ["direct_message_initiator_group", "Begin direct messages"],
];

/** @type {[string, string][]} */
const SWITCHES = [
  ["invite_required", "Only people with an invitation can join"],
  ["allow_message_editing", "Messages can be edited"],
  ["enable_read_receipts", "Show who has read a message"],
  ["inline_image_preview", "Show pictures in messages"],
  ["enable_guest_user_indicator", "Mark guests"],
  ["name_changes_disabled", "People cannot change their names"],
  ["avatar_changes_disabled", "People cannot change their pictures"],
  ["email_changes_disabled", "People cannot change their email addresses"],
];

/** @type {[string, string, [string | number, string][], string?][]} */
const CHOICES = [
  [
    "message_content_edit_limit_seconds",
    "Messages can be edited for",
    [
      [60, "A minute"],
      [600, "10 minutes"],
      [3600, "An hour"],
      [86_400, "A day"],
      [604_800, "A week"],
      ["unlimited", "Always"],
    ],
  ],
  [
    "topics_policy",
    "Topics",
    [
      ["allow_empty_topic", "Messages without topic are allowed"],
      ["disable_empty_topic", "A topic is required"],
    ],
    "Channels may decide otherwise.",
  ],
  [
    "message_edit_history_visibility_policy",
    "History of edits",
    [
      ["all", "Edits and moves"],
      ["moves", "Moves only"],
      ["none", "Nothing"],
    ],
  ],
];

/** Sections that older links name otherwise. @type {Record<string, string>} */
const OLDER = { "user-list-admin": "users" };

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showOrganization(app, parts, onClose) {
  const { store, session } = app;
  const isAdmin = () => Boolean(store.state.is_admin);
  const set = (/** @type {Record<string, any>} */ params) => session.attempt(api.updateRealm(params).then(() => session.tell("Saved.")));
  const setDefaults = (/** @type {Record<string, any>} */ params) => session.attempt(api.updateDefaults(params));

  return showPanes(
    "Organization",
    "organization",
    [
      { key: "organization-profile", title: "Name and icon", render: () => nameAndIcon(app, set) },
      {
        key: "organization-settings",
        title: "Settings",
        render: () => [live(() => (store.on("realm"), generalSettings(store.state, set, !isAdmin())))],
      },
      {
        key: "organization-permissions",
        title: "Permissions",
        render: () => [
          live(() => {
            store.on("realm");
            store.on("groups");
            const disabled = !isAdmin();
            return PERMISSIONS.filter(([name]) => store.state[`realm_${name}`] !== undefined).map(([name, label]) => {
              const change = (/** @type {number} */ next, /** @type {any} */ old) => void set({ [name]: { new: next, old } });
              return field(label, groupSelect(app, store.state[`realm_${name}`], change, { disabled, setting: name }));
            });
          }),
        ],
      },
      { heading: "People" },
      { key: "users", title: "Accounts", render: (rest) => people(app, rest[0] ?? "active") },
      { key: "bot-list-admin", title: "Bots", render: () => bots(app) },
      { key: "profile-field-settings", title: "Profile fields", render: () => profileFields(app) },
      {
        key: "organization-level-user-defaults",
        title: "Defaults for new people",
        render: () => [
          h("p", { class: "muted" }, "What people begin with. Those who are here already keep their own settings."),
          live(() => {
            store.on("realm");
            const values = store.state.realm_user_settings_defaults ?? {};
            return settingControls([...PREFERENCES, ...NOTIFICATIONS, "Privacy", ...PRIVACY], values, setDefaults, {
              disabled: !isAdmin(),
            });
          }),
        ],
      },
      { heading: "Channels and messages" },
      { key: "default-channels-list", title: "Default channels", render: () => defaultChannels(app) },
      { key: "channel-folders", title: "Channel folders", render: () => channelFolders(app) },
      { key: "emoji-settings", title: "Emoji", render: () => customEmoji(app) },
      { key: "linkifier-settings", title: "Linkifiers", render: () => linkifiers(app) },
      { key: "playground-settings", title: "Code playgrounds", render: () => playgrounds(app) },
    ],
    [OLDER[parts[0]] ?? parts[0], ...parts.slice(1)],
    onClose,
  );
}

/** @param {App} app @param {(params: Record<string, any>) => unknown} set @returns {import("../lib/dom.js").Child[]} */
function nameAndIcon({ store, session }, set) {
  const disabled = !store.state.is_admin;
  const name = h("input", { type: "text", value: store.state.realm_name, maxlength: 40, disabled });
  const description = h("textarea", { rows: 4, value: store.state.realm_description ?? "", maxlength: 1000, disabled });
  const picture = pictureInput(session, "/realm/icon");
  return [
    live(() => {
      store.on("realm");
      return h(
        "div",
        { class: "profile" },
        h("img", { class: "avatar", src: ownPath(store.state.realm_icon_url), alt: "Icon", width: 72, height: 72 }),
        !disabled && button("Change icon", () => picture.click()),
      );
    }),
    picture,
    form(
      () => set({ name: name.value.trim(), description: description.value }),
      field("Name", name),
      field("Description", description, "Shown on the page for people who log in. Markdown."),
      !disabled && submitButton("Save"),
    ),
  ];
}

/** @param {Record<string, any>} state @param {(params: Record<string, any>) => unknown} set @param {boolean} disabled */
function generalSettings(state, set, disabled) {
  const days = h("input", { type: "number", min: 0, value: state.realm_waiting_period_threshold ?? 0, disabled });
  days.onchange = () => void set({ waiting_period_threshold: Number(days.value) });
  return [
    SWITCHES.filter(([name]) => state[`realm_${name}`] !== undefined).map(([name, label]) =>
      checkbox(label, Boolean(state[`realm_${name}`]), (is) => void set({ [name]: is }), { disabled }),
    ),
    CHOICES.map(([name, label, options, hint]) => {
      const change = (/** @type {string} */ value) => void set({ [name]: options.find(([key]) => String(key) === value)?.[0] });
      return field(label, select(options, state[`realm_${name}`] ?? "unlimited", change, { disabled }), hint);
    }),
    field("Members are new for", days, "Days. Full members are those who are not new."),
  ];
}

/**
 * Settings of the organization.
 * @module
 */

import * as api from "../api/endpoints.js";
import { upload } from "../api/upload.js";
import { debounce, fill, h, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { groupSelect } from "./group_select.js";
import { showPanes } from "./panes.js";
import { avatar, checkbox, emojiElement, field, ownPath, select } from "./parts.js";
import { ask, confirm } from "./popover.js";
import { ROLES } from "./user_card.js";

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

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showOrganization(app, parts, onClose) {
  const { store, session } = app;
  const isAdmin = () => Boolean(store.state.is_admin);
  const set = (/** @type {Record<string, any>} */ params) => session.attempt(api.updateRealm(params).then(() => session.tell("Saved.")));
  const OLDER = /** @type {Record<string, string>} */ ({ "user-list-admin": "users" });

  return showPanes(
    "Organization",
    "organization",
    [
      {
        key: "organization-profile",
        title: "Name and icon",
        render: () => {
          store.on("realm");
          const name = h("input", { type: "text", value: store.state.realm_name, maxlength: 40, disabled: !isAdmin() });
          const description = h("textarea", { rows: 4, value: store.state.realm_description ?? "", maxlength: 1000, disabled: !isAdmin() });
          const picture = h("input", {
            type: "file",
            accept: "image/*",
            hidden: true,
            onchange: () => {
              const file = picture.files?.[0];
              if (file) void session.attempt(upload(file, undefined, { path: "/realm/icon" }).done);
            },
          });
          return [
            h(
              "div",
              { class: "profile" },
              h("img", { class: "avatar", src: ownPath(store.state.realm_icon_url), alt: "Icon", width: 72, height: 72 }),
              isAdmin() && h("button", { type: "button", class: "button", onclick: () => picture.click() }, "Change icon"),
              picture,
            ),
            h(
              "form",
              {
                class: "form",
                onsubmit: (/** @type {Event} */ event) => {
                  event.preventDefault();
                  void set({ name: name.value.trim(), description: description.value });
                },
              },
              field("Name", name),
              field("Description", description, "Shown on the page for people who log in. Markdown."),
              isAdmin() && h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Save")),
            ),
          ];
        },
      },
      {
        key: "organization-settings",
        title: "Settings",
        render: () => (
          store.on("realm"),
          [
            ...SWITCHES.filter(([name]) => store.state[`realm_${name}`] !== undefined).map(([name, label]) =>
              checkbox(label, Boolean(store.state[`realm_${name}`]), (is) => void set({ [name]: is }), { disabled: !isAdmin() }),
            ),
            field(
              "Messages can be edited for",
              select(
                [
                  [60, "A minute"],
                  [600, "10 minutes"],
                  [3600, "An hour"],
                  [86_400, "A day"],
                  [604_800, "A week"],
                  ["unlimited", "Always"],
                ],
                store.state.realm_message_content_edit_limit_seconds ?? "unlimited",
                (value) => void set({ message_content_edit_limit_seconds: value === "unlimited" ? "unlimited" : Number(value) }),
                { disabled: !isAdmin() },
              ),
            ),
            field(
              "Topics",
              select(
                [
                  ["allow_empty_topic", "Messages without topic are allowed"],
                  ["disable_empty_topic", "A topic is required"],
                ],
                store.state.realm_topics_policy,
                (value) => void set({ topics_policy: value }),
                { disabled: !isAdmin() },
              ),
              "Channels may decide otherwise.",
            ),
            field(
              "History of edits",
              select(
                [
                  ["all", "Edits and moves"],
                  ["moves", "Moves only"],
                  ["none", "Nothing"],
                ],
                store.state.realm_message_edit_history_visibility_policy,
                (value) => void set({ message_edit_history_visibility_policy: value }),
                { disabled: !isAdmin() },
              ),
            ),
            field(
              "Members are new for",
              h("input", {
                type: "number",
                min: 0,
                value: store.state.realm_waiting_period_threshold ?? 0,
                disabled: !isAdmin(),
                onchange: (/** @type {Event} */ event) =>
                  void set({ waiting_period_threshold: Number(/** @type {HTMLInputElement} */ (event.target).value) }),
              }),
              "Days. Full members are those who are not new.",
            ),
          ]
        ),
      },
      {
        key: "organization-permissions",
        title: "Permissions",
        render: () => (
          store.on("realm"),
          store.on("groups"),
          PERMISSIONS.filter(([name]) => store.state[`realm_${name}`] !== undefined).map(([name, label]) =>
            field(
              label,
              groupSelect(app, store.state[`realm_${name}`], (next, old) => void set({ [name]: { new: next, old } }), {
                disabled: !isAdmin(),
                setting: name,
              }),
            ),
          )
        ),
      },
      { heading: "People" },
      { key: "users", title: "Accounts", render: (rest) => people(app, rest[0] ?? "active") },
      {
        key: "bot-list-admin",
        title: "Bots",
        render: () => (
          store.on("users"),
          [
            h(
              "ul",
              { class: "rows" },
              [...store.users.values()]
                .filter((user) => user.is_bot && !user.is_system_bot)
                .map((user) =>
                  h(
                    "li",
                    { class: "row" },
                    avatar(user, 28),
                    h(
                      "div",
                      { class: "row__main" },
                      h("strong", null, user.full_name),
                      h(
                        "span",
                        { class: "muted" },
                        `${user.email} · ${user.bot_owner_id ? `of ${store.users.get(user.bot_owner_id)?.full_name ?? "?"}` : "no owner"}${user.is_active === false ? " · deactivated" : ""}`,
                      ),
                    ),
                    isAdmin() &&
                      user.is_active !== false &&
                      h(
                        "button",
                        { type: "button", class: "button button--small", onclick: () => void session.attempt(api.deleteBot(user.user_id)) },
                        "Deactivate",
                      ),
                  ),
                ),
            ),
          ]
        ),
      },
      { key: "profile-field-settings", title: "Profile fields", render: () => profileFields(app) },
      { heading: "Messages" },
      { key: "emoji-settings", title: "Emoji", render: () => customEmoji(app) },
      { key: "linkifier-settings", title: "Linkifiers", render: () => linkifiers(app) },
      {
        key: "channel-folders",
        title: "Channel folders",
        render: () => (
          store.on("channels"),
          [
            h(
              "ul",
              { class: "rows" },
              (store.state.channel_folders ?? []).map((/** @type {any} */ folder) =>
                h(
                  "li",
                  { class: "row" },
                  h("div", { class: "row__main" }, h("strong", null, folder.name), h("span", { class: "muted" }, folder.description)),
                ),
              ),
            ),
            isAdmin() &&
              h(
                "div",
                null,
                h(
                  "button",
                  {
                    type: "button",
                    class: "button button--primary",
                    onclick: async () => {
                      const name = await ask("New folder", "", { label: "Name", action: "Create" });
                      if (name) await session.attempt(api.createFolder({ name, description: "" }));
                    },
                  },
                  "New folder",
                ),
              ),
          ]
        ),
      },
    ],
    [OLDER[parts[0]] ?? parts[0], ...parts.slice(1)],
    onClose,
  );
}

/** @param {App} app @param {string} tab @returns {import("../lib/dom.js").Child[]} */
function people(app, tab) {
  const { store, session } = app;
  const isAdmin = Boolean(store.state.is_admin);
  const input = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter accounts" });
  const list = h("ul", { class: "rows" });
  const render = () => {
    const wanted = input.value.toLowerCase();
    const users = [...store.users.values()]
      .filter(
        (user) =>
          !user.is_bot &&
          (user.is_active !== false) === (tab !== "deactivated") &&
          `${user.full_name} ${user.delivery_email ?? ""}`.toLowerCase().includes(wanted),
      )
      .sort((a, b) => a.role - b.role || a.full_name.localeCompare(b.full_name));
    fill(
      list,
      users.slice(0, 500).map((user) =>
        h(
          "li",
          { class: "row" },
          avatar(user, 28),
          h("div", { class: "row__main" }, h("strong", null, user.full_name), h("span", { class: "muted" }, user.delivery_email ?? "")),
          tab === "deactivated"
            ? isAdmin &&
                h(
                  "button",
                  { type: "button", class: "button button--small", onclick: () => void session.attempt(api.reactivateUser(user.user_id)) },
                  "Reactivate",
                )
            : [
                select(
                  Object.entries(ROLES),
                  user.role,
                  (role) => void session.attempt(api.updateUser(user.user_id, { role: Number(role) })),
                  { disabled: !isAdmin, label: `Role of ${user.full_name}` },
                ),
                isAdmin &&
                  iconButton("edit", `Rename ${user.full_name}`, {
                    onclick: async () => {
                      const name = await ask("Name", user.full_name);
                      if (name) await session.attempt(api.updateUser(user.user_id, { full_name: name }));
                    },
                  }),
                isAdmin &&
                  user.user_id !== store.selfId &&
                  iconButton("logout", `Deactivate ${user.full_name}`, {
                    onclick: async () => {
                      if (
                        await confirm(
                          `Deactivate ${user.full_name}?`,
                          "They are logged out everywhere and cannot come back. Their messages stay.",
                          "Deactivate",
                          { isDanger: true },
                        )
                      )
                        await session.attempt(api.deactivateUser(user.user_id));
                    },
                  }),
              ],
        ),
      ),
    );
  };
  input.oninput = debounce(render, 80);
  effect(() => {
    store.on("users");
    render();
  });
  return [
    h(
      "div",
      { class: "page__tools" },
      h(
        "a",
        { class: "button button--small", href: "#organization/users/active", "aria-current": tab !== "deactivated" ? "page" : null },
        "Active",
      ),
      h(
        "a",
        { class: "button button--small", href: "#organization/users/deactivated", "aria-current": tab === "deactivated" ? "page" : null },
        "Deactivated",
      ),
      app.mayInvite() && h("a", { class: "button button--small", href: "#invite" }, "Invite people"),
      input,
    ),
    list,
  ];
}

/** @type {[number, string][]} */
const FIELD_TYPES = [
  [1, "Short text"],
  [2, "Long text"],
  [4, "Date"],
  [5, "Link"],
  [6, "People"],
  [8, "Pronouns"],
];

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function profileFields({ store, session }) {
  store.on("realm");
  const isAdmin = Boolean(store.state.is_admin);
  const name = h("input", { type: "text", required: true, maxlength: 40, dataset: { focus: "field-name" } });
  const hint = h("input", { type: "text", maxlength: 80 });
  const type = select(FIELD_TYPES, 1);
  return [
    h(
      "ul",
      { class: "rows" },
      (store.state.custom_profile_fields ?? []).map((/** @type {any} */ definition) =>
        h(
          "li",
          { class: "row" },
          h(
            "div",
            { class: "row__main" },
            h("strong", null, definition.name),
            h("span", { class: "muted" }, `${FIELD_TYPES.find(([key]) => key === definition.type)?.[1] ?? "Other"} ${definition.hint}`),
          ),
          isAdmin &&
            iconButton("trash", `Delete ${definition.name}`, {
              onclick: async () => {
                if (
                  await confirm(`Delete the field ${definition.name}?`, "What people have written there is deleted, too.", "Delete", {
                    isDanger: true,
                  })
                )
                  await session.attempt(api.deleteProfileField(definition.id));
              },
            }),
        ),
      ),
    ),
    isAdmin &&
      h(
        "form",
        {
          class: "form",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void session.attempt(api.createProfileField({ name: name.value.trim(), hint: hint.value, field_type: Number(type.value) }));
          },
        },
        h("h3", null, "New field"),
        field("Name", name),
        field("Hint", hint),
        field("Kind", type),
        h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Add")),
      ),
  ];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function customEmoji(app) {
  const { store, session } = app;
  store.on("emoji");
  const name = h("input", { type: "text", required: true, pattern: "[a-z0-9_\\-]+", "aria-label": "Name", placeholder: "name" });
  const file = h("input", { type: "file", accept: "image/*", required: true, "aria-label": "Picture" });
  const own = Object.values(store.state.realm_emoji ?? {}).filter((/** @type {any} */ emoji) => !emoji.deactivated);
  return [
    h(
      "form",
      {
        class: "inline",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          const picture = file.files?.[0];
          if (picture) void session.attempt(upload(picture, undefined, { path: `/realm/emoji/${encodeURIComponent(name.value)}` }).done);
        },
      },
      h("div", { class: "grow" }, name),
      file,
      h("button", { type: "submit", class: "button button--primary" }, "Add"),
    ),
    own.length === 0
      ? h("p", { class: "muted" }, "There are no emoji of your own yet.")
      : h(
          "ul",
          { class: "rows" },
          own.map((/** @type {any} */ emoji) =>
            h(
              "li",
              { class: "row" },
              emojiElement(store, { emoji_name: emoji.name, emoji_code: String(emoji.id), reaction_type: "realm_emoji" }),
              h("span", { class: "row__main" }, `:${emoji.name}:`),
              (store.state.is_admin || emoji.author_id === store.selfId) &&
                iconButton("trash", `Delete ${emoji.name}`, { onclick: () => void session.attempt(api.deleteEmoji(emoji.name)) }),
            ),
          ),
        ),
  ];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function linkifiers({ store, session }) {
  store.on("realm");
  const pattern = h("input", { type: "text", required: true, placeholder: "#(?P<id>[0-9]+)", dataset: { focus: "pattern" } });
  const template = h("input", { type: "text", required: true, placeholder: "https://example.com/issues/{id}" });
  const isAdmin = Boolean(store.state.is_admin);
  return [
    h("p", { class: "muted" }, "Texts that fit a pattern become links, in new messages."),
    h(
      "ul",
      { class: "rows" },
      (store.state.realm_linkifiers ?? []).map((/** @type {any} */ linkifier) =>
        h(
          "li",
          { class: "row" },
          h("div", { class: "row__main" }, h("code", null, linkifier.pattern), h("span", { class: "muted" }, linkifier.url_template)),
          isAdmin &&
            iconButton("trash", `Delete ${linkifier.pattern}`, { onclick: () => void session.attempt(api.deleteLinkifier(linkifier.id)) }),
        ),
      ),
    ),
    isAdmin &&
      h(
        "form",
        {
          class: "form",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void session.attempt(api.createLinkifier({ pattern: pattern.value, url_template: template.value }));
          },
        },
        field("Pattern", pattern),
        field("Address", template),
        h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Add")),
      ),
  ];
}

/**
 * One's own settings.
 * @module
 */

import * as api from "../api/endpoints.js";
import { upload } from "../api/upload.js";
import { h, iconButton } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { askPermission, permission, playSound } from "../platform/notifications.js";
import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { showBots } from "./bots.js";
import { showPanes } from "./panes.js";
import { avatar, checkbox, field, select } from "./parts.js";
import { confirm } from "./popover.js";
import { showStatusDialog } from "./status.js";

/** @typedef {import("../../types/app.js").App} App */

/** Sections that older links name otherwise. @type {Record<string, string>} */
const OLDER = { "display-settings": "preferences", "your-account": "account-and-privacy" };

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showSettings(app, parts, onClose) {
  const { store, session } = app;
  const set = (/** @type {Record<string, any>} */ params) => session.attempt(api.updateSettings(params));
  const on = (/** @type {string} */ name) => Boolean(store.setting(name));
  /** @param {string} name @param {string} label */
  const toggle = (name, label) => checkbox(label, on(name), (value) => void set({ [name]: value }));
  /** @param {string} name @param {string} label @param {[string | number, string][]} options */
  const choice = (name, label, options) =>
    field(
      label,
      select(options, store.setting(name), (value) => void set({ [name]: typeof options[0][0] === "number" ? Number(value) : value })),
    );

  return showPanes(
    "Settings",
    "settings",
    [
      { key: "profile", title: "Profile", render: () => profile(app) },
      {
        key: "account-and-privacy",
        title: "Account and privacy",
        render: () => [
          ...account(app),
          h("h3", null, "Privacy"),
          choice("email_address_visibility", "Who can see your email address", [
            [1, "Everybody"],
            [2, "Members"],
            [5, "Moderators"],
            [3, "Administrators"],
            [4, "Nobody"],
          ]),
          toggle("send_private_typing_notifications", "Tell others when you type direct messages"),
          toggle("send_stream_typing_notifications", "Tell others when you type in channels"),
          toggle("send_read_receipts", "Tell others what you have read"),
          toggle("presence_enabled", "Show when you are active"),
        ],
      },
      { key: "devices", title: "Keys and devices", render: () => devices(app) },
      {
        key: "preferences",
        title: "Preferences",
        render: () => (
          store.on("settings"),
          [
            choice("color_scheme", "Theme", [
              [1, "As the system"],
              [2, "Dark"],
              [3, "Light"],
            ]),
            choice("twenty_four_hour_time", "Times", [
              ["false", "2:30 PM"],
              ["true", "14:30"],
            ]),
            choice("web_font_size_px", "Size of text", [
              [14, "Small"],
              [16, "Normal"],
              [18, "Large"],
              [20, "Larger"],
            ]),
            choice("web_home_view", "Home view", [
              ["inbox", "Inbox"],
              ["recent_topics", "Recent conversations"],
              ["all_messages", "Combined feed"],
            ]),
            choice("web_channel_default_view", "A click on a channel opens", [
              [1, "Its latest topic"],
              [2, "All its messages"],
              [4, "Its latest unread topic"],
            ]),
            choice("web_mark_read_on_scroll_policy", "Reading marks messages as read", [
              [1, "Always"],
              [2, "Only in conversations"],
              [3, "Never"],
            ]),
            choice("user_list_style", "People at the right", [
              [1, "Names"],
              [2, "Names and statuses"],
              [3, "Pictures, names and statuses"],
            ]),
            choice("web_stream_unreads_count_display_policy", "Counts beside channels", [
              [1, "All"],
              [2, "Unmuted channels and topics"],
              [3, "None"],
            ]),
            choice("demote_inactive_streams", "Inactive channels below the others", [
              [1, "Automatic"],
              [2, "Always"],
              [3, "Never"],
            ]),
            toggle("enter_sends", "Enter sends"),
            toggle("web_escape_navigates_to_home_view", "Escape leads to the home view"),
            toggle("web_navigate_to_sent_message", "Go to the conversation that you wrote to"),
            toggle("display_emoji_reaction_users", "Show names beside few reactions"),
            toggle("translate_emoticons", "Turn :) into emoji"),
            toggle("starred_message_counts", "Count starred messages"),
            toggle("fluid_layout_width", "Use the whole width"),
            toggle("enable_drafts_synchronization", "Keep drafts on the server, too"),
            choice("automatically_follow_topics_policy", "Follow topics", [
              [1, "You participate in"],
              [2, "You write in"],
              [3, "You begin"],
              [4, "Never by itself"],
            ]),
            choice("automatically_unmute_topics_in_muted_streams_policy", "Unmute topics of muted channels", [
              [1, "You participate in"],
              [2, "You write in"],
              [3, "You begin"],
              [4, "Never by itself"],
            ]),
          ]
        ),
      },
      {
        key: "notifications",
        title: "Notifications",
        render: () => (
          store.on("settings"),
          [
            ...permissionLines(app),
            h("h3", null, "Direct messages, mentions and alert words"),
            toggle("enable_desktop_notifications", "Show notifications"),
            toggle("enable_sounds", "Play a sound"),
            toggle("pm_content_in_desktop_notifications", "Show the text of direct messages"),
            toggle("wildcard_mentions_notify", "Count mentions of everybody"),
            h("h3", null, "Topics that you follow"),
            toggle("enable_followed_topic_desktop_notifications", "Show notifications"),
            toggle("enable_followed_topic_audible_notifications", "Play a sound"),
            toggle("enable_followed_topic_wildcard_mentions_notify", "Count mentions of everybody"),
            h("h3", null, "Everything in channels"),
            toggle("enable_stream_desktop_notifications", "Show notifications"),
            toggle("enable_stream_audible_notifications", "Play a sound"),
            choice("notification_sound", "Sound", [
              ["zulip", "On"],
              ["none", "Off"],
            ]),
            h("p", null, h("button", { type: "button", class: "button", onclick: playSound }, "Play it")),
            choice("desktop_icon_count_display", "The count in the title has", [
              [1, "All unread messages"],
              [2, "Direct messages, mentions, followed topics"],
              [3, "Direct messages and mentions"],
              [4, "Nothing"],
            ]),
          ]
        ),
      },
      { key: "your-bots", title: "Your bots", render: () => showBots(app) },
      { key: "alert-words", title: "Alert words", render: () => alertWords(app) },
      { key: "uploaded-files", title: "Uploaded files", render: () => files(app) },
      { key: "topics", title: "Topics", render: () => topics(app) },
      {
        key: "muted-users",
        title: "Muted people",
        render: () => (
          store.on("users"),
          [
            store.mutedUsers.size === 0
              ? h("p", { class: "muted" }, "You have muted nobody.")
              : h(
                  "ul",
                  { class: "rows" },
                  [...store.mutedUsers].map((id) =>
                    h(
                      "li",
                      { class: "row" },
                      h("span", { class: "row__main" }, userOf(store, id).full_name),
                      h(
                        "button",
                        { type: "button", class: "button button--small", onclick: () => void session.attempt(api.muteUser(id, false)) },
                        "Unmute",
                      ),
                    ),
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

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function profile(app) {
  const { store, session } = app;
  store.on("users");
  const name = h("input", { type: "text", value: store.self.full_name, maxlength: 100, autocomplete: "name" });
  const picture = h("input", {
    type: "file",
    accept: "image/*",
    hidden: true,
    onchange: () => {
      const file = picture.files?.[0];
      if (file) void session.attempt(upload(file, undefined, { path: "/users/me/avatar" }).done);
    },
  });
  return [
    h(
      "div",
      { class: "profile" },
      avatar(store.self, 80),
      h("button", { type: "button", class: "button", onclick: () => picture.click() }, "Change picture"),
      picture,
      store.state.avatar_source === "U" &&
        h("button", { type: "button", class: "button", onclick: () => void session.attempt(api.deleteAvatar()) }, "Remove picture"),
      h("button", { type: "button", class: "button", onclick: () => showStatusDialog(app) }, "Set status"),
    ),
    h(
      "form",
      {
        class: "form",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void session.attempt(api.updateSettings({ full_name: name.value.trim() }).then(() => session.tell("Saved.")));
        },
      },
      field("Name", name),
      h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Save name")),
    ),
    ...(store.state.custom_profile_fields ?? []).map((/** @type {any} */ definition) => profileField(app, definition)),
  ];
}

/** @param {App} app @param {any} definition */
function profileField({ store, session }, definition) {
  const value = store.self.profile_data?.[definition.id]?.value ?? "";
  const save = (/** @type {string} */ text) =>
    void session.attempt(
      api.updateProfileData([{ id: definition.id, value: definition.type === 6 ? text.split(",").map(Number).filter(Boolean) : text }]),
    );
  const disabled = definition.editable_by_user === false;
  if (definition.type === 3) {
    const options = Object.entries(JSON.parse(definition.field_data)).map(
      ([key, option]) => /** @type {[string, string]} */ ([key, /** @type {any} */ (option).text]),
    );
    return field(definition.name, select([["", "—"], ...options], value, save, { disabled }), definition.hint);
  }
  const control =
    definition.type === 2
      ? h("textarea", { rows: 3, maxlength: 500, value, disabled })
      : h("input", { type: definition.type === 4 ? "date" : definition.type === 5 ? "url" : "text", value, disabled });
  control.addEventListener("change", () => save(control.value));
  return field(definition.name, control, definition.hint);
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function account({ store, session }) {
  store.on("users");
  const email = h("input", { type: "email", value: store.self.delivery_email ?? store.state.delivery_email ?? "", autocomplete: "email" });
  const old = h("input", { type: "password", autocomplete: "current-password", required: true });
  const next = h("input", {
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: store.state.password_min_length ?? 6,
    maxlength: store.state.password_max_length ?? 100,
  });
  return [
    h(
      "form",
      {
        class: "form",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void session.attempt(api.updateSettings({ email: email.value.trim() }).then(() => session.tell("Saved.")));
        },
      },
      field("Email", email),
      h("div", null, h("button", { type: "submit", class: "button" }, "Change email")),
    ),
    h("h3", null, "Password"),
    h(
      "form",
      {
        class: "form",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void session.attempt(
            api.updateSettings({ old_password: old.value, new_password: next.value }).then(() => {
              old.value = next.value = "";
              session.tell("Your password has been changed.");
            }),
          );
        },
      },
      h("input", { type: "text", autocomplete: "username", value: store.state.delivery_email ?? "", hidden: true }),
      field("Current password", old),
      field("New password", next),
      h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Change password")),
    ),
  ];
}

/** Fills an element once a request is answered. @param {App} app @param {Promise<any>} request @param {(reply: any) => import("../lib/dom.js").Child[]} render */
function later({ session }, request, render) {
  const place = h("div", { class: "form" }, h("p", { class: "muted" }, "Loading…"));
  void session.attempt(request).then((reply) => {
    if (reply) place.replaceChildren(...[render(reply)].flat(3).filter((node) => node instanceof Node));
  });
  return place;
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function devices(app) {
  const { store, session } = app;
  const is24 = Boolean(store.setting("twenty_four_hour_time"));
  const place = h("div");
  const show = () =>
    place.replaceChildren(
      later(app, api.listKeys(), ({ api_keys: keys, current_api_key_id: current }) => [
        h(
          "ul",
          { class: "rows" },
          keys.map((/** @type {any} */ key) =>
            h(
              "li",
              { class: "row" },
              h(
                "div",
                { class: "row__main" },
                h("strong", null, key.id === current ? `${key.client} (this browser)` : key.client),
                h("span", { class: "muted" }, `Since ${fullTime(key.date_created, is24)}`),
              ),
              key.id !== current &&
                h(
                  "button",
                  {
                    type: "button",
                    class: "button button--small",
                    onclick: async () => (await session.attempt(api.revokeKey(key.id))) && show(),
                  },
                  "Log out",
                ),
            ),
          ),
        ),
        h(
          "div",
          null,
          h(
            "button",
            {
              type: "button",
              class: "button button--danger",
              disabled: keys.length < 2,
              onclick: async () => {
                if (
                  await confirm(
                    "Log out everywhere else?",
                    "All other browsers, phones, programs and scripts that use your account have to log in again.",
                    "Log out",
                    { isDanger: true },
                  )
                ) {
                  if (await session.attempt(api.revokeOtherKeys())) show();
                }
              },
            },
            "Log out all other devices",
          ),
        ),
      ]),
    );
  show();
  return [h("p", { class: "muted" }, "Each browser, phone, program and script that uses your account has a key of its own."), place];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function permissionLines({ session, store }) {
  const state = permission();
  if (state === "granted") return [h("p", null, "This browser shows notifications.")];
  if (state === "unsupported")
    return [h("p", { class: "problem" }, "This browser shows no notifications here: they need a secure connection (https).")];
  if (state === "denied")
    return [h("p", { class: "problem" }, "This browser blocks notifications of this page. Its settings of the page can change that.")];
  return [
    h(
      "p",
      null,
      h(
        "button",
        {
          type: "button",
          class: "button button--primary",
          onclick: () =>
            void askPermission().then(() => {
              session.tell("Saved.");
              store.touch("settings");
            }),
        },
        "Turn on notifications in this browser",
      ),
    ),
  ];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function alertWords({ store, session }) {
  store.on("settings");
  const words = store.state.alert_words ?? [];
  const input = h("input", {
    type: "text",
    "aria-label": "New alert word",
    dataset: { focus: "alert-word" },
    maxlength: 100,
    required: true,
  });
  return [
    h("p", { class: "muted" }, "Messages with one of these words are treated as if they mentioned you."),
    h(
      "form",
      {
        class: "inline",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void session.attempt(api.addAlertWords([input.value.trim()]));
        },
      },
      h("div", { class: "grow" }, input),
      h("button", { type: "submit", class: "button button--primary" }, "Add"),
    ),
    h(
      "ul",
      { class: "rows" },
      words.map((/** @type {string} */ word) =>
        h(
          "li",
          { class: "row" },
          h("span", { class: "row__main" }, word),
          iconButton("trash", `Remove ${word}`, { onclick: () => void session.attempt(api.removeAlertWords([word])) }),
        ),
      ),
    ),
  ];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function files(app) {
  return [
    later(app, api.attachments(), ({ attachments, upload_space_used: used }) => [
      h("p", { class: "muted" }, `${attachments.length} files, ${(used / 1024 / 1024).toFixed(1)} MiB used by everybody.`),
      h(
        "ul",
        { class: "rows" },
        attachments.map((/** @type {any} */ file) => {
          const row = h(
            "li",
            { class: "row" },
            h(
              "div",
              { class: "row__main" },
              h("a", { href: `/user_uploads/${file.path_id}`, target: "_blank", rel: "noopener noreferrer" }, file.name),
              h("span", { class: "muted" }, `${Math.ceil(file.size / 1024)} KiB, in ${file.messages.length} messages`),
            ),
            iconButton("trash", `Delete ${file.name}`, {
              onclick: async () => {
                if (await confirm(`Delete ${file.name}?`, "Messages that link to it will lead nowhere.", "Delete", { isDanger: true })) {
                  if (await app.session.attempt(api.deleteAttachment(file.id))) row.remove();
                }
              },
            }),
          );
          return row;
        }),
      ),
    ]),
  ];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function topics({ store, session }) {
  store.on("userTopics");
  const entries = [...store.userTopics];
  if (entries.length === 0) return [h("p", { class: "muted" }, "You follow, mute or unmute no topic by itself.")];
  return [
    h(
      "ul",
      { class: "rows" },
      entries.map(([key, policy]) => {
        const [, streamId, ...rest] = key.split("/");
        const topic = rest.join("/");
        return h(
          "li",
          { class: "row" },
          h("span", { class: "row__main" }, `#${channelOf(store, Number(streamId)).name} › ${topic}`),
          select(
            [
              [0, "As the channel"],
              [1, "Muted"],
              [2, "Unmuted"],
              [3, "Followed"],
            ],
            policy,
            (value) => void session.attempt(api.updateUserTopic(Number(streamId), topic, Number(value))),
            { label: `Visibility of ${topic}` },
          ),
        );
      }),
    ),
  ];
}

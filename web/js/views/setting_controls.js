/**
 * The settings that people have, and that the organization sets for new people: their names, labels and values.
 * @module
 */

import { upload } from "../api/upload.js";
import { h } from "../lib/dom.js";
import { LANGUAGES, t } from "../lib/words.js";
import { checkbox, field } from "./form_parts.js";
import { select } from "./parts.js";

/** A switch, or a choice between values; or the heading of those that follow.
 * @typedef {[string, string] | [string, string, [string | number | boolean, string][], string?] | string} Setting */

/** @type {() => [number, string][]} */
const topicChoices = () => [
  [1, t("Topics that you participate in")],
  [2, t("Topics that you write in")],
  [3, t("Topics that you start")],
  [4, t("Never automatically")],
];

/** The languages with their own names. @returns {[string, string][]} */
const languageChoices = () =>
  LANGUAGES.map((code) => {
    const name = new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code;
    return [code, name.charAt(0).toLocaleUpperCase(code) + name.slice(1)];
  });

/** @type {() => Setting[]} */
export const languageSetting = () => [["default_language", t("Language"), languageChoices()]];

/** @type {() => Setting[]} */
export const preferences = () => [
  t("Appearance"),
  [
    "color_scheme",
    t("Theme"),
    [
      [1, t("Same as the system")],
      [2, t("Dark")],
      [3, t("Light")],
    ],
  ],
  [
    "twenty_four_hour_time",
    t("Times"),
    [
      [false, "2:30 PM"],
      [true, "14:30"],
    ],
  ],
  [
    "web_font_size_px",
    t("Text size"),
    [
      [14, t("Small")],
      [16, t("Normal")],
      [18, t("Large")],
      [20, t("Larger")],
    ],
  ],
  [
    "web_line_height_percent",
    t("Lines"),
    [
      [122, t("Tight")],
      [140, t("Normal")],
      [160, t("Wide")],
      [180, t("Wider")],
    ],
  ],
  [
    "emojiset",
    t("Style of emoji"),
    [
      ["google", t("Pictures")],
      ["text", t("Words, such as :smile:")],
    ],
  ],
  [
    "web_animate_image_previews",
    t("Animated pictures move"),
    [
      ["always", t("Always")],
      ["on_hover", t("On hover")],
      ["never", t("When they are opened")],
    ],
  ],
  ["fluid_layout_width", t("Use the whole width")],
  ["high_contrast_mode", t("High contrast")],
  t("Getting around"),
  [
    "web_home_view",
    t("Home view"),
    [
      ["inbox", t("Inbox")],
      ["recent_topics", t("Recent conversations")],
      ["all_messages", t("Combined feed")],
    ],
  ],
  [
    "web_channel_default_view",
    t("A click on a channel opens"),
    [
      [1, t("Its latest topic")],
      [2, t("All its messages")],
      [3, t("The list of its topics")],
      [4, t("Its latest unread topic")],
    ],
  ],
  [
    "web_mark_read_on_scroll_policy",
    t("Mark messages as read while reading"),
    [
      [1, t("Always")],
      [2, t("Only in conversations")],
      [3, t("Never")],
    ],
  ],
  [
    "user_list_style",
    t("People at the right"),
    [
      [1, t("Names")],
      [2, t("Names and statuses")],
      [3, t("Pictures, names and statuses")],
    ],
  ],
  [
    "web_stream_unreads_count_display_policy",
    t("Counts beside channels"),
    [
      [1, t("All")],
      [2, t("Unmuted channels and topics")],
      [3, t("None")],
    ],
  ],
  [
    "demote_inactive_streams",
    t("Inactive channels below the others"),
    [
      [1, t("Automatic")],
      [2, t("Always")],
      [3, t("Never")],
    ],
  ],
  ["web_left_sidebar_show_channel_folders", t("List channels by folder")],
  ["starred_message_counts", t("Count starred messages")],
  ["web_escape_navigates_to_home_view", t("Escape opens the home view")],
  ["display_emoji_reaction_users", t("Show names beside few reactions")],
  ["receives_typing_notifications", t("Show that others are typing")],
  t("Writing"),
  ["enter_sends", t("Enter sends")],
  ["web_navigate_to_sent_message", t("After sending, go to that conversation")],
  ["translate_emoticons", t("Turn :) into emoji")],
  ["enable_drafts_synchronization", t("Keep drafts on the server, too")],
  t("Topics"),
  ["automatically_follow_topics_policy", t("Follow topics"), topicChoices()],
  ["automatically_follow_topics_where_mentioned", t("Follow topics in which you are mentioned")],
  ["automatically_unmute_topics_in_muted_streams_policy", t("Unmute topics of muted channels"), topicChoices()],
  [
    "resolved_topic_notice_auto_read_policy",
    t("Mark the notice that a topic was resolved as read"),
    [
      ["always", t("Always")],
      ["except_followed", t("In topics that you do not follow")],
      ["never", t("Never")],
    ],
  ],
  t("Time"),
  ["web_suggest_update_timezone", t("Offer to update the time zone when this computer's is different")],
];

/** @type {() => Setting[]} */
export const notificationSettings = () => [
  t("Direct messages, mentions and alert words"),
  ["enable_desktop_notifications", t("Show notifications")],
  ["enable_sounds", t("Play a sound")],
  ["pm_content_in_desktop_notifications", t("Show the text of direct messages")],
  ["wildcard_mentions_notify", t("Count mentions of everyone")],
  t("Topics that you follow"),
  ["enable_followed_topic_desktop_notifications", t("Show notifications")],
  ["enable_followed_topic_audible_notifications", t("Play a sound")],
  ["enable_followed_topic_wildcard_mentions_notify", t("Count mentions of everyone")],
  t("Everything in channels"),
  ["enable_stream_desktop_notifications", t("Show notifications")],
  ["enable_stream_audible_notifications", t("Play a sound")],
  t("Sound and count"),
  [
    "notification_sound",
    t("Sound"),
    [
      ["zulip", t("On")],
      ["none", t("Off")],
    ],
  ],
  [
    "desktop_icon_count_display",
    t("Count in the page title"),
    [
      [1, t("All unread messages")],
      [2, t("Direct messages, mentions, followed topics")],
      [3, t("Direct messages and mentions")],
      [4, t("Nothing")],
    ],
  ],
];

/** @type {() => Setting[]} */
export const pushSettings = () => [
  ["enable_offline_push_notifications", t("Direct messages and mentions")],
  ["enable_followed_topic_push_notifications", t("Topics that you follow")],
  ["enable_stream_push_notifications", t("Everything in channels")],
  ["enable_online_push_notifications", t("Even while you are active on another device")],
];

/** The settings of mail, without those that have no effect: none if the server sends no mail.
 * @param {import("../../types/api.js").State} state @param {{ enable_offline_email_notifications?: boolean }} values
 * @returns {Setting[]} */
export function emailSettings({ settings_send_digest_emails: sendsMail, realm_digest_emails_enabled: hasDigest }, values) {
  if (!sendsMail) return [];
  return [
    t("Email notifications"),
    ["enable_offline_email_notifications", t("Direct messages and mentions")],
    ...(values.enable_offline_email_notifications ? missedMessageSettings() : []),
    .../** @type {Setting[]} */ (hasDigest ? [["enable_digest_emails", t("Weekly digest if you have been away")]] : []),
    ["enable_login_emails", t("New logins to your account")],
  ];
}

/** What applies to mail about messages. @type {() => Setting[]} */
const missedMessageSettings = () => [
  ["enable_followed_topic_email_notifications", t("Topics that you follow")],
  ["enable_stream_email_notifications", t("Everything in channels")],
  ["message_content_in_email_notifications", t("Show the text of messages")],
  [
    "email_notifications_batching_period_seconds",
    t("Delay before an email is sent"),
    [
      [120, t({ one: "{count} minute", other: "{count} minutes" }, { count: 2 })],
      [300, t({ one: "{count} minute", other: "{count} minutes" }, { count: 5 })],
      [600, t({ one: "{count} minute", other: "{count} minutes" }, { count: 10 })],
      [1800, t({ one: "{count} minute", other: "{count} minutes" }, { count: 30 })],
      [3600, t({ one: "{count} hour", other: "{count} hours" }, { count: 1 })],
    ],
    t("Messages that are still unread after this time are sent by email."),
  ],
  [
    "realm_name_in_email_notifications_policy",
    t("Name of the organization in the subject"),
    [
      [1, t("Automatic")],
      [2, t("Always")],
      [3, t("Never")],
    ],
  ],
];

/** @type {() => Setting[]} */
export const privacySettings = () => [
  [
    "email_address_visibility",
    t("Who can see your email address"),
    [
      [1, t("Everyone")],
      [2, t("Members")],
      [5, t("Moderators")],
      [3, t("Administrators")],
      [4, t("Nobody")],
    ],
  ],
  ["send_private_typing_notifications", t("Let others see when you are typing direct messages")],
  ["send_stream_typing_notifications", t("Let others see when you are typing in channels")],
  ["send_read_receipts", t("Let others see what you have read")],
  ["presence_enabled", t("Show when you are active")],
  ...exportConsent(),
];

/** @type {() => Setting[]} */
export const exportConsent = () => [["allow_private_data_export", t("Let administrators export your private data")]];

/** The controls of settings. Those that the server does not have are left out.
 * @param {Setting[]} settings @param {Record<string, any>} values @param {(changes: Record<string, unknown>) => unknown} change @param {{ disabled?: boolean }} [options] */
export function settingControls(settings, values, change, { disabled = false } = {}) {
  return settings.map((setting) => {
    if (typeof setting === "string") return h("h3", null, setting);
    const [name, label, options, hint] = setting;
    if (values[name] === undefined) return null;
    if (!options) return checkbox(label, Boolean(values[name]), (is) => void change({ [name]: is }), { disabled });
    const known = options.map(([value]) => value);
    // Other clients offer more than this one.
    const other = known.includes(values[name]) ? [] : [[String(values[name]), t("Set by another app")]];
    const chosen = select(
      /** @type {[string, string][]} */ ([...other, ...options.map(([value, text]) => [String(value), text])]),
      values[name],
      (text) => void change({ [name]: known.find((value) => String(value) === text) }),
      { disabled },
    );
    return field(label, chosen, hint);
  });
}

/** A hidden field for a picture, which is sent to a path of the interface once it is chosen.
 * @param {import("../store/session.js").Session} session @param {string} path @param {Record<string, string>} [fields] */
export function pictureInput(session, path, fields = {}) {
  const input = h("input", {
    type: "file",
    accept: "image/*",
    hidden: true,
    onchange: () => {
      const file = input.files?.[0];
      // The same file can be chosen again, if this fails.
      input.value = "";
      if (file) void session.attempt(upload(file, undefined, { path, fields }).done);
    },
  });
  return input;
}

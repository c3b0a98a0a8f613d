/**
 * The settings that people have, and that the organization sets for new people: their names, labels and values.
 * @module
 */

import { upload } from "../api/upload.js";
import { h } from "../lib/dom.js";
import { checkbox, field, select } from "./parts.js";

/** A switch, or a choice between values; or the heading of those that follow.
 * @typedef {[string, string] | [string, string, [string | number | boolean, string][]] | string} Setting */

/** @type {[number, string][]} */
const TOPICS = [
  [1, "You participate in"],
  [2, "You write in"],
  [3, "You begin"],
  [4, "Never by itself"],
];

/** @type {Setting[]} */
export const PREFERENCES = [
  [
    "color_scheme",
    "Theme",
    [
      [1, "As the system"],
      [2, "Dark"],
      [3, "Light"],
    ],
  ],
  [
    "twenty_four_hour_time",
    "Times",
    [
      [false, "2:30 PM"],
      [true, "14:30"],
    ],
  ],
  [
    "web_font_size_px",
    "Size of text",
    [
      [14, "Small"],
      [16, "Normal"],
      [18, "Large"],
      [20, "Larger"],
    ],
  ],
  [
    "web_home_view",
    "Home view",
    [
      ["inbox", "Inbox"],
      ["recent_topics", "Recent conversations"],
      ["all_messages", "Combined feed"],
    ],
  ],
  [
    "web_channel_default_view",
    "A click on a channel opens",
    [
      [1, "Its latest topic"],
      [2, "All its messages"],
      [3, "The list of its topics"],
      [4, "Its latest unread topic"],
    ],
  ],
  [
    "web_mark_read_on_scroll_policy",
    "Reading marks messages as read",
    [
      [1, "Always"],
      [2, "Only in conversations"],
      [3, "Never"],
    ],
  ],
  [
    "user_list_style",
    "People at the right",
    [
      [1, "Names"],
      [2, "Names and statuses"],
      [3, "Pictures, names and statuses"],
    ],
  ],
  [
    "web_stream_unreads_count_display_policy",
    "Counts beside channels",
    [
      [1, "All"],
      [2, "Unmuted channels and topics"],
      [3, "None"],
    ],
  ],
  [
    "demote_inactive_streams",
    "Inactive channels below the others",
    [
      [1, "Automatic"],
      [2, "Always"],
      [3, "Never"],
    ],
  ],
  ["enter_sends", "Enter sends"],
  ["web_escape_navigates_to_home_view", "Escape leads to the home view"],
  ["web_navigate_to_sent_message", "Go to the conversation that you wrote to"],
  ["display_emoji_reaction_users", "Show names beside few reactions"],
  ["translate_emoticons", "Turn :) into emoji"],
  ["starred_message_counts", "Count starred messages"],
  ["fluid_layout_width", "Use the whole width"],
  ["enable_drafts_synchronization", "Keep drafts on the server, too"],
  ["automatically_follow_topics_policy", "Follow topics", TOPICS],
  ["automatically_unmute_topics_in_muted_streams_policy", "Unmute topics of muted channels", TOPICS],
];

/** @type {Setting[]} */
export const NOTIFICATIONS = [
  "Direct messages, mentions and alert words",
  ["enable_desktop_notifications", "Show notifications"],
  ["enable_sounds", "Play a sound"],
  ["pm_content_in_desktop_notifications", "Show the text of direct messages"],
  ["wildcard_mentions_notify", "Count mentions of everybody"],
  "Topics that you follow",
  ["enable_followed_topic_desktop_notifications", "Show notifications"],
  ["enable_followed_topic_audible_notifications", "Play a sound"],
  ["enable_followed_topic_wildcard_mentions_notify", "Count mentions of everybody"],
  "Everything in channels",
  ["enable_stream_desktop_notifications", "Show notifications"],
  ["enable_stream_audible_notifications", "Play a sound"],
  "Sound and count",
  [
    "notification_sound",
    "Sound",
    [
      ["zulip", "On"],
      ["none", "Off"],
    ],
  ],
  [
    "desktop_icon_count_display",
    "The count in the title has",
    [
      [1, "All unread messages"],
      [2, "Direct messages, mentions, followed topics"],
      [3, "Direct messages and mentions"],
      [4, "Nothing"],
    ],
  ],
];

/** @type {Setting[]} */
export const PRIVACY = [
  [
    "email_address_visibility",
    "Who can see your email address",
    [
      [1, "Everybody"],
      [2, "Members"],
      [5, "Moderators"],
      [3, "Administrators"],
      [4, "Nobody"],
    ],
  ],
  ["send_private_typing_notifications", "Tell others when you type direct messages"],
  ["send_stream_typing_notifications", "Tell others when you type in channels"],
  ["send_read_receipts", "Tell others what you have read"],
  ["presence_enabled", "Show when you are active"],
];

/** The controls of settings. Those that the server does not have are left out.
 * @param {Setting[]} settings @param {Record<string, any>} values @param {(changes: Record<string, any>) => unknown} change @param {{ disabled?: boolean }} [options] */
export function settingControls(settings, values, change, { disabled = false } = {}) {
  return settings.map((setting) => {
    if (typeof setting === "string") return h("h3", null, setting);
    const [name, label, options] = setting;
    if (values[name] === undefined) return null;
    if (!options) return checkbox(label, Boolean(values[name]), (is) => void change({ [name]: is }), { disabled });
    const known = options.map(([value]) => value);
    const chosen = select(
      options.map(([value, text]) => [String(value), text]),
      values[name],
      (text) => void change({ [name]: known.find((value) => String(value) === text) }),
      { disabled },
    );
    return field(label, chosen);
  });
}

/** A hidden field for a picture, which is sent to a path of the interface once it is chosen.
 * @param {import("../store/session.js").Session} session @param {string} path */
export function pictureInput(session, path) {
  const input = h("input", {
    type: "file",
    accept: "image/*",
    hidden: true,
    onchange: () => {
      const file = input.files?.[0];
      if (file) void session.attempt(upload(file, undefined, { path }).done);
    },
  });
  return input;
}

/**
 * The settings of the organization as tables: their names, labels and values. Those that change nothing here are left out:
 * docs/settings.md lists them.
 * @module
 */

import { weekdayName } from "../lib/time_on_demand.js";
import { t } from "../lib/words.js";

/** A permission with its name in the interface, or a heading. @typedef {[string, string] | string} Permission */

/** Permissions and switches that only owners change. */
export const FOR_OWNERS = [
  "can_create_groups",
  "can_invite_users_group",
  "can_manage_all_groups",
  "create_multiuse_invite_group",
  "disallow_disposable_email_addresses",
  "invite_required",
];

/** @type {() => Permission[]} */
export const organizationPermissions = () => [
  t("Joining"),
  ["create_multiuse_invite_group", t("Create invitation links")],
  ["can_invite_users_group", t("Invite by email")],
  ["can_access_all_users_group", t("See all people")],
  t("Channels"),
  ["can_create_public_channel_group", t("Create public channels")],
  ["can_create_private_channel_group", t("Create private channels")],
  ["can_create_web_public_channel_group", t("Create web-public channels")],
  ["can_add_subscribers_group", t("Add people to channels")],
  ["can_set_topics_policy_group", t("Decide whether a channel has topics")],
  ["can_set_delete_message_policy_group", t("Decide who can delete messages in a channel")],
  ["can_mention_many_users_group", t("Mention everyone in large channels")],
  t("Messages"),
  ["can_move_messages_between_topics_group", t("Move messages to other topics")],
  ["can_move_messages_between_channels_group", t("Move messages to other channels")],
  ["can_resolve_topics_group", t("Resolve topics")],
  ["can_delete_own_message_group", t("Delete their own messages")],
  ["can_delete_any_message_group", t("Delete messages of others")],
  t("Direct messages"),
  ["direct_message_permission_group", t("Take part in direct messages")],
  ["direct_message_initiator_group", t("Start direct messages")],
  t("Groups, emoji and bots"),
  ["can_create_groups", t("Create groups")],
  ["can_manage_all_groups", t("Manage all groups")],
  ["can_add_custom_emoji_group", t("Add emoji")],
  ["can_create_bots_group", t("Create bots")],
  ["can_create_write_only_bots_group", t("Create incoming webhook bots")],
];

/** @param {boolean} sendsMail Whether the server does. @returns {([string, string] | string)[]} */
export const organizationSwitches = (sendsMail) => [
  t("Messages"),
  ["allow_message_editing", t("Messages can be edited")],
  ["enable_read_receipts", t("Show who has read a message")],
  ["inline_image_preview", t("Show pictures in messages")],
  [
    "message_content_allowed_in_email_notifications",
    sendsMail ? t("Show names and texts in push and email notifications") : t("Show names and texts in push notifications"),
  ],
  t("People"),
  ["name_changes_disabled", t("People cannot change their names")],
  ["avatar_changes_disabled", t("People cannot change their pictures")],
  ["email_changes_disabled", t("People cannot change their email addresses")],
  ["require_unique_names", t("Names of people must be unique")],
  ["invite_required", t("New people need an invitation")],
  .../** @type {[string, string][]} */ (
    sendsMail ? [["disallow_disposable_email_addresses", t("People cannot join with disposable email addresses")]] : []
  ),
  ["enable_guest_user_indicator", t("Mark guests")],
  ["enable_guest_user_dm_warning", t("Warn before a direct message to a guest")],
  t("Channels"),
  ["enable_spectator_access", t("Allow web-public channels")],
  .../** @type {([string, string] | string)[]} */ (
    sendsMail ? [t("Email notifications"), ["digest_emails_enabled", t("Send a weekly digest to people who were away")]] : []
  ),
];

/** The days of `digest_weekday`. @type {() => [number, string][]} */
const weekdays = () => [0, 1, 2, 3, 4, 5, 6].map((day) => [day, weekdayName(day)]);

/** For how long something can be done. @type {() => [string | number, string][]} */
const limitTimes = () => [
  [60, t({ one: "{count} minute", other: "{count} minutes" }, { count: 1 })],
  [600, t({ one: "{count} minute", other: "{count} minutes" }, { count: 10 })],
  [3600, t({ one: "{count} hour", other: "{count} hours" }, { count: 1 })],
  [86_400, t({ one: "{count} day", other: "{count} days" }, { count: 1 })],
  [604_800, t({ one: "{count} week", other: "{count} weeks" }, { count: 1 })],
  ["unlimited", t("Always")],
];

/** @typedef {[string, string, [string | number, string][], string?]} Choice */

/** @param {boolean} sendsMail Whether the server does. @returns {Choice[]} */
export const organizationChoices = (sendsMail) => [
  ["message_content_edit_limit_seconds", t("Messages can be edited for"), limitTimes()],
  ["message_content_delete_limit_seconds", t("Authors can delete their messages for"), limitTimes()],
  ["move_messages_within_stream_limit_seconds", t("Messages can be moved to other topics for"), limitTimes()],
  ["move_messages_between_streams_limit_seconds", t("Messages can be moved to other channels for"), limitTimes()],
  [
    "topics_policy",
    t("Topics"),
    [
      ["allow_empty_topic", t("Messages without a topic are allowed")],
      ["disable_empty_topic", t("A topic is required")],
    ],
    t("Channels can override this."),
  ],
  [
    "message_edit_history_visibility_policy",
    t("History of edits"),
    [
      ["all", t("Edits and moves")],
      ["moves", t("Moves only")],
      ["none", t("Nothing")],
    ],
  ],
  .../** @type {Choice[]} */ (
    sendsMail ? [["digest_weekday", t("The weekly digest is sent on"), weekdays(), t("The day is in UTC.")]] : []
  ),
];

//! The definitions of user settings: everything in `user_settings` of `POST /register` except `timezone`, which is a
//! column of the user because others see it.

use crate::types::ChangedBy::{Administrator, Server, User};
use crate::types::Kind::{Bool, Language, Number, NumberOf, Text, WordOf};
use crate::types::OnWire::{Display, Notifications};
use crate::types::property::{clients, server, unused};
use crate::types::{Property, SettingTable};

const WEEK: i64 = 7 * 24 * 60 * 60;

/// The maximum of sizes, which are 16-bit columns on the published server.
const MAX_SIZE: i64 = 32_767;

/// All settings, with the server's defaults. An organization can set its own for new users.
pub const PROPERTIES: &[Property] = &[
    // Display and navigation.
    clients("color_scheme", NumberOf(&[1, 2, 3], 1), "The theme: 1 for automatic, 2 for dark, 3 for light.")
        .on_wire(Display),
    server(
        "default_language",
        Language("en"),
        "The language of the client, emails, push notifications and messages of the bots, as a code such as \
         `de`.",
    )
    .by(User)
    .on_wire(Display),
    clients(
        "demote_inactive_streams",
        NumberOf(&[1, 2, 3], 1),
        "Listing channels without new messages below others: 1 if there are many channels, 2 always, 3 \
         never.",
    )
    .on_wire(Display),
    clients(
        "display_emoji_reaction_users",
        Bool(true),
        "Messages with few reactions show the names of the users who reacted.",
    ),
    clients(
        "emojiset",
        WordOf(&["google", "google-blob", "twitter", "text"], "google"),
        "The style in which emoji are shown.",
    )
    .on_wire(Display),
    server("enable_drafts_synchronization", Bool(true), "Drafts are stored at the server.").on_wire(Display),
    clients("enter_sends", Bool(false), "Enter sends the message instead of starting a new line.")
        .on_wire(Display),
    clients("fluid_layout_width", Bool(false), "The client uses the full width of the window.")
        .on_wire(Display),
    clients("hide_ai_features", Bool(false), "Features that use language models are hidden."),
    clients("high_contrast_mode", Bool(false), "Colours have high contrast.").on_wire(Display),
    clients("left_side_userlist", Bool(false), "Users are listed on the left in narrow windows.")
        .on_wire(Display),
    server(
        "resolved_topic_notice_auto_read_policy",
        WordOf(&["always", "except_followed", "never"], "except_followed"),
        "Marking the notice of a resolved topic as read: always, in topics that the user does not \
         follow, or never.",
    ),
    clients("starred_message_counts", Bool(true), "The number of starred messages is shown.")
        .on_wire(Display),
    server(
        "translate_emoticons",
        Bool(false),
        "Emoticons such as `:)` become emoji in messages that the user sends.",
    )
    .on_wire(Display),
    clients("twenty_four_hour_time", Bool(false), "Times are shown in 24-hour format.").on_wire(Display),
    clients(
        "user_list_style",
        NumberOf(&[1, 2, 3], 3),
        "The style of the list of users: 1 for names only, 2 with statuses, 3 with images too.",
    ),
    clients(
        "web_animate_image_previews",
        WordOf(&["always", "on_hover", "never"], "on_hover"),
        "When animated previews play.",
    ),
    clients(
        "web_channel_default_view",
        NumberOf(&[1, 2, 3, 4], 1),
        "The view that a click on a channel opens: 1 for its first topic, 2 for all of its messages, 3 \
         for a list of its topics, 4 for its first unread topic.",
    ),
    clients("web_escape_navigates_to_home_view", Bool(true), "The Escape key opens the home view."),
    clients("web_font_size_px", Number { min: 1, max: MAX_SIZE, default: 16 }, "The text size, in pixels.")
        .refused("Invalid web_font_size_px"),
    clients(
        "web_home_view",
        WordOf(&["recent_topics", "inbox", "all_messages"], "inbox"),
        "The view that the client shows at the start.",
    )
    .on_wire(Display),
    clients("web_left_sidebar_show_channel_folders", Bool(true), "Channels are listed by folder."),
    clients(
        "web_left_sidebar_unreads_count_summary",
        Bool(true),
        "The headings of lists show numbers of unread messages.",
    ),
    clients(
        "web_line_height_percent",
        Number { min: 1, max: MAX_SIZE, default: 140 },
        "The line height, as a percentage of the text size.",
    )
    .refused("Invalid web_line_height_percent"),
    clients(
        "web_mark_read_on_scroll_policy",
        NumberOf(&[1, 2, 3], 1),
        "Marking messages as read by scrolling: 1 always, 2 only in views of one conversation, 3 never.",
    ),
    clients(
        "web_navigate_to_sent_message",
        Bool(true),
        "After a message is sent to another conversation, the client opens that conversation.",
    ),
    clients(
        "web_stream_unreads_count_display_policy",
        NumberOf(&[1, 2, 3], 2),
        "The channels with numbers of unread messages: 1 for all, 2 for those that are not muted, 3 for \
         none.",
    ),
    clients(
        "web_suggest_update_timezone",
        Bool(true),
        "The client offers to change the time zone when the computer has another one.",
    ),
    // Notifications.
    server(
        "automatically_follow_topics_policy",
        NumberOf(&[1, 2, 3, 4], 3),
        "The topics that the user starts to follow: 1 for those they take part in, 2 for those they send \
         to, 3 for those they begin, 4 for none.",
    ),
    server(
        "automatically_follow_topics_where_mentioned",
        Bool(true),
        "The user follows topics in which they are mentioned.",
    ),
    server(
        "automatically_unmute_topics_in_muted_streams_policy",
        NumberOf(&[1, 2, 3, 4], 2),
        "The topics of muted channels that the user unmutes: 1 for those they take part in, 2 for those \
         they send to, 3 for those they begin, 4 for none.",
    ),
    clients(
        "desktop_icon_count_display",
        NumberOf(&[1, 2, 3, 4], 1),
        "The messages that the number at the icon counts: 1 for all unread messages, 2 for direct \
         messages, mentions and followed topics, 3 for direct messages and mentions, 4 for none.",
    )
    .on_wire(Notifications),
    server(
        "email_notifications_batching_period_seconds",
        Number { min: 1, max: WEEK, default: 120 },
        "Seconds during which messages are collected before an email is sent.",
    )
    .on_wire(Notifications)
    .refused("Invalid email batching period: {} seconds"),
    clients(
        "enable_desktop_notifications",
        Bool(true),
        "Direct messages and mentions raise desktop notifications.",
    )
    .on_wire(Notifications),
    server("enable_digest_emails", Bool(true), "The user gets a digest by email.").on_wire(Notifications),
    clients(
        "enable_followed_topic_audible_notifications",
        Bool(true),
        "Messages in followed topics raise a sound.",
    ),
    clients(
        "enable_followed_topic_desktop_notifications",
        Bool(true),
        "Messages in followed topics raise desktop notifications.",
    ),
    server(
        "enable_followed_topic_email_notifications",
        Bool(true),
        "Messages in followed topics are sent by email.",
    ),
    server(
        "enable_followed_topic_push_notifications",
        Bool(true),
        "Messages in followed topics raise push notifications.",
    ),
    server(
        "enable_followed_topic_wildcard_mentions_notify",
        Bool(true),
        "Wildcard mentions count as mentions in followed topics.",
    ),
    server(
        "enable_login_emails",
        Bool(true),
        "New logins are announced to the user by email, if this server sends mail.",
    )
    .by(User)
    .on_wire(Notifications),
    unused("enable_marketing_emails", Bool(true), "The user receives marketing emails.", "it sends none")
        .by(User)
        .on_wire(Notifications),
    server(
        "enable_offline_email_notifications",
        Bool(true),
        "Direct messages and mentions are sent by email while the user is away.",
    )
    .on_wire(Notifications),
    server(
        "enable_offline_push_notifications",
        Bool(true),
        "Direct messages and mentions raise push notifications.",
    )
    .on_wire(Notifications),
    server(
        "enable_online_push_notifications",
        Bool(true),
        "Push notifications are sent while the user is online, too.",
    )
    .on_wire(Notifications),
    clients("enable_sounds", Bool(true), "Direct messages and mentions raise a sound.")
        .on_wire(Notifications),
    server("enable_stream_audible_notifications", Bool(false), "Channel messages raise a sound.")
        .on_wire(Notifications),
    server(
        "enable_stream_desktop_notifications",
        Bool(false),
        "Channel messages raise desktop notifications.",
    )
    .on_wire(Notifications),
    server("enable_stream_email_notifications", Bool(false), "Channel messages are sent by email.")
        .on_wire(Notifications),
    server("enable_stream_push_notifications", Bool(false), "Channel messages raise push notifications.")
        .on_wire(Notifications),
    server(
        "message_content_in_email_notifications",
        Bool(true),
        "Notifications by email have the text of messages.",
    )
    .on_wire(Notifications),
    clients("notification_sound", WordOf(&["ding", "none", "zulip"], "zulip"), "The sound of notifications.")
        .on_wire(Notifications)
        .refused("Invalid notification sound '{}'"),
    server(
        "pm_content_in_desktop_notifications",
        Bool(true),
        "Desktop and push notifications have the text of direct messages.",
    )
    .on_wire(Notifications),
    server(
        "realm_name_in_email_notifications_policy",
        NumberOf(&[1, 2, 3], 1),
        "The name of the organization in subjects of emails: 1 for users of several, 2 always, 3 never.",
    )
    .on_wire(Notifications),
    server("wildcard_mentions_notify", Bool(true), "Wildcard mentions count as mentions.")
        .on_wire(Notifications),
    // Privacy.
    server("allow_private_data_export", Bool(false), "Administrators may export private data of the user.")
        .by(User),
    server(
        "email_address_visibility",
        NumberOf(&[1, 2, 3, 4, 5], 1),
        "The users who see the email: 1 for everyone, 2 for members, 3 for administrators, 4 for none, 5 \
         for moderators.",
    ),
    server("presence_enabled", Bool(true), "Others see if the user is online.").on_wire(Notifications),
    server("receives_typing_notifications", Bool(true), "The user sees that others are typing.")
        .on_wire(Display),
    server(
        "send_private_typing_notifications",
        Bool(true),
        "Others see that the user types a direct message.",
    ),
    server("send_read_receipts", Bool(true), "Others see which messages the user has read."),
    server(
        "send_stream_typing_notifications",
        Bool(true),
        "Others see that the user types a message to a channel.",
    ),
];

/// `available_notification_sounds`. The sound files are in the clients.
pub const NOTIFICATION_SOUNDS: &[&str] = &["ding", "zulip"];

/// `emojiset_choices`: keys and display names.
pub const EMOJISET_CHOICES: &[(&str, &str)] =
    &[("google", "Google"), ("twitter", "Twitter"), ("text", "Plain text"), ("google-blob", "Google blobs")];

/// The time zone: in events, a setting like those of the table. A parameter of its own sets it.
const TIMEZONE: &Property =
    &server("timezone", Text { max: usize::MAX, default: "" }, "An IANA identifier; empty for none.")
        .by(Server)
        .on_wire(Display);

/// The defaults of the organization.
#[derive(Debug)]
pub struct Defaults;

impl SettingTable for Defaults {
    fn rows() -> impl Iterator<Item = &'static Property> {
        PROPERTIES.iter().filter(|row| row.changed_by == Administrator)
    }
}

/// The settings of a user.
#[derive(Debug)]
pub struct UserTable;

impl SettingTable for UserTable {
    fn rows() -> impl Iterator<Item = &'static Property> {
        PROPERTIES.iter().chain([TIMEZONE])
    }
}

/// The settings of `update_display_settings`.
#[derive(Debug)]
pub struct DisplayTable;

impl SettingTable for DisplayTable {
    const MEMBERS: [&'static str; 2] = ["setting_name", "setting"];

    fn rows() -> impl Iterator<Item = &'static Property> {
        UserTable::rows().filter(|row| row.on_wire == Display)
    }
}

/// The settings of `update_global_notifications`.
#[derive(Debug)]
pub struct NotificationTable;

impl SettingTable for NotificationTable {
    const MEMBERS: [&'static str; 2] = ["notification_name", "setting"];

    fn rows() -> impl Iterator<Item = &'static Property> {
        PROPERTIES.iter().filter(|row| row.on_wire == Notifications)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_defaults_are_allowed() {
        let names: HashSet<&str> = PROPERTIES.iter().map(|property| property.name).collect();
        assert_eq!(names.len(), PROPERTIES.len());
        for property in PROPERTIES {
            assert!(property.allows(&property.default_value()), "{}", property.name);
        }
    }

    #[test]
    fn every_emoji_set_has_a_text() {
        for (key, text) in EMOJISET_CHOICES {
            let mut rows = PROPERTIES.iter();
            assert!(rows.any(|row| row.name == "emojiset" && row.allows(&(*key).into())), "{key}");
            assert!(!text.is_empty());
        }
    }
}

//! The definitions of user settings: everything in `user_settings` of `POST /register` except `timezone`, which is a
//! column of the user because others see it.

use crate::types::Kind::{Bool, Number, NumberOf, Text, WordOf};
use crate::types::{Kind, Property, SettingTable};

const fn row(name: &'static str, kind: Kind, about: &'static str) -> Property {
    Property { name, kind, about }
}

/// All settings, with the server's defaults. An organization can set its own for new users.
pub const PROPERTIES: &[Property] = &[
    // Display and navigation.
    row(
        "color_scheme",
        NumberOf(&[1, 2, 3], 1),
        "The theme: 1 for that of the system, 2 for dark, 3 for light.",
    ),
    row("default_language", Text("en"), "The language of the client, as a code such as `de`."),
    row(
        "demote_inactive_streams",
        NumberOf(&[1, 2, 3], 1),
        "Whether channels without new messages are shown below others: 1 if there are many channels, \
         2 always, 3 never.",
    ),
    row(
        "display_emoji_reaction_users",
        Bool(true),
        "Whether reactions have the names of those who reacted, where there are few.",
    ),
    row(
        "emojiset",
        WordOf(&["google", "google-blob", "twitter", "text"], "google"),
        "The style in which emoji are shown.",
    ),
    row("enable_drafts_synchronization", Bool(true), "Whether drafts are stored at the server."),
    row("enter_sends", Bool(false), "Whether Enter sends a message rather than beginning a new line."),
    row("fluid_layout_width", Bool(false), "Whether the client takes all of the width of the window."),
    row("hide_ai_features", Bool(false), "Whether features that use language models are hidden."),
    row("high_contrast_mode", Bool(false), "Whether colours have a strong contrast."),
    row("left_side_userlist", Bool(false), "Whether users are listed on the left in narrow windows."),
    row(
        "resolved_topic_notice_auto_read_policy",
        WordOf(&["always", "except_followed", "never"], "except_followed"),
        "Whether the notice that a topic was resolved counts as read: always, in topics that the user \
         does not follow, or never.",
    ),
    row("starred_message_counts", Bool(true), "Whether the number of starred messages is shown."),
    row(
        "translate_emoticons",
        Bool(false),
        "Whether emoticons such as `:)` become emoji in messages that the user sends.",
    ),
    row("twenty_four_hour_time", Bool(false), "Whether times are shown with 24 hours."),
    row(
        "user_list_style",
        NumberOf(&[1, 2, 3], 3),
        "How users are listed: 1 for names alone, 2 with statuses, 3 with images too.",
    ),
    row(
        "web_animate_image_previews",
        WordOf(&["always", "on_hover", "never"], "on_hover"),
        "When previews of animations move.",
    ),
    row(
        "web_channel_default_view",
        NumberOf(&[1, 2, 3, 4], 1),
        "What a click on a channel opens: 1 for its first topic, 2 for all of its messages, 3 for a \
         list of its topics, 4 for its first unread topic.",
    ),
    row("web_escape_navigates_to_home_view", Bool(true), "Whether Escape leads to the home view."),
    row("web_font_size_px", Number(16), "The size of text, in pixels."),
    row(
        "web_home_view",
        WordOf(&["recent_topics", "inbox", "all_messages"], "inbox"),
        "The view that the client opens with.",
    ),
    row("web_left_sidebar_show_channel_folders", Bool(true), "Whether channels are listed by folder."),
    row(
        "web_left_sidebar_unreads_count_summary",
        Bool(true),
        "Whether the headings of lists show numbers of unread messages.",
    ),
    row("web_line_height_percent", Number(140), "The height of lines, in per cent of the size of text."),
    row(
        "web_mark_read_on_scroll_policy",
        NumberOf(&[1, 2, 3], 1),
        "Whether scrolling marks messages as read: 1 always, 2 only in views of one conversation, 3 never.",
    ),
    row(
        "web_navigate_to_sent_message",
        Bool(true),
        "Whether the client goes to a message that was sent to another conversation.",
    ),
    row(
        "web_stream_unreads_count_display_policy",
        NumberOf(&[1, 2, 3], 2),
        "Which channels show numbers of unread messages: 1 for all, 2 for those that are not muted, 3 \
         for none.",
    ),
    row(
        "web_suggest_update_timezone",
        Bool(true),
        "Whether the client offers to change the time zone when the computer has another one.",
    ),
    // Notifications.
    row(
        "automatically_follow_topics_policy",
        NumberOf(&[1, 2, 3, 4], 3),
        "Which topics the user follows from then on: 1 for those they take part in, 2 for those they \
         send to, 3 for those they begin, 4 for none.",
    ),
    row(
        "automatically_follow_topics_where_mentioned",
        Bool(true),
        "Whether the user follows topics in which they are mentioned.",
    ),
    row(
        "automatically_unmute_topics_in_muted_streams_policy",
        NumberOf(&[1, 2, 3, 4], 2),
        "Which topics of muted channels the user unmutes: 1 for those they take part in, 2 for those \
         they send to, 3 for those they begin, 4 for none.",
    ),
    row(
        "desktop_icon_count_display",
        NumberOf(&[1, 2, 3, 4], 1),
        "What the number at the icon counts: 1 for all unread messages, 2 for direct messages, \
         mentions and followed topics, 3 for direct messages and mentions, 4 for nothing.",
    ),
    row(
        "email_notifications_batching_period_seconds",
        Number(120),
        "For how many seconds messages are collected before an email is sent.",
    ),
    row(
        "enable_desktop_notifications",
        Bool(true),
        "Whether direct messages and mentions raise desktop notifications.",
    ),
    row("enable_digest_emails", Bool(true), "Whether the user gets a digest by email."),
    row(
        "enable_followed_topic_audible_notifications",
        Bool(true),
        "Whether messages in followed topics raise a sound.",
    ),
    row(
        "enable_followed_topic_desktop_notifications",
        Bool(true),
        "Whether messages in followed topics raise desktop notifications.",
    ),
    row(
        "enable_followed_topic_email_notifications",
        Bool(true),
        "Whether messages in followed topics are sent by email.",
    ),
    row(
        "enable_followed_topic_push_notifications",
        Bool(true),
        "Whether messages in followed topics raise notifications on phones.",
    ),
    row(
        "enable_followed_topic_wildcard_mentions_notify",
        Bool(true),
        "Whether mentions of everybody count as mentions in followed topics.",
    ),
    row("enable_login_emails", Bool(true), "Whether a new login is told by email."),
    row("enable_marketing_emails", Bool(true), "Whether the user gets mails of the makers of the server."),
    row(
        "enable_offline_email_notifications",
        Bool(true),
        "Whether direct messages and mentions are sent by email while the user is away.",
    ),
    row(
        "enable_offline_push_notifications",
        Bool(true),
        "Whether direct messages and mentions raise notifications on phones while the user is away.",
    ),
    row(
        "enable_online_push_notifications",
        Bool(true),
        "Whether phones are notified while the user is online too.",
    ),
    row("enable_sounds", Bool(true), "Whether direct messages and mentions raise a sound."),
    row("enable_stream_audible_notifications", Bool(false), "Whether channel messages raise a sound."),
    row(
        "enable_stream_desktop_notifications",
        Bool(false),
        "Whether channel messages raise desktop notifications.",
    ),
    row("enable_stream_email_notifications", Bool(false), "Whether channel messages are sent by email."),
    row(
        "enable_stream_push_notifications",
        Bool(false),
        "Whether channel messages raise notifications on phones.",
    ),
    row(
        "message_content_in_email_notifications",
        Bool(true),
        "Whether notifications by email have the text of messages.",
    ),
    row("notification_sound", Text("zulip"), "The sound of notifications."),
    row(
        "pm_content_in_desktop_notifications",
        Bool(true),
        "Whether desktop notifications have the text of direct messages.",
    ),
    row(
        "realm_name_in_email_notifications_policy",
        NumberOf(&[1, 2, 3], 1),
        "Whether subjects of mails name the organization: 1 for those in several, 2 always, 3 never.",
    ),
    row("wildcard_mentions_notify", Bool(true), "Whether mentions of everybody count as mentions."),
    // Privacy.
    row(
        "allow_private_data_export",
        Bool(false),
        "Whether administrators may export private data of the user.",
    ),
    row(
        "email_address_visibility",
        NumberOf(&[1, 2, 3, 4, 5], 1),
        "Who sees the email: 1 for everyone, 2 for members, 3 for administrators, 4 for nobody, 5 for \
         moderators.",
    ),
    row("presence_enabled", Bool(true), "Whether others see if the user is online."),
    row("receives_typing_notifications", Bool(true), "Whether the user sees that others are typing."),
    row(
        "send_private_typing_notifications",
        Bool(true),
        "Whether others see that the user types a direct message.",
    ),
    row("send_read_receipts", Bool(true), "Whether others see which messages the user has read."),
    row(
        "send_stream_typing_notifications",
        Bool(true),
        "Whether others see that the user types a message to a channel.",
    ),
];

/// The names of [`PROPERTIES`], in the same order.
pub const NAMES: [&str; PROPERTIES.len()] = {
    let mut names = [""; PROPERTIES.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PROPERTIES[index].name;
        index += 1;
    }
    names
};

/// Settings that the organization has no default of, as published: people choose them for themselves.
pub const WITHOUT_DEFAULT: [&str; 4] =
    ["default_language", "enable_login_emails", "enable_marketing_emails", "allow_private_data_export"];

/// Settings sent as `update_display_settings` to clients without the capability `user_settings_object`, together with
/// the time zone.
pub const LEGACY_DISPLAY: &[&str] = &[
    "color_scheme",
    "default_language",
    "demote_inactive_streams",
    "emojiset",
    "enable_drafts_synchronization",
    "enter_sends",
    "fluid_layout_width",
    "high_contrast_mode",
    "left_side_userlist",
    "receives_typing_notifications",
    "starred_message_counts",
    "translate_emoticons",
    "twenty_four_hour_time",
    "web_home_view",
];

/// Settings sent as `update_global_notifications` to clients without the capability `user_settings_object`.
pub const LEGACY_NOTIFICATIONS: &[&str] = &[
    "desktop_icon_count_display",
    "email_notifications_batching_period_seconds",
    "enable_desktop_notifications",
    "enable_digest_emails",
    "enable_login_emails",
    "enable_marketing_emails",
    "enable_offline_email_notifications",
    "enable_offline_push_notifications",
    "enable_online_push_notifications",
    "enable_sounds",
    "enable_stream_audible_notifications",
    "enable_stream_desktop_notifications",
    "enable_stream_email_notifications",
    "enable_stream_push_notifications",
    "message_content_in_email_notifications",
    "notification_sound",
    "pm_content_in_desktop_notifications",
    "presence_enabled",
    "realm_name_in_email_notifications_policy",
    "wildcard_mentions_notify",
];

/// `available_notification_sounds`. The sound files are in the clients.
pub const NOTIFICATION_SOUNDS: &[&str] = &["ding", "zulip"];

/// `emojiset_choices`: keys and display names.
pub const EMOJISET_CHOICES: &[(&str, &str)] =
    &[("google", "Google"), ("twitter", "Twitter"), ("text", "Plain text"), ("google-blob", "Google blobs")];

/// Returns the definition of a setting.
pub fn property(name: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.name == name)
}

/// The time zone: in events, a setting like those of the table.
pub const TIMEZONE: &Property = &row("timezone", Text(""), "An IANA identifier; empty for none.");

/// The defaults of the organization.
#[derive(Debug)]
pub struct Defaults;

impl SettingTable for Defaults {
    fn property(name: &str) -> Option<&'static Property> {
        property(name)
    }
}

/// The settings of a user.
#[derive(Debug)]
pub struct UserTable;

impl SettingTable for UserTable {
    fn property(name: &str) -> Option<&'static Property> {
        if name == TIMEZONE.name { Some(TIMEZONE) } else { property(name) }
    }
}

/// Those of [`LEGACY_DISPLAY`], and the time zone.
#[derive(Debug)]
pub struct DisplayTable;

impl SettingTable for DisplayTable {
    const MEMBERS: [&'static str; 2] = ["setting_name", "setting"];

    fn property(name: &str) -> Option<&'static Property> {
        let is_display = name == TIMEZONE.name || LEGACY_DISPLAY.contains(&name);
        if is_display { UserTable::property(name) } else { None }
    }
}

/// Those of [`LEGACY_NOTIFICATIONS`].
#[derive(Debug)]
pub struct NotificationTable;

impl SettingTable for NotificationTable {
    const MEMBERS: [&'static str; 2] = ["notification_name", "setting"];

    fn property(name: &str) -> Option<&'static Property> {
        if LEGACY_NOTIFICATIONS.contains(&name) { property(name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_defaults_are_allowed() {
        assert_eq!(HashSet::from(NAMES).len(), PROPERTIES.len());
        for property in PROPERTIES {
            assert!(property.allows(&property.default_value()), "{}", property.name);
        }
    }

    #[test]
    fn the_older_kinds_share_no_setting() {
        let older: HashSet<&str> = LEGACY_DISPLAY.iter().chain(LEGACY_NOTIFICATIONS).copied().collect();
        assert_eq!(older.len(), LEGACY_DISPLAY.len() + LEGACY_NOTIFICATIONS.len());
        assert!(older.is_subset(&HashSet::from(NAMES)));
    }

    #[test]
    fn every_emoji_set_has_a_text() {
        for (key, text) in EMOJISET_CHOICES {
            assert!(property("emojiset").unwrap().allows(&(*key).into()), "{key}");
            assert!(!text.is_empty());
        }
    }
}

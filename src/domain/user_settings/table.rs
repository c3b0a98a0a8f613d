//! The definitions of user settings: everything in `user_settings` of `POST /register` except `timezone`, which is a
//! column of the user because others see it.

use crate::types::Kind::{Bool, Number, NumberOf, Text, WordOf};
use crate::types::{Kind, Property};

const fn row(name: &'static str, kind: Kind) -> Property {
    Property { name, kind }
}

/// All settings, with the server's defaults. An organization can set its own for new users.
pub const PROPERTIES: &[Property] = &[
    // Display and navigation.
    row("color_scheme", NumberOf(&[1, 2, 3], 1)),
    row("default_language", Text("en")),
    row("demote_inactive_streams", NumberOf(&[1, 2, 3], 1)),
    row("display_emoji_reaction_users", Bool(true)),
    row("emojiset", WordOf(&["google", "google-blob", "twitter", "text"], "google")),
    row("enable_drafts_synchronization", Bool(true)),
    row("enter_sends", Bool(false)),
    row("fluid_layout_width", Bool(false)),
    row("hide_ai_features", Bool(false)),
    row("high_contrast_mode", Bool(false)),
    row("left_side_userlist", Bool(false)),
    row(
        "resolved_topic_notice_auto_read_policy",
        WordOf(&["always", "except_followed", "never"], "except_followed"),
    ),
    row("starred_message_counts", Bool(true)),
    row("translate_emoticons", Bool(false)),
    row("twenty_four_hour_time", Bool(false)),
    row("user_list_style", NumberOf(&[1, 2, 3], 3)),
    row("web_animate_image_previews", WordOf(&["always", "on_hover", "never"], "on_hover")),
    row("web_channel_default_view", NumberOf(&[1, 2, 3, 4], 1)),
    row("web_escape_navigates_to_home_view", Bool(true)),
    row("web_font_size_px", Number(16)),
    row("web_home_view", WordOf(&["recent_topics", "inbox", "all_messages"], "inbox")),
    row("web_left_sidebar_show_channel_folders", Bool(true)),
    row("web_left_sidebar_unreads_count_summary", Bool(true)),
    row("web_line_height_percent", Number(140)),
    row("web_mark_read_on_scroll_policy", NumberOf(&[1, 2, 3], 1)),
    row("web_navigate_to_sent_message", Bool(true)),
    row("web_stream_unreads_count_display_policy", NumberOf(&[1, 2, 3], 2)),
    row("web_suggest_update_timezone", Bool(true)),
    // Notifications.
    row("automatically_follow_topics_policy", NumberOf(&[1, 2, 3, 4], 3)),
    row("automatically_follow_topics_where_mentioned", Bool(true)),
    row("automatically_unmute_topics_in_muted_streams_policy", NumberOf(&[1, 2, 3, 4], 2)),
    row("desktop_icon_count_display", NumberOf(&[1, 2, 3, 4], 1)),
    row("email_notifications_batching_period_seconds", Number(120)),
    row("enable_desktop_notifications", Bool(true)),
    row("enable_digest_emails", Bool(true)),
    row("enable_followed_topic_audible_notifications", Bool(true)),
    row("enable_followed_topic_desktop_notifications", Bool(true)),
    row("enable_followed_topic_email_notifications", Bool(true)),
    row("enable_followed_topic_push_notifications", Bool(true)),
    row("enable_followed_topic_wildcard_mentions_notify", Bool(true)),
    row("enable_login_emails", Bool(true)),
    row("enable_marketing_emails", Bool(true)),
    row("enable_offline_email_notifications", Bool(true)),
    row("enable_offline_push_notifications", Bool(true)),
    row("enable_online_push_notifications", Bool(true)),
    row("enable_sounds", Bool(true)),
    row("enable_stream_audible_notifications", Bool(false)),
    row("enable_stream_desktop_notifications", Bool(false)),
    row("enable_stream_email_notifications", Bool(false)),
    row("enable_stream_push_notifications", Bool(false)),
    row("message_content_in_email_notifications", Bool(true)),
    row("notification_sound", Text("zulip")),
    row("pm_content_in_desktop_notifications", Bool(true)),
    row("realm_name_in_email_notifications_policy", NumberOf(&[1, 2, 3], 1)),
    row("wildcard_mentions_notify", Bool(true)),
    // Privacy.
    row("allow_private_data_export", Bool(false)),
    row("email_address_visibility", NumberOf(&[1, 2, 3, 4, 5], 1)),
    row("presence_enabled", Bool(true)),
    row("receives_typing_notifications", Bool(true)),
    row("send_private_typing_notifications", Bool(true)),
    row("send_read_receipts", Bool(true)),
    row("send_stream_typing_notifications", Bool(true)),
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

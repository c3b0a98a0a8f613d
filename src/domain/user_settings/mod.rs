//! Personal settings: the table of settings, each user's values, the organization's defaults, and their events.

pub mod events;
pub mod languages;
mod sql;
pub mod table;

pub use self::sql::*;

use crate::error::ApiResult;
use crate::types::{Language, Setting, SettingValue, UserId};
use rusqlite::Connection;

/// A setting of users, with the type of its values.
#[derive(Debug)]
pub struct UserSetting<T>(Setting<T>);

impl<T: SettingValue> UserSetting<T> {
    /// Loads a user's value by one indexed search.
    pub fn get(&self, connection: &Connection, user_id: UserId) -> ApiResult<T> {
        self.parse(sql::get(connection, user_id, self.0.name())?)
    }

    /// Reads a value as it is stored; `None` if it was never set.
    pub fn parse(&self, stored: Option<String>) -> ApiResult<T> {
        Ok(self.0.parse(stored)?)
    }

    /// The name on the wire and in the file.
    pub const fn name(&self) -> &'static str {
        self.0.name()
    }
}

/// The language of texts for a user.
pub fn language_of(connection: &Connection, user_id: UserId) -> ApiResult<Language> {
    Ok(Language::of(&DEFAULT_LANGUAGE.get(connection, user_id)?))
}

macro_rules! settings {
    ($($constant:ident: $value:ty = $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub const $constant: UserSetting<$value> = UserSetting(Setting::of(table::PROPERTIES, $name));
        )*
    };
}

settings! {
    ALLOW_PRIVATE_DATA_EXPORT: bool = "allow_private_data_export";
    AUTOMATICALLY_FOLLOW_TOPICS_POLICY: i64 = "automatically_follow_topics_policy";
    AUTOMATICALLY_FOLLOW_TOPICS_WHERE_MENTIONED: bool = "automatically_follow_topics_where_mentioned";
    AUTOMATICALLY_UNMUTE_TOPICS_IN_MUTED_STREAMS_POLICY: i64 = "automatically_unmute_topics_in_muted_streams_policy";
    DEFAULT_LANGUAGE: String = "default_language";
    EMAIL_NOTIFICATIONS_BATCHING_PERIOD_SECONDS: i64 = "email_notifications_batching_period_seconds";
    ENABLE_DIGEST_EMAILS: bool = "enable_digest_emails";
    ENABLE_DRAFTS_SYNCHRONIZATION: bool = "enable_drafts_synchronization";
    ENABLE_FOLLOWED_TOPIC_EMAIL_NOTIFICATIONS: bool = "enable_followed_topic_email_notifications";
    ENABLE_FOLLOWED_TOPIC_PUSH_NOTIFICATIONS: bool = "enable_followed_topic_push_notifications";
    ENABLE_FOLLOWED_TOPIC_WILDCARD_MENTIONS_NOTIFY: bool = "enable_followed_topic_wildcard_mentions_notify";
    ENABLE_LOGIN_EMAILS: bool = "enable_login_emails";
    ENABLE_OFFLINE_EMAIL_NOTIFICATIONS: bool = "enable_offline_email_notifications";
    ENABLE_OFFLINE_PUSH_NOTIFICATIONS: bool = "enable_offline_push_notifications";
    ENABLE_ONLINE_PUSH_NOTIFICATIONS: bool = "enable_online_push_notifications";
    ENABLE_STREAM_EMAIL_NOTIFICATIONS: bool = "enable_stream_email_notifications";
    ENABLE_STREAM_PUSH_NOTIFICATIONS: bool = "enable_stream_push_notifications";
    MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS: bool = "message_content_in_email_notifications";
    PM_CONTENT_IN_DESKTOP_NOTIFICATIONS: bool = "pm_content_in_desktop_notifications";
    PRESENCE_ENABLED: bool = "presence_enabled";
    REALM_NAME_IN_EMAIL_NOTIFICATIONS_POLICY: i64 = "realm_name_in_email_notifications_policy";
    RECEIVES_TYPING_NOTIFICATIONS: bool = "receives_typing_notifications";
    RESOLVED_TOPIC_NOTICE_AUTO_READ_POLICY: String = "resolved_topic_notice_auto_read_policy";
    SEND_PRIVATE_TYPING_NOTIFICATIONS: bool = "send_private_typing_notifications";
    SEND_READ_RECEIPTS: bool = "send_read_receipts";
    SEND_STREAM_TYPING_NOTIFICATIONS: bool = "send_stream_typing_notifications";
    TRANSLATE_EMOTICONS: bool = "translate_emoticons";
    WILDCARD_MENTIONS_NOTIFY: bool = "wildcard_mentions_notify";
}

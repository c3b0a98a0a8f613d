//! The organization's settings that are plain values. The file holds those that were set. Permissions are in
//! [`crate::domain::groups::realm_settings`].

use crate::http::{ApiError, ApiResult};
use crate::types::Kind::{Bool, Number, NumberOf, NumberOrNull, Text, TextOrNull, WordOf};
use crate::types::{Kind, Property, Setting, SettingValue, Values};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

const DAY: i64 = 24 * 60 * 60;

const fn row(name: &'static str, kind: Kind) -> Property {
    Property { name, kind }
}

/// All of them, by the name that follows `realm_` in `POST /register`, with the defaults of a new organization.
/// A change may be refused for reasons that a type cannot tell: that is its endpoint's.
pub const PROPERTIES: &[Property] = &[
    row("allow_message_editing", Bool(true)),
    row("avatar_changes_disabled", Bool(false)),
    row("default_code_block_language", Text("")),
    row("default_language", Text("en")),
    row("description", Text("")),
    row("digest_emails_enabled", Bool(false)),
    row("digest_weekday", NumberOf(&[0, 1, 2, 3, 4, 5, 6], 1)),
    row("disallow_disposable_email_addresses", Bool(true)),
    row("email_changes_disabled", Bool(false)),
    row("emails_restricted_to_domains", Bool(false)),
    row("enable_guest_user_dm_warning", Bool(true)),
    row("enable_guest_user_indicator", Bool(true)),
    // Off in the published model, but on in every new organization that people join by invitation, as this one.
    row("enable_read_receipts", Bool(true)),
    row("enable_spectator_access", Bool(false)),
    row("giphy_rating", NumberOf(&[0, 1, 2, 3, 4, 5], 2)),
    row("icon_source", WordOf(&["G", "U"], "G")),
    row("icon_version", Number(1)),
    row("inline_image_preview", Bool(true)),
    row("inline_url_embed_preview", Bool(false)),
    row("invite_required", Bool(true)),
    row("jitsi_server_url", TextOrNull(None)),
    row("logo_source", WordOf(&["D", "U"], "D")),
    row("logo_version", Number(1)),
    row("message_content_allowed_in_email_notifications", Bool(true)),
    row("message_content_delete_limit_seconds", NumberOrNull(Some(600))),
    row("message_content_edit_limit_seconds", NumberOrNull(Some(600))),
    row("message_edit_history_visibility_policy", WordOf(&["all", "moves", "none"], "all")),
    row("message_retention_days", Number(-1)),
    // Channels are named by id; -1 is none.
    row("moderation_request_channel_id", Number(-1)),
    row("move_messages_between_streams_limit_seconds", NumberOrNull(Some(7 * DAY))),
    row("move_messages_within_stream_limit_seconds", NumberOrNull(Some(7 * DAY))),
    row("name", Text("Team chat")),
    row("name_changes_disabled", Bool(false)),
    row("new_stream_announcements_stream_id", Number(-1)),
    row("night_logo_source", WordOf(&["D", "U"], "D")),
    row("night_logo_version", Number(1)),
    row("org_type", NumberOf(&[0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000], 0)),
    // Published as one of `authentication_methods`; the only one here.
    row("password_auth_enabled", Bool(true)),
    row("presence_disabled", Bool(false)),
    // The description as HTML, for people who have not logged in yet; follows from `description`.
    row("rendered_description", Text("")),
    row("require_e2ee_push_notifications", Bool(false)),
    row("require_unique_names", Bool(false)),
    row("send_welcome_emails", Bool(true)),
    row("signup_announcements_stream_id", Number(-1)),
    row("topics_policy", WordOf(&["allow_empty_topic", "disable_empty_topic"], "allow_empty_topic")),
    // Published as 1, which is Jitsi with a server that the operator did not choose. Here the organization names one
    // first: until then 0, none.
    row("video_chat_provider", NumberOf(&[0, 1], 0)),
    row("waiting_period_threshold", Number(0)),
    row("want_advertise_in_communities_directory", Bool(false)),
    row("welcome_message_custom_text", Text("")),
    row("zulip_update_announcements_stream_id", Number(-1)),
];

/// The row of a setting.
pub fn property(name: &str) -> ApiResult<&'static Property> {
    PROPERTIES
        .iter()
        .find(|property| property.name == name)
        .ok_or_else(|| ApiError::internal(format_args!("the organization has no setting {name}")))
}

/// A setting of the organization, with the type of its values.
#[derive(Debug)]
pub struct RealmSetting<T>(Setting<T>);

impl<T: SettingValue> RealmSetting<T> {
    /// The row of [`PROPERTIES`] with a name.
    pub const fn of(name: &str) -> Self {
        Self(Setting::of(PROPERTIES, name))
    }

    /// The name in the file, and on the wire after `realm_`.
    pub const fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Loads the value by one indexed search.
    pub fn get(&self, connection: &Connection) -> ApiResult<T> {
        Ok(self.0.parse(stored(connection, self.0.name())?)?)
    }
}

macro_rules! settings {
    ($($constant:ident: $value:ty = $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub const $constant: RealmSetting<$value> = RealmSetting::of($name);
        )*
    };
}

settings! {
    ALLOW_MESSAGE_EDITING: bool = "allow_message_editing";
    AVATAR_CHANGES_DISABLED: bool = "avatar_changes_disabled";
    DEFAULT_CODE_BLOCK_LANGUAGE: String = "default_code_block_language";
    EMAIL_CHANGES_DISABLED: bool = "email_changes_disabled";
    EMAILS_RESTRICTED_TO_DOMAINS: bool = "emails_restricted_to_domains";
    ENABLE_READ_RECEIPTS: bool = "enable_read_receipts";
    ENABLE_SPECTATOR_ACCESS: bool = "enable_spectator_access";
    ICON_VERSION: i64 = "icon_version";
    INLINE_IMAGE_PREVIEW: bool = "inline_image_preview";
    LOGO_VERSION: i64 = "logo_version";
    MESSAGE_CONTENT_DELETE_LIMIT_SECONDS: Option<i64> = "message_content_delete_limit_seconds";
    MESSAGE_CONTENT_EDIT_LIMIT_SECONDS: Option<i64> = "message_content_edit_limit_seconds";
    MESSAGE_RETENTION_DAYS: i64 = "message_retention_days";
    MODERATION_REQUEST_CHANNEL_ID: i64 = "moderation_request_channel_id";
    MOVE_MESSAGES_BETWEEN_STREAMS_LIMIT_SECONDS: Option<i64> = "move_messages_between_streams_limit_seconds";
    MOVE_MESSAGES_WITHIN_STREAM_LIMIT_SECONDS: Option<i64> = "move_messages_within_stream_limit_seconds";
    NAME: String = "name";
    NAME_CHANGES_DISABLED: bool = "name_changes_disabled";
    NEW_STREAM_ANNOUNCEMENTS_STREAM_ID: i64 = "new_stream_announcements_stream_id";
    NIGHT_LOGO_VERSION: i64 = "night_logo_version";
    PASSWORD_AUTH_ENABLED: bool = "password_auth_enabled";
    PRESENCE_DISABLED: bool = "presence_disabled";
    REQUIRE_UNIQUE_NAMES: bool = "require_unique_names";
    SIGNUP_ANNOUNCEMENTS_STREAM_ID: i64 = "signup_announcements_stream_id";
    WAITING_PERIOD_THRESHOLD: i64 = "waiting_period_threshold";
    WELCOME_MESSAGE_CUSTOM_TEXT: String = "welcome_message_custom_text";
}

/// The value of a setting as JSON text, if it was ever set.
fn stored(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM realm_setting WHERE property = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// Sets a setting and returns whether the value changed. Emits no event.
pub fn set(connection: &Connection, name: &str, value: &Value) -> ApiResult<bool> {
    let property = property(name)?;
    if !property.allows(value) {
        return Err(ApiError::bad_request(format!("Invalid {name}")));
    }
    let before = match stored(connection, name)? {
        Some(text) => serde_json::from_str(&text)?,
        None => property.default_value(),
    };
    if before == *value {
        return Ok(false);
    }
    connection
        .prepare_cached(
            "INSERT INTO realm_setting (property, value) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute((name, value.to_string()))?;
    Ok(true)
}

/// All settings at once: the changed ones in one statement, the rest defaults.
pub fn all(connection: &Connection) -> ApiResult<Values> {
    let mut statement = connection.prepare_cached("SELECT property, value FROM realm_setting")?;
    let mut rows = statement.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        changed.push((row.get(0)?, serde_json::from_str(text)?));
    }
    Ok(Values::new(PROPERTIES, changed))
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
    fn a_changed_setting_is_read_and_others_stay_defaults() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        let limit = "message_content_edit_limit_seconds";
        assert_eq!(MESSAGE_CONTENT_EDIT_LIMIT_SECONDS.get(&connection).unwrap(), Some(600));
        assert!(set(&connection, limit, &Value::Null).unwrap());
        assert!(!set(&connection, limit, &Value::Null).unwrap(), "it is so already");
        assert_eq!(MESSAGE_CONTENT_EDIT_LIMIT_SECONDS.get(&connection).unwrap(), None);
        assert!(set(&connection, "topics_policy", &"disable_empty_topic".into()).unwrap());
        let refused = set(&connection, "topics_policy", &"no topics".into()).unwrap_err();
        assert_eq!(refused.msg(), "Invalid topics_policy");
        let unknown = set(&connection, "no such setting", &true.into()).unwrap_err();
        assert_eq!(unknown.status(), 500);
        let all = all(&connection).unwrap();
        assert_eq!(all.value(limit), &Value::Null);
        assert_eq!(all.value("topics_policy"), "disable_empty_topic");
        assert_eq!(all.value("name"), "Team chat");
    }
}

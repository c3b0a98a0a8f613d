//! The organization's settings that are plain values. The file holds those that were set. Permissions are in
//! [`crate::domain::groups::realm_settings`].

use crate::http::{ApiError, ApiResult};
use crate::types::Kind::{Bool, Number, NumberOf, NumberOrNull, Text, TextOrNull, WordOf};
use crate::types::{Kind, Property, Setting, SettingTable, SettingValue, Values};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

const DAY: i64 = 24 * 60 * 60;

const fn row(name: &'static str, kind: Kind, about: &'static str) -> Property {
    Property { name, kind, about }
}

/// All of them, by the name that follows `realm_` in `POST /register`, with the defaults of a new organization.
/// A change may be refused for reasons that a type cannot tell: that is its endpoint's.
pub const PROPERTIES: &[Property] = &[
    row("allow_message_editing", Bool(true), "Whether authors may edit the text of their messages."),
    row("avatar_changes_disabled", Bool(false), "Whether only administrators may change images of users."),
    row(
        "default_code_block_language",
        Text(""),
        "The language of code blocks that name none; empty for plain text.",
    ),
    row("default_language", Text("en"), "The language of new users and of mail, as a code such as `de`."),
    row("description", Text(""), "What the organization is, in Markdown."),
    row(
        "digest_emails_enabled",
        Bool(false),
        "Whether users get a weekly digest by email. No effect on this server: it sends no mail.",
    ),
    row(
        "digest_weekday",
        NumberOf(&[0, 1, 2, 3, 4, 5, 6], 1),
        "The day of the digest, 0 for Monday. No effect on this server: it sends no mail.",
    ),
    row(
        "disallow_disposable_email_addresses",
        Bool(true),
        "Whether addresses of disposable mail services may not join. No effect on this server: it has no list of them.",
    ),
    row("email_changes_disabled", Bool(false), "Whether only administrators may change emails of users."),
    row("emails_restricted_to_domains", Bool(false), "Whether only emails of the listed domains may join."),
    row(
        "enable_guest_user_dm_warning",
        Bool(true),
        "Whether clients warn before a direct message to a guest.",
    ),
    row("enable_guest_user_indicator", Bool(true), "Whether clients mark the names of guests."),
    // Off in the published model, but on in every new organization that people join by invitation, as this one.
    row("enable_read_receipts", Bool(true), "Whether users can see who has read a message."),
    row(
        "enable_spectator_access",
        Bool(false),
        "Whether web-public channels can be read without an account.",
    ),
    row(
        "giphy_rating",
        NumberOf(&[0, 1, 2, 3, 4, 5], 2),
        "Which pictures of GIPHY clients offer: 0 for none, 1 to 5 for those rated at most Y, G, PG, \
         PG-13 and R. No effect on this server: it has no key for the service.",
    ),
    row(
        "icon_source",
        WordOf(&["G", "U"], "G"),
        "`G` for the icon that every organization has at first, `U` for an uploaded one.",
    ),
    row("icon_version", Number(1), "Grows when the icon changes."),
    row("inline_image_preview", Bool(true), "Whether messages show the images that they link to."),
    row(
        "inline_url_embed_preview",
        Bool(false),
        "Whether messages show previews of the pages that they link to. No effect on this server: it fetches nothing.",
    ),
    row(
        "invite_required",
        Bool(true),
        "Whether new users need an invitation. No effect on this server: nobody joins without one, whatever it says.",
    ),
    row("jitsi_server_url", TextOrNull(None), "The server for video calls; null for none."),
    row(
        "logo_source",
        WordOf(&["D", "U"], "D"),
        "`D` for the logo that every organization has at first, `U` for an uploaded one.",
    ),
    row("logo_version", Number(1), "Grows when the logo changes."),
    row(
        "message_content_allowed_in_email_notifications",
        Bool(true),
        "Whether notifications by email have the text of messages. No effect on this server: it sends no mail.",
    ),
    row(
        "message_content_delete_limit_seconds",
        NumberOrNull(Some(600)),
        "For how many seconds authors may delete their messages; null for ever.",
    ),
    row(
        "message_content_edit_limit_seconds",
        NumberOrNull(Some(600)),
        "For how many seconds authors may edit the text of their messages; null for ever.",
    ),
    row(
        "message_edit_history_visibility_policy",
        WordOf(&["all", "moves", "none"], "all"),
        "What users see of earlier versions of messages: everything, only moves, or nothing.",
    ),
    row(
        "message_retention_days",
        Number(-1),
        "Days for which messages are kept, where a channel does not say otherwise; -1 for ever.",
    ),
    // Channels are named by id; -1 is none.
    row(
        "moderation_request_channel_id",
        Number(-1),
        "The private channel that reports of messages go to; -1 for none.",
    ),
    row(
        "move_messages_between_streams_limit_seconds",
        NumberOrNull(Some(7 * DAY)),
        "For how many seconds messages can be moved to other channels; null for ever.",
    ),
    row(
        "move_messages_within_stream_limit_seconds",
        NumberOrNull(Some(7 * DAY)),
        "For how many seconds messages can be moved to other topics; null for ever.",
    ),
    row("name", Text("Team chat"), "The name of the organization."),
    row("name_changes_disabled", Bool(false), "Whether only administrators may change names of users."),
    row(
        "new_stream_announcements_stream_id",
        Number(-1),
        "The channel in which new channels are announced; -1 for none.",
    ),
    row(
        "night_logo_source",
        WordOf(&["D", "U"], "D"),
        "`D` for the logo that every organization has at first, `U` for an uploaded one.",
    ),
    row("night_logo_version", Number(1), "Grows when the logo for dark themes changes."),
    row(
        "org_type",
        NumberOf(&[0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000], 0),
        "What kind of organization it is, such as 10 for a business or 20 for an open-source project; \
         0 if nobody said.",
    ),
    // Published as one of `authentication_methods`; the only one here.
    row("password_auth_enabled", Bool(true), "Whether people can log in with a password."),
    row("presence_disabled", Bool(false), "Whether nobody sees who is online."),
    // The description as HTML, for people who have not logged in yet; follows from `description`.
    row("rendered_description", Text(""), "The description as HTML."),
    row(
        "require_e2ee_push_notifications",
        Bool(false),
        "Whether notifications on phones have to be encrypted from end to end. No effect on this server: it sends none.",
    ),
    row("require_unique_names", Bool(false), "Whether no two users may have the same name."),
    row(
        "send_welcome_emails",
        Bool(true),
        "Whether new users get mails that introduce the server. No effect on this server: the Welcome Bot greets them.",
    ),
    row(
        "signup_announcements_stream_id",
        Number(-1),
        "The channel in which new users are announced; -1 for none.",
    ),
    row(
        "topics_policy",
        WordOf(&["allow_empty_topic", "disable_empty_topic"], "allow_empty_topic"),
        "Whether channels allow the empty topic, where they do not say otherwise.",
    ),
    // Published as 1, which is Jitsi with a server that the operator did not choose. Here the organization names one
    // first: until then 0, none.
    row(
        "video_chat_provider",
        NumberOf(&[0, 1], 0),
        "What makes links to video calls: 0 for nothing, 1 for Jitsi.",
    ),
    row("waiting_period_threshold", Number(0), "Days after which a new member becomes a full member."),
    row(
        "want_advertise_in_communities_directory",
        Bool(false),
        "Whether the organization wants to be listed in a public directory. No effect on this server: there is none.",
    ),
    row(
        "welcome_message_custom_text",
        Text(""),
        "What the welcome bot adds to its message to new users, in Markdown.",
    ),
    row(
        "zulip_update_announcements_stream_id",
        Number(-1),
        "The channel in which news of the server are announced; -1 for none. No effect on this server: there are no such news.",
    ),
];

/// The row of a setting.
pub fn property(name: &str) -> ApiResult<&'static Property> {
    RealmTable::property(name)
        .ok_or_else(|| ApiError::internal(format_args!("the organization has no setting {name}")))
}

/// The settings that `realm` events are about.
#[derive(Debug)]
pub struct RealmTable;

impl SettingTable for RealmTable {
    fn property(name: &str) -> Option<&'static Property> {
        PROPERTIES.iter().find(|property| property.name == name)
    }
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

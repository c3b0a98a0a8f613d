//! The organization's settings that are plain values. The file holds those that were set. Permissions are in
//! [`crate::domain::groups::realm_settings`].

use crate::domain::limits::MAX_CODE_LANGUAGE_LENGTH;
use crate::error::{ApiError, ApiResult};
use crate::store::ExecuteCached;
use crate::types::ChangedBy::{Owner, Server};
use crate::types::Kind::{
    Bool, Channel, Days, Language, LimitSeconds, Name, Number, NumberOf, Text, Url, WordOf,
};
use crate::types::OnWire::Hidden;
use crate::types::property::{clients, server, unused};
use crate::types::{Kind, Property, SECONDS_PER_DAY, Setting, SettingTable, SettingValue, Values};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// The maximum length of the welcome bot's text, in characters.
pub const MAX_WELCOME_MESSAGE_LENGTH: usize = 8000;

/// The number of changes of an image.
const VERSION: Kind = Number { min: 1, max: i64::MAX, default: 1 };

/// All of them, by the name that follows `realm_` in `POST /register`, with the defaults of a new organization.
pub const PROPERTIES: &[Property] = &[
    server("allow_message_editing", Bool(true), "Authors may edit the text of their messages."),
    server("avatar_changes_disabled", Bool(false), "Only administrators may change images of users."),
    server(
        "default_code_block_language",
        Text { max: MAX_CODE_LANGUAGE_LENGTH, default: "" },
        "The language of code blocks that name none; empty for plain text.",
    ),
    server(
        "default_language",
        Language("en"),
        "The language of new users, invitations by email and notices in channels, as a code such as `de`.",
    )
    .refused("Invalid language '{}'"),
    server(
        "description",
        Text { max: 1000, default: "" },
        "The description of the organization, in Markdown.",
    ),
    server("digest_emails_enabled", Bool(false), "Users get a weekly digest by email."),
    server("digest_weekday", NumberOf(&[0, 1, 2, 3, 4, 5, 6], 1), "The day of the digest, 0 for Monday."),
    server(
        "disallow_disposable_email_addresses",
        Bool(true),
        "Addresses of disposable mail services may not join, if this server sends mail.",
    )
    .by(Owner),
    server("email_changes_disabled", Bool(false), "Only administrators may change emails of users."),
    server("emails_restricted_to_domains", Bool(false), "Only emails of the listed domains may join.")
        .by(Owner),
    clients("enable_guest_user_dm_warning", Bool(true), "Clients warn before a direct message to a guest."),
    clients("enable_guest_user_indicator", Bool(true), "Clients mark the names of guests."),
    // Off in the published model, but on in every new organization that people join by invitation, as this one.
    server("enable_read_receipts", Bool(true), "Users can see who has read a message."),
    server("enable_spectator_access", Bool(false), "Web-public channels can be read without an account."),
    unused(
        "giphy_rating",
        NumberOf(&[0, 1, 2, 3, 4, 5], 2),
        "The pictures of GIPHY that clients offer: 0 for none, 1 to 5 for those rated at most Y, G, PG, \
         PG-13 and R.",
        "it has no key for the service",
    )
    .refused("Invalid giphy_rating {}"),
    server(
        "icon_source",
        WordOf(&["G", "U"], "G"),
        "`G` for the initial icon of an organization, `U` for an uploaded one.",
    )
    .by(Server),
    server("icon_version", VERSION, "Grows when the icon changes.").by(Server).on_wire(Hidden),
    server("inline_image_preview", Bool(true), "Messages show linked images."),
    unused(
        "inline_url_embed_preview",
        Bool(false),
        "Messages show previews of linked web pages.",
        "it fetches nothing",
    ),
    server(
        "invite_required",
        Bool(true),
        "New users need an invitation. If false, people can also sign up with a confirmed email address, if \
         this server sends email, or through single sign-on.",
    )
    .by(Owner),
    server("jitsi_server_url", Url { max: 200 }, "The server for video calls; null for none.")
        .refused("jitsi_server_url is not an allowed_type"),
    server(
        "logo_source",
        WordOf(&["D", "U"], "D"),
        "`D` for the initial logo of an organization, `U` for an uploaded one.",
    )
    .by(Server),
    server("logo_version", VERSION, "Grows when the logo changes.").by(Server).on_wire(Hidden),
    server(
        "message_content_allowed_in_email_notifications",
        Bool(true),
        "Email and push notifications contain names and message text.",
    ),
    server(
        "message_content_delete_limit_seconds",
        LimitSeconds(600),
        "Seconds during which authors may delete their messages; null for no limit.",
    ),
    server(
        "message_content_edit_limit_seconds",
        LimitSeconds(600),
        "Seconds during which authors may edit the text of their messages; null for no limit.",
    ),
    server(
        "message_edit_history_visibility_policy",
        WordOf(&["all", "moves", "none"], "all"),
        "The earlier versions of messages that users see: all, only moves, or none.",
    ),
    server(
        "message_retention_days",
        Days,
        "Days for which messages are kept, unless a channel has its own number; -1 for no limit.",
    )
    .by(Owner),
    // Channels are named by id; -1 is none.
    server(
        "moderation_request_channel_id",
        Channel,
        "The private channel for reports of messages; -1 for none.",
    ),
    server(
        "move_messages_between_streams_limit_seconds",
        LimitSeconds(7 * SECONDS_PER_DAY),
        "Seconds during which messages can be moved to other channels; null for no limit.",
    ),
    server(
        "move_messages_within_stream_limit_seconds",
        LimitSeconds(7 * SECONDS_PER_DAY),
        "Seconds during which messages can be moved to other topics; null for no limit.",
    ),
    server("name", Name { max: 40, default: "Team chat" }, "The name of the organization.")
        .refused("Invalid characters in organization name!"),
    server("name_changes_disabled", Bool(false), "Only administrators may change names of users."),
    server(
        "new_stream_announcements_stream_id",
        Channel,
        "The channel in which new channels are announced; -1 for none.",
    ),
    server(
        "night_logo_source",
        WordOf(&["D", "U"], "D"),
        "`D` for the initial logo of an organization, `U` for an uploaded one.",
    )
    .by(Server),
    server("night_logo_version", VERSION, "Grows when the logo for dark themes changes.")
        .by(Server)
        .on_wire(Hidden),
    clients(
        "org_type",
        NumberOf(&[0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000], 0),
        "The kind of organization, such as 10 for a business or 20 for an open-source project; 0 if \
         unspecified.",
    ),
    // Also published as `realm_email_auth_enabled`, and as `Email` of `realm_authentication_methods`.
    server("password_auth_enabled", Bool(true), "Users can log in with a password.").by(Server),
    server("presence_disabled", Bool(false), "The presence of users is hidden.").by(Server),
    // The description as HTML, for people who have not logged in yet; follows from `description`.
    server("rendered_description", Text { max: usize::MAX, default: "" }, "The description as HTML.")
        .by(Server)
        .on_wire(Hidden),
    server(
        "require_e2ee_push_notifications",
        Bool(false),
        "Push notifications to phones, which are not encrypted end to end, contain no text.",
    ),
    server("require_unique_names", Bool(false), "No two users may have the same name."),
    unused(
        "send_welcome_emails",
        Bool(true),
        "New users get emails that introduce the server.",
        "it sends none; the Welcome Bot greets new users",
    ),
    server(
        "signup_announcements_stream_id",
        Channel,
        "The channel in which new users are announced; -1 for none.",
    ),
    server(
        "topics_policy",
        WordOf(&["allow_empty_topic", "disable_empty_topic"], "allow_empty_topic"),
        "The policy for messages without a topic, in channels without their own policy.",
    ),
    // Published as 1, which is Jitsi with a server that the operator did not choose. Here the organization names one
    // first: until then 0, none.
    clients(
        "video_chat_provider",
        NumberOf(&[0, 1], 0),
        "The service for links to video calls: 0 for none, 1 for Jitsi.",
    )
    .refused("Invalid video_chat_provider {}"),
    server(
        "waiting_period_threshold",
        Number { min: 0, max: i32::MAX as i64, default: 0 },
        "Days after which a new member becomes a full member.",
    )
    .by(Owner),
    unused(
        "want_advertise_in_communities_directory",
        Bool(false),
        "The organization wants to be listed in a public directory.",
        "there is no directory",
    ),
    server(
        "welcome_message_custom_text",
        Text { max: MAX_WELCOME_MESSAGE_LENGTH, default: "" },
        "The text that the welcome bot adds to its message to new users, in Markdown.",
    ),
    unused(
        "zulip_update_announcements_stream_id",
        Channel,
        "The channel in which news of the server is announced; -1 for none.",
        "there are no such announcements",
    ),
];

/// The settings that `realm` events are about.
#[derive(Debug)]
pub struct RealmTable;

impl SettingTable for RealmTable {
    fn rows() -> impl Iterator<Item = &'static Property> {
        PROPERTIES.iter()
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
    DEFAULT_LANGUAGE: String = "default_language";
    DIGEST_EMAILS_ENABLED: bool = "digest_emails_enabled";
    DIGEST_WEEKDAY: i64 = "digest_weekday";
    DISALLOW_DISPOSABLE_EMAIL_ADDRESSES: bool = "disallow_disposable_email_addresses";
    EMAIL_CHANGES_DISABLED: bool = "email_changes_disabled";
    EMAILS_RESTRICTED_TO_DOMAINS: bool = "emails_restricted_to_domains";
    ENABLE_READ_RECEIPTS: bool = "enable_read_receipts";
    ENABLE_SPECTATOR_ACCESS: bool = "enable_spectator_access";
    ICON_VERSION: i64 = "icon_version";
    INLINE_IMAGE_PREVIEW: bool = "inline_image_preview";
    INVITE_REQUIRED: bool = "invite_required";
    LOGO_VERSION: i64 = "logo_version";
    MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS: bool = "message_content_allowed_in_email_notifications";
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
    REQUIRE_E2EE_PUSH_NOTIFICATIONS: bool = "require_e2ee_push_notifications";
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

/// Returns the value of a setting.
pub fn value(connection: &Connection, name: &str) -> ApiResult<Value> {
    stored_value(connection, property(name)?)
}

fn stored_value(connection: &Connection, property: &Property) -> ApiResult<Value> {
    match stored(connection, property.name)? {
        Some(text) => Ok(serde_json::from_str(&text)?),
        None => Ok(property.default_value()),
    }
}

fn property(name: &str) -> ApiResult<&'static Property> {
    let property = PROPERTIES.iter().find(|row| row.name == name);
    property.ok_or_else(|| ApiError::internal(format_args!("the organization has no setting {name}")))
}

/// Sets a setting and returns whether the value changed. Emits no event.
pub fn set(connection: &Connection, name: &str, value: &Value) -> ApiResult<bool> {
    let property = property(name)?;
    if !property.allows(value) {
        return Err(ApiError::bad_request(format!("Invalid {name}")));
    }
    if stored_value(connection, property)? == *value {
        return Ok(false);
    }
    connection.execute_cached(
        "INSERT INTO realm_setting (property, value) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        (name, value.to_string()),
    )?;
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

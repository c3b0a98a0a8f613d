//! The organization's own tables: its row, the defaults of settings, linkifiers, playgrounds, domains, emoji, profile fields.

use super::error::Result;
use super::groups::Groups;
use super::scope::{Scope, published_settings};
use super::tables::REALM;
use super::tables::{Record, Tables, emoji_file_name, id_in, time};
use crate::domain::groups::owner::Owner;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::{realm, user_settings};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The settings that the published release does not know, or knows by another name.
const NOT_COLUMNS: [&str; 10] = [
    "moderation_request_channel_id",
    "new_stream_announcements_stream_id",
    "password_auth_enabled",
    "presence_disabled",
    "rendered_description",
    "require_e2ee_push_notifications",
    "signup_announcements_stream_id",
    "topics_policy",
    "welcome_message_custom_text",
    "zulip_update_announcements_stream_id",
];

/// The settings among them that have no place in the archive.
pub const NEWER_REALM_SETTINGS: [&str; 3] =
    ["presence_disabled", "require_e2ee_push_notifications", "welcome_message_custom_text"];

/// The permissions that the published release does not know.
pub const NEWER_PERMISSIONS: [RealmGroup; 2] =
    [RealmGroup::CanSetDeleteMessagePolicy, RealmGroup::CanSetTopicsPolicy];

/// The greatest number of small columns, such as the versions of images.
pub const MAX_SMALL: i64 = 32_767;

/// The newest product news that the release announces. A lower number makes its server announce them.
const NEWEST_ANNOUNCEMENT: i64 = 15;

/// Writes the tables.
pub fn write(tables: &mut Tables<'_>, connection: &Connection, scope: &Scope, groups: &Groups) -> Result<()> {
    let row = realm_row(connection, groups)?;
    tables.table("zerver_realm", |rows| rows.push(&row))?;
    tables.table("zerver_realmuserdefault", |rows| {
        let mut row = published_settings(user_settings::defaults(connection)?.into_map());
        row.insert("id".to_owned(), 1.into());
        row.insert("realm".to_owned(), REALM.into());
        rows.push(&row)
    })?;
    // The only method of both servers: people set a new password, so it is there even where it is off now.
    tables.table("zerver_realmauthenticationmethod", |rows| {
        rows.push(&json!({"id": 1, "realm": REALM, "name": "Email"}))
    })?;
    tables.select(
        "zerver_realmfilter",
        connection,
        "SELECT id, 1 AS realm, pattern, url_template, position AS \"order\" FROM linkifier ORDER BY id",
        |_| Ok(true),
    )?;
    tables.select(
        "zerver_realmplayground",
        connection,
        "SELECT id, 1 AS realm, name, pygments_language, url_template FROM code_playground ORDER BY id",
        |_| Ok(true),
    )?;
    tables.select(
        "zerver_realmdomain",
        connection,
        "SELECT id, 1 AS realm, domain, allow_subdomains AS \"allow_subdomains?\" FROM realm_domain
         WHERE length(domain) <= 80 ORDER BY id",
        |_| Ok(true),
    )?;
    tables.select(
        "zerver_realmemoji",
        connection,
        "SELECT id, 1 AS realm, name, file AS file_name, is_animated AS \"is_animated?\", author_id AS author,
             deactivated AS \"deactivated?\"
         FROM realm_emoji ORDER BY id",
        |row| {
            let name = emoji_file_name(id_in(row, "id"), row["file_name"].as_str().unwrap_or_default());
            row.insert("file_name".to_owned(), name.into());
            Ok(true)
        },
    )?;
    tables.select(
        "zerver_customprofilefield",
        connection,
        "SELECT id, 1 AS realm, name, hint, field_data, type AS field_type, position AS \"order\",
             required AS \"required?\", editable_by_user AS \"editable_by_user?\",
             display_in_profile_summary AS \"display_in_profile_summary?\"
         FROM profile_field ORDER BY id",
        |_| Ok(true),
    )?;
    tables.select(
        "zerver_customprofilefieldvalue",
        connection,
        "SELECT user_id AS user_profile, field_id AS field, value, rendered_value
         FROM profile_value ORDER BY user_id, field_id",
        |row| Ok(scope.has(id_in(row, "user_profile"))),
    )
}

/// The organization's row. It has no `uuid`, which has to be unique on a server: the archive can be imported again after a
/// failure, or a second time to try something.
fn realm_row(connection: &Connection, groups: &Groups) -> Result<Record> {
    let settings = realm::settings::all(connection)?;
    let channel = |name: &str| match settings.value(name).as_i64() {
        Some(id) if id > 0 => Value::from(id),
        _ => Value::Null,
    };
    let (date_created, deactivated): (i64, bool) =
        connection.query_row("SELECT date_created, deactivated FROM realm", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let history = match settings.value("message_edit_history_visibility_policy").as_str() {
        Some("moves") => 2,
        Some("none") => 3,
        _ => 1,
    };
    let Value::Object(mut row) = json!({
        "id": REALM,
        // The organization is at the root of its server. The importer takes the subdomain of its command.
        "string_id": "",
        "date_created": time(date_created),
        "deactivated": deactivated,
        "deactivated_redirect": null,
        "scheduled_deletion_date": null,
        "demo_organization_scheduled_deletion_date": null,
        "push_notifications_enabled": false,
        "push_notifications_enabled_end_timestamp": null,
        "_max_invites": null,
        "custom_upload_quota_gb": null,
        "message_visibility_limit": null,
        "first_visible_message_id": 0,
        "plan_type": 1,
        "mandatory_topics": settings.value("topics_policy") == "disable_empty_topic",
        "moderation_request_channel": channel("moderation_request_channel_id"),
        "new_stream_announcements_stream": channel("new_stream_announcements_stream_id"),
        "signup_announcements_stream": channel("signup_announcements_stream_id"),
        "zulip_update_announcements_stream": channel("zulip_update_announcements_stream_id"),
        "zulip_update_announcements_level": NEWEST_ANNOUNCEMENT,
    }) else {
        return Ok(Record::new());
    };
    for (name, value) in settings.into_map() {
        if NOT_COLUMNS.contains(&name.as_str()) {
            continue;
        }
        let value = match name.as_str() {
            "message_edit_history_visibility_policy" => history.into(),
            "icon_version" | "logo_version" | "night_logo_version" => {
                value.as_i64().unwrap_or(1).min(MAX_SMALL).into()
            }
            _ => value,
        };
        row.insert(name, value);
    }
    for permission in RealmGroup::ALL.into_iter().filter(|permission| !NEWER_PERMISSIONS.contains(permission))
    {
        let group = groups.holder(Owner::Realm, permission.name(), permission.default_group());
        row.insert(permission.name().to_owned(), group.0.into());
    }
    Ok(row)
}

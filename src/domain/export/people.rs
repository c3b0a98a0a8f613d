//! Accounts, and the data of single users.

use super::clients::{Clients, WEB_CLIENT};
use super::error::Result;
use super::organization::MAX_SMALL;
use super::recipients::Recipients;
use super::scope::{Person, Scope, settings_of};
use super::tables::REALM;
use super::tables::{Record, Rows, Tables, id_in, time};
use crate::domain::bots;
use crate::domain::emoji;
use crate::types::UserId;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Writes the tables.
pub fn write(
    tables: &mut Tables<'_>,
    connection: &Connection,
    scope: &Scope,
    recipients: &Recipients,
    clients: &Clients,
) -> Result<()> {
    for (table, is_dummy) in [("zerver_userprofile", false), ("zerver_userprofile_mirrordummy", true)] {
        tables.table(table, |rows| {
            for person in scope.people.values().filter(|person| person.is_dummy == is_dummy) {
                rows.push(&profile(connection, recipients, person)?)?;
            }
            Ok(())
        })?;
    }
    tables.table("zerver_userprofile_crossrealm", |rows| {
        for (user_id, bot) in &scope.system_bots {
            let recipient = recipients.of_person(*user_id);
            rows.push(&json!({"id": user_id, "email": bot.delivery_email, "recipient_id": recipient}))?;
        }
        Ok(())
    })?;
    bot_data(tables, connection, scope)?;
    let shared = |row: &mut Record| Ok(scope.shares(id_in(row, "user_profile")));
    tables.select(
        "zerver_alertword",
        connection,
        "SELECT id, 1 AS realm, user_id AS user_profile, word FROM alert_word ORDER BY id",
        shared,
    )?;
    tables.select(
        "zerver_muteduser",
        connection,
        "SELECT user_id AS user_profile, muted_user_id AS muted_user, date_muted AS \"date_muted@\"
         FROM muted_user ORDER BY user_id, muted_user_id",
        |row| Ok(scope.shares(id_in(row, "user_profile")) && scope.has(id_in(row, "muted_user"))),
    )?;
    tables.select(
        "zerver_savedsnippet",
        connection,
        "SELECT id, 1 AS realm, user_id AS user_profile, title, content, date_created AS \"date_created@\"
         FROM saved_snippet ORDER BY id",
        shared,
    )?;
    tables.select(
        "zerver_onboardingstep",
        connection,
        "SELECT user_id AS user, onboarding_step, timestamp AS \"timestamp@\"
         FROM onboarding_step ORDER BY user_id, onboarding_step",
        |row| Ok(scope.shares(id_in(row, "user"))),
    )?;
    let names = emoji_names(connection)?;
    let joined = |user_id: i64| scope.people.get(&UserId(user_id)).map_or(0, |person| person.row.date_joined);
    tables.select(
        "zerver_userstatus",
        connection,
        "SELECT user_id AS user_profile, status_text, emoji_name, emoji_code, reaction_type
         FROM user_status ORDER BY user_id",
        |row| {
            let user_id = id_in(row, "user_profile");
            if !scope.shares(user_id) {
                return Ok(false);
            }
            row.insert("client".to_owned(), clients.named(WEB_CLIENT).into());
            // The database does not keep it.
            row.insert("timestamp".to_owned(), time(joined(user_id)));
            if row.get("reaction_type") == Some(&"".into()) {
                row.insert("reaction_type".to_owned(), "unicode_emoji".into());
            }
            Ok(correct_emoji_name(row, &names))
        },
    )?;
    let mut newest = 0;
    tables.select(
        "zerver_userpresence",
        connection,
        "SELECT user_id AS user_profile, 1 AS realm, update_id AS last_update_id,
             last_connected_time AS \"last_connected_time@\", last_active_time AS \"last_active_time@\"
         FROM presence ORDER BY user_id",
        |row| {
            newest = newest.max(id_in(row, "last_update_id"));
            Ok(scope.has(id_in(row, "user_profile")))
        },
    )?;
    tables.table("zerver_presencesequence", |rows| {
        rows.push(&json!({"id": 1, "realm": REALM, "last_update_id": newest}))
    })?;
    // This server keeps no statistics of requests.
    tables.table("zerver_useractivity", |_| Ok(()))?;
    tables.table("zerver_useractivityinterval", |_| Ok(()))
}

fn profile(connection: &Connection, recipients: &Recipients, person: &Person) -> Result<Record> {
    let row = &person.row;
    let bot = if row.is_bot() { bots::load(connection, row.user_id)? } else { None };
    let channel = |channel: Option<&bots::DefaultChannel>| channel.map(|channel| channel.stream_id);
    let mut record = settings_of(connection, person)?;
    let (email, delivery_email) = &person.emails;
    let Value::Object(own) = json!({
        "id": row.user_id,
        "realm": REALM,
        "recipient": recipients.of_person(row.user_id),
        "email": email,
        "delivery_email": delivery_email,
        "full_name": row.full_name,
        "date_joined": time(row.date_joined),
        "last_login": null,
        "role": row.role,
        "is_active": person.is_active(),
        "is_mirror_dummy": person.is_dummy,
        "is_bot": row.is_bot(),
        "bot_type": row.bot_type,
        "bot_owner": row.bot_owner_id,
        "is_superuser": false,
        "is_staff": false,
        "can_forge_sender": false,
        "can_create_users": false,
        "can_change_user_emails": false,
        "long_term_idle": false,
        "last_active_message_id": null,
        "last_reminder": null,
        "rate_limits": "",
        "tos_version": null,
        "timezone": row.timezone,
        "avatar_source": row.avatar.source(),
        "avatar_version": row.avatar.version.min(MAX_SMALL),
        "avatar_hash": null,
        "zoom_token": null,
        "default_sending_stream": channel(bot.as_ref().and_then(|bot| bot.default_sending_stream.as_ref())),
        "default_events_register_stream":
            channel(bot.as_ref().and_then(|bot| bot.default_events_register_stream.as_ref())),
        "default_all_public_streams": bot.as_ref().is_some_and(|bot| bot.default_all_public_streams),
        "groups": [],
        "user_permissions": [],
    }) else {
        return Ok(Record::new());
    };
    record.extend(own);
    Ok(record)
}

/// Services, configuration and storage of bots. The token of a service is left out: the importer makes a new one.
fn bot_data(tables: &mut Tables<'_>, connection: &Connection, scope: &Scope) -> Result<()> {
    let name_of =
        |user_id: i64| scope.people.get(&UserId(user_id)).map(|person| person.row.full_name.clone());
    tables.select(
        "zerver_service",
        connection,
        "SELECT user_id AS user_profile, payload_url AS base_url, interface
         FROM bot WHERE payload_url IS NOT NULL ORDER BY user_id",
        |row| {
            let user_id = id_in(row, "user_profile");
            row.insert("name".to_owned(), name_of(user_id).into());
            row.insert("token".to_owned(), "".into());
            Ok(scope.shares(user_id))
        },
    )?;
    tables.table("zerver_botconfigdata", |rows| bot_configuration(rows, connection, scope))?;
    tables.select(
        "zerver_botstoragedata",
        connection,
        "SELECT user_id AS bot_profile, key, value FROM bot_storage ORDER BY user_id, key",
        |row| Ok(scope.shares(id_in(row, "bot_profile"))),
    )
}

/// The configuration of bots. That of an incoming webhook names its integration.
fn bot_configuration(rows: &mut Rows<'_>, connection: &Connection, scope: &Scope) -> Result<()> {
    let mut statement =
        connection.prepare("SELECT user_id, config_data, service_name FROM bot ORDER BY user_id")?;
    let mut bots = statement.query([])?;
    while let Some(bot) = bots.next()? {
        let user_id: i64 = bot.get(0)?;
        if !scope.shares(user_id) {
            continue;
        }
        // A backup from elsewhere can have any text here.
        let mut values: Record = serde_json::from_str(&bot.get::<_, String>(1)?).unwrap_or_default();
        if let Some(service) = bot.get::<_, Option<String>>(2)? {
            values.entry("integration_id").or_insert(service.into());
        }
        for (key, value) in values {
            let id = rows.next_id();
            rows.push(&json!({"id": id, "bot_profile": user_id, "key": key, "value": value}))?;
        }
    }
    Ok(())
}

/// The names of custom emoji by their code.
pub fn emoji_names(connection: &Connection) -> Result<HashMap<String, String>> {
    Ok(emoji::all(connection)?.into_iter().map(|emoji| (emoji.id.to_string(), emoji.name)).collect())
}

/// Gives a custom emoji of a row its present name, which the importer requires. Returns false if there is no such emoji.
pub fn correct_emoji_name(row: &mut Record, names: &HashMap<String, String>) -> bool {
    if row.get("reaction_type") != Some(&"realm_emoji".into()) {
        return true;
    }
    let name = row.get("emoji_code").and_then(Value::as_str).and_then(|code| names.get(code)).cloned();
    let is_known = name.is_some();
    if let Some(name) = name {
        row.insert("emoji_name".to_owned(), name.into());
    }
    is_known
}

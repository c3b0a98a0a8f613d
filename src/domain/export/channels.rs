//! Channels, subscriptions, default channels, and policies of topics.

use super::error::Result;
use super::groups::{CHANNEL_PERMISSIONS, Groups};
use super::messages::Exported;
use super::recipients::Recipients;
use super::scope::Scope;
use super::tables::REALM;
use super::tables::{Record, Rows, Tables, id_in, time};
use crate::domain::channels;
use crate::domain::groups::owner::Owner;
use crate::domain::rows::channel::StreamRow;
use crate::types::UserId;
use crate::types::property::LIMITS;
use rusqlite::Connection;
use serde_json::{Value, json};

/// The color of subscriptions to people and groups.
const NO_COLOR: &str = "#c2c2c2";

/// Colors of subscriptions of people who do not consent.
const COLORS: [&str; 6] = ["#76ce90", "#fae589", "#a6c7e5", "#e79ab5", "#bfd56f", "#f4ae55"];

/// The settings of a subscription that follow the user's settings if they are null.
const NOTIFICATIONS: [&str; 5] = [
    "audible_notifications",
    "desktop_notifications",
    "email_notifications",
    "push_notifications",
    "wildcard_mentions_notify",
];

/// Writes the tables.
pub fn write(
    tables: &mut Tables<'_>,
    connection: &Connection,
    scope: &Scope,
    recipients: &Recipients,
    exported: &Exported,
    groups: &Groups,
) -> Result<()> {
    let mut streams = channels::all(connection)?;
    streams.sort_unstable_by_key(|stream| stream.stream_id);
    tables.table("zerver_stream", |rows| {
        streams.iter().try_for_each(|stream| rows.push(&channel(scope, exported, groups, stream)))
    })?;
    tables.select(
        "zerver_defaultstream",
        connection,
        "SELECT stream_id AS id, 1 AS realm, stream_id AS stream FROM default_stream ORDER BY stream_id",
        |_| Ok(true),
    )?;
    tables.table("zerver_subscription", |rows| subscriptions(rows, connection, scope, recipients))?;
    tables.select(
        "zerver_usertopic",
        connection,
        "SELECT user_id AS user_profile, user_topic.stream_id AS stream, recipient_id AS recipient, topic_name,
             visibility_policy, last_updated AS \"last_updated@\"
         FROM user_topic JOIN recipient USING (stream_id) ORDER BY user_id, stream_id, name_key",
        |row| Ok(scope.shares(id_in(row, "user_profile"))),
    )
}

fn channel(scope: &Scope, exported: &Exported, groups: &Groups, stream: &StreamRow) -> Value {
    let mut row = json!({
        "id": stream.stream_id,
        "realm": REALM,
        "recipient": stream.recipient_id,
        "name": stream.name,
        "date_created": time(stream.date_created),
        "creator": stream.creator_id.filter(|creator| scope.has(creator.0)),
        "deactivated": stream.is_archived,
        "description": stream.description,
        "rendered_description": stream.rendered_description,
        "invite_only": stream.invite_only,
        "history_public_to_subscribers": stream.has_public_history(),
        "is_web_public": stream.is_web_public,
        "is_in_zephyr_realm": false,
        "message_retention_days": stream.message_retention_days.map(|days| days.min(*LIMITS.end())),
        "first_message_id": exported.first_of.get(&stream.recipient_id),
        // The importer finds out.
        "is_recently_active": true,
    });
    for permission in CHANNEL_PERMISSIONS {
        let holder =
            groups.holder(Owner::Stream(stream.stream_id.0), permission.name(), permission.default_group());
        row[permission.name()] = holder.0.into();
    }
    row
}

/// All subscriptions: those to channels, also ended ones, and those of people to their own recipients and to groups.
fn subscriptions(
    rows: &mut Rows<'_>,
    connection: &Connection,
    scope: &Scope,
    recipients: &Recipients,
) -> Result<()> {
    let is_active = |user_id: UserId| scope.people.get(&user_id).is_some_and(super::scope::Person::is_active);
    for (user_id, recipient) in recipients.direct_subscriptions(scope) {
        let id = rows.next_id();
        let mut row = json!({
            "id": id, "user_profile": user_id, "recipient": recipient, "active": true,
            "is_user_active": is_active(user_id), "is_muted": false, "pin_to_top": false, "color": NO_COLOR,
        });
        for setting in NOTIFICATIONS {
            row[setting] = Value::Null;
        }
        rows.push(&row)?;
    }
    rows.select(
        connection,
        "SELECT user_id AS user_profile, recipient_id AS recipient, active AS \"active?\", color,
             is_muted AS \"is_muted?\", pin_to_top AS \"pin_to_top?\",
             audible_notifications AS \"audible_notifications?\", desktop_notifications AS \"desktop_notifications?\",
             email_notifications AS \"email_notifications?\", push_notifications AS \"push_notifications?\",
             wildcard_mentions_notify AS \"wildcard_mentions_notify?\"
         FROM subscription JOIN recipient USING (stream_id) ORDER BY user_id, stream_id",
        [],
        |row| {
            let user_id = id_in(row, "user_profile");
            row.insert("is_user_active".to_owned(), is_active(UserId(user_id)).into());
            if !scope.shares(user_id) {
                hide_settings(row);
            }
            Ok(scope.has(user_id))
        },
    )
}

/// Replaces the settings of a subscription by those of a new one.
fn hide_settings(row: &mut Record) {
    let place = (id_in(row, "user_profile") + id_in(row, "recipient")).unsigned_abs() as usize;
    row.insert("color".to_owned(), COLORS[place % COLORS.len()].into());
    for setting in ["is_muted", "pin_to_top"] {
        row.insert(setting.to_owned(), false.into());
    }
    for setting in NOTIFICATIONS {
        row.insert(setting.to_owned(), Value::Null);
    }
}

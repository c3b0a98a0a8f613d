//! Statements on subscriptions and on their spans.

use crate::domain::realm::user_ids;
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions::rules;
use crate::domain::subscriptions::rules::SubscriptionProperty;
use crate::store::ExecuteCached;
use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A user's row for a channel: the personal properties of the subscription.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnSubscription {
    /// The channel.
    pub stream_id: StreamId,
    /// The recipient id of the channel's messages.
    pub recipient_id: RecipientId,
    /// Lower-case `#rrggbb`.
    pub color: String,
    /// True if the channel is muted.
    pub is_muted: bool,
    /// True if clients show the channel above the others.
    pub pin_to_top: bool,
    /// Desktop notifications of messages. Null means the user's default here and in the next four.
    pub desktop_notifications: Option<bool>,
    /// Sounds for messages.
    pub audible_notifications: Option<bool>,
    /// Push notifications of messages.
    pub push_notifications: Option<bool>,
    /// Emails about messages.
    pub email_notifications: Option<bool>,
    /// True if wildcard mentions notify like personal ones.
    pub wildcard_mentions_notify: Option<bool>,
}

/// The columns of [`OwnSubscription`], in order, from `subscription JOIN recipient USING (stream_id)`.
const OWN_COLUMNS: &str = "stream_id, recipient_id, color, is_muted, pin_to_top, desktop_notifications,
    audible_notifications, push_notifications, email_notifications, wildcard_mentions_notify";

impl OwnSubscription {
    /// The subscription that a visitor seems to have, as published. `index` counts the channels before it.
    pub fn of_visitor(stream: &StreamRow, index: usize) -> Self {
        Self {
            stream_id: stream.stream_id,
            recipient_id: stream.recipient_id,
            color: rules::color_of(index).to_owned(),
            is_muted: false,
            pin_to_top: false,
            desktop_notifications: Some(true),
            audible_notifications: Some(true),
            push_notifications: Some(true),
            email_notifications: Some(true),
            wildcard_mentions_notify: Some(true),
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            stream_id: row.get(0)?,
            recipient_id: row.get(1)?,
            color: row.get(2)?,
            is_muted: row.get(3)?,
            pin_to_top: row.get(4)?,
            desktop_notifications: row.get(5)?,
            audible_notifications: row.get(6)?,
            push_notifications: row.get(7)?,
            email_notifications: row.get(8)?,
            wildcard_mentions_notify: row.get(9)?,
        })
    }
}

/// All subscribers of a channel, including deactivated users.
pub fn subscribers_with_deactivated(
    connection: &Connection,
    stream_id: StreamId,
) -> rusqlite::Result<RoaringBitmap> {
    user_ids::set(connection, "SELECT user_id FROM subscription WHERE stream_id = ?1 AND active", [stream_id])
}

/// The recipient ids of the channels in which a user can have received messages: those that they ever were subscribed
/// to or have a span in.
pub fn ever_received(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached(
            "SELECT recipient_id FROM (
                 SELECT stream_id FROM subscription WHERE user_id = ?1
                 UNION SELECT stream_id FROM subscription_span WHERE user_id = ?1
             ) JOIN recipient USING (stream_id)",
        )?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// A user's active subscriptions, by channel id.
pub fn list_active(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<OwnSubscription>> {
    connection
        .prepare_cached(&format!(
            "SELECT {OWN_COLUMNS} FROM subscription JOIN recipient USING (stream_id)
             WHERE user_id = ?1 AND active ORDER BY stream_id"
        ))?
        .query_map([user_id], OwnSubscription::read)?
        .collect()
}

/// A user's active and ended subscriptions, by channel id, each with whether it is active.
pub fn list_with_ended(
    connection: &Connection,
    user_id: UserId,
) -> rusqlite::Result<Vec<(OwnSubscription, bool)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {OWN_COLUMNS}, active FROM subscription JOIN recipient USING (stream_id)
             WHERE user_id = ?1 ORDER BY stream_id"
        ))?
        .query_map([user_id], |row| Ok((OwnSubscription::read(row)?, row.get("active")?)))?
        .collect()
}

/// A user's active or ended subscription to a channel, with whether it is active.
pub fn one(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
) -> rusqlite::Result<Option<(OwnSubscription, bool)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {OWN_COLUMNS}, active FROM subscription JOIN recipient USING (stream_id)
             WHERE user_id = ?1 AND stream_id = ?2"
        ))?
        .query_row((user_id, stream_id), |row| Ok((OwnSubscription::read(row)?, row.get("active")?)))
        .optional()
}

/// The active subscriptions to a channel, each with its user, ascending. The users may be deactivated.
pub fn list_of_channel(
    connection: &Connection,
    stream_id: StreamId,
) -> rusqlite::Result<Vec<(UserId, OwnSubscription)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {OWN_COLUMNS}, user_id FROM subscription JOIN recipient USING (stream_id)
             WHERE stream_id = ?1 AND user_id IN (SELECT user_id FROM subscription WHERE stream_id = ?1 AND active)
             ORDER BY user_id"
        ))?
        .query_map([stream_id], |row| Ok((row.get("user_id")?, OwnSubscription::read(row)?)))?
        .collect()
}

/// The active subscribers of each channel that has any, ascending.
pub fn all_subscribers(connection: &Connection) -> rusqlite::Result<HashMap<StreamId, Vec<UserId>>> {
    let mut statement = connection.prepare_cached(
        "SELECT stream_id, user_id FROM subscription JOIN user USING (user_id)
         WHERE active AND is_active ORDER BY stream_id, user_id",
    )?;
    let mut rows = statement.query([])?;
    let mut channels: HashMap<StreamId, Vec<UserId>> = HashMap::new();
    while let Some(row) = rows.next()? {
        channels.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(channels)
}

/// Active bots, and users who were active since a time in UNIX seconds: who joined, were present or sent a message
/// since then, or have an event queue.
pub fn active_since(connection: &Connection, since: i64) -> rusqlite::Result<RoaringBitmap> {
    user_ids::set(
        connection,
        "SELECT user_id FROM user WHERE is_active AND (bot_type IS NOT NULL OR date_joined >= ?1
             OR user_id IN (SELECT user_id FROM event_queue)
             OR (SELECT last_connected_time FROM presence WHERE presence.user_id = user.user_id) >= ?1
             OR (SELECT timestamp FROM message WHERE sender_id = user.user_id ORDER BY id DESC LIMIT 1) >= ?1)",
        [since],
    )
}

/// The id of the next message. The id of a deleted message is not used again.
pub fn next_message_id(connection: &Connection) -> rusqlite::Result<MessageId> {
    connection
        .prepare_cached("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0) + 1")?
        .query_row([], |row| row.get(0))
}

/// The colours of a user's active subscriptions.
pub fn used_colors(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT color FROM subscription WHERE user_id = ?1 AND active")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// Inserts an active subscription of a user who never was subscribed to the channel.
pub fn insert(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    color: &str,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO subscription (user_id, stream_id, active, color) VALUES (?1, ?2, 1, ?3)",
        (user_id, stream_id, color),
    )
}

/// Ends a subscription, or activates an ended one again.
pub fn set_active(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    active: bool,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE subscription SET active = ?3 WHERE user_id = ?1 AND stream_id = ?2",
        (user_id, stream_id, active),
    )
}

/// Begins a span at the next message, or continues one that ended there.
pub fn open_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    next: MessageId,
) -> rusqlite::Result<()> {
    let continued = connection
        .prepare_cached(
            "UPDATE subscription_span SET until_message_id = NULL
             WHERE user_id = ?1 AND stream_id = ?2 AND until_message_id = ?3",
        )?
        .execute((user_id, stream_id, next))?;
    if continued == 0 {
        connection.execute_cached(
            "INSERT INTO subscription_span (user_id, stream_id, from_message_id) VALUES (?1, ?2, ?3)",
            (user_id, stream_id, next),
        )?;
    }
    Ok(())
}

/// Counts the spans of a user in a channel, up to a limit.
pub fn count_spans(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    limit: usize,
) -> rusqlite::Result<usize> {
    let count: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM subscription_span WHERE user_id = ?1 AND stream_id = ?2 LIMIT ?3)",
        )?
        .query_row((user_id, stream_id, limit as i64), |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(limit))
}

/// A span that has ended: its first message, and the first one after it.
pub type EndedSpan = (MessageId, MessageId);

/// The spans of a user in a channel that have ended and are not empty: those that begin from `first` to `last`, the one before
/// and the one after these; ascending.
pub fn ended_spans_around(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    first: MessageId,
    last: MessageId,
) -> rusqlite::Result<Vec<EndedSpan>> {
    connection
        .prepare_cached(
            "SELECT from_message_id, until_message_id FROM subscription_span
             WHERE user_id = ?1 AND stream_id = ?2 AND until_message_id > from_message_id
                 AND from_message_id >= coalesce((SELECT max(from_message_id) FROM subscription_span
                     WHERE user_id = ?1 AND stream_id = ?2 AND from_message_id < ?3
                         AND until_message_id > from_message_id), ?3)
                 AND from_message_id <= coalesce((SELECT min(from_message_id) FROM subscription_span
                     WHERE user_id = ?1 AND stream_id = ?2 AND from_message_id > ?4
                         AND until_message_id > from_message_id), ?4)
             ORDER BY from_message_id",
        )?
        .query_map((user_id, stream_id, first, last), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Inserts a span that has ended, or changes the end of the one that begins with the same message.
pub fn put_ended_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    (from, until): EndedSpan,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
         VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET until_message_id = excluded.until_message_id",
        (user_id, stream_id, from, until),
    )
}

/// Deletes the span that begins with a message.
pub fn delete_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    from: MessageId,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "DELETE FROM subscription_span WHERE user_id = ?1 AND stream_id = ?2 AND from_message_id = ?3",
        (user_id, stream_id, from),
    )
}

/// Inserts a span without messages, if the user has none in the channel: it marks that they received messages of the channel in
/// another way.
pub fn add_empty_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    id: MessageId,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
         SELECT ?1, ?2, ?3, ?3
         WHERE NOT EXISTS (SELECT 1 FROM subscription_span WHERE user_id = ?1 AND stream_id = ?2)",
        (user_id, stream_id, id),
    )
}

/// Ends the current span before the next message, or deletes it if it has no messages.
pub fn close_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    next: MessageId,
) -> rusqlite::Result<()> {
    let deleted = connection
        .prepare_cached(
            "DELETE FROM subscription_span
             WHERE user_id = ?1 AND stream_id = ?2 AND from_message_id = ?3 AND until_message_id IS NULL",
        )?
        .execute((user_id, stream_id, next))?;
    if deleted == 0 {
        connection.execute_cached(
            "UPDATE subscription_span SET until_message_id = ?3
             WHERE user_id = ?1 AND stream_id = ?2 AND until_message_id IS NULL",
            (user_id, stream_id, next),
        )?;
    }
    Ok(())
}

/// A user's settings that apply where the notification properties of a subscription are null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotificationDefaults {
    /// Default of `desktop_notifications`.
    pub desktop_notifications: bool,
    /// Default of `audible_notifications`.
    pub audible_notifications: bool,
    /// Default of `push_notifications`.
    pub push_notifications: bool,
    /// Default of `email_notifications`.
    pub email_notifications: bool,
    /// Default of `wildcard_mentions_notify`.
    pub wildcard_mentions_notify: bool,
}

impl Default for NotificationDefaults {
    fn default() -> Self {
        Self {
            desktop_notifications: false,
            audible_notifications: false,
            push_notifications: false,
            email_notifications: false,
            wildcard_mentions_notify: true,
        }
    }
}

impl NotificationDefaults {
    /// Loads the settings of a user.
    pub fn load(connection: &Connection, user_id: UserId) -> rusqlite::Result<Self> {
        let mut defaults = Self::default();
        let mut statement = connection.prepare_cached(
            "SELECT property, value = 'true' FROM user_setting WHERE user_id = ?1 AND property IN (
                 'enable_stream_desktop_notifications', 'enable_stream_audible_notifications',
                 'enable_stream_push_notifications', 'enable_stream_email_notifications',
                 'wildcard_mentions_notify')",
        )?;
        let mut rows = statement.query([user_id])?;
        while let Some(row) = rows.next()? {
            defaults.set(row.get_ref(0)?.as_str()?, row.get(1)?);
        }
        Ok(defaults)
    }

    /// Loads the settings of the subscribers of a channel. Users whose settings are all the usual ones may be left out.
    pub fn load_of_channel(
        connection: &Connection,
        stream_id: StreamId,
    ) -> rusqlite::Result<HashMap<UserId, Self>> {
        let mut all: HashMap<UserId, Self> = HashMap::new();
        let mut statement = connection.prepare_cached(
            "SELECT user_id, property, value = 'true' FROM subscription JOIN user_setting USING (user_id)
             WHERE stream_id = ?1 AND active AND property IN (
                 'enable_stream_desktop_notifications', 'enable_stream_audible_notifications',
                 'enable_stream_push_notifications', 'enable_stream_email_notifications',
                 'wildcard_mentions_notify')",
        )?;
        let mut rows = statement.query([stream_id])?;
        while let Some(row) = rows.next()? {
            all.entry(row.get(0)?).or_default().set(row.get_ref(1)?.as_str()?, row.get(2)?);
        }
        Ok(all)
    }

    /// Sets the value of one of the settings.
    fn set(&mut self, property: &str, value: bool) {
        let setting = match property {
            "enable_stream_desktop_notifications" => &mut self.desktop_notifications,
            "enable_stream_audible_notifications" => &mut self.audible_notifications,
            "enable_stream_push_notifications" => &mut self.push_notifications,
            "enable_stream_email_notifications" => &mut self.email_notifications,
            _ => &mut self.wildcard_mentions_notify,
        };
        *setting = value;
    }

    /// Replaces the nulls of a subscription.
    pub fn fill(self, own: &mut OwnSubscription) {
        own.desktop_notifications.get_or_insert(self.desktop_notifications);
        own.audible_notifications.get_or_insert(self.audible_notifications);
        own.push_notifications.get_or_insert(self.push_notifications);
        own.email_notifications.get_or_insert(self.email_notifications);
        own.wildcard_mentions_notify.get_or_insert(self.wildcard_mentions_notify);
    }
}

/// Sets a property of a user's subscription.
pub fn update_property(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    property: &SubscriptionProperty,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        &format!("UPDATE subscription SET {} = ?3 WHERE user_id = ?1 AND stream_id = ?2", property.column()),
        (user_id, stream_id, property.sql_value()),
    )
}

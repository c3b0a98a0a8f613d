//! Every statement about subscriptions.

use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A stay in a channel, counted in messages: those of the channel with `from <= id < until` were sent while
/// subscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first message that could be received.
    pub from: MessageId,
    /// The first message after the stay; `None` while it lasts.
    pub until: Option<MessageId>,
}

impl Span {
    /// Whether a message of the channel was sent during the stay.
    pub fn contains(self, message_id: MessageId) -> bool {
        self.from <= message_id && self.until.is_none_or(|until| message_id < until)
    }
}

/// An active subscription of one user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnSubscription {
    /// The channel.
    pub stream_id: StreamId,
    /// The channel's set of receivers.
    pub recipient_id: RecipientId,
    /// Lower-case `#rrggbb`.
    pub color: String,
    /// Whether the channel is muted.
    pub is_muted: bool,
    /// Whether it is shown above the others.
    pub pin_to_top: bool,
    /// Null: the user's default. So for the next four.
    pub desktop_notifications: Option<bool>,
    /// Whether messages make a sound.
    pub audible_notifications: Option<bool>,
    /// Whether messages are pushed to phones.
    pub push_notifications: Option<bool>,
    /// Whether messages are sent by email.
    pub email_notifications: Option<bool>,
    /// Whether a mention of everybody notifies like a personal one.
    pub wildcard_mentions_notify: Option<bool>,
}

/// The columns of [`OwnSubscription`], in order, from `subscription JOIN recipient USING (stream_id)`.
const OWN_COLUMNS: &str = "stream_id, recipient_id, color, is_muted, pin_to_top, desktop_notifications,
    audible_notifications, push_notifications, email_notifications, wildcard_mentions_notify";

impl OwnSubscription {
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

/// A user's stays in a channel, oldest first, also the ended ones.
pub fn spans(connection: &Connection, user_id: UserId, stream_id: StreamId) -> rusqlite::Result<Vec<Span>> {
    connection
        .prepare_cached(
            "SELECT from_message_id, until_message_id FROM subscription_span
             WHERE user_id = ?1 AND stream_id = ?2 ORDER BY from_message_id",
        )?
        .query_map((user_id, stream_id), |row| Ok(Span { from: row.get(0)?, until: row.get(1)? }))?
        .collect()
}

/// Everybody who is subscribed to a channel, deactivated users too.
pub fn subscribers_with_deactivated(
    connection: &Connection,
    stream_id: StreamId,
) -> rusqlite::Result<RoaringBitmap> {
    let mut statement =
        connection.prepare_cached("SELECT user_id FROM subscription WHERE stream_id = ?1 AND active")?;
    let ids = statement.query_map([stream_id], |row| row.get::<_, UserId>(0))?;
    ids.filter_map(|id| id.map(UserId::bit).transpose()).collect()
}

/// The sets of receivers of every channel that a user ever was subscribed to, or got a single message of: only there can
/// they have received messages.
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
pub fn own(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<OwnSubscription>> {
    connection
        .prepare_cached(&format!(
            "SELECT {OWN_COLUMNS} FROM subscription JOIN recipient USING (stream_id)
             WHERE user_id = ?1 AND active ORDER BY stream_id"
        ))?
        .query_map([user_id], OwnSubscription::read)?
        .collect()
}

/// A user's subscriptions with the ended ones, by channel id; each with whether it is active.
pub fn own_with_ended(
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

/// A user's subscription to a channel, also an ended one, with whether it is active.
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

/// The active users in each channel that has any, ascending.
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

/// Active bots, and users who were here since a time in UNIX seconds: they joined, had a client open,
/// sent something, or listen now.
pub fn active_since(connection: &Connection, since: i64) -> rusqlite::Result<RoaringBitmap> {
    let mut statement = connection.prepare_cached(
        "SELECT user_id FROM user WHERE is_active AND (bot_type IS NOT NULL OR date_joined >= ?1
             OR user_id IN (SELECT user_id FROM event_queue)
             OR (SELECT last_connected_time FROM presence WHERE presence.user_id = user.user_id) >= ?1
             OR (SELECT timestamp FROM message WHERE sender_id = user.user_id ORDER BY id DESC LIMIT 1) >= ?1)",
    )?;
    let ids = statement.query_map([since], |row| row.get::<_, UserId>(0))?;
    ids.filter_map(|id| id.map(UserId::bit).transpose()).collect()
}

/// The id that the next message will have. Deleting the newest message does not give its id away.
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

/// Subscribes a user who never was.
pub fn insert(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    color: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO subscription (user_id, stream_id, active, color) VALUES (?1, ?2, 1, ?3)",
        )?
        .execute((user_id, stream_id, color))
        .map(|_| ())
}

/// Ends a subscription, or takes an ended one up again.
pub fn set_active(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    active: bool,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE subscription SET active = ?3 WHERE user_id = ?1 AND stream_id = ?2")?
        .execute((user_id, stream_id, active))
        .map(|_| ())
}

/// Begins a stay with the next message. A stay that ended with no message since goes on.
pub fn open_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    next: MessageId,
) -> rusqlite::Result<()> {
    let goes_on = connection
        .prepare_cached(
            "UPDATE subscription_span SET until_message_id = NULL
             WHERE user_id = ?1 AND stream_id = ?2 AND until_message_id = ?3",
        )?
        .execute((user_id, stream_id, next))?;
    if goes_on == 0 {
        connection
            .prepare_cached(
                "INSERT INTO subscription_span (user_id, stream_id, from_message_id) VALUES (?1, ?2, ?3)",
            )?
            .execute((user_id, stream_id, next))?;
    }
    Ok(())
}

/// A stay for one message that was sent while the user was away.
pub fn add_span_of_one(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    id: MessageId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
             VALUES (?1, ?2, ?3, ?3 + 1) ON CONFLICT DO UPDATE SET until_message_id = excluded.until_message_id",
        )?
        .execute((user_id, stream_id, id))
        .map(|_| ())
}

/// A stay without a message: the user has something of the channel that spans cannot tell.
pub fn add_empty_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    id: MessageId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
             VALUES (?1, ?2, ?3, ?3)",
        )?
        .execute((user_id, stream_id, id))
        .map(|_| ())
}

/// Ends a stay before the next message. A stay without a message was none.
pub fn close_span(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    next: MessageId,
) -> rusqlite::Result<()> {
    let was_none = connection
        .prepare_cached(
            "DELETE FROM subscription_span
             WHERE user_id = ?1 AND stream_id = ?2 AND from_message_id = ?3 AND until_message_id IS NULL",
        )?
        .execute((user_id, stream_id, next))?;
    if was_none == 0 {
        connection
            .prepare_cached(
                "UPDATE subscription_span SET until_message_id = ?3
                 WHERE user_id = ?1 AND stream_id = ?2 AND until_message_id IS NULL",
            )?
            .execute((user_id, stream_id, next))?;
    }
    Ok(())
}

/// What a user's null notification settings mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Defaults {
    /// What null means for `desktop_notifications`.
    pub desktop_notifications: bool,
    /// What null means for `audible_notifications`.
    pub audible_notifications: bool,
    /// What null means for `push_notifications`.
    pub push_notifications: bool,
    /// What null means for `email_notifications`.
    pub email_notifications: bool,
    /// What null means for `wildcard_mentions_notify`.
    pub wildcard_mentions_notify: bool,
}

impl Default for Defaults {
    /// Of a user who changed nothing.
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

impl Defaults {
    /// Loads a user's.
    pub fn of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Self> {
        let mut defaults = Self::default();
        let mut statement = connection.prepare_cached(
            "SELECT property, value = 'true' FROM user_setting WHERE user_id = ?1 AND property IN (
                 'enable_stream_desktop_notifications', 'enable_stream_audible_notifications',
                 'enable_stream_push_notifications', 'enable_stream_email_notifications',
                 'wildcard_mentions_notify')",
        )?;
        let mut rows = statement.query([user_id])?;
        while let Some(row) = rows.next()? {
            let setting = match row.get_ref(0)?.as_str()? {
                "enable_stream_desktop_notifications" => &mut defaults.desktop_notifications,
                "enable_stream_audible_notifications" => &mut defaults.audible_notifications,
                "enable_stream_push_notifications" => &mut defaults.push_notifications,
                "enable_stream_email_notifications" => &mut defaults.email_notifications,
                _ => &mut defaults.wildcard_mentions_notify,
            };
            *setting = row.get(1)?;
        }
        Ok(defaults)
    }

    /// A subscription without nulls.
    pub fn fill(self, own: &mut OwnSubscription) {
        own.desktop_notifications.get_or_insert(self.desktop_notifications);
        own.audible_notifications.get_or_insert(self.audible_notifications);
        own.push_notifications.get_or_insert(self.push_notifications);
        own.email_notifications.get_or_insert(self.email_notifications);
        own.wildcard_mentions_notify.get_or_insert(self.wildcard_mentions_notify);
    }
}

/// Sets what a user chose for a channel.
pub fn set_choice(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    choice: &crate::domain::subscriptions::rules::Choice,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(&format!(
            "UPDATE subscription SET {} = ?3 WHERE user_id = ?1 AND stream_id = ?2",
            choice.column()
        ))?
        .execute((user_id, stream_id, choice.stored()))
        .map(|_| ())
}

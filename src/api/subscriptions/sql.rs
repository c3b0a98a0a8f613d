//! Every statement about subscriptions.

use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, Row};

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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Whether a user is subscribed to a channel.
pub fn is_subscribed(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM subscription WHERE user_id = ?1 AND stream_id = ?2 AND active)",
        )?
        .query_row((user_id, stream_id), |row| row.get(0))
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

/// The sets of receivers of every channel that a user ever was subscribed to: only there can they have received
/// messages.
pub fn ever_subscribed(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached(
            "SELECT recipient_id FROM subscription JOIN recipient USING (stream_id) WHERE user_id = ?1",
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

/// The active users that are subscribed to a channel.
pub fn subscribers(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<RoaringBitmap> {
    let mut statement = connection.prepare_cached(
        "SELECT user_id FROM subscription JOIN user USING (user_id)
         WHERE stream_id = ?1 AND active AND is_active ORDER BY user_id",
    )?;
    let ids = statement.query_map([stream_id], |row| row.get::<_, UserId>(0))?;
    ids.filter_map(|id| id.map(UserId::bit).transpose()).collect()
}

//! Statements on channels.

use crate::domain::channels::rules::Privacy;
use crate::domain::look_alikes;
use crate::domain::look_alikes::Named;
use crate::domain::rows::channel::{COLUMNS, StreamRow, TopicsPolicy};
use crate::store::ExecuteCached;
use crate::types::{MessageId, RecipientId, StreamId, UserId, fold};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Loads a channel by name, ignoring case.
pub fn by_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) WHERE name_key = ?1"
        ))?
        .query_row([fold(name.trim())], StreamRow::read)
        .optional()
}

/// Loads a channel by its recipient id.
pub fn by_recipient(
    connection: &Connection,
    recipient_id: RecipientId,
) -> rusqlite::Result<Option<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) WHERE recipient_id = ?1"
        ))?
        .query_row([recipient_id], StreamRow::read)
        .optional()
}

/// The channels with limited message retention, as recipient id and days. `of_realm` is the organization's setting, -1
/// for unlimited.
pub fn limited_retention(
    connection: &Connection,
    of_realm: i64,
) -> rusqlite::Result<Vec<(RecipientId, i64)>> {
    connection
        .prepare_cached(
            "SELECT recipient_id, coalesce(message_retention_days, ?1) AS days
             FROM stream JOIN recipient USING (stream_id) WHERE days >= 0 ORDER BY stream_id",
        )?
        .query_map([of_realm], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The recipient ids of all public channels.
pub fn public_recipients(connection: &Connection) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached(
            "SELECT recipient_id FROM stream JOIN recipient USING (stream_id) WHERE NOT invite_only",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// All channels, including archived ones, by name.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) ORDER BY name, stream_id"
        ))?
        .query_map([], StreamRow::read)?
        .collect()
}

/// All private channels, by name.
pub fn all_private(connection: &Connection) -> rusqlite::Result<Vec<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) WHERE invite_only
             ORDER BY name, stream_id"
        ))?
        .query_map([], StreamRow::read)?
        .collect()
}

/// A channel to be inserted.
#[derive(Clone, Copy, Debug)]
pub struct NewStreamRow<'a> {
    /// Checked by [`name`](crate::domain::channels::rules::name).
    pub name: &'a str,
    /// The description as Markdown.
    pub description: &'a str,
    /// The description as HTML.
    pub rendered_description: &'a str,
    /// UNIX seconds.
    pub date_created: i64,
    /// The user who creates it.
    pub creator_id: Option<UserId>,
    /// The properties that determine who can read it.
    pub privacy: Privacy,
    /// Days; `None`: the organization's, `-1`: forever.
    pub message_retention_days: Option<i64>,
    /// The rule for messages in the empty topic.
    pub topics_policy: TopicsPolicy,
    /// The folder it is shown in.
    pub folder_id: Option<i64>,
}

/// Inserts a channel and its recipient. Returns the channel's id.
pub fn insert(connection: &Connection, stream: &NewStreamRow<'_>) -> rusqlite::Result<StreamId> {
    connection.execute_cached(
        "INSERT INTO stream (name, name_key, description, rendered_description, date_created, creator_id,
             invite_only, is_web_public, history_public_to_subscribers, message_retention_days, topics_policy,
             folder_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        (
            stream.name,
            fold(stream.name),
            stream.description,
            stream.rendered_description,
            stream.date_created,
            stream.creator_id,
            stream.privacy.invite_only,
            stream.privacy.is_web_public,
            stream.privacy.history_public_to_subscribers,
            stream.message_retention_days,
            stream.topics_policy,
            stream.folder_id,
        ),
    )?;
    let stream_id = StreamId(connection.last_insert_rowid());
    look_alikes::set(connection, Named::Stream, stream_id.0, stream.name)?;
    connection.execute_cached("INSERT INTO recipient (stream_id) VALUES (?1)", [stream_id])?;
    Ok(stream_id)
}

/// Writes all columns of a channel that clients can change.
pub fn update(connection: &Connection, stream: &StreamRow) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE stream SET name = ?2, name_key = ?3, is_archived = ?4, description = ?5,
             rendered_description = ?6, invite_only = ?7, is_web_public = ?8,
             history_public_to_subscribers = ?9, message_retention_days = ?10, topics_policy = ?11,
             folder_id = ?12
         WHERE stream_id = ?1",
        (
            stream.stream_id,
            &stream.name,
            fold(&stream.name),
            stream.is_archived,
            &stream.description,
            &stream.rendered_description,
            stream.invite_only,
            stream.is_web_public,
            stream.history_public_to_subscribers,
            stream.message_retention_days,
            stream.topics_policy,
            stream.folder_id,
        ),
    )?;
    look_alikes::set(connection, Named::Stream, stream.stream_id.0, &stream.name)
}

/// The ids of the channels that new users are subscribed to, ascending.
pub fn default_streams(connection: &Connection) -> rusqlite::Result<Vec<StreamId>> {
    connection
        .prepare_cached("SELECT stream_id FROM default_stream ORDER BY stream_id")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Adds a channel to the default channels or removes it. Returns whether that changed anything.
pub fn set_default(connection: &Connection, stream_id: StreamId, is_default: bool) -> rusqlite::Result<bool> {
    let statement = if is_default {
        "INSERT OR IGNORE INTO default_stream (stream_id) VALUES (?1)"
    } else {
        "DELETE FROM default_stream WHERE stream_id = ?1"
    };
    Ok(connection.prepare_cached(statement)?.execute([stream_id])? > 0)
}

/// True if any message of a channel has a topic other than the empty one. Walks the channel's topics up to the first
/// one with messages.
pub fn has_named_topics(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM topic WHERE stream_id = ?1 AND name_key <> ''
                 AND EXISTS (SELECT 1 FROM message WHERE message.topic_id = topic.topic_id))",
        )?
        .query_row([stream_id], |row| row.get(0))
}

/// The id of the oldest message of a channel. Costs one seek.
pub fn first_message_id(
    connection: &Connection,
    recipient_id: RecipientId,
) -> rusqlite::Result<Option<MessageId>> {
    connection
        .prepare_cached("SELECT min(id) FROM message WHERE recipient_id = ?1")?
        .query_row([recipient_id], |row| row.get(0))
}

/// The time of the newest message of a channel, in UNIX seconds. Costs one seek.
pub fn newest_timestamp(connection: &Connection, recipient_id: RecipientId) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT timestamp FROM message WHERE recipient_id = ?1 ORDER BY id DESC LIMIT 1")?
        .query_row([recipient_id], |row| row.get(0))
        .optional()
}

/// The number of messages of a channel from this id on. Reads only the index.
pub fn messages_since(
    connection: &Connection,
    recipient_id: RecipientId,
    from: MessageId,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM message WHERE recipient_id = ?1 AND id >= ?2")?
        .query_row((recipient_id, from), |row| row.get(0))
}

/// The first message that was sent at a time or later, if any. Ids grow with time, so this is a binary search, with
/// about twenty seeks in a million messages.
pub fn first_message_since(connection: &Connection, timestamp: i64) -> rusqlite::Result<Option<MessageId>> {
    let newest: Option<i64> =
        connection.prepare_cached("SELECT max(id) FROM message")?.query_row([], |row| row.get(0))?;
    let Some(newest) = newest else { return Ok(None) };
    let mut at_or_after =
        connection.prepare_cached("SELECT id, timestamp FROM message WHERE id >= ?1 ORDER BY id LIMIT 1")?;
    // If the message exists, its id is in low..=high.
    let (mut low, mut high) = (0, newest + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let (id, sent): (i64, i64) = at_or_after.query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if sent < timestamp {
            low = id + 1;
        } else {
            high = middle;
        }
    }
    Ok((low <= newest).then_some(MessageId(low)))
}

/// The number of active subscribers of each channel: all subscribers, counted in the index alone, minus the deactivated
/// ones, who are few.
pub fn subscriber_counts(connection: &Connection) -> rusqlite::Result<HashMap<StreamId, i64>> {
    let mut counts = HashMap::new();
    let statements = [
        (1, "SELECT stream_id, count(*) FROM subscription WHERE active GROUP BY stream_id"),
        (-1, DEACTIVATED_SUBSCRIBERS),
    ];
    for (sign, statement) in statements {
        let mut statement = connection.prepare_cached(statement)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            *counts.entry(row.get(0)?).or_default() += sign * row.get::<_, i64>(1)?;
        }
    }
    Ok(counts)
}

/// The number of active subscribers of a channel.
pub fn subscriber_count(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM subscription CROSS JOIN user USING (user_id)
             WHERE stream_id = ?1 AND active AND is_active",
        )?
        .query_row([stream_id], |row| row.get(0))
}

const DEACTIVATED_SUBSCRIBERS: &str =
    "SELECT stream_id, count(*) FROM user CROSS JOIN subscription USING (user_id)
     WHERE NOT is_active AND active GROUP BY stream_id";

//! Activity since a time: topics in which people wrote, and new channels.

use crate::domain::access::messages::stream_of;
use crate::domain::rows;
use crate::types::{MessageId, RecipientId, StreamId, TopicId};
use rusqlite::Connection;

/// A topic in which people wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicActivity {
    pub topic_id: TopicId,
    /// The key of the topic, equal for spellings that differ in case.
    pub key: String,
    /// The channel that was active.
    pub stream_id: StreamId,
    /// The recipient of the channel's messages.
    pub recipient_id: RecipientId,
    /// The number of people who wrote.
    pub senders: i64,
    /// The number of messages of people.
    pub messages: i64,
}

/// Activity since a time.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// The first message since then; its id is greater than all others if there is none.
    pub first: MessageId,
    /// The topics of channels that are not archived.
    pub topics: Vec<TopicActivity>,
    /// Channels that were created since then and are not archived.
    pub new_channels: Vec<StreamId>,
}

/// Loads what happened since a time.
pub fn load(connection: &Connection, since: i64) -> rusqlite::Result<Activity> {
    let first = first_since(connection, since)?;
    // In the order of ids, so that only messages of these days are read.
    let found = connection
        .prepare_cached(
            "SELECT topic_id, recipient_id, count(DISTINCT sender_id), count(*)
             FROM message NOT INDEXED CROSS JOIN user ON user_id = sender_id
             WHERE id >= ?1 AND topic_id IS NOT NULL AND bot_type IS NULL GROUP BY topic_id",
        )?
        .query_map([first], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<Vec<(TopicId, RecipientId, i64, i64)>>>()?;
    let mut keys = connection.prepare_cached("SELECT name_key FROM topic WHERE topic_id = ?1")?;
    let mut topics = Vec::new();
    for (topic_id, recipient_id, senders, messages) in found {
        let Some(stream_id) = stream_of(connection, recipient_id)? else { continue };
        if rows::channel::by_id(connection, stream_id)?.is_none_or(|stream| stream.is_archived) {
            continue;
        }
        let key = keys.query_row([topic_id], |row| row.get(0))?;
        topics.push(TopicActivity { topic_id, key, stream_id, recipient_id, senders, messages });
    }
    let new_channels = connection
        .prepare_cached(
            "SELECT stream_id FROM stream WHERE date_created >= ?1 AND NOT is_archived ORDER BY name",
        )?
        .query_map([since], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Activity { first, topics, new_channels })
}

/// The first message since a time. Ids grow with time, so that a binary search finds it.
fn first_since(connection: &Connection, since: i64) -> rusqlite::Result<MessageId> {
    let newest: i64 = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM message")?
        .query_row([], |row| row.get(0))?;
    let mut statement =
        connection.prepare_cached("SELECT id, timestamp FROM message WHERE id >= ?1 ORDER BY id LIMIT 1")?;
    let (mut start, mut end) = (1, newest + 1);
    while start < end {
        let middle = start.midpoint(end);
        let (id, time): (i64, i64) = statement.query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if time < since {
            start = id + 1;
        } else {
            end = middle;
        }
    }
    Ok(MessageId(start))
}

//! Statements about topics, and about all messages of one. There may be many, so that each uses an index and reads no more rows than
//! its result needs. Ranges are those of ids that a viewer may read.

use crate::domain::access::messages::{Ranges, newest_of_topic_in, topic};
use crate::domain::limits::{MAX_EDITS, MAX_PARTICIPANT_ROWS};
use crate::domain::messages::record::{EditRecord, attribute};
use crate::domain::messages::sql;
use crate::domain::rows::channel::StreamRow;
use crate::store::ExecuteCached;
use crate::types::{MessageId, RecipientId, StreamId, TopicId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Lists the topics of a channel, also those without messages.
pub fn topics_of(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<Vec<TopicId>> {
    connection
        .prepare_cached("SELECT topic_id FROM topic WHERE stream_id = ?1")?
        .query_map([stream_id], |row| row.get(0))?
        .collect()
}

/// Returns a topic of a channel, and stores it if it is new.
pub fn topic_or_new(connection: &Connection, stream_id: StreamId, key: &str) -> rusqlite::Result<TopicId> {
    if let Some(topic_id) = topic(connection, stream_id, key)? {
        return Ok(topic_id);
    }
    insert_topic(connection, stream_id, key)
}

fn insert_topic(connection: &Connection, stream_id: StreamId, key: &str) -> rusqlite::Result<TopicId> {
    connection.execute_cached("INSERT INTO topic (stream_id, name_key) VALUES (?1, ?2)", (stream_id, key))?;
    Ok(TopicId(connection.last_insert_rowid()))
}

/// Returns a topic of a channel, which is stored if it is new, and the time of the channel's newest message, in UNIX
/// seconds. One statement: this is a part of each send.
pub fn topic_or_new_and_newest(
    connection: &Connection,
    stream: &StreamRow,
    key: &str,
) -> rusqlite::Result<(TopicId, Option<i64>)> {
    let (topic_id, newest): (Option<TopicId>, _) = connection
        .prepare_cached(
            "SELECT (SELECT topic_id FROM topic WHERE stream_id = ?1 AND name_key = ?2),
                 (SELECT timestamp FROM message WHERE recipient_id = ?3 ORDER BY id DESC LIMIT 1)",
        )?
        .query_row((stream.stream_id, key, stream.recipient_id), |row| row.try_into())?;
    let topic_id = match topic_id {
        Some(topic_id) => topic_id,
        None => insert_topic(connection, stream.stream_id, key)?,
    };
    Ok((topic_id, newest))
}

/// The messages of a topic in ranges of ids, ascending, at most `limit`.
pub fn ids(
    connection: &Connection,
    topic_id: TopicId,
    within: &Ranges,
    limit: usize,
) -> rusqlite::Result<Vec<MessageId>> {
    let mut statement = connection.prepare_cached(IDS)?;
    let mut ids = Vec::new();
    for range in within {
        let found = statement.query_map((topic_id, range.start(), range.end()), |row| row.get(0))?;
        for id in found.take(limit - ids.len()) {
            ids.push(id?);
        }
    }
    Ok(ids)
}

const IDS: &str =
    "SELECT id FROM message INDEXED BY message_topic WHERE topic_id = ?1 AND id BETWEEN ?2 AND ?3
    ORDER BY id";

/// The newest `limit` messages of a topic in ranges of ids, ascending.
pub fn newest_ids(
    connection: &Connection,
    topic_id: TopicId,
    within: &Ranges,
    limit: usize,
) -> rusqlite::Result<Vec<MessageId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM message INDEXED BY message_topic WHERE topic_id = ?1 AND id BETWEEN ?2 AND ?3
         ORDER BY id DESC LIMIT ?4",
    )?;
    sql::newest_in(&mut statement, topic_id, within.iter().map(|range| (*range.start(), *range.end())), limit)
}

/// True if a topic has a message in ranges of ids.
pub fn has_any(connection: &Connection, topic_id: TopicId, within: &Ranges) -> rusqlite::Result<bool> {
    for range in within {
        if newest_of_topic_in(connection, topic_id, range)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a topic has a message in ranges of ids that is not in a set.
pub fn has_others(
    connection: &Connection,
    topic_id: TopicId,
    within: &Ranges,
    known: &RoaringBitmap,
) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(IDS)?;
    for range in within {
        let mut rows = statement.query((topic_id, range.start(), range.end()))?;
        while let Some(row) = rows.next()? {
            if !known.contains(row.get(0)?) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The number of messages among `ids`, ascending, that were sent before a time. Ids grow with time, so that a binary
/// search finds it.
pub fn count_before(connection: &Connection, ids: &[MessageId], time: i64) -> rusqlite::Result<usize> {
    let mut statement = connection.prepare_cached("SELECT timestamp FROM message WHERE id = ?1")?;
    let (mut start, mut end) = (0, ids.len());
    while start < end {
        let middle = start.midpoint(end);
        let timestamp: i64 = statement.query_row([ids[middle]], |row| row.get(0))?;
        if timestamp < time {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(start)
}

/// The participants of a topic, ascending: the users who sent messages or reacted to some. Only the newest messages and
/// reactions count, [`MAX_PARTICIPANT_ROWS`] of each.
pub fn participants(connection: &Connection, topic_id: TopicId) -> rusqlite::Result<Vec<UserId>> {
    Ok(some_participants(connection, topic_id, i64::MAX)?.into_iter().collect())
}

/// The [`participants`] of a topic, or `None` if there are more than `at_most`; then not all rows are read.
pub fn few_participants(
    connection: &Connection,
    topic_id: TopicId,
    at_most: usize,
) -> rusqlite::Result<Option<Vec<UserId>>> {
    let participants = some_participants(connection, topic_id, at_most as i64 + 1)?;
    Ok((participants.len() <= at_most).then(|| participants.into_iter().collect()))
}

/// All participants, or at least `enough` of them.
fn some_participants(
    connection: &Connection,
    topic_id: TopicId,
    enough: i64,
) -> rusqlite::Result<BTreeSet<UserId>> {
    let mut participants = BTreeSet::new();
    // Users who repeat themselves end no search for `enough` of them: the inner limits do.
    for statement in [
        "SELECT DISTINCT sender_id FROM (
             SELECT sender_id FROM message INDEXED BY message_topic WHERE topic_id = ?1 ORDER BY id DESC LIMIT ?3)
         LIMIT ?2",
        "SELECT DISTINCT user_id FROM (
             SELECT user_id FROM (
                 SELECT id FROM message INDEXED BY message_topic WHERE topic_id = ?1 ORDER BY id DESC LIMIT ?3) AS newest
                 CROSS JOIN reaction ON message_id = newest.id
             LIMIT ?3)
         LIMIT ?2",
    ] {
        if (participants.len() as i64) < enough {
            let mut statement = connection.prepare_cached(statement)?;
            for user_id in statement.query_map((topic_id, enough, MAX_PARTICIPANT_ROWS), |row| row.get(0))? {
                participants.insert(user_id?);
            }
        }
    }
    Ok(participants)
}

/// Adds a move to the history of messages, and removes entries beyond its limits. The previous topic is each message's
/// own spelling, not the record's.
pub fn insert_moves(
    connection: &Connection,
    ids: impl Iterator<Item = MessageId>,
    record: &EditRecord,
) -> rusqlite::Result<()> {
    // Two statements: one that inserts what it selects from the same table keeps it in a temporary table first.
    let mut before = connection.prepare_cached(
        "SELECT subject, coalesce((SELECT max(number) FROM message_edit WHERE message_id = id), 0)
         FROM message WHERE id = ?1",
    )?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO message_edit (message_id, number, user_id, timestamp, prev_topic, topic, prev_stream, stream)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for id in ids {
        let (subject, last): (String, i64) = before.query_row([id], |row| row.try_into())?;
        insert.execute((
            id,
            last + 1,
            record.user_id,
            record.timestamp,
            record.topic.is_some().then_some(subject),
            &record.topic,
            record.prev_stream,
            record.stream,
        ))?;
        // Fewer entries are within the limits, because those of moves have no text.
        if last >= MAX_EDITS as i64 {
            sql::trim_edits(connection, id)?;
        }
    }
    Ok(())
}

/// The new location of messages that move.
#[derive(Debug)]
pub struct NewLocation<'a> {
    /// Another channel's set of receivers.
    pub recipient_id: Option<RecipientId>,
    /// The topic's row.
    pub topic_id: TopicId,
    /// The new spelling of the topic; `None` if it stays.
    pub subject: Option<&'a str>,
    /// Links in the new topic, as JSON.
    pub links: Option<&'a str>,
    /// The new `last_moved_timestamp`; `None` if that stays.
    pub moved_at: Option<i64>,
}

/// Moves messages: their rows, with the links in a new topic. The caller updates the search index.
pub fn relocate(
    connection: &Connection,
    ids: &[MessageId],
    location: &NewLocation<'_>,
) -> rusqlite::Result<()> {
    let (mut lost, mut gained) = (0, attribute::IS_EDITED);
    if location.subject.is_some() {
        lost |= attribute::HAS_TOPIC_LINKS;
    }
    if location.links.is_some() {
        gained |= attribute::HAS_TOPIC_LINKS;
    }
    let mut row = connection.prepare_cached(
        "UPDATE message SET topic_id = ?2, subject = coalesce(?3, subject), attributes = attributes & ~?4 | ?5,
             last_moved_timestamp = coalesce(?6, last_moved_timestamp)
         WHERE id = ?1",
    )?;
    // A statement of its own, so that the index of the channel is written only if it changes.
    let mut channel = connection.prepare_cached("UPDATE message SET recipient_id = ?2 WHERE id = ?1")?;
    let mut no_links = connection.prepare_cached("DELETE FROM message_topic_link WHERE message_id = ?1")?;
    for id in ids {
        row.execute((id, location.topic_id, location.subject, lost, gained, location.moved_at))?;
        if let Some(recipient_id) = location.recipient_id {
            channel.execute((id, recipient_id))?;
        }
        match location.links {
            Some(json) => sql::put_topic_links(connection, *id, json)?,
            None if location.subject.is_some() => _ = no_links.execute([id])?,
            None => {}
        }
    }
    Ok(())
}

//! Statements about the messages of a topic, which may be many: what is asked of them is asked of an index, and no more
//! rows are read than the answer needs. Ranges are those of ids that a viewer may read.

use crate::domain::messages::access::Ranges;
use crate::domain::messages::record::{EditRecord, attribute};
use crate::domain::messages::sql;
use crate::types::{MessageId, RecipientId, TopicId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// The messages of a topic in ranges of ids, ascending.
pub fn ids(connection: &Connection, topic_id: TopicId, within: &Ranges) -> rusqlite::Result<Vec<MessageId>> {
    let mut statement = connection.prepare_cached(IDS)?;
    let mut ids = Vec::new();
    for range in within {
        let found = statement.query_map((topic_id, range.start(), range.end()), |row| row.get(0))?;
        for id in found {
            ids.push(id?);
        }
    }
    Ok(ids)
}

const IDS: &str =
    "SELECT id FROM message INDEXED BY message_topic WHERE topic_id = ?1 AND id BETWEEN ?2 AND ?3
    ORDER BY id";

/// The newest messages of a topic in ranges of ids: so many at most, ascending.
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
    let mut ids: Vec<MessageId> = Vec::new();
    for range in within.iter().rev() {
        let missing = (limit - ids.len()) as i64;
        if missing == 0 {
            break;
        }
        let found = statement.query_map((topic_id, range.start(), range.end(), missing), |row| row.get(0))?;
        for id in found {
            ids.push(id?);
        }
    }
    ids.reverse();
    Ok(ids)
}

/// Whether a topic has a message in ranges of ids.
pub fn has_any(connection: &Connection, topic_id: TopicId, within: &Ranges) -> rusqlite::Result<bool> {
    for range in within {
        if sql::newest_of_topic_in(connection, topic_id, range)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a topic has a message in ranges of ids that is not in a set.
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

/// How many of some messages, ascending, were sent before a time. Ids grow with time, so only few are looked at.
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

/// Who took part in a topic: everybody who sent to it or reacted in it, ascending.
pub fn participants(connection: &Connection, topic_id: TopicId) -> rusqlite::Result<Vec<UserId>> {
    Ok(some_participants(connection, topic_id, i64::MAX)?.into_iter().collect())
}

/// The same where they are no more than so many; reading stops where they are.
pub fn few_participants(
    connection: &Connection,
    topic_id: TopicId,
    at_most: usize,
) -> rusqlite::Result<Option<Vec<UserId>>> {
    let people = some_participants(connection, topic_id, at_most as i64 + 1)?;
    Ok((people.len() <= at_most).then(|| people.into_iter().collect()))
}

/// All who took part, or at least so many of them.
fn some_participants(
    connection: &Connection,
    topic_id: TopicId,
    enough: i64,
) -> rusqlite::Result<BTreeSet<UserId>> {
    let mut people = BTreeSet::new();
    for statement in [
        "SELECT DISTINCT sender_id FROM message WHERE topic_id = ?1 LIMIT ?2",
        "SELECT DISTINCT reaction.user_id FROM message JOIN reaction ON message_id = message.id
         WHERE topic_id = ?1 AND attributes & 32 LIMIT ?2",
    ] {
        if (people.len() as i64) < enough {
            let mut statement = connection.prepare_cached(statement)?;
            for user_id in statement.query_map((topic_id, enough), |row| row.get(0))? {
                people.insert(user_id?);
            }
        }
    }
    Ok(people)
}

/// Adds a move to the history of messages. What they were called before it is their own spelling of the topic, not the
/// record's.
pub fn insert_moves(
    connection: &Connection,
    ids: impl Iterator<Item = MessageId>,
    record: &EditRecord,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO message_edit (message_id, number, user_id, timestamp, prev_topic, topic, prev_stream, stream)
         SELECT id, 1 + coalesce((SELECT max(number) FROM message_edit WHERE message_id = ?1), 0),
             ?2, ?3, iif(?4 IS NULL, NULL, subject), ?4, ?5, ?6
         FROM message WHERE id = ?1",
    )?;
    for id in ids {
        statement.execute((
            id,
            record.user_id,
            record.timestamp,
            &record.topic,
            record.prev_stream,
            record.stream,
        ))?;
    }
    Ok(())
}

/// Where messages go.
#[derive(Debug)]
pub struct NewPlace<'a> {
    /// Another channel's set of receivers.
    pub recipient_id: Option<RecipientId>,
    /// The topic's row.
    pub topic_id: TopicId,
    /// How the topic is spelled from now on; `None` if that stays.
    pub subject: Option<&'a str>,
    /// Links in the new topic, as JSON.
    pub links: Option<&'a str>,
    /// The new `last_moved_timestamp`; `None` if that stays.
    pub moved_at: Option<i64>,
}

/// Moves messages: their rows, with the links in a new topic. The words for searching are renewed apart.
pub fn relocate(connection: &Connection, ids: &[MessageId], place: &NewPlace<'_>) -> rusqlite::Result<()> {
    let (mut lost, mut gained) = (0, attribute::IS_EDITED);
    if place.subject.is_some() {
        lost |= attribute::HAS_TOPIC_LINKS;
    }
    if place.links.is_some() {
        gained |= attribute::HAS_TOPIC_LINKS;
    }
    let mut row = connection.prepare_cached(
        "UPDATE message SET topic_id = ?2, subject = coalesce(?3, subject), attributes = attributes & ~?4 | ?5,
             last_moved_timestamp = coalesce(?6, last_moved_timestamp)
         WHERE id = ?1",
    )?;
    // Apart, so that the channel's index is not written where the channel stays.
    let mut channel = connection.prepare_cached("UPDATE message SET recipient_id = ?2 WHERE id = ?1")?;
    let mut no_links = connection.prepare_cached("DELETE FROM message_topic_link WHERE message_id = ?1")?;
    for id in ids {
        row.execute((id, place.topic_id, place.subject, lost, gained, place.moved_at))?;
        if let Some(recipient_id) = place.recipient_id {
            channel.execute((id, recipient_id))?;
        }
        match place.links {
            Some(json) => sql::put_topic_links(connection, *id, json)?,
            None if place.subject.is_some() => _ = no_links.execute([id])?,
            None => {}
        }
    }
    Ok(())
}

//! Statements about messages that several modules need. A statement that only one index or table needs is beside its
//! rule.

use crate::domain::limits::{MAX_DELETED_LENGTH, MAX_EDITS, MAX_EDITS_LENGTH};
use crate::domain::messages::flag_sql;
use crate::domain::messages::record::{
    EditRecord, MessageRow, Participant, RENDERED_VERSION, Reaction, attribute,
};
use crate::domain::search::{index, purge};
use crate::error::{ApiError, ApiResult};
use crate::store::{ExecuteCached, Tx};
use crate::types::{ClientId, MessageId, RecipientId, StreamId, TopicId, UserId};
use rusqlite::{Connection, OptionalExtension, Row, Statement, ToSql};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The columns of a message that is inserted. SQLite assigns its id.
#[derive(Debug)]
pub struct NewMessage<'a> {
    /// Its set of receivers.
    pub recipient_id: RecipientId,
    /// The row of its topic; `None` for direct messages.
    pub topic_id: Option<TopicId>,
    /// The topic as it was written.
    pub subject: &'a str,
    pub sender_id: UserId,
    /// The program that sends.
    pub client_id: ClientId,
    /// UNIX seconds.
    pub timestamp: i64,
    /// Markdown.
    pub content: &'a str,
    /// HTML.
    pub rendered_content: &'a str,
    /// Bits of [`attribute`].
    pub attributes: i64,
}

/// HTML as the column `html` has it: `=` in place of that of a plain message, which is its content in a paragraph.
pub fn stored_html<'h>(content: &str, html: &'h str) -> &'h str {
    let paragraph = html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>"));
    if paragraph == Some(content) { "=" } else { html }
}

/// Stores a message, schedules its indexing for searches, and returns its id.
pub fn insert(tx: &mut Tx<'_>, message: &NewMessage<'_>) -> rusqlite::Result<MessageId> {
    tx.execute_cached(
        "INSERT INTO message (recipient_id, topic_id, subject, sender_id, client_id, timestamp, content,
                 html, rendered_version, attributes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        (
            message.recipient_id,
            message.topic_id,
            message.subject,
            message.sender_id,
            message.client_id,
            message.timestamp,
            message.content,
            stored_html(message.content, message.rendered_content),
            RENDERED_VERSION,
            message.attributes,
        ),
    )?;
    let id = MessageId(tx.last_insert_rowid());
    index::add(tx, id);
    Ok(id)
}

/// The number of messages of a conversation in a range of ids, counted up to a limit.
pub fn count_of(
    connection: &Connection,
    recipient_id: RecipientId,
    ids: &RangeInclusive<u32>,
    limit: i64,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM (
                 SELECT 1 FROM message WHERE recipient_id = ?1 AND id BETWEEN ?2 AND ?3 LIMIT ?4
             )",
        )?
        .query_row((recipient_id, ids.start(), ids.end(), limit), |row| row.get(0))
}

/// The columns of [`MessageRow`].
const COLUMNS: &str =
    "message.id, recipient_id, topic_id, subject, sender_id, timestamp, content, rendered_content,
    attributes, last_edit_timestamp, full_name, email";

fn read_row(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        id: row.get(0)?,
        recipient_id: row.get(1)?,
        topic_id: row.get(2)?,
        subject: row.get(3)?,
        sender_id: row.get(4)?,
        timestamp: row.get(5)?,
        content: row.get(6)?,
        rendered_content: row.get(7)?,
        attributes: row.get(8)?,
        last_edit_timestamp: row.get(9)?,
        sender_full_name: row.get(10)?,
        sender_email: row.get(11)?,
    })
}

/// Loads a message by id, without regard to access.
pub fn by_id(connection: &Connection, id: MessageId) -> rusqlite::Result<Option<MessageRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM message JOIN user ON user_id = sender_id WHERE message.id = ?1"
        ))?
        .query_row([id], read_row)
        .optional()
}

/// Loads a message whose id is that of a row, without regard to access.
#[track_caller]
pub fn existing(connection: &Connection, id: MessageId) -> ApiResult<MessageRow> {
    match by_id(connection, id)? {
        Some(message) => Ok(message),
        None => Err(ApiError::internal(format_args!("message {id} has no row"))),
    }
}

/// The set of receivers of a direct conversation, if there ever was one; participants ascending.
pub fn direct_recipient(
    connection: &Connection,
    user_ids: &[UserId],
) -> rusqlite::Result<Option<RecipientId>> {
    connection
        .prepare_cached("SELECT recipient_id FROM recipient WHERE user_ids = ?1")?
        .query_row([joined(user_ids)], |row| row.get(0))
        .optional()
}

/// Stores the set of receivers of a direct conversation that a user begins; participants ascending.
pub fn insert_direct_recipient(
    connection: &Connection,
    user_ids: &[UserId],
    created_by: UserId,
) -> rusqlite::Result<RecipientId> {
    connection.execute_cached(
        "INSERT INTO recipient (user_ids, created_by) VALUES (?1, ?2)",
        (joined(user_ids), created_by),
    )?;
    let recipient_id = RecipientId(connection.last_insert_rowid());
    let mut statement = connection
        .prepare_cached("INSERT INTO direct_participant (user_id, recipient_id) VALUES (?1, ?2)")?;
    for user_id in user_ids {
        statement.execute((user_id, recipient_id))?;
    }
    Ok(recipient_id)
}

/// User ids separated by commas, as in `recipient.user_ids`.
pub fn joined(user_ids: &[UserId]) -> String {
    user_ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The participants of a direct conversation, by id.
pub fn participants(connection: &Connection, user_ids: &[UserId]) -> rusqlite::Result<Vec<Participant>> {
    let mut statement = connection.prepare_cached("SELECT email, full_name FROM user WHERE user_id = ?1")?;
    user_ids
        .iter()
        .map(|id| {
            statement.query_row([id], |row| {
                Ok(Participant {
                    id: *id,
                    email: row.get(0)?,
                    full_name: row.get(1)?,
                    is_mirror_dummy: false,
                })
            })
        })
        .collect()
}

/// All direct conversations of a user.
pub fn direct_recipients(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached("SELECT recipient_id FROM direct_participant WHERE user_id = ?1")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// The resolved topics of a channel.
pub fn resolved_topics(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<Vec<TopicId>> {
    // The exclamation mark follows the space at the end of the prefix.
    connection
        .prepare_cached(
            "SELECT topic_id FROM topic WHERE stream_id = ?1 AND name_key >= '✔ ' AND name_key < '✔!'",
        )?
        .query_map([stream_id], |row| row.get(0))?
        .collect()
}

/// Returns the client program with a name, and stores it if it is new.
pub fn client_or_new(connection: &Connection, name: &str) -> rusqlite::Result<ClientId> {
    let known = connection
        .prepare_cached("SELECT id FROM client WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection.execute_cached("INSERT INTO client (name) VALUES (?1)", [name])?;
    Ok(ClientId(connection.last_insert_rowid()))
}

/// The name of a client program.
pub fn client_name(connection: &Connection, id: ClientId) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT name FROM client WHERE id = ?1")?.query_row([id], |row| row.get(0))
}

/// Lists a message's reactions, the oldest first.
pub fn reactions(connection: &Connection, id: MessageId) -> rusqlite::Result<Vec<Reaction>> {
    connection
        .prepare_cached(
            "SELECT emoji_name, emoji_code, reaction_type, user_id FROM reaction WHERE message_id = ?1 ORDER BY number",
        )?
        .query_map([id], |row| {
            Ok(Reaction {
                emoji_name: row.get(0)?,
                emoji_code: row.get(1)?,
                reaction_type: row.get(2)?,
                user_id: row.get(3)?,
            })
        })?
        .collect()
}

/// A message's edits and moves, the newest first.
pub fn edits(connection: &Connection, id: MessageId) -> rusqlite::Result<Vec<EditRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT user_id, timestamp, prev_content, prev_rendered_content, prev_topic, topic, prev_stream, stream,
             number = (SELECT min(number) FROM message_edit
                 WHERE message_id = ?1 AND octet_length(prev_content) IS NOT NULL)
         FROM message_edit WHERE message_id = ?1 ORDER BY number DESC",
    )?;
    let mut rows = statement.query([id])?;
    let (mut edits, mut kept) = (Vec::new(), KeptEdits::default());
    while let Some(row) = rows.next()? {
        let edit = EditRecord {
            user_id: row.get(0)?,
            timestamp: row.get(1)?,
            prev_content: row.get(2)?,
            prev_rendered_content: row.get(3)?,
            prev_topic: row.get(4)?,
            topic: row.get(5)?,
            prev_stream: row.get(6)?,
            stream: row.get(7)?,
        };
        let rendered = edit.prev_rendered_content.as_ref().map_or(0, String::len);
        let length = edit.prev_content.as_ref().map(|content| content.len() + rendered);
        let is_first: Option<bool> = row.get(8)?;
        // Files of before the limits may have more.
        if kept.add(length, is_first == Some(true)) {
            edits.push(edit);
        }
    }
    Ok(edits)
}

/// The edits of a message that are within its limits, counted from the newest. Moves never evict edits, and the
/// original version is always kept.
#[derive(Default)]
struct KeptEdits {
    moves: usize,
    versions: usize,
    /// Of the versions, in bytes.
    length: usize,
}

impl KeptEdits {
    /// Counts an edit, and returns true if it is kept. `length` is that of the version before it, in bytes; `None` if
    /// it only moved the message. `is_first` is true if this is the original version.
    fn add(&mut self, length: Option<usize>, is_first: bool) -> bool {
        let Some(length) = length else {
            self.moves += 1;
            return self.moves <= MAX_EDITS;
        };
        self.versions += 1;
        self.length += length;
        is_first || self.versions <= MAX_EDITS && (self.length <= MAX_EDITS_LENGTH || self.versions == 1)
    }
}

/// Adds to a message's history, and removes entries beyond its limits.
pub fn insert_edit(connection: &Connection, id: MessageId, edit: &EditRecord) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO message_edit (message_id, number, user_id, timestamp, prev_content, prev_rendered_content,
             prev_topic, topic, prev_stream, stream)
         SELECT ?1, 1 + coalesce((SELECT max(number) FROM message_edit WHERE message_id = ?1), 0),
             ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9",
        (
            id,
            edit.user_id,
            edit.timestamp,
            &edit.prev_content,
            &edit.prev_rendered_content,
            &edit.prev_topic,
            &edit.topic,
            edit.prev_stream,
            edit.stream,
        ),
    )?;
    trim_edits(connection, id)
}

/// Removes entries beyond the limits from a message's history, because clients cannot read them.
pub fn trim_edits(connection: &Connection, id: MessageId) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT number, octet_length(prev_content) + coalesce(octet_length(prev_rendered_content), 0),
             number = (SELECT min(number) FROM message_edit
                 WHERE message_id = ?1 AND octet_length(prev_content) IS NOT NULL)
         FROM message_edit WHERE message_id = ?1 ORDER BY number DESC",
    )?;
    let (mut kept, mut beyond) = (KeptEdits::default(), Vec::new());
    let mut edits = statement.query([id])?;
    while let Some(edit) = edits.next()? {
        let (number, length, is_first): (i64, Option<i64>, Option<bool>) =
            (edit.get(0)?, edit.get(1)?, edit.get(2)?);
        if !kept.add(length.map(|length| length.unsigned_abs() as usize), is_first == Some(true)) {
            beyond.push(number);
        }
    }
    let mut delete =
        connection.prepare_cached("DELETE FROM message_edit WHERE message_id = ?1 AND number = ?2")?;
    for number in beyond {
        delete.execute((id, number))?;
    }
    Ok(())
}

/// Total length of messages, in bytes of Markdown, HTML and earlier versions.
pub fn total_length(connection: &Connection, ids: &[MessageId]) -> rusqlite::Result<i64> {
    let mut total = 0;
    for id in ids {
        total += length(connection, *id, 1)?;
    }
    Ok(total)
}

/// The bytes for which a message counts in [`MAX_DELETED_LENGTH`] beside its text: its rows, its entry in the search index, and a
/// part of an event.
const ROWS_LENGTH: i64 = 2 << 10;

/// The bytes for which the flags of one user on a message count: a row with entries in several indexes.
const FLAGS_LENGTH: i64 = 64;

/// The times that each byte of Markdown counts there: its words are looked up, and written to the list of retired words.
const WORDS_FACTOR: i64 = 8;

/// Number of the messages that may be deleted in one step of a job: one at least, and as many as are short enough together.
pub fn count_for_one_step(
    connection: &Connection,
    ids: impl Iterator<Item = MessageId>,
) -> rusqlite::Result<usize> {
    let (mut count, mut total) = (0, 0);
    for id in ids {
        total += ROWS_LENGTH
            + length(connection, id, WORDS_FACTOR)?
            + FLAGS_LENGTH * flag_sql::count_flags(connection, id)?;
        if total > MAX_DELETED_LENGTH && count > 0 {
            break;
        }
        count += 1;
    }
    Ok(count)
}

/// The length of a message, in bytes of Markdown, which count `factor` times, HTML and earlier versions; 0 if there is none.
fn length(connection: &Connection, id: MessageId, factor: i64) -> rusqlite::Result<i64> {
    let length = connection
        .prepare_cached(
            "SELECT ?2 * octet_length(content) + octet_length(html) + coalesce((
                 SELECT sum(coalesce(octet_length(prev_content), 0) + coalesce(octet_length(prev_rendered_content), 0))
                 FROM message_edit WHERE message_id = id), 0)
             FROM message WHERE id = ?1",
        )?
        .query_row((id, factor), |row| row.get(0))
        .optional()?;
    Ok(length.unwrap_or(0))
}

/// Updates a message's content and the attributes that follow from it, and keeps the others.
pub fn update_content(
    connection: &Connection,
    id: MessageId,
    content: &str,
    rendered_content: &str,
    attributes: i64,
    timestamp: i64,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE message SET content = ?2, html = ?3, rendered_version = ?4,
             attributes = attributes & ?7 | ?5, last_edit_timestamp = ?6 WHERE id = ?1",
        (
            id,
            content,
            stored_html(content, rendered_content),
            RENDERED_VERSION,
            attributes,
            timestamp,
            attribute::BESIDE_CONTENT,
        ),
    )
}

/// Returns the largest id of a topic's messages; `None` if it has none.
pub fn newest_of_topic(connection: &Connection, topic_id: TopicId) -> rusqlite::Result<Option<MessageId>> {
    connection
        .prepare_cached("SELECT max(id) FROM message WHERE topic_id = ?1")?
        .query_row([topic_id], |row| row.get(0))
}

/// True if a topic has any messages.
pub fn has_messages(connection: &Connection, topic_id: TopicId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE topic_id = ?1)")?
        .query_row([topic_id], |row| row.get(0))
}

/// Stores the links in a message's topic, as JSON. The caller sets the attribute.
pub fn put_topic_links(connection: &Connection, id: MessageId, links: &str) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT OR REPLACE INTO message_topic_link (message_id, links) VALUES (?1, ?2)",
        (id, links),
    )
}

/// The links in a message's topic, as JSON.
pub fn topic_links(connection: &Connection, id: MessageId) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT links FROM message_topic_link WHERE message_id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
}

/// The messages of a conversation with a wildcard mention of the channel, ascending. Read from an index: the attributes
/// of a message are stored after its texts, which would be read as well.
pub fn stream_wildcards(
    connection: &Connection,
    recipient_id: RecipientId,
    ids: RangeInclusive<MessageId>,
) -> rusqlite::Result<Vec<MessageId>> {
    connection
        .prepare_cached(
            "SELECT id FROM message INDEXED BY message_stream_wildcard
             WHERE recipient_id = ?1 AND attributes & 1 AND id BETWEEN ?2 AND ?3 ORDER BY id",
        )?
        .query_map((recipient_id, ids.start(), ids.end()), |row| row.get(0))?
        .collect()
}

/// The newest `limit` ids that a statement finds in ranges of ids, ascending. Its parameters are the key, the ends of a range,
/// and how many to find from the newest on.
pub fn newest_in(
    statement: &mut Statement<'_>,
    key: impl ToSql,
    ranges: impl IntoIterator<Item = (u32, u32), IntoIter: DoubleEndedIterator>,
    limit: usize,
) -> rusqlite::Result<Vec<MessageId>> {
    let mut ids: Vec<MessageId> = Vec::new();
    for (first, last) in ranges.into_iter().rev() {
        let missing = (limit - ids.len()) as i64;
        if missing == 0 {
            break;
        }
        for id in statement.query_map((&key, first, last, missing), |row| row.get(0))? {
            ids.push(id?);
        }
    }
    ids.reverse();
    Ok(ids)
}

/// Sets bits of a message's attributes.
pub fn add_attributes(connection: &Connection, id: MessageId, attributes: i64) -> rusqlite::Result<()> {
    connection
        .execute_cached("UPDATE message SET attributes = attributes | ?2 WHERE id = ?1", (id, attributes))
}

/// The number of names that senders have in `sent_name`, as far as it is known. A cache of the writer, which is correct because
/// all jobs that insert or delete names update it.
#[derive(Default)]
pub struct NameCounts(pub HashMap<UserId, i64>);

/// Deletes a message and everything that belongs to it.
pub fn delete(tx: &mut Tx<'_>, id: MessageId) -> rusqlite::Result<()> {
    purge::retire(tx, id)?;
    index::renew(tx, id);
    let statement = "DELETE FROM sent_name
         WHERE sender_id = (SELECT sender_id FROM message WHERE id = ?1) AND message_id = ?1";
    if tx.prepare_cached(statement)?.execute([id])? > 0 {
        tx.cache_mut::<NameCounts>().1.0.clear();
    }
    for statement in [
        "DELETE FROM message_edit WHERE message_id = ?1",
        "DELETE FROM reaction WHERE message_id = ?1",
        "DELETE FROM submessage WHERE message_id = ?1",
        "DELETE FROM message_topic_link WHERE message_id = ?1",
        "DELETE FROM user_message_flags WHERE message_id = ?1",
        "DELETE FROM reply_email WHERE message_id = ?1",
        "DELETE FROM message WHERE id = ?1",
    ] {
        tx.execute_cached(statement, [id])?;
    }
    Ok(())
}

/// The newest message of all, 0 if there is none.
pub fn newest_id(connection: &Connection) -> rusqlite::Result<MessageId> {
    connection.prepare_cached("SELECT coalesce(max(id), 0) FROM message")?.query_row([], |row| row.get(0))
}

/// A message's spelling of its topic.
pub fn subject_of(connection: &Connection, id: MessageId) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT subject FROM message WHERE id = ?1")?.query_row([id], |row| row.get(0))
}

/// The newest message of a conversation.
pub fn newest_of(connection: &Connection, recipient_id: RecipientId) -> rusqlite::Result<Option<MessageId>> {
    connection
        .prepare_cached("SELECT max(id) FROM message WHERE recipient_id = ?1")?
        .query_row([recipient_id], |row| row.get(0))
}

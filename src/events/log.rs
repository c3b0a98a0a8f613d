//! The `event` table: events that queues may still ask for.

use super::Audience;
use super::serialized::SerializedEvent;
use crate::store::{ExecuteCached, bitmap};
use crate::types::{EventId, MessageId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Audiences up to this size are stored in the event's own row.
const MAX_INLINE: u64 = 24;

/// Large audiences that are in the file already, by their serial numbers. A cache of the writer.
#[derive(Default)]
pub struct StoredAudiences(HashMap<u64, i64>);

/// Number of remembered audiences; others are stored again.
const CAPACITY: usize = 4096;

/// An event as the log stores it: a row of `event`.
#[derive(Debug)]
pub struct LogRow {
    pub id: EventId,
    /// The event's `type` on the wire.
    pub event_type: String,
    /// The name of the event type.
    pub name: String,
    /// The version of the event type.
    pub version: u32,
    /// The users to whom the event is delivered.
    pub audience: Audience,
    /// The members of the event, as JSON.
    pub payload: Box<str>,
    /// The routing, as JSON.
    pub routing: Option<Box<str>>,
}

/// Appends an event to the log.
pub fn append(
    connection: &Connection,
    stored: &mut StoredAudiences,
    id: EventId,
    event: &SerializedEvent,
    (audience, message_id): (&Audience, Option<MessageId>),
) -> rusqlite::Result<()> {
    let (inline, reference) = audience_columns(connection, stored, audience)?;
    connection.execute_cached(
        "INSERT INTO event (id, type, name, version, audience, audience_id, also_public, message_id, payload, routing)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        (
            id,
            event.kind.event_type,
            event.kind.name,
            event.kind.version,
            inline,
            reference,
            audience.is_also_public(),
            message_id,
            &event.payload,
            &event.routing,
        ),
    )
}

/// The columns `audience` and `audience_id` of an event. A large audience is stored if it is not yet.
fn audience_columns(
    connection: &Connection,
    stored: &mut StoredAudiences,
    audience: &Audience,
) -> rusqlite::Result<(Option<Vec<u8>>, Option<i64>)> {
    let users = audience.bitmap();
    if users.len() <= MAX_INLINE {
        return Ok((Some(bitmap::to_blob(users)), None));
    }
    Ok((None, Some(store_audience(connection, stored, audience)?)))
}

fn store_audience(
    connection: &Connection,
    stored: &mut StoredAudiences,
    audience: &Audience,
) -> rusqlite::Result<i64> {
    if let Some(id) = stored.0.get(&audience.serial()) {
        return Ok(*id);
    }
    connection.execute_cached(
        "INSERT INTO event_audience (user_ids) VALUES (?1)",
        [bitmap::to_blob(audience.bitmap())],
    )?;
    let id = connection.last_insert_rowid();
    if stored.0.len() >= CAPACITY {
        stored.0.clear();
    }
    stored.0.insert(audience.serial(), id);
    Ok(id)
}

/// Returns the number of the newest event. The rest of the file is in the state that this event left it in.
pub fn last_event_id(connection: &Connection) -> rusqlite::Result<EventId> {
    connection.prepare_cached("SELECT coalesce(max(id), 0) FROM event")?.query_row([], |row| row.get(0))
}

/// Maximum number of bytes of events read at a time. An event can have as much HTML as a message.
const MAX_READ_BYTES: usize = 4 << 20;

/// Some events of the log.
pub struct LogPage {
    /// The oldest first.
    pub rows: Vec<LogRow>,
    /// Up to this event the log has been looked at.
    pub until: EventId,
}

/// Looks at up to `limit` events with `after < id <= until`, and returns those whose type and audience are `wanted`; fewer, but
/// one at least, if they are large. The others are not read: they may be large as well, and many.
pub fn read(
    connection: &Connection,
    after: EventId,
    until: EventId,
    limit: usize,
    wanted: impl Fn(&str, &Audience) -> bool,
) -> rusqlite::Result<LogPage> {
    let mut heads = connection.prepare_cached(
        "SELECT event.id, type, coalesce(audience, user_ids), also_public
         FROM event LEFT JOIN event_audience ON event_audience.id = audience_id
         WHERE event.id > ?1 AND event.id <= ?2 ORDER BY event.id LIMIT ?3",
    )?;
    let mut heads = heads.query((after, until, limit as i64))?;
    let mut contents =
        connection.prepare_cached("SELECT name, version, payload, routing FROM event WHERE id = ?1")?;
    let mut found = Rows::default();
    let (mut seen, mut end) = (0, until);
    while let Some(head) = heads.next()? {
        let id: EventId = head.get(0)?;
        seen += 1;
        if seen == limit {
            end = id;
        }
        let event_type = head.get_ref(1)?.as_str()?;
        let audience = audience(head, 2)?;
        if !wanted(event_type, &audience) {
            continue;
        }
        let event_type = event_type.to_owned();
        let row = contents.query_row([id], |row| {
            let (name, version, payload, routing) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(LogRow { id, event_type, name, version, audience, payload, routing })
        })?;
        if !found.add(row) {
            end = id;
            break;
        }
    }
    Ok(LogPage { rows: found.rows, until: end })
}

/// Returns the newest events after one, at most `limit`, the oldest first; fewer, but one at least, if they are large.
pub fn read_newest(connection: &Connection, after: EventId, limit: usize) -> rusqlite::Result<Vec<LogRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT event.id, type, name, version, coalesce(audience, user_ids), also_public, payload, routing
         FROM event LEFT JOIN event_audience ON event_audience.id = audience_id
         WHERE event.id > ?1 ORDER BY event.id DESC LIMIT ?2",
    )?;
    let mut found = Rows::default();
    for row in statement.query_map((after, limit as i64), row)? {
        if !found.add(row?) {
            break;
        }
    }
    found.rows.reverse();
    Ok(found.rows)
}

/// Rows that are read at a time.
#[derive(Default)]
struct Rows {
    rows: Vec<LogRow>,
    bytes: usize,
}

impl Rows {
    /// Adds a row, and returns whether there is room for more.
    fn add(&mut self, row: LogRow) -> bool {
        self.bytes += row.payload.len();
        self.rows.push(row);
        self.bytes <= MAX_READ_BYTES
    }
}

/// Reads an audience from a column, and from the next whether public queues belong to it.
fn audience(row: &Row<'_>, column: usize) -> rusqlite::Result<Audience> {
    let audience = audience_of(row.get_ref(column)?.as_blob_or_null()?, column)?;
    Ok(if row.get(column + 1)? { audience.and_public_queues() } else { audience })
}

fn row(row: &Row<'_>) -> rusqlite::Result<LogRow> {
    Ok(LogRow {
        id: row.get(0)?,
        event_type: row.get(1)?,
        name: row.get(2)?,
        version: row.get(3)?,
        audience: audience(row, 4)?,
        payload: row.get(6)?,
        routing: row.get(7)?,
    })
}

/// An event without its content.
pub struct EventHead {
    pub id: EventId,
    /// The event's `type` on the wire.
    pub event_type: String,
    /// The receivers.
    pub audience: Audience,
    /// The length of its payload.
    pub bytes: i64,
}

/// Looks at up to `limit` events with `after < id <= until`, but for the newest of the log: it marks the end for `POST
/// /register`, and is never removed.
pub fn read_heads(
    connection: &Connection,
    after: EventId,
    until: EventId,
    limit: usize,
) -> rusqlite::Result<Vec<EventHead>> {
    let mut heads = connection.prepare_cached(
        "SELECT id, type, audience, audience_id, also_public, octet_length(payload) FROM event
         WHERE id > ?1 AND id <= ?2 AND id < (SELECT max(id) FROM event) ORDER BY id LIMIT ?3",
    )?;
    let mut large = connection.prepare_cached("SELECT user_ids FROM event_audience WHERE id = ?1")?;
    let mut audiences: HashMap<i64, Audience> = HashMap::new();
    let mut heads = heads.query((after, until, limit as i64))?;
    let mut found = Vec::new();
    while let Some(head) = heads.next()? {
        let audience_id: Option<i64> = head.get(3)?;
        let users = match audience_id {
            None => audience_of(head.get_ref(2)?.as_blob_or_null()?, 2)?,
            Some(id) => match audiences.get(&id) {
                Some(known) => known.clone(),
                None => {
                    let users: Option<Vec<u8>> = large.query_row([id], |row| row.get(0)).optional()?;
                    let users = audience_of(users.as_deref(), 0)?;
                    audiences.insert(id, users.clone());
                    users
                }
            },
        };
        let audience = if head.get(4)? { users.and_public_queues() } else { users };
        found.push(EventHead { id: head.get(0)?, event_type: head.get(1)?, audience, bytes: head.get(5)? });
    }
    Ok(found)
}

fn audience_of(users: Option<&[u8]>, column: usize) -> rusqlite::Result<Audience> {
    Ok(Audience::set(bitmap::from_blob(column, users.unwrap_or_default())?))
}

/// Removes an event.
pub fn remove(connection: &Connection, id: EventId) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM event WHERE id = ?1", [id])
}

/// Up to `limit` of the stored audiences after one that no event of the log has any more.
pub fn unused_audiences(connection: &Connection, after: i64, limit: usize) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached(
            "SELECT id FROM event_audience WHERE id > ?1
             AND NOT EXISTS (SELECT 1 FROM event WHERE audience_id = event_audience.id) ORDER BY id LIMIT ?2",
        )?
        .query_map((after, limit as i64), |row| row.get(0))?
        .collect()
}

/// Removes a stored audience, unless an event has it again.
pub fn remove_audience(
    connection: &Connection,
    stored: &mut StoredAudiences,
    id: i64,
) -> rusqlite::Result<()> {
    let removed = connection
        .prepare_cached(
            "DELETE FROM event_audience WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM event WHERE audience_id = ?1)",
        )?
        .execute([id])?;
    if removed > 0 {
        stored.0.clear();
    }
    Ok(())
}

/// The events that have the text of a message, ascending.
pub fn events_of_message(connection: &Connection, message_id: MessageId) -> rusqlite::Result<Vec<EventId>> {
    connection
        .prepare_cached("SELECT id FROM event WHERE message_id = ?1 ORDER BY id")?
        .query_map([message_id], |row| row.get(0))?
        .collect()
}

/// The events that have the text of a message in a range, each with the message.
pub fn events_of_messages(
    connection: &Connection,
    message_ids: RangeInclusive<MessageId>,
) -> rusqlite::Result<Vec<(MessageId, EventId)>> {
    connection
        .prepare_cached("SELECT message_id, id FROM event WHERE message_id BETWEEN ?1 AND ?2")?
        .query_map((message_ids.start(), message_ids.end()), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The length of an event's payload in bytes; 0 if it is gone.
pub fn length_of(connection: &Connection, id: EventId) -> rusqlite::Result<i64> {
    let length = connection
        .prepare_cached("SELECT octet_length(payload) FROM event WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(length.unwrap_or(0))
}

/// An event whose text may be withdrawn.
pub struct StoredEvent {
    /// The name of the event type.
    pub name: String,
    /// The version of the event type.
    pub version: u32,
    /// The users to whom the event is delivered.
    pub audience: Audience,
    /// The members of the event, as JSON.
    pub payload: String,
}

/// Loads an event.
pub fn stored_event(connection: &Connection, id: EventId) -> rusqlite::Result<Option<StoredEvent>> {
    connection
        .prepare_cached(
            "SELECT name, version, coalesce(audience, user_ids), also_public, payload
             FROM event LEFT JOIN event_audience ON event_audience.id = audience_id WHERE event.id = ?1",
        )?
        .query_row([id], |row| {
            let audience = audience(row, 2)?;
            Ok(StoredEvent { name: row.get(0)?, version: row.get(1)?, audience, payload: row.get(4)? })
        })
        .optional()
}

/// Empties an event, so that no queue gets it. Its number stays: it may be the end of the log.
pub fn clear(connection: &Connection, id: EventId) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE event SET audience = ?2, audience_id = NULL, also_public = 0, message_id = NULL,
             payload = '{}', routing = NULL WHERE id = ?1",
        (id, bitmap::to_blob(&RoaringBitmap::new())),
    )
}

/// Replaces the members of an event, which has no text of a message any more.
pub fn replace_payload(connection: &Connection, id: EventId, payload: &str) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE event SET payload = ?2, message_id = NULL WHERE id = ?1", (id, payload))
}

/// Replaces the receivers of an event.
pub fn replace_audience(
    connection: &Connection,
    stored: &mut StoredAudiences,
    id: EventId,
    audience: &Audience,
) -> rusqlite::Result<()> {
    let (inline, reference) = audience_columns(connection, stored, audience)?;
    connection.execute_cached(
        "UPDATE event SET audience = ?2, audience_id = ?3, also_public = ?4 WHERE id = ?1",
        (id, inline, reference, audience.is_also_public()),
    )
}

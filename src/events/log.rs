//! The `event` table: events that queues may still ask for.

use super::Audience;
use super::serialized::SerializedEvent;
use crate::store::bitmap;
use crate::types::EventId;
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// Audiences up to this size are stored in the event's own row.
const MAX_INLINE: u64 = 24;

/// Large audiences that are in the file already, by their serial numbers. A cache of the writer.
#[derive(Default)]
pub struct StoredAudiences(HashMap<u64, i64>);

/// Number of remembered audiences; others are stored again.
const CAPACITY: usize = 4096;

/// A row of the log.
#[derive(Debug)]
pub struct LogRow {
    /// Its number.
    pub id: EventId,
    /// The event's `type` on the wire.
    pub event_type: String,
    /// The name of the event type.
    pub name: String,
    /// The version of the event type.
    pub version: u32,
    /// The receivers.
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
    audience: &Audience,
    event: &SerializedEvent,
) -> rusqlite::Result<()> {
    let users = audience.bitmap();
    let inline = (users.len() <= MAX_INLINE).then(|| bitmap::to_blob(users));
    let reference = if inline.is_some() { None } else { Some(store_audience(connection, stored, audience)?) };
    connection
        .prepare_cached(
            "INSERT INTO event (id, type, name, version, audience, audience_id, also_public, payload, routing)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            id,
            event.kind.event_type,
            event.kind.name,
            event.kind.version,
            inline,
            reference,
            audience.is_also_public(),
            &event.payload,
            &event.routing,
        ))?;
    Ok(())
}

fn store_audience(
    connection: &Connection,
    stored: &mut StoredAudiences,
    audience: &Audience,
) -> rusqlite::Result<i64> {
    if let Some(id) = stored.0.get(&audience.serial()) {
        return Ok(*id);
    }
    connection
        .prepare_cached("INSERT INTO event_audience (user_ids) VALUES (?1)")?
        .execute([bitmap::to_blob(audience.bitmap())])?;
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

/// Maximum number of bytes of events removed in one job, which overwrites them. The event that reaches it is removed
/// too.
const MAX_TRIMMED_BYTES: i64 = 4 << 20;

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
    let users = row.get_ref(column)?.as_blob_or_null()?.unwrap_or_default();
    let audience = Audience::set(bitmap::from_blob(column, users)?);
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

/// Removes up to `limit` of the events that no queue needs, fewer if they are large, and returns their number. The
/// newest event stays: it marks the end of the log for `POST /register`.
pub fn trim(connection: &Connection, until: EventId, limit: usize) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM event WHERE id IN (
                 SELECT id FROM (
                     SELECT id, sum(octet_length(payload)) OVER
                         (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS length_before
                     FROM event WHERE id <= ?1 AND id < (SELECT max(id) FROM event) ORDER BY id LIMIT ?2)
                 WHERE coalesce(length_before, 0) < ?3)",
        )?
        .execute((until, limit as i64, MAX_TRIMMED_BYTES))
}

/// Removes the stored audiences that no event of the log has any more. Reads the whole log.
pub fn remove_unused_audiences(
    connection: &Connection,
    stored: &mut StoredAudiences,
) -> rusqlite::Result<()> {
    let removed = connection
        .prepare_cached(
            "DELETE FROM event_audience WHERE id NOT IN (
                 SELECT audience_id FROM event WHERE audience_id IS NOT NULL)",
        )?
        .execute([])?;
    if removed > 0 {
        stored.0.clear();
    }
    Ok(())
}

//! The `event` table.

use super::Audience;
use crate::store::{Unsent, bitmap};
use crate::types::EventId;
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// Audiences up to this size stand in the event's own row.
const INLINE: u64 = 24;

/// Large audiences that are in the file already, by their serial numbers. A cache of the writer.
#[derive(Default)]
pub struct StoredAudiences(HashMap<u64, i64>);

/// How many to remember; beyond that they are stored again.
const REMEMBERED: usize = 4096;

/// A row of the log.
#[derive(Debug)]
pub struct LogRow {
    /// Its number.
    pub id: EventId,
    /// Its type on the wire.
    pub kind: String,
    /// Who it is for.
    pub audience: Audience,
    /// The event, without `id`.
    pub payload: Box<str>,
}

/// Appends an event to the log.
pub fn append(
    connection: &Connection,
    stored: &mut StoredAudiences,
    id: EventId,
    event: &Unsent,
) -> rusqlite::Result<()> {
    let users = event.audience.bitmap();
    let inline = (users.len() <= INLINE).then(|| bitmap::to_blob(users));
    let reference =
        if inline.is_some() { None } else { Some(store_audience(connection, stored, &event.audience)?) };
    connection
        .prepare_cached(
            "INSERT INTO event (id, type, audience, audience_id, also_public, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((id, event.kind, inline, reference, event.audience.is_also_public(), &event.payload))?;
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
    if stored.0.len() >= REMEMBERED {
        stored.0.clear();
    }
    stored.0.insert(audience.serial(), id);
    Ok(id)
}

/// The number of the newest event: what is in the file up to here is what the events up to here tell.
pub fn last_event_id(connection: &Connection) -> rusqlite::Result<EventId> {
    connection.prepare_cached("SELECT coalesce(max(id), 0) FROM event")?.query_row([], |row| row.get(0))
}

/// A page of the log: up to `limit` events with `after < id <= until`, the oldest first.
pub fn read(
    connection: &Connection,
    after: EventId,
    until: EventId,
    limit: usize,
) -> rusqlite::Result<Vec<LogRow>> {
    connection
        .prepare_cached(
            "SELECT event.id, type, coalesce(audience, user_ids), also_public, payload
             FROM event LEFT JOIN event_audience ON event_audience.id = audience_id
             WHERE event.id > ?1 AND event.id <= ?2 ORDER BY event.id LIMIT ?3",
        )?
        .query_map((after, until, limit as i64), row)?
        .collect()
}

/// The newest `limit` events, the oldest first.
pub fn read_newest(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<LogRow>> {
    let mut rows: Vec<_> = connection
        .prepare_cached(
            "SELECT event.id, type, coalesce(audience, user_ids), also_public, payload
             FROM event LEFT JOIN event_audience ON event_audience.id = audience_id
             ORDER BY event.id DESC LIMIT ?1",
        )?
        .query_map([limit as i64], row)?
        .collect::<Result<_, _>>()?;
    rows.reverse();
    Ok(rows)
}

fn row(row: &Row<'_>) -> rusqlite::Result<LogRow> {
    let users = row.get_ref(2)?.as_blob_or_null()?.unwrap_or_default();
    let audience = Audience::set(bitmap::from_blob(2, users)?);
    let audience = if row.get(3)? { audience.and_public_queues() } else { audience };
    Ok(LogRow { id: row.get(0)?, kind: row.get(1)?, audience, payload: row.get::<_, String>(4)?.into() })
}

/// Removes events that no queue can still ask for, at most `limit` at a time; answers how many. The newest stays: it
/// tells `POST /register` where the log ends.
pub fn trim(
    connection: &Connection,
    stored: &mut StoredAudiences,
    until: EventId,
    limit: usize,
) -> rusqlite::Result<usize> {
    let removed = connection
        .prepare_cached(
            "DELETE FROM event WHERE id IN (
                 SELECT id FROM event WHERE id <= ?1 AND id < (SELECT max(id) FROM event) ORDER BY id LIMIT ?2)",
        )?
        .execute((until, limit as i64))?;
    if removed > 0 {
        let audiences = connection
            .prepare_cached(
                "DELETE FROM event_audience WHERE id NOT IN (
                     SELECT audience_id FROM event WHERE audience_id IS NOT NULL)",
            )?
            .execute([])?;
        if audiences > 0 {
            stored.0.clear();
        }
    }
    Ok(removed)
}

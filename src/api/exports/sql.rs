//! Statements on exports.

use crate::store::ExecuteCached;
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

/// An export's row.
#[derive(Clone, Debug)]
pub struct ExportRow {
    pub id: i64,
    /// 1 for public data, 2 with the private data of users who consent.
    pub export_type: i64,
    /// The administrator who asked for it.
    pub acting_user_id: UserId,
    /// The base URL under which the administrator reached the server.
    pub origin: String,
    /// UNIX seconds.
    pub date_requested: i64,
    /// UNIX seconds.
    pub date_failed: Option<i64>,
    /// UNIX seconds.
    pub date_deleted: Option<i64>,
    /// The archive, while there is one.
    pub content: Option<ArchiveContent>,
}

/// A stored archive.
#[derive(Clone, Debug)]
pub struct ArchiveContent {
    /// The content in `domain::files::blobs`.
    pub content_id: i64,
    /// The end of its URL.
    pub path: String,
    /// Bytes.
    pub size: u64,
}

const COLUMNS: &str =
    "id, type, acting_user_id, origin, date_requested, date_failed, date_deleted, content_id, path, size";

fn read(row: &Row<'_>) -> rusqlite::Result<ExportRow> {
    let content = match row.get::<_, Option<i64>>(7)? {
        Some(content_id) => {
            Some(ArchiveContent { content_id, path: row.get(8)?, size: row.get::<_, i64>(9)?.unsigned_abs() })
        }
        None => None,
    };
    Ok(ExportRow {
        id: row.get(0)?,
        export_type: row.get(1)?,
        acting_user_id: row.get(2)?,
        origin: row.get(3)?,
        date_requested: row.get(4)?,
        date_failed: row.get(5)?,
        date_deleted: row.get(6)?,
        content,
    })
}

/// All exports, the oldest first.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<ExportRow>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM realm_export ORDER BY id"))?;
    statement.query_map([], read)?.collect()
}

pub fn by_id(connection: &Connection, id: i64) -> rusqlite::Result<Option<ExportRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM realm_export WHERE id = ?1"))?
        .query_row([id], read)
        .optional()
}

/// The export whose archive has an address.
pub fn by_path(connection: &Connection, path: &str) -> rusqlite::Result<Option<ExportRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM realm_export WHERE path = ?1"))?
        .query_row([path], read)
        .optional()
}

/// The number of exports since a time.
pub fn count_since(connection: &Connection, time: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM realm_export WHERE date_requested > ?1")?
        .query_row([time], |row| row.get(0))
}

/// The first export that has not begun.
pub fn next_requested(connection: &Connection) -> rusqlite::Result<Option<ExportRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM realm_export WHERE date_started IS NULL AND date_failed IS NULL ORDER BY id LIMIT 1"
        ))?
        .query_row([], read)
        .optional()
}

/// The oldest archive, with the time when it was complete, in UNIX seconds.
pub fn oldest_archive(connection: &Connection) -> rusqlite::Result<Option<(ExportRow, i64)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, date_succeeded FROM realm_export WHERE content_id IS NOT NULL
             ORDER BY date_succeeded LIMIT 1"
        ))?
        .query_row([], |row| Ok((read(row)?, row.get(10)?)))
        .optional()
}

/// Inserts a request and returns its id.
pub fn insert(
    connection: &Connection,
    export_type: i64,
    acting_user_id: UserId,
    origin: &str,
    now: i64,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO realm_export (type, acting_user_id, origin, date_requested) VALUES (?1, ?2, ?3, ?4)",
        )?
        .insert((export_type, acting_user_id, origin, now))
}

/// Marks an export as begun.
pub fn set_started(connection: &Connection, id: i64, now: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE realm_export SET date_started = ?2 WHERE id = ?1", (id, now))
}

/// Marks an export as failed.
pub fn set_failed(connection: &Connection, id: i64, now: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE realm_export SET date_failed = ?2 WHERE id = ?1", (id, now))
}

/// Marks the exports as failed that were being written when the server stopped. Returns how many there were.
pub fn fail_started(connection: &Connection, now: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "UPDATE realm_export SET date_failed = ?1
             WHERE date_started IS NOT NULL AND date_succeeded IS NULL AND date_failed IS NULL",
        )?
        .execute([now])
}

/// Stores the archive of an export.
pub fn set_archive(
    connection: &Connection,
    id: i64,
    archive: &ArchiveContent,
    sha256: &str,
    now: i64,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE realm_export SET date_succeeded = ?2, content_id = ?3, path = ?4, size = ?5, sha256 = ?6
         WHERE id = ?1",
        (id, now, archive.content_id, &archive.path, archive.size as i64, sha256),
    )
}

/// Removes the archive of an export.
pub fn remove_archive(connection: &Connection, id: i64, now: i64) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE realm_export SET date_deleted = ?2, content_id = NULL, path = NULL WHERE id = ?1",
        (id, now),
    )
}

//! Every statement about channels.

use super::row::{COLUMNS, StreamRow};
use crate::types::{RecipientId, StreamId, fold};
use rusqlite::{Connection, OptionalExtension};

/// A channel by id.
pub fn by_id(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<Option<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) WHERE stream_id = ?1"
        ))?
        .query_row([stream_id], StreamRow::read)
        .optional()
}

/// A channel by name, upper and lower case alike.
pub fn by_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) WHERE name_key = ?1"
        ))?
        .query_row([fold(name.trim())], StreamRow::read)
        .optional()
}

/// The sets of receivers of all public channels.
pub fn public_recipients(connection: &Connection) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached(
            "SELECT recipient_id FROM stream JOIN recipient USING (stream_id) WHERE NOT invite_only",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

//! Every statement about presence.

use crate::domain::presence::record::{Presence, Times};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

const COLUMNS: &str =
    "presence.user_id, email, date_joined, last_active_time, last_connected_time, update_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Presence> {
    Ok(Presence {
        user_id: row.get(0)?,
        email: row.get(1)?,
        date_joined: row.get(2)?,
        times: Times { last_active: row.get(3)?, last_connected: row.get(4)? },
        update_id: row.get(5)?,
    })
}

/// A person's presence; `None` if no client of theirs ever reported.
pub fn of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<Presence>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM presence JOIN user USING (user_id) WHERE presence.user_id = ?1"
        ))?
        .query_row([user_id], read)
        .optional()
}

/// The presences of active people that changed after an update, of those who were connected since a time.
pub fn changed(connection: &Connection, after: i64, since: i64) -> rusqlite::Result<Vec<Presence>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM presence JOIN user USING (user_id)
             WHERE update_id > ?1 AND last_connected_time >= ?2 AND is_active ORDER BY update_id"
        ))?
        .query_map((after, since), read)?
        .collect()
}

/// Sets the times of a person, as the newest update of all.
pub fn put(connection: &Connection, user_id: UserId, times: Times) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO presence (user_id, last_active_time, last_connected_time, update_id)
             SELECT ?1, ?2, ?3, 1 + coalesce(max(update_id), 0) FROM presence WHERE true
             ON CONFLICT (user_id) DO UPDATE SET last_active_time = excluded.last_active_time,
                 last_connected_time = excluded.last_connected_time, update_id = excluded.update_id",
        )?
        .execute((user_id, times.last_active, times.last_connected))
        .map(|_| ())
}

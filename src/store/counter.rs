//! Named numbers: the rows of `counter`.

use super::ExecuteCached;
use rusqlite::{Connection, OptionalExtension};

/// Loads a number; `None` if it was never set.
pub fn load(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT value FROM counter WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// Sets a number.
pub fn set(connection: &Connection, name: &str, value: i64) -> rusqlite::Result<()> {
    connection.execute_cached("INSERT OR REPLACE INTO counter (name, value) VALUES (?1, ?2)", (name, value))
}

//! Whether the organization is closed.

use rusqlite::Connection;

/// Whether nobody can log in.
pub fn get(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT deactivated FROM realm")?.query_row([], |row| row.get(0))
}

/// Closes the organization, or opens it again.
pub fn set(connection: &Connection, deactivated: bool) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE realm SET deactivated = ?1")?.execute([deactivated]).map(|_| ())
}

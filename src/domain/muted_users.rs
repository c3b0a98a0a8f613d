//! Muted users: the statements that other resources need.

use crate::types::UserId;
use rusqlite::Connection;

/// Who has muted a user, ascending: their messages are read when they come.
pub fn muters_of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached("SELECT user_id FROM muted_user WHERE muted_user_id = ?1 ORDER BY user_id")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// Who does not want to know of a user, in either direction: neither is told what the other has read.
pub fn estranged_from(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "SELECT user_id FROM muted_user WHERE muted_user_id = ?1
             UNION SELECT muted_user_id FROM muted_user WHERE user_id = ?1",
        )?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

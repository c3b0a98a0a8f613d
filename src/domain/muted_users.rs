//! Muted users: SQL statements that other resources need.

use crate::domain::rows::user::{COLUMNS, UserRow};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension};

/// A user by id, and whether any other has muted them.
pub fn user_and_whether_muted(
    connection: &Connection,
    user_id: UserId,
) -> rusqlite::Result<Option<(UserRow, bool)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, EXISTS (SELECT 1 FROM muted_user WHERE muted_user_id = ?1) AS is_muted
             FROM user WHERE user_id = ?1"
        ))?
        .query_row([user_id], |row| Ok((UserRow::read(row)?, row.get("is_muted")?)))
        .optional()
}

/// Lists the users who have muted a user, ascending. Messages of that user are read for them on arrival.
pub fn list_muters(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached("SELECT user_id FROM muted_user WHERE muted_user_id = ?1 ORDER BY user_id")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// Lists the users whom a user has muted, ascending.
pub fn list_muted_by(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached("SELECT muted_user_id FROM muted_user WHERE user_id = ?1 ORDER BY muted_user_id")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// Lists the users who have muted a user or are muted by them. Read receipts are hidden between the two.
pub fn list_muted_either_way(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "SELECT user_id FROM muted_user WHERE muted_user_id = ?1
             UNION SELECT muted_user_id FROM muted_user WHERE user_id = ?1",
        )?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

//! Drafts: SQL statements that other resources need.

use crate::http::ApiResult;
use crate::types::UserId;
use rusqlite::Connection;

/// Deletes the drafts of a user who turns off their synchronization. Emits nothing: clients keep their own copies.
pub fn delete_all(connection: &Connection, user_id: UserId) -> ApiResult<()> {
    connection.prepare_cached("DELETE FROM draft WHERE user_id = ?1")?.execute([user_id])?;
    Ok(())
}

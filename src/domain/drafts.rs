//! Drafts: the statements that other resources need.

use crate::http::ApiResult;
use crate::types::UserId;
use rusqlite::Connection;

/// Removes a user's drafts, who does not want them on the server any more. Their clients keep their own copies, so
/// nothing is told.
pub fn forget_all(connection: &Connection, user_id: UserId) -> ApiResult<()> {
    connection.prepare_cached("DELETE FROM draft WHERE user_id = ?1")?.execute([user_id])?;
    Ok(())
}

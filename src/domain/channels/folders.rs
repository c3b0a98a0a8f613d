//! Whether a channel can be shown in a folder.

use crate::domain::channels::folder_sql;
use crate::http::{ApiError, ApiResult};
use rusqlite::Connection;

/// Checks a folder that a client names. An archived one takes no channels.
pub fn check(connection: &Connection, folder_id: Option<i64>) -> ApiResult<()> {
    match folder_id {
        Some(id) if folder_sql::find(connection, id)?.is_archived => {
            Err(ApiError::bad_request("Invalid channel folder ID"))
        }
        _ => Ok(()),
    }
}

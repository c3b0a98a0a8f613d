//! The organization's defaults for new users.

use crate::domain::user_settings::{sql, table};
use crate::http::ApiResult;
use crate::types::Values;
use rusqlite::Connection;

/// Returns the values that a new user starts with.
pub fn all(connection: &Connection) -> ApiResult<Values> {
    Ok(Values::new(table::PROPERTIES, sql::defaults(connection)?))
}

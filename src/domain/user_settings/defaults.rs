//! The organization's defaults for the settings of new users.

use crate::domain::user_settings::{sql, table};
use crate::http::ApiResult;
use crate::types::Values;
use rusqlite::Connection;

/// All defaults of new users.
pub fn all(connection: &Connection) -> ApiResult<Values> {
    Ok(Values::new(table::PROPERTIES, sql::defaults(connection)?))
}

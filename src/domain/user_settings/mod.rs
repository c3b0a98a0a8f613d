//! Personal settings: the table of settings, each user's values, the organization's defaults, and their events.

pub mod defaults;
pub mod events;
pub mod languages;
pub mod sql;
pub mod table;

use crate::http::{ApiError, ApiResult};
use crate::types::{UserId, Values};
use rusqlite::Connection;
use serde::de::DeserializeOwned;

/// A user's value of a setting, by one indexed search.
pub fn get<T: DeserializeOwned>(connection: &Connection, user_id: UserId, name: &str) -> ApiResult<T> {
    match sql::get(connection, user_id, name)? {
        Some(text) => Ok(serde_json::from_str(&text)?),
        None => {
            let property = table::property(name)
                .ok_or_else(|| ApiError::internal(format_args!("users have no setting {name}")))?;
            Ok(serde_json::from_value(property.default_value())?)
        }
    }
}

/// All settings of a user.
pub fn all(connection: &Connection, user_id: UserId) -> ApiResult<Values> {
    Ok(Values::new(table::PROPERTIES, sql::all(connection, user_id)?))
}

//! Stored values of custom profile fields.

use crate::domain::profile_fields::sql;
use crate::http::ApiResult;
use crate::types::UserId;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// A user's `profile_data`, by field.
pub fn of(connection: &Connection, user_id: UserId) -> ApiResult<Map<String, Value>> {
    Ok(sql::values_of(connection, user_id)?.iter().map(StoredValue::entry).collect())
}

/// Everybody's `profile_data`, by user and field. Who said nothing is not in it.
pub fn all(connection: &Connection) -> ApiResult<HashMap<UserId, Map<String, Value>>> {
    let mut all: HashMap<UserId, Map<String, Value>> = HashMap::new();
    for (user_id, value) in sql::all_values(connection)? {
        all.entry(user_id).or_default().extend([value.entry()]);
    }
    Ok(all)
}

/// A value as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// Of which field.
    pub field_id: i64,
    /// The text.
    pub value: String,
    /// HTML, for types that are Markdown.
    pub rendered_value: Option<String>,
}

impl StoredValue {
    /// The member of `profile_data`.
    fn entry(&self) -> (String, Value) {
        let mut entry = json!({"value": self.value});
        if let Some(rendered_value) = &self.rendered_value {
            entry["rendered_value"] = json!(rendered_value);
        }
        (self.field_id.to_string(), entry)
    }
}

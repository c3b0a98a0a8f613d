//! Stored values of custom profile fields.

use crate::domain::profile_fields::sql;
use crate::domain::profile_fields::sql::StoredValue;
use crate::error::ApiResult;
use crate::types::UserId;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Returns a user's `profile_data`, by field.
pub fn of(connection: &Connection, user_id: UserId) -> ApiResult<Map<String, Value>> {
    Ok(sql::list_for_user(connection, user_id)?.iter().map(StoredValue::entry).collect())
}

/// Returns everyone's `profile_data`, by user and field. Users without values are left out.
pub fn all(connection: &Connection) -> ApiResult<HashMap<UserId, Map<String, Value>>> {
    let mut all: HashMap<UserId, Map<String, Value>> = HashMap::new();
    for (user_id, value) in sql::list_for_all_users(connection)? {
        all.entry(user_id).or_default().extend([value.entry()]);
    }
    Ok(all)
}

impl StoredValue {
    /// Returns the key and value in `profile_data`.
    fn entry(&self) -> (String, Value) {
        let mut entry = json!({"value": self.value});
        if let Some(rendered_value) = &self.rendered_value {
            entry["rendered_value"] = json!(rendered_value);
        }
        (self.field_id.to_string(), entry)
    }
}

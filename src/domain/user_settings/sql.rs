//! SQL statements on user settings and their defaults.

use crate::domain::user_settings::table;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, bitmap, json_column};
use crate::types::{UserId, Values};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

/// Loads a user's value of a setting as JSON text; `None` if it was never set.
pub fn get(connection: &Connection, user_id: UserId, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM user_setting WHERE user_id = ?1 AND property = ?2")?
        .query_row((user_id, name), |row| row.get(0))
        .optional()
}

/// Returns all settings of a user.
pub fn all(connection: &Connection, user_id: UserId) -> ApiResult<Values> {
    let stored = connection
        .prepare_cached("SELECT property, value FROM user_setting WHERE user_id = ?1")?
        .query_map([user_id], property_and_value)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Values::new(table::PROPERTIES, stored))
}

/// Lists all active people with their values of a setting as JSON text; `None` where it was never set.
pub fn list_by_person(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Vec<(UserId, Option<String>)>> {
    connection
        .prepare_cached(
            "SELECT user.user_id, value FROM user
             LEFT JOIN user_setting ON user_setting.user_id = user.user_id AND property = ?1
             WHERE is_active AND bot_type IS NULL ORDER BY user.user_id",
        )?
        .query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Lists the users of a set who have a value of a setting, with the values as JSON text.
pub fn list_of_users(
    connection: &Connection,
    user_ids: &RoaringBitmap,
    name: &str,
) -> rusqlite::Result<Vec<(UserId, String)>> {
    connection
        .prepare_cached(
            "SELECT user_id, user_setting.value FROM rarray(?1) AS wanted
             CROSS JOIN user_setting ON user_id = wanted.value AND property = ?2",
        )?
        .query_map((bitmap::to_array(user_ids), name), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Sets a user's value of a setting.
pub fn set(connection: &Connection, user_id: UserId, name: &str, value: &Value) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO user_setting (user_id, property, value) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        (user_id, name, value.to_string()),
    )
}

/// Copies the organization's defaults to a new user.
pub fn copy_defaults(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO user_setting (user_id, property, value)
         SELECT ?1, property, value FROM realm_user_setting_default",
        [user_id],
    )
}

/// Returns the values that a new user starts with.
pub fn defaults(connection: &Connection) -> ApiResult<Values> {
    let stored = connection
        .prepare_cached("SELECT property, value FROM realm_user_setting_default")?
        .query_map([], property_and_value)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Values::new(table::PROPERTIES, stored))
}

/// Sets one of the organization's defaults.
pub fn set_default(connection: &Connection, name: &str, value: &Value) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO realm_user_setting_default (property, value) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        (name, value.to_string()),
    )
}

fn property_and_value(row: &Row<'_>) -> rusqlite::Result<(String, Value)> {
    Ok((row.get(0)?, json_column(row, 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::count_steps;

    #[test]
    fn values_of_other_users_are_not_read() {
        let connection = Connection::open_in_memory().unwrap();
        rusqlite::vtab::array::load_module(&connection).unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection
            .execute_batch(
                "WITH RECURSIVE one (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM one WHERE id < 1000)
                 INSERT INTO user_setting (user_id, property, value) SELECT id, 'enable_stream_push_notifications', 'true' FROM one;
                 INSERT INTO user_setting (user_id, property, value) VALUES (2000, 'emojiset', '\"text\"')",
            )
            .unwrap();
        let steps = count_steps(&connection);
        let user_ids = [3, 500, 2000].into_iter().collect();
        let found = list_of_users(&connection, &user_ids, "enable_stream_push_notifications").unwrap();
        assert_eq!(found, [3, 500].map(|user| (UserId(user), "true".to_owned())));
        // Each row takes several steps.
        let steps = steps();
        assert!(steps < 500, "{steps} steps for three users of a thousand");
    }
}

//! Every statement about user settings.

use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

/// A user's value of a setting, as JSON text, if it ever was another than the default.
pub fn get(connection: &Connection, user_id: UserId, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM user_setting WHERE user_id = ?1 AND property = ?2")?
        .query_row((user_id, name), |row| row.get(0))
        .optional()
}

/// All of a user's values that ever were others than the defaults.
pub fn all(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<(String, Value)>> {
    connection
        .prepare_cached("SELECT property, value FROM user_setting WHERE user_id = ?1")?
        .query_map([user_id], property_and_value)?
        .collect()
}

/// The values of a setting that ever were others than the default, as JSON text, of all people whose accounts are in use.
pub fn of_all_people(connection: &Connection, name: &str) -> rusqlite::Result<Vec<(UserId, Option<String>)>> {
    connection
        .prepare_cached(
            "SELECT user.user_id, value FROM user
             LEFT JOIN user_setting ON user_setting.user_id = user.user_id AND property = ?1
             WHERE is_active AND bot_type IS NULL ORDER BY user.user_id",
        )?
        .query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Sets a user's value.
pub fn put(connection: &Connection, user_id: UserId, name: &str, value: &Value) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO user_setting (user_id, property, value) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute((user_id, name, value.to_string()))
        .map(|_| ())
}

/// Gives a new user the organization's defaults.
pub fn copy_defaults(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO user_setting (user_id, property, value)
             SELECT ?1, property, value FROM realm_user_setting_default",
        )?
        .execute([user_id])
        .map(|_| ())
}

/// The organization's defaults that ever were others than the program's.
pub fn defaults(connection: &Connection) -> rusqlite::Result<Vec<(String, Value)>> {
    connection
        .prepare_cached("SELECT property, value FROM realm_user_setting_default")?
        .query_map([], property_and_value)?
        .collect()
}

/// Sets one of the organization's defaults.
pub fn put_default(connection: &Connection, name: &str, value: &Value) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO realm_user_setting_default (property, value) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute((name, value.to_string()))
        .map(|_| ())
}

fn property_and_value(row: &Row<'_>) -> rusqlite::Result<(String, Value)> {
    let text = row.get_ref(1)?.as_str()?;
    let value = serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, error.into())
    })?;
    Ok((row.get(0)?, value))
}

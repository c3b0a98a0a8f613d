//! SQL statements on profile fields and their values.

use crate::domain::profile_fields::field::{COLUMNS, ProfileField};
use crate::error::{ApiError, ApiResult};
use crate::store::ExecuteCached;
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

/// A row of `profile_value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// The field that it is a value of.
    pub field_id: i64,
    /// The value as text; JSON for a list of users.
    pub value: String,
    /// The value as HTML, for types that are Markdown.
    pub rendered_value: Option<String>,
}

/// Lists all fields in display order.
pub fn list(connection: &Connection) -> rusqlite::Result<Vec<ProfileField>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM profile_field ORDER BY position, id"))?
        .query_map([], ProfileField::read)?
        .collect()
}

/// Loads a field. Fails with 400 if there is none.
pub fn load(connection: &Connection, id: i64) -> ApiResult<ProfileField> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM profile_field WHERE id = ?1"))?
        .query_row([id], ProfileField::read)
        .optional()?
        .ok_or_else(|| ApiError::bad_request(format!("Field id {id} not found.")))
}

/// Counts the fields in the summary of a profile, without `except`.
pub fn count_in_summary(connection: &Connection, except: Option<i64>) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM profile_field WHERE display_in_profile_summary AND id IS NOT ?1",
        )?
        .query_row([except], |row| row.get(0))
}

/// True if a field besides `except` has this name.
pub fn is_name_in_use(connection: &Connection, name: &str, except: Option<i64>) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM profile_field WHERE name = ?1 AND id IS NOT ?2)")?
        .query_row((name, except), |row| row.get(0))
}

/// Inserts a field after all others and returns its id. Its position is its id, which is larger than any other
/// position.
pub fn insert(connection: &Connection, field: &ProfileField) -> rusqlite::Result<i64> {
    let id = connection
        .prepare_cached(
            "INSERT INTO profile_field (name, type, hint, field_data, position, required, editable_by_user,
                 display_in_profile_summary)
             VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7)",
        )?
        .insert((
            &field.name,
            field.r#type,
            &field.hint,
            &field.field_data,
            field.required,
            field.editable_by_user,
            field.display_in_profile_summary,
        ))?;
    set_position(connection, id, id)?;
    Ok(id)
}

/// Updates a field except its type and position.
pub fn update(connection: &Connection, field: &ProfileField) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE profile_field SET name = ?2, hint = ?3, field_data = ?4, required = ?5, editable_by_user = ?6,
             display_in_profile_summary = ?7
         WHERE id = ?1",
        (
            field.id,
            &field.name,
            &field.hint,
            &field.field_data,
            field.required,
            field.editable_by_user,
            field.display_in_profile_summary,
        ),
    )
}

/// Sets the position of a field.
pub fn set_position(connection: &Connection, id: i64, position: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE profile_field SET position = ?2 WHERE id = ?1", (id, position))
}

/// Deletes a field and all its values.
pub fn delete(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM profile_value WHERE field_id = ?1", [id])?;
    connection.execute_cached("DELETE FROM profile_field WHERE id = ?1", [id])
}

/// Loads a user's value of a field.
pub fn load_value(
    connection: &Connection,
    user_id: UserId,
    field_id: i64,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM profile_value WHERE user_id = ?1 AND field_id = ?2")?
        .query_row((user_id, field_id), |row| row.get(0))
        .optional()
}

/// Sets a user's value of a field.
pub fn set_value(
    connection: &Connection,
    user_id: UserId,
    field_id: i64,
    value: &str,
    rendered_value: Option<&str>,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO profile_value (user_id, field_id, value, rendered_value) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET value = excluded.value, rendered_value = excluded.rendered_value",
        (user_id, field_id, value, rendered_value),
    )
}

/// Deletes a user's value of a field.
pub fn delete_value(connection: &Connection, user_id: UserId, field_id: i64) -> rusqlite::Result<()> {
    let statement = "DELETE FROM profile_value WHERE user_id = ?1 AND field_id = ?2";
    connection.execute_cached(statement, (user_id, field_id))
}

/// Lists some of the users who have a value of a field, ascending, from the one after a user on.
pub fn list_values(
    connection: &Connection,
    field_id: i64,
    after: UserId,
    limit: i64,
) -> rusqlite::Result<Vec<(UserId, String)>> {
    connection
        .prepare_cached(
            "SELECT user_id, value FROM profile_value WHERE field_id = ?1 AND user_id > ?2 ORDER BY user_id LIMIT ?3",
        )?
        .query_map((field_id, after, limit), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Lists a user's values.
pub fn list_for_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<StoredValue>> {
    connection
        .prepare_cached(
            "SELECT user_id, field_id, value, rendered_value FROM profile_value WHERE user_id = ?1",
        )?
        .query_map([user_id], |row| Ok(read_value(row)?.1))?
        .collect()
}

/// Lists everyone's values.
pub fn list_for_all_users(connection: &Connection) -> rusqlite::Result<Vec<(UserId, StoredValue)>> {
    connection
        .prepare_cached("SELECT user_id, field_id, value, rendered_value FROM profile_value")?
        .query_map([], read_value)?
        .collect()
}

fn read_value(row: &Row<'_>) -> rusqlite::Result<(UserId, StoredValue)> {
    let value = StoredValue { field_id: row.get(1)?, value: row.get(2)?, rendered_value: row.get(3)? };
    Ok((row.get(0)?, value))
}

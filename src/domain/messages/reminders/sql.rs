//! Statements on reminders.

use crate::domain::messages::reminders::record::ReminderRow;
use crate::store::ExecuteCached;
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

const COLUMNS: &str = "reminder_id, user_id, message_id, note, content, rendered_content,
    scheduled_delivery_timestamp, origin, failed";

fn read_row(row: &Row<'_>) -> rusqlite::Result<ReminderRow> {
    Ok(ReminderRow {
        reminder_id: row.get(0)?,
        user_id: row.get(1)?,
        message_id: row.get(2)?,
        note: row.get(3)?,
        content: row.get(4)?,
        rendered_content: row.get(5)?,
        scheduled_delivery_timestamp: row.get(6)?,
        origin: row.get(7)?,
        failed: row.get(8)?,
    })
}

/// A user's reminders, in the order of delivery.
pub fn of_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<ReminderRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminder WHERE user_id = ?1 ORDER BY scheduled_delivery_timestamp, reminder_id"
        ))?
        .query_map([user_id], read_row)?
        .collect()
}

/// Loads a reminder by id.
pub fn by_id(connection: &Connection, id: i64) -> rusqlite::Result<Option<ReminderRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM reminder WHERE reminder_id = ?1"))?
        .query_row([id], read_row)
        .optional()
}

/// The next reminder to be sent after a time and an id.
pub fn next(connection: &Connection, after: (i64, i64)) -> rusqlite::Result<Option<ReminderRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminder WHERE NOT failed
                 AND (scheduled_delivery_timestamp, reminder_id) > (?1, ?2)
             ORDER BY scheduled_delivery_timestamp, reminder_id LIMIT 1"
        ))?
        .query_row(after, read_row)
        .optional()
}

/// The reminders of messages; `ids` is a JSON list.
pub fn of_messages(connection: &Connection, ids: &str) -> rusqlite::Result<Vec<ReminderRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminder WHERE message_id IN (SELECT value FROM json_each(?1)) ORDER BY reminder_id"
        ))?
        .query_map([ids], read_row)?
        .collect()
}

/// Stores the text of a reminder.
pub fn set_content(connection: &Connection, row: &ReminderRow) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE reminder SET content = ?2, rendered_content = ?3 WHERE reminder_id = ?1",
        (row.reminder_id, &row.content, &row.rendered_content),
    )
}

/// Inserts a reminder and returns its id.
pub fn insert(connection: &Connection, row: &ReminderRow) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO reminder (user_id, message_id, note, content, rendered_content,
                 scheduled_delivery_timestamp, origin)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .insert((
            row.user_id,
            row.message_id,
            &row.note,
            &row.content,
            &row.rendered_content,
            row.scheduled_delivery_timestamp,
            &row.origin,
        ))
}

/// Marks a reminder as failed.
pub fn set_failed(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE reminder SET failed = 1 WHERE reminder_id = ?1", [id])
}

/// Deletes a reminder.
pub fn delete(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM reminder WHERE reminder_id = ?1", [id])
}

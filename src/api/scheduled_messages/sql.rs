//! Statements on scheduled messages.

use super::record::{ScheduledMessageRow, Target};
use crate::store::{ExecuteCached, json_column};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

const COLUMNS: &str =
    "scheduled_message_id, sender_id, stream_id, user_ids, topic, content, rendered_content,
    scheduled_delivery_timestamp, client, read_by_sender, origin, failed, sent";

fn read_row(row: &Row<'_>) -> rusqlite::Result<ScheduledMessageRow> {
    let target = match row.get(2)? {
        Some(stream_id) => Target::Channel(stream_id, row.get(4)?),
        None => Target::Direct(json_column(row, 3)?),
    };
    Ok(ScheduledMessageRow {
        scheduled_message_id: row.get(0)?,
        sender_id: row.get(1)?,
        target,
        content: row.get(5)?,
        rendered_content: row.get(6)?,
        scheduled_delivery_timestamp: row.get(7)?,
        client: row.get(8)?,
        read_by_sender: row.get(9)?,
        origin: row.get(10)?,
        failed: row.get(11)?,
        sent: row.get(12)?,
    })
}

/// A sender's messages that are not sent yet, also failed ones, in the order of delivery.
pub fn of_sender(connection: &Connection, sender_id: UserId) -> rusqlite::Result<Vec<ScheduledMessageRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM scheduled_message WHERE sender_id = ?1 AND NOT sent
             ORDER BY scheduled_delivery_timestamp, scheduled_message_id"
        ))?
        .query_map([sender_id], read_row)?
        .collect()
}

/// Loads a scheduled message by id.
pub fn by_id(connection: &Connection, id: i64) -> rusqlite::Result<Option<ScheduledMessageRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM scheduled_message WHERE scheduled_message_id = ?1"))?
        .query_row([id], read_row)
        .optional()
}

/// The next message to be sent after a time and an id.
pub fn next(connection: &Connection, after: (i64, i64)) -> rusqlite::Result<Option<ScheduledMessageRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM scheduled_message WHERE NOT failed AND NOT sent
                 AND (scheduled_delivery_timestamp, scheduled_message_id) > (?1, ?2)
             ORDER BY scheduled_delivery_timestamp, scheduled_message_id LIMIT 1"
        ))?
        .query_row(after, read_row)
        .optional()
}

/// The columns `stream_id`, `user_ids` and `topic` of a target.
fn target_columns(target: &Target) -> (Option<i64>, Option<String>, &str) {
    match target {
        Target::Channel(stream_id, topic) => (Some(stream_id.0), None, topic),
        Target::Direct(people) => (None, Some(serde_json::json!(people).to_string()), ""),
    }
}

/// Inserts a scheduled message and returns its id.
pub fn insert(connection: &Connection, row: &ScheduledMessageRow) -> rusqlite::Result<i64> {
    let (stream_id, user_ids, topic) = target_columns(&row.target);
    connection
        .prepare_cached(
            "INSERT INTO scheduled_message (sender_id, stream_id, user_ids, topic, content, rendered_content,
                 scheduled_delivery_timestamp, client, read_by_sender, origin)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .insert((
            row.sender_id,
            stream_id,
            user_ids,
            topic,
            &row.content,
            &row.rendered_content,
            row.scheduled_delivery_timestamp,
            &row.client,
            row.read_by_sender,
            &row.origin,
        ))
}

/// Writes all columns that can change.
pub fn update(connection: &Connection, row: &ScheduledMessageRow) -> rusqlite::Result<()> {
    let (stream_id, user_ids, topic) = target_columns(&row.target);
    connection.execute_cached(
        "UPDATE scheduled_message SET stream_id = ?2, user_ids = ?3, topic = ?4, content = ?5,
             rendered_content = ?6, scheduled_delivery_timestamp = ?7, client = ?8, origin = ?9, failed = ?10
         WHERE scheduled_message_id = ?1",
        (
            row.scheduled_message_id,
            stream_id,
            user_ids,
            topic,
            &row.content,
            &row.rendered_content,
            row.scheduled_delivery_timestamp,
            &row.client,
            &row.origin,
            row.failed,
        ),
    )
}

/// Marks a message as sent and removes its texts.
pub fn set_sent(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE scheduled_message SET sent = 1, topic = '', content = '', rendered_content = ''
         WHERE scheduled_message_id = ?1",
        [id],
    )
}

/// Deletes a scheduled message.
pub fn delete(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM scheduled_message WHERE scheduled_message_id = ?1", [id])
}

//! Statements about submessages: the data of widgets.

use crate::domain::messages::record::Submessage;
use crate::types::{MessageId, UserId};
use rusqlite::Connection;

/// Inserts a submessage, and returns it with its id. `content` is JSON.
pub fn insert(
    connection: &Connection,
    message_id: MessageId,
    sender_id: UserId,
    msg_type: &str,
    content: &str,
) -> rusqlite::Result<Submessage> {
    let id = connection
        .prepare_cached(
            "INSERT INTO submessage (message_id, sender_id, msg_type, content) VALUES (?1, ?2, ?3, ?4)",
        )?
        .insert((message_id, sender_id, msg_type, content))?;
    Ok(Submessage { id, message_id, sender_id, msg_type: msg_type.to_owned(), content: content.to_owned() })
}

/// The submessages of a message, the oldest first.
pub fn of_message(connection: &Connection, message_id: MessageId) -> rusqlite::Result<Vec<Submessage>> {
    connection
        .prepare_cached(
            "SELECT id, sender_id, msg_type, content FROM submessage WHERE message_id = ?1 ORDER BY id",
        )?
        .query_map([message_id], |row| {
            Ok(Submessage {
                id: row.get(0)?,
                message_id,
                sender_id: row.get(1)?,
                msg_type: row.get(2)?,
                content: row.get(3)?,
            })
        })?
        .collect()
}

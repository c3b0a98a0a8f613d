//! Selection of the messages to delete.

use crate::types::{MessageId, RecipientId, TopicId, UserId};
use rusqlite::{Connection, Row};

/// A message that is to be deleted, and where it is.
pub struct Found {
    pub id: MessageId,
    /// The channel or direct conversation.
    pub recipient_id: RecipientId,
    /// The topic; `None` for direct messages.
    pub topic_id: Option<TopicId>,
    /// The topic as the message spells it.
    pub subject: String,
}

fn read_found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found { id: row.get(0)?, recipient_id: row.get(1)?, topic_id: row.get(2)?, subject: row.get(3)? })
}

/// The oldest messages of a sender.
pub fn of_sender(connection: &Connection, sender_id: UserId, limit: i64) -> rusqlite::Result<Vec<Found>> {
    connection
        .prepare_cached(
            "SELECT id, recipient_id, topic_id, subject FROM message WHERE sender_id = ?1 ORDER BY id LIMIT ?2",
        )?
        .query_map((sender_id, limit), read_found)?
        .collect()
}

/// The oldest messages of a channel.
pub fn of_recipient(
    connection: &Connection,
    recipient_id: RecipientId,
    limit: i64,
) -> rusqlite::Result<Vec<Found>> {
    connection
        .prepare_cached(
            "SELECT id, recipient_id, topic_id, subject FROM message WHERE recipient_id = ?1 ORDER BY id LIMIT ?2",
        )?
        .query_map((recipient_id, limit), read_found)?
        .collect()
}

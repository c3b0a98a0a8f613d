//! A reminder as it is stored, as clients see it, and the events about it.

use crate::domain::messages::record::MessageType;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use serde::{Deserialize, Serialize};

/// A reminder's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderRow {
    /// The id.
    pub reminder_id: i64,
    /// Who wants to be reminded.
    pub user_id: UserId,
    /// Of which message.
    pub message_id: MessageId,
    /// What the user wrote to themselves; may be empty.
    pub note: String,
    /// What will be said, as of now.
    pub content: String,
    /// The same as HTML.
    pub rendered_content: String,
    /// UNIX seconds.
    pub scheduled_delivery_timestamp: i64,
    /// Under which address the user reached the server.
    pub origin: String,
    /// Whether reminding was tried, in vain.
    pub failed: bool,
}

/// A reminder on the wire: like a scheduled message to oneself.
#[derive(Serialize, Deserialize)]
pub struct ReminderRecord {
    reminder_id: i64,
    r#type: MessageType,
    to: [UserId; 1],
    content: String,
    rendered_content: String,
    scheduled_delivery_timestamp: i64,
    failed: bool,
    reminder_target_message_id: MessageId,
}

impl ReminderRecord {
    /// The record of a row.
    pub fn new(row: &ReminderRow) -> Self {
        Self {
            reminder_id: row.reminder_id,
            r#type: MessageType::Private,
            to: [row.user_id],
            content: row.content.clone(),
            rendered_content: row.rendered_content.clone(),
            scheduled_delivery_timestamp: row.scheduled_delivery_timestamp,
            failed: row.failed,
            reminder_target_message_id: row.message_id,
        }
    }
}

/// `reminders`, `op: add`.
#[derive(Serialize, Deserialize)]
pub struct ReminderAdded {
    reminders: [ReminderRecord; 1],
}

uniform_event!(ReminderAdded: "reminders", op "add", version 1);

/// `reminders`, `op: remove`.
#[derive(Serialize, Deserialize)]
pub struct ReminderRemoved {
    reminder_id: i64,
}

uniform_event!(ReminderRemoved: "reminders", op "remove", version 1);

/// Tells the user's clients of a new one.
pub fn tell_added(tx: &mut Tx<'_>, row: &ReminderRow) {
    let event = ReminderAdded { reminders: [ReminderRecord::new(row)] };
    tx.emit(event, Audience::user(row.user_id));
}

/// Tells the user's clients that one is gone: said or deleted.
pub fn tell_removed(tx: &mut Tx<'_>, row: &ReminderRow) {
    let event = ReminderRemoved { reminder_id: row.reminder_id };
    tx.emit(event, Audience::user(row.user_id));
}

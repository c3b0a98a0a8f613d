//! A reminder: the row, the record on the wire, and the events.

use crate::domain::messages::record::MessageType;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use serde::{Deserialize, Serialize};

/// A reminder's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderRow {
    /// Identifies the reminder.
    pub reminder_id: i64,
    /// The user who created it and gets it.
    pub user_id: UserId,
    /// The message to be reminded of.
    pub message_id: MessageId,
    /// The user's own text; may be empty.
    pub note: String,
    /// The text of the reminder at its creation, in Markdown.
    pub content: String,
    /// The same in HTML.
    pub rendered_content: String,
    /// UNIX seconds.
    pub scheduled_delivery_timestamp: i64,
    /// The server's address as used by the client, for links in the text.
    pub origin: String,
    /// True if an attempt to send it failed.
    pub failed: bool,
}

/// A reminder of a message.
#[derive(Serialize, Deserialize)]
pub struct ReminderRecord {
    /// The reminder's id.
    reminder_id: i64,
    /// Always `private`.
    r#type: MessageType,
    /// The user id of the user who is reminded, in a list.
    to: [UserId; 1],
    /// The text of the reminder, in Markdown.
    content: String,
    /// The text as HTML.
    rendered_content: String,
    /// When to send the reminder, in UNIX seconds.
    scheduled_delivery_timestamp: i64,
    /// True if the reminder could not be sent; the server does not try again.
    failed: bool,
    /// The id of the message that the user is reminded of.
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

/// `reminders`, `op: add`: a reminder was created.
#[derive(Serialize, Deserialize)]
pub struct ReminderAdded {
    reminders: [ReminderRecord; 1],
}

uniform_event!(ReminderAdded: "reminders", op "add", version 1);

/// `reminders`, `op: remove`: a reminder was sent or deleted.
#[derive(Serialize, Deserialize)]
pub struct ReminderRemoved {
    /// The id of the reminder.
    reminder_id: i64,
}

uniform_event!(ReminderRemoved: "reminders", op "remove", version 1);

/// Emits a new reminder to its user.
pub fn emit_added(tx: &mut Tx<'_>, row: &ReminderRow) {
    let event = ReminderAdded { reminders: [ReminderRecord::new(row)] };
    tx.emit(event, Audience::user(row.user_id));
}

/// Emits the removal of a reminder, which was sent or deleted, to its user.
pub fn emit_removed(tx: &mut Tx<'_>, row: &ReminderRow) {
    let event = ReminderRemoved { reminder_id: row.reminder_id };
    tx.emit(event, Audience::user(row.user_id));
}

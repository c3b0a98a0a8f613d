//! A reminder as it is stored, as clients see it, and the events about it.

use crate::events::{Audience, Event};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use serde::Serialize;

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
#[derive(Serialize)]
pub struct ReminderRecord<'a> {
    reminder_id: i64,
    r#type: &'static str,
    to: [UserId; 1],
    content: &'a str,
    rendered_content: &'a str,
    scheduled_delivery_timestamp: i64,
    failed: bool,
    reminder_target_message_id: MessageId,
}

impl<'a> ReminderRecord<'a> {
    /// The record of a row.
    pub fn new(row: &'a ReminderRow) -> Self {
        Self {
            reminder_id: row.reminder_id,
            r#type: "private",
            to: [row.user_id],
            content: &row.content,
            rendered_content: &row.rendered_content,
            scheduled_delivery_timestamp: row.scheduled_delivery_timestamp,
            failed: row.failed,
            reminder_target_message_id: row.message_id,
        }
    }
}

/// `reminders`, `op: add`.
#[derive(Serialize)]
struct Added<'a> {
    r#type: &'static str,
    op: &'static str,
    reminders: [ReminderRecord<'a>; 1],
}

/// `reminders`, `op: remove`.
#[derive(Serialize)]
struct Removed {
    r#type: &'static str,
    op: &'static str,
    reminder_id: i64,
}

impl Event for Added<'_> {
    const TYPE: &'static str = "reminders";
}

impl Event for Removed {
    const TYPE: &'static str = "reminders";
}

/// Tells the user's clients of a new one.
pub fn tell_added(tx: &mut Tx<'_>, row: &ReminderRow) {
    let event = Added { r#type: Added::TYPE, op: "add", reminders: [ReminderRecord::new(row)] };
    tx.emit(&event, Audience::user(row.user_id));
}

/// Tells the user's clients that one is gone: said or deleted.
pub fn tell_removed(tx: &mut Tx<'_>, row: &ReminderRow) {
    let event = Removed { r#type: Removed::TYPE, op: "remove", reminder_id: row.reminder_id };
    tx.emit(&event, Audience::user(row.user_id));
}

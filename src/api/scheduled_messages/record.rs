//! A scheduled message: the row, the record on the wire, and the events.

use crate::domain::messages::record::MessageType;
use crate::events::{Audience, uniform_event};
use crate::http::ApiError;
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};

/// A scheduled message's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledMessageRow {
    /// Identifies the scheduled message; the sent message has another id.
    pub scheduled_message_id: i64,
    /// The author, in whose name it is sent.
    pub sender_id: UserId,
    /// The destination.
    pub target: Target,
    /// Markdown.
    pub content: String,
    /// HTML, rendered at the last change.
    pub rendered_content: String,
    /// UNIX seconds.
    pub scheduled_delivery_timestamp: i64,
    /// The name of the client that scheduled it.
    pub client: String,
    /// True if the message will be marked as read for the sender.
    pub read_by_sender: bool,
    /// The server's address as used by the client, for links in the rendered message.
    pub origin: String,
    /// True if an attempt to send it failed.
    pub failed: bool,
    /// True if it was sent. The texts of sent messages are removed from the row.
    pub sent: bool,
}

/// The destination of a scheduled message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A channel and a topic.
    Channel(StreamId, String),
    /// Users including the sender, ascending.
    Direct(Vec<UserId>),
}

/// A scheduled message on the wire.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageRecord {
    /// Identifies the scheduled message.
    scheduled_message_id: i64,
    /// `stream` for a message to a channel, `private` for a direct one.
    r#type: MessageType,
    /// The channel; or the recipients of a direct message, without the sender unless there is no other.
    to: To,
    /// Channel messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    /// The text, in Markdown.
    content: String,
    /// The text as HTML.
    rendered_content: String,
    /// When it is sent, in UNIX seconds.
    scheduled_delivery_timestamp: i64,
    /// True if it could not be sent at its time; it is not tried again until it is changed.
    failed: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum To {
    Channel(StreamId),
    People(Vec<UserId>),
}

impl ScheduledMessageRecord {
    /// The record of a row. The recipients of a direct message do not include the sender, unless they are the only one.
    pub fn new(row: &ScheduledMessageRow) -> Self {
        let (r#type, to, topic) = match &row.target {
            Target::Channel(stream_id, topic) => {
                (MessageType::Stream, To::Channel(*stream_id), Some(topic.clone()))
            }
            Target::Direct(people) => {
                (MessageType::Private, To::People(without_sender(people, row.sender_id)), None)
            }
        };
        Self {
            scheduled_message_id: row.scheduled_message_id,
            r#type,
            to,
            topic,
            content: row.content.clone(),
            rendered_content: row.rendered_content.clone(),
            scheduled_delivery_timestamp: row.scheduled_delivery_timestamp,
            failed: row.failed,
        }
    }
}

fn without_sender(people: &[UserId], sender_id: UserId) -> Vec<UserId> {
    let others: Vec<UserId> = people.iter().copied().filter(|user_id| *user_id != sender_id).collect();
    if others.is_empty() { vec![sender_id] } else { others }
}

/// `scheduled_messages`, `op: add`.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageAdded {
    scheduled_messages: [ScheduledMessageRecord; 1],
}

uniform_event!(ScheduledMessageAdded: "scheduled_messages", op "add", version 1);

/// `scheduled_messages`, `op: update`.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageChanged {
    scheduled_message: ScheduledMessageRecord,
}

uniform_event!(ScheduledMessageChanged: "scheduled_messages", op "update", version 1);

/// `scheduled_messages`, `op: remove`.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageRemoved {
    /// The message that was sent or deleted.
    scheduled_message_id: i64,
}

uniform_event!(ScheduledMessageRemoved: "scheduled_messages", op "remove", version 1);

/// Emits a new scheduled message to its sender.
pub fn emit_added(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_messages = [ScheduledMessageRecord::new(row)];
    let event = ScheduledMessageAdded { scheduled_messages };
    tx.emit(event, Audience::user(row.sender_id));
}

/// Emits a changed or failed scheduled message to its sender.
pub fn emit_changed(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_message = ScheduledMessageRecord::new(row);
    let event = ScheduledMessageChanged { scheduled_message };
    tx.emit(event, Audience::user(row.sender_id));
}

/// Emits the removal of a scheduled message, which was sent or deleted, to its sender.
pub fn emit_removed(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_message_id = row.scheduled_message_id;
    let event = ScheduledMessageRemoved { scheduled_message_id };
    tx.emit(event, Audience::user(row.sender_id));
}

/// The error for a scheduled message that does not exist or is not the caller's.
pub fn does_not_exist() -> ApiError {
    ApiError::bad_request("Scheduled message does not exist")
}

/// The error for a delivery time in the past, or for a failed message without a new time.
pub fn not_in_the_future() -> ApiError {
    ApiError::bad_request("Scheduled delivery time must be in the future.")
}

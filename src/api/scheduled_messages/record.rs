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

/// A scheduled message.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageRecord {
    /// The id of the scheduled message. The sent message has another.
    scheduled_message_id: i64,
    /// `stream` for a channel message, `private` for a direct message.
    r#type: MessageType,
    /// For a channel message, the id of the channel. For a direct one, the user ids of the recipients without the
    /// sender, or only the sender.
    to: To,
    /// The topic; absent for direct messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    /// The content, in Markdown.
    content: String,
    /// The content as HTML.
    rendered_content: String,
    /// When to send the message, in UNIX seconds.
    scheduled_delivery_timestamp: i64,
    /// True if the message could not be sent; the server does not try again until the message is changed.
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

/// `scheduled_messages`, `op: add`: a message was scheduled.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageAdded {
    scheduled_messages: [ScheduledMessageRecord; 1],
}

uniform_event!(ScheduledMessageAdded: "scheduled_messages", op "add", version 1);

/// `scheduled_messages`, `op: update`: a scheduled message was changed, or could not be sent.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageChanged {
    scheduled_message: ScheduledMessageRecord,
}

uniform_event!(ScheduledMessageChanged: "scheduled_messages", op "update", version 1);

/// `scheduled_messages`, `op: remove`: a scheduled message was sent or deleted.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageRemoved {
    /// The id of the scheduled message.
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

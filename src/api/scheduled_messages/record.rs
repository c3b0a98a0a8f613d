//! A scheduled message as it is stored, as clients see it, and the events about it.

use crate::domain::messages::record::MessageType;
use crate::events::{Audience, uniform_event};
use crate::http::ApiError;
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};

/// A scheduled message's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledMessageRow {
    /// The id; not the one that the message will have.
    pub scheduled_message_id: i64,
    /// Who will send it.
    pub sender_id: UserId,
    /// Where it will go.
    pub target: Target,
    /// Markdown.
    pub content: String,
    /// HTML, as of the last change.
    pub rendered_content: String,
    /// UNIX seconds.
    pub scheduled_delivery_timestamp: i64,
    /// The program that scheduled it.
    pub client: String,
    /// Whether the sender will have read it.
    pub read_by_sender: bool,
    /// Under which address the sender reached the server.
    pub origin: String,
    /// Whether sending it was tried, in vain.
    pub failed: bool,
    /// Whether it was sent: then its texts are not here any more.
    pub sent: bool,
}

/// Where a scheduled message will go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A channel and the topic in it.
    Channel(StreamId, String),
    /// These people, the sender included; ascending.
    Direct(Vec<UserId>),
}

/// A scheduled message on the wire.
#[derive(Serialize, Deserialize)]
pub struct ScheduledMessageRecord {
    scheduled_message_id: i64,
    r#type: MessageType,
    to: To,
    /// Channel messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    content: String,
    rendered_content: String,
    scheduled_delivery_timestamp: i64,
    failed: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum To {
    Channel(StreamId),
    People(Vec<UserId>),
}

impl ScheduledMessageRecord {
    /// The record of a row. The sender is named among the people only when alone.
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
    scheduled_message_id: i64,
}

uniform_event!(ScheduledMessageRemoved: "scheduled_messages", op "remove", version 1);

/// Tells the sender's clients of a new one.
pub fn tell_added(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_messages = [ScheduledMessageRecord::new(row)];
    let event = ScheduledMessageAdded { scheduled_messages };
    tx.emit(event, Audience::user(row.sender_id));
}

/// Tells the sender's clients that one is another, or that it failed.
pub fn tell_changed(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_message = ScheduledMessageRecord::new(row);
    let event = ScheduledMessageChanged { scheduled_message };
    tx.emit(event, Audience::user(row.sender_id));
}

/// Tells the sender's clients that one is gone: sent or deleted.
pub fn tell_removed(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_message_id = row.scheduled_message_id;
    let event = ScheduledMessageRemoved { scheduled_message_id };
    tx.emit(event, Audience::user(row.sender_id));
}

/// The refusal of one that is not there, or not the caller's.
pub fn does_not_exist() -> ApiError {
    ApiError::no_such_resource("Scheduled message does not exist")
}

/// The refusal of a time that has passed, or of none where a new one is needed.
pub fn not_in_the_future() -> ApiError {
    ApiError::bad_request("Scheduled delivery time must be in the future.")
}

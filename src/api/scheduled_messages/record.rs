//! A scheduled message as it is stored, as clients see it, and the events about it.

use crate::events::{Audience, Event};
use crate::http::ApiError;
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::Serialize;

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
#[derive(Serialize)]
pub struct ScheduledMessageRecord<'a> {
    scheduled_message_id: i64,
    r#type: &'static str,
    to: To,
    /// Channel messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    content: &'a str,
    rendered_content: &'a str,
    scheduled_delivery_timestamp: i64,
    failed: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum To {
    Channel(StreamId),
    People(Vec<UserId>),
}

impl<'a> ScheduledMessageRecord<'a> {
    /// The record of a row. The sender is named among the people only when alone.
    pub fn new(row: &'a ScheduledMessageRow) -> Self {
        let (r#type, to, topic) = match &row.target {
            Target::Channel(stream_id, topic) => ("stream", To::Channel(*stream_id), Some(topic.as_str())),
            Target::Direct(people) => ("private", To::People(without_sender(people, row.sender_id)), None),
        };
        Self {
            scheduled_message_id: row.scheduled_message_id,
            r#type,
            to,
            topic,
            content: &row.content,
            rendered_content: &row.rendered_content,
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
#[derive(Serialize)]
struct Added<'a> {
    r#type: &'static str,
    op: &'static str,
    scheduled_messages: [ScheduledMessageRecord<'a>; 1],
}

/// `scheduled_messages`, `op: update`.
#[derive(Serialize)]
struct Changed<'a> {
    r#type: &'static str,
    op: &'static str,
    scheduled_message: ScheduledMessageRecord<'a>,
}

/// `scheduled_messages`, `op: remove`.
#[derive(Serialize)]
struct Removed {
    r#type: &'static str,
    op: &'static str,
    scheduled_message_id: i64,
}

impl Event for Added<'_> {
    const TYPE: &'static str = "scheduled_messages";
}

impl Event for Changed<'_> {
    const TYPE: &'static str = "scheduled_messages";
}

impl Event for Removed {
    const TYPE: &'static str = "scheduled_messages";
}

/// Tells the sender's clients of a new one.
pub fn tell_added(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_messages = [ScheduledMessageRecord::new(row)];
    let event = Added { r#type: Added::TYPE, op: "add", scheduled_messages };
    tx.emit(&event, Audience::user(row.sender_id));
}

/// Tells the sender's clients that one is another, or that it failed.
pub fn tell_changed(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_message = ScheduledMessageRecord::new(row);
    let event = Changed { r#type: Changed::TYPE, op: "update", scheduled_message };
    tx.emit(&event, Audience::user(row.sender_id));
}

/// Tells the sender's clients that one is gone: sent or deleted.
pub fn tell_removed(tx: &mut Tx<'_>, row: &ScheduledMessageRow) {
    let scheduled_message_id = row.scheduled_message_id;
    let event = Removed { r#type: Removed::TYPE, op: "remove", scheduled_message_id };
    tx.emit(&event, Audience::user(row.sender_id));
}

/// The refusal of one that is not there, or not the caller's.
pub fn does_not_exist() -> ApiError {
    ApiError::no_such_resource("Scheduled message does not exist")
}

/// The refusal of a time that has passed, or of none where a new one is needed.
pub fn not_in_the_future() -> ApiError {
    ApiError::bad_request("Scheduled delivery time must be in the future.")
}

//! Events about messages, and what differs between their receivers.

use crate::domain::messages::record::{MessageRecord, SenderPart};
use crate::events::{Event, EventType, QueueId, Receiver, Registration, Verdict};
use crate::markdown::TopicLink;
use crate::types::shown_topic;
use crate::types::{MessageId, StreamId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A new message, with all that decides how each receiver sees it. What clients get is made of it at delivery.
#[derive(Serialize)]
pub struct MessageSent<'a> {
    /// The message, with HTML content.
    pub message: MessageRecord<'a>,
    /// Its Markdown.
    pub raw_content: &'a str,
    /// Who has which flags.
    pub flags: FlagHolders<'a>,
    /// The queue that the request named, and what the client calls the message.
    pub echo: Option<(&'a QueueId, &'a str)>,
    /// Receivers who cannot access the sender.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub unknown_to: &'a [UserId],
}

/// Who has which flags on a message that was just sent or edited.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlagHolders<'a> {
    /// Who has read it: the sender, if the client says so, and who has muted the sender.
    pub read: &'a [UserId],
    /// Who has starred it.
    pub starred: &'a [UserId],
    /// Who has collapsed it.
    pub collapsed: &'a [UserId],
    /// Who is mentioned, by name or through a group.
    pub mentioned: &'a [UserId],
    /// Whether all receivers are mentioned.
    pub stream_wildcard: bool,
    /// Who is mentioned as somebody who took part in the topic.
    pub topic_wildcard: &'a [UserId],
    /// Who has an alert word in it.
    pub alerted: &'a [UserId],
}

impl Event for MessageSent<'_> {
    const TYPE: &'static str = "message";
}

/// `update_message`: content, topic or channel changed.
#[derive(Serialize)]
pub struct MessageEdited<'a> {
    /// Always the event's type.
    pub r#type: &'static str,
    /// Who edited; null for the server's own rendering.
    pub user_id: Option<UserId>,
    /// Whether only the rendering changed.
    pub rendering_only: bool,
    /// The message that was named.
    pub message_id: MessageId,
    /// All messages that changed, ascending.
    pub message_ids: &'a [MessageId],
    /// UNIX seconds.
    pub edit_timestamp: i64,
    /// Channel messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<StreamId>,
    /// Channel messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_name: Option<&'a str>,
    /// The new place.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceEdit<'a>>,
    /// The new content.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentEdit<'a>>,
    /// Who has which flags; becomes each receiver's `flags`.
    #[serde(rename = "holders")]
    pub flags: FlagHolders<'a>,
}

/// The part of an `update_message` event that tells of a new content.
#[derive(Clone, Debug, Serialize)]
pub struct ContentEdit<'a> {
    /// Markdown before.
    pub orig_content: &'a str,
    /// HTML before.
    pub orig_rendered_content: &'a str,
    /// Markdown now.
    pub content: &'a str,
    /// HTML now.
    pub rendered_content: &'a str,
    /// Whether it begins with `/me` now.
    pub is_me_message: bool,
}

/// The part of an `update_message` event that tells of a new topic or channel.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceEdit<'a> {
    /// The channel that the messages went to, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_stream_id: Option<StreamId>,
    /// Which messages were asked for.
    pub propagate_mode: PropagateMode,
    /// The topic before.
    pub orig_subject: &'a str,
    /// The topic now, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<&'a str>,
    /// Links that linkifiers make of the topic, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_links: Option<&'a [TopicLink]>,
}

impl<'a> MessageEdited<'a> {
    /// An edit without content, topic or channel; they are set from here.
    pub fn new(message_id: MessageId, message_ids: &'a [MessageId], user_id: UserId, now: i64) -> Self {
        Self {
            r#type: Self::TYPE,
            user_id: Some(user_id),
            rendering_only: false,
            message_id,
            message_ids,
            edit_timestamp: now,
            stream_id: None,
            stream_name: None,
            place: None,
            content: None,
            flags: FlagHolders::default(),
        }
    }
}

impl Event for MessageEdited<'_> {
    const TYPE: &'static str = "update_message";
}

/// `delete_message`: for clients that take many at once, and one by one for the others.
#[derive(Serialize)]
pub struct MessagesDeleted<'a> {
    r#type: &'static str,
    /// All of them, for clients with `bulk_message_deletion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_ids: Option<&'a [MessageId]>,
    /// One of them, for clients without.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<MessageId>,
    message_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<StreamId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
}

impl<'a> MessagesDeleted<'a> {
    /// The events for messages of one conversation; `place` is the channel and topic.
    pub fn events(ids: &'a [MessageId], place: Option<(StreamId, &'a str)>) -> impl Iterator<Item = Self> {
        let event = move |message_ids, message_id| Self {
            r#type: Self::TYPE,
            message_ids,
            message_id,
            message_type: if place.is_some() { "stream" } else { "private" },
            stream_id: place.map(|(stream_id, _)| stream_id),
            topic: place.map(|(_, topic)| topic),
        };
        std::iter::once(event(Some(ids), None)).chain(ids.iter().map(move |id| event(None, Some(*id))))
    }
}

impl Event for MessagesDeleted<'_> {
    const TYPE: &'static str = "delete_message";
}

/// `update_message_flags`: a user's own flags on some messages changed.
#[derive(Serialize)]
pub struct FlagsChanged<'a> {
    r#type: &'static str,
    op: &'static str,
    /// The same as `op`, for older clients.
    operation: &'static str,
    flag: &'static str,
    messages: &'a [MessageId],
    /// Deprecated: whether every message of the user is meant.
    all: bool,
    /// For messages that became unread: what a client needs to count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_details: Option<Map<String, Value>>,
}

impl<'a> FlagsChanged<'a> {
    /// A flag was set or taken away.
    pub fn new(
        add: bool,
        flag: &'static str,
        messages: &'a [MessageId],
        message_details: Option<Map<String, Value>>,
    ) -> Self {
        let op = if add { "add" } else { "remove" };
        Self { r#type: Self::TYPE, op, operation: op, flag, messages, all: false, message_details }
    }
}

impl FlagsChanged<'_> {
    /// Everything was marked as read: clients need no list.
    pub fn all_read() -> Self {
        Self { all: true, ..Self::new(true, "read", &[], None) }
    }
}

impl Event for FlagsChanged<'_> {
    const TYPE: &'static str = "update_message_flags";
}

/// What differs between receivers.
pub fn event_types() -> Vec<EventType> {
    vec![
        EventType {
            name: MessageSent::TYPE,
            verdict: message_verdict,
            form: message_form,
            personal: message_personal,
        },
        EventType {
            name: MessageEdited::TYPE,
            verdict: topic_verdict,
            form: edit_form,
            personal: edit_personal,
        },
        EventType {
            name: MessagesDeleted::TYPE,
            verdict: deletion_verdict,
            form: topic_form,
            personal: EventType::nothing_personal,
        },
        EventType {
            name: FlagsChanged::TYPE,
            verdict: topic_verdict,
            form: flags_form,
            personal: EventType::nothing_personal,
        },
    ]
}

/// Bits of a form's number.
mod form {
    pub const MARKDOWN_APPLIED: u8 = 1;
    pub const EMPTY_TOPIC: u8 = 2;
    pub const UNKNOWN_SENDER: u8 = 4;
}

fn topic_bit(registration: &Registration) -> u8 {
    if registration.client_capabilities.empty_topic_name { form::EMPTY_TOPIC } else { 0 }
}

fn topic_verdict(_event: &Value, receiver: &Receiver<'_>) -> Verdict {
    Verdict::Form(topic_bit(receiver.registration))
}

fn message_verdict(event: &Value, receiver: &Receiver<'_>) -> Verdict {
    if !crate::domain::messages::queue_narrow::matches(event, receiver) {
        return Verdict::Skip;
    }
    let markdown = if receiver.registration.apply_markdown { form::MARKDOWN_APPLIED } else { 0 };
    let unknown = if is_unknown_to(event, receiver.user_id) { form::UNKNOWN_SENDER } else { 0 };
    Verdict::Form(markdown | unknown | topic_bit(receiver.registration))
}

fn message_form(event: &Value, number: u8) -> String {
    let mut message = event["message"].clone();
    if number & form::MARKDOWN_APPLIED == 0 {
        message["content"] = event["raw_content"].clone();
        message["content_type"] = "text/x-markdown".into();
    }
    if number & form::UNKNOWN_SENDER != 0 {
        let sender_id = UserId(message["sender_id"].as_i64().unwrap_or_default());
        if let (Ok(Value::Object(unknown)), Some(members)) =
            (serde_json::to_value(SenderPart::unknown(sender_id)), message.as_object_mut())
        {
            members.extend(unknown);
        }
    }
    show_topic(&mut message, "subject", number);
    json!({ "type": MessageSent::TYPE, "message": message }).to_string()
}

/// Whether a receiver cannot access who caused an event, which lists such receivers.
pub fn is_unknown_to(event: &Value, user_id: UserId) -> bool {
    let list = event.get("unknown_to").and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|id| *id == user_id.0))
}

/// Puts the display name in place of the empty topic of a channel message, for clients that do not know it.
fn show_topic(object: &mut Value, field: &str, number: u8) {
    if object.get("stream_id").is_some_and(Value::is_number)
        && let Some(topic) = object.get(field).and_then(Value::as_str)
    {
        object[field] = shown_topic(topic, number & form::EMPTY_TOPIC != 0).to_owned().into();
    }
}

fn message_personal(event: &Value, receiver: &Receiver<'_>) -> String {
    let flags = flags_of(&event["flags"], receiver.user_id);
    let echo = &event["echo"];
    if echo[0].as_str() == Some(&receiver.queue_id.0) {
        format!("\"flags\":{flags},\"local_message_id\":{}", echo[1])
    } else {
        format!("\"flags\":{flags}")
    }
}

/// The flags of one receiver, from who has which.
fn flags_of(holders: &Value, user_id: UserId) -> Value {
    let holds =
        |name: &str| holders[name].as_array().is_some_and(|ids| ids.iter().any(|id| *id == user_id.0));
    let (everybody, participants) = (holders["stream_wildcard"] == true, holds("topic_wildcard"));
    let names = [
        (holds("read"), "read"),
        (holds("starred"), "starred"),
        (holds("collapsed"), "collapsed"),
        (holds("mentioned"), "mentioned"),
        (everybody, "stream_wildcard_mentioned"),
        (participants, "topic_wildcard_mentioned"),
        (everybody || participants, "wildcard_mentioned"),
        (holds("alerted"), "has_alert_word"),
    ];
    names.into_iter().filter(|(set, _)| *set).map(|(_, name)| Value::from(name)).collect()
}

fn edit_form(event: &Value, number: u8) -> String {
    let mut event = event.clone();
    if let Some(object) = event.as_object_mut() {
        object.remove("holders");
    }
    show_topic(&mut event, "subject", number);
    show_topic(&mut event, "orig_subject", number);
    event.to_string()
}

fn edit_personal(event: &Value, receiver: &Receiver<'_>) -> String {
    format!("\"flags\":{}", flags_of(&event["holders"], receiver.user_id))
}

fn deletion_verdict(event: &Value, receiver: &Receiver<'_>) -> Verdict {
    let bulk = event.get("message_ids").is_some();
    if bulk == receiver.registration.client_capabilities.bulk_message_deletion {
        Verdict::Form(topic_bit(receiver.registration))
    } else {
        Verdict::Skip
    }
}

fn topic_form(event: &Value, number: u8) -> String {
    let mut event = event.clone();
    show_topic(&mut event, "topic", number);
    event.to_string()
}

fn flags_form(event: &Value, number: u8) -> String {
    let mut event = event.clone();
    if let Some(details) = event.get_mut("message_details").and_then(Value::as_object_mut) {
        for detail in details.values_mut() {
            show_topic(detail, "topic", number);
        }
    }
    event.to_string()
}

/// `propagate_mode`: which messages of the topic go along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropagateMode {
    /// Only the one that is named.
    #[default]
    ChangeOne,
    /// The one that is named and later ones of its topic.
    ChangeLater,
    /// All of its topic.
    ChangeAll,
}

//! Events about messages, and their variants.

use crate::domain::access::users::unknown_email;
use crate::domain::messages::record::{
    DisplayRecipient, MessageRecord, MessageType, OwnPart, RecipientPart, SenderPart, Submessage,
};
use crate::events::{Event, Form, Members, QueueId, Receiver, Routed};
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, EmptyTopic, MessageId, RecipientId, StreamId, Topic, UserId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Not;
use teamchat_markdown::TopicLink;

/// `message`: a new message.
#[derive(Serialize, Deserialize)]
pub struct MessageSent {
    /// The id of the message.
    pub id: MessageId,
    /// The sender, for receivers who can access them.
    pub sender: Sender,
    /// The id of the set of receivers.
    pub recipient_id: RecipientId,
    /// The channel's name, or the participants of the direct conversation.
    pub display_recipient: DisplayRecipient,
    /// The id of the channel; `None` for direct messages.
    pub stream_id: Option<StreamId>,
    /// The topic, as it was sent; empty for direct messages.
    pub subject: String,
    /// Links in the topic, made by linkifiers.
    pub topic_links: Vec<TopicLink>,
    /// The content as HTML.
    pub rendered_content: String,
    /// True if the content begins with `/me`.
    pub is_me_message: bool,
    /// When it was sent, in UNIX seconds.
    pub timestamp: i64,
    /// The name of the client that sent it.
    pub client: String,
    /// The first data of a poll or to-do list.
    pub submessages: Vec<Submessage>,
}

/// The sender of a message, for users who can access them.
#[derive(Serialize, Deserialize)]
pub struct Sender {
    pub user_id: UserId,
    /// The display name.
    pub full_name: String,
    /// The API email.
    pub email: String,
    /// The URL of the image.
    pub avatar_url: String,
}

/// Routing of a new message.
#[derive(Serialize, Deserialize)]
pub struct MessageRouting {
    /// Its Markdown, for clients that want it.
    pub content: String,
    pub flags: FlagHolders,
    /// The queue named by the request, and the client's local id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<(QueueId, String)>,
    /// Receivers who cannot access the sender.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_to: Vec<UserId>,
}

/// Variant of a new message for a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MessageForm {
    is_rendered: bool,
    is_sender_known: bool,
    empty_topic: EmptyTopic,
}

/// Holders of flags on a message that was just sent or edited. Empty members are left out: most are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FlagHolders {
    /// Users who have read it, or for whom it counts as read from the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<UserId>,
    /// Users who have starred it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub starred: Vec<UserId>,
    /// Users who have collapsed it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collapsed: Vec<UserId>,
    /// Users mentioned by name or through a group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentioned: Vec<UserId>,
    /// True if all receivers are mentioned.
    #[serde(skip_serializing_if = "Not::not")]
    pub stream_wildcard: bool,
    /// Users mentioned as participants of the topic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topic_wildcard: Vec<UserId>,
    /// Users with an alert word in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alerted: Vec<UserId>,
}

impl FlagHolders {
    /// Returns the flags of one receiver.
    fn of(&self, user_id: UserId) -> Vec<&'static str> {
        let is_participant = self.topic_wildcard.contains(&user_id);
        let flags = [
            (self.read.contains(&user_id), "read"),
            (self.starred.contains(&user_id), "starred"),
            (self.collapsed.contains(&user_id), "collapsed"),
            (self.mentioned.contains(&user_id), "mentioned"),
            (self.stream_wildcard, "stream_wildcard_mentioned"),
            (is_participant, "topic_wildcard_mentioned"),
            (self.stream_wildcard || is_participant, "wildcard_mentioned"),
            (self.alerted.contains(&user_id), "has_alert_word"),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect()
    }
}

/// Members of a new message that are specific to one receiver.
#[derive(Serialize)]
struct OwnMembers<'a> {
    /// The flags that the message has for the receiver.
    flags: Vec<&'static str>,
    /// The client's own id of the message. Present only for the sender, in the queue that was named when sending.
    #[serde(skip_serializing_if = "Option::is_none")]
    local_message_id: Option<&'a String>,
}

/// Members of a changed message that are specific to one receiver.
#[derive(Serialize)]
struct OwnFlags {
    /// The flags that the message has for the receiver now.
    flags: Vec<&'static str>,
}

impl Event for MessageSent {
    const TYPE: &'static str = "message";
    const VERSION: u32 = 1;
    type Routing = MessageRouting;
    type Variant = MessageForm;

    fn deliver(&self, routing: &MessageRouting, receiver: &Receiver<'_>) -> Option<MessageForm> {
        let is_sender_known = !routing.unknown_to.contains(&receiver.user_id);
        matches_narrow(self, &routing.flags, is_sender_known, receiver).then(|| MessageForm {
            is_rendered: receiver.registration.apply_markdown,
            is_sender_known,
            empty_topic: receiver.registration.empty_topic(),
        })
    }

    fn form(&self, routing: &MessageRouting, form: MessageForm) -> serde_json::Result<Form> {
        let (content, content_type) = if form.is_rendered {
            (&self.rendered_content, "text/html")
        } else {
            (&routing.content, "text/x-markdown")
        };
        let sender = &self.sender;
        let sender = if form.is_sender_known {
            SenderPart {
                sender_id: sender.user_id,
                sender_full_name: &sender.full_name,
                sender_email: (&sender.email).into(),
                sender_realm_str: "",
                avatar_url: sender.avatar_url.clone(),
            }
        } else {
            SenderPart::unknown(sender.user_id)
        };
        let own = OwnPart {
            id: self.id,
            content: Some(content),
            content_type,
            timestamp: self.timestamp,
            client: &self.client,
            subject: shown(self.stream_id, &self.subject, form.empty_topic),
            topic_links: &self.topic_links,
            is_me_message: self.is_me_message,
            reactions: &[],
            submessages: &self.submessages,
            edit_history: &[],
            last_edit_timestamp: None,
            last_moved_timestamp: None,
            flags: None,
            match_content: None,
            match_subject: None,
        };
        let recipient = RecipientPart::new(self.recipient_id, &self.display_recipient, self.stream_id);
        Form::with_members::<Self>(&NewMessage { message: MessageRecord { own, sender, recipient } })
    }

    fn message_id(&self) -> Option<MessageId> {
        Some(self.id)
    }

    fn personal(&self, routing: &MessageRouting, receiver: &Receiver<'_>, members: &mut Members<'_>) {
        let echo = routing.echo.as_ref().filter(|(queue_id, _)| queue_id == receiver.queue_id);
        members.add(&OwnMembers {
            flags: routing.flags.of(receiver.user_id),
            local_message_id: echo.map(|(_, local_id)| local_id),
        });
    }
}

#[derive(Serialize)]
struct NewMessage<'a> {
    message: MessageRecord<'a>,
}

/// The topic of a channel message as a client gets it. Direct messages have none.
fn shown(stream_id: Option<StreamId>, topic: &str, empty: EmptyTopic) -> &str {
    if stream_id.is_some() { empty.show(topic) } else { topic }
}

/// `update_message`: the content, topic or channel of messages changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct MessageEdited {
    /// The id of the user who edited; null if only the rendering changed.
    pub user_id: Option<UserId>,
    /// True if only the rendering changed, not the content.
    pub rendering_only: bool,
    /// The id of the message that the request named.
    pub message_id: MessageId,
    /// The ids of all messages that changed, ascending.
    pub message_ids: Vec<MessageId>,
    /// When they were edited, in UNIX seconds.
    pub edit_timestamp: i64,
    /// The id of the channel, before the change. Absent for direct messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<StreamId>,
    /// The name of the channel. Absent for direct messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_name: Option<String>,
    /// The new place.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceEdit>,
    /// The new content.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentEdit>,
}

/// The part of an `update_message` event about a new content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContentEdit {
    /// The previous content in Markdown.
    pub orig_content: String,
    /// The previous content as HTML.
    pub orig_rendered_content: String,
    /// The new content in Markdown.
    pub content: String,
    /// The new content as HTML.
    pub rendered_content: String,
    /// True if the new content begins with `/me`.
    pub is_me_message: bool,
}

/// The part of an `update_message` event about a new topic or channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlaceEdit {
    /// The id of the new channel; absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_stream_id: Option<StreamId>,
    /// The messages of the topic that moved: `change_one` for the named one, `change_later` for it and later ones,
    /// `change_all` for all.
    pub propagate_mode: PropagateMode,
    /// The previous topic.
    pub orig_subject: String,
    /// The new topic; absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Links that linkifiers make of the new topic; absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_links: Option<Vec<TopicLink>>,
}

impl MessageEdited {
    /// An edit without content, topic or channel; they are set from here.
    pub fn new(message_id: MessageId, message_ids: Vec<MessageId>, user_id: UserId, now: i64) -> Self {
        Self {
            user_id: Some(user_id),
            rendering_only: false,
            message_id,
            message_ids,
            edit_timestamp: now,
            stream_id: None,
            stream_name: None,
            place: None,
            content: None,
        }
    }
}

impl Event for MessageEdited {
    const TYPE: &'static str = "update_message";
    const VERSION: u32 = 1;
    type Routing = FlagHolders;
    type Variant = EmptyTopic;

    fn deliver(&self, _flags: &FlagHolders, receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        Some(receiver.registration.empty_topic())
    }

    fn form(&self, _flags: &FlagHolders, empty: EmptyTopic) -> serde_json::Result<Form> {
        let Some(place) = &self.place else { return Form::of(self) };
        let show = |topic: &String| shown(self.stream_id, topic, empty).to_owned();
        let place = PlaceEdit {
            orig_subject: show(&place.orig_subject),
            subject: place.subject.as_ref().map(show),
            ..place.clone()
        };
        Form::of(&Self { place: Some(place), ..self.clone() })
    }

    fn message_id(&self) -> Option<MessageId> {
        Some(self.message_id)
    }

    /// A move of other messages stays.
    fn without_text(self, gone: &[MessageId]) -> Option<Self> {
        let is_gone = |id: &MessageId| *id == self.message_id || gone.binary_search(id).is_ok();
        let others = !self.message_ids.iter().all(is_gone);
        others.then_some(Self { content: None, ..self })
    }

    fn personal(&self, flags: &FlagHolders, receiver: &Receiver<'_>, members: &mut Members<'_>) {
        members.add(&OwnFlags { flags: flags.of(receiver.user_id) });
    }
}

/// `delete_message`: messages were deleted. Clients without the `bulk_message_deletion` capability receive one event
/// for each message.
#[derive(Clone, Serialize, Deserialize)]
pub struct MessagesDeleted {
    /// The ids of the messages, for clients with the `bulk_message_deletion` capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_ids: Option<Vec<MessageId>>,
    /// The id of the message, for clients without the `bulk_message_deletion` capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<MessageId>,
    /// `stream` for channel messages, `private` for direct messages.
    message_type: MessageType,
    /// The id of the channel; absent for direct messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<StreamId>,
    /// The topic; absent for direct messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
}

/// Users who keep the messages, though they are deleted for queues that asked for all public channels.
pub type RemainingReaders = Option<Vec<UserId>>;

impl MessagesDeleted {
    /// The events for messages of one conversation; `place` is the channel and topic.
    pub fn events(
        ids: &[MessageId],
        place: Option<(StreamId, &str)>,
        remaining: RemainingReaders,
    ) -> impl Iterator<Item = Routed<Self>> {
        let event = move |message_ids, message_id| Routed {
            event: Self {
                message_ids,
                message_id,
                message_type: if place.is_some() { MessageType::Stream } else { MessageType::Private },
                stream_id: place.map(|(stream_id, _)| stream_id),
                topic: place.map(|(_, topic)| topic.to_owned()),
            },
            routing: remaining.clone(),
        };
        let bulk = event(Some(ids.to_vec()), None);
        std::iter::once(bulk).chain(ids.iter().map(move |id| event(None, Some(*id))))
    }
}

impl Event for MessagesDeleted {
    const TYPE: &'static str = "delete_message";
    const VERSION: u32 = 1;
    type Routing = RemainingReaders;
    type Variant = EmptyTopic;

    fn deliver(&self, remaining: &RemainingReaders, receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        if remaining.as_ref().is_some_and(|remaining| remaining.contains(&receiver.user_id)) {
            return None;
        }
        let is_bulk = self.message_ids.is_some();
        let takes_bulk = receiver.registration.client_capabilities.bulk_message_deletion;
        (is_bulk == takes_bulk).then(|| receiver.registration.empty_topic())
    }

    fn form(&self, _keepers: &RemainingReaders, empty: EmptyTopic) -> serde_json::Result<Form> {
        let topic = self.topic.as_ref().map(|topic| shown(self.stream_id, topic, empty).to_owned());
        Form::of(&Self { topic, ..self.clone() })
    }
}

/// `update_message_flags`: the user's flags on messages changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct FlagsChanged {
    /// `add` or `remove`.
    op: Cow<'static, str>,
    /// The deprecated name of `op`.
    operation: Cow<'static, str>,
    /// The flag, such as `read` or `starred`.
    flag: Cow<'static, str>,
    /// The ids of the messages whose flag changed, ascending; empty if `all` is true.
    messages: Vec<MessageId>,
    /// True if all messages of the user were marked as read.
    all: bool,
    /// Only when `read` is removed: facts with which clients count the unread messages, by message id.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_details: Option<UnreadDetails>,
}

/// Details that clients need to count messages that became unread.
pub type UnreadDetails = BTreeMap<MessageId, UnreadDetail>;

/// Facts with which clients count a message that became unread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnreadDetail {
    /// Its conversation.
    #[serde(flatten)]
    pub place: UnreadPlace,
    /// True if the message mentions the user; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub mentioned: bool,
}

/// Conversation of a message that became unread.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum UnreadPlace {
    /// In a channel.
    Stream {
        /// The id of the channel.
        stream_id: StreamId,
        /// The topic of the channel.
        topic: String,
        /// True if the user has muted neither the channel nor the topic.
        unmuted_stream_msg: bool,
    },
    /// In a direct conversation.
    Private {
        /// The ids of the other participants.
        user_ids: Vec<UserId>,
    },
}

impl FlagsChanged {
    /// A flag was set or taken away.
    pub fn new(
        add: bool,
        flag: &'static str,
        messages: &[MessageId],
        message_details: Option<UnreadDetails>,
    ) -> Self {
        let op = Cow::Borrowed(if add { "add" } else { "remove" });
        let messages = messages.to_vec();
        Self { op: op.clone(), operation: op, flag: flag.into(), messages, all: false, message_details }
    }

    /// Everything was marked as read: clients need no list.
    pub fn all_read() -> Self {
        Self { all: true, ..Self::new(true, "read", &[], None) }
    }
}

impl Event for FlagsChanged {
    const TYPE: &'static str = "update_message_flags";
    const VERSION: u32 = 1;
    type Routing = ();
    type Variant = EmptyTopic;

    fn deliver(&self, _routing: &(), receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        Some(receiver.registration.empty_topic())
    }

    fn form(&self, _routing: &(), empty: EmptyTopic) -> serde_json::Result<Form> {
        let mut event = self.clone();
        for detail in event.message_details.iter_mut().flat_map(BTreeMap::values_mut) {
            if let UnreadPlace::Stream { topic, .. } = &mut detail.place {
                *topic = empty.show(topic).to_owned();
            }
        }
        Form::of(&event)
    }
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

/// Checks whether all terms of the queue's narrow hold for a new message.
fn matches_narrow(
    message: &MessageSent,
    flags: &FlagHolders,
    is_sender_known: bool,
    receiver: &Receiver<'_>,
) -> bool {
    receiver.registration.narrow.iter().all(|(operator, operand)| match operator.as_str() {
        "channel" | "stream" => is_channel(message, operand),
        "topic" => is_topic(message, operand),
        "sender" => is_sender(message, is_sender_known, operand),
        "is" => matches_is(message, flags, operand, receiver.user_id),
        _ => false,
    })
}

fn is_channel(message: &MessageSent, operand: &str) -> bool {
    let DisplayRecipient::Stream(name) = &message.display_recipient else { return false };
    name.to_lowercase() == operand.to_lowercase() || is_id(message.stream_id.map(|id| id.0), operand)
}

fn is_topic(message: &MessageSent, operand: &str) -> bool {
    let wanted = if operand == EMPTY_TOPIC_DISPLAY_NAME { "" } else { operand };
    message.stream_id.is_some() && message.subject.to_lowercase() == wanted.to_lowercase()
}

/// The email is the one that the receiver is shown: a match on the real one would confirm it.
fn is_sender(message: &MessageSent, is_known: bool, operand: &str) -> bool {
    let Sender { user_id, email, .. } = &message.sender;
    let email: Cow<'_, str> = if is_known { email.into() } else { unknown_email(*user_id).into() };
    email.eq_ignore_ascii_case(operand) || is_id(Some(user_id.0), operand)
}

fn is_id(id: Option<i64>, operand: &str) -> bool {
    operand.parse().is_ok_and(|operand| id == Some(operand))
}

fn matches_is(message: &MessageSent, flags: &FlagHolders, operand: &str, user_id: UserId) -> bool {
    match operand {
        "dm" | "private" => message.stream_id.is_none(),
        "unread" => !flags.read.contains(&user_id),
        "mentioned" => {
            flags.stream_wildcard
                || flags.mentioned.contains(&user_id)
                || flags.topic_wildcard.contains(&user_id)
        }
        "alerted" => flags.alerted.contains(&user_id),
        "resolved" => message.subject.starts_with(Topic::RESOLVED_PREFIX),
        // No one has starred a new message.
        "starred" => false,
        // As published, other words choose nothing.
        _ => true,
    }
}

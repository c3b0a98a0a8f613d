//! A message as it is stored, and as clients see it (spec, "Message").

use crate::domain::access;
use crate::domain::images::avatar::Avatar;
use crate::types::{MessageId, RecipientId, StreamId, Topic, TopicId, UserId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use teamchat_markdown::TopicLink;

/// Version of the rendering that is stored with a message.
pub const RENDERED_VERSION: i64 = 1;

/// Bits of `message.attributes`. The first is also in the schema, as the condition of an index.
pub mod attribute {
    /// Mentions all users in the channel or the direct conversation.
    pub const STREAM_WILDCARD: i64 = 1;
    /// Mentions all participants of the topic.
    pub const TOPIC_WILDCARD: i64 = 1 << 1;
    /// Has a link.
    pub const HAS_LINK: i64 = 1 << 2;
    /// Has an image.
    pub const HAS_IMAGE: i64 = 1 << 3;
    /// Has an uploaded file.
    pub const HAS_ATTACHMENT: i64 = 1 << 4;
    /// Has a reaction, or had one: rows may be there.
    pub const HAS_REACTION: i64 = 1 << 5;
    /// Begins with `/me`.
    pub const IS_ME: i64 = 1 << 6;
    /// Was edited or moved: its history has rows.
    pub const IS_EDITED: i64 = 1 << 7;
    /// Has data of a poll or to-do list: rows may be there.
    pub const HAS_SUBMESSAGE: i64 = 1 << 8;
    /// Is the notification bot's word that a topic was resolved or no longer is.
    pub const IS_RESOLVE_NOTICE: i64 = 1 << 9;
    /// Its topic has links.
    pub const HAS_TOPIC_LINKS: i64 = 1 << 10;
    /// Attributes that do not follow from the content, and stay when it is edited.
    pub const BESIDE_CONTENT: i64 = HAS_REACTION | HAS_SUBMESSAGE | HAS_TOPIC_LINKS;
}

/// A row of `message`, with the name and API email of its sender.
#[derive(Clone, Debug)]
pub struct MessageRow {
    pub id: MessageId,
    /// Its set of receivers.
    pub recipient_id: RecipientId,
    /// Its topic; `None` for direct messages.
    pub topic_id: Option<TopicId>,
    /// The topic as this message spells it.
    pub subject: String,
    pub sender_id: UserId,
    /// When it was sent, in UNIX seconds.
    pub timestamp: i64,
    /// The text as it was written, in Markdown.
    pub content: String,
    /// HTML.
    pub rendered_content: String,
    /// Bits of [`attribute`].
    pub attributes: i64,
    /// UNIX seconds; `None` if the content was never edited.
    pub last_edit_timestamp: Option<i64>,
    /// The sender's name.
    pub sender_full_name: String,
    /// The sender's API email.
    pub sender_email: String,
}

impl MessageRow {
    /// True if an attribute's bit is set.
    pub fn has(&self, attribute: i64) -> bool {
        self.attributes & attribute != 0
    }

    /// The topic as this message spells it; the empty one for direct messages.
    pub fn topic(&self) -> Topic {
        Topic::stored(self.subject.clone())
    }
}

/// A message as clients receive it: its own part, and the parts shared with messages of the same sender and conversation.
#[derive(Clone, Debug, Serialize)]
pub struct MessageRecord<'a> {
    /// Its own part.
    #[serde(flatten)]
    pub own: OwnPart<'a>,
    /// The part of its sender.
    #[serde(flatten)]
    pub sender: SenderPart<'a>,
    /// The part of its conversation.
    #[serde(flatten)]
    pub recipient: RecipientPart<'a>,
}

/// Members specific to one message.
#[derive(Clone, Debug, Serialize)]
pub struct OwnPart<'a> {
    /// Grows from message to message, in the order of sending.
    pub id: MessageId,
    /// HTML or Markdown, as `content_type` says. `None` where it is written beside the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// `text/html` or `text/x-markdown`.
    pub content_type: &'static str,
    /// UNIX seconds.
    pub timestamp: i64,
    /// The program that sent it.
    pub client: &'a str,
    /// The topic; empty for direct messages.
    pub subject: &'a str,
    /// Links in the topic, by the linkifiers of the time when the message got the topic.
    pub topic_links: &'a [TopicLink],
    /// True if it begins with `/me`.
    pub is_me_message: bool,
    /// Reactions, the oldest first.
    pub reactions: &'a [Reaction],
    /// Data of polls and to-do lists.
    pub submessages: &'a [Submessage],
    /// Edits, the newest first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub edit_history: &'a [EditRecord],
    /// UNIX seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_edit_timestamp: Option<i64>,
    /// UNIX seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_moved_timestamp: Option<i64>,
    /// The viewer's flags; events carry them beside the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<&'a [&'static str]>,
    /// Found words highlighted, for searches only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_content: Option<&'a str>,
    /// The topic with found words highlighted, for searches only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_subject: Option<&'a str>,
}

/// Members shared by all messages of a sender.
#[derive(Clone, Debug, Serialize)]
pub struct SenderPart<'a> {
    /// The sender.
    pub sender_id: UserId,
    /// The sender's name.
    pub sender_full_name: &'a str,
    /// The sender's API email.
    pub sender_email: Cow<'a, str>,
    /// The organization's short name. Always empty: the organization is at the root of its address.
    pub sender_realm_str: &'static str,
    /// The sender's image.
    pub avatar_url: String,
}

impl<'a> SenderPart<'a> {
    /// The part of a sender's messages.
    pub fn new(sender_id: UserId, full_name: &'a str, email: Cow<'a, str>, avatar: Avatar) -> Self {
        Self {
            sender_id,
            sender_full_name: full_name,
            sender_email: email,
            sender_realm_str: "",
            avatar_url: avatar.url(),
        }
    }

    /// The part of a sender whom the reader cannot access.
    pub fn unknown(sender_id: UserId) -> Self {
        Self {
            sender_id,
            sender_full_name: access::users::UNKNOWN_USER,
            sender_email: access::users::unknown_email(sender_id).into(),
            sender_realm_str: "",
            avatar_url: access::users::UNKNOWN_AVATAR_URL.to_owned(),
        }
    }
}

/// `type` of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageType {
    /// In a channel.
    Stream,
    /// In a direct conversation.
    Private,
}

/// Members shared by all messages of a conversation.
#[derive(Clone, Debug, Serialize)]
pub struct RecipientPart<'a> {
    /// The set of receivers.
    pub recipient_id: RecipientId,
    /// The channel's name, or the people of the conversation.
    pub display_recipient: &'a DisplayRecipient,
    /// Channel message or direct message.
    pub r#type: MessageType,
    /// Channel messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<StreamId>,
}

impl<'a> RecipientPart<'a> {
    /// The part of a conversation's messages; `stream_id` for channels.
    pub fn new(
        recipient_id: RecipientId,
        display_recipient: &'a DisplayRecipient,
        stream_id: Option<StreamId>,
    ) -> Self {
        let r#type = if stream_id.is_some() { MessageType::Stream } else { MessageType::Private };
        Self { recipient_id, display_recipient, r#type, stream_id }
    }
}

/// A reaction on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    /// The name that was chosen.
    pub emoji_name: String,
    /// The identifier of the emoji within its type.
    pub emoji_code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub reaction_type: String,
    /// The user who reacted.
    pub user_id: UserId,
}

/// A piece of data that belongs to a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Submessage {
    /// Grows from one to the next.
    pub id: i64,
    /// The message that it belongs to.
    pub message_id: MessageId,
    /// The sender.
    pub sender_id: UserId,
    /// `widget`.
    pub msg_type: String,
    /// JSON text.
    pub content: String,
}

/// The recipients of a message, for display.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DisplayRecipient {
    /// A channel's name.
    Stream(String),
    /// All people of a direct conversation, the sender included.
    Direct(Vec<Participant>),
}

/// A participant of a direct conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Participant {
    /// Identifies the user.
    pub id: UserId,
    /// The API email.
    pub email: String,
    /// The name.
    pub full_name: String,
    /// Always false here: no mirrored networks.
    pub is_mirror_dummy: bool,
}

/// One edit or move in a message's history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EditRecord {
    /// The user who edited.
    pub user_id: Option<UserId>,
    /// UNIX seconds.
    pub timestamp: i64,
    /// Markdown before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_content: Option<String>,
    /// HTML before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_rendered_content: Option<String>,
    /// Topic before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_topic: Option<String>,
    /// Topic after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Channel before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_stream: Option<StreamId>,
    /// Channel after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamId>,
}

impl EditRecord {
    /// Creates a record without changes.
    pub fn new(user_id: UserId, timestamp: i64) -> Self {
        Self {
            user_id: Some(user_id),
            timestamp,
            prev_content: None,
            prev_rendered_content: None,
            prev_topic: None,
            topic: None,
            prev_stream: None,
            stream: None,
        }
    }

    /// The same without content; `None` if nothing was moved.
    pub fn only_move(self) -> Option<Self> {
        let is_move = self.prev_topic.is_some() || self.prev_stream.is_some();
        is_move.then_some(Self { prev_content: None, prev_rendered_content: None, ..self })
    }
}

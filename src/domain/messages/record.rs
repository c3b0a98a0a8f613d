//! A message as it is stored, and as clients see it (spec, "Message").

use crate::domain::access;
use crate::domain::access::users::Accessible;
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
    pub const HAS_LINK: i64 = 1 << 2;
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

    /// The sender's name, for a reader who can access these users.
    pub fn sender_name(&self, accessible: &Accessible) -> &str {
        if accessible.contains(self.sender_id) { &self.sender_full_name } else { access::users::UNKNOWN_USER }
    }
}

/// A message.
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
    /// The message's id. Later messages have greater ids.
    pub id: MessageId,
    /// The content, as HTML or Markdown.
    // `None` where it is written beside the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// The format of `content`: `text/html` or `text/x-markdown`.
    pub content_type: &'static str,
    /// When the message was sent, in UNIX seconds.
    pub timestamp: i64,
    /// The name of the client that sent the message.
    pub client: &'a str,
    /// The topic; empty for direct messages.
    pub subject: &'a str,
    /// Links in the topic, made by the linkifiers of the time when the message got the topic.
    pub topic_links: &'a [TopicLink],
    /// True if the content begins with `/me`.
    pub is_me_message: bool,
    /// Reactions, the oldest first.
    pub reactions: &'a [Reaction],
    /// The data of polls and to-do lists.
    pub submessages: &'a [Submessage],
    /// The edits and moves, the newest first; absent if there are none or if the organization hides them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub edit_history: &'a [EditRecord],
    /// When the content was last edited, in UNIX seconds; absent if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_edit_timestamp: Option<i64>,
    /// When the message was last moved, in UNIX seconds; absent if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_moved_timestamp: Option<i64>,
    /// The caller's flags on the message, such as `read`, `starred` and `mentioned`. In events they are beside the
    /// message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<&'a [&'static str]>,
    /// Only if the narrow is a search: the content as HTML, with the found words in `span.highlight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_content: Option<&'a str>,
    /// Only if the narrow is a search: the topic as HTML, with the found words in `span.highlight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_subject: Option<&'a str>,
}

/// Members shared by all messages of a sender.
#[derive(Clone, Debug, Serialize)]
pub struct SenderPart<'a> {
    /// The sender's user id.
    pub sender_id: UserId,
    /// The sender's display name.
    pub sender_full_name: &'a str,
    /// The sender's API email.
    pub sender_email: Cow<'a, str>,
    /// The short name of the organization. Always empty.
    pub sender_realm_str: &'static str,
    /// The URL of the sender's image.
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

/// The `type` of a message in responses and events; requests have the newer names too.
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
    /// The id of the set of receivers: of the channel, or of the users of a direct conversation.
    pub recipient_id: RecipientId,
    /// The channel's name, or the participants of the direct conversation.
    pub display_recipient: &'a DisplayRecipient,
    /// `stream` for a channel message, `private` for a direct message.
    pub r#type: MessageType,
    /// The id of the channel; absent for direct messages.
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

/// A reaction to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    /// The name of the emoji, as the user chose it.
    pub emoji_name: String,
    /// The code of the emoji: of a Unicode emoji its code points in hexadecimal, of a custom emoji its id, otherwise
    /// the name.
    pub emoji_code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub reaction_type: String,
    /// The id of the user who reacted.
    pub user_id: UserId,
}

/// A piece of data that belongs to a message, of a poll or to-do list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Submessage {
    /// The submessage's id. Later ones have greater ids.
    pub id: i64,
    /// The id of the message that it belongs to.
    pub message_id: MessageId,
    /// The user id of the sender.
    pub sender_id: UserId,
    /// Always `widget`.
    pub msg_type: String,
    /// The data, as JSON in a string.
    pub content: String,
}

/// The channel's name, or the participants of the direct conversation with the sender.
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
    /// The user's id.
    pub id: UserId,
    /// The API email.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// Always false: no networks are mirrored.
    pub is_mirror_dummy: bool,
}

/// An edit or move of a message. It has the members that changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EditRecord {
    /// The id of the user who edited; null if unknown.
    pub user_id: Option<UserId>,
    /// When the message was edited, in UNIX seconds.
    pub timestamp: i64,
    /// The previous content in Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_content: Option<String>,
    /// The previous content as HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_rendered_content: Option<String>,
    /// The previous topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_topic: Option<String>,
    /// The new topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The id of the previous channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_stream: Option<StreamId>,
    /// The id of the new channel.
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

    /// Returns the record without content; `None` if nothing was moved.
    pub fn only_move(self) -> Option<Self> {
        let is_move = self.prev_topic.is_some() || self.prev_stream.is_some();
        is_move.then_some(Self { prev_content: None, prev_rendered_content: None, ..self })
    }
}

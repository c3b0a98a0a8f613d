//! Testing one message against a term of a narrow, for terms that no index answers.

use crate::domain::access::messages::ConversationAccess;
use crate::domain::messages;
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::attribute;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::Test;
use crate::error::ApiResult;
use crate::types::{MessageId, RecipientId, Topic, UserId, fold};
use rusqlite::OptionalExtension;

/// The columns of a message that tests need.
pub struct Candidate {
    /// Identifies the message.
    pub id: MessageId,
    /// Its conversation.
    pub recipient_id: RecipientId,
    subject: String,
    sender_id: UserId,
    attributes: i64,
    /// The viewer's flags that are stored in rows.
    pub flags: i64,
}

impl Candidate {
    /// Loads a message, if it exists.
    pub fn load(viewer: &MessageViewer<'_>, id: MessageId) -> ApiResult<Option<Self>> {
        Ok(viewer
            .connection
            .prepare_cached(
                "SELECT recipient_id, subject, sender_id, attributes,
                     coalesce((SELECT flags FROM user_message_flags WHERE user_id = ?2 AND message_id = ?1), 0)
                 FROM message WHERE id = ?1",
            )?
            .query_row((id, viewer.caller.user_id), |row| {
                Ok(Self {
                    id,
                    recipient_id: row.get(0)?,
                    subject: row.get(1)?,
                    sender_id: row.get(2)?,
                    attributes: row.get(3)?,
                    flags: row.get(4)?,
                })
            })
            .optional()?)
    }

    fn topic_key(&self) -> String {
        fold(&self.subject)
    }
}

/// True or false if all messages of a conversation have the same result; `None` if it depends on the message.
pub fn matches_conversation(
    test: &Test,
    conversation: &ConversationAccess,
    recipient_id: RecipientId,
) -> Option<bool> {
    let stream = conversation.stream.as_ref();
    Some(match test {
        Test::Channel(wanted) => recipient_id == wanted.recipient_id,
        Test::PublicChannels => stream.is_some_and(|stream| !stream.invite_only),
        Test::WebPublicChannels => stream.is_some_and(|stream| stream.is_web_public && !stream.is_archived),
        Test::Direct(wanted) => Some(recipient_id) == *wanted,
        Test::DirectIncluding(user_id) => conversation.participants.contains(user_id),
        Test::GroupDirectWith(user_id) => {
            conversation.participants.len() > 2 && conversation.participants.contains(user_id)
        }
        Test::AnyDirect => !conversation.participants.is_empty(),
        Test::Everything => true,
        _ => return None,
    })
}

/// True if a test is the same for all messages of a conversation.
pub fn is_of_conversation(test: &Test) -> bool {
    matches_conversation(test, &ConversationAccess::default(), RecipientId::default()).is_some()
}

pub fn matches(viewer: &MessageViewer<'_>, test: &Test, message: &Candidate) -> ApiResult<bool> {
    let conversation = viewer.conversation(message.recipient_id)?;
    if let Some(matches) = matches_conversation(test, &conversation, message.recipient_id) {
        return Ok(matches);
    }
    let stream = conversation.stream.as_ref();
    Ok(match test {
        Test::Topic(key) => stream.is_some() && message.topic_key() == *key,
        Test::Resolved => stream.is_some() && message.subject.starts_with(Topic::RESOLVED_PREFIX),
        Test::Followed => match stream {
            Some(stream) => viewer.muting()?.is_followed(stream.stream_id, &message.topic_key()),
            None => false,
        },
        Test::Home { with_channels } => match stream {
            Some(stream) if *with_channels => {
                !viewer.muting()?.is_muted(stream.stream_id, &message.topic_key())
            }
            Some(stream) => !viewer.muting()?.is_topic_muted(stream.stream_id, &message.topic_key()),
            None => true,
        },
        Test::Sender(user_id) => message.sender_id == *user_id,
        Test::Flag(mask) => message.flags & mask != 0,
        Test::Mentioned => {
            message.flags & (bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED) != 0
                || (message.attributes & attribute::STREAM_WILDCARD != 0
                    && viewer.has_received(message.recipient_id, message.id)?)
        }
        Test::Unread => is_unread(viewer, message)?,
        Test::Attribute(mask) => message.attributes & mask != 0,
        Test::Reaction => {
            message.attributes & attribute::HAS_REACTION != 0
                && !messages::reactions(viewer.connection, message.id)?.is_empty()
        }
        Test::Id(id) => message.id == *id,
        // Decided for the whole conversation, or by an index.
        _ => false,
    })
}

fn is_unread(viewer: &MessageViewer<'_>, message: &Candidate) -> ApiResult<bool> {
    let Some(bit) = message.id.bit() else { return Ok(false) };
    let is_read = viewer.read_set(message.recipient_id)?.contains(bit);
    Ok(!is_read && viewer.has_received(message.recipient_id, message.id)?)
}

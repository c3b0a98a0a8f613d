//! Whether one message is as a term of a narrow asks: for what no index answers.

use crate::domain::messages::access::{Sight, View};
use crate::domain::messages::flags::bit;
use crate::domain::messages::narrow::Test;
use crate::domain::messages::record::attribute;
use crate::domain::messages::sql;
use crate::http::ApiResult;
use crate::types::{MessageId, RecipientId, Topic, UserId, fold};
use rusqlite::OptionalExtension;

/// What terms are tested on.
pub struct Candidate {
    /// The message.
    pub id: MessageId,
    /// Its conversation.
    pub recipient_id: RecipientId,
    subject: String,
    sender_id: UserId,
    attributes: i64,
    /// The viewer's flags that are rows.
    pub flags: i64,
}

impl Candidate {
    /// Loads it, if the message exists.
    pub fn load(sight: &Sight<'_>, id: MessageId) -> ApiResult<Option<Self>> {
        Ok(sight
            .connection
            .prepare_cached(
                "SELECT recipient_id, subject, sender_id, attributes,
                     coalesce((SELECT flags FROM user_message_flags WHERE user_id = ?2 AND message_id = ?1), 0)
                 FROM message WHERE id = ?1",
            )?
            .query_row((id, sight.caller.user_id), |row| {
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

    /// The topic, as it is compared.
    fn topic_key(&self) -> String {
        fold(&self.subject)
    }
}

/// What a test says of a whole conversation; `None` if it depends on the message.
pub fn holds_for_all(test: &Test, view: &View, recipient_id: RecipientId) -> Option<bool> {
    let stream = view.stream.as_ref();
    Some(match test {
        Test::Channel(wanted) => recipient_id == wanted.recipient_id,
        Test::PublicChannels => stream.is_some_and(|stream| !stream.invite_only),
        Test::WebPublicChannels => stream.is_some_and(|stream| stream.is_web_public && !stream.is_archived),
        Test::Direct(wanted) => Some(recipient_id) == *wanted,
        Test::DirectIncluding(user_id) => view.people.contains(user_id),
        Test::GroupDirectWith(user_id) => view.people.len() > 2 && view.people.contains(user_id),
        Test::AnyDirect => !view.people.is_empty(),
        Test::Everything => true,
        _ => return None,
    })
}

/// Whether a message is as a test asks.
pub fn holds(sight: &Sight<'_>, test: &Test, message: &Candidate) -> ApiResult<bool> {
    let view = sight.view(message.recipient_id)?;
    if let Some(holds) = holds_for_all(test, &view, message.recipient_id) {
        return Ok(holds);
    }
    let stream = view.stream.as_ref();
    Ok(match test {
        Test::Topic(key) => stream.is_some() && message.topic_key() == *key,
        Test::Resolved => stream.is_some() && message.subject.starts_with(Topic::RESOLVED_PREFIX),
        Test::Followed => match stream {
            Some(stream) => sight.muting()?.is_followed(stream.stream_id, &message.topic_key()),
            None => false,
        },
        Test::Home { with_channels } => match stream {
            Some(stream) if *with_channels => {
                !sight.muting()?.is_muted(stream.stream_id, &message.topic_key())
            }
            Some(stream) => !sight.muting()?.is_topic_muted(stream.stream_id, &message.topic_key()),
            None => true,
        },
        Test::Sender(user_id) => message.sender_id == *user_id,
        Test::Flag(mask) => message.flags & mask != 0,
        Test::Mentioned => {
            message.flags & (bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED) != 0
                || (message.attributes & attribute::STREAM_WILDCARD != 0
                    && sight.received(message.recipient_id, message.id)?)
        }
        Test::Unread => is_unread(sight, message)?,
        Test::Attribute(mask) => message.attributes & mask != 0,
        Test::Reaction => {
            message.attributes & attribute::HAS_REACTION != 0
                && !sql::reactions(sight.connection, message.id)?.is_empty()
        }
        Test::Id(id) => message.id == *id,
        // Answered for the whole conversation, or by an index.
        _ => false,
    })
}

fn is_unread(sight: &Sight<'_>, message: &Candidate) -> ApiResult<bool> {
    let Some(bit) = message.id.bit() else { return Ok(false) };
    let is_read = sight.read_set(message.recipient_id)?.contains(bit);
    Ok(!is_read && sight.received(message.recipient_id, message.id)?)
}

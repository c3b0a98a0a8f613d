//! `unread_msgs` in the reply of `POST /register`: the newest unread messages, by conversation.
//!
//! The newest over all conversations are found first, from indexes alone, so that only messages of the reply are loaded.

use crate::api::resource::StateRequest;
use crate::auth::Ctx;
use crate::domain::access::messages::{ALL_IDS, ConversationAccess};
use crate::domain::limits::MAX_SHOWN_UNREAD;
use crate::domain::messages::flags::bit;
use crate::domain::messages::row_reader::flags_on;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::cursor::{Cursor, Direction, IdFilter, Index, IndexCursor, Union};
use crate::domain::{messages, subscriptions};
use crate::http::ApiResult;
use crate::types::{EmptyTopic, MessageId, RecipientId, StreamId, TopicId, UserId, fold};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The unread messages: the newest 50,000, by conversation.
#[derive(Serialize)]
pub struct UnreadMessages {
    /// The number of unread messages outside muted conversations.
    count: usize,
    /// Direct conversations with one other user or with oneself.
    pms: Vec<UnreadDirect>,
    /// Topics of subscribed channels.
    streams: Vec<UnreadTopic>,
    /// Direct conversations of three or more users.
    huddles: Vec<UnreadGroup>,
    /// The ids of messages that mention the user, by name or through a group, or with a wildcard outside muted
    /// conversations.
    mentions: Vec<MessageId>,
    /// True if older unread messages are left out.
    old_unreads_missing: bool,
}

#[derive(Serialize)]
struct UnreadDirect {
    /// The id of the other user, or of the user themselves in a conversation with oneself.
    other_user_id: UserId,
    /// Deprecated: the same as `other_user_id`.
    sender_id: UserId,
    /// Message ids, ascending.
    unread_message_ids: Vec<MessageId>,
}

#[derive(Serialize)]
struct UnreadTopic {
    /// The id of the channel.
    stream_id: StreamId,
    /// The topic; without the `empty_topic_name` capability, the empty topic has its display name.
    topic: String,
    /// Message ids, ascending.
    unread_message_ids: Vec<MessageId>,
}

#[derive(Serialize)]
struct UnreadGroup {
    /// The ids of all participants with the user's own, ascending, separated by commas.
    user_ids_string: String,
    /// Message ids, ascending.
    unread_message_ids: Vec<MessageId>,
}

/// The user's unread messages in subscribed channels and direct conversations.
pub fn of(request: &StateRequest<'_>) -> ApiResult<UnreadMessages> {
    let (connection, own) = (request.connection, request.caller.user_id);
    let viewer = MessageViewer::new(Ctx::new(connection, request.caller, request.now));
    let subscribed = subscriptions::list_active(connection, own)?;
    let mut conversations = messages::direct_recipients(connection, own)?;
    conversations.extend(subscribed.iter().map(|subscription| subscription.recipient_id));
    let oldest = oldest_of_newest(open_all(&viewer, &conversations)?, MAX_SHOWN_UNREAD)?;
    let mut collector = Collector::new(&viewer, request.registration.empty_topic());
    for recipient_id in conversations {
        let unread = unread_of(&viewer, recipient_id, oldest.unwrap_or(*ALL_IDS.start()))?;
        collector.add(&*viewer.conversation(recipient_id)?, unread)?;
    }
    Ok(collector.finish(oldest.is_some()))
}

/// A cursor over the unread messages of several conversations, newest first.
fn open_all<'a>(viewer: &MessageViewer<'a>, conversations: &[RecipientId]) -> ApiResult<Union<'a>> {
    let mut cursors: Vec<Box<dyn Cursor + 'a>> = Vec::with_capacity(conversations.len());
    for recipient_id in conversations {
        let within = IdFilter::Unread(
            viewer.conversation(*recipient_id)?.received.clone(),
            viewer.read_set(*recipient_id)?,
        );
        let (index, key) = (Index::Recipient, recipient_id.0);
        cursors.push(Box::new(IndexCursor::new(viewer.connection, index, key, within, Direction::Down, 1)));
    }
    Ok(Union::new(cursors, Direction::Down))
}

/// The oldest of the newest `limit` ids of a cursor; `None` if it has no more than these.
fn oldest_of_newest(mut newest_first: impl Cursor, limit: usize) -> ApiResult<Option<u32>> {
    let mut bound = Some(*ALL_IDS.end());
    let mut oldest = None;
    for _ in 0..limit {
        let Some(from) = bound else { return Ok(None) };
        oldest = newest_first.seek(from)?;
        bound = oldest.and_then(|id| Direction::Down.past(id));
    }
    let Some(from) = bound else { return Ok(None) };
    Ok(newest_first.seek(from)?.and(oldest))
}

/// The properties of an unread message that are counted.
struct Unread {
    id: MessageId,
    topic_id: Option<TopicId>,
    mention: Mention,
}

/// Kind of a mention of the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mention {
    Not,
    /// By name, or through a group.
    Directly,
    /// With a wildcard, for the channel or the topic.
    Wildcard,
}

impl Mention {
    /// The mention in the user's flags. Wildcard mentions of a channel are not among them.
    fn new(flags: i64) -> Self {
        if flags & bit::MENTIONED != 0 {
            Self::Directly
        } else if flags & bit::TOPIC_WILDCARD_MENTIONED != 0 {
            Self::Wildcard
        } else {
            Self::Not
        }
    }
}

/// The unread messages of a conversation from an id on, ascending: the messages in the gaps of its read set, with one
/// statement for each gap, and one for each kind of mention.
fn unread_of(viewer: &MessageViewer<'_>, recipient_id: RecipientId, from: u32) -> ApiResult<Vec<Unread>> {
    let conversation = viewer.conversation(recipient_id)?;
    let read_set = viewer.read_set(recipient_id)?;
    let mut statement = viewer.connection.prepare_cached(
        "SELECT id, topic_id FROM message INDEXED BY message_recipient
         WHERE recipient_id = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id",
    )?;
    let mut unread = Vec::new();
    for received in &conversation.received {
        for gap in read_set.gaps(from.max(*received.start())..=*received.end()) {
            let found = statement.query_map((recipient_id, gap.start(), gap.end()), |row| {
                Ok(Unread { id: row.get(0)?, topic_id: row.get(1)?, mention: Mention::Not })
            })?;
            unread.extend(found.collect::<Result<Vec<_>, _>>()?);
        }
    }
    let ids: Vec<MessageId> = unread.iter().map(|message| message.id).collect();
    let flags = flags_on(viewer.connection, viewer.caller.user_id, &ids)?;
    for message in &mut unread {
        if let Some(flags) = flags.get(&message.id) {
            message.mention = Mention::new(*flags);
        }
    }
    if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
        let wildcards = messages::stream_wildcards(viewer.connection, recipient_id, *first..=*last)?;
        for message in &mut unread {
            if message.mention == Mention::Not && wildcards.binary_search(&message.id).is_ok() {
                message.mention = Mention::Wildcard;
            }
        }
    }
    Ok(unread)
}

/// Unread messages by conversation, in the order of the reply.
struct Collector<'a> {
    viewer: &'a MessageViewer<'a>,
    empty_topic: EmptyTopic,
    count: usize,
    mentions: Vec<MessageId>,
    direct: BTreeMap<UserId, Vec<MessageId>>,
    groups: BTreeMap<String, Vec<MessageId>>,
    /// By channel and topic key, with the topic as its newest unread message spells it.
    topics: BTreeMap<(StreamId, String), (String, Vec<MessageId>)>,
}

impl<'a> Collector<'a> {
    fn new(viewer: &'a MessageViewer<'a>, empty_topic: EmptyTopic) -> Self {
        let (mentions, direct, groups, topics) = Default::default();
        Self { viewer, empty_topic, count: 0, mentions, direct, groups, topics }
    }

    /// Adds the unread messages of a conversation.
    fn add(&mut self, conversation: &ConversationAccess, unread: Vec<Unread>) -> ApiResult<()> {
        let Some(stream) = &conversation.stream else {
            self.add_direct(&conversation.participants, &unread);
            return Ok(());
        };
        let mut topics: HashMap<Option<TopicId>, Vec<Unread>> = HashMap::new();
        for unread in unread {
            topics.entry(unread.topic_id).or_default().push(unread);
        }
        for unread in topics.into_values() {
            self.add_topic(stream.stream_id, &unread)?;
        }
        Ok(())
    }

    fn add_direct(&mut self, people: &[UserId], unread: &[Unread]) {
        if unread.is_empty() {
            return;
        }
        let own = self.viewer.caller.user_id;
        let ids = match people {
            [_] => self.direct.entry(own).or_default(),
            [one, other] => self.direct.entry(if *one == own { *other } else { *one }).or_default(),
            people => self.groups.entry(messages::joined(people)).or_default(),
        };
        ids.extend(unread.iter().map(|unread| unread.id));
        self.add_counts(unread, false);
    }

    fn add_topic(&mut self, stream_id: StreamId, unread: &[Unread]) -> ApiResult<()> {
        let Some(newest) = unread.last() else { return Ok(()) };
        let subject = messages::subject_of(self.viewer.connection, newest.id)?;
        let key = fold(&subject);
        let is_muted = self.viewer.muting()?.is_muted(stream_id, &key);
        let shown = self.empty_topic.show(&subject).to_owned();
        let ids = unread.iter().map(|unread| unread.id).collect();
        self.topics.insert((stream_id, key), (shown, ids));
        self.add_counts(unread, is_muted);
        Ok(())
    }

    fn add_counts(&mut self, unread: &[Unread], is_muted: bool) {
        if !is_muted {
            self.count += unread.len();
        }
        let counts = |mention| match mention {
            Mention::Directly => true,
            Mention::Wildcard => !is_muted,
            Mention::Not => false,
        };
        let mentions = unread.iter().filter(|unread| counts(unread.mention));
        self.mentions.extend(mentions.map(|unread| unread.id));
    }

    fn finish(mut self, old_unreads_missing: bool) -> UnreadMessages {
        self.mentions.sort_unstable();
        let pms = self.direct.into_iter().map(|(user_id, ids)| UnreadDirect {
            other_user_id: user_id,
            sender_id: user_id,
            unread_message_ids: ids,
        });
        let streams = self.topics.into_iter().map(|((stream_id, _), (topic, ids))| UnreadTopic {
            stream_id,
            topic,
            unread_message_ids: ids,
        });
        let huddles = self
            .groups
            .into_iter()
            .map(|(user_ids_string, ids)| UnreadGroup { user_ids_string, unread_message_ids: ids });
        UnreadMessages {
            count: self.count,
            pms: pms.collect(),
            streams: streams.collect(),
            huddles: huddles.collect(),
            mentions: self.mentions,
            old_unreads_missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::api::messages::register::unread_msgs::*;
    use crate::domain::narrow::cursor::IdCursor;

    // conformance: flag-44
    #[test]
    fn the_newest_of_all_conversations_are_chosen() {
        let newest_first = || {
            let known =
                |ids: &[u32]| Box::new(IdCursor::new(ids.to_vec(), Direction::Down)) as Box<dyn Cursor>;
            Union::new(vec![known(&[1, 2, 3, 9]), known(&[4, 8]), known(&[])], Direction::Down)
        };
        let oldest = |limit| oldest_of_newest(newest_first(), limit).unwrap();
        assert_eq!([1, 2, 3, 4, 5].map(oldest), [Some(9), Some(8), Some(4), Some(3), Some(2)]);
        // There are no more than these.
        assert_eq!([6, 7].map(oldest), [None, None]);
    }
}

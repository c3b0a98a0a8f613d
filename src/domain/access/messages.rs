//! Received and readable messages of a user.
//!
//! A message is stored once for all receivers. The receivers of a channel message follow from spans of subscription to
//! the channel that it was sent to. The spans of its new channel do not cover a moved message, so its receivers are
//! stored, as one set for all messages with the same receivers ([`MovedReceipts`]). In a channel with public history
//! all messages are readable, elsewhere the received ones.

use crate::auth::{Caller, Ctx};
use crate::domain::access::channels::Viewer;
use crate::domain::rows;
use crate::domain::rows::channel::StreamRow;
use crate::error::ApiResult;
use crate::store::bitmap;
use crate::types::{MessageId, RecipientId, StreamId, TopicId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Ids of messages: ascending ranges that do not touch.
pub type Ranges = Vec<RangeInclusive<u32>>;

/// All ids that a message can have.
pub const ALL_IDS: RangeInclusive<u32> = 1..=i32::MAX as u32;

/// One user's access to one conversation.
#[derive(Debug, Default)]
pub struct ConversationAccess {
    /// The channel; `None` for direct conversations, and for a conversation that the user may not see at all.
    pub stream: Option<StreamRow>,
    /// The participants of a direct conversation, ascending.
    pub participants: Vec<UserId>,
    /// Ids that the user received. Ranges include ids that are no messages of the conversation.
    pub received: Ranges,
    /// Ids that the user may read.
    pub visible: Ranges,
}

impl ConversationAccess {
    /// True if the user received a message of the conversation.
    pub fn has_received(&self, id: MessageId) -> bool {
        contains(&self.received, id)
    }
}

/// One user's access to messages, in one snapshot. Conversations are loaded when they are first asked for.
pub struct MessageAccess<'a> {
    /// The snapshot, or the writer's connection.
    pub connection: &'a Connection,
    /// The user whose access is computed.
    pub caller: &'a Caller,
    /// The same user's access to channels.
    pub channels: Viewer<'a>,
    conversations: RefCell<HashMap<RecipientId, Rc<ConversationAccess>>>,
}

impl<'a> MessageAccess<'a> {
    /// A user's access at a time.
    pub fn new(ctx: Ctx<'a>) -> Self {
        Self {
            connection: ctx.connection,
            caller: ctx.caller,
            channels: Viewer::new(ctx),
            conversations: RefCell::default(),
        }
    }

    /// The snapshot as the user sees it.
    pub fn ctx(&self) -> Ctx<'a> {
        self.channels.ctx
    }

    /// The user's access to a conversation.
    pub fn conversation(&self, recipient_id: RecipientId) -> ApiResult<Rc<ConversationAccess>> {
        self.cached(recipient_id, || match stream_of(self.connection, recipient_id)? {
            Some(stream_id) => match rows::channel::by_id(self.connection, stream_id)? {
                Some(stream) => self.load_channel(stream),
                None => Ok(ConversationAccess::default()),
            },
            None => self.load_direct(recipient_id),
        })
    }

    /// The user's access to the conversation of a channel whose row is loaded.
    pub fn channel(&self, stream: &StreamRow) -> ApiResult<Rc<ConversationAccess>> {
        self.cached(stream.recipient_id, || self.load_channel(stream.clone()))
    }

    fn cached(
        &self,
        recipient_id: RecipientId,
        load: impl FnOnce() -> ApiResult<ConversationAccess>,
    ) -> ApiResult<Rc<ConversationAccess>> {
        if let Some(conversation) = self.conversations.borrow().get(&recipient_id) {
            return Ok(Rc::clone(conversation));
        }
        let conversation = Rc::new(load()?);
        self.conversations.borrow_mut().insert(recipient_id, Rc::clone(&conversation));
        Ok(conversation)
    }

    fn load_channel(&self, stream: StreamRow) -> ApiResult<ConversationAccess> {
        if !self.channels.can_read(&stream)? {
            return Ok(ConversationAccess::default());
        }
        let moved = moved_receipts(self.connection, stream.recipient_id)?;
        let received = received_ids(self.connection, self.caller.user_id, stream.stream_id, &moved)?;
        let visible = if stream.has_public_history() { vec![ALL_IDS] } else { received.clone() };
        Ok(ConversationAccess { stream: Some(stream), participants: Vec::new(), received, visible })
    }

    fn load_direct(&self, recipient_id: RecipientId) -> ApiResult<ConversationAccess> {
        let participants = direct_user_ids(self.connection, recipient_id)?.unwrap_or_default();
        if !participants.contains(&self.caller.user_id) {
            return Ok(ConversationAccess::default());
        }
        let all = vec![ALL_IDS];
        Ok(ConversationAccess { stream: None, participants, received: all.clone(), visible: all })
    }

    /// Returns the conversation of a message that the user may read.
    pub fn recipient_of(&self, id: MessageId) -> ApiResult<Option<RecipientId>> {
        let Some(recipient_id) = recipient_of(self.connection, id)? else { return Ok(None) };
        Ok(self.can_read(recipient_id, id)?.then_some(recipient_id))
    }

    /// True if the user received a message.
    pub fn has_received(&self, recipient_id: RecipientId, id: MessageId) -> ApiResult<bool> {
        Ok(self.conversation(recipient_id)?.has_received(id))
    }

    /// True if the user may read a message.
    pub fn can_read(&self, recipient_id: RecipientId, id: MessageId) -> ApiResult<bool> {
        Ok(contains(&self.conversation(recipient_id)?.visible, id))
    }
}

/// True if an id is in one of these ranges.
pub fn contains(ranges: &Ranges, id: MessageId) -> bool {
    id.bit().is_some_and(|id| {
        let index = ranges.partition_point(|range| *range.end() < id);
        ranges.get(index).is_some_and(|range| range.contains(&id))
    })
}

/// The parts of ranges that lie within bounds.
pub fn clip(ranges: &Ranges, bounds: RangeInclusive<u32>) -> Ranges {
    let parts =
        ranges.iter().map(|range| *range.start().max(bounds.start())..=*range.end().min(bounds.end()));
    parts.filter(|part| !part.is_empty()).collect()
}

/// The channel of a set of receivers; `None` for a direct conversation.
pub fn stream_of(connection: &Connection, recipient_id: RecipientId) -> rusqlite::Result<Option<StreamId>> {
    connection
        .prepare_cached("SELECT stream_id FROM recipient WHERE recipient_id = ?1")?
        .query_row([recipient_id], |row| row.get(0))
}

/// The participants of a direct conversation, ascending; `None` for a channel.
pub fn direct_user_ids(
    connection: &Connection,
    recipient_id: RecipientId,
) -> rusqlite::Result<Option<Vec<UserId>>> {
    let text: Option<String> = connection
        .prepare_cached("SELECT user_ids FROM recipient WHERE recipient_id = ?1")?
        .query_row([recipient_id], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(text.map(|text| text.split(',').filter_map(|id| id.parse().ok().map(UserId)).collect()))
}

/// The set of receivers of a message, if it exists.
pub fn recipient_of(connection: &Connection, id: MessageId) -> rusqlite::Result<Option<RecipientId>> {
    connection
        .prepare_cached("SELECT recipient_id FROM message WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
}

/// A topic of a channel, if it ever had a message; `key` is the folded name.
pub fn topic(connection: &Connection, stream_id: StreamId, key: &str) -> rusqlite::Result<Option<TopicId>> {
    connection
        .prepare_cached("SELECT topic_id FROM topic WHERE stream_id = ?1 AND name_key = ?2")?
        .query_row((stream_id, key), |row| row.get(0))
        .optional()
}

/// The newest message of a topic in a range of ids.
pub fn newest_of_topic_in(
    connection: &Connection,
    topic_id: TopicId,
    ids: &RangeInclusive<u32>,
) -> rusqlite::Result<Option<MessageId>> {
    connection
        .prepare_cached("SELECT max(id) FROM message WHERE topic_id = ?1 AND id BETWEEN ?2 AND ?3")?
        .query_row((topic_id, ids.start(), ids.end()), |row| row.get(0))
}

/// The ids that a user received of a channel; `moved` are the receipts of messages that were moved to it.
pub fn received_ids(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    moved: &[MovedReceipts],
) -> rusqlite::Result<Ranges> {
    let spans = connection
        .prepare_cached(
            "SELECT from_message_id, until_message_id FROM subscription_span
             WHERE user_id = ?1 AND stream_id = ?2 ORDER BY from_message_id",
        )?
        .query_map((user_id, stream_id), |row| Ok(span_ids(row.get(0)?, row.get(1)?)))?
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    Ok(apply_moved(spans, moved, user_id))
}

/// The ids of a span of subscription, which ends before `until`; `None` if it has none.
fn span_ids(from: MessageId, until: Option<MessageId>) -> Option<RangeInclusive<u32>> {
    let last = until.map_or(Some(*ALL_IDS.end()), |until| until.bit()?.checked_sub(1))?;
    Some(from.bit()?..=last).filter(|ids| !ids.is_empty())
}

/// Messages that were moved to a channel and have the same receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedReceipts {
    /// The row's key.
    pub row_id: i64,
    /// Ids of the messages, as numbers of 32 bits.
    pub message_ids: RoaringBitmap,
    /// Ids of the users who received all of these messages.
    pub user_ids: RoaringBitmap,
}

impl MovedReceipts {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let set_at = |index| bitmap::from_blob(index, row.get_ref(index)?.as_blob()?);
        Ok(Self { row_id: row.get(0)?, message_ids: set_at(1)?, user_ids: set_at(2)? })
    }
}

/// The receipts of all messages that were moved to a channel.
pub fn moved_receipts(
    connection: &Connection,
    recipient_id: RecipientId,
) -> rusqlite::Result<Vec<MovedReceipts>> {
    connection
        .prepare_cached("SELECT arrival_id, message_ids, user_ids FROM arrival WHERE recipient_id = ?1")?
        .query_map([recipient_id], MovedReceipts::read)?
        .collect()
}

/// The receivers of a message that was moved; `None` if it was not moved: then the spans apply.
pub fn moved_receivers(moved: &[MovedReceipts], id: MessageId) -> Option<&RoaringBitmap> {
    let bit = id.bit()?;
    moved.iter().find(|receipts| receipts.message_ids.contains(bit)).map(|receipts| &receipts.user_ids)
}

/// Adds moved messages that the user received to their spans, and removes those that they did not. The ranges still include
/// ids that are not of the channel, which keeps them few.
fn apply_moved(spans: Ranges, moved: &[MovedReceipts], user_id: UserId) -> Ranges {
    if moved.is_empty() {
        return spans;
    }
    let (mut gained, mut lost) = (RoaringBitmap::new(), RoaringBitmap::new());
    for receipts in moved {
        *(if user_id.is_in(&receipts.user_ids) { &mut gained } else { &mut lost }) |= &receipts.message_ids;
    }
    let mut received: Ranges = spans.into_iter().flat_map(|range| without(range, &lost)).collect();
    let mut runs = gained.iter();
    received.extend(std::iter::from_fn(|| runs.next_range()));
    received.sort_unstable_by_key(|range| *range.start());
    received.dedup_by(|next, range| {
        let touches = *next.start() <= range.end().saturating_add(1);
        if touches {
            *range = *range.start()..=*range.end().max(next.end());
        }
        touches
    });
    received
}

/// The parts of a range that are not in a set.
fn without(range: RangeInclusive<u32>, lost: &RoaringBitmap) -> Ranges {
    let mut left = Vec::new();
    let mut runs = lost.range(range.clone());
    let mut start = *range.start();
    while let Some(run) = runs.next_range() {
        if start < *run.start() {
            left.push(start..=*run.start() - 1);
        }
        start = run.end().saturating_add(1);
    }
    if start <= *range.end() {
        left.push(start..=*range.end());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_clipped_and_searched() {
        let ranges: Ranges = vec![3..=5, 9..=9, 20..=30];
        for id in 0..40 {
            let expected = ranges.iter().any(|range| range.contains(&id));
            assert_eq!(contains(&ranges, MessageId::from(id)), expected, "{id}");
        }
        assert!(!contains(&ranges, MessageId(i64::MAX)));
        assert_eq!(clip(&ranges, 4..=22), [4..=5, 9..=9, 20..=22]);
        assert_eq!(clip(&ranges, 9..=9), [9..=9]);
        assert_eq!(clip(&ranges, 6..=8), []);
    }

    #[test]
    fn moved_receipts_correct_spans_both_ways() {
        let set = |ids: &[u32]| ids.iter().copied().collect::<RoaringBitmap>();
        let receipts = |messages: &[u32], users: &[u32]| MovedReceipts {
            row_id: 0,
            message_ids: set(messages),
            user_ids: set(users),
        };
        let moved = [receipts(&[3, 4, 12], &[1, 2]), receipts(&[15, 30], &[2])];
        let spans: Ranges = vec![10..=20];
        assert_eq!(apply_moved(spans.clone(), &[], UserId(1)), spans);
        assert_eq!(apply_moved(spans.clone(), &moved, UserId(1)), [3..=4, 10..=14, 16..=20]);
        assert_eq!(apply_moved(spans.clone(), &moved, UserId(2)), [3..=4, 10..=20, 30..=30]);
        assert_eq!(apply_moved(spans, &moved, UserId(3)), [10..=11, 13..=14, 16..=20]);
        assert_eq!(moved_receivers(&moved, MessageId(30)), Some(&set(&[2])));
        assert_eq!(moved_receivers(&moved, MessageId(31)), None);
    }
}

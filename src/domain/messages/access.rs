//! What a viewer may see of a conversation, and what they received of it.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::{channel_rows as channels, channels as access};
use crate::domain::messages::read_set::ReadSet;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::{moved_receipts, sql, unread};
use crate::domain::subscriptions::sql as subscriptions;
use crate::domain::subscriptions::sql::Span;
use crate::domain::user_topics::muting::Muting;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{MessageId, RecipientId, UserId};
use rusqlite::Connection;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Ids of messages, ascending ranges that do not touch.
pub type Ranges = Vec<RangeInclusive<u32>>;

/// All ids that a message can have.
pub const ALL_IDS: RangeInclusive<u32> = 1..=i32::MAX as u32;

/// A conversation as one viewer sees it.
#[derive(Debug, Default)]
pub struct View {
    /// The channel; `None` for direct conversations, and for what the viewer may not see at all.
    pub stream: Option<StreamRow>,
    /// The people of a direct conversation.
    pub people: Vec<UserId>,
    /// Ids that the viewer received: sent while they were subscribed, or to a conversation of theirs; for messages that
    /// were moved here, wherever they were then.
    pub received: Ranges,
    /// Ids that the viewer may read.
    pub visible: Ranges,
}

impl View {
    /// Whether a message of the conversation was received.
    pub fn received(&self, id: MessageId) -> bool {
        contains(&self.received, id)
    }
}

/// One viewer's sight on one snapshot. Conversations are looked at when they are first asked for.
pub struct Sight<'a> {
    /// The snapshot, or the writer's connection.
    pub connection: &'a Connection,
    /// The viewer.
    pub caller: &'a Caller,
    now: i64,
    views: RefCell<HashMap<RecipientId, Rc<View>>>,
    read_sets: RefCell<HashMap<RecipientId, Rc<ReadSet>>>,
    muting: OnceCell<Muting>,
}

impl<'a> Sight<'a> {
    /// A viewer's sight at a time.
    pub fn new(connection: &'a Connection, caller: &'a Caller, now: i64) -> Self {
        let (views, read_sets, muting) = Default::default();
        Self { connection, caller, now, views, read_sets, muting }
    }

    /// The time of the sight, UNIX seconds.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// What the viewer muted, unmuted and follows.
    pub fn muting(&self) -> ApiResult<&Muting> {
        if let Some(muting) = self.muting.get() {
            return Ok(muting);
        }
        let loaded = Muting::of(self.connection, self.caller.user_id)?;
        Ok(self.muting.get_or_init(|| loaded))
    }

    /// A conversation.
    pub fn view(&self, recipient_id: RecipientId) -> ApiResult<Rc<View>> {
        if let Some(view) = self.views.borrow().get(&recipient_id) {
            return Ok(Rc::clone(view));
        }
        let view = match sql::stream_of(self.connection, recipient_id)? {
            Some(stream_id) => channels::by_id(self.connection, stream_id)?
                .map_or_else(|| Ok(View::default()), |stream| self.channel_view(stream))?,
            None => self.direct_view(recipient_id)?,
        };
        let view = Rc::new(view);
        self.views.borrow_mut().insert(recipient_id, Rc::clone(&view));
        Ok(view)
    }

    /// A channel whose row is there already.
    pub fn view_of_stream(&self, stream: &StreamRow) -> ApiResult<Rc<View>> {
        if let Some(view) = self.views.borrow().get(&stream.recipient_id) {
            return Ok(Rc::clone(view));
        }
        let view = Rc::new(self.channel_view(stream.clone())?);
        self.views.borrow_mut().insert(stream.recipient_id, Rc::clone(&view));
        Ok(view)
    }

    fn channel_view(&self, stream: StreamRow) -> ApiResult<View> {
        if !access::has_content_access(Ctx::new(self.connection, self.caller, self.now), &stream)? {
            return Ok(View::default());
        }
        let spans = subscriptions::spans(self.connection, self.caller.user_id, stream.stream_id)?;
        let arrivals = moved_receipts::of(self.connection, stream.recipient_id)?;
        let received = moved_receipts::correct(ranges(&spans), &arrivals, self.caller.user_id);
        let visible = if stream.has_public_history() { vec![ALL_IDS] } else { received.clone() };
        Ok(View { stream: Some(stream), people: Vec::new(), received, visible })
    }

    fn direct_view(&self, recipient_id: RecipientId) -> ApiResult<View> {
        let people = sql::direct_user_ids(self.connection, recipient_id)?.unwrap_or_default();
        if !people.contains(&self.caller.user_id) {
            return Ok(View::default());
        }
        Ok(View { stream: None, people, received: vec![ALL_IDS], visible: vec![ALL_IDS] })
    }

    /// What the viewer has read of a conversation.
    pub fn read_set(&self, recipient_id: RecipientId) -> ApiResult<Rc<ReadSet>> {
        if let Some(set) = self.read_sets.borrow().get(&recipient_id) {
            return Ok(Rc::clone(set));
        }
        let set = Rc::new(unread::load(self.connection, self.caller.user_id, recipient_id)?);
        self.read_sets.borrow_mut().insert(recipient_id, Rc::clone(&set));
        Ok(set)
    }

    /// The conversation of a message that the viewer may read; `None` if it is not there, or not for them.
    pub fn recipient_of(&self, id: MessageId) -> ApiResult<Option<RecipientId>> {
        let Some(recipient_id) = sql::recipient_of(self.connection, id)? else { return Ok(None) };
        Ok(self.visible(recipient_id, id)?.then_some(recipient_id))
    }

    /// Whether a message was received.
    pub fn received(&self, recipient_id: RecipientId, id: MessageId) -> ApiResult<bool> {
        Ok(self.view(recipient_id)?.received(id))
    }

    /// Whether a message may be read.
    pub fn visible(&self, recipient_id: RecipientId, id: MessageId) -> ApiResult<bool> {
        Ok(contains(&self.view(recipient_id)?.visible, id))
    }

    /// A message that the viewer may read. One they may not is not found.
    pub fn find(&self, id: MessageId) -> ApiResult<MessageRow> {
        let message = sql::by_id(self.connection, id)?.ok_or_else(invalid_message)?;
        if self.visible(message.recipient_id, id)? { Ok(message) } else { Err(invalid_message()) }
    }

    /// A message that the viewer may read, with its channel, to be changed or reacted to: those of an archived
    /// channel stay as they are, as if they were not found.
    pub fn find_to_change(&self, id: MessageId) -> ApiResult<(MessageRow, Option<StreamRow>)> {
        let message = self.find(id)?;
        let stream = self.view(message.recipient_id)?.stream.clone();
        if stream.as_ref().is_some_and(|stream| stream.is_archived) {
            return Err(invalid_message());
        }
        Ok((message, stream))
    }
}

/// The ids of stays in a channel.
pub fn ranges(spans: &[Span]) -> Ranges {
    spans
        .iter()
        .filter_map(|span| {
            let first = span.from.bit()?;
            let last = span.until.map_or(Some(*ALL_IDS.end()), |until| until.bit()?.checked_sub(1))?;
            (first <= last).then_some(first..=last)
        })
        .collect()
}

/// The refusal of a message that is not there, or not for the caller.
pub fn invalid_message() -> ApiError {
    ApiError::bad_request("Invalid message(s)")
}

/// Whether an id is in one of these ranges.
pub fn contains(ranges: &Ranges, id: MessageId) -> bool {
    id.bit().is_some_and(|id| {
        let index = ranges.partition_point(|range| *range.end() < id);
        ranges.get(index).is_some_and(|range| range.contains(&id))
    })
}

/// The parts of ranges that lie in another one.
pub fn within(ranges: &Ranges, bounds: RangeInclusive<u32>) -> Ranges {
    let parts =
        ranges.iter().map(|range| *range.start().max(bounds.start())..=*range.end().min(bounds.end()));
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_and_looked_into() {
        let ranges: Ranges = vec![3..=5, 9..=9, 20..=30];
        for id in 0..40 {
            let expected = ranges.iter().any(|range| range.contains(&id));
            assert_eq!(contains(&ranges, MessageId::from(id)), expected, "{id}");
        }
        assert!(!contains(&ranges, MessageId(i64::MAX)));
        assert_eq!(within(&ranges, 4..=22), [4..=5, 9..=9, 20..=22]);
        assert_eq!(within(&ranges, 9..=9), [9..=9]);
        assert_eq!(within(&ranges, 6..=8), []);
    }
}

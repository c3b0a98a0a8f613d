//! Executing a query: a [`Plan`] becomes cursors over the viewer's snapshot, which are read up to a limit.

use crate::domain::access::messages::{ALL_IDS, ConversationAccess, topic};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::cursor::{
    Cursor, Direction, IdCursor, IdFilter, Index, IndexCursor, Intersection, Union,
};
use crate::domain::narrow::filter::{Candidate, matches};
use crate::domain::narrow::plan::{AccessCheck, Catalog, Plan, Scope};
use crate::domain::narrow::{Narrow, Term};
use crate::domain::user_topics::muting::Muting;
use crate::domain::{access, channels, messages, rows, subscriptions};
use crate::error::ApiResult;
use crate::types::{MessageId, RecipientId, StreamId, TopicId, UserId};
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Returns the newest message that a viewer received and may read (`max_message_id`), or -1.
pub fn newest_received(viewer: &MessageViewer<'_>) -> ApiResult<i64> {
    let newest = Query::new(viewer, &Narrow::default(), Direction::Down, 1)?.take(Some(*ALL_IDS.end()), 1)?;
    Ok(newest.first().map_or(-1, |id| id.0))
}

/// A query in execution, in one direction.
pub struct Query<'a> {
    cursor: Box<dyn Cursor + 'a>,
    direction: Direction,
}

impl<'a> Query<'a> {
    /// Plans a narrow and opens its cursors. About `wanted` messages will be taken.
    pub fn new(
        viewer: &'a MessageViewer<'a>,
        narrow: &Narrow,
        direction: Direction,
        wanted: usize,
    ) -> ApiResult<Self> {
        Self::execute(viewer, &Plan::new(viewer, narrow)?, direction, wanted)
    }

    /// Tests known messages, ascending, that the viewer may read, whether they received them or not.
    pub fn of_readable(viewer: &'a MessageViewer<'a>, narrow: &Narrow, ids: &[MessageId]) -> ApiResult<Self> {
        Self::execute(viewer, &Plan::of_readable(narrow, ids), Direction::Up, ids.len())
    }

    /// Tests known messages, ascending, that the viewer received.
    pub fn of_own(viewer: &'a MessageViewer<'a>, narrow: &Narrow, ids: &[MessageId]) -> ApiResult<Self> {
        Self::execute(viewer, &Plan::of_own(narrow, ids), Direction::Up, ids.len())
    }

    fn execute(
        viewer: &'a MessageViewer<'a>,
        plan: &Plan,
        direction: Direction,
        wanted: usize,
    ) -> ApiResult<Self> {
        let cursor = Executor { viewer, direction, wanted }.open(plan, true)?;
        Ok(Self { cursor, direction })
    }

    /// Returns up to `limit` messages from a bound on, in the query's direction.
    pub fn take(&mut self, from: Option<u32>, limit: usize) -> ApiResult<Vec<MessageId>> {
        let mut ids = Vec::with_capacity(limit.min(1024));
        let mut bound = from;
        while let Some(from) = bound
            && ids.len() < limit
        {
            let Some(bit) = self.cursor.seek(from)? else { break };
            ids.push(MessageId::from(bit));
            bound = self.direction.past(bit);
        }
        Ok(ids)
    }
}

#[derive(Clone, Copy)]
struct Executor<'a> {
    viewer: &'a MessageViewer<'a>,
    direction: Direction,
    wanted: usize,
}

impl<'a> Executor<'a> {
    /// Opens the cursor of a plan. `is_alone` is true if all its ids are wanted, not only those of other cursors.
    fn open(self, plan: &Plan, is_alone: bool) -> ApiResult<Box<dyn Cursor + 'a>> {
        let Self { viewer, direction, .. } = self;
        Ok(match plan {
            Plan::Scan(index, key, scope) => {
                let (connection, within) = (viewer.connection, self.within(scope)?);
                let batch = self.first_batch(*index, is_alone);
                Box::new(IndexCursor::new(connection, *index, key.clone(), within, direction, batch))
            }
            Plan::Ids(ids) => Box::new(IdCursor::new(ids.clone(), direction)),
            Plan::Union(inputs) => Box::new(Union::new(self.open_all(inputs)?, direction)),
            Plan::Intersect(inputs) => Box::new(Intersection::new(self.open_all(inputs)?)),
            Plan::Except(input, excluded) => {
                let (input, excluded) = (self.open(input, is_alone)?, self.open_all(excluded)?);
                Box::new(ExceptCursor { input, excluded, direction })
            }
            Plan::Filter(input, access, terms) => {
                let (input, terms) = (self.open(input, is_alone)?, terms.clone());
                Box::new(FilterCursor { viewer, input, access: *access, terms, direction })
            }
        })
    }

    fn open_all(self, plans: &[Plan]) -> ApiResult<Vec<Box<dyn Cursor + 'a>>> {
        plans.iter().map(|plan| self.open(plan, false)).collect()
    }

    fn within(self, scope: &Scope) -> ApiResult<IdFilter> {
        Ok(match scope {
            Scope::All => IdFilter::Ranges(vec![ALL_IDS]),
            Scope::Ranges(ranges) => IdFilter::Ranges(ranges.clone()),
            Scope::Unread(recipient_id, ranges) => {
                IdFilter::Unread(ranges.clone(), self.viewer.read_set(*recipient_id)?)
            }
            Scope::Read(recipient_id, ranges) => {
                IdFilter::Read(ranges.clone(), self.viewer.read_set(*recipient_id)?)
            }
        })
    }

    /// The number of ids that a cursor reads first. Of one of many conversations often only the first id is needed.
    fn first_batch(self, index: Index, is_alone: bool) -> usize {
        match index {
            Index::Search => usize::MAX,
            Index::Sender | Index::Starred | Index::Mentioned | Index::Alerted => self.wanted,
            _ if is_alone => self.wanted,
            _ => 1,
        }
    }
}

/// The ids of a cursor that none of some others has.
struct ExceptCursor<'a> {
    input: Box<dyn Cursor + 'a>,
    excluded: Vec<Box<dyn Cursor + 'a>>,
    direction: Direction,
}

impl Cursor for ExceptCursor<'_> {
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>> {
        let mut bound = Some(bound);
        'next: while let Some(from) = bound {
            let Some(id) = self.input.seek(from)? else { break };
            bound = self.direction.past(id);
            for cursor in &mut self.excluded {
                if cursor.seek(id)? == Some(id) {
                    continue 'next;
                }
            }
            return Ok(Some(id));
        }
        Ok(None)
    }
}

/// The ids of a cursor whose messages pass tests. Loads each message.
struct FilterCursor<'a> {
    viewer: &'a MessageViewer<'a>,
    input: Box<dyn Cursor + 'a>,
    access: AccessCheck,
    terms: Vec<Term>,
    direction: Direction,
}

impl FilterCursor<'_> {
    fn passes(&self, id: MessageId) -> ApiResult<bool> {
        let Some(candidate) = Candidate::load(self.viewer, id)? else { return Ok(false) };
        let recipient_id = candidate.recipient_id;
        let has_access = match self.access {
            AccessCheck::None => true,
            AccessCheck::Readable => self.viewer.can_read(recipient_id, id)?,
            AccessCheck::Received => {
                self.viewer.can_read(recipient_id, id)? && self.viewer.has_received(recipient_id, id)?
            }
        };
        if !has_access {
            return Ok(false);
        }
        for term in &self.terms {
            if matches(self.viewer, &term.test, &candidate)? == term.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Cursor for FilterCursor<'_> {
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>> {
        let mut bound = Some(bound);
        while let Some(from) = bound {
            let Some(id) = self.input.seek(from)? else { break };
            if self.passes(MessageId::from(id))? {
                return Ok(Some(id));
            }
            bound = self.direction.past(id);
        }
        Ok(None)
    }
}

impl Catalog for MessageViewer<'_> {
    fn user_id(&self) -> UserId {
        self.caller.user_id
    }

    fn conversation(&self, recipient_id: RecipientId) -> ApiResult<Rc<ConversationAccess>> {
        access::messages::MessageAccess::conversation(self, recipient_id)
    }

    fn muting(&self) -> ApiResult<&Muting> {
        self.muting()
    }

    fn channel(&self, stream_id: StreamId) -> ApiResult<Option<RecipientId>> {
        Ok(rows::channel::by_id(self.connection, stream_id)?.map(|stream| stream.recipient_id))
    }

    fn public_channels(&self) -> ApiResult<Vec<RecipientId>> {
        Ok(channels::public_recipients(self.connection)?)
    }

    fn received_channels(&self) -> ApiResult<Vec<RecipientId>> {
        Ok(subscriptions::ever_received(self.connection, self.caller.user_id)?)
    }

    fn direct_conversations(&self) -> ApiResult<Vec<RecipientId>> {
        Ok(messages::direct_recipients(self.connection, self.caller.user_id)?)
    }

    fn topic(&self, stream_id: StreamId, key: &str) -> ApiResult<Option<TopicId>> {
        Ok(topic(self.connection, stream_id, key)?)
    }

    fn resolved_topics(&self, stream_id: StreamId) -> ApiResult<Vec<TopicId>> {
        Ok(messages::resolved_topics(self.connection, stream_id)?)
    }

    fn count(&self, recipient_id: RecipientId, ids: &RangeInclusive<u32>, limit: i64) -> ApiResult<i64> {
        Ok(messages::count_of(self.connection, recipient_id, ids, limit)?)
    }
}

//! From a narrow to a cursor: which indexes answer it, and what is left to test message by message.
//!
//! A narrow is answered by the indexes of *places* (conversations, topics), met with indexes that go across places
//! (a sender, the viewer's flags, the words of a search). Whatever can be said of a whole place is asked of the place,
//! so that only places that can have matches are walked.

use crate::domain::access::channel_rows;
use crate::domain::channels::sql as channels;
use crate::domain::messages::access::{ALL_IDS, Ranges, Sight, View};
use crate::domain::messages::cursor::{
    Cursor, Direction, Index, IndexCursor, Intersection, Key, Known, Union, Within,
};
use crate::domain::messages::filter::{Candidate, holds, holds_for_all};
use crate::domain::messages::flags::bit;
use crate::domain::messages::narrow::{Narrow, Term, Test};
use crate::domain::messages::search::query::SearchQuery;
use crate::domain::messages::sql;
use crate::domain::subscriptions::sql as subscriptions;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::http::ApiResult;
use crate::types::{MessageId, RecipientId, StreamId, TopicId};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The newest message that a viewer received and may read: `max_message_id`. Without one, -1.
pub fn newest_received(sight: &Sight<'_>) -> ApiResult<i64> {
    let all = Narrow::default();
    let newest = Plan::new(sight, &all, Direction::Down, 1)?.take(Some(*ALL_IDS.end()), 1)?;
    Ok(newest.first().map_or(-1, |id| id.0))
}

/// Messages that are walked rather than found by an index across places.
const LITTLE_WORK: i64 = 10_000;

/// What to start on a range of ids costs, in messages walked.
const WORK_OF_RANGE: i64 = 200;

/// How a narrow is answered in one direction.
pub struct Plan<'a> {
    sight: &'a Sight<'a>,
    cursor: Box<dyn Cursor + 'a>,
    direction: Direction,
    /// What searches find that are turned around: it is left out.
    left_out: Vec<Box<dyn Cursor + 'a>>,
    /// Terms that no cursor answers.
    left: Vec<Term>,
    whose: Whose,
    /// Whether starred messages are asked for: a star stays on a message that went where the viewer receives nothing.
    asks_stars: bool,
}

/// Which messages may be shown, of those that a cursor gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// All: the cursor knows what the viewer may see.
    Known,
    /// Those that the viewer may read.
    Readable,
    /// Those that are the viewer's: received, or starred where stars are asked for.
    Own,
}

/// Where messages are taken from.
struct Place {
    recipient_id: RecipientId,
    /// One of its topics; absent: all of it.
    topic_id: Option<TopicId>,
}

impl<'a> Plan<'a> {
    /// Plans a narrow. `wanted` is about how many messages will be asked for.
    pub fn new(
        sight: &'a Sight<'a>,
        narrow: &Narrow,
        direction: Direction,
        wanted: usize,
    ) -> ApiResult<Self> {
        let planner = Planner {
            sight,
            direction,
            wanted,
            shared: narrow.wants_shared_history,
            unread: narrow.terms.iter().any(|term| !term.negated && matches!(term.test, Test::Unread)),
            read: false,
            left_out: Vec::new(),
            left: Vec::new(),
            left_of_places: Vec::new(),
        };
        planner.plan(narrow)
    }

    /// A plan that tests known messages that the viewer may read. They are not held back for never having been received.
    pub fn for_readable(sight: &'a Sight<'a>, narrow: &Narrow, ids: &[MessageId]) -> Self {
        Self::for_known(sight, narrow, ids, Whose::Readable)
    }

    /// A plan that tests known messages of the viewer's own.
    pub fn for_own(sight: &'a Sight<'a>, narrow: &Narrow, ids: &[MessageId]) -> Self {
        Self::for_known(sight, narrow, ids, Whose::Own)
    }

    fn for_known(sight: &'a Sight<'a>, narrow: &Narrow, ids: &[MessageId], whose: Whose) -> Self {
        let direction = Direction::Up;
        let ids: Vec<u32> = ids.iter().filter_map(|id| id.bit()).collect();
        let (first, last) = (ids.iter().min().copied(), ids.iter().max().copied());
        let within = first.zip(last).map_or_else(Vec::new, |(first, last)| vec![first..=last]);
        let mut cursors: Vec<Box<dyn Cursor + 'a>> = vec![Box::new(Known::new(ids, direction))];
        let (mut left, mut left_out) = (Vec::new(), Vec::new());
        for term in &narrow.terms {
            match &term.test {
                Test::Search(query) => {
                    let found = search(sight, query, within.clone(), direction);
                    if term.negated { left_out.push(found) } else { cursors.push(found) }
                }
                _ => left.push(term.clone()),
            }
        }
        let asks_stars = asks_stars(narrow);
        Self { sight, cursor: intersection(cursors), direction, left_out, left, whose, asks_stars }
    }

    /// Up to `limit` messages from a bound on, in the plan's direction.
    pub fn take(&mut self, from: Option<u32>, limit: usize) -> ApiResult<Vec<MessageId>> {
        let mut ids = Vec::with_capacity(limit.min(1024));
        let mut bound = from;
        while let Some(from) = bound
            && ids.len() < limit
        {
            let Some(bit) = self.cursor.seek(from)? else { break };
            let id = MessageId::from(bit);
            if !self.is_left_out(bit)? && self.matches(id)? {
                ids.push(id);
            }
            bound = self.direction.past(bit);
        }
        Ok(ids)
    }

    fn is_left_out(&mut self, id: u32) -> ApiResult<bool> {
        for cursor in &mut self.left_out {
            if cursor.seek(id)? == Some(id) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn matches(&self, id: MessageId) -> ApiResult<bool> {
        if self.left.is_empty() && self.whose == Whose::Known {
            return Ok(true);
        }
        let Some(candidate) = Candidate::load(self.sight, id)? else { return Ok(false) };
        if self.whose != Whose::Known && !self.sight.visible(candidate.recipient_id, id)? {
            return Ok(false);
        }
        if self.whose == Whose::Own && !self.asks_stars && !self.sight.received(candidate.recipient_id, id)? {
            return Ok(false);
        }
        for term in &self.left {
            if holds(self.sight, &term.test, &candidate)? == term.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

struct Planner<'a> {
    sight: &'a Sight<'a>,
    direction: Direction,
    wanted: usize,
    shared: bool,
    unread: bool,
    /// Whether places are walked where they are read, for a term that asks for nothing unread.
    read: bool,
    left_out: Vec<Box<dyn Cursor + 'a>>,
    left: Vec<Term>,
    /// Terms that places may answer; what they leave goes to `left`.
    left_of_places: Vec<Term>,
}

impl<'a> Planner<'a> {
    fn plan(mut self, narrow: &Narrow) -> ApiResult<Plan<'a>> {
        let mut cursors = Vec::new();
        let mut has_own_flag = false;
        for term in &narrow.terms {
            if let Test::Search(query) = &term.test
                && term.negated
            {
                self.left_out.push(search(self.sight, query, vec![ALL_IDS], self.direction));
                continue;
            }
            has_own_flag |= !term.negated && matches!(term.test, Test::Flag(_) | Test::Mentioned);
            match self.across(term)? {
                Some(cursor) => cursors.push(cursor),
                None if self.unread && !term.negated && matches!(term.test, Test::Unread) => {}
                None => self.left_of_places.push(term.clone()),
            }
        }
        // Without a place, an index across places leads, and each message is checked by itself. The unread are found in
        // the gaps of places.
        let by_place = cursors.is_empty()
            || self.unread
            || self.left_of_places.iter().any(names_place)
            || (may_walk_received(narrow)
                && (self.left_of_places.iter().any(asks_for_few) || self.received_little()?));
        let whose = if by_place && !has_own_flag { Whose::Known } else { Whose::Own };
        if by_place {
            let lone_batch = if cursors.is_empty() { self.wanted } else { 1 };
            let places = self.places(has_own_flag, lone_batch)?;
            cursors.push(places);
        } else {
            self.left.append(&mut self.left_of_places);
        }
        let Self { sight, direction, left_out, left, .. } = self;
        let (cursor, asks_stars) = (intersection(cursors), asks_stars(narrow));
        Ok(Plan { sight, cursor, direction, left_out, left, whose, asks_stars })
    }

    /// The index across places that answers a term, if there is one.
    fn across(&self, term: &Term) -> ApiResult<Option<Box<dyn Cursor + 'a>>> {
        if term.negated {
            return Ok(None);
        }
        let own = self.sight.caller.user_id.0;
        Ok(match &term.test {
            Test::Sender(sender) => Some(self.index(Index::Sender, sender.0)),
            Test::Flag(bit::STARRED) => Some(self.index(Index::Starred, own)),
            Test::Flag(bit::HAS_ALERT_WORD) => Some(self.index(Index::Alerted, own)),
            Test::Mentioned => Some(self.mentions()?),
            Test::Id(id) => Some(Box::new(Known::new(id.bit().into_iter().collect(), self.direction))),
            Test::Search(query) => Some(search(self.sight, query, vec![ALL_IDS], self.direction)),
            _ => None,
        })
    }

    /// The messages of all places that the narrow can be about, merged.
    fn places(&mut self, has_own_flag: bool, lone_batch: usize) -> ApiResult<Box<dyn Cursor + 'a>> {
        let terms = std::mem::take(&mut self.left_of_places);
        let (of_places, of_messages): (Vec<Term>, Vec<Term>) =
            terms.into_iter().partition(|term| is_of_places(&term.test));
        let mut places = Vec::new();
        for recipient_id in self.conversations(&of_places, &of_messages)? {
            let view = self.sight.view(recipient_id)?;
            let fits = of_places
                .iter()
                .all(|term| holds_for_all(&term.test, &view, recipient_id) != Some(term.negated));
            if fits && !self.ranges(&view, has_own_flag).is_empty() {
                places.push(Place { recipient_id, topic_id: None });
            }
        }
        let (places, of_messages) = self.topics(places, of_messages)?;
        // Of what was received, all that is not unread is in the set of what is read.
        let is_read = |term: &Term| term.negated && matches!(term.test, Test::Unread);
        self.read = !self.unread && !self.shared && !has_own_flag && of_messages.iter().any(is_read);
        let mut attributes = Vec::new();
        self.left = of_messages;
        self.left.retain(|term| !self.read || !is_read(term));
        self.left.retain(|term| {
            let index = match &term.test {
                _ if term.negated => None,
                Test::Attribute(mask) => Index::with_attribute(*mask),
                Test::Reaction => Some(Index::Reaction),
                _ => None,
            };
            attributes.extend(index);
            // The last reaction may have been taken away.
            index.is_none_or(|index| index == Index::Reaction)
        });
        let batch = if places.len() == 1 && attributes.is_empty() { lone_batch } else { 1 };
        let mut parts = Vec::new();
        for places in places.chunk_by(|one, next| one.recipient_id == next.recipient_id) {
            parts.push(self.conversation(places, &attributes, has_own_flag, batch)?);
        }
        Ok(self.union(parts))
    }

    /// The messages of places that are all in one conversation, with all of some attributes.
    fn conversation(
        &self,
        places: &[Place],
        attributes: &[Index],
        has_own_flag: bool,
        batch: usize,
    ) -> ApiResult<Box<dyn Cursor + 'a>> {
        let recipient_id = places[0].recipient_id;
        let view = self.sight.view(recipient_id)?;
        let ranges = self.ranges(&view, has_own_flag).clone();
        let within = match (self.unread, self.read) {
            (true, _) => Within::Unread(ranges, self.sight.read_set(recipient_id)?),
            (_, true) => Within::Read(ranges, self.sight.read_set(recipient_id)?),
            _ => Within::Ranges(ranges),
        };
        let connection = self.sight.connection;
        let cursor = |index, key: i64| -> Box<dyn Cursor + 'a> {
            Box::new(IndexCursor::new(connection, index, key, within.clone(), self.direction, batch))
        };
        let mut met: Vec<_> = attributes.iter().map(|index| cursor(*index, recipient_id.0)).collect();
        let topic_ids = places.iter().filter_map(|place| place.topic_id);
        let topics: Vec<_> = topic_ids.map(|topic_id| cursor(Index::Topic, topic_id.0)).collect();
        if !topics.is_empty() {
            met.push(self.union(topics));
        } else if met.is_empty() {
            met.push(cursor(Index::Recipient, recipient_id.0));
        }
        Ok(intersection(met))
    }

    fn union(&self, mut cursors: Vec<Box<dyn Cursor + 'a>>) -> Box<dyn Cursor + 'a> {
        match cursors.len() {
            1 => cursors.remove(0),
            _ => Box::new(Union::new(cursors, self.direction)),
        }
    }

    /// The conversations that can have matches, as narrowly as one term can name them.
    fn conversations(&self, of_places: &[Term], of_messages: &[Term]) -> ApiResult<Vec<RecipientId>> {
        let connection = self.sight.connection;
        let wanted = |wants: fn(&Test) -> bool| {
            of_places.iter().chain(of_messages).find(|term| !term.negated && wants(&term.test))
        };
        if let Some(Term { test: Test::Channel(stream), .. }) =
            wanted(|test| matches!(test, Test::Channel(_)))
        {
            self.sight.view_of_stream(stream)?;
            return Ok(vec![stream.recipient_id]);
        }
        if let Some(Term { test: Test::Direct(recipient_id), .. }) =
            wanted(|test| matches!(test, Test::Direct(_)))
        {
            return Ok(recipient_id.iter().copied().collect());
        }
        let is_direct = |test: &Test| {
            matches!(test, Test::AnyDirect | Test::DirectIncluding(_) | Test::GroupDirectWith(_))
        };
        if wanted(is_direct).is_some() {
            return Ok(sql::direct_recipients(connection, self.sight.caller.user_id)?);
        }
        if wanted(|test| matches!(test, Test::PublicChannels | Test::WebPublicChannels)).is_some() {
            return Ok(channels::public_recipients(connection)?);
        }
        if wanted(|test| matches!(test, Test::Followed)).is_some() {
            let followed = self.sight.muting()?.topics(|policy| policy == VisibilityPolicy::Followed);
            return self.channels(followed.map(|(stream_id, _)| stream_id).collect());
        }
        if of_messages.iter().any(|term| term.negated && matches!(term.test, Test::Home { .. })) {
            let muting = self.sight.muting()?;
            let topics = muting.topics(|policy| policy == VisibilityPolicy::Muted);
            return self.channels(muting.channels().chain(topics.map(|(stream_id, _)| stream_id)).collect());
        }
        self.everywhere()
    }

    /// The conversations of channels, each once.
    fn channels(&self, stream_ids: BTreeSet<StreamId>) -> ApiResult<Vec<RecipientId>> {
        let mut recipients = Vec::with_capacity(stream_ids.len());
        for stream_id in stream_ids {
            let stream = channel_rows::by_id(self.sight.connection, stream_id)?;
            recipients.extend(stream.map(|stream| stream.recipient_id));
        }
        Ok(recipients)
    }

    /// Puts topics in the place of conversations where a term names topics, and drops the terms that this answers.
    fn topics(&self, places: Vec<Place>, terms: Vec<Term>) -> ApiResult<(Vec<Place>, Vec<Term>)> {
        let narrowing =
            terms.iter().find(|term| !term.negated && matches!(term.test, Test::Topic(_))).or_else(|| {
                terms
                    .iter()
                    .find(|term| !term.negated && matches!(term.test, Test::Followed | Test::Resolved))
            });
        if let Some(narrowing) = narrowing {
            let mut topics = Vec::new();
            for place in &places {
                self.topics_of(place, &narrowing.test, &mut topics)?;
            }
            let answered = std::mem::discriminant(&narrowing.test);
            let mut is_first = true;
            let left = terms
                .into_iter()
                .filter(|term| {
                    let is_answer =
                        is_first && !term.negated && std::mem::discriminant(&term.test) == answered;
                    is_first &= !is_answer;
                    !is_answer
                })
                .collect();
            return Ok((topics, left));
        }
        let home = |negated| {
            terms.iter().find_map(|term| match term.test {
                Test::Home { with_channels } if term.negated == negated => Some(with_channels),
                _ => None,
            })
        };
        match (home(false), home(true)) {
            (Some(with_channels), _) => self.at_home(places, terms, with_channels),
            (None, Some(with_channels)) => self.muted(places, terms, with_channels),
            (None, None) => Ok((places, terms)),
        }
    }

    /// The same for what is not muted: a muted channel is shown as far as single topics of it are not muted.
    fn at_home(
        &self,
        places: Vec<Place>,
        terms: Vec<Term>,
        with_channels: bool,
    ) -> ApiResult<(Vec<Place>, Vec<Term>)> {
        let is_home = |term: &Term| !term.negated && matches!(term.test, Test::Home { .. });
        let muting = self.sight.muting()?;
        let mut shown = Vec::with_capacity(places.len());
        for place in places {
            let stream = self.sight.view(place.recipient_id)?.stream.as_ref().map(|stream| stream.stream_id);
            let is_muted = |stream_id: &StreamId| with_channels && muting.is_channel_muted(*stream_id);
            let Some(stream_id) = stream.filter(is_muted) else {
                shown.push(place);
                continue;
            };
            for (_, key) in muting.topics_of(stream_id, |policy| !policy.mutes(true)) {
                if let Some(topic_id) = sql::topic(self.sight.connection, stream_id, key)? {
                    shown.push(Place { recipient_id: place.recipient_id, topic_id: Some(topic_id) });
                }
            }
        }
        let mutes_topics = muting.topics(|policy| policy == VisibilityPolicy::Muted).next().is_some();
        let left = terms.into_iter().filter(|term| mutes_topics || !is_home(term)).collect();
        Ok((shown, left))
    }

    /// The same for what is muted: of a channel that is not muted, single topics.
    fn muted(
        &self,
        places: Vec<Place>,
        terms: Vec<Term>,
        with_channels: bool,
    ) -> ApiResult<(Vec<Place>, Vec<Term>)> {
        let muting = self.sight.muting()?;
        let mut muted = Vec::new();
        let mut shows_topics = false;
        for place in places {
            let view = self.sight.view(place.recipient_id)?;
            let Some(stream_id) = view.stream.as_ref().map(|stream| stream.stream_id) else { continue };
            if with_channels && muting.is_channel_muted(stream_id) {
                shows_topics |= muting.topics_of(stream_id, |policy| !policy.mutes(true)).next().is_some();
                muted.push(place);
                continue;
            }
            for (_, key) in muting.topics_of(stream_id, |policy| policy == VisibilityPolicy::Muted) {
                if let Some(topic_id) = sql::topic(self.sight.connection, stream_id, key)? {
                    muted.push(Place { recipient_id: place.recipient_id, topic_id: Some(topic_id) });
                }
            }
        }
        let is_answered = |term: &Term| !shows_topics && is_muted(term, with_channels);
        let left = terms.into_iter().filter(|term| !is_answered(term)).collect();
        Ok((muted, left))
    }

    /// The topics of a place that a term names.
    fn topics_of(&self, place: &Place, test: &Test, topics: &mut Vec<Place>) -> ApiResult<()> {
        let connection = self.sight.connection;
        let view = self.sight.view(place.recipient_id)?;
        let Some(stream) = &view.stream else { return Ok(()) };
        let mut topic_ids = Vec::new();
        match test {
            Test::Topic(key) => topic_ids.extend(sql::topic(connection, stream.stream_id, key)?),
            Test::Resolved => topic_ids = sql::resolved_topics(connection, stream.stream_id)?,
            _ => {
                let is_followed = |policy| policy == VisibilityPolicy::Followed;
                for (_, key) in self.sight.muting()?.topics_of(stream.stream_id, is_followed) {
                    topic_ids.extend(sql::topic(connection, stream.stream_id, key)?);
                }
            }
        }
        let recipient_id = place.recipient_id;
        topics.extend(topic_ids.into_iter().map(|topic_id| Place { recipient_id, topic_id: Some(topic_id) }));
        Ok(())
    }

    /// Every conversation that the viewer received something of.
    fn everywhere(&self) -> ApiResult<Vec<RecipientId>> {
        let (connection, user_id) = (self.sight.connection, self.sight.caller.user_id);
        let channels = subscriptions::ever_received(connection, user_id)?;
        let direct = sql::direct_recipients(connection, user_id)?;
        Ok(channels.into_iter().chain(direct).collect())
    }

    /// Whether the viewer received so little that to walk all of it is less work than to look at each message that an
    /// index across places gives.
    fn received_little(&self) -> ApiResult<bool> {
        let mut work = 0;
        for recipient_id in self.everywhere()? {
            for ids in &self.sight.view(recipient_id)?.received {
                let limit = LITTLE_WORK - work;
                work += WORK_OF_RANGE + sql::count_of(self.sight.connection, recipient_id, ids, limit)?;
                if work >= LITTLE_WORK {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The ids of a conversation that may be shown.
    fn ranges<'v>(&self, view: &'v View, has_own_flag: bool) -> &'v Ranges {
        if !self.unread && (self.shared || has_own_flag) { &view.visible } else { &view.received }
    }

    fn index(&self, index: Index, key: impl Into<Key>) -> Box<dyn Cursor + 'a> {
        let all = Within::Ranges(vec![ALL_IDS]);
        Box::new(IndexCursor::new(self.sight.connection, index, key, all, self.direction, self.wanted))
    }

    /// Messages that mention the viewer: by flag, and those that mention everybody where the viewer is.
    fn mentions(&self) -> ApiResult<Box<dyn Cursor + 'a>> {
        let mut cursors = vec![self.index(Index::Mentioned, self.sight.caller.user_id.0)];
        for recipient_id in self.everywhere()? {
            let view = self.sight.view(recipient_id)?;
            cursors.push(Box::new(IndexCursor::new(
                self.sight.connection,
                Index::StreamWildcard,
                recipient_id.0,
                Within::Ranges(view.received.clone()),
                self.direction,
                1,
            )));
        }
        Ok(Box::new(Union::new(cursors, self.direction)))
    }
}

/// The messages with the words of a search.
fn search<'a>(
    sight: &Sight<'a>,
    query: &SearchQuery,
    within: Ranges,
    direction: Direction,
) -> Box<dyn Cursor + 'a> {
    if query.expression().is_empty() {
        return Box::new(Known::new(Vec::new(), direction));
    }
    let key = Key::Expression(Rc::from(query.expression()));
    let within = Within::Ranges(within);
    Box::new(IndexCursor::new(sight.connection, Index::Search, key, within, direction, usize::MAX))
}

/// What all of several cursors have; there is at least one.
fn intersection<'a>(mut cursors: Vec<Box<dyn Cursor + 'a>>) -> Box<dyn Cursor + 'a> {
    match cursors.len() {
        1 => cursors.remove(0),
        _ => Box::new(Intersection::new(cursors)),
    }
}

fn asks_stars(narrow: &Narrow) -> bool {
    narrow.terms.iter().any(|term| !term.negated && matches!(term.test, Test::Flag(bit::STARRED)))
}

/// Whether all that a narrow can find is where the viewer received something, and may be more than one message. A star
/// stays on what they never received.
fn may_walk_received(narrow: &Narrow) -> bool {
    let is_one = |term: &Term| !term.negated && matches!(term.test, Test::Id(_));
    !asks_stars(narrow) && !narrow.terms.iter().any(is_one)
}

/// Whether a term asks for what few messages of a conversation have, or few of its topics: most conversations then drop
/// out at once.
fn asks_for_few(term: &Term) -> bool {
    match term.test {
        Test::Attribute(_) | Test::Reaction | Test::Topic(_) | Test::Resolved => !term.negated,
        Test::Home { .. } => term.negated,
        _ => false,
    }
}

/// Whether a term asks for what is muted, in the same meaning of that.
pub fn is_muted(term: &Term, with_channels: bool) -> bool {
    term.negated && matches!(term.test, Test::Home { with_channels: same } if same == with_channels)
}

/// Whether a term says in which places to look, so that an index across places need not lead.
fn names_place(term: &Term) -> bool {
    !term.negated
        && matches!(
            term.test,
            Test::Channel(_)
                | Test::PublicChannels
                | Test::WebPublicChannels
                | Test::Direct(_)
                | Test::DirectIncluding(_)
                | Test::GroupDirectWith(_)
                | Test::AnyDirect
                | Test::Followed
        )
}

/// Whether a test is the same for all messages of a conversation; as [`holds_for_all`].
fn is_of_places(test: &Test) -> bool {
    holds_for_all(test, &View::default(), RecipientId::default()).is_some()
}

//! The plan of a query: indexes that list the matching messages, and tests of each message.
//!
//! Indexes of conversations and topics are intersected with indexes across conversations: a sender, the viewer's flags,
//! the words of a search. Terms that are the same for a whole conversation select conversations, so that only those
//! with possible matches are scanned. Planning reads facts from a [`Catalog`] and no messages; [`super::executor`] turns
//! a plan into cursors. A plan prints as a tree, as `EXPLAIN` prints one.

use crate::domain::access::messages::{ALL_IDS, ConversationAccess, Ranges};
use crate::domain::messages::flags::bit;
use crate::domain::narrow::cursor::{Index, Key};
use crate::domain::narrow::filter::{is_of_conversation, matches_conversation};
use crate::domain::narrow::{Narrow, Term, Test, is_muted};
use crate::domain::search::query::SearchQuery;
use crate::domain::user_topics::muting::Muting;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::error::ApiResult;
use crate::types::{MessageId, RecipientId, StreamId, TopicId, UserId};
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

/// Messages that are scanned conversation by conversation rather than found by an index across conversations.
const FEW_MESSAGES: i64 = 10_000;

/// The cost of starting on a range of ids, in messages scanned.
const COST_OF_RANGE: i64 = 200;

/// A way to list the ids of matching messages.
#[derive(Clone, Debug)]
pub enum Plan {
    /// The ids that an index lists for a key.
    Scan(Index, Key, Scope),
    /// Known ids.
    Ids(Vec<u32>),
    /// The ids of any input.
    Union(Vec<Self>),
    /// The ids of all inputs.
    Intersect(Vec<Self>),
    /// The ids of the input that none of the others has.
    Except(Box<Self>, Vec<Self>),
    /// The ids of the input whose messages the viewer has access to and all terms match.
    Filter(Box<Self>, AccessCheck, Vec<Term>),
}

/// Filter of the ids of an index.
#[derive(Clone, Debug)]
pub enum Scope {
    /// All of them.
    All,
    /// Ids in these ranges.
    Ranges(Ranges),
    /// Ids in these ranges that the viewer has not read.
    Unread(RecipientId, Ranges),
    /// Ids in these ranges that the viewer has read.
    Read(RecipientId, Ranges),
}

/// Check of the viewer's access to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessCheck {
    /// No check: the ranges of all scans are accessible.
    None,
    /// The viewer may read it.
    Readable,
    /// The viewer may read it and received it.
    Received,
}

/// The facts that a plan depends on, as one viewer sees them.
pub trait Catalog {
    /// The viewer.
    fn user_id(&self) -> UserId;
    /// The viewer's access to a conversation.
    fn conversation(&self, recipient_id: RecipientId) -> ApiResult<Rc<ConversationAccess>>;
    /// The viewer's muted channels and topics.
    fn muting(&self) -> ApiResult<&Muting>;
    /// The conversation of a channel.
    fn channel(&self, stream_id: StreamId) -> ApiResult<Option<RecipientId>>;
    /// The conversations of all public channels.
    fn public_channels(&self) -> ApiResult<Vec<RecipientId>>;
    /// The conversations of the channels in which the viewer ever received something.
    fn received_channels(&self) -> ApiResult<Vec<RecipientId>>;
    /// The viewer's direct conversations.
    fn direct_conversations(&self) -> ApiResult<Vec<RecipientId>>;
    /// A topic, by its folded name.
    fn topic(&self, stream_id: StreamId, key: &str) -> ApiResult<Option<TopicId>>;
    /// The resolved topics of a channel.
    fn resolved_topics(&self, stream_id: StreamId) -> ApiResult<Vec<TopicId>>;
    /// The number of messages of a conversation in a range of ids, counted up to a limit.
    fn count(
        &self,
        recipient_id: RecipientId,
        ids: &std::ops::RangeInclusive<u32>,
        limit: i64,
    ) -> ApiResult<i64>;
}

impl Plan {
    /// Plans a narrow.
    pub fn new(catalog: &impl Catalog, narrow: &Narrow) -> ApiResult<Self> {
        let (mut scans, mut excluded, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for term in &narrow.terms {
            match (&term.test, term.negated) {
                (Test::Search(query), true) => excluded.push(Self::search(query, Scope::All)),
                // Unread messages are found in the gaps of the read sets of conversations.
                (Test::Unread, false) => {}
                (test, false) => match across_conversations(catalog, test)? {
                    Some(scan) => scans.push(scan),
                    None => rest.push(term.clone()),
                },
                (_, true) => rest.push(term.clone()),
            }
        }
        let has_own_flag = narrow.asks(|test| matches!(test, Test::Flag(_) | Test::Mentioned));
        let selection = Selection::new(narrow, has_own_flag);
        let by_conversation = scans.is_empty()
            || selection.read_state == ReadState::Unread
            || rest.iter().any(selects_conversations)
            || (finds_only_received(narrow) && (rest.iter().any(is_selective) || has_received_few(catalog)?));
        if by_conversation {
            let (scan, left) = conversations(catalog, rest, selection)?;
            scans.push(scan);
            rest = left;
        }
        let access = if by_conversation && !has_own_flag { AccessCheck::None } else { own(narrow) };
        Ok(Self::intersect(scans).except(excluded).filter(access, rest))
    }

    /// Plans a narrow over known ids, of messages that the viewer may read.
    pub fn of_readable(narrow: &Narrow, ids: &[MessageId]) -> Self {
        Self::of_ids(narrow, ids, AccessCheck::Readable)
    }

    /// Plans a narrow over known ids, of messages that the viewer received.
    pub fn of_own(narrow: &Narrow, ids: &[MessageId]) -> Self {
        Self::of_ids(narrow, ids, own(narrow))
    }

    fn of_ids(narrow: &Narrow, ids: &[MessageId], access: AccessCheck) -> Self {
        let ids: Vec<u32> = ids.iter().filter_map(|id| id.bit()).collect();
        let (first, last) = (ids.iter().min().copied(), ids.iter().max().copied());
        let bounds = first.zip(last).map_or_else(Vec::new, |(first, last)| vec![first..=last]);
        let (mut inputs, mut excluded, mut rest) = (vec![Self::Ids(ids)], Vec::new(), Vec::new());
        for term in &narrow.terms {
            match &term.test {
                Test::Search(query) => {
                    let inputs = if term.negated { &mut excluded } else { &mut inputs };
                    inputs.push(Self::search(query, Scope::Ranges(bounds.clone())));
                }
                _ => rest.push(term.clone()),
            }
        }
        Self::intersect(inputs).except(excluded).filter(access, rest)
    }

    fn search(query: &SearchQuery, scope: Scope) -> Self {
        if query.expression().is_empty() {
            return Self::Ids(Vec::new());
        }
        Self::Scan(Index::Search, Key::Expression(Rc::from(query.expression())), scope)
    }

    fn union(mut inputs: Vec<Self>) -> Self {
        if inputs.len() == 1 { inputs.remove(0) } else { Self::Union(inputs) }
    }

    fn intersect(mut inputs: Vec<Self>) -> Self {
        if inputs.len() == 1 { inputs.remove(0) } else { Self::Intersect(inputs) }
    }

    fn except(self, excluded: Vec<Self>) -> Self {
        if excluded.is_empty() { self } else { Self::Except(Box::new(self), excluded) }
    }

    fn filter(self, access: AccessCheck, terms: Vec<Term>) -> Self {
        if access == AccessCheck::None && terms.is_empty() {
            return self;
        }
        Self::Filter(Box::new(self), access, terms)
    }

    fn fmt_indented(&self, formatter: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(formatter, "{:1$}", "", depth * 2)?;
        match self {
            Self::Scan(index, key, scope) => writeln!(formatter, "Scan {index:?} {key}{scope}"),
            Self::Ids(ids) => writeln!(formatter, "Ids {ids:?}"),
            Self::Union(inputs) => fmt_node(formatter, depth, "Union", inputs),
            Self::Intersect(inputs) => fmt_node(formatter, depth, "Intersect", inputs),
            Self::Except(input, excluded) => {
                writeln!(formatter, "Except")?;
                input.fmt_indented(formatter, depth + 1)?;
                excluded.iter().try_for_each(|plan| plan.fmt_indented(formatter, depth + 1))
            }
            Self::Filter(input, access, terms) => {
                let mut tests: Vec<String> = terms.iter().map(ToString::to_string).collect();
                if *access != AccessCheck::None {
                    tests.insert(0, format!("{access:?}"));
                }
                writeln!(formatter, "Filter {}", tests.join(", "))?;
                input.fmt_indented(formatter, depth + 1)
            }
        }
    }
}

fn fmt_node(formatter: &mut fmt::Formatter<'_>, depth: usize, name: &str, inputs: &[Plan]) -> fmt::Result {
    writeln!(formatter, "{name}{}", if inputs.is_empty() { " of nothing" } else { "" })?;
    inputs.iter().try_for_each(|input| input.fmt_indented(formatter, depth + 1))
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_indented(formatter, 0)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ranges, read_state) = match self {
            Self::All => return Ok(()),
            Self::Ranges(ranges) => (ranges, ""),
            Self::Unread(_, ranges) => (ranges, " unread"),
            Self::Read(_, ranges) => (ranges, " read"),
        };
        if *ranges == [ALL_IDS] {
            formatter.write_str(read_state)
        } else {
            write!(formatter, " {ranges:?}{read_state}")
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.negated { "not " } else { "" })?;
        match &self.test {
            Test::Channel(stream) => write!(formatter, "Channel({})", stream.stream_id),
            Test::Search(query) => write!(formatter, "Search({})", query.expression()),
            test => write!(formatter, "{test:?}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadState {
    Any,
    Unread,
    Read,
}

/// Selection of the messages of a conversation.
#[derive(Clone, Copy)]
struct Selection {
    /// True if messages count that the viewer may read but never received.
    with_history: bool,
    read_state: ReadState,
}

impl Selection {
    fn new(narrow: &Narrow, has_own_flag: bool) -> Self {
        let with_history = narrow.wants_shared_history || has_own_flag;
        if narrow.asks(|test| matches!(test, Test::Unread)) {
            return Self { with_history: false, read_state: ReadState::Unread };
        }
        // Received messages that are not unread are in the read set. Other messages may be in none.
        let is_read = !with_history && narrow.terms.iter().any(is_read);
        Self { with_history, read_state: if is_read { ReadState::Read } else { ReadState::Any } }
    }

    fn ranges(self, conversation: &ConversationAccess) -> &Ranges {
        if self.with_history { &conversation.visible } else { &conversation.received }
    }

    fn scope(self, recipient_id: RecipientId, conversation: &ConversationAccess) -> Scope {
        let ranges = self.ranges(conversation).clone();
        match self.read_state {
            ReadState::Any => Scope::Ranges(ranges),
            ReadState::Unread => Scope::Unread(recipient_id, ranges),
            ReadState::Read => Scope::Read(recipient_id, ranges),
        }
    }
}

/// A conversation that is scanned, or one of its topics.
#[derive(Clone, Copy)]
struct Source {
    recipient_id: RecipientId,
    topic_id: Option<TopicId>,
}

/// The scan of the index across conversations that answers a test, if there is one.
fn across_conversations(catalog: &impl Catalog, test: &Test) -> ApiResult<Option<Plan>> {
    let scan = |index, key: i64| Plan::Scan(index, Key::Id(key), Scope::All);
    let own = catalog.user_id().0;
    Ok(Some(match test {
        Test::Sender(sender) => scan(Index::Sender, sender.0),
        Test::Flag(bit::STARRED) => scan(Index::Starred, own),
        Test::Flag(bit::HAS_ALERT_WORD) => scan(Index::Alerted, own),
        Test::Mentioned => {
            let mut scans = vec![scan(Index::Mentioned, own)];
            for recipient_id in received_conversations(catalog)? {
                let received = catalog.conversation(recipient_id)?.received.clone();
                let key = Key::Id(recipient_id.0);
                scans.push(Plan::Scan(Index::StreamWildcard, key, Scope::Ranges(received)));
            }
            Plan::Union(scans)
        }
        Test::Id(id) => Plan::Ids(id.bit().into_iter().collect()),
        Test::Search(query) => Plan::search(query, Scope::All),
        _ => return Ok(None),
    }))
}

/// Plans the scans of all conversations that can have matches, and returns the terms that they leave to test.
fn conversations(
    catalog: &impl Catalog,
    terms: Vec<Term>,
    selection: Selection,
) -> ApiResult<(Plan, Vec<Term>)> {
    let (of_conversations, of_messages): (Vec<Term>, Vec<Term>) =
        terms.into_iter().partition(|term| is_of_conversation(&term.test));
    let mut sources = Vec::new();
    for recipient_id in candidates(catalog, &of_conversations, &of_messages)? {
        let conversation = catalog.conversation(recipient_id)?;
        let fits = of_conversations
            .iter()
            .all(|term| matches_conversation(&term.test, &conversation, recipient_id) != Some(term.negated));
        if fits && !selection.ranges(&conversation).is_empty() {
            sources.push(Source { recipient_id, topic_id: None });
        }
    }
    let (sources, mut left) = select_topics(catalog, sources, of_messages)?;
    left.retain(|term| selection.read_state != ReadState::Read || !is_read(term));
    let mut attributes = Vec::new();
    left.retain(|term| {
        let index = match &term.test {
            _ if term.negated => None,
            Test::Attribute(mask) => Index::with_attribute(*mask),
            Test::Reaction => Some(Index::Reaction),
            _ => None,
        };
        attributes.extend(index);
        // The index also lists messages whose last reaction was removed.
        index.is_none_or(|index| index == Index::Reaction)
    });
    let mut scans = Vec::new();
    for sources in sources.chunk_by(|one, next| one.recipient_id == next.recipient_id) {
        scans.extend(conversation(catalog, sources, &attributes, selection)?);
    }
    Ok((Plan::union(scans), left))
}

/// Plans the scan of sources that are all in one conversation.
fn conversation(
    catalog: &impl Catalog,
    sources: &[Source],
    attributes: &[Index],
    selection: Selection,
) -> ApiResult<Option<Plan>> {
    let Some(recipient_id) = sources.first().map(|source| source.recipient_id) else { return Ok(None) };
    let scope = selection.scope(recipient_id, &*catalog.conversation(recipient_id)?);
    let scan = |index, key| Plan::Scan(index, Key::Id(key), scope.clone());
    let mut inputs: Vec<Plan> = attributes.iter().map(|index| scan(*index, recipient_id.0)).collect();
    let topics = sources.iter().filter_map(|source| source.topic_id);
    let topics: Vec<Plan> = topics.map(|topic_id| scan(Index::Topic, topic_id.0)).collect();
    if !topics.is_empty() {
        inputs.push(Plan::union(topics));
    } else if inputs.is_empty() {
        inputs.push(scan(Index::Recipient, recipient_id.0));
    }
    Ok(Some(Plan::intersect(inputs)))
}

/// The conversations that can have matches, as narrowly as one term can name them.
fn candidates(
    catalog: &impl Catalog,
    of_conversations: &[Term],
    of_messages: &[Term],
) -> ApiResult<Vec<RecipientId>> {
    let named = of_conversations.iter().filter(|term| !term.negated).find_map(|term| match &term.test {
        Test::Channel(stream) => Some(vec![stream.recipient_id]),
        _ => None,
    });
    let named = named.or_else(|| {
        of_conversations.iter().filter(|term| !term.negated).find_map(|term| match &term.test {
            Test::Direct(recipient_id) => Some(recipient_id.iter().copied().collect()),
            _ => None,
        })
    });
    if let Some(named) = named {
        return Ok(named);
    }
    let asks = |wanted: fn(&Test) -> bool| {
        of_conversations.iter().chain(of_messages).any(|term| !term.negated && wanted(&term.test))
    };
    if asks(|test| matches!(test, Test::AnyDirect | Test::DirectIncluding(_) | Test::GroupDirectWith(_))) {
        return catalog.direct_conversations();
    }
    if asks(|test| matches!(test, Test::PublicChannels | Test::WebPublicChannels)) {
        return catalog.public_channels();
    }
    let muting = catalog.muting()?;
    let streams: BTreeSet<StreamId> = if asks(|test| matches!(test, Test::Followed)) {
        muting.topics(|policy| policy == VisibilityPolicy::Followed).map(|(stream_id, _)| stream_id).collect()
    } else if of_messages.iter().any(|term| term.negated && matches!(term.test, Test::Home { .. })) {
        let topics = muting.topics(|policy| policy == VisibilityPolicy::Muted);
        muting.channels().chain(topics.map(|(stream_id, _)| stream_id)).collect()
    } else {
        return received_conversations(catalog);
    };
    streams.into_iter().filter_map(|stream_id| catalog.channel(stream_id).transpose()).collect()
}

/// Replaces conversations by topics where a term names topics, and drops the terms that this answers.
fn select_topics(
    catalog: &impl Catalog,
    sources: Vec<Source>,
    mut terms: Vec<Term>,
) -> ApiResult<(Vec<Source>, Vec<Term>)> {
    let position =
        |wanted: fn(&Test) -> bool| terms.iter().position(|term| !term.negated && wanted(&term.test));
    let by_topic = position(|test| matches!(test, Test::Topic(_)))
        .or_else(|| position(|test| matches!(test, Test::Followed | Test::Resolved)));
    if let Some(position) = by_topic {
        let term = terms.remove(position);
        let mut topics = Vec::new();
        for source in &sources {
            topics_of(catalog, source.recipient_id, &term.test, &mut topics)?;
        }
        return Ok((topics, terms));
    }
    let home = |negated| {
        terms.iter().find_map(|term| match term.test {
            Test::Home { with_channels } if term.negated == negated => Some(with_channels),
            _ => None,
        })
    };
    match (home(false), home(true)) {
        (Some(with_channels), _) => select_unmuted(catalog, sources, terms, with_channels),
        (None, Some(with_channels)) => select_muted(catalog, sources, terms, with_channels),
        (None, None) => Ok((sources, terms)),
    }
}

/// Replaces muted channels by those of their topics that are not muted.
fn select_unmuted(
    catalog: &impl Catalog,
    sources: Vec<Source>,
    mut terms: Vec<Term>,
    with_channels: bool,
) -> ApiResult<(Vec<Source>, Vec<Term>)> {
    let muting = catalog.muting()?;
    let mut unmuted = Vec::with_capacity(sources.len());
    for source in sources {
        let stream_id =
            catalog.conversation(source.recipient_id)?.stream.as_ref().map(|stream| stream.stream_id);
        match stream_id.filter(|stream_id| with_channels && muting.is_channel_muted(*stream_id)) {
            Some(stream_id) => {
                let keys = muting.topics_of(stream_id, |policy| !policy.mutes(true));
                push_topics(catalog, source.recipient_id, stream_id, keys.map(|(_, key)| key), &mut unmuted)?;
            }
            None => unmuted.push(source),
        }
    }
    let mutes_topics = muting.topics(|policy| policy == VisibilityPolicy::Muted).next().is_some();
    terms.retain(|term| mutes_topics || term.negated || !matches!(term.test, Test::Home { .. }));
    Ok((unmuted, terms))
}

/// Replaces channels that are not muted by those of their topics that are muted.
fn select_muted(
    catalog: &impl Catalog,
    sources: Vec<Source>,
    mut terms: Vec<Term>,
    with_channels: bool,
) -> ApiResult<(Vec<Source>, Vec<Term>)> {
    let muting = catalog.muting()?;
    let mut muted = Vec::new();
    let mut has_unmuted_topics = false;
    for source in sources {
        let conversation = catalog.conversation(source.recipient_id)?;
        let Some(stream_id) = conversation.stream.as_ref().map(|stream| stream.stream_id) else { continue };
        if with_channels && muting.is_channel_muted(stream_id) {
            has_unmuted_topics |= muting.topics_of(stream_id, |policy| !policy.mutes(true)).next().is_some();
            muted.push(source);
            continue;
        }
        let keys = muting.topics_of(stream_id, |policy| policy == VisibilityPolicy::Muted);
        push_topics(catalog, source.recipient_id, stream_id, keys.map(|(_, key)| key), &mut muted)?;
    }
    terms.retain(|term| has_unmuted_topics || !is_muted(term, with_channels));
    Ok((muted, terms))
}

/// Adds the topics of a conversation that a test names.
fn topics_of(
    catalog: &impl Catalog,
    recipient_id: RecipientId,
    test: &Test,
    topics: &mut Vec<Source>,
) -> ApiResult<()> {
    let conversation = catalog.conversation(recipient_id)?;
    let Some(stream_id) = conversation.stream.as_ref().map(|stream| stream.stream_id) else { return Ok(()) };
    match test {
        Test::Topic(key) => {
            push_topics(catalog, recipient_id, stream_id, std::iter::once(key.as_str()), topics)
        }
        Test::Resolved => {
            let resolved = catalog.resolved_topics(stream_id)?.into_iter();
            topics.extend(resolved.map(|topic_id| Source { recipient_id, topic_id: Some(topic_id) }));
            Ok(())
        }
        _ => {
            let followed =
                catalog.muting()?.topics_of(stream_id, |policy| policy == VisibilityPolicy::Followed);
            push_topics(catalog, recipient_id, stream_id, followed.map(|(_, key)| key), topics)
        }
    }
}

fn push_topics<'k>(
    catalog: &impl Catalog,
    recipient_id: RecipientId,
    stream_id: StreamId,
    keys: impl Iterator<Item = &'k str>,
    topics: &mut Vec<Source>,
) -> ApiResult<()> {
    for key in keys {
        if let Some(topic_id) = catalog.topic(stream_id, key)? {
            topics.push(Source { recipient_id, topic_id: Some(topic_id) });
        }
    }
    Ok(())
}

/// Every conversation in which the viewer received something.
fn received_conversations(catalog: &impl Catalog) -> ApiResult<Vec<RecipientId>> {
    Ok(catalog.received_channels()?.into_iter().chain(catalog.direct_conversations()?).collect())
}

/// True if the viewer received so few messages that scanning all of them costs less than testing each message of an
/// index across conversations.
fn has_received_few(catalog: &impl Catalog) -> ApiResult<bool> {
    let mut cost = 0;
    for recipient_id in received_conversations(catalog)? {
        for ids in &catalog.conversation(recipient_id)?.received {
            cost += COST_OF_RANGE + catalog.count(recipient_id, ids, FEW_MESSAGES - cost)?;
            if cost >= FEW_MESSAGES {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The check for messages of the viewer's own. A star stays on a message that moved to where they receive nothing.
fn own(narrow: &Narrow) -> AccessCheck {
    if narrow.asks(is_starred) { AccessCheck::Readable } else { AccessCheck::Received }
}

/// True if a narrow can match only messages that the viewer received, and more than one.
fn finds_only_received(narrow: &Narrow) -> bool {
    !narrow.asks(|test| is_starred(test) || matches!(test, Test::Id(_)))
}

fn is_starred(test: &Test) -> bool {
    matches!(test, Test::Flag(bit::STARRED))
}

fn is_read(term: &Term) -> bool {
    term.negated && matches!(term.test, Test::Unread)
}

/// True if a term matches few messages or topics of a conversation, so that most conversations have no matches.
fn is_selective(term: &Term) -> bool {
    match term.test {
        Test::Attribute(_) | Test::Reaction | Test::Topic(_) | Test::Resolved => !term.negated,
        Test::Home { .. } => term.negated,
        _ => false,
    }
}

/// True if a term names conversations, so that no index across conversations has to lead.
fn selects_conversations(term: &Term) -> bool {
    !term.negated
        && (matches!(term.test, Test::Followed)
            || (is_of_conversation(&term.test) && !matches!(term.test, Test::Everything)))
}

#[cfg(test)]
mod tests;

//! Spans of subscription and read states, from the receivers of each message.
//!
//! The archive has a row for each message and receiver. Messages come in the order of their ids, so a span of a user in a
//! channel begins with the first message that they received, and ends before the first one that they did not.

use crate::domain::messages::read_state;
use crate::domain::subscriptions;
use crate::moving::import::error::ImportResult;
use crate::moving::import::target::Target;
use crate::store::{ExecuteCached, Tx, bitmap};
use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// The most rows of a kind that one job inserts.
const ROWS_PER_JOB: usize = 10_000;

/// The users who received a message, and those of them who have not read it.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Receivers, without those who received it later.
    pub receivers: RoaringBitmap,
    /// Receivers who have not read it.
    pub unread: RoaringBitmap,
    /// Users who received it later, such as by starring it.
    pub historical: RoaringBitmap,
}

/// A change of a subscription, for users whose messages are not listed.
#[derive(Clone, Copy, Debug)]
pub struct SubscriptionChange {
    /// UNIX seconds.
    pub time: i64,
    pub user: u32,
    /// The channel.
    pub stream: u32,
    /// False if the subscription ended.
    pub is_begin: bool,
}

/// A period of subscription; without an end it lasts.
#[derive(Clone, Copy, Debug)]
struct Span {
    user: u32,
    stream: u32,
    from: u32,
    until: Option<u32>,
}

#[derive(Default)]
struct Conversation {
    stream: Option<u32>,
    /// The message before.
    previous: u32,
    /// Users whose span goes on, and its first message.
    present: RoaringBitmap,
    since: HashMap<u32, u32>,
    /// Everyone who ever received a message.
    ever: RoaringBitmap,
    /// Unread messages, as ranges of ids.
    unread: HashMap<u32, Vec<(u32, u32)>>,
}

/// Collects the receivers of all messages.
#[derive(Default)]
pub struct Receipts {
    conversations: HashMap<RecipientId, Conversation>,
    spans: Vec<Span>,
    /// Messages that came from another channel: their receivers, and the messages with the same ones.
    moved: HashMap<(RecipientId, Vec<u8>), RoaringBitmap>,
    /// Users for whom the archive has no rows of messages that do not concern them.
    idle: RoaringBitmap,
    /// Changes of their subscriptions, the next one last.
    changes: HashMap<u32, Vec<SubscriptionChange>>,
}

impl Receipts {
    /// Starts with the users whose rows are incomplete, and the changes of their subscriptions.
    pub fn new(idle: RoaringBitmap, mut changes: Vec<SubscriptionChange>) -> Self {
        let mut by_stream: HashMap<u32, Vec<SubscriptionChange>> = HashMap::new();
        changes.retain(|change| idle.contains(change.user));
        changes.sort_by_key(|change| std::cmp::Reverse(change.time));
        for change in changes {
            by_stream.entry(change.stream).or_default().push(change);
        }
        Self { idle, changes: by_stream, ..Self::default() }
    }

    /// Adds a message; messages of a conversation come in the order of their ids.
    pub fn add(
        &mut self,
        id: u32,
        time: i64,
        (recipient, stream): (RecipientId, Option<u32>),
        is_moved: bool,
        received: &Received,
    ) {
        let conversation = self.conversations.entry(recipient).or_default();
        conversation.stream = stream;
        let all = &received.receivers | &received.historical;
        if let Some(stream) = stream {
            if is_moved {
                *self.moved.entry((recipient, bitmap::to_blob(&all))).or_default() |=
                    RoaringBitmap::from_iter([id]);
            } else {
                let mut receivers = all.clone();
                for change in pop_due(self.changes.get_mut(&stream), time) {
                    if change.is_begin {
                        conversation.present.insert(change.user);
                        conversation.since.entry(change.user).or_insert(id);
                    } else if conversation.present.remove(change.user) {
                        self.spans.extend(conversation.span_until(change.user, stream, id));
                    }
                }
                receivers |= &conversation.present & &self.idle;
                for user in &receivers - &conversation.present {
                    conversation.since.insert(user, id);
                }
                for user in &conversation.present - &receivers {
                    self.spans.extend(conversation.span_until(user, stream, id));
                }
                conversation.present = receivers;
            }
        }
        conversation.ever |= &all;
        for user in &received.unread {
            let runs = conversation.unread.entry(user).or_default();
            match runs.last_mut() {
                Some(run) if run.1 == conversation.previous => run.1 = id,
                _ => runs.push((id, id)),
            }
        }
        conversation.previous = id;
    }

    /// Adds rows of a message that came after those of later messages. Their users are receivers of this message alone.
    pub fn add_late(&mut self, id: u32, recipient: RecipientId, received: &Received) {
        let conversation = self.conversations.entry(recipient).or_default();
        let all = &received.receivers | &received.historical;
        if let Some(stream) = conversation.stream {
            for user in &all {
                self.spans.push(Span { user, stream, from: id, until: Some(id + 1) });
            }
        }
        conversation.ever |= all;
        for user in &received.unread {
            let runs = conversation.unread.entry(user).or_default();
            runs.push((id, id));
            runs.sort_unstable();
        }
    }

    /// Ends the spans of users who are not subscribed. `next` is the id of the next message. Returns the rows.
    pub fn finish(mut self, subscribed: &HashMap<u32, RoaringBitmap>, next: u32) -> ReceiptRows {
        let none = RoaringBitmap::new();
        let of_stream: HashMap<u32, RecipientId> = self
            .conversations
            .iter()
            .filter_map(|(recipient, conversation)| Some((conversation.stream?, *recipient)))
            .collect();
        for (stream, recipient) in &of_stream {
            let Some(conversation) = self.conversations.get_mut(recipient) else { continue };
            let subscribers = subscribed.get(stream).unwrap_or(&none);
            for user in std::mem::take(&mut conversation.present) {
                let until = (!subscribers.contains(user)).then_some(conversation.previous + 1);
                let from = conversation.since.remove(&user).unwrap_or(next);
                self.spans.push(Span { user, stream: *stream, from, until });
            }
        }
        let lasting: BTreeSet<(u32, u32)> =
            self.spans.iter().filter(|span| span.until.is_none()).map(|s| (s.stream, s.user)).collect();
        for (stream, users) in subscribed {
            let others = users.iter().filter(|user| !lasting.contains(&(*stream, *user)));
            self.spans.extend(others.map(|user| Span { user, stream: *stream, from: next, until: None }));
        }
        let moved = self.moved.into_iter().filter_map(|((recipient, users), ids)| {
            let stream = self.conversations.get(&recipient)?.stream?;
            Some((recipient, stream, users, ids))
        });
        let moved = moved.collect();
        let reads = self.conversations.into_iter().flat_map(|(recipient, mut conversation)| {
            let newest = conversation.previous;
            std::mem::take(&mut conversation.ever).into_iter().map(move |user| {
                let unread = conversation.unread.remove(&user).unwrap_or_default();
                (UserId::from(user), recipient, newest, unread)
            })
        });
        ReceiptRows { spans: self.spans, moved, reads: Box::new(reads) }
    }
}

impl Conversation {
    fn span_until(&mut self, user: u32, stream: u32, until: u32) -> Option<Span> {
        let from = self.since.remove(&user)?;
        (from < until).then_some(Span { user, stream, from, until: Some(until) })
    }
}

/// Removes the changes of a channel up to a time, the oldest first.
fn pop_due(changes: Option<&mut Vec<SubscriptionChange>>, time: i64) -> Vec<SubscriptionChange> {
    let mut due = Vec::new();
    if let Some(changes) = changes {
        while let Some(change) = changes.pop_if(|change| change.time <= time) {
            due.push(change);
        }
    }
    due
}

/// A read state: the user, the conversation, its newest message, and the unread ranges.
type ReadRow = (UserId, RecipientId, u32, Vec<(u32, u32)>);

/// The rows that follow from the receivers.
pub struct ReceiptRows {
    spans: Vec<Span>,
    moved: Vec<(RecipientId, u32, Vec<u8>, RoaringBitmap)>,
    reads: Box<dyn Iterator<Item = ReadRow> + Send>,
}

impl ReceiptRows {
    /// Inserts all rows, in several jobs.
    pub fn insert_all(mut self, target: &mut Target) -> ImportResult<()> {
        loop {
            let (left, is_more) = target.run(move |tx| {
                let is_more = self.insert_some(tx, ROWS_PER_JOB)?;
                Ok((self, is_more))
            })?;
            if !is_more {
                return Ok(());
            }
            self = left;
        }
    }

    /// Inserts some of the rows. Returns `false` after the last.
    fn insert_some(&mut self, tx: &Tx<'_>, limit: usize) -> ImportResult<bool> {
        let from = self.spans.len().saturating_sub(limit);
        for span in self.spans.drain(from..) {
            insert_span(tx, span)?;
        }
        for (recipient, stream, users, ids) in self.moved.drain(self.moved.len().saturating_sub(limit)..) {
            tx.execute_cached(
                "INSERT INTO arrival (recipient_id, message_ids, user_ids) VALUES (?1, ?2, ?3)",
                (recipient, bitmap::to_blob(&ids), &users),
            )?;
            // Spans list the channels in which a user may have received something.
            let first = MessageId::from(ids.min().unwrap_or_default());
            for user in bitmap::from_blob(0, &users)? {
                subscriptions::add_empty_span(tx, user.into(), StreamId(stream.into()), first)?;
            }
        }
        let mut count = 0;
        for (user, recipient, newest, unread) in self.reads.by_ref().take(limit) {
            let unread: Vec<RangeInclusive<u32>> = unread.into_iter().map(|(from, to)| from..=to).collect();
            read_state::put(tx, user, recipient, newest, &unread)?;
            count += 1;
        }
        Ok(!self.spans.is_empty() || !self.moved.is_empty() || count == limit)
    }
}

/// Inserts a span, or extends one that begins with the same message.
fn insert_span(tx: &Tx<'_>, span: Span) -> rusqlite::Result<()> {
    tx.execute_cached(
        "INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET until_message_id = CASE
             WHEN until_message_id IS NULL OR excluded.until_message_id IS NULL THEN NULL
             ELSE max(until_message_id, excluded.until_message_id) END",
        (span.user, span.stream, span.from, span.until),
    )
}

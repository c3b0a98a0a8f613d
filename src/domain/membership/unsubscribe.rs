//! Ending subscriptions, whoever asks for it: rows, spans and events.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channel_viewers::People;
use crate::domain::access::{channel_rows, channel_viewers};
use crate::domain::channels::events::{PeersChanged, StreamDeleted};
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::moved_receipts::Arrival;
use crate::domain::messages::{moved_receipts, unread};
use crate::domain::subscriptions::events::{SubscriptionsRemoved, set};
use crate::domain::subscriptions::{members, sql as subscriptions_sql};
use crate::domain::visibility::users::Before;
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use serde::Serialize;
use std::collections::BTreeMap;

/// What was ended, by the channels' names: one for each user and channel.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// Subscriptions that ended.
    pub removed: Vec<String>,
    /// There were none to end.
    pub not_removed: Vec<String>,
}

/// A channel that users leave.
struct Left<'a> {
    stream: &'a StreamRow,
    /// Who could see it before.
    seen_before: RoaringBitmap,
    /// Who can see it still.
    seen_after: RoaringBitmap,
    /// Who left.
    users: Vec<UserId>,
    /// Who received what was not sent here.
    arrivals: Vec<Arrival>,
}

/// Unsubscribes users from channels.
pub fn unsubscribe(tx: &mut Tx<'_>, streams: &[StreamRow], users: &[UserId]) -> ApiResult<Outcome> {
    let people = People::load(tx)?;
    let mut all = Vec::with_capacity(streams.len());
    for stream in streams {
        let seen_before = channel_viewers::to(tx, &people, tx.now(), stream)?;
        all.push(Left {
            stream,
            seen_before,
            seen_after: RoaringBitmap::new(),
            users: Vec::new(),
            arrivals: moved_receipts::of(tx, stream.recipient_id)?,
        });
    }
    let before = Before::of_subscribers(tx, users, streams.iter().map(|stream| stream.stream_id))?;
    let next = subscriptions_sql::next_message_id(tx)?;
    let mut outcome = Outcome::default();
    // Users who left the same channels share an event, and so do those who had not read the same messages there.
    let mut groups: BTreeMap<Vec<usize>, Vec<UserId>> = BTreeMap::new();
    let mut unread_by: BTreeMap<Vec<MessageId>, Vec<UserId>> = BTreeMap::new();
    for &user_id in users {
        let (mut left, mut read) = (Vec::new(), Vec::new());
        for (index, channel) in all.iter_mut().enumerate() {
            let stream = channel.stream;
            if !channel_rows::is_subscribed(tx, user_id, stream.stream_id)? {
                outcome.not_removed.push(stream.name.clone());
                continue;
            }
            subscriptions_sql::set_active(tx, user_id, stream.stream_id, false)?;
            subscriptions_sql::close_span(tx, user_id, stream.stream_id, next)?;
            // What they had not read there does not count any more, nor on return.
            read.extend(unread::read_all(tx, user_id, stream, &channel.arrivals)?);
            outcome.removed.push(stream.name.clone());
            channel.users.push(user_id);
            left.push(index);
        }
        if !left.is_empty() {
            groups.entry(left).or_default().push(user_id);
        }
        if !read.is_empty() {
            read.sort_unstable();
            unread_by.entry(read).or_default().push(user_id);
        }
    }
    for channel in &mut all {
        if !channel.users.is_empty() {
            members::changed(tx, channel.stream.stream_id, &[], &channel.users);
            channel.seen_after = channel_viewers::to(tx, &people, tx.now(), channel.stream)?;
        }
    }
    for (indexes, users) in groups {
        let streams: Vec<&StreamRow> = indexes.iter().map(|index| all[*index].stream).collect();
        emit_removed(tx, &streams, &users);
    }
    for (messages, users) in unread_by {
        tx.emit(FlagsChanged::new(true, "read", &messages, None), Audience::users(users));
    }
    for channel in all.iter().filter(|channel| !channel.users.is_empty()) {
        emit_left(tx, channel);
    }
    before.changes(tx)?.emit_lost(tx);
    Ok(outcome)
}

/// Tells users which channels they left. Archived channels are told apart: not every client has them.
fn emit_removed(tx: &mut Tx<'_>, streams: &[&StreamRow], users: &[UserId]) {
    for is_archived in [false, true] {
        let mut named = streams
            .iter()
            .filter(|stream| stream.is_archived == is_archived)
            .map(|stream| (stream.stream_id, stream.name.as_str()))
            .peekable();
        if named.peek().is_some() {
            let audience = Audience::users(users.iter().copied());
            tx.emit(SubscriptionsRemoved::new(named, is_archived), audience);
        }
    }
}

/// Tells those who left and cannot see the channel any more that it is gone, and those who see it who left.
fn emit_left(tx: &mut Tx<'_>, channel: &Left<'_>) {
    let stream = channel.stream;
    let lost = &channel.seen_before - &channel.seen_after;
    tx.emit(StreamDeleted::new(stream.stream_id, stream.is_archived), Audience::set(lost));
    let left = set(&channel.users);
    // Who left alone knows. Of many, each has to hear of the others.
    let audience = if left.len() == 1 { &channel.seen_after - &left } else { channel.seen_after.clone() };
    let event = PeersChanged::removed(vec![stream.stream_id], &left, stream.is_archived);
    tx.emit(event, Audience::set(audience));
}

//! Unsubscribing users from channels: rows, spans and events.

use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::access::messages::moved_receipts;
use crate::domain::channels::events::PeersChanged;
use crate::domain::groups::roles::UserFilter;
use crate::domain::messages::read_state;
use crate::domain::messages::read_state::bulk_events::BulkReadEvents;
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions::events::{SubscriptionsRemoved, set};
use crate::domain::subscriptions::members;
use crate::domain::visibility::Scope;
use crate::domain::{rows, subscriptions, visibility};
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::UserId;
use serde::Serialize;
use std::collections::BTreeMap;

/// The ended subscriptions, as names of channels: one for each user and channel.
#[derive(Debug, Default, Serialize)]
pub struct UnsubscribeResult {
    /// The names of the channels of ended subscriptions.
    pub removed: Vec<String>,
    /// The names of the channels that users were not subscribed to.
    pub not_removed: Vec<String>,
}

/// A channel and the users who leave it.
struct Unsubscription<'a> {
    stream: &'a StreamRow,
    users: Vec<UserId>,
}

/// Changes of the rows, and the events to emit for them.
struct Done<'a> {
    result: UnsubscribeResult,
    left: Vec<Unsubscription<'a>>,
    /// Users by the channels that they left, as indexes of `left`.
    by_channels: BTreeMap<Vec<usize>, Vec<UserId>>,
    /// Messages that became read.
    unread: BulkReadEvents,
}

/// Unsubscribes users from channels. With very many users, follow-up jobs emit the messages that became read.
pub fn unsubscribe_users(
    tx: &mut Tx<'_>,
    streams: &[StreamRow],
    users: &[UserId],
) -> ApiResult<UnsubscribeResult> {
    let scope = Scope::Subscriptions(users, streams);
    visibility::with_events_between(tx, scope, |tx| remove(tx, streams, users), |tx, done, _| emit(tx, done))
}

fn remove<'a>(tx: &mut Tx<'_>, streams: &'a [StreamRow], users: &[UserId]) -> ApiResult<Done<'a>> {
    let mut left: Vec<_> =
        streams.iter().map(|stream| Unsubscription { stream, users: Vec::new() }).collect();
    let receipts = streams.iter().map(|stream| moved_receipts(tx, stream.recipient_id));
    let receipts = receipts.collect::<Result<Vec<_>, _>>()?;
    let next = subscriptions::next_message_id(tx)?;
    let mut result = UnsubscribeResult::default();
    let (mut by_channels, mut unread) = (BTreeMap::<_, Vec<_>>::new(), BulkReadEvents::default());
    for &user_id in users {
        let mut channels = Vec::new();
        for (index, (Unsubscription { stream, users }, receipts)) in
            left.iter_mut().zip(&receipts).enumerate()
        {
            if !rows::channel::is_subscribed(tx, user_id, stream.stream_id)? {
                result.not_removed.push(stream.name.clone());
                continue;
            }
            subscriptions::set_active(tx, user_id, stream.stream_id, false)?;
            subscriptions::close_span(tx, user_id, stream.stream_id, next)?;
            // Unread messages there no longer count, not even if the user subscribes again.
            let gaps = read_state::mark_channel_read(tx, user_id, stream, receipts)?;
            unread.add(user_id, stream.recipient_id, &gaps);
            result.removed.push(stream.name.clone());
            users.push(user_id);
            channels.push(index);
        }
        if !channels.is_empty() {
            by_channels.entry(channels).or_default().push(user_id);
        }
    }
    for Unsubscription { stream, users } in &left {
        members::update(tx, stream.stream_id, &[], users);
    }
    Ok(Done { result, left, by_channels, unread })
}

fn emit(tx: &mut Tx<'_>, done: Done<'_>) -> ApiResult<UnsubscribeResult> {
    for (indexes, users) in done.by_channels {
        let streams: Vec<&StreamRow> = indexes.iter().map(|index| done.left[*index].stream).collect();
        emit_removed(tx, &streams, &users);
    }
    done.unread.emit(tx)?;
    let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
    for Unsubscription { stream, users } in done.left.iter().filter(|left| !left.users.is_empty()) {
        let seen_by = viewers.users_who_can_see(tx, stream)?;
        let users = set(users);
        // A user who left alone knows it. Of many, each has to know of the others.
        let audience = if users.len() == 1 { seen_by - &users } else { seen_by };
        let event = PeersChanged::removed(vec![stream.stream_id], &users, stream.is_archived);
        tx.emit(event, Audience::set(audience));
    }
    Ok(done.result)
}

/// Emits to users which channels they left. Archived channels have an event of their own: not every client has them.
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

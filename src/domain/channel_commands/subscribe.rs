//! Subscribing users to channels: rows, spans and events.
//!
//! A thousand users are one job: a few statements for each, and events that many share. [`parts`](super::parts) splits
//! commands on more.

use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::channels::events::PeersChanged;
use crate::domain::channels::record::{ChannelRecord, Records};
use crate::domain::groups::roles::UserFilter;
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions::events::{SubscriptionsAdded, set};
use crate::domain::subscriptions::record::SubscriptionRecord;
use crate::domain::subscriptions::{NotificationDefaults, OwnSubscription, members};
use crate::domain::visibility::{Changes, Scope};
use crate::domain::{rows, subscriptions, visibility};
use crate::error::{ApiError, ApiResult};
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{MessageId, StreamId, UserId};
use roaring::RoaringBitmap;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// New and existing subscriptions of users, by the channels' names.
#[derive(Debug, Default, Serialize)]
pub struct SubscribeResult {
    /// The names of the channels that users are newly subscribed to, by user id.
    pub subscribed: BTreeMap<UserId, Vec<String>>,
    /// The names of the channels that users were subscribed to before, by user id.
    pub already_subscribed: BTreeMap<UserId, Vec<String>>,
}

/// The colors chosen for new subscriptions.
pub type Colors = HashMap<StreamId, String>;

/// Key of the content of an event about new subscriptions: users with equal keys share one.
type EventGroupKey = (Vec<OwnSubscription>, NotificationDefaults);

/// Users by the content of their event.
type EventGroups = BTreeMap<EventGroupKey, Vec<UserId>>;

/// A channel and its new subscribers.
struct NewSubscribers<'a> {
    stream: &'a StreamRow,
    users: Vec<UserId>,
}

/// Subscribes active users to channels. Permissions have to be checked before. Colors are picked where none is given.
pub fn subscribe_users(
    tx: &mut Tx<'_>,
    streams: &[StreamRow],
    users: &[UserId],
    colors: &Colors,
) -> ApiResult<SubscribeResult> {
    visibility::with_events_between(
        tx,
        Scope::Subscriptions(users, streams),
        |tx| insert_subscriptions(tx, streams, users, colors),
        |tx, (result, joined, groups), changes| {
            emit_subscribed(tx, &joined, groups, changes)?;
            Ok(result)
        },
    )
}

/// Changes the rows. Returns the channels that have new subscribers, and the users by the events that they get.
fn insert_subscriptions<'a>(
    tx: &mut Tx<'_>,
    streams: &'a [StreamRow],
    users: &[UserId],
    colors: &Colors,
) -> ApiResult<(SubscribeResult, Vec<NewSubscribers<'a>>, EventGroups)> {
    let mut joined: Vec<_> =
        streams.iter().map(|stream| NewSubscribers { stream, users: Vec::new() }).collect();
    let next = subscriptions::next_message_id(tx)?;
    let mut result = SubscribeResult::default();
    let mut groups = EventGroups::new();
    for &user_id in users {
        let own = subscribe_user(tx, user_id, &mut joined, next, colors, &mut result)?;
        if !own.is_empty() {
            groups.entry((own, NotificationDefaults::load(tx, user_id)?)).or_default().push(user_id);
        }
    }
    joined.retain(|joined| !joined.users.is_empty());
    for NewSubscribers { stream, users } in &joined {
        members::update(tx, stream.stream_id, users, &[]);
    }
    Ok((result, joined, groups))
}

/// Subscribes one user and returns the new subscriptions.
fn subscribe_user(
    tx: &Tx<'_>,
    user_id: UserId,
    joined: &mut [NewSubscribers<'_>],
    next: MessageId,
    colors: &Colors,
    result: &mut SubscribeResult,
) -> ApiResult<Vec<OwnSubscription>> {
    let mut own = Vec::new();
    let mut used_colors = None;
    for NewSubscribers { stream, users } in joined {
        let before = subscriptions::one(tx, user_id, stream.stream_id)?;
        if matches!(before, Some((_, true))) {
            result.already_subscribed.entry(user_id).or_default().push(stream.name.clone());
            continue;
        }
        if before.is_some() {
            subscriptions::set_active(tx, user_id, stream.stream_id, true)?;
        } else {
            let used: &mut Vec<String> = match &mut used_colors {
                Some(used) => used,
                None => used_colors.insert(subscriptions::used_colors(tx, user_id)?),
            };
            let chosen = colors.get(&stream.stream_id).map(String::as_str);
            let color = chosen.unwrap_or_else(|| subscriptions::rules::pick_color(used));
            subscriptions::insert(tx, user_id, stream.stream_id, color)?;
            used.push(color.to_owned());
        }
        subscriptions::open_span(tx, user_id, stream.stream_id, next)?;
        let (after, _) = subscriptions::one(tx, user_id, stream.stream_id)?
            .ok_or_else(|| ApiError::internal("a subscription that was just made has no row"))?;
        users.push(user_id);
        own.push(after);
        result.subscribed.entry(user_id).or_default().push(stream.name.clone());
    }
    Ok(own)
}

/// Emits the subscriptions to the users, and the new subscribers to the others who can see the channels. Neighbouring
/// channels with the same new subscribers and viewers share an event.
fn emit_subscribed(
    tx: &mut Tx<'_>,
    joined: &[NewSubscribers<'_>],
    groups: EventGroups,
    changes: &Changes,
) -> ApiResult<()> {
    if joined.is_empty() {
        return Ok(());
    }
    let mut records: HashMap<StreamId, (Arc<ChannelRecord>, Arc<[UserId]>)> = HashMap::new();
    let mut peers = Vec::with_capacity(joined.len());
    let stream_ids: Vec<StreamId> = joined.iter().map(|joined| joined.stream.stream_id).collect();
    let channel_records = Records::of_few(tx, tx.now(), &stream_ids)?;
    let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
    for NewSubscribers { stream, users } in joined {
        let subscribers = rows::channel::subscribers(tx, stream.stream_id)?;
        let seen_after = viewers.without_subscription(tx, stream)? | &subscribers;
        peers.push((*stream, users, seen_after - changes.gained_channel(stream.stream_id)));
        let record = Arc::new(channel_records.of(stream)?);
        records.insert(stream.stream_id, (record, subscribers.into_iter().map(UserId::from).collect()));
    }
    for ((own, defaults), users) in groups {
        let subscriptions = own.iter().filter_map(|own| {
            let (record, subscribers) = records.get(&own.stream_id)?;
            let subscription = SubscriptionRecord::new(Arc::clone(record), Some(own));
            Some(subscription.with_subscribers(Arc::clone(subscribers)))
        });
        tx.emit(SubscriptionsAdded::new(subscriptions.collect(), defaults), Audience::users(users));
    }
    let is_same = |one: &(&StreamRow, &Vec<UserId>, RoaringBitmap), other: &(&StreamRow, &Vec<UserId>, _)| {
        one.1 == other.1 && one.2 == other.2 && one.0.is_archived == other.0.is_archived
    };
    for group in peers.chunk_by(is_same) {
        let Some((stream, users, seen_before)) = group.first() else { continue };
        let users = set(users);
        let stream_ids = group.iter().map(|(stream, ..)| stream.stream_id).collect();
        let event = PeersChanged::added(stream_ids, &users, stream.is_archived);
        tx.emit(event, Audience::set(seen_before - &users));
    }
    Ok(())
}

/// Emits the subscriptions to a channel that is no longer archived. Only clients without archived channels receive them:
/// to these the channel is new.
pub fn emit_unarchived(tx: &mut Tx<'_>, stream: &StreamRow, record: &ChannelRecord) -> ApiResult<()> {
    let subscribers = rows::channel::subscribers(tx, stream.stream_id)?;
    let defaults = NotificationDefaults::load_of_channel(tx, stream.stream_id)?;
    let mut groups: BTreeMap<(OwnSubscription, NotificationDefaults), Vec<UserId>> = BTreeMap::new();
    for (user_id, own) in subscriptions::list_of_channel(tx, stream.stream_id)? {
        if user_id.is_in(&subscribers) {
            let defaults = defaults.get(&user_id).copied().unwrap_or_default();
            groups.entry((own, defaults)).or_default().push(user_id);
        }
    }
    let subscribers: Arc<[UserId]> = subscribers.into_iter().map(UserId::from).collect();
    let record = Arc::new(record.clone());
    for ((own, defaults), users) in groups {
        let subscription = SubscriptionRecord::new(Arc::clone(&record), Some(&own))
            .with_subscribers(Arc::clone(&subscribers));
        tx.emit(SubscriptionsAdded::unarchived(vec![subscription], defaults), Audience::users(users));
    }
    Ok(())
}

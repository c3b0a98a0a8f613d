//! Subscribing users to channels, whoever asks for it: rows, spans and events.
//!
//! Ten thousand users are one job: a few statements for each, and events that many share.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channel_viewers::People;
use crate::domain::access::{channel_rows, channel_viewers};
use crate::domain::channels::events::{PeersChanged, StreamCreated};
use crate::domain::channels::record::{ChannelRecord, Records};
use crate::domain::subscriptions::events::{SubscriptionsAdded, set};
use crate::domain::subscriptions::record::SubscriptionRecord;
use crate::domain::subscriptions::sql::{Defaults, OwnSubscription};
use crate::domain::subscriptions::{members, rules, sql as subscriptions_sql};
use crate::domain::visibility::users::Before;
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{MessageId, StreamId, UserId};
use roaring::RoaringBitmap;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Who was subscribed to what, by the channels' names.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// Now.
    pub subscribed: BTreeMap<UserId, Vec<String>>,
    /// Before.
    pub already_subscribed: BTreeMap<UserId, Vec<String>>,
}

/// The colours that were asked for.
pub type Colors = HashMap<StreamId, String>;

/// What users get alike: the subscriptions that they chose alike, and what their nulls mean.
type Alike = (Vec<OwnSubscription>, Defaults);

/// A channel on its way to new subscribers.
struct Joined<'a> {
    stream: &'a StreamRow,
    /// Who could see it before.
    seen_by: RoaringBitmap,
    /// Who came.
    came: Vec<UserId>,
    /// Its record and its subscribers, with those who came.
    now: Option<(Arc<ChannelRecord>, Arc<[UserId]>)>,
}

/// Subscribes active users to channels that they may be subscribed to. Colours are picked where none is given.
pub fn subscribe(
    tx: &mut Tx<'_>,
    streams: &[StreamRow],
    users: &[UserId],
    colors: &Colors,
) -> ApiResult<Outcome> {
    let people = People::load(tx)?;
    let mut joined = Vec::with_capacity(streams.len());
    for stream in streams {
        let seen_by = channel_viewers::to(tx, &people, tx.now(), stream)?;
        joined.push(Joined { stream, seen_by, came: Vec::new(), now: None });
    }
    let before = Before::of_subscribers(tx, users, streams.iter().map(|stream| stream.stream_id))?;
    let next = subscriptions_sql::next_message_id(tx)?;
    let mut outcome = Outcome::default();
    let mut groups: BTreeMap<Alike, Vec<UserId>> = BTreeMap::new();
    for &user_id in users {
        let own = subscribe_user(tx, user_id, &mut joined, next, colors, &mut outcome)?;
        if !own.is_empty() {
            groups.entry((own, Defaults::of(tx, user_id)?)).or_default().push(user_id);
        }
    }
    joined.retain(|joined| !joined.came.is_empty());
    before.changes(tx)?.emit_gained(tx)?;
    emit_created(tx, &mut joined)?;
    for ((own, defaults), users) in groups {
        let records = own.iter().filter_map(|own| record_of(&joined, own)).collect();
        tx.emit(SubscriptionsAdded::new(records, defaults), Audience::users(users));
    }
    emit_peers(tx, &joined);
    Ok(outcome)
}

/// Subscribes one user, and answers the new subscriptions.
fn subscribe_user(
    tx: &Tx<'_>,
    user_id: UserId,
    joined: &mut [Joined<'_>],
    next: MessageId,
    colors: &Colors,
    outcome: &mut Outcome,
) -> ApiResult<Vec<OwnSubscription>> {
    let mut own = Vec::new();
    let mut used_colors = None;
    for Joined { stream, came, .. } in joined {
        let before = subscriptions_sql::one(tx, user_id, stream.stream_id)?;
        if matches!(before, Some((_, true))) {
            outcome.already_subscribed.entry(user_id).or_default().push(stream.name.clone());
            continue;
        }
        if before.is_some() {
            subscriptions_sql::set_active(tx, user_id, stream.stream_id, true)?;
        } else {
            let used: &mut Vec<String> = match &mut used_colors {
                Some(used) => used,
                None => used_colors.insert(subscriptions_sql::used_colors(tx, user_id)?),
            };
            let chosen = colors.get(&stream.stream_id).map(String::as_str);
            let color = chosen.unwrap_or_else(|| rules::pick_color(used));
            subscriptions_sql::insert(tx, user_id, stream.stream_id, color)?;
            used.push(color.to_owned());
        }
        subscriptions_sql::open_span(tx, user_id, stream.stream_id, next)?;
        let (after, _) = subscriptions_sql::one(tx, user_id, stream.stream_id)?
            .ok_or_else(|| ApiError::internal("a subscription that was just made has no row"))?;
        came.push(user_id);
        own.push(after);
        outcome.subscribed.entry(user_id).or_default().push(stream.name.clone());
    }
    Ok(own)
}

/// Prepares what is told of the channels, and tells those of them to whom a channel is new.
fn emit_created(tx: &mut Tx<'_>, joined: &mut [Joined<'_>]) -> ApiResult<()> {
    if joined.is_empty() {
        return Ok(());
    }
    let records = Records::new(tx, tx.now())?;
    for joined in &mut *joined {
        let subscribers =
            channel_rows::subscribers(tx, joined.stream.stream_id)?.into_iter().map(UserId::from);
        joined.now = Some((Arc::new(records.of(joined.stream)?), subscribers.collect()));
    }
    for joined in joined {
        members::changed(tx, joined.stream.stream_id, &joined.came, &[]);
        if let Some((record, _)) = &joined.now {
            let gained = set(&joined.came) - &joined.seen_by;
            tx.emit(StreamCreated::new(Arc::clone(record)), Audience::set(gained));
        }
    }
    Ok(())
}

fn record_of(joined: &[Joined<'_>], own: &OwnSubscription) -> Option<SubscriptionRecord> {
    let joined = joined.iter().find(|joined| joined.stream.stream_id == own.stream_id)?;
    let (record, subscribers) = joined.now.as_ref()?;
    Some(SubscriptionRecord::new(Arc::clone(record), Some(own)).with_subscribers(Arc::clone(subscribers)))
}

/// Tells the others. Channels that the same people came to and the same people see share an event.
fn emit_peers(tx: &mut Tx<'_>, joined: &[Joined<'_>]) {
    let alike = |one: &Joined<'_>, other: &Joined<'_>| {
        one.came == other.came
            && one.seen_by == other.seen_by
            && one.stream.is_archived == other.stream.is_archived
    };
    for group in joined.chunk_by(alike) {
        let Some(first) = group.first() else { continue };
        let came = set(&first.came);
        let stream_ids = group.iter().map(|joined| joined.stream.stream_id).collect();
        let event = PeersChanged::added(stream_ids, &came, first.stream.is_archived);
        tx.emit(event, Audience::set(&first.seen_by - &came));
    }
}

/// Tells the subscribers of a channel that is back from the archive that they are subscribed. Only clients without
/// archived channels hear it: to them the channel is new.
pub fn emit_unarchived(tx: &mut Tx<'_>, stream: &StreamRow, record: &ChannelRecord) -> ApiResult<()> {
    let subscribers: Arc<[UserId]> =
        channel_rows::subscribers(tx, stream.stream_id)?.into_iter().map(UserId::from).collect();
    let mut groups: BTreeMap<(OwnSubscription, Defaults), Vec<UserId>> = BTreeMap::new();
    for &user_id in &*subscribers {
        if let Some((own, true)) = subscriptions_sql::one(tx, user_id, stream.stream_id)? {
            groups.entry((own, Defaults::of(tx, user_id)?)).or_default().push(user_id);
        }
    }
    let record = Arc::new(record.clone());
    for ((own, defaults), users) in groups {
        let subscription = SubscriptionRecord::new(Arc::clone(&record), Some(&own))
            .with_subscribers(Arc::clone(&subscribers));
        tx.emit(SubscriptionsAdded::unarchived(vec![subscription], defaults), Audience::users(users));
    }
    Ok(())
}

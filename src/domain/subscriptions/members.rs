//! Caches on the writer: the audiences of channel messages, one shared set of subscribers for each channel, and the number of
//! all subscriptions.

use crate::domain::rows;
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use std::collections::HashMap;

/// The most channels in the cache. A set of 10,000 users takes some kilobytes.
const CAPACITY: usize = 512;

/// The cache. It is correct because every job that changes the subscribers of a channel calls [`update`] or
/// [`invalidate_all`], and because a failed job drops it (see `Tx::cache_mut`).
#[derive(Default)]
struct AudienceCache {
    audiences: HashMap<StreamId, Audience>,
}

/// The number of active subscriptions of the organization, correct for the same reasons. Counting them takes longer than a
/// job may.
#[derive(Default)]
struct SubscriptionCount(Option<usize>);

/// The number of active subscriptions of the organization, also of deactivated users.
pub fn count(tx: &mut Tx<'_>) -> ApiResult<usize> {
    if let Some(SubscriptionCount(Some(count))) = tx.cache::<SubscriptionCount>() {
        return Ok(*count);
    }
    let statement = "SELECT count(*) FROM subscription WHERE active";
    let count: i64 = tx.prepare_cached(statement)?.query_row([], |row| row.get(0))?;
    let count = usize::try_from(count).unwrap_or(0);
    tx.cache_mut::<SubscriptionCount>().1.0 = Some(count);
    Ok(count)
}

/// Forgets a channel that is being deleted with its subscriptions.
pub fn forget_channel(tx: &mut Tx<'_>, stream_id: StreamId) {
    tx.cache_mut::<AudienceCache>().1.audiences.remove(&stream_id);
    tx.cache_mut::<SubscriptionCount>().1.0 = None;
}

/// The active subscribers of a channel. Events of one channel share the set, so that the log stores it once.
pub fn audience(tx: &mut Tx<'_>, stream_id: StreamId) -> ApiResult<Audience> {
    if let Some(cached) = tx.cache::<AudienceCache>().and_then(|cache| cache.audiences.get(&stream_id)) {
        return Ok(cached.clone());
    }
    let audience = Audience::set(rows::channel::subscribers(tx, stream_id)?);
    let (_, cache) = tx.cache_mut::<AudienceCache>();
    if cache.audiences.len() >= CAPACITY {
        cache.audiences.clear();
    }
    cache.audiences.insert(stream_id, audience.clone());
    Ok(audience)
}

/// Updates the caches after users were subscribed to a channel or unsubscribed from it.
pub fn update(tx: &mut Tx<'_>, stream_id: StreamId, added: &[UserId], removed: &[UserId]) {
    if let Some(count) = &mut tx.cache_mut::<SubscriptionCount>().1.0 {
        *count = (*count + added.len()).saturating_sub(removed.len());
    }
    let (_, cache) = tx.cache_mut::<AudienceCache>();
    if let Some(audience) = cache.audiences.get_mut(&stream_id) {
        let mut users = audience.bitmap().clone();
        users.extend(added.iter().filter_map(|user_id| user_id.bit()));
        for bit in removed.iter().filter_map(|user_id| user_id.bit()) {
            users.remove(bit);
        }
        *audience = Audience::set(users);
    }
}

/// Clears the cache after a user was deactivated or reactivated, which affects many channels.
pub fn invalidate_all(tx: &mut Tx<'_>) {
    let (_, cache) = tx.cache_mut::<AudienceCache>();
    cache.audiences.clear();
}

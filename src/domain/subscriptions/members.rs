//! A cache on the writer of the audiences of channel messages: one shared set of subscribers for each channel.

use crate::domain::access::channel_rows;
use crate::events::Audience;
use crate::http::ApiResult;
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

/// The active subscribers of a channel. Events of one channel share the set, so that the log stores it once.
pub fn audience(tx: &mut Tx<'_>, stream_id: StreamId) -> ApiResult<Audience> {
    if let Some(cached) = tx.cache::<AudienceCache>().and_then(|cache| cache.audiences.get(&stream_id)) {
        return Ok(cached.clone());
    }
    let audience = Audience::set(channel_rows::subscribers(tx, stream_id)?);
    let (_, cache) = tx.cache_mut::<AudienceCache>();
    if cache.audiences.len() >= CAPACITY {
        cache.audiences.clear();
    }
    cache.audiences.insert(stream_id, audience.clone());
    Ok(audience)
}

/// Updates a cached audience after users were subscribed to a channel or unsubscribed from it.
pub fn update(tx: &mut Tx<'_>, stream_id: StreamId, added: &[UserId], removed: &[UserId]) {
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

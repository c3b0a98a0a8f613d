//! Who gets the messages of a channel: one shared set for each channel, until somebody comes or goes.

use crate::domain::access::channel_rows;
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use std::collections::HashMap;

/// Channels whose audience is remembered. A set of 10,000 users takes some kilobytes.
const REMEMBERED: usize = 512;

/// The writer's memory of audiences. It is true because every job that changes members calls [`changed`] or
/// [`forget_all`], and because a failed job drops it (see [`crate::store::Tx::local`]).
#[derive(Default)]
struct Members {
    audiences: HashMap<StreamId, Audience>,
}

/// The active subscribers of a channel. Events of one channel share the set, so that the log stores it once.
pub fn audience(tx: &mut Tx<'_>, stream_id: StreamId) -> ApiResult<Audience> {
    if let Some(known) = tx.cache::<Members>().and_then(|members| members.audiences.get(&stream_id)) {
        return Ok(known.clone());
    }
    let audience = Audience::set(channel_rows::subscribers(tx, stream_id)?);
    let (_, members) = tx.cache_mut::<Members>();
    if members.audiences.len() >= REMEMBERED {
        members.audiences.clear();
    }
    members.audiences.insert(stream_id, audience.clone());
    Ok(audience)
}

/// Says that users came to a channel or left it.
pub fn changed(tx: &mut Tx<'_>, stream_id: StreamId, came: &[UserId], left: &[UserId]) {
    let (_, members) = tx.cache_mut::<Members>();
    if let Some(audience) = members.audiences.get_mut(&stream_id) {
        let mut users = audience.bitmap().clone();
        users.extend(came.iter().filter_map(|user_id| user_id.bit()));
        for bit in left.iter().filter_map(|user_id| user_id.bit()) {
            users.remove(bit);
        }
        *audience = Audience::set(users);
    }
}

/// Says that the members of many channels changed: a user was deactivated or is back.
pub fn forget_all(tx: &mut Tx<'_>) {
    let (_, members) = tx.cache_mut::<Members>();
    members.audiences.clear();
}

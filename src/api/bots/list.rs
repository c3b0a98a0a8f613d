//! `GET /bots`: the caller's own bots.

use crate::domain::bots::record::OwnBotRecord;
use crate::domain::bots::{rules, sql};
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};

/// `GET /bots`: those in use, the oldest first.
pub fn get_bots(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    rules::require_person(read.caller)?;
    let mut bots = sql::all(read, Some(read.caller.user_id))?;
    bots.retain(|(user, _)| user.is_active);
    let bots: Vec<_> = bots.into_iter().map(|(user, bot)| OwnBotRecord::new(&user, bot)).collect();
    Reply::field("bots", &bots)
}

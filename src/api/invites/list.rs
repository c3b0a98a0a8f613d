//! `GET /invites`: the invitations that the caller can manage.

use crate::api::invites::rules;
use crate::domain::invites::record::InviteRecord;
use crate::domain::invites::sql;
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};

/// `GET /invites`: those that can still be used, the oldest first. Administrators manage everybody's.
pub fn get_invites(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    rules::require_person(read.caller)?;
    let only_of = (!read.caller.role.is_administrator()).then_some(read.caller.user_id);
    let invites = sql::open(read, only_of, read.app.clock.seconds())?;
    let invites: Vec<_> = invites.iter().map(|invite| InviteRecord::new(invite, &read.info.origin)).collect();
    Reply::field("invites", &invites)
}

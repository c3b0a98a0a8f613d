//! `DELETE /invites/multiuse/{invite_id}` and `DELETE /invites/{invite_id}`: takes an invitation back.

use crate::api::invites::rules;
use crate::domain::invites::{events, sql};
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of both.
#[derive(Deserialize)]
pub struct RevokeParams {
    /// Which one. Each kind has ids of its own.
    invite_id: i64,
}

/// `DELETE /invites/multiuse/{invite_id}`.
pub fn revoke_invite_link(tx: &mut Tx<'_>, caller: &User, params: RevokeParams) -> ApiResult<Reply> {
    let invite = rules::find(tx, caller, params.invite_id, true)?;
    if invite.is_revoked {
        return Err(ApiError::bad_request("Invitation has already been revoked"));
    }
    sql::set_revoked(tx, invite.invite_id)?;
    events::changed(tx, invite.invited_by_user_id)?;
    Ok(Reply::ok())
}

/// `DELETE /invites/{invite_id}`.
pub fn revoke_email_invite(tx: &mut Tx<'_>, caller: &User, params: RevokeParams) -> ApiResult<Reply> {
    let invite = rules::find(tx, caller, params.invite_id, false)?;
    sql::delete(tx, invite.invite_id)?;
    events::changed(tx, invite.invited_by_user_id)?;
    Ok(Reply::ok())
}

//! `/invites`: invitation links. [`join`](crate::api::join) has the page that a link opens.
//!
//! An invitation by email is a link for one person. It comes by mail; where this server sends none, the notification bot sends it
//! to the inviter if they are an administrator, and otherwise to the administrators.

mod new;
mod send;

use crate::api::invites::new::InviteParams;
use crate::api::resource::Resource;
use crate::domain::audit::{Action, Entry};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::invites;
use crate::domain::invites::record::{InviteRecord, InviteRow};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Params2, Read, Reply, Route, USER, User, ok_unless_refused};
use crate::store::Tx;
use crate::types::StreamId;
use hyper::Method;
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource = Resource { name: "invites", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/invites", USER, get_invites),
        Route::call(Method::POST, "/invites", USER, send::send_invites),
        Route::call(Method::POST, "/invites/multiuse", USER, create_invite_link),
        Route::write(Method::DELETE, "/invites/multiuse/{invite_id}", USER, revoke_invite_link),
        Route::write(Method::DELETE, "/invites/{invite_id}", USER, revoke_email_invite),
        Route::call(Method::POST, "/invites/{invite_id}/resend", USER, send::resend_email_invite),
    ]
}

/// The reply to `GET /invites`.
#[derive(Serialize)]
struct Invites {
    /// The invitations, the oldest first.
    invites: Vec<InviteRecord>,
}

/// `GET /invites`: lists the usable invitations that the caller can manage, the oldest first: their own, and for
/// administrators all. Only owners receive links that invite owners.
fn get_invites(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Invites>> {
    read.caller.check_is_member()?;
    let created_by = (!read.caller.role.is_administrator()).then_some(read.caller.user_id);
    let invites = invites::list_usable(read, created_by, read.app.clock.seconds())?;
    let record = |invite: &InviteRow| {
        let may_give_role =
            ok_unless_refused(invites::rules::check_may_give(read.caller, invite.invited_as))?.is_some();
        Ok(InviteRecord::new(invite, &read.info.origin, may_give_role))
    };
    let invites = invites.iter().map(record).collect::<ApiResult<_>>()?;
    Reply::data(&Invites { invites })
}

/// Parameters of `POST /invites/multiuse` beyond `InviteParams`.
#[derive(Deserialize)]
pub struct LinkParams {
    /// The ids of the channels to which the new users are subscribed, at most 500; by default none. They must be
    /// default channels or ones to which the caller may subscribe others.
    #[serde(default)]
    stream_ids: Vec<StreamId>,
}

/// The reply to `POST /invites/multiuse`.
#[derive(Serialize)]
struct InviteLink {
    /// The URL of the new invitation.
    invite_link: String,
}

/// `POST /invites/multiuse`: creates an invitation link that several people can use (spec, "create a reusable
/// invitation link").
async fn create_invite_link(
    call: Call<User>,
    Params2(params, link): Params2<InviteParams, LinkParams>,
) -> ApiResult<Reply<InviteLink>> {
    let origin = call.info.origin.clone();
    call.write(move |tx, caller| {
        let permission = RealmGroup::CreateMultiuseInvite;
        invites::rules::check_can_invite(tx.ctx(caller), permission, params.invite_as)?;
        let invite = new::new_invite(tx.ctx(caller), &params, &link.stream_ids, 1)?;
        invites::insert(tx, &invite)?;
        invites::events::changed(tx, Some(caller.user_id))?;
        Reply::data(&InviteLink { invite_link: invite.link(&origin).unwrap_or_default() })
    })
    .await
}

/// Parameters of `DELETE /invites/multiuse/{invite_id}` and `DELETE /invites/{invite_id}`.
#[derive(Deserialize)]
pub struct RevokeParams {
    /// The id of the invitation. Reusable links and email invitations have different paths.
    invite_id: i64,
}

/// `DELETE /invites/multiuse/{invite_id}`: revokes a reusable invitation link.
fn revoke_invite_link(tx: &mut Tx<'_>, caller: &User, params: RevokeParams) -> ApiResult<Reply> {
    let invite = new::find_link(tx, caller, params.invite_id)?;
    if invite.is_revoked {
        return Err(ApiError::bad_request("Invitation has already been revoked"));
    }
    invites::set_revoked(tx, invite.invite_id)?;
    tx.audit(Entry::new(Action::InvitationRevoked, &invite))?;
    invites::events::changed(tx, invite.invited_by_user_id)?;
    Ok(Reply::ok())
}

/// `DELETE /invites/{invite_id}`: revokes an email invitation.
fn revoke_email_invite(tx: &mut Tx<'_>, caller: &User, params: RevokeParams) -> ApiResult<Reply> {
    let invite = new::find_email_invite(tx, caller, params.invite_id)?;
    invites::delete(tx, invite.invite_id)?;
    tx.audit(Entry::new(Action::InvitationRevoked, &invite))?;
    invites::events::changed(tx, invite.invited_by_user_id)?;
    Ok(Reply::ok())
}

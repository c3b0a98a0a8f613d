//! `POST /invites/multiuse`: makes a link that many may use.

use crate::api::invites::rules;
use crate::api::invites::rules::InviteParams;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::invites::{events, sql};
use crate::http::{ApiResult, Call, Params2, Reply, User};
use crate::types::StreamId;
use serde::Deserialize;

/// What `POST /invites/multiuse` has beside [`InviteParams`].
#[derive(Deserialize)]
pub struct LinkParams {
    /// Channels to subscribe people to.
    #[serde(default)]
    stream_ids: Vec<StreamId>,
}

/// `POST /invites/multiuse` (spec, "create a reusable invitation link").
pub async fn create_invite_link(
    call: Call<User>,
    Params2(params, link): Params2<InviteParams, LinkParams>,
) -> ApiResult<Reply> {
    let origin = call.info.origin.clone();
    call.write(move |tx, caller| {
        let (permission, now) = (RealmGroup::CreateMultiuseInvite, tx.now());
        rules::require_inviter(tx, caller, now, permission, params.invite_as)?;
        let invite = rules::invitation(tx, caller, now, &params, &link.stream_ids)?;
        sql::insert(tx, &invite)?;
        events::changed(tx, Some(caller.user_id))?;
        Reply::field("invite_link", &invite.link(&origin))
    })
    .await
}

//! `invites_changed`: the list of invitations has changed, and clients fetch it again.

use crate::domain::realm::user_ids;
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};

/// `invites_changed`: invitations that the receiver can see were created, used or revoked. Clients fetch the list
/// again.
#[derive(Serialize, Deserialize)]
pub struct InvitesChanged {}

uniform_event!(InvitesChanged: "invites_changed", version 1);

/// Emits `invites_changed` to all who can manage the invitation: its inviter and administrators.
pub fn changed(tx: &mut Tx<'_>, inviter: Option<UserId>) -> ApiResult<()> {
    let mut user_ids = user_ids::administrator_ids(tx)?;
    user_ids.extend(inviter.and_then(UserId::bit));
    tx.emit(InvitesChanged {}, Audience::set(user_ids));
    Ok(())
}

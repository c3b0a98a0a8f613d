//! `invites_changed`: the list of invitations is another one now. Clients ask for it again.

use crate::domain::realm::user_ids as users;
use crate::events::{Audience, Event};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use serde::Serialize;

/// `invites_changed`.
#[derive(Serialize)]
struct InvitesChanged {
    r#type: &'static str,
}

impl Event for InvitesChanged {
    const TYPE: &'static str = "invites_changed";
}

/// Tells those who can manage an invitation: its inviter, and administrators.
pub fn changed(tx: &mut Tx<'_>, inviter: Option<UserId>) -> ApiResult<()> {
    let mut user_ids = users::administrator_ids(tx)?;
    user_ids.extend(inviter.and_then(UserId::bit));
    tx.emit(&InvitesChanged { r#type: InvitesChanged::TYPE }, Audience::set(user_ids));
    Ok(())
}

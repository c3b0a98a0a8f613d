//! The link of the first owner.

use crate::domain::invites::record::InviteRow;
use crate::domain::invites::sql;
use crate::domain::users;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Role, random_key};
use rusqlite::Connection;

/// Returns true if [`create`] has work to do: there is no active owner, or an unused link.
pub fn is_due(connection: &Connection) -> ApiResult<bool> {
    Ok(!users::can_anyone_log_in(connection)? || sql::has_unused_owner_link(connection)?)
}

/// Creates the link of the first owner and returns its path; `None` if a user can log in. The previous link stops
/// working, so that an old printed one gives no access. A used one is kept, so that opening it again can be refused
/// with the reason.
pub fn create(tx: &Tx<'_>) -> ApiResult<Option<String>> {
    sql::delete_unused_owner_links(tx)?;
    if users::can_anyone_log_in(tx)? {
        return Ok(None);
    }
    let invite = InviteRow {
        invite_id: 0,
        key: Some(random_key()),
        email: None,
        invited_by_user_id: None,
        invited: tx.now(),
        expiry_date: None,
        invited_as: Role::Owner,
        stream_ids: Vec::new(),
        group_ids: Vec::new(),
        include_realm_default_subscriptions: true,
        notify_referrer_on_join: false,
        welcome_message_custom_text: None,
        is_revoked: false,
        resent: None,
        parent_id: None,
        is_mailed: false,
    };
    sql::insert(tx, &invite)?;
    Ok(invite.link(""))
}

//! The link of the first owner.

use crate::domain::invites::record::InviteRow;
use crate::domain::invites::sql;
use crate::domain::users;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::Role;
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
    let invite = InviteRow::new(Role::Owner, tx.now());
    sql::insert(tx, &invite)?;
    Ok(invite.link(""))
}

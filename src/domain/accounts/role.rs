//! Another role for a user: what it lets them see, and who hears of it.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users as access;
use crate::domain::channels::events::tell_default_streams;
use crate::domain::users::events::UserUpdated;
use crate::domain::users::{emails, sql};
use crate::domain::visibility::users;
use crate::domain::visibility::users::Before;
use crate::domain::{bots, visibility};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::Role;
use serde_json::json;

/// Gives a user a role that they do not have yet. Whether the caller may has been asked.
///
/// Everybody who can access the user hears of the role, and of the groups that follow from it. The user hears of the
/// channels, people and real emails that they can see now or can no longer.
pub fn change(tx: &mut Tx<'_>, user: &UserRow, role: Role) -> ApiResult<()> {
    let before = Before::of_user(tx, user)?;
    let after = UserRow { role, ..user.clone() };
    let changes = visibility::change(tx, |tx| {
        sql::set_role(tx, user.user_id, role)?;
        let audience = access::audience(tx, &after)?;
        tx.emit(UserUpdated::new(json!({"user_id": user.user_id, "role": role})), audience);
        bots::change::role_changed(tx, user, role)?;
        if !user.is_active {
            return Ok(users::Changes::default());
        }
        let changes = before.changes(tx)?;
        changes.emit_gained(tx)?;
        emails::emit_role_changed(tx, user, &after)?;
        if (user.role == Role::Guest) != (role == Role::Guest) {
            tell_default_streams(tx, user.user_id, role)?;
        }
        Ok(changes)
    })?;
    changes.emit_lost(tx);
    Ok(())
}

//! Changing the role of a user.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users as access;
use crate::domain::channels::events::emit_default_streams_to;
use crate::domain::notices::ownership;
use crate::domain::notices::ownership::Actor;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::users::{emails, sql};
use crate::domain::visibility::Scope;
use crate::domain::{bots, invites, visibility};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::Role;

/// Gives a user a role that they do not have yet. The caller's permission has to be checked before.
///
/// Everybody who can access the user receives the role. The user receives the real emails, channels and users that the
/// role shows or hides. Invitations that the user may not give any more are revoked, and bots of a new guest become guests:
/// their owner would see by them what guests do not. A person is told who changed their role.
pub fn change(tx: &mut Tx<'_>, user: &UserRow, role: Role, by: Actor) -> ApiResult<()> {
    tracing::info!(user_id = user.user_id.0, ?by, from = ?user.role, to = ?role, "a role was changed");
    let after = UserRow { role, ..user.clone() };
    visibility::with_events(tx, Scope::Role(user), |tx| {
        sql::set_role(tx, user.user_id, role)?;
        let audience = access::audience(tx, &after)?;
        tx.emit(UserUpdated::new(user.user_id, UserChange::Role { role }), audience);
        bots::change::role_changed(tx, user)?;
        invites::rules::revoke_unentitled(tx, user.user_id)?;
        if !user.is_active {
            return Ok(());
        }
        emails::emit_visible_to_role(tx, user, &after)?;
        if (user.role == Role::Guest) != (role == Role::Guest) {
            emit_default_streams_to(tx, user.user_id, role)?;
        }
        Ok(())
    })?;
    if role == Role::Guest {
        for bot in sql::active_bots_of(tx, user.user_id)?.iter().filter(|bot| bot.role != Role::Guest) {
            change(tx, bot, Role::Guest, by)?;
        }
    }
    ownership::role_changed(tx, user, role, by)
}

//! Changing the role of a user.

use crate::domain::accounts::password;
use crate::domain::audit::{Action, Entry};
use crate::domain::channels::events::emit_default_streams_to;
use crate::domain::notices::ownership::Actor;
use crate::domain::rows::user::UserRow;
use crate::domain::users::emails;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::visibility::Scope;
use crate::domain::{access, bots, invites, notices, rows, users, visibility};
use crate::error::ApiResult;
use crate::store::{FollowUp, Tx};
use crate::types::{Role, UserId};
use serde::{Deserialize, Serialize};

/// Gives a user a role that they do not have yet. The caller's permission has to be checked before.
///
/// Changes a role. All users who can access the user receive the event. The user receives the real emails, channels and
/// users that the role shows or hides. Invitations that exceed the new role are revoked, links that set passwords end, for
/// the user and by the user, and bots of a new guest become guests, whose owner could otherwise see more through them. The notification bot reports the change to the user.
pub fn change(tx: &mut Tx<'_>, user: &UserRow, role: Role, by: Actor) -> ApiResult<()> {
    tx.audit(Entry::new(Action::RoleChanged, user.user_id).before(user.role.name()).after(role.name()))?;
    let after = UserRow { role, ..user.clone() };
    visibility::with_events(tx, Scope::Role(user), |tx| {
        users::set_role(tx, user.user_id, role)?;
        let audience = access::users::audience(tx, &after)?;
        tx.emit(UserUpdated::new(user.user_id, UserChange::Role { role }), audience);
        bots::change::role_changed(tx, user)?;
        invites::rules::revoke_unentitled(tx, user.user_id)?;
        password::delete_resets(tx, user.user_id)?;
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
        BotsOfGuest { owner_id: user.user_id, by }.run(tx)?;
    }
    notices::ownership::role_changed(tx, user, role, by)
}

/// Bots of a new guest, which become guests too. Each takes as long as a person, so follow-up jobs change those for which there is
/// no time. Bots stay as they are if their owner is no guest any more by then.
#[derive(Serialize, Deserialize)]
pub struct BotsOfGuest {
    owner_id: UserId,
    by: Actor,
}

impl FollowUp for BotsOfGuest {
    const NAME: &'static str = "bots_of_guest";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        if rows::user::by_id(tx, self.owner_id)?.is_none_or(|owner| owner.role != Role::Guest) {
            return Ok(());
        }
        let mut budget = tx.budget(Self::NAME);
        for bot in users::active_bots_of(tx, self.owner_id)?.iter().filter(|bot| bot.role != Role::Guest) {
            if !budget.next_step() {
                return Ok(tx.then(self)?);
            }
            change(tx, bot, Role::Guest, self.by)?;
        }
        Ok(())
    }
}

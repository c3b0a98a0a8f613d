//! Rules for administering users and bots.

use crate::auth::Caller;
use crate::domain::rows::user::UserRow;
use crate::error::{ApiError, ApiResult};
use crate::types::Role;

/// Requires that the caller is an administrator, or the owner of the bot `user`. A guest, who kept the bots of another
/// role, administers none.
pub fn check_may_administer(caller: &Caller, user: &UserRow) -> ApiResult<()> {
    let is_owner = user.bot_owner_id == Some(caller.user_id) && !caller.is_guest();
    if caller.role.is_administrator() || is_owner { Ok(()) } else { Err(ApiError::insufficient_permission()) }
}

/// Checks a change of role. Only owners may grant or remove the owner role, the only owner keeps it, and a guest has to
/// become a member before becoming an administrator (spec, `PATCH /users/{user_id}`).
pub fn check_role(caller: Role, from: Role, to: Role, is_only_owner: bool) -> ApiResult<()> {
    if [from, to].contains(&Role::Owner) && caller != Role::Owner {
        return Err(ApiError::owners_only());
    }
    if !caller.is_administrator() {
        return Err(ApiError::administrators_only());
    }
    if is_only_owner {
        let msg = "The owner permission cannot be removed from the only organization owner.";
        return Err(ApiError::bad_request(msg));
    }
    if from == Role::Guest && to.is_administrator() {
        return Err(ApiError::bad_request("Guests cannot be organization administrators"));
    }
    Ok(())
}

/// Checks the deactivation of another user. Only owners may deactivate owners, and the only owner stays. `owners` is
/// the number of active owners.
pub fn check_deactivation(caller: &Caller, user: &UserRow, owners: i64) -> ApiResult<()> {
    check_may_administer(caller, user)?;
    if user.role == Role::Owner {
        caller.check_is_owner()?;
        if owners == 1 {
            return Err(ApiError::bad_request("Cannot deactivate the only organization owner"));
        }
    }
    Ok(())
}

/// Checks that a person who deactivates their own account is neither the only person nor the only owner.
pub fn check_own_deactivation(caller: &Caller, people: i64, owners: i64) -> ApiResult<()> {
    let is_last_owner = caller.role == Role::Owner && owners == 1;
    let entity = match (people, is_last_owner) {
        (1, _) => "user",
        (_, true) => "organization owner",
        _ => return Ok(()),
    };
    let msg = format!("Cannot deactivate the only {entity}.");
    let error = ApiError::new(400, "CANNOT_DEACTIVATE_LAST_USER", msg);
    Err(error.with("is_last_owner", entity != "user").with("entity", entity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Administrator, Guest, Member, Moderator, Owner};

    #[test]
    fn role_changes_follow_the_rules() {
        let owners_only = Some("Must be an organization owner");
        let administrators_only = Some("Must be an organization administrator");
        let guests = Some("Guests cannot be organization administrators");
        let only = Some("The owner permission cannot be removed from the only organization owner.");
        let cases = [
            (Owner, Member, Owner, false, None),
            (Owner, Owner, Member, false, None),
            (Owner, Owner, Member, true, only),
            (Administrator, Owner, Member, true, owners_only),
            (Administrator, Member, Owner, false, owners_only),
            (Administrator, Owner, Administrator, false, owners_only),
            (Administrator, Member, Administrator, false, None),
            (Administrator, Administrator, Guest, false, None),
            (Administrator, Guest, Member, false, None),
            (Administrator, Guest, Moderator, false, None),
            (Administrator, Guest, Administrator, false, guests),
            (Owner, Guest, Owner, false, guests),
            (Moderator, Member, Guest, false, administrators_only),
            (Member, Member, Moderator, false, administrators_only),
            (Member, Member, Owner, false, owners_only),
        ];
        for (caller, from, to, is_only_owner, refusal) in cases {
            let checked = check_role(caller, from, to, is_only_owner).err();
            let found = checked.as_ref().map(ApiError::msg);
            assert_eq!(found, refusal, "{caller:?} makes {from:?} {to:?}");
        }
    }
}

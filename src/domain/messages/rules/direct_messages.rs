//! Permissions for direct messages (`direct_message_permission_group`, `direct_message_initiator_group`; feature level
//! 270).

use crate::auth::{Caller, Ctx};
use crate::domain::groups::membership::{GroupMembers, Membership};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::realm_settings::group;
use crate::domain::groups::roles::UserFilter;
use crate::domain::groups::system::SystemGroup;
use crate::domain::messages::sql;
use crate::domain::rows;
use crate::error::{ApiError, ApiResult};
use crate::types::{GroupId, UserId};
use rusqlite::Connection;

/// Checks that the caller may write to a conversation; `people` are all its participants, ascending.
///
/// Bots may write to everyone, and everyone to bots and to themselves.
pub fn check(ctx: Ctx<'_>, people: &[UserId]) -> ApiResult<()> {
    let permission = group(&ctx, RealmGroup::DirectMessagePermission)?;
    let initiator = group(&ctx, RealmGroup::DirectMessageInitiator)?;
    let is_open = |group| matches!(SystemGroup::with_id(group), Some(SystemGroup::Everyone));
    if (is_open(permission) && is_open(initiator))
        || ctx.caller.is_bot()
        || all_bots(&ctx, ctx.caller, people)?
    {
        return Ok(());
    }
    if !is_open(permission) && !is_one_in(ctx, people, permission)? {
        let is_nobody = SystemGroup::with_id(permission) == Some(SystemGroup::Nobody);
        return Err(ApiError::bad_request(if is_nobody {
            "Direct messages are disabled in this organization."
        } else {
            "This conversation does not include any users who can authorize it."
        }));
    }
    if is_open(initiator)
        || Membership::of(&ctx, ctx.caller.user_id, ctx.now)?.contains(initiator)
        || has_messages(&ctx, people)?
    {
        return Ok(());
    }
    Err(ApiError::bad_request("You do not have permission to initiate direct message conversations."))
}

/// True if all participants besides the caller are bots.
fn all_bots(connection: &Connection, caller: &Caller, people: &[UserId]) -> ApiResult<bool> {
    for user_id in people.iter().filter(|user_id| **user_id != caller.user_id) {
        if !rows::user::by_id(connection, *user_id)?.is_some_and(|user| user.is_bot()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if one of these people is in a group. The groups of many people are not read one by one.
fn is_one_in(ctx: Ctx<'_>, people: &[UserId], group: GroupId) -> ApiResult<bool> {
    let mut members = GroupMembers::load(&ctx, UserFilter::Users(people), ctx.now)?;
    Ok(!members.users(&ctx, group)?.is_empty())
}

/// True if a conversation has a message.
fn has_messages(connection: &Connection, people: &[UserId]) -> ApiResult<bool> {
    match sql::direct_recipient(connection, people)? {
        Some(recipient_id) => Ok(sql::newest_of(connection, recipient_id)?.is_some()),
        None => Ok(false),
    }
}

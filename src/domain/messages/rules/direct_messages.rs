//! Who may write direct messages to whom (`direct_message_permission_group`, `direct_message_initiator_group`; feature
//! level 270).

use crate::domain::access::user_rows as users;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::realm_settings::{RealmGroup, group};
use crate::domain::groups::system::SystemGroup;
use crate::domain::messages::sql;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::UserId;
use rusqlite::Connection;

/// Checks that the caller may write to a conversation; `people` are all its participants, ascending.
///
/// Bots may write to everyone, and everyone to bots and to themselves.
pub fn check(connection: &Connection, caller: &Caller, now: i64, people: &[UserId]) -> ApiResult<()> {
    let permission = group(connection, RealmGroup::DirectMessagePermission)?;
    let initiator = group(connection, RealmGroup::DirectMessageInitiator)?;
    let is_open = |group| matches!(SystemGroup::with_id(group), Some(SystemGroup::Everyone));
    if (is_open(permission) && is_open(initiator)) || caller.is_bot() || all_bots(connection, caller, people)?
    {
        return Ok(());
    }
    if !is_open(permission) && !any_in(connection, people, now, |of| of.contains(permission))? {
        let is_nobody = SystemGroup::with_id(permission) == Some(SystemGroup::Nobody);
        return Err(ApiError::bad_request(if is_nobody {
            "Direct messages are disabled in this organization."
        } else {
            "This conversation does not include any users who can authorize it."
        }));
    }
    if is_open(initiator)
        || Membership::of(connection, caller.user_id, now)?.contains(initiator)
        || has_messages(connection, people)?
    {
        return Ok(());
    }
    Err(ApiError::bad_request("You do not have permission to initiate direct message conversations."))
}

/// Whether all participants besides the caller are bots.
fn all_bots(connection: &Connection, caller: &Caller, people: &[UserId]) -> ApiResult<bool> {
    for user_id in people.iter().filter(|user_id| **user_id != caller.user_id) {
        if !users::by_id(connection, *user_id)?.is_some_and(|user| user.is_bot()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any_in(
    connection: &Connection,
    people: &[UserId],
    now: i64,
    condition: impl Fn(&Membership) -> bool,
) -> ApiResult<bool> {
    for user_id in people {
        if condition(&Membership::of(connection, *user_id, now)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a conversation has a message.
fn has_messages(connection: &Connection, people: &[UserId]) -> ApiResult<bool> {
    match sql::direct_recipient(connection, people)? {
        Some(recipient_id) => Ok(sql::newest_of(connection, recipient_id)?.is_some()),
        None => Ok(false),
    }
}

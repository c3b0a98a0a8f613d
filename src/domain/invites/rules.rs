//! Permissions to invite to a role, channels and groups. They are checked when an invitation is created, and again for
//! its inviter when it is accepted: a link grants at most what its inviter may grant when it is used.

use crate::auth::{Caller, Ctx};
use crate::domain::access::channels::Viewer;
use crate::domain::audit::{Action, Entry};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::rules::Manager;
use crate::domain::invites::record::InviteRow;
use crate::domain::invites::{events, sql};
use crate::domain::limits::{Accounts, MAX_JOINED_BY_INVITER};
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, channels, groups, rows, users};
use crate::error::{ApiError, ApiResult, ok_unless_refused};
use crate::store::Tx;
use crate::types::{GroupId, Role, SECONDS_PER_DAY, UserId};
use rusqlite::Connection;

/// Checks that the caller has the permission to invite, and may invite to this role: only owners invite owners, and
/// only administrators invite administrators and moderators.
pub fn check_can_invite(ctx: Ctx<'_>, permission: RealmGroup, invite_as: Role) -> ApiResult<()> {
    ctx.caller.check_is_member()?;
    access::permissions::require(&Viewer::new(ctx), permission)?;
    check_may_give(ctx.caller, invite_as)
}

/// Checks that the caller may give a role to invited users.
pub fn check_may_give(caller: &Caller, role: Role) -> ApiResult<()> {
    check_role(caller, role, role.is_moderator())
}

/// Checks that the caller may manage invitations of others to a role.
pub fn check_may_manage(caller: &Caller, role: Role) -> ApiResult<()> {
    check_role(caller, role, true)
}

fn check_role(caller: &Caller, role: Role, is_for_administrators: bool) -> ApiResult<()> {
    if role == Role::Owner {
        caller.check_is_owner()?;
    }
    if is_for_administrators && !caller.role.is_administrator() {
        return Err(ApiError::bad_request("Must be an organization administrator"));
    }
    Ok(())
}

/// True if an inviter may subscribe new users to a channel that they can read: to default channels, and if they may add
/// others.
pub fn may_add_to_channel(viewer: &Viewer<'_>, stream: &StreamRow) -> ApiResult<bool> {
    Ok(channels::default_streams(&viewer.ctx)?.contains(&stream.stream_id)
        || access::permissions::may_add_others(viewer, stream)?)
}

/// Checks that a group is named and active, and that its manager may add members.
pub fn check_group(connection: &Connection, manager: &Manager<'_>, group_id: GroupId) -> ApiResult<()> {
    let group = groups::rules::find_active(connection, group_id)?;
    manager.require(&group, &[UserGroupSetting::CanAddMembers])
}

/// Returns the inviter as a caller if they may still invite to the role of an invitation.
pub fn find_entitled_inviter(
    connection: &Connection,
    invite: &InviteRow,
    now: i64,
) -> ApiResult<Option<Caller>> {
    let Some(inviter) = invite.invited_by_user_id else { return Ok(None) };
    let is_of_link = invite.is_multiuse() || invite.parent_id.is_some();
    let permission = if is_of_link { RealmGroup::CreateMultiuseInvite } else { RealmGroup::CanInviteUsers };
    let Some(caller) = ok_unless_refused(rows::user::caller(connection, inviter))? else { return Ok(None) };
    let checked = check_can_invite(Ctx::new(connection, &caller, now), permission, invite.invited_as);
    Ok(ok_unless_refused(checked)?.map(|()| caller))
}

/// True if the maximum number of users has joined in the last day by the chain of invitations that the inviter belongs to:
/// invitations of new accounts count for their inviters. Administrators have no limit: they may create accounts anyway.
pub fn has_reached_daily_limit(connection: &Connection, invite: &InviteRow, now: i64) -> ApiResult<bool> {
    let Some(inviter) = find_entitled_inviter(connection, invite, now)? else { return Ok(false) };
    if inviter.role.is_administrator() {
        return Ok(false);
    }
    let chain = Accounts::of_chain(connection, inviter.user_id, now)?;
    let joined = users::count_invited_by(connection, chain.list(), now - SECONDS_PER_DAY)?;
    Ok(joined as usize >= MAX_JOINED_BY_INVITER)
}

/// Revokes the invitations that a user may not give any more, after a change of their role.
pub fn revoke_unentitled(tx: &mut Tx<'_>, inviter: UserId) -> ApiResult<()> {
    let now = tx.now();
    let mut changed = false;
    for invite in sql::list_usable(tx, Some(inviter), now)? {
        if find_entitled_inviter(tx, &invite, now)?.is_some() {
            continue;
        }
        changed = true;
        tx.audit(Entry::new(Action::InvitationRevoked, &invite))?;
        if invite.is_multiuse() {
            sql::set_revoked(tx, invite.invite_id)?;
        } else {
            sql::delete(tx, invite.invite_id)?;
        }
    }
    if changed { events::changed(tx, Some(inviter)) } else { Ok(()) }
}

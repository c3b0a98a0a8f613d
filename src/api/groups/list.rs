//! `GET /user_groups`, and the members and subgroups of a group.

use crate::api::resource::{State, StateRequest};
use crate::domain::groups::events::GroupRecord;
use crate::domain::groups::membership;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::roles::{ActiveUsersByRole, UserFilter};
use crate::domain::{groups, rows, users};
use crate::http::{ApiResult, Read, Reply, User};
use crate::types::{GroupId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

/// Parameters of `GET /user_groups`.
#[derive(Deserialize)]
pub struct GroupsParams {
    /// True to include deactivated groups; false by default.
    #[serde(default)]
    include_deactivated_groups: bool,
}

/// The reply to `GET /user_groups`.
#[derive(Serialize)]
pub struct Groups {
    /// The groups, by id.
    pub user_groups: Vec<GroupRecord>,
}

/// `GET /user_groups`: lists all groups, including system groups.
pub fn list_groups(read: &Read<'_, User>, params: GroupsParams) -> ApiResult<Reply<Groups>> {
    read.caller.check_is_member()?;
    let groups = groups::events::all(read, params.include_deactivated_groups, read.app.clock.seconds())?;
    Reply::data(&Groups { user_groups: groups })
}

/// Parameters of `GET /user_groups/{user_group_id}/members`.
#[derive(Deserialize)]
pub struct MembersParams {
    /// The id of an active group.
    user_group_id: GroupId,
    /// True to leave out the members of subgroups; false by default.
    #[serde(default)]
    direct_member_only: bool,
}

/// The reply to `GET /user_groups/{user_group_id}/members`.
#[derive(Serialize)]
pub struct GroupMembers {
    /// User ids, ascending.
    pub members: Vec<u32>,
}

/// `GET /user_groups/{user_group_id}/members`: lists the ids of the active members of a group, ascending.
pub fn list_members(read: &Read<'_, User>, params: MembersParams) -> ApiResult<Reply<GroupMembers>> {
    read.caller.check_is_member()?;
    let group = groups::rules::find_active(read, params.user_group_id)?.id;
    let users = if params.direct_member_only {
        direct_members(read, group)?
    } else {
        membership::users_in(read, &[group], read.app.clock.seconds())?
    };
    Reply::data(&GroupMembers { members: users.iter().collect::<Vec<_>>() })
}

fn direct_members(read: &Read<'_, User>, group: GroupId) -> ApiResult<RoaringBitmap> {
    let roles = ActiveUsersByRole::load(read, UserFilter::Everyone, read.app.clock.seconds())?;
    let mut users = roles.named_by_groups().remove(&group).unwrap_or_default();
    users.extend(groups::members(read, group)?.into_iter().filter_map(UserId::bit));
    Ok(users)
}

/// Parameters of `GET /user_groups/{user_group_id}/members/{user_id}`.
#[derive(Deserialize)]
pub struct MemberParams {
    /// The id of an active group.
    user_group_id: GroupId,
    /// The id of an active person.
    user_id: UserId,
    /// True to ignore membership through a subgroup; false by default.
    #[serde(default)]
    direct_member_only: bool,
}

/// The reply to `GET /user_groups/{user_group_id}/members/{user_id}`.
#[derive(Serialize)]
pub struct IsMember {
    /// True if the user is a member.
    pub is_user_group_member: bool,
}

/// `GET /user_groups/{user_group_id}/members/{user_id}`: returns true if a user is a member of a group.
pub fn is_member(read: &Read<'_, User>, params: MemberParams) -> ApiResult<Reply<IsMember>> {
    read.caller.check_is_member()?;
    let group = groups::rules::find_active(read, params.user_group_id)?.id;
    let user = rows::user::by_id(read, params.user_id)?.filter(|user| !user.is_bot());
    let user = user.ok_or_else(users::find::no_such_user)?;
    user.check_is_active()?;
    let is_member = if params.direct_member_only {
        let bit = user.user_id.bit();
        direct_members(read, group)?.iter().any(|member| Some(member) == bit)
    } else {
        Membership::of(read, user.user_id, read.app.clock.seconds())?.contains(group)
    };
    Reply::data(&IsMember { is_user_group_member: is_member })
}

/// Parameters of `GET /user_groups/{user_group_id}/subgroups`.
#[derive(Deserialize)]
pub struct SubgroupsParams {
    /// The id of an active group.
    user_group_id: GroupId,
    /// True to leave out the subgroups of subgroups; false by default.
    #[serde(default)]
    direct_subgroup_only: bool,
}

/// The reply to `GET /user_groups/{user_group_id}/subgroups`.
#[derive(Serialize)]
pub struct Subgroups {
    /// Group ids, ascending.
    pub subgroups: Vec<GroupId>,
}

/// `GET /user_groups/{user_group_id}/subgroups`: lists the ids of the subgroups of a group, ascending.
pub fn list_subgroups(read: &Read<'_, User>, params: SubgroupsParams) -> ApiResult<Reply<Subgroups>> {
    read.caller.check_is_member()?;
    let group = groups::rules::find_active(read, params.user_group_id)?.id;
    let mut groups = if params.direct_subgroup_only {
        groups::subgroups(read, group)?
    } else {
        groups::all_subgroups(read, group)?.into_iter().filter(|subgroup| *subgroup != group).collect()
    };
    groups.sort_unstable();
    Reply::data(&Subgroups { subgroups: groups })
}

/// State part `realm_user_groups`: all groups, by id. Deactivated ones only with the `include_deactivated_groups`
/// capability.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let include_deactivated = request.registration.client_capabilities.include_deactivated_groups;
    let groups = groups::events::all(request.connection, include_deactivated, request.now)?;
    state.set::<Vec<GroupRecord>>("realm_user_groups", &groups)
}

//! `GET /user_groups`, and who and what is in one of them.

use crate::domain::access::user_rows as users;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::roles::{ActiveUsersByRole, Among};
use crate::domain::groups::{events, membership, rules, sql};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::{GroupId, UserId};
use roaring::RoaringBitmap;
use serde::Deserialize;

/// Parameters of `GET /user_groups`.
#[derive(Deserialize)]
pub struct GroupsParams {
    /// Also the groups that are no longer in use.
    #[serde(default)]
    include_deactivated_groups: bool,
}

/// `GET /user_groups`: all groups.
pub fn user_groups(read: &Read<'_, User>, params: GroupsParams) -> ApiResult<Reply> {
    rules::require_member(read.caller)?;
    let groups = events::all(read, params.include_deactivated_groups, read.app.clock.seconds())?;
    Reply::field("user_groups", &groups)
}

/// Parameters of `GET /user_groups/{user_group_id}/members`.
#[derive(Deserialize)]
pub struct MembersParams {
    /// Which group.
    user_group_id: GroupId,
    /// Not those that are in it through a subgroup.
    #[serde(default)]
    direct_member_only: bool,
}

/// `GET /user_groups/{user_group_id}/members`: ids, ascending.
pub fn members(read: &Read<'_, User>, params: MembersParams) -> ApiResult<Reply> {
    rules::require_member(read.caller)?;
    let group = rules::find_active(read, params.user_group_id)?.id;
    let users = if params.direct_member_only {
        direct_members(read, group)?
    } else {
        membership::users_in(read, group, read.app.clock.seconds())?
    };
    Reply::field("members", &users.iter().collect::<Vec<_>>())
}

fn direct_members(read: &Read<'_, User>, group: GroupId) -> ApiResult<RoaringBitmap> {
    let roles = ActiveUsersByRole::load(read, Among::Everyone, read.app.clock.seconds())?;
    let mut users = roles.named_by_groups().remove(&group).unwrap_or_default();
    users.extend(sql::members(read, group)?.into_iter().filter_map(UserId::bit));
    Ok(users)
}

/// Parameters of `GET /user_groups/{user_group_id}/members/{user_id}`.
#[derive(Deserialize)]
pub struct MemberParams {
    /// Which group.
    user_group_id: GroupId,
    /// Who.
    user_id: UserId,
    /// Not through a subgroup.
    #[serde(default)]
    direct_member_only: bool,
}

/// `GET /user_groups/{user_group_id}/members/{user_id}`: whether somebody is in a group.
pub fn member(read: &Read<'_, User>, params: MemberParams) -> ApiResult<Reply> {
    rules::require_member(read.caller)?;
    let group = rules::find_active(read, params.user_group_id)?.id;
    let user = users::by_id(read, params.user_id)?.filter(|user| !user.is_bot());
    let user = user.ok_or_else(|| ApiError::bad_request("No such user"))?;
    if !user.is_active {
        return Err(ApiError::bad_request("User is deactivated"));
    }
    let is_member = if params.direct_member_only {
        let bit = user.user_id.bit();
        direct_members(read, group)?.iter().any(|member| Some(member) == bit)
    } else {
        Membership::of(read, user.user_id, read.app.clock.seconds())?.contains(group)
    };
    Reply::field("is_user_group_member", &is_member)
}

/// Parameters of `GET /user_groups/{user_group_id}/subgroups`.
#[derive(Deserialize)]
pub struct SubgroupsParams {
    /// Which group.
    user_group_id: GroupId,
    /// Not those that are in it through another one.
    #[serde(default)]
    direct_subgroup_only: bool,
}

/// `GET /user_groups/{user_group_id}/subgroups`: ids, ascending.
pub fn subgroups(read: &Read<'_, User>, params: SubgroupsParams) -> ApiResult<Reply> {
    rules::require_member(read.caller)?;
    let group = rules::find_active(read, params.user_group_id)?.id;
    let mut groups = if params.direct_subgroup_only {
        sql::subgroups(read, group)?
    } else {
        sql::all_subgroups(read, group)?.into_iter().filter(|subgroup| *subgroup != group).collect()
    };
    groups.sort_unstable();
    Reply::field("subgroups", &groups)
}

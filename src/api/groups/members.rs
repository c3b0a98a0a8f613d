//! `POST /user_groups/{user_group_id}/members` and `POST /user_groups/{user_group_id}/subgroups`.

use crate::domain::audit::{Action, Entry};
use crate::domain::groups::GroupRow;
use crate::domain::groups::events::{MembersChanged, SubgroupsChanged};
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::permission::UserGroupSetting::{
    CanAddMembers, CanJoin, CanLeave, CanManage, CanRemoveMembers,
};
use crate::domain::groups::rules::Manager;
use crate::domain::limits::{
    MAX_BULK_GROUP_MESSAGES, MAX_GROUP_MEMBERS_PER_REQUEST, MAX_GROUP_MEMBERS_PER_REQUEST_OF_MEMBER,
    MAX_SUBGROUPS_PER_REQUEST, organization,
};
use crate::domain::notices::channels::group_mention;
use crate::domain::realm::user_ids::everyone;
use crate::domain::visibility::Scope;
use crate::domain::{groups, limits, notices, rows, user_settings, visibility};
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{GroupId, Language, UserId, distinct};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::json;
use teamchat_markdown::Words;

/// Parameters of `POST /user_groups/{user_group_id}/members`.
#[derive(Deserialize)]
pub struct MembersParams {
    /// The id of the group to change.
    user_group_id: GroupId,
    /// The ids of active users to add. A user who is a member is an error.
    #[serde(default)]
    add: Vec<UserId>,
    /// The ids of users to remove. A user who is no direct member is an error.
    #[serde(default)]
    delete: Vec<UserId>,
    /// The ids of active groups to add as subgroups.
    #[serde(default)]
    add_subgroups: Vec<GroupId>,
    /// The ids of subgroups to remove.
    #[serde(default)]
    delete_subgroups: Vec<GroupId>,
}

/// `POST /user_groups/{user_group_id}/members`: adds and removes members and subgroups, all or none. At most 100
/// subgroups a request, and 2000 members and subgroups together; 10,000 for administrators.
pub fn update_members(tx: &mut Tx<'_>, caller: &User, params: MembersParams) -> ApiResult<Reply> {
    caller.check_is_member()?;
    let MembersParams { user_group_id, add, delete, add_subgroups, delete_subgroups } = &params;
    if add.is_empty() && delete.is_empty() && add_subgroups.is_empty() && delete_subgroups.is_empty() {
        return Err(ApiError::bad_request(
            "Nothing to do. Specify at least one of \"add\", \"delete\", \"add_subgroups\" or \"delete_subgroups\".",
        ));
    }
    check_number(caller, add.len() + delete.len(), add_subgroups.len() + delete_subgroups.len())?;
    let group = groups::rules::find(tx, *user_group_id)?;
    let mut added = Vec::new();
    let mut removed = Vec::new();
    let named = [add.as_slice(), delete].concat();
    let changes_subgroups = !add_subgroups.is_empty() || !delete_subgroups.is_empty();
    let scope = if changes_subgroups { Scope::Groups } else { Scope::Members(&named) };
    visibility::with_events(tx, scope, |tx| {
        if !add.is_empty() {
            added = add_members(tx, caller, &group, add)?;
        }
        if !delete.is_empty() {
            removed = remove_members(tx, caller, &group, delete)?;
        }
        change_subgroups(tx, caller, &group, add_subgroups, delete_subgroups)
    })?;
    notify(tx, caller, &group, &added, |language| language.t("{by} added you to the group {group}."))?;
    notify(tx, caller, &group, &removed, |language| language.t("{by} removed you from the group {group}."))?;
    Ok(Reply::ok())
}

/// Parameters of `POST /user_groups/{user_group_id}/subgroups`.
#[derive(Deserialize)]
pub struct SubgroupsParams {
    /// The id of the group to change.
    user_group_id: GroupId,
    /// The ids of active groups to add as subgroups.
    #[serde(default)]
    add: Vec<GroupId>,
    /// The ids of subgroups to remove.
    #[serde(default)]
    delete: Vec<GroupId>,
}

/// `POST /user_groups/{user_group_id}/subgroups`: adds and removes subgroups, all or none, at most 100 a request.
pub fn update_subgroups(tx: &mut Tx<'_>, caller: &User, params: SubgroupsParams) -> ApiResult<Reply> {
    caller.check_is_member()?;
    if params.add.is_empty() && params.delete.is_empty() {
        return Err(ApiError::bad_request("Nothing to do. Specify at least one of \"add\" or \"delete\"."));
    }
    check_number(caller, 0, params.add.len() + params.delete.len())?;
    let group = groups::rules::find(tx, params.user_group_id)?;
    visibility::with_events(tx, Scope::Groups, |tx| {
        change_subgroups(tx, caller, &group, &params.add, &params.delete)
    })?;
    Ok(Reply::ok())
}

fn require(tx: &Tx<'_>, caller: &Caller, group: &GroupRow, settings: &[UserGroupSetting]) -> ApiResult<()> {
    Manager::new(tx.ctx(caller))?.require(group, settings)
}

fn add_members(
    tx: &mut Tx<'_>,
    caller: &Caller,
    group: &GroupRow,
    users: &[UserId],
) -> ApiResult<Vec<UserId>> {
    let joins = users == [caller.user_id];
    require(tx, caller, group, if joins { &[CanJoin, CanAddMembers] } else { &[CanAddMembers] })?;
    let users = check_active_users(tx, users)?;
    for user_id in &users {
        if groups::is_member(tx, group.id, *user_id)? {
            return Err(ApiError::bad_request(format!("User {user_id} is already a member of this group")));
        }
    }
    set_members(tx, group, &users, true)?;
    organization::check_group_members(tx.ctx(caller))?;
    Ok(users)
}

fn remove_members(
    tx: &mut Tx<'_>,
    caller: &Caller,
    group: &GroupRow,
    users: &[UserId],
) -> ApiResult<Vec<UserId>> {
    let leaves = users == [caller.user_id];
    let users = check_active_users(tx, users)?;
    require(tx, caller, group, if leaves { &[CanLeave, CanRemoveMembers] } else { &[CanRemoveMembers] })?;
    for user_id in &users {
        if !groups::is_member(tx, group.id, *user_id)? {
            return Err(ApiError::bad_request(format!("There is no member '{user_id}' in this user group")));
        }
    }
    set_members(tx, group, &users, false)?;
    Ok(users)
}

fn set_members(tx: &mut Tx<'_>, group: &GroupRow, users: &[UserId], added: bool) -> ApiResult<()> {
    for user_id in users {
        groups::set_member(tx, group.id, *user_id, added)?;
    }
    let changed = Entry::new(Action::MembersChanged, group.id);
    tx.audit(if added {
        changed.after(json!({ "members": users }))
    } else {
        changed.before(json!({ "members": users }))
    })?;
    let audience = everyone(tx)?;
    tx.emit(MembersChanged::new(added, group.id, users).deactivated(group.deactivated), audience);
    Ok(())
}

fn change_subgroups(
    tx: &mut Tx<'_>,
    caller: &Caller,
    group: &GroupRow,
    add: &[GroupId],
    delete: &[GroupId],
) -> ApiResult<()> {
    if !add.is_empty() {
        require(tx, caller, group, &[CanAddMembers])?;
        let subgroups = check_subgroups(tx, add)?;
        let present = groups::subgroups(tx, group.id)?;
        if let Some(known) = subgroups.iter().find(|subgroup| present.contains(subgroup)) {
            return Err(ApiError::bad_request(format!(
                "User group {known} is already a subgroup of this group."
            )));
        }
        // One walk upwards from the group, instead of one downwards from each subgroup.
        let including = groups::all_supergroups(tx, group.id)?;
        if subgroups.iter().any(|subgroup| including.contains(subgroup)) {
            return Err(ApiError::bad_request(format!(
                "User group {} is already a subgroup of one of the passed subgroups.",
                group.id
            )));
        }
        set_subgroups(tx, group, &subgroups, true)?;
        organization::check_group_members(tx.ctx(caller))?;
    }
    if !delete.is_empty() {
        require(tx, caller, group, &[CanManage])?;
        let subgroups = check_subgroups(tx, delete)?;
        let present = groups::subgroups(tx, group.id)?;
        if let Some(unknown) = subgroups.iter().find(|subgroup| !present.contains(subgroup)) {
            return Err(ApiError::bad_request(format!(
                "User group {unknown} is not a subgroup of this group."
            )));
        }
        set_subgroups(tx, group, &subgroups, false)?;
    }
    Ok(())
}

fn set_subgroups(tx: &mut Tx<'_>, group: &GroupRow, subgroups: &[GroupId], added: bool) -> ApiResult<()> {
    for subgroup in subgroups {
        groups::set_subgroup(tx, group.id, *subgroup, added)?;
    }
    let changed = Entry::new(Action::MembersChanged, group.id);
    let facts = json!({ "subgroups": subgroups });
    tx.audit(if added { changed.after(facts) } else { changed.before(facts) })?;
    let audience = everyone(tx)?;
    tx.emit(SubgroupsChanged::new(added, group, subgroups), audience);
    Ok(())
}

/// Checks the number of members and subgroups in a request.
pub fn check_number(caller: &Caller, members: usize, subgroups: usize) -> ApiResult<()> {
    limits::check("subgroups in one request", subgroups, MAX_SUBGROUPS_PER_REQUEST)?;
    let limit = if caller.role.is_administrator() {
        MAX_GROUP_MEMBERS_PER_REQUEST
    } else {
        MAX_GROUP_MEMBERS_PER_REQUEST_OF_MEMBER
    };
    limits::check("members in one request", members.saturating_add(subgroups), limit)
}

/// Checks that all users are active, and returns them ascending and without duplicates.
pub fn check_active_users(connection: &Connection, users: &[UserId]) -> ApiResult<Vec<UserId>> {
    for user_id in users {
        if !groups::is_active_user(connection, *user_id)? {
            return Err(groups::setting::no_such_user(*user_id));
        }
    }
    Ok(distinct(users.to_vec()))
}

/// Checks that all groups are active and can be subgroups, and returns them ascending and without duplicates.
pub fn check_subgroups(connection: &Connection, groups: &[GroupId]) -> ApiResult<Vec<GroupId>> {
    for group in groups {
        groups::setting::find_subgroup(connection, *group)?;
    }
    Ok(distinct(groups.to_vec()))
}

/// Notifies people whom another user added or removed by direct message, unless they are many, or the user caused too many
/// notices. Bots are not notified.
fn notify(
    tx: &mut Tx<'_>,
    caller: &Caller,
    group: &GroupRow,
    users: &[UserId],
    text: fn(Language) -> &'static str,
) -> ApiResult<()> {
    if users.len() > MAX_BULK_GROUP_MESSAGES {
        return Ok(());
    }
    let by = notices::name_of(tx, caller)?;
    for user_id in users {
        let is_person = rows::user::by_id(tx, *user_id)?.is_some_and(|user| !user.is_bot());
        if *user_id != caller.user_id && is_person {
            let address = notices::direct_address(tx, *user_id)?;
            let text = text(user_settings::language_of(tx, *user_id)?);
            let words = Words::filled(text, &[("by", by.clone()), ("group", group_mention(group))]);
            notices::budget::send_caused(tx, caller.user_id, address, words.into())?;
        }
    }
    Ok(())
}

//! `POST /user_groups/create`.

use crate::api::groups::members;
use crate::api::setting_params::PermissionParams;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::require;
use crate::domain::audit::{Action, Entry};
use crate::domain::groups;
use crate::domain::groups::GroupRow;
use crate::domain::groups::events::{GroupAdded, SubgroupsChanged};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::{DefaultGroup, UserGroupSetting};
use crate::domain::groups::setting::{DirectGroup, GroupSetting, Owner};
use crate::domain::limits::{Accounts, MAX_GROUP_DESCRIPTION_LENGTH, MAX_GROUPS_OF_CREATOR, organization};
use crate::domain::realm::user_ids::everyone;
use crate::http::params::BoundedText;
use crate::http::{ApiResult, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{GroupId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Parameters of `POST /user_groups/create` other than the settings.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name, at most 100 characters, which no other group may have. Surrounding white space is removed.
    name: String,
    /// The description, at most 1024 characters.
    description: BoundedText<MAX_GROUP_DESCRIPTION_LENGTH>,
    /// The ids of the direct members, who must be active users.
    members: Vec<UserId>,
    /// The ids of the direct subgroups, at most 100; by default none.
    #[serde(default)]
    subgroups: Vec<GroupId>,
}

/// The settings of a new group. Absent ones have their defaults.
type NewSettings = PermissionParams<UserGroupSetting, GroupSetting>;

/// Returns the value of a setting: the given one, or the creator if that is the default. `None` for defaults that are the
/// same in all groups.
fn value(given: &NewSettings, setting: UserGroupSetting, creator: UserId) -> Option<GroupSetting> {
    let given = given.0.iter().find(|(name, _)| *name == setting).map(|(_, value)| value.clone());
    if given.is_some() || setting.permission().default != DefaultGroup::GroupCreator {
        return given;
    }
    Some(GroupSetting::Direct(DirectGroup { direct_members: vec![creator], direct_subgroups: Vec::new() }))
}

/// The reply to `POST /user_groups/create`.
#[derive(Serialize)]
pub struct CreatedGroup {
    /// The id of the new group.
    pub group_id: GroupId,
}

/// `POST /user_groups/create`: creates a group and returns its id. Requires `can_create_groups`.
pub fn create(
    tx: &mut Tx<'_>,
    caller: &User,
    Params2(params, settings): Params2<CreateParams, NewSettings>,
) -> ApiResult<Reply<CreatedGroup>> {
    let caller: &Caller = caller;
    caller.check_is_member()?;
    require(&Viewer::new(tx.ctx(caller)), RealmGroup::CanCreateGroups)?;
    if !caller.role.is_administrator() {
        let statement =
            "SELECT count(*) FROM user_group WHERE creator_id IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
        accounts.check("groups of one creator", statement, 1, MAX_GROUPS_OF_CREATOR)?;
    }
    organization::GROUPS.check(tx, caller, 1)?;
    members::check_number(caller, params.members.len(), params.subgroups.len())?;
    let members = members::check_active_users(tx, &params.members)?;
    let name = groups::rules::check_name(&params.name)?;
    groups::rules::check_unique(tx, &name, None)?;
    let id = groups::insert(tx, &name, &params.description, caller.user_id, tx.now())?;
    for setting in UserGroupSetting::ALL {
        if let Some(value) = value(&settings, setting, caller.user_id) {
            let group = groups::setting::parse(tx, &setting.permission(), &value)?;
            groups::setting::set(tx, Owner::Group(id.0), setting.name(), group)?;
        }
    }
    for user_id in &members {
        groups::set_member(tx, id, *user_id, true)?;
    }
    tx.audit(Entry::new(Action::GroupCreated, id).after(json!({ "members": members.len() })))?;
    let group = groups::rules::find(tx, id)?;
    let audience = everyone(tx)?;
    tx.emit(GroupAdded::new(groups::events::named(tx, &group)?), audience);
    add_subgroups(tx, &group, &params.subgroups)?;
    organization::check_group_members(tx.ctx(caller))?;
    Reply::data(&CreatedGroup { group_id: id })
}

/// Adds the subgroups. No setting uses the new group yet, so this does not change the visibility of anything.
fn add_subgroups(tx: &mut Tx<'_>, group: &GroupRow, subgroups: &[GroupId]) -> ApiResult<()> {
    let subgroups = members::check_subgroups(tx, subgroups)?;
    if subgroups.is_empty() {
        return Ok(());
    }
    for subgroup in &subgroups {
        groups::set_subgroup(tx, group.id, *subgroup, true)?;
    }
    let audience = everyone(tx)?;
    tx.emit(SubgroupsChanged::new(true, group, &subgroups), audience);
    Ok(())
}

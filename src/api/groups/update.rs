//! `PATCH /user_groups/{user_group_id}`.

use crate::api::setting_params::PermissionParams;
use crate::domain::audit::{Action, Entry};
use crate::domain::groups::GroupRow;
use crate::domain::groups::events::{GroupChange, GroupUpdated};
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::rules::Manager;
use crate::domain::groups::setting::{Owner, SettingChange};
use crate::domain::limits::{MAX_GROUP_DESCRIPTION_LENGTH, organization};
use crate::domain::realm::user_ids::everyone;
use crate::domain::visibility::Scope;
use crate::domain::{groups, visibility};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Params2, Reply, User};
use crate::store::Tx;
use crate::types::GroupId;
use serde::Deserialize;
use serde_json::{Value, json};

/// Parameters of `PATCH /user_groups/{user_group_id}`. Absent ones do not change.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The group to change. The caller must be able to manage it.
    user_group_id: GroupId,
    /// The new name, at most 100 characters, which no other group may have. Surrounding white space is removed.
    name: Option<String>,
    /// The new description, at most 1024 characters.
    description: Option<BoundedText<MAX_GROUP_DESCRIPTION_LENGTH>>,
    /// False to reactivate the group (feature level 386). True does nothing: `POST
    /// /user_groups/{user_group_id}/deactivate` deactivates.
    deactivated: Option<bool>,
}

/// The settings of a group that a request changes.
type GroupChanges = PermissionParams<UserGroupSetting, SettingChange>;

/// `PATCH /user_groups/{user_group_id}`: changes a group, active or not. Emits one event for each change.
pub fn update(
    tx: &mut Tx<'_>,
    caller: &User,
    Params2(params, settings): Params2<UpdateParams, GroupChanges>,
) -> ApiResult<Reply> {
    caller.check_is_member()?;
    let is_same = params.name.is_none() && params.description.is_none() && params.deactivated.is_none();
    if is_same && settings.0.is_empty() {
        return Err(ApiError::bad_request("No new data supplied"));
    }
    let mut group = groups::rules::find(tx, params.user_group_id)?;
    Manager::new(tx.ctx(caller))?.require(&group, &[])?;
    let name = params.name.as_deref().filter(|name| *name != group.name);
    let name = name.map(groups::rules::check_name).transpose()?;
    if let Some(name) = name.filter(|name| *name != group.name) {
        groups::rules::check_unique(tx, &name, Some(group.id))?;
        let renamed = Entry::new(Action::GroupChanged, group.id);
        tx.audit(renamed.before(json!({ "name": group.name })).after(json!({ "name": name })))?;
        group.name.clone_from(&name);
        save(tx, &group, GroupChange::Name(name))?;
    }
    if let Some(description) = params.description.as_deref().filter(|text| *text != group.description) {
        tx.audit(Entry::new(Action::GroupChanged, group.id).after(json!({ "changed": "description" })))?;
        group.description = description.to_owned();
        save(tx, &group, GroupChange::Description(description.to_owned()))?;
    }
    if params.deactivated == Some(false) && group.deactivated {
        group.deactivated = false;
        tx.audit(Entry::new(Action::GroupReactivated, group.id))?;
        reactivate(tx, &group)?;
    }
    for (setting, change) in &settings.0 {
        set(tx, &group, *setting, change)?;
    }
    if !settings.0.is_empty() {
        organization::check_group_members(tx.ctx(caller))?;
    }
    Ok(Reply::ok())
}

fn save(tx: &mut Tx<'_>, group: &GroupRow, change: GroupChange) -> ApiResult<()> {
    groups::update(tx, group)?;
    let audience = everyone(tx)?;
    tx.emit(GroupUpdated::new(group, change), audience);
    Ok(())
}

fn reactivate(tx: &mut Tx<'_>, group: &GroupRow) -> ApiResult<()> {
    visibility::with_events(tx, Scope::Groups, |tx| {
        groups::update(tx, group)?;
        let audience = everyone(tx)?;
        tx.emit(GroupUpdated::reactivated(group, groups::events::named(tx, group)?), audience);
        Ok(())
    })
}

fn set(
    tx: &mut Tx<'_>,
    group: &GroupRow,
    setting: UserGroupSetting,
    change: &SettingChange,
) -> ApiResult<()> {
    let owner = Owner::Group(group.id.0);
    let default = setting.default_group(group.is_system_group);
    let before = groups::setting::group_of(tx, owner, setting.name(), default)?;
    let Some(value) = change.after(tx, before)? else { return Ok(()) };
    let before = groups::setting::to_wire(tx, before)?;
    let after = groups::setting::parse(tx, &setting.permission(), &value)?;
    groups::setting::set(tx, owner, setting.name(), after)?;
    let changed = Entry::new(Action::PermissionChanged, group.id);
    let named = |value: Value| json!({ (setting.name()): value });
    tx.audit(
        changed.before(named(serde_json::to_value(before)?)).after(named(serde_json::to_value(&value)?)),
    )?;
    let audience = everyone(tx)?;
    tx.emit(GroupUpdated::new(group, GroupChange::permission(setting, value)), audience);
    Ok(())
}

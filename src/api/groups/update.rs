//! `PATCH /user_groups/{user_group_id}`.

use crate::domain::groups::events::{GroupChange, GroupUpdated};
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::rules::Manager;
use crate::domain::groups::setting::{Owner, SettingChange};
use crate::domain::groups::sql::GroupRow;
use crate::domain::groups::{events, rules, setting, sql};
use crate::domain::limits::{MAX_GROUP_DESCRIPTION_LENGTH, organization};
use crate::domain::realm::user_ids::everyone;
use crate::domain::visibility;
use crate::domain::visibility::Scope;
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::GroupId;
use serde::Deserialize;

/// Parameters of `PATCH /user_groups/{user_group_id}`. Absent ones do not change.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The group to change.
    user_group_id: GroupId,
    /// The new name, which no other group may have.
    name: Option<String>,
    /// The new description.
    description: Option<BoundedText<MAX_GROUP_DESCRIPTION_LENGTH>>,
    /// `false` reactivates the group (feature level 386). `true` does nothing: deactivation has an endpoint of its own.
    deactivated: Option<bool>,
    /// Who may add members.
    can_add_members_group: Option<SettingChange>,
    /// Who may join.
    can_join_group: Option<SettingChange>,
    /// Who may leave.
    can_leave_group: Option<SettingChange>,
    /// Who may change the group.
    can_manage_group: Option<SettingChange>,
    /// Who may mention the group.
    can_mention_group: Option<SettingChange>,
    /// Who may remove members.
    can_remove_members_group: Option<SettingChange>,
}

impl UpdateParams {
    fn setting(&self, setting: UserGroupSetting) -> Option<&SettingChange> {
        let change = match setting {
            UserGroupSetting::CanAddMembers => &self.can_add_members_group,
            UserGroupSetting::CanJoin => &self.can_join_group,
            UserGroupSetting::CanLeave => &self.can_leave_group,
            UserGroupSetting::CanManage => &self.can_manage_group,
            UserGroupSetting::CanMention => &self.can_mention_group,
            UserGroupSetting::CanRemoveMembers => &self.can_remove_members_group,
        };
        change.as_ref()
    }

    fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.description.is_none()
            && self.deactivated.is_none()
            && UserGroupSetting::ALL.into_iter().all(|setting| self.setting(setting).is_none())
    }
}

/// `PATCH /user_groups/{user_group_id}`: changes a group, active or not. Emits one event for each change.
pub fn update(tx: &mut Tx<'_>, caller: &User, params: UpdateParams) -> ApiResult<Reply> {
    rules::require_member(caller)?;
    if params.is_empty() {
        return Err(ApiError::bad_request("No new data supplied"));
    }
    let mut group = rules::find(tx, params.user_group_id)?;
    Manager::new(tx, caller, tx.now())?.require(&group, &[])?;
    if let Some(name) = params.name.as_ref().filter(|name| **name != group.name) {
        rules::check_name(name)?;
        rules::check_unique(tx, name, Some(group.id))?;
        group.name.clone_from(name);
        save(tx, &group, GroupChange::Name(name.clone()))?;
    }
    if let Some(description) = params.description.as_deref().filter(|text| *text != group.description) {
        group.description = description.to_owned();
        save(tx, &group, GroupChange::Description(description.to_owned()))?;
    }
    if params.deactivated == Some(false) && group.deactivated {
        group.deactivated = false;
        reactivate(tx, &group)?;
    }
    for setting in UserGroupSetting::ALL {
        if let Some(change) = params.setting(setting) {
            set(tx, &group, setting, change)?;
        }
    }
    if UserGroupSetting::ALL.into_iter().any(|setting| params.setting(setting).is_some()) {
        organization::check_group_members(tx, caller, tx.now())?;
    }
    Ok(Reply::ok())
}

fn save(tx: &mut Tx<'_>, group: &GroupRow, change: GroupChange) -> ApiResult<()> {
    sql::update(tx, group)?;
    let audience = everyone(tx)?;
    tx.emit(GroupUpdated::new(group, change), audience);
    Ok(())
}

fn reactivate(tx: &mut Tx<'_>, group: &GroupRow) -> ApiResult<()> {
    visibility::with_events(tx, Scope::Groups, |tx| {
        sql::update(tx, group)?;
        let audience = everyone(tx)?;
        tx.emit(GroupUpdated::reactivated(group, events::named(tx, group)?), audience);
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
    let before = setting::group_of(tx, owner, setting.name(), default)?;
    let Some(value) = change.after(tx, before)? else { return Ok(()) };
    let after = setting::parse(tx, setting.name(), &setting.permission(), &value)?;
    setting::set(tx, owner, setting.name(), after)?;
    let audience = everyone(tx)?;
    tx.emit(GroupUpdated::new(group, GroupChange::permission(setting, value)), audience);
    Ok(())
}

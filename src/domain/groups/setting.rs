//! Group settings: the value of a `can_..._group` of a channel, a group or the organization.
//!
//! On the wire a value is the id of a group, or `{direct_members, direct_subgroups}` (spec, "Group-setting value"); in
//! the file it is always a group, an anonymous one for the second form.

pub use crate::domain::groups::owner::Owner;
use crate::domain::groups::permission::Permission;
use crate::domain::groups::sql;
use crate::domain::groups::sql::GroupRow;
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits;
use crate::domain::limits::{MAX_DIRECT_MEMBERS, MAX_DIRECT_SUBGROUPS};
use crate::error::{ApiError, ApiResult};
use crate::types::{GroupId, UserId, distinct};
use rusqlite::Connection;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;

/// The value of a permission: the id of a group, or an object with users and groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "Invalid {}")]
pub enum GroupSetting {
    /// A named or system group.
    Group(GroupId),
    /// These people and groups.
    Direct(DirectGroup),
}

/// An unnamed group: users and groups that together have a permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectGroup {
    /// User ids, at most 500, ascending in responses.
    #[serde(deserialize_with = "read_distinct")]
    pub direct_members: Vec<UserId>,
    /// Group ids, at most 100, ascending in responses.
    #[serde(deserialize_with = "read_distinct")]
    pub direct_subgroups: Vec<GroupId>,
}

/// Reads a list, ascending and without repetitions. This is done where parameters are read: values are copied for each of
/// the channels that a request creates.
fn read_distinct<'de, T: Deserialize<'de> + Ord, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(distinct(Vec::deserialize(deserializer)?))
}

/// The group that holds a permission; `default` when the setting was never changed.
pub fn group_of(
    connection: &Connection,
    owner: Owner,
    setting: &str,
    default: SystemGroup,
) -> ApiResult<GroupId> {
    let (owner, owner_id) = owner.columns();
    Ok(sql::setting(connection, owner, owner_id, setting)?.unwrap_or_else(|| default.id()))
}

/// The groups of all settings of an owner that were ever changed.
pub fn all_of(connection: &Connection, owner: Owner) -> ApiResult<HashMap<String, GroupId>> {
    let (owner, owner_id) = owner.columns();
    Ok(sql::settings(connection, owner, owner_id)?.into_iter().collect())
}

/// Sets the group that holds a permission. The group that held an earlier value and nothing else goes.
pub fn set(connection: &Connection, owner: Owner, setting: &str, group: GroupId) -> ApiResult<()> {
    let (owner, owner_id) = owner.columns();
    let before = sql::setting(connection, owner, owner_id, setting)?;
    sql::put_setting(connection, owner, owner_id, setting, group)?;
    if let Some(before) = before.filter(|before| *before != group)
        && sql::is_anonymous(connection, before)?
    {
        sql::delete_anonymous(connection, before)?;
    }
    Ok(())
}

/// The value of a group as clients see it. Deactivated users are not in it.
pub fn to_wire(connection: &Connection, group: GroupId) -> ApiResult<GroupSetting> {
    if SystemGroup::with_id(group).is_some() || !sql::is_anonymous(connection, group)? {
        return Ok(GroupSetting::Group(group));
    }
    Ok(GroupSetting::Direct(DirectGroup {
        direct_members: sql::members(connection, group)?,
        direct_subgroups: sql::subgroups(connection, group)?,
    }))
}

/// A value in normal form, in which it is compared and stored: no members become `role:nobody`, a single group that
/// group, and lists ascend without duplicates.
pub fn normal(value: &GroupSetting) -> GroupSetting {
    let GroupSetting::Direct(direct) = value else { return value.clone() };
    let members = distinct(direct.direct_members.clone());
    let subgroups = distinct(direct.direct_subgroups.clone());
    match (members.as_slice(), subgroups.as_slice()) {
        ([], []) => GroupSetting::Group(SystemGroup::Nobody.id()),
        ([], [group]) => GroupSetting::Group(*group),
        _ => GroupSetting::Direct(DirectGroup { direct_members: members, direct_subgroups: subgroups }),
    }
}

/// Number of rows of a value: those of its distinct users and groups.
pub fn size(value: &GroupSetting) -> usize {
    match normal(value) {
        GroupSetting::Group(_) => 0,
        GroupSetting::Direct(direct) => direct.direct_members.len() + direct.direct_subgroups.len(),
    }
}

/// Checks a value that a client sent for a permission, and finds the group for it; where the value
/// is people or several groups, one is made.
///
/// # Errors
/// `BAD_REQUEST`: "Invalid user group", "User group is deactivated.", "Invalid user ID: ...", "Invalid user group ID:
/// ...", "'...' setting cannot be set to '...' group.", "Too many direct_members in ... (limit: ...)";
/// `SYSTEM_GROUP_REQUIRED`.
pub fn parse(connection: &Connection, rule: &Permission, value: &GroupSetting) -> ApiResult<GroupId> {
    let name = rule.name;
    let direct = match normal(value) {
        GroupSetting::Group(group) => return parse_group(connection, rule, group),
        GroupSetting::Direct(direct) => direct,
    };
    if rule.require_system_group {
        return Err(system_group_required(name));
    }
    let (members, subgroups) = (direct.direct_members.len(), direct.direct_subgroups.len());
    limits::check(&format!("direct_members in {name}"), members, MAX_DIRECT_MEMBERS)?;
    limits::check(&format!("direct_subgroups in {name}"), subgroups, MAX_DIRECT_SUBGROUPS)?;
    for user_id in &direct.direct_members {
        if !sql::is_active_user(connection, *user_id)? {
            return Err(no_such_user(*user_id));
        }
    }
    for group in &direct.direct_subgroups {
        find_subgroup(connection, *group)?;
    }
    Ok(sql::insert_anonymous(connection, &direct.direct_members, &direct.direct_subgroups)?)
}

fn parse_group(connection: &Connection, rule: &Permission, group: GroupId) -> ApiResult<GroupId> {
    let name = rule.name;
    let row = sql::group(connection, group)?.ok_or_else(|| ApiError::bad_request("Invalid user group"))?;
    if row.deactivated {
        return Err(is_deactivated());
    }
    match SystemGroup::with_id(group) {
        None if rule.require_system_group => Err(system_group_required(name)),
        Some(system) if !rule.allows(system) => Err(ApiError::bad_request(format!(
            "'{name}' setting cannot be set to '{}' group.",
            system.name()
        ))),
        _ => Ok(group),
    }
}

fn system_group_required(name: &str) -> ApiError {
    ApiError::new(400, "SYSTEM_GROUP_REQUIRED", format!("'{name}' must be a system user group."))
        .with("setting_name", name)
}

/// A group that a client names to be included in another one.
pub fn find_subgroup(connection: &Connection, group: GroupId) -> ApiResult<GroupRow> {
    let row = sql::group(connection, group)?
        .ok_or_else(|| ApiError::bad_request(format!("Invalid user group ID: {group}")))?;
    if row.deactivated { Err(is_deactivated()) } else { Ok(row) }
}

/// The refusal of a group that is no longer in use.
pub fn is_deactivated() -> ApiError {
    ApiError::bad_request("User group is deactivated.")
}

/// The refusal of a user who does not exist or is not active.
pub fn no_such_user(user_id: UserId) -> ApiError {
    ApiError::bad_request(format!("Invalid user ID: {user_id}"))
}

/// A change of a permission (spec, "Group-setting value").
#[derive(Deserialize)]
pub struct SettingChange {
    /// The new value: the id of a group, or an object with users and groups.
    new: GroupSetting,
    /// The current value, as the client knows it. If the server has another, the error is `EXPECTATION_MISMATCH`.
    #[serde(default)]
    old: Option<GroupSetting>,
}

impl SettingChange {
    /// The value to set in place of the one that a group holds; `None` when it is that one already.
    ///
    /// # Errors
    /// `EXPECTATION_MISMATCH` when the client took another value for the present one.
    pub fn after(&self, connection: &Connection, group: GroupId) -> ApiResult<Option<GroupSetting>> {
        let before = normal(&to_wire(connection, group)?);
        if self.old.as_ref().is_some_and(|expected| normal(expected) != before) {
            let msg = "'old' value does not match the expected value.";
            return Err(ApiError::new(400, "EXPECTATION_MISMATCH", msg));
        }
        let after = normal(&self.new);
        // Deactivated users are not shown, but would have the permission again later.
        let is_other = after != before
            || sql::is_anonymous(connection, group)? && sql::has_deactivated_member(connection, group)?;
        Ok(is_other.then_some(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(members: &[i64], subgroups: &[i64]) -> GroupSetting {
        GroupSetting::Direct(DirectGroup {
            direct_members: members.iter().copied().map(UserId).collect(),
            direct_subgroups: subgroups.iter().copied().map(GroupId).collect(),
        })
    }

    #[test]
    fn values_have_one_form() {
        let nobody = SystemGroup::Nobody.id();
        let cases = [
            (GroupSetting::Group(GroupId(9)), GroupSetting::Group(GroupId(9))),
            (direct(&[], &[]), GroupSetting::Group(nobody)),
            (direct(&[], &[9]), GroupSetting::Group(GroupId(9))),
            (direct(&[], &[9, 9]), GroupSetting::Group(GroupId(9))),
            (direct(&[3, 1, 3], &[]), direct(&[1, 3], &[])),
            (direct(&[1], &[9, 8]), direct(&[1], &[8, 9])),
        ];
        for (value, expected) in cases {
            assert_eq!(normal(&value), expected, "{value:?}");
        }
    }
}

//! Group settings: the value of a `can_..._group` of a channel, a group or the organization.
//!
//! On the wire a value is the id of a group, or `{direct_members, direct_subgroups}` (spec, "Group-setting value"); in
//! the file it is always a group, an anonymous one for the second form.

use super::sql;
use super::system::SystemGroup;
use crate::http::{ApiError, ApiResult};
use crate::types::{GroupId, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A group setting's value as clients write and read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "Invalid {}")]
pub enum GroupSetting {
    /// A named or system group.
    Group(GroupId),
    /// These people and groups.
    Direct(DirectGroup),
}

/// The value that is not a group of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectGroup {
    /// Users, ascending.
    pub direct_members: Vec<UserId>,
    /// Groups, ascending.
    pub direct_subgroups: Vec<GroupId>,
}

/// What a setting belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The organization.
    Realm,
    /// A channel, by id.
    Stream(i64),
    /// A user group, by id.
    Group(i64),
}

impl Owner {
    /// The owner that two columns of the file name.
    pub fn read(owner: &str, owner_id: i64) -> Self {
        match owner {
            "stream" => Self::Stream(owner_id),
            "group" => Self::Group(owner_id),
            _ => Self::Realm,
        }
    }

    fn columns(self) -> (&'static str, i64) {
        match self {
            Self::Realm => ("realm", 1),
            Self::Stream(id) => ("stream", id),
            Self::Group(id) => ("group", id),
        }
    }
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

/// Sets the group that holds a permission.
pub fn set(connection: &Connection, owner: Owner, setting: &str, group: GroupId) -> ApiResult<()> {
    let (owner, owner_id) = owner.columns();
    Ok(sql::put_setting(connection, owner, owner_id, setting, group)?)
}

/// The value of a group as clients see it.
pub fn to_wire(connection: &Connection, group: GroupId) -> ApiResult<GroupSetting> {
    if SystemGroup::with_id(group).is_some() || !sql::is_anonymous(connection, group)? {
        return Ok(GroupSetting::Group(group));
    }
    Ok(GroupSetting::Direct(DirectGroup {
        direct_members: sql::members(connection, group)?,
        direct_subgroups: sql::subgroups(connection, group)?,
    }))
}

/// The group for a value that a client sent; an anonymous one is made where needed. A value of one subgroup and no
/// members is that group.
pub fn from_wire(connection: &Connection, value: &GroupSetting) -> ApiResult<GroupId> {
    let direct = match value {
        GroupSetting::Group(id) => DirectGroup { direct_members: Vec::new(), direct_subgroups: vec![*id] },
        GroupSetting::Direct(direct) => direct.clone(),
    };
    for group in &direct.direct_subgroups {
        if !sql::is_usable(connection, *group)? {
            return Err(ApiError::bad_request("Invalid user group"));
        }
    }
    if let ([group], []) = (direct.direct_subgroups.as_slice(), direct.direct_members.as_slice()) {
        return Ok(*group);
    }
    for user_id in &direct.direct_members {
        if !sql::is_active_user(connection, *user_id)? {
            return Err(ApiError::bad_request(format!("Invalid user ID: {user_id}")));
        }
    }
    Ok(sql::insert_anonymous(connection, &direct.direct_members, &direct.direct_subgroups)?)
}

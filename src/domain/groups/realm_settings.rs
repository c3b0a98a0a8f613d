//! The organization's group settings: its permissions.

use crate::auth::Caller;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::setting;
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::system::SystemGroup;
use crate::error::ApiResult;
use crate::events::uniform_event;
use crate::types::GroupId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

impl RealmGroup {
    /// The permission to create a private or a public channel.
    pub fn to_create_channel(is_private: bool) -> Self {
        if is_private { Self::CanCreatePrivateChannel } else { Self::CanCreatePublicChannel }
    }

    /// The default holders.
    pub fn default_group(self) -> SystemGroup {
        self.permission().default.system_group()
    }
}

/// `realm`, `op: update_dict`: a permission of the organization changed.
#[derive(Serialize, Deserialize)]
#[serde(tag = "property", content = "data", rename_all = "snake_case")]
pub enum RealmPermissionUpdated {
    /// The changed permission and the group that has it now.
    Default(BTreeMap<RealmGroup, GroupSetting>),
}

uniform_event!(RealmPermissionUpdated: "realm", op "update_dict", name "realm/permission", version 1);

impl RealmPermissionUpdated {
    /// The event for a permission.
    pub fn new(permission: RealmGroup, value: GroupSetting) -> Self {
        Self::Default(BTreeMap::from([(permission, value)]))
    }
}

/// The group that holds a permission in the organization.
pub fn group(connection: &Connection, permission: RealmGroup) -> ApiResult<GroupId> {
    setting::group_of(connection, Owner::Realm, permission.name(), permission.default_group())
}

/// True if a caller has a permission in the organization. A guest does not have one that may not be given to everyone,
/// even through a group.
pub fn is_held(
    connection: &Connection,
    caller: &Caller,
    membership: &Membership,
    permission: RealmGroup,
) -> ApiResult<bool> {
    if caller.is_guest() && !permission.permission().allow_everyone_group {
        return Ok(false);
    }
    Ok(membership.contains(group(connection, permission)?))
}

//! User groups, their members, and the groups that hold permissions.

use super::error::Result;
use super::scope::Scope;
use super::tables::REALM;
use super::tables::{Tables, id_in, time};
use crate::domain::groups;
use crate::domain::groups::GroupRow;
use crate::domain::groups::owner::Owner;
use crate::domain::groups::permission::{RealmGroup, StreamSetting, UserGroupSetting};
use crate::domain::groups::roles;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::types::{GroupId, UserId};
use rusqlite::Connection;
use serde_json::json;
use std::collections::{BTreeSet, HashMap};

/// The permissions of a channel in the published release.
pub const CHANNEL_PERMISSIONS: [StreamSetting; 5] = [
    StreamSetting::CanAddSubscribers,
    StreamSetting::CanAdministerChannel,
    StreamSetting::CanRemoveSubscribers,
    StreamSetting::CanSendMessage,
    StreamSetting::CanSubscribe,
];

/// The groups of the organization.
pub struct Groups {
    named: Vec<GroupRow>,
    holders: HashMap<(Owner, String), GroupId>,
}

impl Groups {
    /// Loads the groups and the settings that name them.
    pub fn load(connection: &Connection) -> Result<Self> {
        let mut holders = HashMap::new();
        for owner in ["realm", "stream", "group"] {
            for (owner_id, setting, group) in groups::all_settings(connection, owner)? {
                holders.insert((Owner::read(owner, owner_id), setting), group);
            }
        }
        Ok(Self { named: groups::groups(connection)?, holders })
    }

    /// The group that holds a permission.
    pub fn holder(&self, owner: Owner, setting: &str, default: SystemGroup) -> GroupId {
        self.holders.get(&(owner, setting.to_owned())).copied().unwrap_or_else(|| default.id())
    }

    /// The settings that name groups: their owner, their name, and the group.
    pub fn holders(&self) -> impl Iterator<Item = (Owner, &str, GroupId)> {
        self.holders.iter().map(|((owner, setting), group)| (*owner, setting.as_str(), *group))
    }

    /// The groups with a row: the named ones, and each that holds an exported permission.
    fn exported(&self) -> BTreeSet<GroupId> {
        let named: BTreeSet<GroupId> = self.named.iter().map(|group| group.id).collect();
        let is_exported = |owner: &Owner, setting: &str| match owner {
            Owner::Realm => RealmGroup::named(setting).is_some(),
            Owner::Stream(_) => CHANNEL_PERMISSIONS.iter().any(|permission| permission.name() == setting),
            Owner::Group(id) => named.contains(&GroupId(*id)) && UserGroupSetting::named(setting).is_some(),
        };
        let holders = self.holders.iter().filter(|((owner, setting), _)| is_exported(owner, setting));
        holders.map(|(_, group)| *group).chain(named.iter().copied()).collect()
    }

    /// Writes the groups.
    pub fn write(
        &self,
        tables: &mut Tables<'_>,
        connection: &Connection,
        scope: &Scope,
        now: i64,
    ) -> Result<()> {
        let exported = self.exported();
        tables.table("zerver_usergroup", |rows| {
            for group in &exported {
                rows.push(&json!({"id": group, "realm": REALM}))?;
            }
            Ok(())
        })?;
        tables.table("zerver_namedusergroup", |rows| {
            for group in &self.named {
                let is_system = group.is_system_group;
                let mut row = json!({
                    "id": group.id,
                    "usergroup_ptr": group.id,
                    "name": group.name,
                    "description": group.description,
                    "date_created": group.date_created.filter(|_| !is_system).map(time),
                    "creator": group.creator_id.filter(|creator| !is_system && scope.has(creator.0)),
                    "is_system_group": is_system,
                    "realm_for_sharding": REALM,
                    "deactivated": group.deactivated,
                });
                for setting in UserGroupSetting::ALL {
                    let default = setting.default_group(is_system);
                    let holder = if is_system {
                        default.id()
                    } else {
                        self.holder(Owner::Group(group.id.0), setting.name(), default)
                    };
                    row[setting.name()] = holder.0.into();
                }
                rows.push(&row)?;
            }
            Ok(())
        })?;
        let waiting_period = WaitingPeriod::load(connection, now)?;
        tables.table("zerver_usergroupmembership", |rows| {
            let mut push = |group: GroupId, user_id: UserId| {
                let id = rows.next_id();
                rows.push(&json!({"id": id, "user_group": group, "user_profile": user_id}))
            };
            for (user_id, person) in &scope.people {
                let is_new = waiting_period.is_new(person.row.date_joined);
                for group in roles::naming(SystemGroup::of(person.row.role, is_new)) {
                    push(group.id(), *user_id)?;
                }
            }
            for (group, user_id) in groups::all_memberships(connection)? {
                if exported.contains(&group) && scope.has(user_id.0) {
                    push(group, user_id)?;
                }
            }
            Ok(())
        })?;
        tables.select(
            "zerver_groupgroupmembership",
            connection,
            "SELECT group_id AS supergroup, subgroup_id AS subgroup FROM user_group_subgroup ORDER BY group_id, subgroup_id",
            |row| Ok(exported.contains(&GroupId(id_in(row, "supergroup")))),
        )
    }
}

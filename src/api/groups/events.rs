//! Events about groups, and the groups in the answer of `POST /register`.

use super::permission::UserGroupSetting;
use super::setting::{self, GroupSetting, Owner};
use super::sql;
use super::system::SystemGroup;
use crate::api::realm;
use crate::api::register::StateRequest;
use crate::api::users::record::UserRow;
use crate::api::users::sql as users;
use crate::events::{Audience, Event};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{GroupId, Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// A group on the wire (`semantics.md` section 10).
#[derive(Clone, Debug, Serialize)]
pub struct GroupRecord {
    id: GroupId,
    name: String,
    description: String,
    /// Those that the group names itself and whose accounts are in use, ascending.
    members: Vec<UserId>,
    /// The groups that it includes itself, ascending.
    direct_subgroup_ids: Vec<GroupId>,
    is_system_group: bool,
    creator_id: Option<UserId>,
    /// UNIX seconds.
    date_created: Option<i64>,
    deactivated: bool,
    /// `can_..._group`.
    #[serde(flatten)]
    settings: Map<String, Value>,
}

/// `user_group`, `op: add_members` and `remove_members`.
#[derive(Serialize)]
pub struct MembersChanged<'a> {
    r#type: &'static str,
    op: &'static str,
    group_id: GroupId,
    user_ids: &'a [UserId],
}

impl<'a> MembersChanged<'a> {
    /// Users are new in a group, or no longer in it.
    pub fn new(added: bool, group_id: GroupId, user_ids: &'a [UserId]) -> Self {
        let op = if added { "add_members" } else { "remove_members" };
        Self { r#type: Self::TYPE, op, group_id, user_ids }
    }
}

impl Event for MembersChanged<'_> {
    const TYPE: &'static str = "user_group";
}

/// `user_group`, `op: update`.
#[derive(Serialize)]
pub struct GroupUpdated {
    r#type: &'static str,
    op: &'static str,
    group_id: GroupId,
    data: Map<String, Value>,
}

impl GroupUpdated {
    /// The members of a group's record that changed.
    pub fn new(group_id: GroupId, data: Map<String, Value>) -> Self {
        Self { r#type: Self::TYPE, op: "update", group_id, data }
    }
}

impl Event for GroupUpdated {
    const TYPE: &'static str = "user_group";
}

/// The system groups that name a user as a member. A full member is named by the group of members too.
fn named_by(role: Role, is_new: bool) -> &'static [SystemGroup] {
    match SystemGroup::of(role, is_new) {
        SystemGroup::Owners => &[SystemGroup::Owners],
        SystemGroup::Administrators => &[SystemGroup::Administrators],
        SystemGroup::Moderators => &[SystemGroup::Moderators],
        SystemGroup::FullMembers => &[SystemGroup::Members, SystemGroup::FullMembers],
        SystemGroup::Members => &[SystemGroup::Members],
        SystemGroup::Everyone | SystemGroup::Internet => &[SystemGroup::Everyone],
        SystemGroup::Nobody => &[],
    }
}

/// Tells everybody of the system groups that a new user is in.
pub fn role_given(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let is_new = is_new(tx, user.date_joined, tx.now())?;
    let everyone = Audience::set(users::active_ids(tx)?);
    for group in named_by(user.role, is_new) {
        tx.emit(&MembersChanged::new(true, group.id(), &[user.user_id]), everyone.clone());
    }
    Ok(())
}

/// The active users whom each system group names.
pub fn named_by_role(connection: &Connection, now: i64) -> ApiResult<BTreeMap<GroupId, RoaringBitmap>> {
    let waiting_days: i64 = realm::settings::get(connection, "waiting_period_threshold")?;
    let mut named: BTreeMap<GroupId, RoaringBitmap> = BTreeMap::new();
    for (user_id, role, date_joined) in sql::active_users(connection)? {
        let is_new = now - date_joined < waiting_days * SECONDS_PER_DAY;
        for group in named_by(role, is_new) {
            named.entry(group.id()).or_default().extend(user_id.bit());
        }
    }
    Ok(named)
}

/// Whether somebody who joined then still is new, if they are a member.
fn is_new(connection: &Connection, date_joined: i64, now: i64) -> ApiResult<bool> {
    let waiting_days: i64 = realm::settings::get(connection, "waiting_period_threshold")?;
    Ok(now - date_joined < waiting_days * SECONDS_PER_DAY)
}

/// All system and named groups, by id.
pub fn all(connection: &Connection, include_deactivated: bool, now: i64) -> ApiResult<Vec<GroupRecord>> {
    let mut members: HashMap<GroupId, Vec<UserId>> = HashMap::new();
    for (group, user_id) in sql::all_memberships(connection)? {
        members.entry(group).or_default().push(user_id);
    }
    for (group, users) in named_by_role(connection, now)? {
        members.entry(group).or_default().extend(users.into_iter().map(UserId::from));
    }
    let mut subgroups: HashMap<GroupId, Vec<GroupId>> = HashMap::new();
    for (group, subgroup) in sql::all_inclusions(connection)? {
        subgroups.entry(group).or_default().push(subgroup);
    }
    let mut records = Vec::new();
    for row in sql::groups(connection)? {
        if row.deactivated && !include_deactivated {
            continue;
        }
        let settings = settings(connection, &row)?;
        records.push(GroupRecord {
            id: row.id,
            name: row.name,
            description: row.description,
            members: members.remove(&row.id).unwrap_or_default(),
            direct_subgroup_ids: subgroups.remove(&row.id).unwrap_or_default(),
            is_system_group: row.is_system_group,
            creator_id: row.creator_id,
            date_created: row.date_created,
            deactivated: row.deactivated,
            settings,
        });
    }
    Ok(records)
}

fn settings(connection: &Connection, row: &sql::GroupRow) -> ApiResult<Map<String, Value>> {
    let changed = setting::all_of(connection, Owner::Group(row.id.0))?;
    let mut settings = Map::new();
    for group_setting in UserGroupSetting::ALL {
        let value = match changed.get(group_setting.name()) {
            Some(group) => setting::to_wire(connection, *group)?,
            None => GroupSetting::Group(group_setting.default_group(row.is_system_group).id()),
        };
        settings.insert(group_setting.name().to_owned(), serde_json::to_value(value)?);
    }
    Ok(settings)
}

/// Word `realm_user_groups`.
pub fn state(request: &StateRequest<'_>, state: &mut Map<String, Value>) -> ApiResult<()> {
    let include_deactivated = request.registration.client_capabilities.include_deactivated_groups;
    let groups = all(request.connection, include_deactivated, request.now)?;
    state.insert("realm_user_groups".into(), serde_json::to_value(groups)?);
    Ok(())
}

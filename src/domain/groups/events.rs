//! Events about groups, and the groups in the answer of `POST /register`.

use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::roles::{ActiveUsersByRole, UserFilter, naming};
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::sql::GroupRow;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::domain::groups::{setting, sql};
use crate::domain::realm::user_ids;
use crate::error::ApiResult;
use crate::events::{Event, Form, Receiver, Routed, uniform_event};
use crate::store::Tx;
use crate::types::{GroupId, Role, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// A user group, named or system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupRecord {
    /// The group's id.
    id: GroupId,
    /// The name, which no other group has.
    name: String,
    /// The purpose of the group, as plain text.
    description: String,
    /// The ids of the direct members with active accounts, ascending.
    members: Vec<UserId>,
    /// The ids of the direct subgroups, ascending.
    direct_subgroup_ids: Vec<GroupId>,
    /// True if the members follow from the roles of users.
    is_system_group: bool,
    /// The user id of the creator; null for system groups.
    creator_id: Option<UserId>,
    /// When the group was created, in UNIX seconds; null for system groups.
    date_created: Option<i64>,
    /// True if the group is deactivated.
    deactivated: bool,
    /// `can_..._group`.
    #[serde(flatten)]
    settings: BTreeMap<UserGroupSetting, GroupSetting>,
}

/// Routing of an event about a group.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct GroupRouting {
    is_deactivated: bool,
}

impl GroupRouting {
    /// Checks whether a client has the group.
    pub fn reaches(&self, receiver: &Receiver<'_>) -> bool {
        !self.is_deactivated || receiver.registration.client_capabilities.include_deactivated_groups
    }
}

/// `user_group`, `op: add`: a group was created.
#[derive(Serialize, Deserialize)]
pub struct GroupAdded {
    group: GroupRecord,
}

impl GroupAdded {
    /// The event for a new group.
    pub fn new(group: GroupRecord) -> Self {
        Self { group }
    }
}

uniform_event!(GroupAdded: "user_group", op "add", version 1);

/// `user_group`, `op: add_members` and `remove_members`: direct members of a group changed.
#[derive(Serialize, Deserialize)]
pub struct MembersChanged {
    /// `add_members` or `remove_members`.
    op: Cow<'static, str>,
    /// The id of the group.
    group_id: GroupId,
    /// The ids of the users who were added or removed.
    user_ids: Vec<UserId>,
}

impl MembersChanged {
    /// The event for users who are new in a group, or no longer in it.
    pub fn new(added: bool, group_id: GroupId, user_ids: &[UserId]) -> Routed<Self> {
        let op = if added { "add_members" } else { "remove_members" };
        let event = Self { op: op.into(), group_id, user_ids: user_ids.to_vec() };
        Routed { event, routing: GroupRouting { is_deactivated: false } }
    }
}

impl Routed<MembersChanged> {
    /// The event for a group that is deactivated or not: not every client has those that are.
    #[must_use]
    pub fn deactivated(self, is_deactivated: bool) -> Self {
        Self { routing: GroupRouting { is_deactivated }, ..self }
    }
}

uniform_event!(
    MembersChanged: "user_group", name "user_group/members", version 1,
    routing GroupRouting, if GroupRouting::reaches
);

/// `user_group`, `op: add_subgroups` and `remove_subgroups`: direct subgroups of a group changed.
#[derive(Serialize, Deserialize)]
pub struct SubgroupsChanged {
    /// `add_subgroups` or `remove_subgroups`.
    op: Cow<'static, str>,
    /// The id of the group.
    group_id: GroupId,
    /// The ids of the groups that were added or removed.
    direct_subgroup_ids: Vec<GroupId>,
}

impl SubgroupsChanged {
    /// The event for a group that includes others, or no longer.
    pub fn new(added: bool, group: &GroupRow, direct_subgroup_ids: &[GroupId]) -> Routed<Self> {
        let op = if added { "add_subgroups" } else { "remove_subgroups" };
        let direct_subgroup_ids = direct_subgroup_ids.to_vec();
        let event = Self { op: op.into(), group_id: group.id, direct_subgroup_ids };
        Routed { event, routing: GroupRouting { is_deactivated: group.deactivated } }
    }
}

uniform_event!(
    SubgroupsChanged: "user_group", name "user_group/subgroups", version 1,
    routing GroupRouting, if GroupRouting::reaches
);

/// `user_group`, `op: update`: a property of a group changed. Clients without the `include_deactivated_groups`
/// capability receive `remove` and `add` when a group is deactivated and reactivated.
#[derive(Serialize, Deserialize)]
pub struct GroupUpdated {
    /// The id of the group.
    group_id: GroupId,
    /// The changed members of its record.
    data: GroupChange,
}

/// Changed members of the record of a group.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupChange {
    /// The new name.
    Name(String),
    /// The new description.
    Description(String),
    /// True if the group was deactivated, false if it was reactivated.
    Deactivated(bool),
    /// The changed permission and the group that has it now.
    #[serde(untagged)]
    Permission(BTreeMap<UserGroupSetting, GroupSetting>),
}

impl GroupChange {
    /// Other people have a permission.
    pub fn permission(setting: UserGroupSetting, value: GroupSetting) -> Self {
        Self::Permission(BTreeMap::from([(setting, value)]))
    }
}

/// `user_group`, `op: remove`: a group was deactivated, for clients without the `include_deactivated_groups`
/// capability.
#[derive(Serialize)]
struct GroupRemoved {
    /// The id of the group.
    group_id: GroupId,
}

/// Routing of a [`GroupUpdated`].
#[derive(Serialize, Deserialize)]
pub enum GroupUpdatedRouting {
    /// A change of a group that is deactivated or not.
    Change(GroupRouting),
    /// The group is deactivated from now on.
    Deactivated,
    /// The group is in use again. The whole group, as it is now.
    Reactivated(Box<GroupRecord>),
}

/// Variant of a [`GroupUpdated`] for a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum GroupUpdatedForm {
    /// The change of a member of the record.
    Update,
    /// The group was removed.
    Removal,
    /// The group is new.
    Addition,
}

impl GroupUpdated {
    /// The event for a member of a group's record that changed.
    pub fn new(group: &GroupRow, data: GroupChange) -> Routed<Self> {
        let routing = GroupRouting { is_deactivated: group.deactivated };
        Routed { event: Self { group_id: group.id, data }, routing: GroupUpdatedRouting::Change(routing) }
    }

    /// The event for a group that is deactivated.
    pub fn deactivated(group: &GroupRow) -> Routed<Self> {
        let event = Self { group_id: group.id, data: GroupChange::Deactivated(true) };
        Routed { event, routing: GroupUpdatedRouting::Deactivated }
    }

    /// The event for a group that is in use again.
    pub fn reactivated(group: &GroupRow, record: GroupRecord) -> Routed<Self> {
        let event = Self { group_id: group.id, data: GroupChange::Deactivated(false) };
        Routed { event, routing: GroupUpdatedRouting::Reactivated(Box::new(record)) }
    }
}

impl Event for GroupUpdated {
    const TYPE: &'static str = "user_group";
    const OP: Option<&'static str> = Some("update");
    const NAME: &'static str = "user_group/update";
    const VERSION: u32 = 1;
    type Routing = GroupUpdatedRouting;
    type Variant = GroupUpdatedForm;

    fn deliver(&self, routing: &GroupUpdatedRouting, receiver: &Receiver<'_>) -> Option<GroupUpdatedForm> {
        if receiver.registration.client_capabilities.include_deactivated_groups {
            return Some(GroupUpdatedForm::Update);
        }
        match routing {
            GroupUpdatedRouting::Change(group) => group.reaches(receiver).then_some(GroupUpdatedForm::Update),
            GroupUpdatedRouting::Deactivated => Some(GroupUpdatedForm::Removal),
            GroupUpdatedRouting::Reactivated(_) => Some(GroupUpdatedForm::Addition),
        }
    }

    fn form(&self, routing: &GroupUpdatedRouting, form: GroupUpdatedForm) -> serde_json::Result<Form> {
        match (form, routing) {
            (GroupUpdatedForm::Addition, GroupUpdatedRouting::Reactivated(group)) => {
                Form::of(&GroupAdded { group: GroupRecord::clone(group) })
            }
            (GroupUpdatedForm::Removal, _) => {
                Form::with_op::<Self>("remove", &GroupRemoved { group_id: self.group_id })
            }
            _ => Form::of(self),
        }
    }
}

/// Emits the membership of a new user in the system groups of their role, to all users.
pub fn emit_role_given(tx: &mut Tx<'_>, user_id: UserId, role: Role, date_joined: i64) -> ApiResult<()> {
    let is_new = WaitingPeriod::load(tx, tx.now())?.is_new(date_joined);
    let everyone = user_ids::everyone(tx)?;
    for group in naming(SystemGroup::of(role, is_new)) {
        tx.emit(MembersChanged::new(true, group.id(), &[user_id]), everyone.clone());
    }
    Ok(())
}

/// All system and named groups, by id.
pub fn all(connection: &Connection, include_deactivated: bool, now: i64) -> ApiResult<Vec<GroupRecord>> {
    let mut members: HashMap<GroupId, Vec<UserId>> = HashMap::new();
    for (group, user_id) in sql::all_memberships(connection)? {
        members.entry(group).or_default().push(user_id);
    }
    let roles = ActiveUsersByRole::load(connection, UserFilter::Everyone, now)?;
    for (group, users) in roles.named_by_groups() {
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
        let members = members.remove(&row.id).unwrap_or_default();
        let subgroups = subgroups.remove(&row.id).unwrap_or_default();
        records.push(record(connection, row, members, subgroups)?);
    }
    Ok(records)
}

/// One group as clients see it now; not a system group, whose members follow from roles.
pub fn named(connection: &Connection, row: &GroupRow) -> ApiResult<GroupRecord> {
    let members = sql::members(connection, row.id)?;
    record(connection, row.clone(), members, sql::subgroups(connection, row.id)?)
}

fn record(
    connection: &Connection,
    row: GroupRow,
    members: Vec<UserId>,
    direct_subgroup_ids: Vec<GroupId>,
) -> ApiResult<GroupRecord> {
    let settings = settings(connection, &row)?;
    Ok(GroupRecord {
        id: row.id,
        name: row.name,
        description: row.description,
        members,
        direct_subgroup_ids,
        is_system_group: row.is_system_group,
        creator_id: row.creator_id,
        date_created: row.date_created,
        deactivated: row.deactivated,
        settings,
    })
}

fn settings(connection: &Connection, row: &GroupRow) -> ApiResult<BTreeMap<UserGroupSetting, GroupSetting>> {
    let changed = setting::all_of(connection, Owner::Group(row.id.0))?;
    let mut settings = BTreeMap::new();
    for group_setting in UserGroupSetting::ALL {
        let value = match changed.get(group_setting.name()) {
            Some(group) => setting::to_wire(connection, *group)?,
            None => GroupSetting::Group(group_setting.default_group(row.is_system_group).id()),
        };
        settings.insert(group_setting, value);
    }
    Ok(settings)
}

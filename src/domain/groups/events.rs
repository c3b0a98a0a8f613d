//! Events about groups, and the groups in the answer of `POST /register`.

use crate::domain::channels::events::without_hidden;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::sql::GroupRow;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::domain::groups::{setting, sql};
use crate::domain::realm::user_ids as users;
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::{GroupId, Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// A group on the wire.
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

/// `user_group`, `op: add`: a group was made.
#[derive(Serialize)]
pub struct GroupAdded {
    r#type: &'static str,
    op: &'static str,
    group: GroupRecord,
}

impl GroupAdded {
    /// The event for a new group.
    pub fn new(group: GroupRecord) -> Self {
        Self { r#type: Self::TYPE, op: "add", group }
    }
}

impl Event for GroupAdded {
    const TYPE: &'static str = "user_group";
}

/// `user_group`, `op: add_members` and `remove_members`.
#[derive(Serialize)]
pub struct MembersChanged<'a> {
    r#type: &'static str,
    op: &'static str,
    group_id: GroupId,
    user_ids: &'a [UserId],
    #[serde(rename = "_deactivated", skip_serializing_if = "std::ops::Not::not")]
    deactivated: bool,
}

impl<'a> MembersChanged<'a> {
    /// Users are new in a group, or no longer in it.
    pub fn new(added: bool, group_id: GroupId, user_ids: &'a [UserId]) -> Self {
        let op = if added { "add_members" } else { "remove_members" };
        Self { r#type: Self::TYPE, op, group_id, user_ids, deactivated: false }
    }

    /// Of a group that is deactivated or not: not every client has those that are.
    #[must_use]
    pub fn deactivated(self, deactivated: bool) -> Self {
        Self { deactivated, ..self }
    }
}

impl Event for MembersChanged<'_> {
    const TYPE: &'static str = "user_group";
}

/// `user_group`, `op: add_subgroups` and `remove_subgroups`.
#[derive(Serialize)]
pub struct SubgroupsChanged<'a> {
    r#type: &'static str,
    op: &'static str,
    group_id: GroupId,
    direct_subgroup_ids: &'a [GroupId],
    #[serde(rename = "_deactivated", skip_serializing_if = "std::ops::Not::not")]
    deactivated: bool,
}

impl<'a> SubgroupsChanged<'a> {
    /// A group includes others, or no longer.
    pub fn new(added: bool, group: &GroupRow, direct_subgroup_ids: &'a [GroupId]) -> Self {
        let op = if added { "add_subgroups" } else { "remove_subgroups" };
        Self {
            r#type: Self::TYPE,
            op,
            group_id: group.id,
            direct_subgroup_ids,
            deactivated: group.deactivated,
        }
    }
}

impl Event for SubgroupsChanged<'_> {
    const TYPE: &'static str = "user_group";
}

/// `user_group`, `op: update`.
#[derive(Serialize)]
pub struct GroupUpdated {
    r#type: &'static str,
    op: &'static str,
    group_id: GroupId,
    data: Map<String, Value>,
    #[serde(rename = "_deactivated", skip_serializing_if = "std::ops::Not::not")]
    deactivated: bool,
    /// The whole group, for clients to which its return is its creation.
    #[serde(rename = "_group", skip_serializing_if = "Option::is_none")]
    group: Option<GroupRecord>,
}

impl GroupUpdated {
    /// A member of a group's record changed.
    pub fn new(group: &GroupRow, name: &str, value: impl Into<Value>) -> Self {
        let data = Map::from_iter([(name.to_owned(), value.into())]);
        let deactivated = group.deactivated;
        Self { r#type: Self::TYPE, op: "update", group_id: group.id, data, deactivated, group: None }
    }

    /// A group is deactivated.
    pub fn deactivated(group: &GroupRow) -> Self {
        Self::new(group, DEACTIVATED, true)
    }

    /// A group is in use again.
    pub fn reactivated(group: &GroupRow, record: GroupRecord) -> Self {
        Self { group: Some(record), ..Self::new(group, DEACTIVATED, false) }
    }
}

impl Event for GroupUpdated {
    const TYPE: &'static str = "user_group";
}

const DEACTIVATED: &str = "deactivated";

/// The event as it is.
const PLAIN: u8 = 0;

/// Deactivation, to a client that has no deactivated groups.
const AS_REMOVAL: u8 = 1;

/// The end of it, to such a client.
const AS_ADDITION: u8 = 2;

/// How `user_group` events differ between receivers: without the `include_deactivated_groups` capability, a group that
/// is deactivated is gone.
pub fn event_types() -> Vec<EventType> {
    vec![EventType { name: "user_group", verdict, form, personal: EventType::nothing_personal }]
}

fn verdict(event: &Value, receiver: &Receiver<'_>) -> Verdict {
    if receiver.registration.client_capabilities.include_deactivated_groups {
        return Verdict::Form(PLAIN);
    }
    match event["data"].get(DEACTIVATED) {
        Some(Value::Bool(true)) => Verdict::Form(AS_REMOVAL),
        Some(_) => Verdict::Form(AS_ADDITION),
        None if event["_deactivated"] == true => Verdict::Skip,
        None => Verdict::Form(PLAIN),
    }
}

fn form(event: &Value, number: u8) -> String {
    let shown = match number {
        AS_REMOVAL => json!({ "type": "user_group", "op": "remove", "group_id": event["group_id"] }),
        AS_ADDITION => json!({ "type": "user_group", "op": "add", "group": event["_group"] }),
        _ => without_hidden(event),
    };
    shown.to_string()
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
pub fn role_given(tx: &mut Tx<'_>, user_id: UserId, role: Role, date_joined: i64) -> ApiResult<()> {
    let is_new = WaitingPeriod::load(tx, tx.now())?.is_new(date_joined);
    let everyone = Audience::set(users::active_ids(tx)?);
    for group in named_by(role, is_new) {
        tx.emit(&MembersChanged::new(true, group.id(), &[user_id]), everyone.clone());
    }
    Ok(())
}

/// The active users whom each system group names.
pub fn named_by_role(connection: &Connection, now: i64) -> ApiResult<BTreeMap<GroupId, RoaringBitmap>> {
    let waiting_period = WaitingPeriod::load(connection, now)?;
    let mut named: BTreeMap<GroupId, RoaringBitmap> = BTreeMap::new();
    for (user_id, role, date_joined) in sql::active_users(connection)? {
        for group in named_by(role, waiting_period.is_new(date_joined)) {
            named.entry(group.id()).or_default().extend(user_id.bit());
        }
    }
    Ok(named)
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

fn settings(connection: &Connection, row: &GroupRow) -> ApiResult<Map<String, Value>> {
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
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let include_deactivated = request.registration.client_capabilities.include_deactivated_groups;
    let groups = all(request.connection, include_deactivated, request.now)?;
    state.insert_large("realm_user_groups", &groups)?;
    Ok(())
}

//! A change of who is who: somebody gets another role, joins or leaves a group, is deactivated or comes back; a group
//! gets other subgroups or is deactivated; members are full members sooner.
//!
//! Who may know of a channel follows from these, and no operation that changes them is about channels. So all of them
//! run inside [`change`]: it remembers who knew what, and afterwards tells each who gained or lost something.

pub mod channels;
pub mod users;

use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channel_viewers::People;
use crate::domain::channels::events::{PeersChanged, StreamDeleted, StreamUpdated};
use crate::domain::channels::record::Records;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::events::{GroupUpdated, MembersChanged, named_by_role};
use crate::domain::groups::graph::Graph;
use crate::domain::groups::realm_settings::permission_changed;
use crate::domain::groups::setting;
use crate::domain::groups::setting::Owner;
use crate::domain::realm::user_ids;
use crate::domain::subscriptions::members;
use crate::domain::{access, subscriptions, users as domain_users};
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{GroupId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap};

/// Runs a change of who is who, and tells of what follows from it:
///
/// - `user_group` `remove_members` and `add_members` of the system groups, to everybody, for those whose role changed;
/// - `stream` `create` with `subscription` `peer_add`, and `stream` `delete`, to those who may know of a channel now
///   and could not before, or the other way round;
/// - for users who are active again: `user_group` `add_members` of every group that they are in, and `subscription`
///   `peer_add` of every channel that they are subscribed to, and the new value of every setting
///   that names them. Of a deactivated user clients forget these themselves; guests who do not hear of that, since
///   they cannot access the user, are told of groups and settings.
///
/// What the change is in itself, the change tells: its events come first. It must not make users, nor change channels
/// or subscriptions; those have their own ways of telling. The cost is two walks over users, groups and channels, and
/// then what there is to tell: milliseconds with 1,000 of each.
pub fn change<T>(tx: &mut Tx<'_>, change: impl FnOnce(&mut Tx<'_>) -> ApiResult<T>) -> ApiResult<T> {
    let before = Known::load(tx)?;
    let answer = change(tx)?;
    members::forget_all(tx);
    let after = Known::load(tx)?;
    tell_roles(tx, &before, &after)?;
    tell_channels(tx, &before, &after)?;
    tell_departures(tx, &before, &after)?;
    tell_returns(tx, &before, &after)?;
    Ok(answer)
}

/// What follows from who is who.
struct Known {
    people: People,
    /// Users who are not active.
    inactive: RoaringBitmap,
    /// Who is named by each system group.
    by_role: BTreeMap<GroupId, RoaringBitmap>,
    /// The channels, and who may know of each without being subscribed.
    channels: Vec<(StreamRow, RoaringBitmap)>,
}

impl Known {
    fn load(connection: &Tx<'_>) -> ApiResult<Self> {
        let now = connection.now();
        let people = People::load(connection)?;
        let mut graph = Graph::load(connection, now)?;
        let mut settings = settings_that_show(connection)?;
        let mut channels = Vec::new();
        for stream in crate::domain::channels::sql::all(connection)? {
            let set = settings.remove(&stream.stream_id).unwrap_or_default();
            let seen = seen_without_subscription(&people, &mut graph, &stream, &set);
            channels.push((stream, seen));
        }
        Ok(Self {
            people,
            inactive: user_ids::inactive_ids(connection)?,
            by_role: named_by_role(connection, now)?,
            channels,
        })
    }
}

/// The groups of the settings that let people know of private channels, where they were ever set.
fn settings_that_show(
    connection: &Connection,
) -> ApiResult<HashMap<StreamId, HashMap<StreamSetting, GroupId>>> {
    let mut all: HashMap<StreamId, HashMap<StreamSetting, GroupId>> = HashMap::new();
    for setting in StreamSetting::ALL.into_iter().filter(|setting| setting.shows_channel()) {
        for (stream_id, group) in crate::domain::groups::sql::of_all_streams(connection, setting.name())? {
            all.entry(stream_id).or_default().insert(setting, group);
        }
    }
    Ok(all)
}

/// [`channel_viewers::to`] without the subscribers.
fn seen_without_subscription(
    people: &People,
    graph: &mut Graph,
    stream: &StreamRow,
    set: &HashMap<StreamSetting, GroupId>,
) -> RoaringBitmap {
    if stream.is_web_public {
        return people.active.clone();
    }
    if stream.is_public() {
        return people.members();
    }
    let mut seen = RoaringBitmap::new();
    for setting in StreamSetting::ALL.into_iter().filter(|setting| setting.shows_channel()) {
        let group = set.get(&setting).copied().unwrap_or_else(|| setting.default_group().id());
        seen |= graph.all(group);
    }
    (seen - &people.guests) | &people.administrators
}

/// Tells everybody whom the system groups name now. Of users who are deactivated clients know it.
fn tell_roles(tx: &mut Tx<'_>, before: &Known, after: &Known) -> ApiResult<()> {
    let still_here = &before.people.active & &after.people.active;
    let empty = RoaringBitmap::new();
    let everyone = Audience::set(after.people.active.clone());
    for added in [false, true] {
        let (from, to) = if added { (before, after) } else { (after, before) };
        for (group, users) in &to.by_role {
            let changed = (users - from.by_role.get(group).unwrap_or(&empty)) & &still_here;
            if !changed.is_empty() {
                let users: Vec<UserId> = changed.iter().map(UserId::from).collect();
                tx.emit(MembersChanged::new(added, *group, &users), everyone.clone());
            }
        }
    }
    Ok(())
}

/// Tells those who may know of a channel now that it is there, and those who may no longer that it is gone. Only who
/// was active and still is can have heard of it.
fn tell_channels(tx: &mut Tx<'_>, before: &Known, after: &Known) -> ApiResult<()> {
    let still_here = &before.people.active & &after.people.active;
    let mut changes = Vec::new();
    for ((stream, seen_before), (_, seen_after)) in before.channels.iter().zip(&after.channels) {
        let gained = (seen_after - seen_before) & &still_here;
        let lost = (seen_before - seen_after) & &still_here;
        let (gained, lost) = (unsubscribed(tx, stream, gained)?, unsubscribed(tx, stream, lost)?);
        if !gained.is_empty() || !lost.is_empty() {
            changes.push((stream, gained, lost));
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    let records = Records::new(tx, tx.now())?;
    let mut told = Vec::with_capacity(changes.len());
    for (stream, gained, lost) in changes {
        let record = if gained.is_empty() { None } else { Some(records.of(stream)?) };
        told.push((stream, record, gained, lost));
    }
    for (stream, record, gained, lost) in told {
        if let Some(record) = record {
            channels::emit_gained(tx, stream, record, gained)?;
        }
        tx.emit(StreamDeleted::new(stream.stream_id, stream.is_archived), Audience::set(lost));
    }
    Ok(())
}

/// Those of the users who are not subscribed to a channel: subscribers know of it in any case.
fn unsubscribed(
    connection: &Connection,
    stream: &StreamRow,
    users: RoaringBitmap,
) -> ApiResult<RoaringBitmap> {
    let mut unsubscribed = RoaringBitmap::new();
    for bit in users {
        if !channel_rows::is_subscribed(connection, bit.into(), stream.stream_id)? {
            unsubscribed.insert(bit);
        }
    }
    Ok(unsubscribed)
}

/// Tells those who do not hear that users are deactivated that they are in no group and no setting any more.
fn tell_departures(tx: &mut Tx<'_>, before: &Known, after: &Known) -> ApiResult<()> {
    let departed = &before.people.active & &after.inactive;
    for user_id in departed.iter().map(UserId::from) {
        let user = domain_users::find::by_id(tx, user_id)?;
        let unaware = &after.people.active - access::users::who_can_access(tx, &user)?;
        if unaware.is_empty() {
            continue;
        }
        let named = crate::domain::groups::sql::groups_that_name(tx, user_id)?;
        let by_role =
            before.by_role.iter().filter(|(_, users)| user_id.bit().is_some_and(|bit| users.contains(bit)));
        for group in named.into_iter().chain(by_role.map(|(group, _)| *group)) {
            tx.emit(MembersChanged::new(false, group, &[user_id]), Audience::set(unaware.clone()));
        }
        tell_settings(tx, after, &user_id.bit().into_iter().collect(), &unaware)?;
    }
    Ok(())
}

/// Tells where users who are active again are.
fn tell_returns(tx: &mut Tx<'_>, before: &Known, after: &Known) -> ApiResult<()> {
    let returned = &before.inactive & &after.people.active;
    if returned.is_empty() {
        return Ok(());
    }
    let everyone = Audience::set(after.people.active.clone());
    let mut groups: BTreeMap<GroupId, Vec<UserId>> = BTreeMap::new();
    let mut channels: BTreeMap<StreamId, RoaringBitmap> = BTreeMap::new();
    for user_id in returned.iter().map(UserId::from) {
        let named = crate::domain::groups::sql::groups_that_name(tx, user_id)?;
        let by_role =
            after.by_role.iter().filter(|(_, users)| user_id.bit().is_some_and(|bit| users.contains(bit)));
        for group in named.into_iter().chain(by_role.map(|(group, _)| *group)) {
            groups.entry(group).or_default().push(user_id);
        }
        for own in subscriptions::sql::own(tx, user_id)? {
            channels.entry(own.stream_id).or_default().extend(user_id.bit());
        }
    }
    for (group, users) in groups {
        let deactivated =
            crate::domain::groups::sql::group(tx, group)?.is_some_and(|group| group.deactivated);
        tx.emit(MembersChanged::new(true, group, &users).deactivated(deactivated), everyone.clone());
    }
    tell_settings(tx, after, &returned, &after.people.active)?;
    for (stream, seen) in &after.channels {
        if let Some(users) = channels.get(&stream.stream_id) {
            let others = (seen | channel_rows::subscribers(tx, stream.stream_id)?) - users;
            let event = PeersChanged::added(vec![stream.stream_id], users, stream.is_archived);
            tx.emit(event, Audience::set(others));
        }
    }
    Ok(())
}

/// Tells the settings that name users who are active again, or no longer.
fn tell_settings(
    tx: &mut Tx<'_>,
    after: &Known,
    users: &RoaringBitmap,
    receivers: &RoaringBitmap,
) -> ApiResult<()> {
    let everyone = Audience::set(receivers.clone());
    let mut settings = BTreeMap::new();
    for user_id in users.iter().map(UserId::from) {
        for (owner, setting, group) in crate::domain::groups::sql::settings_that_name(tx, user_id)? {
            settings.insert((owner, setting), group);
        }
    }
    for ((owner, name), group) in settings {
        let value = serde_json::to_value(setting::to_wire(tx, group)?)?;
        match owner {
            Owner::Group(id) => {
                if let Some(group) = crate::domain::groups::sql::group(tx, GroupId(id))? {
                    tx.emit(GroupUpdated::new(&group, &name, value), everyone.clone());
                }
            }
            Owner::Stream(id) => {
                let known = after.channels.iter().find(|(stream, _)| stream.stream_id.0 == id);
                let name = StreamSetting::ALL.into_iter().find(|setting| setting.name() == name);
                if let (Some((stream, seen)), Some(setting)) = (known, name) {
                    let audience = seen | channel_rows::subscribers(tx, stream.stream_id)?;
                    let audience = Audience::set(audience & receivers);
                    tx.emit(StreamUpdated::new(stream, setting.name(), value), audience);
                }
            }
            Owner::Realm => tx.emit(permission_changed(name, value), everyone.clone()),
        }
    }
    Ok(())
}

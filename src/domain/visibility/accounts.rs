//! Groups, settings and channels that name users whose role changed or who were deactivated or reactivated.

use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::channels::events::{PeersChanged, StreamChange, StreamUpdated};
use crate::domain::groups::events::{GroupChange, GroupUpdated, MembersChanged};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::realm_settings::RealmPermissionUpdated;
use crate::domain::groups::roles::{ActiveUsersByRole, UserFilter};
use crate::domain::groups::setting::Owner;
use crate::domain::realm::user_ids;
use crate::domain::subscriptions::members;
use crate::domain::{access, groups, rows, subscriptions};
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{GroupId, StreamId, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};

/// The roles of users before and after a change.
pub(super) struct AccountChanges {
    before: ActiveUsersByRole,
    after: ActiveUsersByRole,
    deactivated: RoaringBitmap,
    reactivated: RoaringBitmap,
}

impl AccountChanges {
    /// Compares two snapshots of the same users. Cached audiences of channels are dropped where accounts differ.
    pub(super) fn between(tx: &mut Tx<'_>, before: ActiveUsersByRole, after: ActiveUsersByRole) -> Self {
        let (deactivated, reactivated) = (&before.active - &after.active, &after.active - &before.active);
        if before.active != after.active {
            members::invalidate_all(tx);
        }
        Self { before, after, deactivated, reactivated }
    }

    /// Emits changed memberships of system groups to everyone. Deactivated users are skipped: clients derive those.
    pub(super) fn emit_system_groups(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let (before, after) = (self.before.named_by_groups(), self.after.named_by_groups());
        let still_active = &self.before.active & &self.after.active;
        let empty = RoaringBitmap::new();
        for added in [false, true] {
            let (from, to) = if added { (&before, &after) } else { (&after, &before) };
            for (group, users) in to {
                let changed = (users - from.get(group).unwrap_or(&empty)) & &still_active;
                if !changed.is_empty() {
                    let users: Vec<UserId> = changed.iter().map(UserId::from).collect();
                    let everyone = user_ids::everyone(tx)?;
                    tx.emit(MembersChanged::new(added, *group, &users), everyone);
                }
            }
        }
        Ok(())
    }

    /// Emits that deactivated users are in no group and no setting, to those who do not receive the deactivation: guests
    /// who cannot access the user.
    pub(super) fn emit_deactivated(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        for user_id in self.deactivated.iter().map(UserId::from) {
            let Some(user) = rows::user::by_id(tx, user_id)? else { continue };
            let unaware = user_ids::active_ids(tx)? - access::users::users_with_access_to(tx, &user)?;
            if unaware.is_empty() {
                continue;
            }
            for group in
                groups::groups_that_name(tx, user_id)?.into_iter().chain(self.before.groups_naming(user_id))
            {
                tx.emit(MembersChanged::new(false, group, &[user_id]), Audience::set(unaware.clone()));
            }
            let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
            emit_settings(tx, &[user_id], &unaware, &mut viewers)?;
        }
        Ok(())
    }

    /// Emits the groups, settings and channels that reactivated users are in.
    pub(super) fn emit_reactivated(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        if self.reactivated.is_empty() {
            return Ok(());
        }
        let reactivated: Vec<UserId> = self.reactivated.iter().map(UserId::from).collect();
        let active = user_ids::active_ids(tx)?;
        let everyone = Audience::set(active.clone());
        let mut groups: BTreeMap<GroupId, Vec<UserId>> = BTreeMap::new();
        let mut streams: BTreeMap<StreamId, RoaringBitmap> = BTreeMap::new();
        for &user_id in &reactivated {
            for group in
                groups::groups_that_name(tx, user_id)?.into_iter().chain(self.after.groups_naming(user_id))
            {
                groups.entry(group).or_default().push(user_id);
            }
            for own in subscriptions::list_active(tx, user_id)? {
                streams.entry(own.stream_id).or_default().extend(user_id.bit());
            }
        }
        for (group, users) in groups {
            let deactivated = groups::group(tx, group)?.is_some_and(|group| group.deactivated);
            tx.emit(MembersChanged::new(true, group, &users).deactivated(deactivated), everyone.clone());
        }
        let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
        emit_settings(tx, &reactivated, &active, &mut viewers)?;
        let mut streams_by_name = Vec::new();
        for (stream_id, users) in streams {
            streams_by_name.extend(rows::channel::by_id(tx, stream_id)?.map(|stream| (stream, users)));
        }
        streams_by_name.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        for (stream, users) in streams_by_name {
            let others = viewers.users_who_can_see(tx, &stream)? - &users;
            let event = PeersChanged::added(vec![stream.stream_id], &users, stream.is_archived);
            tx.emit(event, Audience::set(others));
        }
        Ok(())
    }
}

/// Emits the settings whose values name some users, to receivers who can see the objects that have the settings.
fn emit_settings(
    tx: &mut Tx<'_>,
    users: &[UserId],
    receivers: &RoaringBitmap,
    viewers: &mut ChannelViewers,
) -> ApiResult<()> {
    let mut settings = BTreeSet::new();
    for user_id in users {
        settings.extend(groups::settings_that_name(tx, *user_id)?);
    }
    settings
        .into_iter()
        .try_for_each(|(owner, name, group)| emit_setting(tx, owner, &name, group, receivers, viewers))
}

/// Emits the value of a setting, which is a group, to receivers who can see the object that has the setting. `viewers` are of
/// everyone: a user may be named in the settings of hundreds of channels.
pub fn emit_setting(
    tx: &mut Tx<'_>,
    owner: Owner,
    name: &str,
    group: GroupId,
    receivers: &RoaringBitmap,
    viewers: &mut ChannelViewers,
) -> ApiResult<()> {
    let value = groups::setting::to_wire(tx, group)?;
    let everyone = Audience::set(receivers.clone());
    match owner {
        Owner::Group(id) => {
            let group = groups::group(tx, GroupId(id))?;
            if let (Some(group), Some(setting)) = (group, UserGroupSetting::named(name)) {
                tx.emit(GroupUpdated::new(&group, GroupChange::permission(setting, value)), everyone);
            }
        }
        Owner::Stream(id) => {
            let stream = rows::channel::by_id(tx, StreamId(id))?;
            if let (Some(stream), Some(property)) = (stream, StreamSetting::named(name)) {
                let audience = Audience::set(viewers.users_who_can_see(tx, &stream)? & receivers);
                tx.emit(StreamUpdated::new(&stream, StreamChange::Permission { property, value }), audience);
            }
        }
        Owner::Realm => {
            if let Some(permission) = RealmGroup::named(name) {
                tx.emit(RealmPermissionUpdated::new(permission, value), everyone);
            }
        }
    }
    Ok(())
}

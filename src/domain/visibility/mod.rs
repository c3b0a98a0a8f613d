//! Changes of visibility: who can see a channel or a user after a change and could not before, or the other way round.
//!
//! Visibility follows from roles, groups, subscriptions, settings and the time. A command that changes one of these
//! runs inside [`with_events`] and names the affected state in a [`Scope`]. [`with_events`] compares the state before
//! and after and emits the differences, in an order in which clients learn of an object before they get events that
//! refer to it:
//!
//! 1. events emitted inside the change;
//! 2. `realm_user` `add` for users who become accessible;
//! 3. `user_group` `remove_members` and `add_members` of system groups, then `stream` `create` and `subscription`
//!    `peer_add` for channels that become visible;
//! 4. events emitted by the callback of [`with_events_between`], which may refer to newly visible objects;
//! 5. `realm_bot` `update` for owners of bots whose default channel became visible or invisible;
//! 6. `stream` `delete`, and changes of users who were deactivated or reactivated;
//! 7. `realm_user` `remove`.
//!
//! The passing of time is a change as well: see [`waiting_period`].

mod accounts;
mod channels;
mod scope;
mod users;
pub mod waiting_period;

pub use accounts::emit_setting;
pub use scope::Scope;

use crate::domain::groups::roles::ActiveUsersByRole;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use channels::ChannelSnapshot;
use roaring::RoaringBitmap;
use users::AccessSnapshot;

/// Runs a change and emits the resulting gains and losses of visibility. The events that the change emits come first.
///
/// The change must not create users or channels.
pub fn with_events<T>(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    change: impl FnOnce(&mut Tx<'_>) -> ApiResult<T>,
) -> ApiResult<T> {
    with_events_between(tx, scope, change, |_, done, _| Ok(done))
}

/// Like [`with_events`]; `emit` runs after gains and before losses, with the result of `change` and the changes of
/// visibility.
pub fn with_events_between<T, R>(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    change: impl FnOnce(&mut Tx<'_>) -> ApiResult<T>,
    emit: impl FnOnce(&mut Tx<'_>, T, &Changes) -> ApiResult<R>,
) -> ApiResult<R> {
    let before = Snapshot::load(tx, scope, tx.now())?;
    let done = change(tx)?;
    emit_changes(tx, scope, before, |tx, changes| emit(tx, done, changes))
}

fn emit_changes<R>(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    before: Snapshot,
    emit: impl FnOnce(&mut Tx<'_>, &Changes) -> ApiResult<R>,
) -> ApiResult<R> {
    let after = Snapshot::load(tx, scope, tx.now())?;
    let changes =
        Changes { users: before.users.changes(tx)?, channels: before.channels.changes(tx, after.channels)? };
    let accounts = accounts::AccountChanges::between(tx, before.roles, after.roles);
    changes.users.emit_gained(tx)?;
    accounts.emit_system_groups(tx)?;
    channels::emit_gained(tx, &changes.channels)?;
    let answer = emit(tx, &changes)?;
    channels::emit_of_bots(tx, &changes.channels)?;
    channels::emit_lost(tx, &changes.channels);
    accounts.emit_deactivated(tx)?;
    accounts.emit_reactivated(tx)?;
    changes.users.emit_lost(tx);
    Ok(answer)
}

/// Visible objects of the users in a scope at one moment.
struct Snapshot {
    roles: ActiveUsersByRole,
    channels: ChannelSnapshot,
    users: AccessSnapshot,
}

impl Snapshot {
    /// Loads it. `now` decides who is a new member.
    fn load(tx: &Tx<'_>, scope: Scope<'_>, now: i64) -> ApiResult<Self> {
        let (roles, channels) = ChannelSnapshot::load(tx, scope, now)?;
        Ok(Self { roles, channels, users: AccessSnapshot::load(tx, scope)? })
    }
}

/// Objects that became visible and invisible.
#[derive(Debug)]
pub struct Changes {
    users: users::Changes,
    channels: Vec<channels::Change>,
}

impl Changes {
    /// The viewers who can access a user now and could not before.
    pub fn gained_user(&self, user_id: UserId) -> RoaringBitmap {
        self.users.gained(user_id)
    }

    /// The users who can see a channel now and could not before.
    pub fn gained_channel(&self, stream_id: StreamId) -> RoaringBitmap {
        let change = self.channels.iter().find(|change| change.stream.stream_id == stream_id);
        change.map(|change| change.gained.clone()).unwrap_or_default()
    }
}

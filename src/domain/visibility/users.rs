//! Users who become accessible to guests, or inaccessible.

use super::scope::Scope;
use crate::domain::access::users::{accessible_to_each, is_restricted};
use crate::domain::realm::user_ids;
use crate::domain::rows::user::UserRow;
use crate::domain::users::events::{UserRemoved, emit_added};
use crate::domain::{presence, rows, user_status};
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The users whom the viewers in a scope can access. Only guests have restricted access, so most scopes have none.
#[derive(Debug, Default)]
pub(super) struct AccessSnapshot(BTreeMap<UserId, RoaringBitmap>);

impl AccessSnapshot {
    /// Loads the users whom each viewer of a scope can access.
    pub(super) fn load(connection: &Connection, scope: Scope<'_>) -> ApiResult<Self> {
        let viewers = rows_of(connection, viewers(connection, scope)?.into_iter().map(UserId::from))?;
        Ok(Self(accessible_to_each(connection, &viewers)?))
    }

    /// The differences now that the rows have changed.
    pub(super) fn changes(self, connection: &Connection) -> ApiResult<Changes> {
        let mut changes = Changes::default();
        let mut viewers = rows_of(connection, self.0.keys().copied())?;
        // A deactivated user receives no events.
        viewers.retain(|viewer| viewer.is_active);
        let mut accessible = accessible_to_each(connection, &viewers)?;
        for (viewer, before) in self.0 {
            let Some(after) = accessible.remove(&viewer) else { continue };
            for (list, users) in
                [(&mut changes.gained, &after - &before), (&mut changes.lost, before - after)]
            {
                for other in users {
                    list.entry(UserId::from(other)).or_default().extend(viewer.bit());
                }
            }
        }
        Ok(changes)
    }
}

fn rows_of(connection: &Connection, users: impl Iterator<Item = UserId>) -> ApiResult<Vec<UserRow>> {
    let mut found = Vec::new();
    for user_id in users {
        found.extend(rows::user::by_id(connection, user_id)?);
    }
    Ok(found)
}

/// The users who may access other users than before.
fn viewers(connection: &Connection, scope: Scope<'_>) -> ApiResult<RoaringBitmap> {
    let ids = |users: &[UserId]| users.iter().filter_map(|user_id| user_id.bit()).collect::<RoaringBitmap>();
    let candidates = match scope {
        Scope::AccessToUsers => return Ok(user_ids::guest_ids(connection)?),
        Scope::Members(_) | Scope::Groups | Scope::WaitingPeriod | Scope::Channel(_) => {
            return Ok(RoaringBitmap::new());
        }
        _ if !is_restricted(connection)? => return Ok(RoaringBitmap::new()),
        Scope::Role(user) => return Ok(ids(&[user.user_id])),
        Scope::Account(user) if user.is_bot() => return Ok(RoaringBitmap::new()),
        Scope::Account(user) => {
            let own = ids(&[user.user_id]);
            rows::user::channel_partners(connection, &own)?.into_values().next().unwrap_or_default()
        }
        Scope::Conversation(users) => ids(users),
        Scope::Subscriptions(users, streams) => {
            let mut touched = ids(users);
            for stream in streams {
                touched |= rows::channel::subscribers(connection, stream.stream_id)?;
            }
            touched
        }
    };
    Ok(candidates & user_ids::guest_ids(connection)?)
}

/// Users who became accessible or inaccessible, each with the viewers concerned.
#[derive(Debug, Default)]
pub(super) struct Changes {
    gained: BTreeMap<UserId, RoaringBitmap>,
    lost: BTreeMap<UserId, RoaringBitmap>,
}

impl Changes {
    /// The viewers who can access a user now and could not before.
    pub(super) fn gained(&self, user_id: UserId) -> RoaringBitmap {
        self.gained.get(&user_id).cloned().unwrap_or_default()
    }

    /// Emits users, their status and presence to those who can access them now.
    pub(super) fn emit_gained(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        for (user_id, viewers) in &self.gained {
            let user = rows::user::existing(tx, *user_id)?;
            emit_added(tx, &user, viewers)?;
            user_status::introduce(tx, &user, viewers)?;
            presence::introduce(tx, *user_id, viewers)?;
        }
        Ok(())
    }

    /// Emits the removal of users to those who can no longer access them.
    pub(super) fn emit_lost(&self, tx: &mut Tx<'_>) {
        for (user_id, viewers) in &self.lost {
            tx.emit(UserRemoved::new(*user_id), Audience::set(viewers.clone()));
        }
    }
}

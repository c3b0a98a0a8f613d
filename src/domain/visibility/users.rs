//! Events for guests who gain or lose access to users.

use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users::{Accessible, is_restricted};
use crate::domain::realm::user_ids;
use crate::domain::users::events::{UserRemoved, announce};
use crate::domain::{presence, user_status};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Whom some users could access before a change that may show them others, or hide some.
#[derive(Debug, Default)]
pub struct Before(BTreeMap<UserId, RoaringBitmap>);

impl Before {
    /// Of one user, whose role is about to change.
    pub fn of_user(connection: &Connection, user: &UserRow) -> ApiResult<Self> {
        Self::of(connection, is_restricted(connection)?, [user.user_id])
    }

    /// Of all guests: the rule itself is about to change.
    pub fn of_guests(connection: &Connection) -> ApiResult<Self> {
        let guests = user_ids::guest_ids(connection)?;
        Self::of(connection, true, guests.into_iter().map(UserId::from))
    }

    /// Of the guests who may share something with a user, who is about to be deactivated or reactivated.
    pub fn of_partners(connection: &Connection, user: &UserRow) -> ApiResult<Self> {
        if user.is_bot() || !is_restricted(connection)? {
            return Ok(Self::default());
        }
        let guests =
            user_rows::channel_partners(connection, user.user_id)? & user_ids::guest_ids(connection)?;
        Self::of(connection, true, guests.into_iter().map(UserId::from))
    }

    /// Of the guests among some users, and among the subscribers of channels which these are about to join or leave.
    pub fn of_subscribers(
        connection: &Connection,
        users: &[UserId],
        channels: impl IntoIterator<Item = StreamId>,
    ) -> ApiResult<Self> {
        if !is_restricted(connection)? {
            return Ok(Self::default());
        }
        let mut touched: RoaringBitmap = users.iter().filter_map(|user_id| user_id.bit()).collect();
        for stream_id in channels {
            touched |= crate::domain::access::channel_rows::subscribers(connection, stream_id)?;
        }
        let guests = touched & user_ids::guest_ids(connection)?;
        Self::of(connection, true, guests.into_iter().map(UserId::from))
    }

    /// Of the guests among some people, who are about to write to each other for the first time.
    pub fn of_people(connection: &Connection, people: &[UserId]) -> ApiResult<Self> {
        Self::of_subscribers(connection, people, [])
    }

    fn of(
        connection: &Connection,
        is_wanted: bool,
        users: impl IntoIterator<Item = UserId>,
    ) -> ApiResult<Self> {
        let mut before = Self::default();
        for user_id in users.into_iter().take_while(|_| is_wanted) {
            if let Some(user) = user_rows::by_id(connection, user_id)? {
                let ids = Accessible::to_user(connection, user_id, user.role)?.ids(connection)?;
                before.0.insert(user_id, ids);
            }
        }
        Ok(before)
    }

    /// What is different now that the rows have changed.
    pub fn changes(self, connection: &Connection) -> ApiResult<Changes> {
        let mut changes = Changes::default();
        for (viewer, before) in self.0 {
            // Who is deactivated now hears of nothing.
            let Some(user) = user_rows::by_id(connection, viewer)?.filter(|user| user.is_active) else {
                continue;
            };
            let after = Accessible::to_user(connection, viewer, user.role)?.ids(connection)?;
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

/// Users whom others can access now and could not before, and the other way round; each with who these others are.
#[derive(Debug, Default)]
pub struct Changes {
    gained: BTreeMap<UserId, RoaringBitmap>,
    lost: BTreeMap<UserId, RoaringBitmap>,
}

impl Changes {
    /// Whom a user just gained for others: they know them for the first time, and nothing older has to be told.
    pub fn gained(&self, user_id: UserId) -> RoaringBitmap {
        self.gained.get(&user_id).cloned().unwrap_or_default()
    }

    /// Introduces users to those who can access them now. Goes before events that name them.
    pub fn emit_gained(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        for (user_id, viewers) in &self.gained {
            let user = user_rows::by_id(tx, *user_id)?
                .ok_or_else(|| ApiError::internal("a user who became visible has no row"))?;
            announce(tx, &user, viewers)?;
            user_status::introduce(tx, &user, viewers)?;
            presence::introduce(tx, *user_id, viewers)?;
        }
        Ok(())
    }

    /// Takes users from those who can no longer access them. Goes behind events that name them.
    pub fn emit_lost(&self, tx: &mut Tx<'_>) {
        for (user_id, viewers) in &self.lost {
            tx.emit(UserRemoved::new(*user_id), Audience::set(viewers.clone()));
        }
    }
}

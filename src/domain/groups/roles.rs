//! The active users by role: the members of the system groups.

use crate::domain::groups::sql;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::error::ApiResult;
use crate::types::{GroupId, Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Up to this many users are looked up one by one; for more, one walk over all users is cheaper.
pub const MAX_POINT_LOOKUPS: usize = 32;

/// A filter of the users to load. Results for some users say nothing about others.
#[derive(Clone, Copy, Debug)]
pub enum UserFilter<'a> {
    /// All users.
    Everyone,
    /// These users, each named once.
    Users(&'a [UserId]),
}

impl<'a> UserFilter<'a> {
    /// The users, if they are few enough to be looked up one by one.
    pub fn few(self) -> Option<&'a [UserId]> {
        match self {
            Self::Users(users) if users.len() <= MAX_POINT_LOOKUPS => Some(users),
            _ => None,
        }
    }
}

/// Active users by role, without the server's own bots.
#[derive(Clone, Debug, Default)]
pub struct ActiveUsersByRole {
    /// All of them.
    pub active: RoaringBitmap,
    /// Guests, who see only channels that they are subscribed to and web-public ones.
    pub guests: RoaringBitmap,
    /// Administrators and owners. They see every channel.
    pub administrators: RoaringBitmap,
    /// Users by the innermost system group that has them as members.
    innermost: BTreeMap<SystemGroup, RoaringBitmap>,
}

impl ActiveUsersByRole {
    /// Loads them. `now` decides who is a new member.
    pub fn load(connection: &Connection, among: UserFilter<'_>, now: i64) -> ApiResult<Self> {
        let waiting_period = WaitingPeriod::load(connection, now)?;
        let mut users = Self::default();
        if let Some(few) = among.few() {
            for user_id in few {
                if let Some((role, date_joined, false)) = sql::active_user(connection, *user_id)? {
                    users.insert(*user_id, role, waiting_period.is_new(date_joined));
                }
            }
            return Ok(users);
        }
        let wanted: Option<RoaringBitmap> = match among {
            UserFilter::Everyone => None,
            UserFilter::Users(users) => Some(users.iter().filter_map(|user_id| user_id.bit()).collect()),
        };
        for (user_id, role, date_joined) in sql::active_users(connection)? {
            if wanted.as_ref().is_none_or(|wanted| user_id.is_in(wanted)) {
                users.insert(user_id, role, waiting_period.is_new(date_joined));
            }
        }
        Ok(users)
    }

    fn insert(&mut self, user_id: UserId, role: Role, is_new: bool) {
        let bit = user_id.bit();
        self.active.extend(bit);
        if role == Role::Guest {
            self.guests.extend(bit);
        }
        if role.is_administrator() {
            self.administrators.extend(bit);
        }
        self.innermost.entry(SystemGroup::of(role, is_new)).or_default().extend(bit);
    }

    /// The users whose innermost system group is one of these groups.
    pub fn with_innermost(&self, groups: &[GroupId]) -> RoaringBitmap {
        let systems = groups.iter().filter_map(|group| SystemGroup::with_id(*group));
        systems
            .filter_map(|group| self.innermost.get(&group))
            .fold(RoaringBitmap::new(), |all, one| all | one)
    }

    /// The users that each system group names as members.
    pub fn named_by_groups(&self) -> BTreeMap<GroupId, RoaringBitmap> {
        let mut named: BTreeMap<GroupId, RoaringBitmap> = BTreeMap::new();
        for (innermost, users) in &self.innermost {
            for group in naming(*innermost) {
                *named.entry(group.id()).or_default() |= users;
            }
        }
        named
    }

    /// The system groups that name a user as a member.
    pub fn groups_naming(&self, user_id: UserId) -> impl Iterator<Item = GroupId> {
        let innermost =
            self.innermost.iter().filter(move |(_, users)| user_id.is_in(users)).map(|(group, _)| *group);
        innermost.flat_map(naming).map(|group| group.id())
    }
}

/// The system groups that name a user as a member. A full member is named by the group of members too.
pub fn naming(innermost: SystemGroup) -> &'static [SystemGroup] {
    match innermost {
        SystemGroup::Owners => &[SystemGroup::Owners],
        SystemGroup::Administrators => &[SystemGroup::Administrators],
        SystemGroup::Moderators => &[SystemGroup::Moderators],
        SystemGroup::FullMembers => &[SystemGroup::Members, SystemGroup::FullMembers],
        SystemGroup::Members => &[SystemGroup::Members],
        SystemGroup::Everyone | SystemGroup::Internet => &[SystemGroup::Everyone],
        SystemGroup::Nobody => &[],
    }
}

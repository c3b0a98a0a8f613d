//! Membership in groups, directly and through subgroups: the groups of one user, and the users of groups.
//!
//! Both forms follow one rule: an active user is in a group that is not deactivated if a path of inclusions leads from it
//! to a group that names the user or to the innermost system group of their role. [`Membership`] follows the paths
//! upwards, [`users_in`] and [`GroupMembers`] downwards; a property test holds them together.

use crate::domain::groups::roles::{ActiveUsersByRole, UserFilter};
use crate::domain::groups::sql;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::error::ApiResult;
use crate::types::{GroupId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// The groups of one user.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    groups: HashSet<GroupId>,
}

impl Membership {
    /// Loads the groups of a user by one recursive query. `now` decides whether a member is a new one.
    pub fn of(connection: &Connection, user_id: UserId, now: i64) -> ApiResult<Self> {
        let Some((role, date_joined, _)) = sql::active_user(connection, user_id)? else {
            return Ok(Self::default());
        };
        let is_new = WaitingPeriod::load(connection, now)?.is_new(date_joined);
        let innermost = SystemGroup::of(role, is_new).id();
        // UNION ends cycles.
        let groups = connection
            .prepare_cached(
                "WITH RECURSIVE holds (id) AS (
                     SELECT group_id FROM user_group_member WHERE user_id = ?1
                     UNION SELECT ?2
                     UNION SELECT group_id FROM user_group_subgroup JOIN holds ON subgroup_id = holds.id)
                 SELECT holds.id FROM holds JOIN user_group ON user_group.id = holds.id WHERE NOT deactivated",
            )?
            .query_map((user_id, innermost), |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// True if the user is in a group.
    pub fn contains(&self, group: GroupId) -> bool {
        self.groups.contains(&group)
    }

    /// The groups' ids, in no order.
    pub fn ids(&self) -> impl Iterator<Item = GroupId> {
        self.groups.iter().copied()
    }
}

/// The active users in at least one of some groups. Shared subgroups are read once. `now` determines new members.
pub fn users_in(connection: &Connection, groups: &[GroupId], now: i64) -> ApiResult<RoaringBitmap> {
    find_users(connection, groups, |groups| {
        Ok(ActiveUsersByRole::load(connection, UserFilter::Everyone, now)?.with_innermost(groups))
    })
}

/// The active users in many groups, each evaluated once, with all that they include: one person can make hundreds of groups that
/// include each other, and a thousand permissions that include these. A snapshot: it has to be loaded again after a change.
#[derive(Debug, Default)]
pub struct GroupMembers {
    /// The users that it knows, by role.
    pub roles: ActiveUsersByRole,
    /// The users to whom a path leads from a group.
    known: HashMap<GroupId, RoaringBitmap>,
    /// The deactivated groups among them. They have no members, but paths lead through them.
    deactivated: HashSet<GroupId>,
    no_users: RoaringBitmap,
    /// The time that decides who is new, in UNIX seconds; `None` once the groups of a few users are read.
    unread_at: Option<i64>,
    /// True if a group that is not in `known` has none of the users.
    is_complete: bool,
}

/// A group whose inclusions are being followed, or several that include each other.
struct Step {
    groups: Vec<GroupId>,
    /// The inclusions that remain to be followed.
    inclusions: Vec<GroupId>,
    /// The users found so far.
    users: RoaringBitmap,
}

impl Step {
    /// Makes one step of groups that include each other.
    fn merge(&mut self, other: Self) {
        self.groups.extend(other.groups);
        self.inclusions.extend(other.inclusions);
        self.users |= other.users;
    }
}

impl GroupMembers {
    /// Loads the users; groups are read when they are first asked for. Of a few users all groups are read at once.
    pub fn load(connection: &Connection, among: UserFilter<'_>, now: i64) -> ApiResult<Self> {
        let roles = ActiveUsersByRole::load(connection, among, now)?;
        Ok(Self { roles, unread_at: among.few().map(|_| now), ..Self::default() })
    }

    /// The users in a group, of those that were asked about.
    pub fn users(&mut self, connection: &Connection, group: GroupId) -> ApiResult<&RoaringBitmap> {
        if let Some(now) = self.unread_at.take() {
            for bit in &self.roles.active {
                for group in Membership::of(connection, bit.into(), now)?.ids() {
                    self.known.entry(group).or_default().insert(bit);
                }
            }
            self.is_complete = true;
        }
        if !self.is_complete && !self.known.contains_key(&group) {
            self.follow(connection, group)?;
        }
        if self.deactivated.contains(&group) {
            return Ok(&self.no_users);
        }
        Ok(self.known.entry(group).or_default())
    }

    /// Evaluates a group and all that it includes and that are not known yet.
    fn follow(&mut self, connection: &Connection, group: GroupId) -> ApiResult<()> {
        let mut path = vec![self.begin(connection, group)?];
        let mut places = HashMap::from([(group, 0)]);
        while let Some(mut step) = path.pop() {
            let Some(next) = step.inclusions.pop() else {
                if let Some(outer) = path.last_mut() {
                    outer.users |= &step.users;
                }
                for group in step.groups {
                    self.known.insert(group, step.users.clone());
                }
                continue;
            };
            if let Some(users) = self.known.get(&next) {
                step.users |= users;
            } else if let Some(place) = places.get(&next).copied() {
                // A cycle: all steps from that place have the same users.
                path.drain(place..).for_each(|other| step.merge(other));
                places.extend(step.groups.iter().map(|group| (*group, place)));
            } else {
                places.insert(next, path.len() + 1);
                let inner = self.begin(connection, next)?;
                path.push(step);
                step = inner;
            }
            path.push(step);
        }
        Ok(())
    }

    /// Reads a group: whom it names, and what it includes.
    fn begin(&mut self, connection: &Connection, group: GroupId) -> ApiResult<Step> {
        if sql::is_out_of_use(connection, group)? {
            self.deactivated.insert(group);
        }
        let mut users = self.roles.with_innermost(&[group]);
        users.extend(sql::members(connection, group)?.into_iter().filter_map(UserId::bit));
        users &= &self.roles.active;
        Ok(Step { groups: vec![group], inclusions: sql::subgroups(connection, group)?, users })
    }
}

/// Finds the users in groups. `by_role` is called with the groups and their subgroups if system groups are among them.
fn find_users(
    connection: &Connection,
    groups: &[GroupId],
    by_role: impl FnOnce(&[GroupId]) -> ApiResult<RoaringBitmap>,
) -> ApiResult<RoaringBitmap> {
    if groups.is_empty() {
        return Ok(RoaringBitmap::new());
    }
    let groups = serde_json::to_string(groups)?;
    // UNION ends cycles.
    let groups: Vec<GroupId> = connection
        .prepare_cached(
            "WITH RECURSIVE inside (id) AS (
                 SELECT user_group.id FROM json_each(?1) AS wanted CROSS JOIN user_group ON user_group.id = wanted.value
                 WHERE NOT deactivated
                 UNION SELECT subgroup_id FROM user_group_subgroup JOIN inside ON group_id = inside.id)
             SELECT id FROM inside",
        )?
        .query_map([groups], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut users = RoaringBitmap::new();
    for group in &groups {
        users.extend(sql::members(connection, *group)?.into_iter().filter_map(UserId::bit));
    }
    let has_role =
        |group: &GroupId| SystemGroup::with_id(*group).is_some_and(|group| group != SystemGroup::Nobody);
    if groups.iter().any(has_role) {
        users |= by_role(&groups)?;
    }
    Ok(users)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::groups::system;
    use crate::domain::realm;
    use crate::types::Role;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use crate::types::SECONDS_PER_DAY;
    const NOW: i64 = 10 * SECONDS_PER_DAY;
    /// The first id after those of the system groups.
    const FIRST_GROUP: i64 = SystemGroup::ALL.len() as i64 + 1;
    const GROUPS: i64 = 6;
    const USERS: i64 = 8;

    #[derive(Clone, Debug)]
    struct User {
        role: i64,
        joined: i64,
        is_active: bool,
    }

    fn user() -> impl Strategy<Value = User> {
        let roles = prop::sample::select(vec![100, 200, 300, 400, 400, 400, 600]);
        (roles, 0..NOW, prop::bool::weighted(0.8)).prop_map(|(role, joined, is_active)| User {
            role,
            joined,
            is_active,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn all_forms_agree_with_the_rule(
            users in vec(user(), USERS as usize),
            deactivated in vec(prop::bool::weighted(0.2), GROUPS as usize),
            members in vec((0..GROUPS, 1..=USERS), 0..12),
            inclusions in vec((0..GROUPS, 1..FIRST_GROUP + GROUPS), 0..10),
            days in 0_i64..10,
        ) {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(crate::store::SCHEMA).unwrap();
            system::insert_rows(&connection, 0).unwrap();
            realm::settings::set(&connection, "waiting_period_threshold", &days.into()).unwrap();
            for (user, id) in users.iter().zip(1..) {
                let sql = "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role,
                               date_joined, is_active) VALUES (?1, ?1, ?1, ?1, 'x', ?2, ?3, ?4)";
                connection.execute(sql, (id, user.role, user.joined, user.is_active)).unwrap();
            }
            for (deactivated, id) in deactivated.iter().zip(FIRST_GROUP..) {
                let sql = "INSERT INTO user_group (id, kind, name, name_key, deactivated) VALUES (?1, 'named', ?1, ?1, ?2)";
                connection.execute(sql, (id, deactivated)).unwrap();
            }
            for (group, user_id) in &members {
                sql::set_member(&connection, GroupId(FIRST_GROUP + group), UserId(*user_id), true).unwrap();
            }
            for (group, subgroup) in &inclusions {
                sql::set_subgroup(&connection, GroupId(FIRST_GROUP + group), GroupId(*subgroup), true).unwrap();
            }

            // The rule by brute force: direct members, then those of subgroups until nothing changes.
            let last = FIRST_GROUP + GROUPS;
            let mut held: HashMap<i64, HashSet<i64>> = HashMap::new();
            for (user, id) in users.iter().zip(1..).filter(|(user, _)| user.is_active) {
                let role = Role::ALL.into_iter().find(|role| role.code() == user.role).unwrap();
                let innermost = SystemGroup::of(role, user.joined > NOW - days * SECONDS_PER_DAY).id().0;
                held.entry(innermost).or_default().insert(id);
            }
            for (group, user_id) in &members {
                if users[*user_id as usize - 1].is_active {
                    held.entry(FIRST_GROUP + group).or_default().insert(*user_id);
                }
            }
            let all = sql::all_inclusions(&connection).unwrap();
            for _ in 0..last {
                for (group, subgroup) in &all {
                    let inner = held.get(&subgroup.0).cloned().unwrap_or_default();
                    held.entry(group.0).or_default().extend(inner);
                }
            }
            let is_deactivated = |group: i64| group >= FIRST_GROUP && deactivated[(group - FIRST_GROUP) as usize];

            let ids: Vec<UserId> = (1..=USERS).map(UserId).collect();
            let mut of_all = GroupMembers::load(&connection, UserFilter::Everyone, NOW).unwrap();
            let mut of_some = GroupMembers::load(&connection, UserFilter::Users(&ids[..4]), NOW).unwrap();
            for group in 1..last {
                let mut expected: RoaringBitmap =
                    held.get(&group).into_iter().flatten().map(|id| *id as u32).collect();
                if is_deactivated(group) {
                    expected.clear();
                }
                let group = GroupId(group);
                prop_assert_eq!(&users_in(&connection, &[group], NOW).unwrap(), &expected);
                let mut together = users_in(&connection, &[GroupId(FIRST_GROUP)], NOW).unwrap();
                together |= &expected;
                let both = [GroupId(FIRST_GROUP), group];
                prop_assert_eq!(&users_in(&connection, &both, NOW).unwrap(), &together);
                prop_assert_eq!(of_all.users(&connection, group).unwrap(), &expected);
                for id in &ids {
                    let membership = Membership::of(&connection, *id, NOW).unwrap();
                    prop_assert_eq!(membership.contains(group), expected.contains(id.0 as u32));
                }
                expected.remove_range(5..);
                prop_assert_eq!(of_some.users(&connection, group).unwrap(), &expected);
            }
        }
    }
}

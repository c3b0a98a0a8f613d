//! Which groups a user belongs to: one evaluation for every permission.

use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::http::ApiResult;
use crate::types::{GroupId, Role, UserId};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;

/// All groups that a user belongs to, directly or through subgroups.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    groups: HashSet<GroupId>,
}

impl Membership {
    /// Loads the groups of a user. `now` decides whether a member still is a new one.
    pub fn of(connection: &Connection, user_id: UserId, now: i64) -> ApiResult<Self> {
        let user = connection
            .prepare_cached("SELECT role, date_joined FROM user WHERE user_id = ?1 AND is_active")?
            .query_row([user_id], |row| Ok((row.get::<_, Role>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        let Some((role, date_joined)) = user else { return Ok(Self::default()) };
        let is_new = WaitingPeriod::load(connection, now)?.is_new(date_joined);
        let innermost = SystemGroup::of(role, is_new).id();
        // Groups that hold the user, then the groups that hold those, and so on. UNION ends cycles.
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

    /// Whether the user is in a group.
    pub fn contains(&self, group: GroupId) -> bool {
        self.groups.contains(&group)
    }

    /// The groups' ids, in no order.
    pub fn ids(&self) -> impl Iterator<Item = GroupId> {
        self.groups.iter().copied()
    }
}

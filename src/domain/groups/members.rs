//! All users in a group, directly or through subgroups: what [`super::membership`] asks for one user, asked from the
//! other end. Events need it: who may see a channel is who they are for.

use crate::domain::groups::sql;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::http::ApiResult;
use crate::types::{GroupId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// The active users in a group. `now` decides whether a member still is a new one.
pub fn all(connection: &Connection, group: GroupId, now: i64) -> ApiResult<RoaringBitmap> {
    // UNION ends cycles.
    let groups: Vec<GroupId> = connection
        .prepare_cached(
            "WITH RECURSIVE inside (id) AS (
                 SELECT id FROM user_group WHERE id = ?1 AND NOT deactivated
                 UNION SELECT subgroup_id FROM user_group_subgroup JOIN inside ON group_id = inside.id)
             SELECT id FROM inside",
        )?
        .query_map([group], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut users = RoaringBitmap::new();
    let mut statement = connection.prepare_cached(
        "SELECT user_id FROM user_group_member JOIN user USING (user_id) WHERE group_id = ?1 AND is_active",
    )?;
    for group in &groups {
        let mut rows = statement.query([group])?;
        while let Some(row) = rows.next()? {
            users.extend(row.get::<_, UserId>(0)?.bit());
        }
    }
    let by_role: Vec<SystemGroup> = groups.iter().filter_map(|group| SystemGroup::with_id(*group)).collect();
    if by_role.iter().any(|group| *group != SystemGroup::Nobody) {
        users |= with_roles(connection, &by_role, now)?;
    }
    Ok(users)
}

/// The active users whose innermost system group is one of these.
fn with_roles(connection: &Connection, groups: &[SystemGroup], now: i64) -> ApiResult<RoaringBitmap> {
    let waiting_period = WaitingPeriod::load(connection, now)?;
    let mut users = RoaringBitmap::new();
    for (user_id, role, date_joined) in sql::active_users(connection)? {
        if groups.contains(&SystemGroup::of(role, waiting_period.is_new(date_joined))) {
            users.extend(user_id.bit());
        }
    }
    Ok(users)
}

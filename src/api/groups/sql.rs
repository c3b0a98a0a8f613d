//! Every statement about groups.

use crate::types::{GroupId, Role, UserId};
use rusqlite::{Connection, OptionalExtension};

/// The group of a setting, if it was ever set.
pub fn setting(
    connection: &Connection,
    owner: &str,
    owner_id: i64,
    setting: &str,
) -> rusqlite::Result<Option<GroupId>> {
    connection
        .prepare_cached(
            "SELECT group_id FROM group_setting WHERE owner = ?1 AND owner_id = ?2 AND setting = ?3",
        )?
        .query_row((owner, owner_id, setting), |row| row.get(0))
        .optional()
}

/// All settings of an owner that were ever set.
pub fn settings(
    connection: &Connection,
    owner: &str,
    owner_id: i64,
) -> rusqlite::Result<Vec<(String, GroupId)>> {
    connection
        .prepare_cached("SELECT setting, group_id FROM group_setting WHERE owner = ?1 AND owner_id = ?2")?
        .query_map((owner, owner_id), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Sets a setting.
pub fn put_setting(
    connection: &Connection,
    owner: &str,
    owner_id: i64,
    setting: &str,
    group: GroupId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO group_setting (owner, owner_id, setting, group_id) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET group_id = excluded.group_id",
        )?
        .execute((owner, owner_id, setting, group))
        .map(|_| ())
}

/// Whether a group holds the value of one setting and nothing else.
pub fn is_anonymous(connection: &Connection, group: GroupId) -> rusqlite::Result<bool> {
    let kind = connection
        .prepare_cached("SELECT kind = 'anonymous' FROM user_group WHERE id = ?1")?
        .query_row([group], |row| row.get(0))
        .optional()?;
    Ok(kind.unwrap_or(false))
}

/// Whether a client may name a group: it exists, has a name and is active.
pub fn is_usable(connection: &Connection, group: GroupId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM user_group WHERE id = ?1 AND kind <> 'anonymous' AND NOT deactivated)",
        )?
        .query_row([group], |row| row.get(0))
}

/// Whether a user exists and is active.
pub fn is_active_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM user WHERE user_id = ?1 AND is_active)")?
        .query_row([user_id], |row| row.get(0))
}

/// The users that a group names itself, ascending.
pub fn members(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached("SELECT user_id FROM user_group_member WHERE group_id = ?1 ORDER BY user_id")?
        .query_map([group], |row| row.get(0))?
        .collect()
}

/// The groups that a group includes itself, ascending.
pub fn subgroups(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<GroupId>> {
    connection
        .prepare_cached(
            "SELECT subgroup_id FROM user_group_subgroup WHERE group_id = ?1 ORDER BY subgroup_id",
        )?
        .query_map([group], |row| row.get(0))?
        .collect()
}

/// The groups that a group includes itself or through others, and the group itself.
const ALL_SUBGROUPS: &str = "WITH RECURSIVE included (id) AS (
         SELECT ?1
         UNION SELECT subgroup_id FROM user_group_subgroup JOIN included ON group_id = included.id)";

/// The groups that a group includes itself or through others, and the group itself.
pub fn all_subgroups(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<GroupId>> {
    connection
        .prepare_cached(&format!("{ALL_SUBGROUPS} SELECT id FROM included"))?
        .query_map([group], |row| row.get(0))?
        .collect()
}

/// Roles and joining times of the active users that a group names itself or through named groups.
pub fn roles_of_members(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<(Role, i64)>> {
    connection
        .prepare_cached(&format!(
            "{ALL_SUBGROUPS}
             SELECT DISTINCT role, date_joined FROM included
             JOIN user_group_member ON group_id = included.id JOIN user USING (user_id) WHERE is_active"
        ))?
        .query_map([group], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Makes the anonymous group of a setting's value.
pub fn insert_anonymous(
    connection: &Connection,
    members: &[UserId],
    subgroups: &[GroupId],
) -> rusqlite::Result<GroupId> {
    connection.prepare_cached("INSERT INTO user_group (kind) VALUES ('anonymous')")?.execute([])?;
    let group = GroupId(connection.last_insert_rowid());
    let mut member = connection
        .prepare_cached("INSERT OR IGNORE INTO user_group_member (group_id, user_id) VALUES (?1, ?2)")?;
    for user_id in members {
        member.execute((group, user_id))?;
    }
    let mut subgroup = connection.prepare_cached(
        "INSERT OR IGNORE INTO user_group_subgroup (group_id, subgroup_id) VALUES (?1, ?2)",
    )?;
    for id in subgroups {
        subgroup.execute((group, id))?;
    }
    Ok(group)
}

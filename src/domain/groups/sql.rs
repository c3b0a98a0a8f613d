//! Every statement about groups.

use crate::domain::groups::owner::Owner;
use crate::domain::look_alikes;
use crate::domain::look_alikes::Named;
use crate::store::ExecuteCached;
use crate::types::{GroupId, Role, UserId, fold};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashSet;

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

/// All settings of all owners of a kind that were ever set: the id of the owner, the name, and the group that holds the value.
pub fn all_settings(connection: &Connection, owner: &str) -> rusqlite::Result<Vec<(i64, String, GroupId)>> {
    connection
        .prepare_cached("SELECT owner_id, setting, group_id FROM group_setting WHERE owner = ?1")?
        .query_map([owner], |row| row.try_into())?
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
    connection.execute_cached(
        "INSERT INTO group_setting (owner, owner_id, setting, group_id) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET group_id = excluded.group_id",
        (owner, owner_id, setting, group),
    )
}

/// True if a group holds the value of one setting and is otherwise unused.
pub fn is_anonymous(connection: &Connection, group: GroupId) -> rusqlite::Result<bool> {
    let kind = connection
        .prepare_cached("SELECT kind = 'anonymous' FROM user_group WHERE id = ?1")?
        .query_row([group], |row| row.get(0))
        .optional()?;
    Ok(kind.unwrap_or(false))
}

/// True if a group is deactivated.
pub fn is_out_of_use(connection: &Connection, group: GroupId) -> rusqlite::Result<bool> {
    let deactivated = connection
        .prepare_cached("SELECT deactivated FROM user_group WHERE id = ?1")?
        .query_row([group], |row| row.get(0))
        .optional()?;
    Ok(deactivated.unwrap_or(false))
}

/// The name of a group, if it has one.
pub fn name(connection: &Connection, group: GroupId) -> rusqlite::Result<Option<String>> {
    let name = connection
        .prepare_cached("SELECT name FROM user_group WHERE id = ?1")?
        .query_row([group], |row| row.get(0))
        .optional()?;
    Ok(name.flatten())
}

/// True if a user exists and is active.
pub fn is_active_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM user WHERE user_id = ?1 AND is_active)")?
        .query_row([user_id], |row| row.get(0))
}

/// True if a deactivated user is a direct member.
pub fn has_deactivated_member(connection: &Connection, group: GroupId) -> rusqlite::Result<bool> {
    let statement = "SELECT EXISTS (SELECT 1 FROM user_group_member JOIN user USING (user_id)
                     WHERE group_id = ?1 AND NOT is_active)";
    connection.prepare_cached(statement)?.query_row([group], |row| row.get(0))
}

/// The active users that a group names itself, ascending. Deactivated ones stay in the file, for their return.
pub fn members(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "SELECT user_id FROM user_group_member JOIN user USING (user_id)
             WHERE group_id = ?1 AND is_active ORDER BY user_id",
        )?
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

/// A system or named group's row.
#[derive(Clone, Debug)]
pub struct GroupRow {
    pub id: GroupId,
    /// True if its members follow from roles.
    pub is_system_group: bool,
    /// The name, unique among groups.
    pub name: String,
    /// The purpose of the group.
    pub description: String,
    /// The creator; `None` for system groups.
    pub creator_id: Option<UserId>,
    /// UNIX seconds.
    pub date_created: Option<i64>,
    pub deactivated: bool,
}

/// The columns of [`GroupRow`], in order.
const COLUMNS: &str = "id, kind = 'system', name, description, creator_id, date_created, deactivated";

impl GroupRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            is_system_group: row.get(1)?,
            name: row.get(2)?,
            description: row.get(3)?,
            creator_id: row.get(4)?,
            date_created: row.get(5)?,
            deactivated: row.get(6)?,
        })
    }
}

/// A system or named group; clients do not know of anonymous ones.
pub fn group(connection: &Connection, group: GroupId) -> rusqlite::Result<Option<GroupRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user_group WHERE id = ?1 AND kind <> 'anonymous'"))?
        .query_row([group], GroupRow::read)
        .optional()
}

/// All system and named groups, by id.
pub fn groups(connection: &Connection) -> rusqlite::Result<Vec<GroupRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user_group WHERE kind <> 'anonymous' ORDER BY id"))?
        .query_map([], GroupRow::read)?
        .collect()
}

/// The group with a name, ignoring case; includes deactivated ones.
pub fn with_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<GroupId>> {
    connection
        .prepare_cached("SELECT id FROM user_group WHERE name_key = ?1")?
        .query_row([fold(name)], |row| row.get(0))
        .optional()
}

/// Creates a named group.
pub fn insert(
    connection: &Connection,
    name: &str,
    description: &str,
    creator_id: UserId,
    date_created: i64,
) -> rusqlite::Result<GroupId> {
    connection.execute_cached(
        "INSERT INTO user_group (kind, name, name_key, description, creator_id, date_created)
         VALUES ('named', ?1, ?2, ?3, ?4, ?5)",
        (name, fold(name), description, creator_id, date_created),
    )?;
    let id = connection.last_insert_rowid();
    look_alikes::set(connection, Named::UserGroup, id, name)?;
    Ok(GroupId(id))
}

/// Writes everything of a group's own row that a client can change.
pub fn update(connection: &Connection, group: &GroupRow) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE user_group SET name = ?2, name_key = ?3, description = ?4, deactivated = ?5 WHERE id = ?1",
        (group.id, &group.name, fold(&group.name), &group.description, group.deactivated),
    )?;
    look_alikes::set(connection, Named::UserGroup, group.id.0, &group.name)
}

/// True if a user is a direct member of a group; they may be deactivated.
pub fn is_member(connection: &Connection, group: GroupId, user_id: UserId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM user_group_member WHERE group_id = ?1 AND user_id = ?2)",
        )?
        .query_row((group, user_id), |row| row.get(0))
}

/// Adds a user to the direct members of a group, or removes them. Returns true if that changed the members.
pub fn set_member(
    connection: &Connection,
    group: GroupId,
    user_id: UserId,
    is_member: bool,
) -> rusqlite::Result<bool> {
    let statement = if is_member {
        "INSERT OR IGNORE INTO user_group_member (group_id, user_id) VALUES (?1, ?2)"
    } else {
        "DELETE FROM user_group_member WHERE group_id = ?1 AND user_id = ?2"
    };
    Ok(connection.prepare_cached(statement)?.execute((group, user_id))? > 0)
}

/// Adds a group to the direct subgroups of another one, or removes it.
pub fn set_subgroup(
    connection: &Connection,
    group: GroupId,
    subgroup: GroupId,
    is_subgroup: bool,
) -> rusqlite::Result<()> {
    let statement = if is_subgroup {
        "INSERT OR IGNORE INTO user_group_subgroup (group_id, subgroup_id) VALUES (?1, ?2)"
    } else {
        "DELETE FROM user_group_subgroup WHERE group_id = ?1 AND subgroup_id = ?2"
    };
    connection.execute_cached(statement, (group, subgroup))
}

/// The active named groups that include a group themselves, ascending.
pub fn supergroups(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<GroupId>> {
    connection
        .prepare_cached(
            "SELECT group_id FROM user_group_subgroup JOIN user_group ON id = group_id
             WHERE subgroup_id = ?1 AND kind <> 'anonymous' AND NOT deactivated ORDER BY group_id",
        )?
        .query_map([group], |row| row.get(0))?
        .collect()
}

/// The settings whose value is a group, or includes it: the owner of each, and its name.
pub fn settings_that_use(connection: &Connection, group: GroupId) -> rusqlite::Result<Vec<(Owner, String)>> {
    connection
        .prepare_cached(
            "SELECT owner, owner_id, setting FROM group_setting WHERE group_id = ?1
             UNION SELECT owner, owner_id, setting FROM user_group_subgroup
                 JOIN user_group ON id = group_id AND kind = 'anonymous'
                 JOIN group_setting USING (group_id) WHERE subgroup_id = ?1
             ORDER BY owner, owner_id, setting",
        )?
        .query_map([group], |row| Ok((Owner::read(row.get_ref(0)?.as_str()?, row.get(1)?), row.get(2)?)))?
        .collect()
}

/// The direct memberships of active users in named groups.
pub fn all_memberships(connection: &Connection) -> rusqlite::Result<Vec<(GroupId, UserId)>> {
    connection
        .prepare_cached(
            "SELECT group_id, user_id FROM user_group_member JOIN user USING (user_id)
             WHERE is_active ORDER BY group_id, user_id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The direct inclusions of groups in groups.
pub fn all_inclusions(connection: &Connection) -> rusqlite::Result<Vec<(GroupId, GroupId)>> {
    connection
        .prepare_cached(
            "SELECT group_id, subgroup_id FROM user_group_subgroup ORDER BY group_id, subgroup_id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The named groups that name a user as a member, ascending; deactivated ones too.
pub fn groups_that_name(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<GroupId>> {
    connection
        .prepare_cached(
            "SELECT group_id FROM user_group_member JOIN user_group ON id = group_id
             WHERE user_id = ?1 AND kind = 'named' ORDER BY group_id",
        )?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// The settings whose value names a user: the owner of each, its name, and the group that holds the value.
pub fn settings_that_name(
    connection: &Connection,
    user_id: UserId,
) -> rusqlite::Result<Vec<(Owner, String, GroupId)>> {
    connection
        .prepare_cached(
            "SELECT owner, owner_id, setting, group_id FROM user_group_member JOIN group_setting USING (group_id)
             JOIN user_group ON id = group_id WHERE user_id = ?1 AND kind = 'anonymous'",
        )?
        .query_map([user_id], |row| {
            let owner = Owner::read(row.get_ref(0)?.as_str()?, row.get(1)?);
            Ok((owner, row.get(2)?, row.get(3)?))
        })?
        .collect()
}

/// An active user's role, joining time in UNIX seconds, and whether they are one of the server's own bots.
pub fn active_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<(Role, i64, bool)>> {
    connection
        .prepare_cached("SELECT role, date_joined, is_system_bot FROM user WHERE user_id = ?1 AND is_active")?
        .query_row([user_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}

/// The active users with role and joining time in UNIX seconds, by id.
pub fn active_users(connection: &Connection) -> rusqlite::Result<Vec<(UserId, Role, i64)>> {
    connection
        .prepare_cached(
            "SELECT user_id, role, date_joined FROM user WHERE is_active AND NOT is_system_bot ORDER BY user_id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

/// The first active members who joined after a time and the member of an id, up to another time, in this order. Returns when
/// each of them joined.
pub fn members_joined(
    connection: &Connection,
    after: (i64, UserId),
    until: i64,
    limit: i64,
) -> rusqlite::Result<Vec<(i64, UserId)>> {
    connection
        .prepare_cached(
            "SELECT date_joined, user_id FROM user
             WHERE is_active AND role = 400 AND (date_joined, user_id) > (?1, ?2) AND date_joined <= ?3
             ORDER BY date_joined, user_id LIMIT ?4",
        )?
        .query_map((after.0, after.1, until, limit), |row| Ok((row.get(0)?, row.get(1)?)))?
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

/// The groups that include a group themselves or through others, and the group itself.
pub fn all_supergroups(connection: &Connection, group: GroupId) -> rusqlite::Result<HashSet<GroupId>> {
    connection
        .prepare_cached(
            "WITH RECURSIVE including (id) AS (
                 SELECT ?1
                 UNION SELECT group_id FROM user_group_subgroup JOIN including ON subgroup_id = including.id)
             SELECT id FROM including",
        )?
        .query_map([group], |row| row.get(0))?
        .collect()
}

/// Roles and joining times, in UNIX seconds, of the active users that a group names itself or through named groups.
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

/// Creates the anonymous group of a setting's value.
pub fn insert_anonymous(
    connection: &Connection,
    members: &[UserId],
    subgroups: &[GroupId],
) -> rusqlite::Result<GroupId> {
    connection.execute_cached("INSERT INTO user_group (kind) VALUES ('anonymous')", [])?;
    let group = GroupId(connection.last_insert_rowid());
    for user_id in members {
        set_member(connection, group, *user_id, true)?;
    }
    for id in subgroups {
        set_subgroup(connection, group, *id, true)?;
    }
    Ok(group)
}

/// Takes away the group that held the value of one setting.
pub fn delete_anonymous(connection: &Connection, group: GroupId) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM user_group_member WHERE group_id = ?1",
        "DELETE FROM user_group_subgroup WHERE group_id = ?1",
        "DELETE FROM user_group WHERE id = ?1",
    ] {
        connection.execute_cached(statement, [group])?;
    }
    Ok(())
}

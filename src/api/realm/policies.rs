//! The deprecated numbers that stood for a permission before it was a group: the narrowest of the old choices that
//! includes everybody who has the permission (feature levels 264, 266, 280 and 352).

use super::settings;
use crate::api::groups::sql;
use crate::api::groups::system::SystemGroup;
use crate::http::ApiResult;
use crate::types::{GroupId, Role};
use rusqlite::Connection;

/// Choices of an old policy: numbers and their groups, the narrowest first.
pub type Choices = &'static [(i64, SystemGroup)];

/// `create_public_stream_policy` and `create_private_stream_policy`.
pub const COMMON: Choices = &[
    (2, SystemGroup::Administrators),
    (4, SystemGroup::Moderators),
    (3, SystemGroup::FullMembers),
    (1, SystemGroup::Members),
];

/// `create_web_public_stream_policy`.
pub const WEB_PUBLIC: Choices = &[
    (6, SystemGroup::Nobody),
    (7, SystemGroup::Owners),
    (2, SystemGroup::Administrators),
    (4, SystemGroup::Moderators),
];

/// `wildcard_mention_policy`. It has numbers of its own.
pub const WILDCARD_MENTION: Choices = &[
    (6, SystemGroup::Nobody),
    (5, SystemGroup::Administrators),
    (7, SystemGroup::Moderators),
    (3, SystemGroup::FullMembers),
    (2, SystemGroup::Members),
    (1, SystemGroup::Everyone),
];

/// The number for a permission that a group holds; the widest choice where none is wide enough.
pub fn number(connection: &Connection, group: GroupId, now: i64, choices: Choices) -> ApiResult<i64> {
    let needed = around(connection, group, now)?;
    let found = choices.iter().find(|(_, choice)| *choice >= needed).or(choices.last());
    Ok(found.map_or(0, |(number, _)| *number))
}

/// The narrowest system group that has all the members of a group.
fn around(connection: &Connection, group: GroupId, now: i64) -> ApiResult<SystemGroup> {
    if let Some(system) = SystemGroup::with_id(group) {
        return Ok(system);
    }
    let mut widest = SystemGroup::Nobody;
    for included in sql::all_subgroups(connection, group)? {
        widest = widest.max(SystemGroup::with_id(included).unwrap_or(SystemGroup::Nobody));
    }
    let waiting_days: i64 = settings::get(connection, "waiting_period_threshold")?;
    for (role, date_joined) in sql::roles_of_members(connection, group)? {
        let is_new = role == Role::Member && now - date_joined < waiting_days * 24 * 60 * 60;
        widest = widest.max(SystemGroup::of(role, is_new));
    }
    Ok(widest)
}

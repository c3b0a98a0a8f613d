//! Deprecated numeric policies of permissions that are groups now. The number is that of the narrowest choice that
//! includes everyone with the permission (feature levels 264, 266, 280 and 352).

use crate::domain::groups;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::http::ApiResult;
use crate::types::{GroupId, Role};
use rusqlite::Connection;

/// The choices of a policy: numbers and their groups, the narrowest first.
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

/// `wildcard_mention_policy`, whose numbers differ from those of the other policies.
pub const WILDCARD_MENTION: Choices = &[
    (6, SystemGroup::Nobody),
    (5, SystemGroup::Administrators),
    (7, SystemGroup::Moderators),
    (3, SystemGroup::FullMembers),
    (2, SystemGroup::Members),
    (1, SystemGroup::Everyone),
];

/// Returns the number for a permission that a group holds; that of the widest choice if none is wide enough.
pub fn policy_number(connection: &Connection, group: GroupId, now: i64, choices: Choices) -> ApiResult<i64> {
    let needed = narrowest_system_group(connection, group, now)?;
    let found = choices.iter().find(|(_, choice)| *choice >= needed).or(choices.last());
    Ok(found.map_or(0, |(number, _)| *number))
}

/// Returns the narrowest system group that includes all members of a group.
fn narrowest_system_group(connection: &Connection, group: GroupId, now: i64) -> ApiResult<SystemGroup> {
    if let Some(system) = SystemGroup::with_id(group) {
        return Ok(system);
    }
    let mut widest = SystemGroup::Nobody;
    for included in groups::all_subgroups(connection, group)? {
        widest = widest.max(SystemGroup::with_id(included).unwrap_or(SystemGroup::Nobody));
    }
    let waiting_period = WaitingPeriod::load(connection, now)?;
    for (role, date_joined) in groups::roles_of_members(connection, group)? {
        let is_new = role == Role::Member && waiting_period.is_new(date_joined);
        widest = widest.max(SystemGroup::of(role, is_new));
    }
    Ok(widest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::realm;
    use SystemGroup::{Administrators, Everyone, FullMembers, Members, Moderators, Nobody, Owners};

    use crate::types::SECONDS_PER_DAY;

    #[test]
    fn system_groups_have_their_published_numbers() {
        let connection = Connection::open_in_memory().unwrap();
        let cases = [
            (
                COMMON,
                [
                    (Nobody, 2),
                    (Owners, 2),
                    (Administrators, 2),
                    (Moderators, 4),
                    (FullMembers, 3),
                    (Members, 1),
                    (Everyone, 1),
                ],
            ),
            (
                WEB_PUBLIC,
                [
                    (Nobody, 6),
                    (Owners, 7),
                    (Administrators, 2),
                    (Moderators, 4),
                    (FullMembers, 4),
                    (Members, 4),
                    (Everyone, 4),
                ],
            ),
            (
                WILDCARD_MENTION,
                [
                    (Nobody, 6),
                    (Owners, 5),
                    (Administrators, 5),
                    (Moderators, 7),
                    (FullMembers, 3),
                    (Members, 2),
                    (Everyone, 1),
                ],
            ),
        ];
        for (choices, expected) in cases {
            for (group, expected) in expected {
                assert_eq!(
                    policy_number(&connection, group.id(), 0, choices).unwrap(),
                    expected,
                    "{group:?}"
                );
            }
        }
    }

    #[test]
    fn other_groups_have_the_number_of_the_narrowest_that_includes_them() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        for group in SystemGroup::ALL {
            let row = (group.id(), group.name());
            connection
                .execute("INSERT INTO user_group (id, kind, name) VALUES (?1, 'system', ?2)", row)
                .unwrap();
        }
        realm::settings::set(&connection, "waiting_period_threshold", &3.into()).unwrap();
        // Users 1 to 4: a moderator, an old member, a new member, a guest.
        for (user_id, role, joined) in [(1, 300, 0), (2, 400, 0), (3, 400, 9 * SECONDS_PER_DAY), (4, 600, 0)]
        {
            let sql = "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined)
                       VALUES (?1, ?1, ?1, ?1, 'x', ?2, ?3)";
            connection.execute(sql, (user_id, role, joined)).unwrap();
        }
        let group = |members: &[i64], subgroups: &[GroupId]| {
            let members: Vec<_> = members.iter().map(|id| crate::types::UserId(*id)).collect();
            groups::insert_anonymous(&connection, &members, subgroups).unwrap()
        };
        let inner = group(&[1], &[Administrators.id()]);
        let cases = [
            (group(&[], &[]), Nobody),
            (group(&[], &[Owners.id()]), Owners),
            (group(&[1], &[Owners.id()]), Moderators),
            (group(&[], &[inner]), Moderators),
            (group(&[2], &[inner]), FullMembers),
            (group(&[3], &[]), Members),
            (group(&[4], &[]), Everyone),
        ];
        for (group, expected) in cases {
            assert_eq!(narrowest_system_group(&connection, group, 10 * SECONDS_PER_DAY).unwrap(), expected);
        }
    }
}

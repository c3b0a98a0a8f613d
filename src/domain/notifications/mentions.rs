//! Mentions of a user in a message, by name or through a group.

use crate::domain::groups::membership::{self, Membership};
use crate::domain::messages::plain_text;
use crate::error::ApiResult;
use crate::types::{GroupId, UserId, pattern};
use regex::Regex;
use rusqlite::Connection;
use std::sync::LazyLock;

/// The longest name of a group, in characters.
const MAX_NAME_LENGTH: usize = 200;

/// Maximum number of groups whose sizes are compared, the first: all members are counted, for each person who is notified.
const MAX_COMPARED: usize = 10;

/// Mentions in HTML, silent ones excluded: by name, with the user's id, and of a group, with its id and name.
static MENTIONED_USER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"<span class="user-mention" data-user-id="(\d+)">"#));
static MENTIONED_GROUP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"<span class="user-group-mention" data-user-group-id="(\d+)">@?([^<]*)</span>"#)
});

/// A group that a message mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedGroup {
    pub id: GroupId,
    /// The number of its members.
    pub size: u64,
    pub name: String,
}

/// Returns the smallest group of a user that a message mentions, of the first few; `None` if it mentions them by name, or no group of
/// theirs.
pub fn smallest_group(
    connection: &Connection,
    html: &str,
    user_id: UserId,
    now: i64,
) -> ApiResult<Option<MentionedGroup>> {
    let own_id = user_id.to_string();
    if MENTIONED_USER.captures_iter(html).any(|found| found[1] == own_id) || !MENTIONED_GROUP.is_match(html) {
        return Ok(None);
    }
    let own = Membership::of(connection, user_id, now)?;
    let mut compared = Vec::new();
    let mut smallest: Option<MentionedGroup> = None;
    for found in MENTIONED_GROUP.captures_iter(html) {
        let Ok(id) = found[1].parse().map(GroupId) else { continue };
        if !own.contains(id) || compared.contains(&id) {
            continue;
        }
        if compared.len() == MAX_COMPARED {
            break;
        }
        compared.push(id);
        let size = membership::users_in(connection, &[id], now)?.len();
        if smallest.as_ref().is_none_or(|least| size < least.size) {
            let name = plain_text::of_html(&found[2], MAX_NAME_LENGTH);
            smallest = Some(MentionedGroup { id, size, name });
        }
    }
    Ok(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::groups::system;

    #[test]
    fn the_smallest_of_the_first_groups_is_found() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        system::insert_rows(&connection, 0).unwrap();
        // Two people are in ten groups, and each is alone in one more.
        connection
            .execute_batch(
                "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined, is_active)
                 VALUES (1, 'a', 'a', 'a', 'a', 400, 0, 1), (2, 'b', 'b', 'b', 'b', 400, 0, 1);
                 WITH RECURSIVE one (number) AS (SELECT 101 UNION ALL SELECT number + 1 FROM one WHERE number < 112)
                 INSERT INTO user_group (id, kind, name, name_key) SELECT number, 'named', number, number FROM one;
                 INSERT INTO user_group_member (group_id, user_id)
                 SELECT id, user_id FROM user_group CROSS JOIN user
                 WHERE id BETWEEN 101 AND 110 OR (id, user_id) IN (VALUES (111, 1), (112, 2));",
            )
            .unwrap();
        let smallest = |ids: &[i64]| {
            let mention = |id: &i64| {
                format!(r#"<span class="user-group-mention" data-user-group-id="{id}">@g{id}</span> "#)
            };
            let html: String = ids.iter().map(mention).collect();
            let found = smallest_group(&connection, &html, UserId(1), 10).unwrap();
            found.map(|group| (group.id.0, group.size, group.name))
        };
        let both: Vec<i64> = (101..=110).collect();
        assert_eq!(smallest(&both), Some((101, 2, "g101".to_owned())));
        assert_eq!(smallest(&[both.as_slice(), &[111]].concat()), Some((101, 2, "g101".to_owned())));
        let tenth = [[112, 101, 101].as_slice(), &both[..9], &[111]].concat();
        assert_eq!(smallest(&tenth), Some((111, 1, "g111".to_owned())));
        assert_eq!(smallest(&[112]), None);
    }
}

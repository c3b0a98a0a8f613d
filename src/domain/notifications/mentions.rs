//! Mentions of a user in a message, by name or through a group.

use crate::domain::groups::membership;
use crate::domain::messages::plain_text;
use crate::error::ApiResult;
use crate::types::{GroupId, UserId, pattern};
use regex::Regex;
use rusqlite::Connection;
use std::sync::LazyLock;

/// The longest name of a group, in characters.
const MAX_NAME_LENGTH: usize = 200;

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

/// Returns the smallest group of a user that a message mentions; `None` if it mentions them by name, or no group of theirs.
pub fn smallest_group(
    connection: &Connection,
    html: &str,
    user_id: UserId,
    now: i64,
) -> ApiResult<Option<MentionedGroup>> {
    let own_id = user_id.to_string();
    if MENTIONED_USER.captures_iter(html).any(|found| found[1] == own_id) {
        return Ok(None);
    }
    let mut smallest: Option<MentionedGroup> = None;
    for found in MENTIONED_GROUP.captures_iter(html) {
        let Ok(id) = found[1].parse().map(GroupId) else { continue };
        let members = membership::users_in(connection, &[id], now)?;
        let size = members.len();
        let is_member = user_id.bit().is_some_and(|bit| members.contains(bit));
        if is_member && smallest.as_ref().is_none_or(|least| size < least.size) {
            let name = plain_text::of_html(&found[2], MAX_NAME_LENGTH);
            smallest = Some(MentionedGroup { id, size, name });
        }
    }
    Ok(smallest)
}

//! Who may add and deactivate emoji, and what they may be called.

use crate::domain::emoji::sql;
use crate::domain::emoji::sql::RealmEmoji;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::realm_settings::{RealmGroup, is_held};
use crate::http::{ApiError, ApiResult, Caller};
use crate::markdown::emoji as unicode;
use rusqlite::Connection;

/// The name of a new emoji as it is stored: without spaces.
pub fn name(text: &str) -> ApiResult<String> {
    let name = text.trim().replace(' ', "_");
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let msg = if name.is_empty() {
        "Emoji name is missing"
    } else if !name.chars().all(allowed) {
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores."
    } else if name.ends_with(['-', '_']) {
        "Emoji names must end with either a letter or digit."
    } else {
        return Ok(name);
    };
    Err(ApiError::bad_request(msg))
}

/// Whether the caller may add emoji, and one of this name.
pub fn check_add(connection: &Connection, caller: &Caller, now: i64, name: &str) -> ApiResult<()> {
    let membership = Membership::of(connection, caller.user_id, now)?;
    if !is_held(connection, caller, &membership, RealmGroup::CanAddCustomEmoji)? {
        return Err(ApiError::insufficient_permission());
    }
    if sql::active_by_name(connection, name)?.is_some() {
        return Err(ApiError::bad_request("A custom emoji with this name already exists."));
    }
    Ok(())
}

/// Whether the caller may add an emoji in the place of one that everybody knows.
pub fn check_override(caller: &Caller, name: &str) -> ApiResult<()> {
    if unicode::by_name(name).is_some() && !caller.role.is_administrator() {
        return Err(ApiError::bad_request("Only administrators can override default emoji."));
    }
    Ok(())
}

/// Whether the caller may take an emoji out of use: their own, and administrators all.
pub fn check_deactivate(caller: &Caller, emoji: &RealmEmoji) -> ApiResult<()> {
    if caller.role.is_administrator() || emoji.author_id == Some(caller.user_id) {
        return Ok(());
    }
    Err(ApiError::bad_request("Must be an organization administrator or emoji author"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_lower_case_words() {
        for (text, expected) in [
            ("green_tick", "green_tick"),
            (" green tick ", "green_tick"),
            ("a-1", "a-1"),
            ("-a", "-a"),
            ("7", "7"),
        ] {
            assert_eq!(super::name(text).unwrap(), expected);
        }
        let characters = "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.";
        let end = "Emoji names must end with either a letter or digit.";
        for (text, msg) in [
            ("", "Emoji name is missing"),
            ("  ", "Emoji name is missing"),
            ("Green", characters),
            ("my_em*oji", characters),
            ("a/b", characters),
            ("é", characters),
            ("a.b", characters),
            ("a\tb", characters),
            ("_", end),
            ("a-", end),
        ] {
            let error = super::name(text).unwrap_err();
            assert_eq!((error.status(), error.code(), error.msg()), (400, "BAD_REQUEST", msg), "{text:?}");
        }
    }
}

//! What clients mean by `emoji_name`, `emoji_code` and `reaction_type`: in reactions, in statuses.

use crate::domain::emoji::sql;
use crate::http::{ApiError, ApiResult};
use crate::markdown::emoji as unicode;
use rusqlite::Connection;

/// An emoji of a reaction or a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenEmoji {
    /// What identifies it within its type: hexadecimal code points, the id of a custom emoji, or a name.
    pub code: String,
    /// The type: `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub kind: &'static str,
}

/// The type of the emoji that every client has.
pub const UNICODE: &str = "unicode_emoji";

const CUSTOM: &str = "realm_emoji";

const EXTRA: &str = "zulip_extra_emoji";

/// Finds the emoji that a client means, and checks that its name, code and type belong together and that it may be used
/// now. Code and type are those of the name where they are absent.
pub fn choose(
    connection: &Connection,
    name: &str,
    code: Option<String>,
    kind: Option<String>,
) -> ApiResult<ChosenEmoji> {
    let (code, kind) = complete(connection, name, code, kind)?;
    let kind = check(connection, name, &code, &kind)?;
    Ok(ChosenEmoji { code, kind })
}

/// Fills in what a client left out: the code and the type that a name has now.
pub fn complete(
    connection: &Connection,
    name: &str,
    code: Option<String>,
    kind: Option<String>,
) -> ApiResult<(String, String)> {
    if let (Some(code), Some(kind)) = (&code, &kind) {
        return Ok((code.clone(), kind.clone()));
    }
    let found = by_name(connection, name)?
        .ok_or_else(|| ApiError::bad_request(format!("Emoji '{name}' does not exist")))?;
    Ok((code.unwrap_or(found.code), kind.unwrap_or_else(|| found.kind.to_owned())))
}

/// Checks that a name, a code and a type belong together and that the emoji may be used now. Answers the type.
pub fn check(connection: &Connection, name: &str, code: &str, kind: &str) -> ApiResult<&'static str> {
    let (kind, problem) = match kind {
        UNICODE => {
            let problem = if unicode::by_code(code).is_none() {
                Some("Invalid emoji code.")
            } else {
                (!unicode::is_valid_pair(name, code)).then_some("Invalid emoji name.")
            };
            (UNICODE, problem)
        }
        EXTRA => {
            let problem = if code == unicode::EXTRA_EMOJI_NAME {
                (name != unicode::EXTRA_EMOJI_NAME).then_some("Invalid emoji name.")
            } else {
                Some("Invalid emoji code.")
            };
            (EXTRA, problem)
        }
        CUSTOM => (CUSTOM, check_custom(connection, name, code)?),
        _ => return Err(ApiError::bad_request("Invalid emoji type.")),
    };
    match problem {
        None => Ok(kind),
        Some(msg) => Err(ApiError::bad_request(msg)),
    }
}

fn check_custom(connection: &Connection, name: &str, code: &str) -> ApiResult<Option<&'static str>> {
    // An id has one spelling: reactions with another would not be the same.
    let id = code.parse().ok().filter(|id: &i64| id.to_string() == code);
    let emoji = id.map(|id| sql::by_id(connection, id)).transpose()?.flatten();
    Ok(match emoji {
        None => Some("Invalid custom emoji."),
        Some(emoji) if emoji.name != name => Some("Invalid custom emoji name."),
        Some(emoji) if emoji.deactivated => Some("This custom emoji has been deactivated."),
        Some(_) => None,
    })
}

/// The emoji of a name: the organization's own goes before one that everybody knows.
fn by_name(connection: &Connection, name: &str) -> ApiResult<Option<ChosenEmoji>> {
    if let Some(emoji) = sql::active_by_name(connection, name)? {
        return Ok(Some(ChosenEmoji { code: emoji.id.to_string(), kind: CUSTOM }));
    }
    if name == unicode::EXTRA_EMOJI_NAME {
        return Ok(Some(ChosenEmoji { code: name.to_owned(), kind: EXTRA }));
    }
    Ok(unicode::by_name(name).map(|emoji| ChosenEmoji { code: emoji.code.to_owned(), kind: UNICODE }))
}

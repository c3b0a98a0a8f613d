//! Resolves and checks `emoji_name`, `emoji_code` and `reaction_type` in reactions and user statuses.

use crate::domain::emoji::sql;
use crate::error::{ApiError, ApiResult};
use rusqlite::Connection;

/// An emoji of a reaction or a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenEmoji {
    /// Identifies the emoji within its type: hexadecimal code points, the id of a custom emoji, or a name.
    pub code: String,
    /// The type: `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub kind: &'static str,
}

/// The type of Unicode emoji.
pub const UNICODE: &str = "unicode_emoji";

const CUSTOM: &str = "realm_emoji";

const EXTRA: &str = "zulip_extra_emoji";

/// Resolves an emoji. Code and type are looked up by the name if absent. Fails if the three do not match, or if the
/// emoji is deactivated.
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

/// Looks up an absent code or type by the name.
pub fn complete(
    connection: &Connection,
    name: &str,
    code: Option<String>,
    kind: Option<String>,
) -> ApiResult<(String, String)> {
    let (code, kind) = match (code, kind) {
        (Some(code), Some(kind)) => (code, kind),
        (code, kind) => {
            let found = by_name(connection, name)?
                .ok_or_else(|| ApiError::bad_request(format!("Emoji '{name}' does not exist")))?;
            (code.unwrap_or(found.code), kind.unwrap_or_else(|| found.kind.to_owned()))
        }
    };
    Ok((canonical_code(code, &kind), kind))
}

/// The code as it is stored: older tables of clients have U+FE0F in a few codes.
pub fn canonical_code(code: String, kind: &str) -> String {
    if kind == UNICODE { teamchat_markdown::emoji::without_variation_selectors(&code) } else { code }
}

/// Checks that a name, a code and a type match and that the emoji is active. Returns the type.
pub fn check(connection: &Connection, name: &str, code: &str, kind: &str) -> ApiResult<&'static str> {
    let (kind, problem) = match kind {
        UNICODE => {
            let problem = if teamchat_markdown::emoji::by_code(code).is_none() {
                Some("Invalid emoji code.")
            } else {
                (!teamchat_markdown::emoji::is_valid_pair(name, code)).then_some("Invalid emoji name.")
            };
            (UNICODE, problem)
        }
        EXTRA => {
            let problem = if code == teamchat_markdown::emoji::EXTRA_EMOJI_NAME {
                (name != teamchat_markdown::emoji::EXTRA_EMOJI_NAME).then_some("Invalid emoji name.")
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
    // Only the canonical spelling of an id: reactions are compared by their code.
    let id = code.parse().ok().filter(|id: &i64| id.to_string() == code);
    let emoji = id.map(|id| sql::by_id(connection, id)).transpose()?.flatten();
    Ok(match emoji {
        None => Some("Invalid custom emoji."),
        Some(emoji) if emoji.name != name => Some("Invalid custom emoji name."),
        Some(emoji) if emoji.deactivated => Some("This custom emoji has been deactivated."),
        Some(_) => None,
    })
}

/// The emoji with a name. Custom emoji override Unicode emoji.
fn by_name(connection: &Connection, name: &str) -> ApiResult<Option<ChosenEmoji>> {
    if let Some(emoji) = sql::active_by_name(connection, name)? {
        return Ok(Some(ChosenEmoji { code: emoji.id.to_string(), kind: CUSTOM }));
    }
    if name == teamchat_markdown::emoji::EXTRA_EMOJI_NAME {
        return Ok(Some(ChosenEmoji { code: name.to_owned(), kind: EXTRA }));
    }
    Ok(teamchat_markdown::emoji::by_name(name)
        .map(|emoji| ChosenEmoji { code: emoji.code.to_owned(), kind: UNICODE }))
}

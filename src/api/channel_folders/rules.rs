//! What may be the name of a folder.

use crate::domain::channels::folder_sql;
use crate::http::{ApiError, ApiResult};
use rusqlite::Connection;

/// Checks a name; answers it stripped.
pub fn name(text: &str) -> ApiResult<String> {
    let name = text.trim();
    if name.is_empty() {
        return Err(ApiError::bad_request("Channel folder name can't be empty."));
    }
    let is_forbidden = |character: char| {
        character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
    };
    if let Some(index) = name.chars().position(is_forbidden) {
        let msg = format!("Invalid character in channel folder name, at position {}.", index + 1);
        return Err(ApiError::bad_request(msg));
    }
    Ok(name.to_owned())
}

/// Refuses a name that another folder in use has, upper and lower case alike.
pub fn check_is_free(connection: &Connection, name: &str, but: Option<i64>) -> ApiResult<()> {
    if folder_sql::is_taken(connection, name, but)? {
        return Err(ApiError::bad_request(format!("Channel folder '{name}' already exists")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_read() {
        let cases = [
            (" Backend ", Ok("Backend")),
            ("", Err("Channel folder name can't be empty.")),
            (" \t", Err("Channel folder name can't be empty.")),
            ("a\nb", Err("Invalid character in channel folder name, at position 2.")),
            ("a\u{2028}b", Err("Invalid character in channel folder name, at position 2.")),
        ];
        for (text, expected) in cases {
            let checked = name(text);
            let checked = checked.as_ref().map(String::as_str).map_err(ApiError::msg);
            assert_eq!(checked, expected, "{text:?}");
        }
    }
}

//! Rules for display names and email addresses.

use crate::domain::realm;
use crate::domain::users::sql;
use crate::http::{ApiError, ApiResult};
use crate::types::{UserId, is_unprintable};
use rusqlite::Connection;
use unicode_normalization::UnicodeNormalization;

/// The maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 100;

/// Characters that are part of the syntax of mentions or quotes.
const FORBIDDEN_IN_NAMES: &[char] = &['*', '`', '\\', '>', '"', '@'];

/// Checks a display name and returns it without surrounding white space.
pub fn check_full_name(text: &str) -> ApiResult<String> {
    let name = text.trim();
    if name.chars().count() > MAX_NAME_LENGTH {
        return Err(ApiError::bad_request("Name too long!"));
    }
    if name.is_empty() {
        return Err(ApiError::bad_request("Name too short!"));
    }
    if name.chars().any(|character| is_unprintable(character) || FORBIDDEN_IN_NAMES.contains(&character)) {
        return Err(ApiError::bad_request("Invalid characters in name!"));
    }
    // In a mention, `@**name|7**` is the user with id 7.
    let digits = name.rsplit_once('|').map(|(_, digits)| digits);
    if digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(ApiError::bad_request("Invalid format!"));
    }
    Ok(name.to_owned())
}

/// Checks that no active user except `except` has this name, if the organization requires unique names. Names are
/// compared after NFKC normalization, ignoring case.
pub fn check_unique(connection: &Connection, name: &str, except: Option<UserId>) -> ApiResult<()> {
    if !realm::settings::REQUIRE_UNIQUE_NAMES.get(connection)? {
        return Ok(());
    }
    let fold = |name: &str| name.nfkc().collect::<String>().to_lowercase();
    let name = fold(name);
    if sql::other_names(connection, except)?.iter().any(|other| fold(other) == name) {
        return Err(ApiError::bad_request("Unique names required in this organization."));
    }
    Ok(())
}

/// Whether a text has the form of an email address: a local part, an `@`, and a domain.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let plain = |part: &str| {
        !part.is_empty()
            && !part.contains(|character: char| character.is_whitespace() || is_unprintable(character))
            && !part.contains(['@', ',', '<', '>', '"', '(', ')', ':', ';', '\\', '[', ']'])
    };
    plain(local) && plain(domain) && !domain.starts_with('.') && !domain.ends_with('.') && text.len() <= 254
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_in_the_published_words() {
        let long = "x".repeat(101);
        let cases = [
            (" Ada Lovelace ", Ok("Ada Lovelace")),
            ("", Err("Name too short!")),
            ("   ", Err("Name too short!")),
            (long.as_str(), Err("Name too long!")),
            ("Ada | Lovelace", Ok("Ada | Lovelace")),
            ("Ada|", Ok("Ada|")),
            ("Ada|7", Err("Invalid format!")),
            ("Ada*", Err("Invalid characters in name!")),
            ("Ada\nLovelace", Err("Invalid characters in name!")),
            ("\u{202e}adA", Err("Invalid characters in name!")),
            ("Ada\u{202e}ecalevoL", Err("Invalid characters in name!")),
            ("عائشة", Ok("عائشة")),
        ];
        for (text, expected) in cases {
            let checked = check_full_name(text);
            let checked = checked.as_ref().map(String::as_str).map_err(ApiError::msg);
            assert_eq!(checked, expected, "{text:?}");
        }
    }

    #[test]
    fn addresses_are_told_from_other_texts() {
        for good in ["a@b", "ada@example.com", "a.b+c@sub.example.com"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b@c", "a,b@c", "a@.b", "<a@b>", "a\u{202e}b@c.d"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}

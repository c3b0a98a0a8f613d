//! Rules for display names and email addresses.

use crate::domain::realm;
use crate::domain::users::sql;
use crate::error::{ApiError, ApiResult};
use crate::types::{
    UserId, find_forbidden_in_name, folded_skeleton, is_unprintable, is_unseen, skeleton, without_marks,
};
use rusqlite::Connection;
use url::Host;

/// The maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 100;

/// The maximum length of an address before the `@`, in bytes (RFC 5321, section 4.5.3.1.1).
const MAX_LOCAL_LENGTH: usize = 64;

/// The maximum length of a label of a domain, in bytes.
const MAX_LABEL_LENGTH: usize = 63;

/// Characters that are part of the syntax of mentions or quotes.
const FORBIDDEN_IN_NAMES: &[char] = &['*', '`', '\\', '>', '"', '@'];

/// The names of the bots that the server has.
pub const SYSTEM_BOTS: [&str; 3] = ["Notification Bot", "Email Gateway", "Welcome Bot"];

/// Reserved names: of system bots, and of those of other servers of this interface.
const RESERVED: [&str; 4] = [SYSTEM_BOTS[0], SYSTEM_BOTS[1], SYSTEM_BOTS[2], "Reminder Bot"];

/// Checks a display name and returns it without surrounding white space.
pub fn check_full_name(text: &str) -> ApiResult<String> {
    let name = text.trim();
    if name.chars().count() > MAX_NAME_LENGTH {
        return Err(ApiError::bad_request("Name too long!"));
    }
    if name.is_empty() {
        return Err(ApiError::bad_request("Name too short!"));
    }
    if find_forbidden_in_name(name).is_some() || name.contains(FORBIDDEN_IN_NAMES) {
        return Err(ApiError::bad_request("Invalid characters in name!"));
    }
    // In a mention, `@**name|7**` is the user with id 7.
    let digits = name.rsplit_once('|').map(|(_, digits)| digits);
    if digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(ApiError::bad_request("Invalid format!"));
    }
    Ok(name.to_owned())
}

/// Checks that a new name is not that of one of the server's own bots, and is unique if it has to be.
pub fn check_available(connection: &Connection, name: &str, except: Option<UserId>) -> ApiResult<()> {
    if is_reserved(name) {
        return Err(ApiError::bad_request("Name is already in use!"));
    }
    check_unique(connection, name, except)
}

/// Checks that no active user except `except` has a name that looks like this one, if the organization requires unique
/// names.
pub fn check_unique(connection: &Connection, name: &str, except: Option<UserId>) -> ApiResult<()> {
    if realm::settings::REQUIRE_UNIQUE_NAMES.get(connection)?
        && sql::looks_like_another(connection, name, except)?
    {
        return Err(ApiError::bad_request("Unique names required in this organization."));
    }
    Ok(())
}

/// True if a name is similar to that of a system bot, or is one with marks on its letters.
pub fn is_reserved(name: &str) -> bool {
    let plain = without_marks(name);
    let (written, folded) = (without_marks(&skeleton(&plain)), without_marks(&folded_skeleton(&plain)));
    RESERVED.iter().any(|bot| skeleton(bot) == written || folded_skeleton(bot) == folded)
}

/// True if a text can be the email of a new account: as for a [bot](is_new_bot_email), and with a local part that is short enough
/// for mail.
pub fn is_new_email(text: &str) -> bool {
    let is_short = |(local, _): (&str, &str)| local.len() <= MAX_LOCAL_LENGTH;
    text.rsplit_once('@').is_some_and(is_short) && is_new_bot_email(text)
}

/// True if a text can be the email of a new bot, to which no mail is sent: as on the published server, with a local part in ASCII
/// that has dots only between other characters, and a valid host name as domain. Without backticks, because notices show emails as
/// code.
pub fn is_new_bot_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    is_email(text)
        && local.is_ascii()
        && local.split('.').all(|word| !word.is_empty())
        && !local.contains('`')
        && is_host_name(domain)
}

/// True if the labels of a domain are letters, digits and hyphens, in ASCII or as other alphabets are encoded in it.
fn is_host_name(domain: &str) -> bool {
    let ascii = if domain.is_ascii() {
        domain.to_owned()
    } else if let Ok(Host::Domain(ascii)) = Host::parse(domain) {
        ascii
    } else {
        return false;
    };
    ascii.split('.').all(|label| {
        (1..=MAX_LABEL_LENGTH).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// True if a text has the form of an email address, such as one of an existing account: a local part, an `@`, and a domain.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let plain = |part: &str| {
        !part.is_empty()
            && !part.contains(|character: char| {
                character.is_whitespace() || is_unprintable(character) || is_unseen(character)
            })
            && !part.contains(['@', ',', '<', '>', '"', '(', ')', ':', ';', '\\', '[', ']'])
    };
    plain(local) && plain(domain) && !domain.starts_with('.') && !domain.ends_with('.') && text.len() <= 254
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smtp::is_address;
    use regex::Regex;

    #[test]
    fn names_are_checked_as_published() {
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
            ("Olga\u{200b}", Err("Invalid characters in name!")),
            ("Ol\u{ad}ga", Err("Invalid characters in name!")),
            ("Olga\u{fe0f}", Err("Invalid characters in name!")),
            ("Olga ❤\u{fe0f}", Ok("Olga ❤\u{fe0f}")),
        ];
        for (text, expected) in cases {
            let checked = check_full_name(text);
            let checked = checked.as_ref().map(String::as_str).map_err(ApiError::msg);
            assert_eq!(checked, expected, "{text:?}");
        }
    }

    #[test]
    fn names_of_the_servers_bots_are_reserved() {
        for name in [
            "Notification Bot",
            "welcome bot",
            "Nοtification Bot",
            "Welcorne Bot",
            "Email  Gateway",
            "REMINDER BOT",
        ] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["Notification Bot 2", "Bot", "Welcome"] {
            assert!(!is_reserved(name), "{name}");
        }
    }

    #[test]
    fn reserved_names_stay_reserved_with_spaces_and_marks() {
        let small = Regex::new(r"^[\p{M}\p{Z}]$").unwrap();
        for character in '\0'..=char::MAX {
            if !small.is_match(&character.to_string()) {
                continue;
            }
            for name in [format!("Notification Bot{character}"), format!("W{character}elcome Bot")] {
                let Ok(name) = check_full_name(&name) else { continue };
                let is_space = character.is_whitespace() && name.starts_with('W');
                assert!(is_space || is_reserved(&name), "{name} {:x}", u32::from(character));
            }
        }
    }

    #[test]
    fn new_addresses_have_a_local_part_in_ascii_and_a_host_name() {
        let long = "x".repeat(63);
        for good in [
            "ada@example.com",
            "ada@bücher.example",
            "ada@localhost",
            "a.b+c'd/e_f@x-1.example",
            "ada@127.0.0.1",
            &format!("ada@{long}.example"),
            &format!("{long}x@x.example"),
        ] {
            assert!(is_new_email(good) && is_address(good), "{good}");
        }
        for bad in [
            "оlga@example.com",
            "olga@x.example\u{200b}",
            "ol\u{ad}ga@x.example",
            "ada@exa\u{fe0f}mple.com",
            "a@evil.example/join",
            "a@evil.example?x=y",
            "a@evil.example#join",
            "a`b`@x.example",
            "a@`x`.example",
            "a@x_y.example",
            "a@x..example",
            "a@-x.example",
            "a@x-.example",
            "a@bücher.example/join",
            "a@x.example!",
            "a@*x*.example",
            &format!("ada@x{long}.example"),
            &format!("{long}xx@x.example"),
            ".a@x.example",
            "a.@x.example",
            "a..b@x.example",
        ] {
            assert!(!is_new_email(bad), "{bad}");
        }
    }

    #[test]
    fn addresses_are_distinguished_from_other_text() {
        for good in ["a@b", "ada@example.com", "a.b+c@sub.example.com"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b@c", "a,b@c", "a@.b", "<a@b>", "a\u{202e}b@c.d"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}

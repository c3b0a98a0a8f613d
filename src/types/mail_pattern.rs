//! The addresses at which the server receives mail.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// The place in a pattern where each address has its own part.
const PLACE: &str = "%s";

/// The longest part of an address before the `@`, in bytes (RFC 5321, section 4.5.3.1.1).
const MAX_LOCAL_LENGTH: usize = 64;

/// The bytes that patterns leave for the part of an address: a token of 34 characters with `.show-sender`, and a few of the
/// name of a channel.
const MIN_ROOM: usize = 50;

/// A pattern of addresses, such as `%s@mail.example.com` or `chat+%s@example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailPattern {
    before: String,
    /// The text after the part, up to the end of the address: `@` and the domain.
    after: String,
}

impl MailPattern {
    /// Returns the address with a part in place of `%s`.
    pub fn address(&self, part: &str) -> String {
        format!("{}{part}{}", self.before, self.after)
    }

    /// The part of an address, if it has the pattern. Case is ignored.
    pub fn part_of<'a>(&self, address: &'a str) -> Option<&'a str> {
        let end = address.len().checked_sub(self.after.len())?;
        let (before, part, after) =
            (address.get(..self.before.len())?, address.get(self.before.len()..end)?, address.get(end..)?);
        let is_ours = before.eq_ignore_ascii_case(&self.before) && after.eq_ignore_ascii_case(&self.after);
        (is_ours && !part.is_empty()).then_some(part)
    }

    /// The most bytes of a part.
    pub fn room(&self) -> usize {
        let local = self.before.len() + self.after.find('@').unwrap_or(self.after.len());
        MAX_LOCAL_LENGTH.saturating_sub(local)
    }

    /// The domain of the addresses.
    pub fn domain(&self) -> &str {
        self.after.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl FromStr for MailPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write it like %s@mail.example.com or chat+%s@example.com";
        let text = text.to_ascii_lowercase();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "%@.+-_=".contains(c);
        if let Some(character) = text.chars().find(|c| !is_plain(*c)) {
            return Err(format!("it has the character {character:?}; {example}"));
        }
        let Some((before, after)) = text.split_once(PLACE).filter(|(_, after)| !after.contains('%')) else {
            return Err(format!("it has %s once; {example}"));
        };
        let domain = after.split_once('@').map_or("", |(_, domain)| domain);
        let is_label = |label: &str| !label.is_empty() && !label.contains(['@', '+', '_', '=']);
        if before.contains(['@', '%']) || !domain.split('.').all(is_label) {
            return Err(format!("%s is before the @, and a domain after it; {example}"));
        }
        let pattern = Self { before: before.to_owned(), after: after.to_owned() };
        if pattern.room() < MIN_ROOM {
            return Err(format!("the text beside %s is too long; {example}"));
        }
        Ok(pattern)
    }
}

impl Display for MailPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{PLACE}{}", self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_one_place_before_the_domain() {
        for (text, address) in [
            ("%s@mail.example.com", "x@mail.example.com"),
            ("Chat+%s@Example.com", "chat+x@example.com"),
            ("%s.chat@localhost", "x.chat@localhost"),
        ] {
            let pattern: MailPattern = text.parse().unwrap();
            assert_eq!(pattern.address("x"), address);
            assert_eq!(pattern.part_of(&address.to_uppercase()), Some("X"));
            assert_eq!(pattern.to_string(), text.to_lowercase());
        }
        for text in [
            "",
            "chat@example.com",
            "%s",
            "%s@",
            "a@%s",
            "%s%s@x",
            "%s@a@b",
            "%s @x",
            "%s@x\r\n",
            "%s@a..b",
            "é%s@x",
        ] {
            assert!(text.parse::<MailPattern>().unwrap_err().contains("chat+%s@example.com"), "{text}");
        }
        assert!(format!("{}%s@x", "a".repeat(20)).parse::<MailPattern>().is_err());
    }

    #[test]
    fn addresses_of_others_have_no_part() {
        let pattern: MailPattern = "chat+%s@example.com".parse().unwrap();
        for address in [
            "chat+@example.com",
            "chat@example.com",
            "chat+x@example.org",
            "x",
            "",
            "chat+x@example.com.evil",
            "é",
        ] {
            assert_eq!(pattern.part_of(address), None, "{address}");
        }
        assert_eq!((pattern.room(), pattern.domain()), (59, "example.com"));
    }
}

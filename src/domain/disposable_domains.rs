//! Services for disposable addresses, which anyone can read.
//!
//! The domains are those of <https://github.com/disposable-email-domains/disposable-email-domains>, the list that the published
//! server uses too: `disposable_email_blocklist.conf` at commit e2254bf7, sorted, in the public domain (CC0 1.0). A newer one
//! replaces the file. No crate with the list builds with the compiler of this one.

use std::sync::LazyLock;
use url::Host;

/// The domains, sorted.
static DOMAINS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("disposable_domains.txt").lines().collect());

/// True if an email is of such a service, or of a domain below one.
pub fn is_disposable(email: &str) -> bool {
    let Some((_, domain)) = email.trim().rsplit_once('@') else { return false };
    // Encoded as in the list, and as mail is sent to it: wide letters are one more spelling of a domain.
    let domain = match Host::parse(domain) {
        Ok(Host::Domain(ascii)) => ascii,
        _ => domain.to_lowercase(),
    };
    let mut rest = Some(domain.as_str());
    while let Some(domain) = rest {
        if DOMAINS.binary_search(&domain).is_ok() {
            return true;
        }
        rest = domain.split_once('.').map(|(_, parent)| parent);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disposable_addresses_are_known_by_their_domain() {
        for (email, expected) in [
            ("ada@mailinator.com", true),
            ("Ada@sub.YOPmail.com ", true),
            ("ada@10minutemail.com", true),
            ("ada@0-mail.com", true),
            ("ada@a.b.guerrillamail.com", true),
            ("ada@ｍailinator.com", true),
            ("ada@mailinator。com", true),
            ("ada@yahóo.com", true),
            ("ada@yahöo.example", false),
            ("ada@mailinator.com.example.org", false),
            ("ada@gmail.com", false),
            ("ada@com", false),
            ("ada@", false),
            ("mailinator.com@example.com", false),
            ("mailinator.com", false),
        ] {
            assert_eq!(is_disposable(email), expected, "{email}");
        }
    }

    #[test]
    fn the_list_is_sorted_and_lower_case() {
        assert!(DOMAINS.is_sorted_by(|one, other| one < other));
        let is_domain = |name: &&str| {
            name.contains('.')
                && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
        };
        let malformed: Vec<_> = DOMAINS.iter().filter(|name| !is_domain(name)).collect();
        assert!(malformed.is_empty(), "{malformed:?}");
        // A list that is cut off or empty would let everyone in.
        assert!(DOMAINS.len() > 10_000);
    }
}

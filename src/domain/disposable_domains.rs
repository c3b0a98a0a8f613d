//! Well-known services for disposable addresses, which anyone can read.

/// Domains of such services, sorted.
#[rustfmt::skip]
const DOMAINS: &[&str] = &[
    "10minutemail.com", "10minutemail.net", "20minutemail.com", "33mail.com", "anonbox.net",
    "burnermail.io", "byom.de", "deadaddress.com", "discard.email", "discardmail.com", "discardmail.de",
    "disposableaddress.com", "dispostable.com", "dropmail.me", "einrot.com", "emailondeck.com",
    "fakeinbox.com", "fakemail.net", "fakemailgenerator.com", "filzmail.com", "getairmail.com",
    "getnada.com", "grr.la", "guerrillamail.biz", "guerrillamail.com", "guerrillamail.de",
    "guerrillamail.info", "guerrillamail.net", "guerrillamail.org", "guerrillamailblock.com",
    "harakirimail.com", "inboxbear.com", "inboxkitten.com", "jetable.org", "luxusmail.org", "mail-temp.com",
    "mail-temporaire.fr", "mailcatch.com", "maildrop.cc", "mailexpire.com", "mailforspam.com",
    "mailinator.com", "mailinator.net", "mailinator2.com", "mailnesia.com", "mailnull.com", "mailpoof.com",
    "mailsac.com", "mailtemp.info", "meltmail.com", "mintemail.com", "moakt.com", "mohmal.com",
    "mytemp.email", "mytrashmail.com", "nada.email", "nospam.ze.tc", "nowmymail.com", "owlymail.com",
    "pokemail.net", "sharklasers.com", "sneakemail.com", "spam4.me", "spambog.com", "spambox.us",
    "spamex.com", "spamgourmet.com", "spamspot.com", "temp-mail.io", "temp-mail.org", "tempail.com",
    "tempinbox.com", "tempmail.com", "tempmail.dev", "tempmail.net", "tempmail.plus", "tempmailaddress.com",
    "tempmailo.com", "tempomail.fr", "tempr.email", "throwawaymail.com", "trash-mail.at", "trash-mail.com",
    "trashmail.com", "trashmail.de", "trashmail.me", "trashmail.net", "trashmail.ws", "trbvm.com",
    "wegwerfmail.de", "wegwerfmail.net", "wegwerfmail.org", "yopmail.com", "yopmail.fr", "yopmail.net",
    "zetmail.com",
];

/// True if an email is of such a service.
pub fn is_disposable(email: &str) -> bool {
    let domain = email.trim().rsplit_once('@').map(|(_, domain)| domain.to_lowercase()).unwrap_or_default();
    let is_of =
        |known: &str| domain.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    DOMAINS.iter().any(|known| is_of(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disposable_addresses_are_known_by_their_domain() {
        for (email, expected) in [
            ("ada@mailinator.com", true),
            ("Ada@sub.YOPmail.com ", true),
            ("ada@notmailinator.com", false),
            ("mailinator.com@example.com", false),
            ("mailinator.com", false),
        ] {
            assert_eq!(is_disposable(email), expected, "{email}");
        }
    }
}

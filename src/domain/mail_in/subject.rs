//! Topics from subjects.

use crate::types::{is_unprintable, pattern};
use regex::Regex;
use std::sync::LazyLock;

/// The topic of a mail without a subject.
const NO_SUBJECT: &str = "Email with no subject";

/// Marks of answers and forwarded mails, as published.
static MARKS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)([\[(] *)?\b(RE|AW|FWD?) *([-:;)\]][ :;\])-]*|$)|\]+ *$"));

/// The mark of a forwarded mail, at the beginning: the published one, and those of Outlook in other languages.
static FORWARDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^([\[(] *)?\b(FWD?) *([-:;)\]][ :;\])-]*|$)|^\]+ *$|^(WG|TR|RV|ENC|VB|PD) ?:")
});

/// The topic of a subject: without marks of answers, and without characters that topics cannot have. Long ones are shortened
/// like those of other messages.
pub fn topic(subject: &str) -> String {
    let subject: String =
        subject.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect();
    let own = MARKS.replace_all(&subject, "");
    let printable: String = own.chars().filter(|character| !is_unprintable(*character)).collect();
    let topic = printable.trim();
    if topic.is_empty() { NO_SUBJECT.to_owned() } else { topic.to_owned() }
}

/// True for the subject of a forwarded mail.
pub fn is_forwarded(subject: &str) -> bool {
    FORWARDED.is_match(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_have_no_marks_and_no_control_characters() {
        for (subject, expected) in [
            ("lunch", "lunch"),
            ("Re: lunch", "lunch"),
            ("AW: RE: Fwd: lunch", "lunch"),
            ("[Fwd: lunch]", "lunch"),
            ("(re) lunch", "lunch"),
            ("Regarding: lunch", "Regarding: lunch"),
            ("lunch\r\nBcc: eve@example.com", "lunch  Bcc: eve@example.com"),
            ("a\u{202e}b\u{0}c", "abc"),
            ("", NO_SUBJECT),
            ("Re:", NO_SUBJECT),
            (" \t ", NO_SUBJECT),
        ] {
            assert_eq!(topic(subject), expected, "{subject:?}");
        }
    }

    #[test]
    fn forwarded_mails_are_recognized() {
        for (subject, expected) in [
            ("Fwd: x", true),
            ("FW: x", true),
            ("[Fwd: x]", true),
            ("WG: x", true),
            ("TR : x", true),
            ("TR-069: x", false),
            ("Re: Fwd: x", false),
            ("forward: x", false),
            ("", false),
        ] {
            assert_eq!(is_forwarded(subject), expected, "{subject}");
        }
    }
}

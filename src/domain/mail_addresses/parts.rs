//! The parts of an address before the `@`: a name for people, the token, and options.

use crate::types::fold;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The option that names the sender of each mail above its text.
pub const SHOW_SENDER: &str = "show-sender";

/// Options of an address, beside those by which it belongs to someone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailOptions {
    /// The message begins with the sender of the mail.
    pub show_sender: bool,
    /// Keeps the text from a line with `--` on.
    pub include_footer: bool,
    /// Keeps quoted text.
    pub include_quotes: bool,
    /// Prefers the HTML of a mail to its plain text.
    pub prefer_html: bool,
}

/// An address, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The token, in lower case.
    pub token: String,
    /// Off where the address does not name them.
    pub options: MailOptions,
}

impl Parts {
    /// Takes the part of an address apart that differs among addresses. Its own parts are separated by dots or plus signs, in any
    /// order; the token is the last that is no option.
    pub fn of(part: &str) -> Self {
        let part = part.to_ascii_lowercase();
        let mut options = MailOptions::default();
        let mut token = "";
        for word in part.split(['.', '+']) {
            match word {
                SHOW_SENDER => options.show_sender = true,
                "include-footer" => options.include_footer = true,
                "include-quotes" => options.include_quotes = true,
                "prefer-text" => options.prefer_html = false,
                "prefer-html" => options.prefer_html = true,
                other => token = other,
            }
        }
        Self { token: token.to_owned(), options }
    }
}

/// A name of letters and digits of ASCII with hyphens between them, in lower case, of at most this number of bytes. `None` if
/// letters of the name would be lost.
pub fn slug(name: &str, most: usize) -> Option<String> {
    let mut slug = String::new();
    for character in fold(name).nfkd().filter(|character| !is_combining_mark(*character)) {
        match character {
            c if c.is_ascii_alphanumeric() || c == '_' => slug.push(c.to_ascii_lowercase()),
            c if c.is_alphanumeric() => return None,
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(most);
    let slug = slug.trim_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_token_are_separated_by_dots_or_plus_signs() {
        let none = MailOptions::default();
        let shown = MailOptions { show_sender: true, ..none };
        for (part, token, options) in [
            ("abc", "abc", none),
            ("design.abc.show-sender", "abc", shown),
            ("Design+ABC+Show-Sender", "abc", shown),
            ("show-sender.abc", "abc", shown),
            ("abc.include-footer", "abc", MailOptions { include_footer: true, ..none }),
            ("abc.include-quotes+show-sender", "abc", MailOptions { include_quotes: true, ..shown }),
            ("abc.prefer-html", "abc", MailOptions { prefer_html: true, ..none }),
            ("abc.prefer-html.prefer-text", "abc", none),
            ("abc.include-everything", "include-everything", none),
            ("", "", none),
            ("show-sender", "", shown),
        ] {
            assert_eq!(Parts::of(part), Parts { token: token.to_owned(), options }, "{part}");
        }
    }

    #[test]
    fn names_that_are_not_ascii_are_left_out() {
        for (name, expected) in [
            ("Design", Some("design")),
            ("design & UX (new)", Some("design-ux-new")),
            ("Café", Some("cafe")),
            ("a_b", Some("a_b")),
            ("日本語", None),
            ("team 日本", None),
            ("***", None),
            ("abcdefghijkl mno", Some("abcdefghijkl")),
        ] {
            assert_eq!(slug(name, 13).as_deref(), expected, "{name}");
        }
        assert_eq!(slug("design", 0), None);
    }
}

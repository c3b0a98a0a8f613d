//! An email with its headers.

use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message as Formatted};
use serde::{Deserialize, Serialize};
use std::time::{Duration, UNIX_EPOCH};
use url::Host;

/// The longest `From` and `To` with a name, in characters; longer ones have the address alone.
const MAX_MAILBOX: usize = 320;

/// The longest text in a header, in characters.
const MAX_HEADER: usize = 300;

/// An email to one address: all of it but the sender's address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The receiver's address.
    pub to: String,
    /// The receiver's name; `None` for people without an account.
    pub to_name: Option<String>,
    /// The name beside the sender's address.
    pub from_name: String,
    /// The address for answers; `None` if no one reads any.
    pub reply_to: Option<String>,
    /// The id to which all emails of a thread refer.
    #[serde(default)]
    pub references: Option<String>,
    /// In Unicode; encoded when the email is written.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as HTML.
    pub html: String,
    /// `Message-ID` with its angle brackets, the same at each attempt.
    pub message_id: String,
    /// The name of the organization and the host of the server, for `List-Id`.
    pub list: Option<(String, String)>,
    /// The link that ends mail of this kind.
    pub unsubscribe: Option<String>,
    /// The code for `Content-Language`; empty if there is no such header.
    pub language: String,
    /// `Date`, in UNIX seconds.
    pub date: i64,
}

/// True if a text is an address to which mail can be sent.
pub fn is_address(text: &str) -> bool {
    text.parse::<Address>().is_ok()
        && !text.chars().any(|letter| letter.is_control() || letter.is_whitespace())
}

/// An address is not one, or the email has no valid form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidMessage(String);

impl Message {
    /// Writes the email as it is sent from an address, and returns it with its envelope.
    pub(super) fn format(&self, sender: &str) -> Result<(Envelope, Vec<u8>), InvalidMessage> {
        let invalid = |error: &dyn std::error::Error| InvalidMessage(error.to_string());
        let address =
            |text: &str| text.parse::<Address>().map(with_ascii_domain).map_err(|error| invalid(&error));
        let (from, to) = (address(sender)?, address(&self.to)?);
        let envelope =
            Envelope::new(Some(from.clone()), vec![to.clone()]).map_err(|error| invalid(&error))?;
        let date = UNIX_EPOCH + Duration::from_secs(u64::try_from(self.date).unwrap_or(0));
        let reply_to = self.reply_to.as_deref().unwrap_or(sender);
        let mut builder = Formatted::builder()
            .envelope(envelope)
            .from(mailbox(Some(&self.from_name), from))
            .to(mailbox(self.to_name.as_deref(), to))
            .reply_to(mailbox(None, address(reply_to)?))
            .date(date)
            .subject(header_text(&self.subject))
            .message_id(Some(header_text(&self.message_id)));
        let mut headers = vec![
            ("Auto-Submitted", "auto-generated".to_owned()),
            ("X-Auto-Response-Suppress", "All".to_owned()),
        ];
        if !self.language.is_empty() {
            headers.push(("Content-Language", self.language.clone()));
        }
        if let Some((name, host)) = &self.list {
            let name: String =
                header_text(name).chars().filter(|letter| !"<>\"\\".contains(*letter)).collect();
            headers.push(("List-Id", format!("{} <{}>", name.trim(), header_text(host))));
        }
        if let Some(id) = &self.references {
            headers.push(("In-Reply-To", id.clone()));
            headers.push(("References", id.clone()));
        }
        if let Some(link) = &self.unsubscribe {
            headers.push(("List-Unsubscribe", format!("<{link}>")));
            headers.push(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
        }
        for (name, value) in headers {
            let name = HeaderName::new_from_ascii(name.to_owned()).map_err(|error| invalid(&error))?;
            builder = builder.raw_header(HeaderValue::new(name, header_text(&value)));
        }
        let body = MultiPart::alternative_plain_html(whole_lines(&self.text), whole_lines(&self.html));
        let formatted = builder.multipart(body).map_err(|error| invalid(&error))?;
        Ok((formatted.envelope().clone(), formatted.formatted()))
    }
}

/// An address with its domain as in the DNS. Mail servers need SMTPUTF8 then only for letters before the `@`.
fn with_ascii_domain(address: Address) -> Address {
    match Host::parse(address.domain()) {
        Ok(Host::Domain(domain)) => Address::new(address.user(), domain).unwrap_or(address),
        _ => address,
    }
}

/// An address with a name, or alone if that would become too long.
fn mailbox(name: Option<&str>, address: Address) -> Mailbox {
    let name = name.map(header_text).filter(|name| {
        let length = name.chars().count() + AsRef::<str>::as_ref(&address).chars().count();
        !name.is_empty() && length <= MAX_MAILBOX
    });
    Mailbox::new(name, address)
}

/// A body whose lines end with LF, which are written as CRLF. Some mail servers take a CR alone for the end of a line, and a dot
/// between two of them for the end of the email: what follows would be another email (SMTP smuggling).
fn whole_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A text of users as one line that mail programs show as it is: control characters and line breaks become spaces, characters
/// that change the direction of text are removed, and nothing in it is the beginning of an encoded word. The joiners U+200C and
/// U+200D stay: Persian words and many emoji are spelled with them.
fn header_text(text: &str) -> String {
    let hides = |letter: char| matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let spaced = text.chars().filter(|letter| !hides(*letter)).map(|letter| {
        let is_break = letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
        if is_break { ' ' } else { letter }
    });
    let text = spaced.take(MAX_HEADER).collect::<String>();
    text.replace("=?", "= ?").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter() -> Message {
        Message {
            to: "ada@example.com".to_owned(),
            to_name: Some("Ada".to_owned()),
            from_name: "Example".to_owned(),
            subject: "Hello".to_owned(),
            text: "Text".to_owned(),
            html: "<p>Text</p>".to_owned(),
            message_id: "<1@example.com>".to_owned(),
            list: Some(("Example".to_owned(), "chat.example.com".to_owned())),
            unsubscribe: Some("https://chat.example.com/accounts/unsubscribe/login/x".to_owned()),
            language: "en".to_owned(),
            date: 1_790_000_000,
            ..Message::default()
        }
    }

    fn formatted(letter: &Message) -> String {
        String::from_utf8(letter.format("chat@example.com").unwrap().1).unwrap()
    }

    /// The header lines, with folded ones joined.
    fn headers(letter: &Message) -> Vec<String> {
        let text = formatted(letter);
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        head.replace("\r\n ", " ").replace("  ", " ").split("\r\n").map(str::to_owned).collect()
    }

    #[test]
    fn letters_have_the_published_headers() {
        let headers = headers(&letter());
        for expected in [
            "From: Example <chat@example.com>",
            "To: Ada <ada@example.com>",
            "Reply-To: chat@example.com",
            "Subject: Hello",
            "Message-ID: <1@example.com>",
            "List-Id: Example <chat.example.com>",
            "List-Unsubscribe: <https://chat.example.com/accounts/unsubscribe/login/x>",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
            "X-Auto-Response-Suppress: All",
            "Auto-Submitted: auto-generated",
            "Content-Language: en",
            "MIME-Version: 1.0",
        ] {
            let unquoted: Vec<String> = headers.iter().map(|line| line.replace('"', "")).collect();
            assert!(unquoted.iter().any(|line| line == expected), "{expected} is not in {headers:?}");
        }
        let text = formatted(&letter());
        assert!(text.contains("multipart/alternative"), "{text}");
        let (plain, html) = (text.find("text/plain").unwrap(), text.find("text/html").unwrap());
        assert!(plain < html, "{text}");
    }

    #[test]
    fn no_text_adds_a_header() {
        let bad = "Ada\r\nBcc: eve@example.com\r\n\r\n<p>x\u{2028}X: y\u{0}";
        let letter = Message {
            to_name: Some(bad.to_owned()),
            from_name: bad.to_owned(),
            subject: bad.to_owned(),
            list: Some((bad.to_owned(), "chat.example.com".to_owned())),
            message_id: bad.to_owned(),
            unsubscribe: Some(bad.to_owned()),
            ..letter()
        };
        let lines = headers(&letter);
        assert!(!lines.iter().any(|line| line.starts_with("Bcc") || line.starts_with("X:")), "{lines:?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("To:")).count(), 1, "{lines:?}");
        for to in ["ada@example.com\r\nBcc: eve@example.com", "ada@example.com, eve@example.com", "ada", ""] {
            let letter = Message { to: to.to_owned(), ..self::letter() };
            assert!(letter.format("chat@example.com").is_err(), "{to}");
        }
    }

    #[test]
    fn joiners_stay_and_marks_of_direction_go() {
        for text in ["\u{1f469}\u{200d}\u{1f4bb} release", "\u{646}\u{6cc}\u{200c}\u{627}"] {
            assert_eq!(header_text(text), text);
        }
        assert_eq!(header_text("a\u{200b}\u{200e}\u{200f}\u{202e}\u{2066}\u{feff}b"), "ab");
        assert_eq!(header_text("=\u{200b}?utf-8?q?Boss?="), "= ?utf-8?q?Boss?=");
    }

    #[test]
    fn domains_are_written_in_ascii() {
        for (to, expected) in [
            ("ada@exämple.com", "ada@xn--exmple-cua.com"),
            ("zoë@exämple.com", "zoë@xn--exmple-cua.com"),
            ("ada@[127.0.0.1]", "ada@[127.0.0.1]"),
        ] {
            let letter = Message { to: to.to_owned(), to_name: None, ..letter() };
            let envelope = letter.format("chat@example.com").unwrap().0;
            assert_eq!(envelope.to(), [expected.parse::<Address>().unwrap()]);
        }
    }

    #[test]
    fn no_text_ends_the_letter() {
        for end in ["\r.\r", "\r.\r\n", "\r\n.\r", "\n.\r", "\r\r\n.\n"] {
            let text = format!("a{end}MAIL FROM:<eve@example.com>\r\nb");
            let letter = Message { html: text.clone(), text, ..letter() };
            let formatted = formatted(&letter).replace("\r\n", "");
            assert!(formatted.contains("MAIL FROM:<eve@example.com>"), "it is not encoded: {formatted}");
            assert!(!formatted.contains(['\r', '\n']), "{end:?}: {formatted:?}");
        }
    }

    #[test]
    fn names_are_encoded_and_long_ones_left_out() {
        let named = |name: &str| headers(&Message { to_name: Some(name.to_owned()), ..letter() });
        let to = |name: &str| named(name).into_iter().find(|line| line.starts_with("To: ")).unwrap();
        assert!(to("Zoë").contains("=?utf-8?"), "{}", to("Zoë"));
        // It is encoded again, so that mail programs show it as it is.
        assert!(!to("=?utf-8?q?Boss?=").contains("?q?Boss"), "{}", to("=?utf-8?q?Boss?="));
        let count = to(&"a".repeat(400)).chars().filter(|letter| *letter == 'a').count();
        assert_eq!(count, 300 + 3, "the name is cut");
        assert_eq!(to(" "), "To: ada@example.com");
        let long = format!("{}@example.com", "b".repeat(40));
        let letter = Message { to: long.clone(), to_name: Some("a".repeat(300)), ..letter() };
        let lines = headers(&letter);
        assert!(lines.contains(&format!("To: {long}")), "{lines:?}");
    }
}

//! Reading a mail: its headers, its texts, and its attachments.
//!
//! `mail-parser` reads headers only. Parts are found here, in a loop with limits: a parser that follows nested messages to any
//! depth could be made to use up the stack. An attached mail is a file.

use crate::types::{MailPattern, charset, is_unprintable, pattern};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Address, Message, MessageParser, MimeHeaders};
use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// The most levels of parts within parts.
const MAX_DEPTH: usize = 20;

/// The most parts of a mail.
const MAX_PARTS: usize = 500;

/// The longest headers of a mail, in bytes, together with those of its parts. The parser takes more than linear time for some.
const MAX_HEADERS: usize = 128 * 1024;

/// The bytes within which an encoded word (RFC 2047) ends. The standard has 75; some programs write a whole subject as one.
const MAX_WORD: usize = 2000;

/// The most encoded words that do not end within these bytes. The parser looks for the end of each up to the end of its header.
const MAX_OPEN_WORDS: usize = 100;

/// The most attachments that are kept.
const MAX_ATTACHMENTS: usize = 50;

/// The longest name and address of a sender, in characters.
const MAX_SENDER: usize = 320;

/// An encoded word (RFC 2047): its charset, its encoding, and its text.
static ENCODED_WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"=\?([^?\s]+)\?([bBqQ])\?([^?\s]*)\?="));

/// The first parameter of a divided name, and where another one follows.
static FIRST_OF_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b((?:file)?name\*)0\*="));
static REST_OF_NAME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)([^"\s;])\s*;\s*(?:file)?name\*[1-9][0-9]*\*="#));

/// A mail that was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// Decoded; empty if there is none.
    pub subject: String,
    /// The sender: the name and the address, in one line.
    pub from: String,
    /// All parts of plain text, with an empty line between them. Lines end with LF.
    pub text: Option<String>,
    /// All parts of HTML, in the same form.
    pub html: Option<String>,
    /// At most 50; empty ones are left out.
    pub attachments: Vec<Attachment>,
    /// A person or a program wrote it, by its headers.
    pub kind: MailKind,
}

/// The author of a mail: a person or a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MailKind {
    /// A person: the headers name no program.
    #[default]
    Personal,
    /// A program or a mailing list.
    Automatic,
    /// A program that answered a mail, such as a note of absence.
    AutomaticReply,
    /// This server, by the marks of [`OwnMail`].
    OfThisServer,
}

/// A file of a mail.
#[derive(Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The name, as the sender wrote it.
    pub name: String,
    /// The media type, as the sender wrote it.
    pub content_type: Option<String>,
    /// Without the transfer encoding; never empty.
    pub content: Bytes,
}

/// Why a mail cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// There are more parts, or deeper levels, than a mail program makes.
    TooManyParts,
    /// The headers of the mail and of its parts have more than 128 KiB.
    HeadersTooLong,
    /// The headers have more encoded words without an end than a mail program makes.
    HeadersMalformed,
}

/// The marks of mails of this server.
#[derive(Clone, Debug, Default)]
pub struct OwnMail {
    /// The addresses at which the server receives mail: its mails ask to be answered there.
    pub pattern: Option<MailPattern>,
    /// The host that this server writes in `List-Id`.
    pub host: Option<String>,
}

/// Reads a mail whose lines end with CRLF.
pub fn read(raw: &[u8], own: &OwnMail) -> Result<Mail, Unreadable> {
    let mut mail = Mail::default();
    let mut parts = vec![(raw, 0)];
    let (mut count, mut headers_length, mut open_words) = (0, 0, 0);
    while let Some((part, depth)) = parts.pop() {
        count += 1;
        if count > MAX_PARTS || depth > MAX_DEPTH {
            return Err(Unreadable::TooManyParts);
        }
        let (head, body) = split(part);
        headers_length += head.len();
        if headers_length > MAX_HEADERS {
            return Err(Unreadable::HeadersTooLong);
        }
        let head = undeclared(head);
        open_words += count_open_words(&head);
        if open_words > MAX_OPEN_WORDS {
            return Err(Unreadable::HeadersMalformed);
        }
        let head = with_whole_names(&head);
        let head = with_whole_words(&head);
        let headers = MessageParser::default().parse_headers(head.as_bytes()).unwrap_or_default();
        if headers.parts.is_empty() {
            // Without headers a part is plain text.
            mail.add_text(&undeclared(body), false);
            continue;
        }
        if depth == 0 {
            mail.read_headers(&headers, own);
        }
        let content_type = headers.content_type();
        let boundary = content_type
            .filter(|content_type| content_type.ctype().eq_ignore_ascii_case("multipart"))
            .and_then(|content_type| content_type.attribute("boundary"))
            .filter(|boundary| !boundary.is_empty());
        match boundary {
            Some(boundary) => {
                let inner = sections(body, boundary);
                parts.extend(inner.into_iter().rev().map(|part| (part, depth + 1)));
            }
            None => mail.add_part(&headers, body),
        }
    }
    Ok(mail)
}

impl Mail {
    fn read_headers(&mut self, headers: &Message<'_>, own: &OwnMail) {
        headers.subject().unwrap_or_default().clone_into(&mut self.subject);
        self.from = headers.from().map(sender).unwrap_or_default();
        self.kind = kind(headers, own);
    }

    /// Adds a part that has no parts.
    fn add_part(&mut self, headers: &Message<'_>, body: &[u8]) {
        let content = decoded(headers.content_transfer_encoding(), body);
        let kind = headers.content_type();
        let (ctype, subtype) =
            kind.map_or(("text", "plain"), |kind| (kind.ctype(), kind.subtype().unwrap_or("")));
        let (ctype, subtype) = (ctype.to_ascii_lowercase(), subtype.to_ascii_lowercase());
        let is_attached = headers.content_disposition().is_some_and(mail_parser::ContentType::is_attachment);
        let name = headers.attachment_name();
        let is_text = ctype == "text" && matches!(subtype.as_str(), "plain" | "html");
        if is_text && !is_attached && name.is_none() {
            let text = match kind.and_then(|kind| kind.attribute("charset")) {
                Some(charset) => {
                    charset::decode_lossy(Some(&format!("text/plain; charset=\"{charset}\"")), &content)
                }
                None => undeclared(&content),
            };
            let has = |name, value: &str| {
                let found = kind.and_then(|kind| kind.attribute(name));
                found.is_some_and(|found| found.eq_ignore_ascii_case(value))
            };
            if subtype == "plain" && has("format", "flowed") {
                return self.add_text(&joined_lines(&text, has("delsp", "yes")), false);
            }
            return self.add_text(&text, subtype == "html");
        }
        if content.is_empty() || self.attachments.len() >= MAX_ATTACHMENTS {
            return;
        }
        let name = name.map_or_else(|| default_name(&ctype, &subtype), str::to_owned);
        let content_type = kind.map(|_| format!("{ctype}/{subtype}"));
        self.attachments.push(Attachment { name, content_type, content: content.into_owned().into() });
    }

    fn add_text(&mut self, text: &str, is_html: bool) {
        let text = text.replace("\r\n", "\n").replace('\0', "");
        let known = if is_html { &mut self.html } else { &mut self.text };
        match known {
            Some(known) => {
                known.push_str("\n\n");
                known.push_str(&text);
            }
            None => *known = Some(text),
        }
    }
}

/// The headers of a mail or a part, and what follows them.
fn split(part: &[u8]) -> (&[u8], &[u8]) {
    if let Some(body) = part.strip_prefix(b"\r\n") {
        return (&[], body);
    }
    match part.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
        Some(at) => (&part[..at + 2], &part[at + 4..]),
        None => (part, &[]),
    }
}

/// The number of encoded words that begin in a head and do not end within [`MAX_WORD`] bytes.
fn count_open_words(head: &str) -> usize {
    let is_open = |begin: usize| {
        let rest = head.as_bytes().get(begin..).unwrap_or_default();
        let word = &rest[..rest.len().min(MAX_WORD)];
        // The charset, `?`, a letter, `?`, and the text.
        let text = word.iter().position(|byte| *byte == b'?').and_then(|at| word.get(at + 3..));
        !text.is_some_and(|text| text.windows(2).any(|end| end == b"?="))
    };
    head.match_indices("=?").filter(|(at, mark)| is_open(at + mark.len())).count()
}

/// The parts between the lines with a boundary. Lines before the first and after the last are left out.
fn sections<'a>(body: &'a [u8], boundary: &str) -> Vec<&'a [u8]> {
    let delimiter = [b"--", boundary.as_bytes()].concat();
    let mut sections = Vec::new();
    let (mut begin, mut line_start) = (None, 0);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let line_end = line_start + line.len();
        if let Some(rest) = line.strip_prefix(delimiter.as_slice()) {
            let rest = rest.trim_ascii();
            if rest.is_empty() || rest == b"--" {
                if let Some(begin) = begin {
                    // The line end before a boundary belongs to it. A part may have no bytes at all.
                    let section = body.get(begin..line_start.saturating_sub(2)).unwrap_or_default();
                    sections.push(section);
                }
                begin = (rest.is_empty() && sections.len() <= MAX_PARTS).then_some(line_end);
                if begin.is_none() {
                    break;
                }
            }
        }
        line_start = line_end;
    }
    if let Some(begin) = begin {
        sections.push(&body[begin.min(body.len())..]);
    }
    sections
}

/// Decodes a body. One that is not as its header says is kept as it is.
fn decoded<'a>(encoding: Option<&str>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let decoded = match encoding.map(|encoding| encoding.trim().to_ascii_lowercase()).as_deref() {
        Some("base64") => base64_decode(body),
        Some("quoted-printable") => quoted_printable_decode(body),
        _ => None,
    };
    decoded.map_or(Cow::Borrowed(body), Cow::Owned)
}

/// Decodes text without a charset: UTF-8, or else windows-1252, as old programs and devices send it.
fn undeclared(text: &[u8]) -> Cow<'_, str> {
    let legacy = |_| charset::decode_lossy(Some("text/plain; charset=windows-1252"), text);
    charset::decode(None, text).unwrap_or_else(legacy)
}

/// Joins the parameters to which mail programs divide a long name of a file (RFC 2231). The parser decodes each of them on its own,
/// and Mutt divides within characters.
fn with_whole_names(head: &str) -> Cow<'_, str> {
    if !FIRST_OF_NAME.is_match(head) {
        return Cow::Borrowed(head);
    }
    let joined = REST_OF_NAME.replace_all(head, "$1");
    Cow::Owned(FIRST_OF_NAME.replace_all(&joined, "$1=").into_owned())
}

/// Encoded words that follow each other and have the same charset and encoding.
struct EncodedWords<'h> {
    range: Range<usize>,
    charset: &'h str,
    encoding: &'h str,
    texts: Vec<&'h str>,
}

impl EncodedWords<'_> {
    /// All of them as one word. `None` if there is only one, or the text of one is malformed.
    fn joined(&self) -> Option<String> {
        if self.texts.len() < 2 {
            return None;
        }
        let text = if self.encoding.eq_ignore_ascii_case("q") {
            let is_byte =
                |part: &str| part.len() >= 2 && part.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
            if !self.texts.iter().all(|text| text.split('=').skip(1).all(is_byte)) {
                return None;
            }
            self.texts.concat()
        } else {
            let decoded = self.texts.iter().map(|text| base64_decode(text.as_bytes()));
            STANDARD.encode(decoded.collect::<Option<Vec<_>>>()?.concat())
        };
        Some(format!("=?{}?{}?{text}?=", self.charset, self.encoding))
    }
}

/// Joins encoded words. The parser decodes each of them on its own, and some programs divide within characters.
fn with_whole_words(head: &str) -> Cow<'_, str> {
    let mut runs: Vec<EncodedWords<'_>> = Vec::new();
    for word in ENCODED_WORD.captures_iter(head) {
        let Some(range) = word.get(0).map(|whole| whole.range()) else { continue };
        let (_, [charset, encoding, text]) = word.extract();
        match runs.last_mut() {
            Some(run)
                if run.charset.eq_ignore_ascii_case(charset)
                    && run.encoding.eq_ignore_ascii_case(encoding)
                    && head[run.range.end..range.start].trim().is_empty() =>
            {
                run.range.end = range.end;
                run.texts.push(text);
            }
            _ => runs.push(EncodedWords { range, charset, encoding, texts: vec![text] }),
        }
    }
    let (mut whole, mut copied) = (String::new(), 0);
    for run in runs {
        if let Some(joined) = run.joined() {
            whole.push_str(&head[copied..run.range.start]);
            whole.push_str(&joined);
            copied = run.range.end;
        }
    }
    if copied == 0 { Cow::Borrowed(head) } else { Cow::Owned(whole + &head[copied..]) }
}

/// Joins the lines that a mail program has broken, which end with a space (`format=flowed`, RFC 3676). Line breaks would remain in
/// the message. `deletes_space` is true if the space is no part of the text (`delsp=yes`).
fn joined_lines(text: &str, deletes_space: bool) -> String {
    let mut joined = String::with_capacity(text.len());
    // The depth of quotation of the line that goes on.
    let mut open = None;
    for line in text.lines() {
        let content = line.trim_start_matches('>');
        let (quotes, _) = line.split_at(line.len() - content.len());
        // This space protects what follows: a space, a quotation mark, or the word "From".
        let content = content.strip_prefix(' ').unwrap_or(content);
        let is_fixed = content.is_empty() || content == "-- ";
        if is_fixed || open != Some(quotes.len()) {
            if open.is_some() {
                joined.push('\n');
            }
            joined.push_str(quotes);
            joined.push_str(if quotes.is_empty() { "" } else { " " });
        }
        let goes_on = !is_fixed && content.ends_with(' ');
        open = goes_on.then_some(quotes.len());
        joined.push_str(if goes_on && deletes_space {
            content.strip_suffix(' ').unwrap_or(content)
        } else {
            content
        });
        if !goes_on {
            joined.push('\n');
        }
    }
    joined
}

/// The name of a file that the sender gave none.
fn default_name(ctype: &str, subtype: &str) -> String {
    match ctype {
        "message" => "message.eml".to_owned(),
        "text" if subtype == "calendar" => "calendar.ics".to_owned(),
        "text" => "text.txt".to_owned(),
        "image" | "audio" | "video" => {
            let ending: String = subtype.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
            format!("{ctype}.{ending}")
        }
        _ => "attachment".to_owned(),
    }
}

/// The first sender: the name and the address, in one line.
fn sender(address: &Address<'_>) -> String {
    let Some(first) = address.first() else { return String::new() };
    let (name, address) = (first.name.as_deref(), first.address.as_deref());
    let text = match (name, address) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    let line = text.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).take(MAX_SENDER);
    line.collect::<String>().trim().to_owned()
}

fn kind(headers: &Message<'_>, own: &OwnMail) -> MailKind {
    let is_own_address = |address: Option<&Address<'_>>| {
        let mut addresses = address.into_iter().flat_map(|address| address.iter());
        addresses.any(|one| {
            one.address.as_deref().is_some_and(|address| {
                own.pattern.as_ref().is_some_and(|pattern| pattern.part_of(address.trim()).is_some())
            })
        })
    };
    if is_own_address(headers.from())
        || is_own_address(headers.sender())
        || is_own_address(headers.reply_to())
    {
        return MailKind::OfThisServer;
    }
    let mut kind = MailKind::Personal;
    for (name, value) in headers.headers_raw() {
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        match name.as_str() {
            "list-id" if own.host.as_ref().is_some_and(|host| value.contains(&format!("<{host}>"))) => {
                return MailKind::OfThisServer;
            }
            "auto-submitted" if value.starts_with("auto-replied") => kind = MailKind::AutomaticReply,
            // Older than the header above, and for the same.
            "x-autoreply" | "x-autorespond" => kind = MailKind::AutomaticReply,
            "precedence" if value == "auto_reply" => kind = MailKind::AutomaticReply,
            _ if kind == MailKind::AutomaticReply => {}
            "auto-submitted" if !value.starts_with("no") => kind = MailKind::Automatic,
            "precedence" if matches!(value.as_str(), "bulk" | "list" | "junk") => kind = MailKind::Automatic,
            name if name.starts_with("list-") => kind = MailKind::Automatic,
            _ => {}
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(raw: &str) -> Mail {
        let own = OwnMail { pattern: "%s@chat.example".parse().ok(), host: Some("chat.example".to_owned()) };
        read(raw.replace('\n', "\r\n").as_bytes(), &own).unwrap()
    }

    #[test]
    fn texts_and_files_are_found_among_the_parts() {
        let read = mail(
            "From: =?utf-8?q?J=C3=B6rg?= <joerg@example.com>\nSubject: =?iso-8859-1?q?Caf=E9?=\n\
             Content-Type: multipart/mixed; boundary=\"a b\"\n\npreamble\n--a b\n\
             Content-Type: multipart/alternative; boundary=c\n\n--c\nContent-Type: text/plain; charset=iso-8859-1\n\
             Content-Transfer-Encoding: quoted-printable\n\nn=E9 =\nsoft\n--c\nContent-Type: text/html\n\n<b>x</b>\n--c--\n\
             --a b\nContent-Type: application/pdf; name=\"../a.pdf\"\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n\
             --a b\nContent-Type: message/rfc822\n\nSubject: inner\n\ninner text\n--a b--\nepilogue\n",
        );
        assert_eq!((read.subject.as_str(), read.from.as_str()), ("Café", "Jörg <joerg@example.com>"));
        assert_eq!((read.text.as_deref(), read.html.as_deref()), (Some("né soft"), Some("<b>x</b>")));
        let files: Vec<(&str, &[u8])> =
            read.attachments.iter().map(|file| (file.name.as_str(), &file.content[..])).collect();
        let inner = &b"Subject: inner\r\n\r\ninner text"[..];
        assert_eq!(files, [("../a.pdf", &b"hello"[..]), ("message.eml", inner)]);
    }

    #[test]
    fn charsets_that_do_not_exist_or_are_wrong_lose_characters_only() {
        for (charset, text) in [("utf-8", "n\u{fffd}"), ("x-none", "n\u{fffd}"), ("utf-7", "n\u{fffd}")] {
            let raw = format!("Content-Type: text/plain; charset={charset}\r\n\r\nn");
            let raw = [raw.as_bytes(), b"\xe9"].concat();
            assert_eq!(read(&raw, &OwnMail::default()).unwrap().text.as_deref(), Some(text), "{charset}");
        }
    }

    #[test]
    fn texts_without_a_charset_are_utf_8_or_windows_1252() {
        for text in [&b"Gr\xc3\xbc\xc3\x9fe"[..], b"Gr\xfc\xdfe"] {
            for header in ["MIME-Version: 1.0\r\n", "Content-Type: text/plain\r\n"] {
                let raw = [&b"Subject: "[..], text, b"\r\n", header.as_bytes(), b"\r\n", text].concat();
                let mail = read(&raw, &OwnMail::default()).unwrap();
                assert_eq!(
                    (mail.subject.as_str(), mail.text.as_deref()),
                    ("Grüße", Some("Grüße")),
                    "{header}"
                );
            }
        }
    }

    #[test]
    fn encoded_words_are_joined_before_they_are_decoded() {
        for (subject, expected) in [
            ("=?utf-8?B?w6TD?=\n =?UTF-8?b?tg==?= =?utf-8?B?w7w=?= x", "äöü x"),
            ("a =?utf-8?Q?=C3?= =?utf-8?q?=A4_b?=", "a ä b"),
            ("=?gb2312?B?suI=?= =?utf-8?Q?=C3=A4?=", "测ä"),
            ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
            ("=?utf-8?Q?1=?= =?utf-8?Q?ca?=", "1ca"),
        ] {
            assert_eq!(mail(&format!("Subject: {subject}\n\nx")).subject, expected, "{subject}");
        }
    }

    #[test]
    fn divided_names_of_files_are_joined() {
        for (parameters, name) in [
            (
                "filename*0*=utf-8''M%C3%A4rz%20%E2%80;\n\tfilename*1*=%93%20a;\n\tfilename*2*=.txt",
                "März – a.txt",
            ),
            ("filename*0*=iso-8859-1''M%E4;\n filename*1*=%E4.txt", "Mää.txt"),
            ("filename*0*=utf-8''M%C3%A4rz; filename*1=\"a.txt\"", "Märza.txt"),
        ] {
            let read = mail(&format!("Content-Disposition: attachment;\n\t{parameters}\n\nx"));
            let names: Vec<&str> = read.attachments.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names, [name]);
        }
    }

    #[test]
    fn flowed_lines_are_joined() {
        let flowed = |parameters: &str, text: &str| {
            mail(&format!("Content-Type: text/plain; {parameters}\n\n{text}")).text.unwrap()
        };
        for (text, joined) in [
            ("one \ntwo \nthree\nfour\n", "one two three\nfour\n"),
            // A program that leaves a space at the end of a paragraph.
            ("one \n\ntwo\n", "one \n\ntwo\n"),
            // Protected lines.
            (" From here\n > no quote\n  two spaces\n", "From here\n> no quote\n two spaces\n"),
            (
                "> one \n> two\n>> three\n>>four \n>\n>five \nsix",
                "> one two\n>> three\n>> four \n> \n> five \nsix\n",
            ),
            ("one \n-- \nAda \nLovelace\n", "one \n-- \nAda Lovelace\n"),
            ("one ", "one "),
            ("", ""),
        ] {
            assert_eq!(flowed("charset=utf-8; format=flowed", text), joined, "{text:?}");
            assert_eq!(flowed("charset=utf-8", text), text);
        }
        assert_eq!(flowed("Format=\"Flowed\"; DelSp=Yes", "日 \n本  \nx\n"), "日本 x\n");
    }

    #[test]
    fn bombs_are_refused() {
        let parts =
            (0..40).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"));
        let nested = parts.collect::<Vec<_>>().concat();
        assert_eq!(read(nested.as_bytes(), &OwnMail::default()), Err(Unreadable::TooManyParts));
        let wide =
            format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", "--b\r\n\r\nx\r\n".repeat(2000));
        assert_eq!(read(wide.as_bytes(), &OwnMail::default()), Err(Unreadable::TooManyParts));
        let long = format!("Subject: {}\r\n\r\nx", "a".repeat(200_000));
        assert_eq!(read(long.as_bytes(), &OwnMail::default()), Err(Unreadable::HeadersTooLong));
        let head = format!("X-Filler: {}\r\n", "a".repeat(10_000));
        let parts = format!("--b\r\n{head}\r\nx\r\n").repeat(14);
        let long = format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{parts}");
        assert_eq!(read(long.as_bytes(), &OwnMail::default()), Err(Unreadable::HeadersTooLong));
        // Encoded words without an end, and with an end that is too far away.
        let far = format!("=?aa?b?{}", " ".repeat(1000)).repeat(120);
        for words in ["=?aa?q? ".repeat(101), format!("{far}?=")] {
            let open = format!("Subject: {words}\r\n\r\nx");
            assert_eq!(read(open.as_bytes(), &OwnMail::default()), Err(Unreadable::HeadersMalformed));
        }
        let few = format!("Subject: {}\r\n\r\nx", "=?aa?q? ".repeat(100));
        assert_eq!(read(few.as_bytes(), &OwnMail::default()).unwrap().text.as_deref(), Some("x"));
        // Messages in messages are one file.
        let messages = "Content-Type: message/rfc822\n\n".repeat(10_000);
        let read = mail(&messages);
        assert_eq!((read.text, read.attachments.len()), (None, 1));
    }

    #[test]
    fn mails_of_programs_are_recognized() {
        for (header, kind) in [
            ("Auto-Submitted: no", MailKind::Personal),
            ("Auto-Submitted: auto-generated", MailKind::Automatic),
            ("Auto-Submitted: auto-replied (vacation)", MailKind::AutomaticReply),
            ("X-Autoreply: yes", MailKind::AutomaticReply),
            ("Precedence: bulk", MailKind::Automatic),
            ("List-Id: Others <list.example>", MailKind::Automatic),
            ("LIST-ID: Ours <chat.example>", MailKind::OfThisServer),
            ("Reply-To: Ours <mm0@Chat.Example>", MailKind::OfThisServer),
        ] {
            assert_eq!(mail(&format!("From: a@example.com\n{header}\n\nx\n")).kind, kind, "{header}");
        }
    }

    #[test]
    fn mails_without_structure_are_text() {
        assert_eq!(mail("\nonly text").text.as_deref(), Some("only text"));
        assert_eq!(mail("").text.as_deref(), Some(""));
        let read = mail("Subject: x\nContent-Type: multipart/mixed; boundary=b\n\nno boundary");
        assert_eq!((read.text, read.attachments.len()), (None, 0));
    }
}

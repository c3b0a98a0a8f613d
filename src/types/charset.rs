//! Text of other programs: decoded by the charset that the sender names, or by the byte order mark before the text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;
use thiserror::Error;

/// The most characters of an unknown charset in an error.
const SHOWN: usize = 40;

/// Names of ASCII. Browsers read them as windows-1252; programs that name ASCII by default send UTF-8.
const ASCII: [&str; 3] = ["us-ascii", "ascii", "ansi_x3.4-1968"];

/// A character encoding, by the names and rules of the web (<https://encoding.spec.whatwg.org>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

/// Bytes could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CharsetError {
    /// There is no charset of this name.
    #[error("Unknown charset: {0}")]
    Unknown(String),
    /// The bytes are not text in this charset.
    #[error("The text is not valid {0}")]
    Malformed(Charset),
}

impl Charset {
    /// UTF-8, the charset of text for which none is named.
    pub fn utf_8() -> Self {
        Self(UTF_8)
    }

    /// The charset of a name, such as `iso-8859-1`.
    pub fn named(name: &str) -> Result<Self, CharsetError> {
        if ASCII.iter().any(|ascii| name.trim().eq_ignore_ascii_case(ascii)) {
            return Ok(Self::utf_8());
        }
        let encoding = Encoding::for_label_no_replacement(name.as_bytes());
        encoding.map(Self).ok_or_else(|| CharsetError::Unknown(name.chars().take(SHOWN).collect()))
    }

    /// The charset in a `Content-Type`, if it has one.
    pub fn of(content_type: &str) -> Result<Option<Self>, CharsetError> {
        let mut is_quoted = false;
        let is_end = |character: char| {
            is_quoted ^= character == '"';
            character == ';' && !is_quoted
        };
        let name = content_type.split(is_end).skip(1).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches(['"', '\'']))
        });
        name.filter(|name| !name.is_empty()).map(Self::named).transpose()
    }

    /// The charset of the byte order mark before a text, and the length of the mark.
    pub fn of_mark(text: &[u8]) -> Option<(Self, usize)> {
        Encoding::for_bom(text).map(|(encoding, length)| (Self(encoding), length))
    }

    pub fn is_utf_8(self) -> bool {
        self.0 == UTF_8
    }

    /// True for UTF-16, in which ASCII characters take two bytes.
    pub fn is_utf_16(self) -> bool {
        self.0 == UTF_16LE || self.0 == UTF_16BE
    }

    /// Decodes a whole text. The charset of a byte order mark takes precedence.
    pub fn decode(self, text: &[u8]) -> Result<Cow<'_, str>, CharsetError> {
        let (charset, length) = Self::of_mark(text).unwrap_or((self, 0));
        charset.decode_part(text.get(length..).unwrap_or_default())
    }

    /// Decodes a part of a text, which has no byte order mark of its own.
    pub fn decode_part(self, text: &[u8]) -> Result<Cow<'_, str>, CharsetError> {
        let decoded = self.0.decode_without_bom_handling_and_without_replacement(text);
        decoded.ok_or(CharsetError::Malformed(self))
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name())
    }
}

/// Decodes a body with this `Content-Type`.
pub fn decode<'a>(content_type: Option<&str>, body: &'a [u8]) -> Result<Cow<'a, str>, CharsetError> {
    let charset = content_type.map(Charset::of).transpose()?.flatten();
    charset.unwrap_or_else(Charset::utf_8).decode(body)
}

/// Decodes a body for people: U+FFFD replaces what cannot be decoded.
pub fn decode_lossy<'a>(content_type: Option<&str>, body: &'a [u8]) -> Cow<'a, str> {
    let charset = content_type.and_then(|content_type| Charset::of(content_type).ok().flatten());
    charset.unwrap_or_else(Charset::utf_8).0.decode(body).0
}

/// Reads a file of text.
pub fn read_file(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    let text = decode(None, &bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(content_type: &str, body: &[u8]) -> Result<String, String> {
        decode(Some(content_type), body).map(Cow::into_owned).map_err(|error| error.to_string())
    }

    #[test]
    fn bodies_are_decoded_by_their_charset() {
        let cases: [(&str, &[u8], &str); 14] = [
            ("application/json", "né".as_bytes(), "né"),
            ("application/json; charset=utf-8", "né".as_bytes(), "né"),
            ("application/json; charset=iso-8859-1", b"n\xe9", "né"),
            ("application/json;Charset=\"ISO-8859-1\"", b"n\xe9", "né"),
            ("text/plain; format=flowed; charset='latin1' ; x=y", b"n\xe9", "né"),
            ("text/plain; charset=windows-1251", b"\xcf\xf0\xe8", "При"),
            ("text/plain; charset=shift_jis", b"\x93\xfa\x96{", "日本"),
            ("text/plain; charset=utf-16", b"n\0\xe9\0", "né"),
            ("text/plain; charset=utf-16", b"\xfe\xff\0n\0\xe9", "né"),
            ("text/plain; charset=utf-16be", b"\0n\0\xe9", "né"),
            ("text/plain; charset=us-ascii", "né".as_bytes(), "né"),
            ("text/plain; charset=", "né".as_bytes(), "né"),
            ("text/plain; title=\"; charset=utf-16\"", "né".as_bytes(), "né"),
            ("charset=utf-16", "né".as_bytes(), "né"),
        ];
        for (content_type, body, expected) in cases {
            assert_eq!(decoded(content_type, body).as_deref(), Ok(expected), "{content_type}");
        }
    }

    #[test]
    fn byte_order_marks_are_removed_and_take_precedence() {
        for content_type in ["text/plain", "text/plain; charset=windows-1251", "text/plain; charset=utf-16le"]
        {
            assert_eq!(
                decoded(content_type, b"\xef\xbb\xbfn\xc3\xa9").as_deref(),
                Ok("né"),
                "{content_type}"
            );
            assert_eq!(decoded(content_type, b"\xff\xfen\0\xe9\0").as_deref(), Ok("né"), "{content_type}");
        }
        assert_eq!(decode_lossy(None, b"\xef\xbb\xbfn\xff"), "n\u{fffd}");
        assert_eq!(Charset::utf_8().decode_part(b"\xef\xbb\xbfn"), Ok(Cow::Borrowed("\u{feff}n")));
    }

    #[test]
    fn errors_name_the_charset() {
        let cases: [(&str, &[u8], &str); 5] = [
            ("text/plain; charset=klingon", b"n", "Unknown charset: klingon"),
            ("text/plain; charset=utf-7", b"n", "Unknown charset: utf-7"),
            ("text/plain; charset=iso-2022-kr", b"n", "Unknown charset: iso-2022-kr"),
            ("text/plain", b"n\xe9", "The text is not valid UTF-8"),
            ("text/plain; charset=utf-16", b"n\0\0", "The text is not valid UTF-16LE"),
        ];
        for (content_type, body, expected) in cases {
            assert_eq!(decoded(content_type, body), Err(expected.to_owned()), "{content_type}");
        }
        let long = Charset::named(&"x".repeat(100)).unwrap_err();
        assert_eq!(long, CharsetError::Unknown("x".repeat(SHOWN)));
    }
}

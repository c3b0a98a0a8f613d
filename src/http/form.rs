//! The decoded parameters of a request, as text. [`params`](super::params) converts them to types.
//!
//! Parameters come from the query string, the body and the path, for every method. If a name is given more than once,
//! the path takes precedence over the body, the body over the query string, and within one source the last value over
//! earlier ones, as on the published server.
//!
//! All names and values of a request are in one string, so that decoding takes two allocations, however many
//! parameters there are.

use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::budgets::Reservation;
use crate::error::ApiError;
use crate::types::UploadedFile;
use crate::types::charset::{Charset, CharsetError};
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use thiserror::Error;

/// The most parameters and files in one request. Every lookup scans the list, so the limit keeps hostile requests
/// cheap; the largest endpoint has about a hundred parameters.
pub const MAX_PARAMETERS: usize = 1000;

/// The parameter with the client's name. Every endpoint accepts it.
pub(super) const CLIENT: &str = "client";

/// The parameters of a request could not be decoded. The response has status 400.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormError {
    /// A name or value is not text in its charset after percent-decoding.
    #[error("Request parameters are not valid {0}")]
    InvalidText(Charset),
    /// A body or a part of it names a charset that does not exist.
    #[error("Unknown charset: {0}")]
    UnknownCharset(String),
    /// There are more than [`MAX_PARAMETERS`].
    #[error("Too many request parameters (limit: {MAX_PARAMETERS})")]
    TooManyParameters,
    /// The body is not valid `multipart/form-data`, for this reason.
    #[error("Malformed multipart/form-data body: {0}")]
    MalformedMultipart(String),
}

impl From<FormError> for ApiError {
    fn from(error: FormError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<CharsetError> for FormError {
    fn from(error: CharsetError) -> Self {
        match error {
            CharsetError::Unknown(name) => Self::UnknownCharset(name),
            CharsetError::Malformed(charset) => Self::InvalidText(charset),
        }
    }
}

/// The decoded parameters and files of one request.
#[derive(Default)]
pub struct Form {
    /// All names and values, one after another; the entries have their positions.
    text: String,
    /// In increasing precedence: query string, body, path.
    entries: Vec<Entry>,
    files: Vec<UploadedFile>,
    /// The body, if it holds no parameters.
    body: Bytes,
    /// The part of the budget for bodies that the parameters take.
    reservation: Option<Reservation>,
}

/// One parameter: `text[name_start..value_start]` and `text[value_start..end]`.
struct Entry {
    name_start: usize,
    value_start: usize,
    end: usize,
    /// True if this name was read. Atomic, since a form is shared across awaits.
    known: AtomicBool,
}

impl Form {
    /// Decodes the parameters of a request.
    ///
    /// `query` is the part of the address after `?`. `body` is read as parameters only when `content_type`
    /// is `application/x-www-form-urlencoded` or `multipart/form-data`; other bodies, JSON included, hold no
    /// parameters. `path_parameters` are already percent-decoded.
    ///
    /// A part of a multipart body with a file name is a file. Parts with an empty file name are skipped, since
    /// browsers send a file field without a file so, and parts without a name.
    pub fn new(
        query: Option<&str>,
        content_type: Option<&str>,
        body: Bytes,
        path_parameters: Vec<(&'static str, String)>,
    ) -> Result<Self, FormError> {
        let mut form = Self::default();
        if let Some(query) = query {
            form.add_urlencoded(query.as_bytes())?;
        }
        match content_type {
            Some(content_type) if is_media_type(content_type, "application/x-www-form-urlencoded") => {
                form.add_urlencoded_body(content_type, &body)?;
            }
            // An empty body is no parameters: a client that always sends multipart bodies has none to send.
            Some(content_type) if is_multipart(content_type) && !body.is_empty() => {
                form.add_multipart(content_type, body)?;
            }
            _ => form.body = body,
        }
        for (name, value) in path_parameters {
            form.add_path_parameter(name, &value);
        }
        Ok(form)
    }

    /// Returns the text of a parameter, and marks its name as known.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut value = None;
        for entry in self.entries.iter().rev().filter(|entry| self.name_of(entry) == name) {
            // A value that lost to one of higher precedence is not an ignored parameter.
            entry.known.store(true, Ordering::Relaxed);
            value = value.or_else(|| self.text.get(entry.value_start..entry.end));
        }
        value
    }

    /// The parameter `client`, which takes precedence over the `User-Agent` header.
    pub fn client(&self) -> Option<&str> {
        self.get(CLIENT)
    }

    /// Returns the names that were not read, sorted and without duplicates, for `ignored_parameters_unsupported`.
    ///
    /// Call it after all parameters are parsed. `client` and the names of path parameters are never ignored.
    pub fn ignored(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .entries
            .iter()
            .filter(|entry| !entry.known.load(Ordering::Relaxed))
            .map(|entry| self.name_of(entry))
            .filter(|name| *name != CLIENT)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names and values of all parameters, in increasing precedence.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let value = |entry: &Entry| self.text.get(entry.value_start..entry.end).unwrap_or_default();
        self.entries.iter().map(move |entry| (self.name_of(entry), value(entry)))
    }

    /// Keeps the reservation of the body that the parameters are from, as long as the form.
    pub fn keep_reservation(&mut self, reservation: Reservation) {
        self.reservation = Some(reservation);
    }

    /// Takes the reservation, for parameters that outlive the form.
    pub fn take_reservation(&mut self) -> Option<Reservation> {
        self.reservation.take()
    }

    /// Takes the body, if it holds no parameters.
    pub fn take_body(&mut self) -> Bytes {
        std::mem::take(&mut self.body)
    }

    /// The files of a multipart body, in their order.
    pub fn files(&self) -> &[UploadedFile] {
        &self.files
    }

    /// Takes the files.
    pub fn take_files(&mut self) -> Vec<UploadedFile> {
        std::mem::take(&mut self.files)
    }

    fn name_of(&self, entry: &Entry) -> &str {
        self.text.get(entry.name_start..entry.value_start).unwrap_or_default()
    }

    fn add(&mut self, name: &str, value: &str) -> Result<(), FormError> {
        self.check_room()?;
        self.push(name, value, false);
        Ok(())
    }

    fn check_room(&self) -> Result<(), FormError> {
        let count = self.entries.len() + self.files.len();
        if count < MAX_PARAMETERS { Ok(()) } else { Err(FormError::TooManyParameters) }
    }

    fn push(&mut self, name: &str, value: &str, known: bool) {
        let name_start = self.text.len();
        self.text.push_str(name);
        let value_start = self.text.len();
        self.text.push_str(value);
        let end = self.text.len();
        self.entries.push(Entry { name_start, value_start, end, known: AtomicBool::new(known) });
    }

    fn add_path_parameter(&mut self, name: &str, value: &str) {
        // Some clients repeat path parameters in the body: these are known, and the path takes precedence.
        self.get(name);
        self.push(name, value, true);
    }

    fn add_urlencoded(&mut self, input: &[u8]) -> Result<(), FormError> {
        self.text.reserve(input.len());
        let mut replaced = false;
        for (name, value) in form_urlencoded::parse(input) {
            replaced =
                replaced || [&name, &value].iter().any(|text| text.contains(char::REPLACEMENT_CHARACTER));
            self.add(&name, &value)?;
        }
        // The parser replaces invalid UTF-8 with U+FFFD, which may also have been sent. Decoding the whole input is
        // enough: separators are ASCII, so no sequence can span two values.
        if replaced && percent_encoding::percent_decode(input).decode_utf8().is_err() {
            return Err(FormError::InvalidText(Charset::utf_8()));
        }
        Ok(())
    }

    /// Reads a body in the charset of its `Content-Type`, both where it is percent-encoded and where it is not.
    fn add_urlencoded_body(&mut self, content_type: &str, body: &[u8]) -> Result<(), FormError> {
        if body.is_empty() {
            return Ok(());
        }
        let charset = Charset::of(content_type)?.unwrap_or_else(Charset::utf_8);
        if charset.is_utf_16() {
            // Separators take two bytes, too.
            return self.add_urlencoded(charset.decode(body)?.as_bytes());
        }
        // Some editors write a byte order mark before a file that is then sent.
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        if charset.is_utf_8() {
            return self.add_urlencoded(body);
        }
        for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let mut parts = pair.splitn(2, |byte| *byte == b'=').map(percent_decoded);
            let (name, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            self.add(&charset.decode_part(&name)?, &charset.decode_part(&value)?)?;
        }
        Ok(())
    }

    fn add_multipart(&mut self, content_type: &str, body: Bytes) -> Result<(), FormError> {
        let boundary = multer::parse_boundary(content_type).map_err(malformed)?;
        let charset_of_body = Charset::of(content_type)?;
        let body = stream::iter([Ok::<Bytes, Infallible>(body)]);
        let mut multipart = multer::Multipart::new(body, boundary);
        while let Some(field) = poll_once(multipart.next_field())? {
            self.check_room()?;
            let Some(field_name) = field.name().map(str::to_owned) else {
                poll_once(field.bytes())?;
                continue;
            };
            let Some(file_name) = file_name_of(&field)? else {
                let own_charset =
                    field.content_type().map(|own| Charset::of(own.as_ref())).transpose()?.flatten();
                let charset = own_charset.or(charset_of_body).unwrap_or_else(Charset::utf_8);
                let value = poll_once(field.bytes())?;
                self.add(&field_name, &charset.decode(&value)?)?;
                continue;
            };
            let content_type = field.content_type().map(ToString::to_string);
            let bytes = poll_once(field.bytes())?;
            if !file_name.is_empty() {
                self.files.push(UploadedFile { field_name, file_name, content_type, bytes });
            }
        }
        Ok(())
    }
}

/// Shows names only: values may be passwords, which must not reach a log.
impl fmt::Debug for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.entries.iter().map(|entry| self.name_of(entry)).collect();
        formatter
            .debug_struct("Form")
            .field("names", &names)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

/// True if a `Content-Type` header is `multipart/form-data`.
pub(super) fn is_multipart(content_type: &str) -> bool {
    is_media_type(content_type, "multipart/form-data")
}

/// True if a `Content-Type` header has this media type, ignoring parameters and letter case.
fn is_media_type(content_type: &str, media_type: &str) -> bool {
    let essence = content_type.split_once(';').map_or(content_type, |(essence, _)| essence);
    essence.trim().eq_ignore_ascii_case(media_type)
}

/// The bytes of a name or value of a form.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_encoding::percent_decode(&spaced).collect()
}

/// Runs a step of the multipart parser. The whole body is in memory, so the parser waits only if the body has no end.
fn poll_once<T>(step: impl Future<Output = multer::Result<T>>) -> Result<T, FormError> {
    match step.now_or_never() {
        Some(result) => result.map_err(malformed),
        None => Err(malformed(multer::Error::IncompleteStream)),
    }
}

pub(super) fn malformed(error: multer::Error) -> FormError {
    FormError::MalformedMultipart(error.to_string())
}

/// The file name of a part. `filename*=utf-8''caf%C3%A9.png` (RFC 5987) takes precedence over `filename`: older HTTP
/// packages of Python send names outside ASCII only so. `filename` is for those who do not know the charset.
pub(super) fn file_name_of(field: &multer::Field<'_>) -> Result<Option<String>, FormError> {
    let plain = field.file_name();
    let disposition = field.headers().get("content-disposition").map_or(&[][..], |value| value.as_bytes());
    let extended = std::str::from_utf8(disposition).ok().and_then(|disposition| {
        // ASCII lower case keeps byte positions.
        let lower = disposition.to_ascii_lowercase();
        let marker = "filename*=";
        let start = lower.find(marker)? + marker.len();
        let value = disposition.get(start..)?.split([';', ' ']).next()?.trim_matches('"');
        // Charset, language and name.
        let (charset, rest) = value.split_once('\'')?;
        let (_, encoded) = rest.split_once('\'')?;
        Some((Charset::named(charset), encoded))
    });
    match (extended, plain) {
        (Some((Err(_), _)) | None, Some(plain)) => Ok(Some(plain.to_owned())),
        (Some((charset, encoded)), _) => {
            let name: Vec<u8> = percent_encoding::percent_decode_str(encoded).collect();
            Ok(Some(charset?.decode_part(&name)?.into_owned()))
        }
        (None, None) if std::str::from_utf8(disposition).is_err() => unknown_charset_name(disposition),
        (None, None) => Ok(None),
    }
}

/// The `filename` of a header that is not UTF-8: programs on old systems write it in the charset of the system, which they do
/// not name. It is read as that of most of them.
fn unknown_charset_name(disposition: &[u8]) -> Result<Option<String>, FormError> {
    let disposition = Charset::named("windows-1252")?.decode_part(disposition)?;
    let quoted = disposition.split_once("filename=\"").and_then(|(_, rest)| rest.split_once('"'));
    Ok(quoted.map(|(name, _)| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLENCODED: Option<&str> = Some("application/x-www-form-urlencoded");

    fn body(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    fn multipart(text: &str) -> Result<Form, FormError> {
        let text = text.replace('\n', "\r\n");
        Form::new(None, Some("multipart/form-data; boundary=edge"), Bytes::from(text), vec![])
    }

    #[test]
    fn all_three_sources_are_read() {
        let form = Form::new(Some("a=1+2&b=%C3%A9"), URLENCODED, body("c=3%2B&d="), vec![("id", "7".into())])
            .unwrap();
        for (name, value) in [("a", "1 2"), ("b", "é"), ("c", "3+"), ("d", ""), ("id", "7")] {
            assert_eq!(form.get(name), Some(value), "{name}");
        }
        assert_eq!(form.get("e"), None);
    }

    // conformance: conv-4
    #[test]
    fn the_path_wins_over_the_body_over_the_query_and_later_over_earlier() {
        let query = Some("id=1&name=q1&name=q2&only=q1&only=q2");
        let form =
            Form::new(query, URLENCODED, body("name=b1&name=b2&id=2"), vec![("id", "3".into())]).unwrap();
        assert_eq!(form.get("id"), Some("3"));
        assert_eq!(form.get("name"), Some("b2"));
        assert_eq!(form.get("only"), Some("q2"));
        assert!(form.ignored().is_empty(), "values that lost are not ignored parameters");
    }

    // conformance: conv-19
    #[test]
    fn unknown_names_are_sorted_without_duplicates() {
        let query = Some("zoo=1&client=x&beta=1&id=4&known=1");
        let form =
            Form::new(query, URLENCODED, body("alpha=1&beta=2&id=3"), vec![("id", "3".into())]).unwrap();
        assert_eq!(form.ignored(), ["alpha", "beta", "known", "zoo"]);
        form.get("known");
        assert_eq!(form.ignored(), ["alpha", "beta", "zoo"]);
        assert_eq!(form.client(), Some("x"));
    }

    // conformance: conv-3
    #[test]
    fn a_body_of_another_type_holds_no_parameters() {
        for content_type in [None, Some("application/json"), Some("text/plain"), Some("")] {
            let form = Form::new(Some("a=1"), content_type, body("b=2"), vec![]).unwrap();
            assert_eq!((form.get("a"), form.get("b")), (Some("1"), None), "{content_type:?}");
        }
        let content_type = Some("Application/X-WWW-form-urlencoded ; charset=utf-8");
        assert_eq!(Form::new(None, content_type, body("b=2"), vec![]).unwrap().get("b"), Some("2"));
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_and_a_sent_replacement_character_is_not() {
        for query in ["a=%FF", "%C3=%A9", "a=%C3&b=%A9"] {
            let error = Form::new(Some(query), None, Bytes::new(), vec![]).unwrap_err();
            assert_eq!(error, FormError::InvalidText(Charset::utf_8()));
        }
        let raw = Bytes::from_static(b"a=\xff");
        let error = Form::new(None, URLENCODED, raw, vec![]).unwrap_err();
        assert_eq!(error.to_string(), "Request parameters are not valid UTF-8");
        let form = Form::new(Some("a=%EF%BF%BD"), None, Bytes::new(), vec![]).unwrap();
        assert_eq!(form.get("a"), Some("\u{FFFD}"));
        let broken_percent = Form::new(Some("a=100%&b=%zz"), None, Bytes::new(), vec![]).unwrap();
        assert_eq!((broken_percent.get("a"), broken_percent.get("b")), (Some("100%"), Some("%zz")));
    }

    #[test]
    fn bodies_are_read_in_the_charset_of_their_content_type() {
        let read = |charset: &str, body: &'static [u8]| {
            let content_type = format!("application/x-www-form-urlencoded; charset={charset}");
            Form::new(Some("q=%C3%A9"), Some(&content_type), Bytes::from_static(body), vec![])
        };
        let cases: [(&str, &[u8]); 5] = [
            ("utf-8", b"\xef\xbb\xbfa=caf%C3%A9+%2B&b=1"),
            ("iso-8859-1", b"a=caf%E9+%2B&&b=1"),
            ("windows-1252", b"a=caf\xe9%20%2b&b=1"),
            ("utf-16le", b"a\0=\0c\0a\0f\0\xe9\0+\0%\x002\0B\0&\0b\0=\x001\0"),
            ("utf-16", b"\xfe\xff\0a\0=\0c\0a\0f\0%\0C\x003\0%\0A\x009\0+\0%\x002\0B\0&\0b\0=\x001"),
        ];
        for (charset, body) in cases {
            let form = read(charset, body).unwrap();
            let found = ["a", "b", "q"].map(|name| form.get(name));
            assert_eq!(found, [Some("café +"), Some("1"), Some("é")], "{charset}");
        }
        assert!(read("klingon", b"").unwrap().get("a").is_none(), "there is nothing to decode");
        for (charset, body, expected) in [
            ("klingon", &b"a=1"[..], "Unknown charset: klingon"),
            ("shift_jis", &b"a=%FF"[..], "Request parameters are not valid Shift_JIS"),
            ("utf-16", &b"a=1"[..], "Request parameters are not valid UTF-16LE"),
        ] {
            assert_eq!(read(charset, body).unwrap_err().to_string(), expected);
        }
        let many = format!("{}b=1", "a=1&".repeat(MAX_PARAMETERS));
        let content_type = Some("application/x-www-form-urlencoded; charset=latin1");
        let error = Form::new(None, content_type, Bytes::from(many), vec![]).unwrap_err();
        assert_eq!(error, FormError::TooManyParameters);
    }

    #[test]
    fn parts_and_file_names_are_read_in_their_charset() {
        let read = |charset_of_body: &str, head: &str, value: &[u8]| {
            let head = format!("--edge\r\nContent-Disposition: form-data; name=\"a\"{head}\r\n\r\n");
            let body = [head.as_bytes(), value, b"\r\n--edge--\r\n"].concat();
            let content_type = format!("multipart/form-data; boundary=edge{charset_of_body}");
            Form::new(None, Some(&content_type), Bytes::from(body), vec![])
        };
        let latin = "\r\nContent-Type: text/plain; charset=iso-8859-1";
        for (of_body, head, value) in [
            ("", latin, &b"caf\xe9"[..]),
            ("; charset=windows-1251", latin, &b"caf\xe9"[..]),
            ("; charset=iso-8859-1", "", &b"caf\xe9"[..]),
            ("; charset=iso-8859-1", "\r\nContent-Type: text/plain", &b"caf\xe9"[..]),
            ("", "\r\nContent-Type: text/plain; charset=utf-16", &b"c\0a\0f\0\xe9\0"[..]),
            ("", "", &b"\xef\xbb\xbfcaf\xc3\xa9"[..]),
        ] {
            assert_eq!(read(of_body, head, value).unwrap().get("a"), Some("café"), "{of_body} {head}");
        }
        let unknown = read("", "\r\nContent-Type: text/plain; charset=klingon", b"a").unwrap_err();
        assert_eq!(unknown, FormError::UnknownCharset("klingon".to_owned()));

        let file_name = |head: &str| {
            let form = read("", head, b"content");
            form.map(|form| form.files().iter().map(|file| file.file_name.clone()).collect::<Vec<_>>())
        };
        for (head, expected) in [
            ("; filename*=iso-8859-1''caf%E9.png", "café.png"),
            ("; filename=\"cafe.png\"; filename*=UTF-8'fr'caf%C3%A9.png", "café.png"),
            ("; filename=\"cafe.png\"; filename*=klingon''caf%E9.png", "cafe.png"),
        ] {
            assert_eq!(file_name(head), Ok(vec![expected.to_owned()]), "{head}");
        }
        let body = b"--edge\r\nContent-Disposition: form-data; name=\"a\"; filename=\"caf\xe9.png\"\r\n\r\nx\r\n--edge--\r\n";
        let content_type = Some("multipart/form-data; boundary=edge");
        let form = Form::new(None, content_type, Bytes::from_static(body), vec![]).unwrap();
        assert_eq!(form.files()[0].file_name, "café.png");
        let unknown = file_name("; filename*=klingon''caf%E9.png").unwrap_err();
        assert_eq!(unknown, FormError::UnknownCharset("klingon".to_owned()));
    }

    #[test]
    fn too_many_parameters_are_refused() {
        let query = vec!["a=1"; MAX_PARAMETERS].join("&");
        assert!(Form::new(Some(&query), None, Bytes::new(), vec![]).is_ok());
        let error = Form::new(Some(&query), URLENCODED, body("b=1"), vec![]).unwrap_err();
        assert_eq!(error.to_string(), "Too many request parameters (limit: 1000)");
    }

    #[test]
    fn multipart_text_is_parameters_and_named_files_are_files() {
        let mut form = multipart(concat!(
            "--edge\nContent-Disposition: form-data; name=\"topic\"\n\nlunch é\n",
            "--edge\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\n",
            "Content-Type: text/plain\n\nhello\nworld\n",
            "--edge\nContent-Disposition: form-data; name=\"other\"; filename*=UTF-8''caf%C3%A9.png\n\n\n",
            "--edge\nContent-Disposition: form-data; name=\"none\"; filename=\"\"\n\n\n",
            "--edge\nContent-Disposition: form-data\n\nnameless\n",
            "--edge--\n",
        ))
        .unwrap();
        assert_eq!(form.get("topic"), Some("lunch é"));
        assert!(form.ignored().is_empty());
        let files = form.take_files();
        assert!(form.files().is_empty());
        assert_eq!(
            files,
            [
                UploadedFile {
                    field_name: "file".into(),
                    file_name: "a b.txt".into(),
                    content_type: Some("text/plain".into()),
                    bytes: body("hello\r\nworld"),
                },
                UploadedFile {
                    field_name: "other".into(),
                    file_name: "café.png".into(),
                    content_type: None,
                    bytes: Bytes::new(),
                },
            ]
        );
    }

    #[test]
    fn malformed_multipart_bodies_are_refused() {
        let part = "--edge\nContent-Disposition: form-data; name=\"a\"\n\nvalue";
        assert!(multipart("").unwrap().ignored().is_empty());
        let nothing = Form::new(None, Some("multipart/form-data"), Bytes::new(), vec![]);
        assert!(nothing.unwrap().files().is_empty());
        for text in ["--edge", "--edge\n", "--edge\nno header", "no boundary", part] {
            let error = multipart(text).unwrap_err();
            assert!(matches!(error, FormError::MalformedMultipart(_)), "{text:?}: {error}");
        }
        let error = Form::new(None, Some("multipart/form-data"), body("x"), vec![]).unwrap_err();
        let text = "Malformed multipart/form-data body: multipart boundary not found in Content-Type";
        assert_eq!(error.to_string(), text);
        let bytes = b"--edge\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xff\r\n--edge--\r\n";
        let content_type = Some("multipart/form-data; boundary=edge");
        let error = Form::new(None, content_type, Bytes::from_static(bytes), vec![]).unwrap_err();
        assert_eq!(error, FormError::InvalidText(Charset::utf_8()));
    }

    #[test]
    fn a_form_can_be_shared_across_awaits() {
        fn needs_send_and_sync<T: Send + Sync>(_: &T) {}
        needs_send_and_sync(&Form::default());
    }

    #[test]
    fn debug_text_shows_no_values() {
        let form = Form::new(Some("password=hunter2"), None, Bytes::new(), vec![]).unwrap();
        assert_eq!(format!("{form:?}"), r#"Form { names: ["password"], files: 0, .. }"#);
    }
}

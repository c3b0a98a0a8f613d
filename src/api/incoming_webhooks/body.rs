//! The payload of a delivery: JSON, a form with JSON in a field, or a text.

use super::payload::Refusal;
use super::table::Body;
use crate::http::form::{Form, FormError};
use crate::types::{MAX_JSON_VALUES, charset, has_more_values};
use bytes::Bytes;
use serde_json::Value;
use std::borrow::Cow;
use teamchat_markdown::without_controls;

/// The fields of forms that have JSON: Slack's and GitHub's, and Uptime Kuma's.
const JSON_FIELDS: [&str; 2] = ["payload", "data"];

/// The byte order mark, as programs write it before JSON.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The fields of forms that have a text.
const TEXT_FIELDS: [&str; 3] = ["text", "content", "message"];

/// Reads a body. A text is a JSON string.
///
/// JSON is recognized regardless of the content type: programs that send JSON as a form are common. JSON that is nested
/// more than 128 levels deep is refused by the parser. The charset is that of the content type or of a part of the form.
pub fn read(kind: Body, content_type: Option<&str>, body: &Bytes) -> Result<Value, Refusal> {
    let whole = charset::decode(content_type, body).map_err(FormError::from);
    let field = |names: &[&str]| match Form::new(None, content_type, body.clone(), Vec::new()) {
        Ok(form) => Ok(names.iter().find_map(|name| form.get(name).map(str::to_owned))),
        Err(error @ FormError::UnknownCharset(_)) => Err(Refusal::Charset(error)),
        Err(_) => Ok(None),
    };
    match kind {
        Body::Json => {
            let is_json = |text: &Cow<'_, str>| text.trim_ascii_start().starts_with(['{', '[']);
            let text = if whole.as_ref().is_ok_and(is_json) { None } else { field(&JSON_FIELDS)? };
            let json = match text {
                Some(text) => Cow::Owned(text),
                None => whole.map_err(|error| refusal(error, Refusal::InvalidJson))?,
            };
            // That of the whole body is gone already.
            let json = json.trim_start_matches(BYTE_ORDER_MARK);
            if has_more_values(json.as_bytes(), MAX_JSON_VALUES) {
                return Err(Refusal::Invalid("Too many values in the payload"));
            }
            let json = without_lone_surrogates(json);
            let value = serde_json::from_str(&json).map_err(|_| Refusal::InvalidJson)?;
            Ok(readable(value))
        }
        Body::Text => {
            let text = match field(&TEXT_FIELDS)? {
                Some(text) => text,
                None => {
                    whole.map_err(|error| refusal(error, Refusal::Invalid("Malformed payload")))?.into_owned()
                }
            };
            Ok(readable(Value::String(text)))
        }
    }
}

/// The refusal of a body that is no text: with the name of an unknown charset, or with the usual words.
fn refusal(error: FormError, otherwise: Refusal) -> Refusal {
    if let FormError::UnknownCharset(_) = error { Refusal::Charset(error) } else { otherwise }
}

/// Replaces escaped halves of surrogate pairs by U+FFFD. Programs in JavaScript send them when they cut a text within an
/// emoji, and the parser refuses them.
fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let escaped = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut replaced = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        match (escaped(at), escaped(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                replaced.push_str(&json[copied..at]);
                replaced.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            // The escaped character may be a backslash. One of several bytes is an error, which the parser finds.
            _ => at = json.ceil_char_boundary(at + 2),
        }
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(replaced + &json[copied..]) }
}

/// Returns the value with texts as the renderer reads them, except for tabs. The renderer omits some characters;
/// escaping a text with such characters could miss marks that it then recognizes.
fn readable(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(readable_text(text)),
        Value::Array(values) => values.into_iter().map(readable).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (readable_text(name), readable(value))).collect()
        }
        other => other,
    }
}

fn readable_text(text: String) -> String {
    if let Cow::Owned(readable) = without_controls(&text) {
        return readable;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

    #[test]
    fn json_is_found_in_all_forms_of_bodies() {
        let read_json = |content_type, body: &'static str| read(Body::Json, content_type, &Bytes::from(body));
        for content_type in [None, Some("application/json"), FORM, Some("text/plain")] {
            assert_eq!(read_json(content_type, " {\"a\": \"1&b=2\"}"), Ok(json!({"a": "1&b=2"})));
        }
        assert_eq!(read_json(FORM, "payload=%7B%22a%22%3A1%7D"), Ok(json!({"a": 1})));
        let multipart = "--x\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\n{\"a\":2}\r\n--x--\r\n";
        assert_eq!(read_json(Some("multipart/form-data; boundary=x"), multipart), Ok(json!({"a": 2})));
        for body in ["", "hello", "payload=x", "{"] {
            assert_eq!(read_json(FORM, body), Err(Refusal::InvalidJson), "{body}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(read(Body::Json, None, &Bytes::from(deep)), Err(Refusal::InvalidJson));
    }

    #[test]
    fn charsets_and_byte_order_marks_are_read() {
        let read = |kind, content_type, body: &'static [u8]| {
            read(kind, Some(content_type), &Bytes::from_static(body))
        };
        let cases: [(&str, &[u8]); 8] = [
            ("application/json; charset=iso-8859-1", b"{\"a\": \"caf\xe9\"}"),
            ("application/json", b"\xef\xbb\xbf{\"a\": \"caf\xc3\xa9\"}"),
            ("application/json; charset=utf-16", b"{\0\"\0a\0\"\0:\0\"\0c\0a\0f\0\xe9\0\"\0}\0"),
            ("application/x-www-form-urlencoded; charset=iso-8859-1", b"{\"a\": \"caf\xe9\"}"),
            ("application/x-www-form-urlencoded; charset=latin1", b"payload=%7B%22a%22:%22caf%E9%22%7D"),
            ("application/x-www-form-urlencoded", b"payload=%EF%BB%BF%7B%22a%22:%22caf%C3%A9%22%7D"),
            (
                "multipart/form-data; boundary=x",
                b"--x\r\nContent-Disposition: form-data; name=\"data\"\r\n\
                  Content-Type: text/plain; charset=latin1\r\n\r\n{\"a\":\"caf\xe9\"}\r\n--x--\r\n",
            ),
            ("text/plain; charset=iso-8859-1", b" [{\"a\": \"caf\xe9\"}]"),
        ];
        for (content_type, body) in cases {
            let found = read(Body::Json, content_type, body)
                .map(|mut found| if found.is_array() { found[0].take() } else { found });
            assert_eq!(found, Ok(json!({"a": "café"})), "{content_type}");
        }
        let cyrillic = "text/plain; charset=windows-1251";
        assert_eq!(read(Body::Text, cyrillic, b"\xcf\xf0\xe8"), Ok(json!("При")));
        assert_eq!(read(Body::Text, "text/plain", b"\xef\xbb\xbfhi"), Ok(json!("hi")));
        assert_eq!(read(Body::Text, "text/plain", b"caf\xe9"), Err(Refusal::Invalid("Malformed payload")));
        assert_eq!(read(Body::Json, "text/plain", b"{\"a\": \"\xe9\"}"), Err(Refusal::InvalidJson));
        let part = b"--x\r\nContent-Disposition: form-data; name=\"data\"\r\n\
                     Content-Type: text/plain; charset=klingon\r\n\r\n{}\r\n--x--\r\n";
        let cases: [(&str, &[u8]); 4] = [
            ("text/plain; charset=klingon", b"{}"),
            ("application/json; charset=klingon", b"{}"),
            ("application/x-www-form-urlencoded; charset=klingon", b"payload={}&text=x"),
            ("multipart/form-data; boundary=x", part),
        ];
        for (content_type, body) in cases {
            for kind in [Body::Json, Body::Text] {
                let refusal = read(kind, content_type, body).unwrap_err();
                let error = refusal.error("GitHub");
                assert_eq!(
                    (error.status(), error.msg()),
                    (400, "Unknown charset: klingon"),
                    "{content_type}"
                );
            }
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        for (body, expected) in [
            (r#"{"a": "cut \ud83d", "b": "\ude00!"}"#, json!({"a": "cut \u{fffd}", "b": "\u{fffd}!"})),
            (r#"["\ud83d\ud83d\ude00", "\uD83D\uDE00"]"#, json!(["\u{fffd}\u{1f600}", "\u{1f600}"])),
            (r#"["\\ud83d", "\\\ud83dé"]"#, json!(["\\ud83d", "\\\u{fffd}é"])),
        ] {
            assert_eq!(read(Body::Json, None, &Bytes::from(body)), Ok(expected), "{body}");
        }
        for body in ["[\"\\", "[\"\\é\"]", "[\"\\ud83\"]", "[\"\\u\"]", "\\ud83d"] {
            assert_eq!(read(Body::Json, None, &Bytes::from(body)), Err(Refusal::InvalidJson), "{body}");
        }
    }

    #[test]
    fn omitted_characters_are_removed_from_texts() {
        let body =
            Bytes::from("{\"a\\u0001\": [\"@\\u0001**all**\", \"x\\r\\n\\r\\t~\\u0085~~\"], \"b\": 1}");
        assert_eq!(read(Body::Json, None, &body), Ok(json!({"a": ["@**all**", "x\n\n\t~~~"], "b": 1})));
        assert_eq!(read(Body::Text, None, &Bytes::from("a\0\u{1}b")), Ok(json!("ab")));
        let many = Bytes::from(format!("[{}1]", "1,".repeat(100_000)));
        assert_eq!(read(Body::Json, None, &many), Err(Refusal::Invalid("Too many values in the payload")));
    }

    #[test]
    fn a_text_is_a_body_or_a_field() {
        let read_text = |content_type, body: &'static str| read(Body::Text, content_type, &Bytes::from(body));
        assert_eq!(read_text(FORM, "Backup done & checked"), Ok(json!("Backup done & checked")));
        assert_eq!(read_text(FORM, "text=a+b"), Ok(json!("a b")));
        assert_eq!(read_text(None, "text=a+b"), Ok(json!("text=a+b")));
    }
}

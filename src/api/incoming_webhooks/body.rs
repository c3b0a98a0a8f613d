//! The payload of a delivery: JSON, a form with JSON in a field, or a text.

use super::payload::Refusal;
use super::table::Body;
use crate::http::form::Form;
use crate::types::{MAX_JSON_VALUES, has_more_values};
use bytes::Bytes;
use serde_json::Value;
use std::borrow::Cow;
use teamchat_markdown::without_controls;

/// The fields of forms that have JSON: Slack's and GitHub's, and Uptime Kuma's.
const JSON_FIELDS: [&str; 2] = ["payload", "data"];

/// The fields of forms that have a text.
const TEXT_FIELDS: [&str; 3] = ["text", "content", "message"];

/// Reads a body. A text is a JSON string.
///
/// JSON is recognized regardless of the content type: programs that send JSON as a form are common. JSON that is nested
/// more than 128 levels deep is refused by the parser.
pub fn read(kind: Body, content_type: Option<&str>, body: &Bytes) -> Result<Value, Refusal> {
    let form = || Form::new(None, content_type, body.clone(), Vec::new()).ok();
    let field = |names: &[&str]| {
        let form = form()?;
        names.iter().find_map(|name| form.get(name).map(str::to_owned))
    };
    match kind {
        Body::Json => {
            let start = body.iter().find(|byte| !byte.is_ascii_whitespace());
            let text = if matches!(start, Some(b'{' | b'[')) { None } else { field(&JSON_FIELDS) };
            let json = text.as_ref().map_or(&body[..], |text| text.as_bytes());
            if has_more_values(json, MAX_JSON_VALUES) {
                return Err(Refusal::Invalid("Too many values in the payload"));
            }
            let value = serde_json::from_slice(json).map_err(|_| Refusal::InvalidJson)?;
            Ok(readable(value))
        }
        Body::Text => {
            let text = field(&TEXT_FIELDS);
            let text = match text {
                Some(text) => text,
                None => {
                    std::str::from_utf8(body).map_err(|_| Refusal::Invalid("Malformed payload"))?.to_owned()
                }
            };
            Ok(readable(Value::String(text)))
        }
    }
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

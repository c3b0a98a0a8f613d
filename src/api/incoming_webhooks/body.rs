//! The payload of a delivery: JSON, a form with JSON in a field, or a text.

use super::payload::Refusal;
use super::table::Body;
use crate::http::form::Form;
use bytes::Bytes;
use serde_json::Value;

/// The fields of forms that have JSON: Slack's and GitHub's, and Uptime Kuma's.
const JSON_FIELDS: [&str; 2] = ["payload", "data"];

/// The fields of forms that have a text.
const TEXT_FIELDS: [&str; 3] = ["text", "content", "message"];

/// Reads a body. A text is a JSON string.
///
/// JSON is recognized whatever the type of the body says: programs that send JSON as a form are common. JSON that is
/// nested more than 128 levels deep is refused by the parser.
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
            let parsed = match &text {
                Some(text) => serde_json::from_str(text),
                None => serde_json::from_slice(body),
            };
            parsed.map_err(|_| Refusal::InvalidJson)
        }
        Body::Text => {
            let text = field(&TEXT_FIELDS);
            let text = match text {
                Some(text) => text,
                None => {
                    std::str::from_utf8(body).map_err(|_| Refusal::Invalid("Malformed payload"))?.to_owned()
                }
            };
            Ok(Value::String(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

    #[test]
    fn json_is_found_wherever_it_stands() {
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
    fn a_text_is_a_body_or_a_field() {
        let read_text = |content_type, body: &'static str| read(Body::Text, content_type, &Bytes::from(body));
        assert_eq!(read_text(FORM, "Backup done & checked"), Ok(json!("Backup done & checked")));
        assert_eq!(read_text(FORM, "text=a+b"), Ok(json!("a b")));
        assert_eq!(read_text(None, "text=a+b"), Ok(json!("text=a+b")));
    }
}

//! JSON as text: fast strings, numbers of values, and texts that may be JSON.
//!
//! Contents of messages are most of the output, and few of their bytes need escaping: [`write_json_text`] checks
//! eight bytes at a time, where a general serializer checks each.

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer};
use serde_json::Value;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;

/// Maximum number of values in the JSON of a request. In memory, a value takes up to a hundred times its size in the
/// request.
pub const MAX_JSON_VALUES: usize = 100_000;

/// True if JSON has more than `limit` values. Counts brackets, commas and colons outside of strings, and therefore keys
/// too.
pub fn has_more_values(json: &[u8], limit: usize) -> bool {
    if json.len() <= limit {
        return false;
    }
    let mut values = 1;
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b',' | b':' | b'[' | b'{' if !is_string => values += 1,
            _ => {}
        }
    }
    values > limit
}

/// Refuses JSON with more values than a limit.
pub fn check_values<E: de::Error>(json: &str, limit: usize) -> Result<(), E> {
    if has_more_values(json.as_bytes(), limit) {
        return Err(E::custom(format_args!("Too many values in {{}} (limit: {limit})")));
    }
    Ok(())
}

/// Maximum number of values of a [`JsonOrText`]: it is kept while its request waits.
const MAX_VALUES: usize = 10_000;

/// A parameter that clients send either as JSON or as plain text, as the `to` of a message: `[9,10]`, `9`,
/// `"Denmark"`, `Denmark`, `a@example.com,b@example.com`.
///
/// For parameters themselves, not for values inside of their JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonOrText {
    /// The text is this JSON value.
    Json(Value),
    /// The text is not JSON.
    Text(String),
}

impl<'de> Deserialize<'de> for JsonOrText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        check_values::<D::Error>(&text, MAX_VALUES)?;
        Ok(serde_json::from_str(&text).map_or(Self::Text(text), Self::Json))
    }
}

/// Deserializes a field that distinguishes absent (`None`), `null` (`Some(None)`) and a value.
///
/// A type that reads text has no `null`, here as elsewhere.
///
/// ```
/// # use serde::Deserialize;
/// # use teamchat::types::nullable;
/// #[derive(Deserialize)]
/// struct Params {
///     #[serde(default, deserialize_with = "nullable")]
///     folder_id: Option<Option<u64>>,
/// }
/// # let form = teamchat::http::form::Form::new(Some("folder_id=null"), None, bytes::Bytes::new(), vec![])?;
/// # assert_eq!(form.parse::<Params>()?.folder_id, Some(None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Serializes the members of a struct or map, without braces.
pub fn members_of(data: &impl Serialize) -> serde_json::Result<String> {
    let mut object = serde_json::to_string(data)?;
    object.pop();
    object.remove(0);
    Ok(object)
}

/// Appends a text as a JSON string.
pub fn write_json_text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let (mut written, mut place) = (0, 0);
    while place < bytes.len() {
        if let Some(eight) = bytes[place..].first_chunk::<8>()
            && !may_need_escape(u64::from_le_bytes(*eight))
        {
            place += 8;
            continue;
        }
        if needs_escape(bytes[place]) {
            out.extend_from_slice(&bytes[written..place]);
            escape(out, bytes[place]);
            written = place + 1;
        }
        place += 1;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// True if one of eight bytes may need an escape. False positives are possible, false negatives are not.
fn may_need_escape(eight: u64) -> bool {
    let has_zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes & HIGH_BITS;
    let is_control = eight.wrapping_sub(ONES * 0x20) & !eight & HIGH_BITS;
    let is_quote = has_zero(eight ^ (ONES * u64::from(b'"')));
    let is_backslash = has_zero(eight ^ (ONES * u64::from(b'\\')));
    (is_control | is_quote | is_backslash) != 0
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let cases = [
            ("1234", 1),
            ("[1,2]", 3),
            (r#"{"a": {"b": [1]}}"#, 6),
            (r#""a,b:[{""#, 1),
            (r#"["\\",1]"#, 3),
            (r#"["\"",1,2]"#, 4),
            (r#"["\",1,2"]"#, 2),
        ];
        for (json, values) in cases {
            assert!(!has_more_values(json.as_bytes(), values), "{json}");
            assert!(has_more_values(json.as_bytes(), values - 1), "{json}");
        }
    }

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_json_text(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn special_characters_are_escaped_at_every_position() {
        for special in ["\"", "\\", "\n", "\r", "\t", "\u{0}", "\u{1f}", "\u{7f}", " ", "!", "#", "é", "😀"]
        {
            for before in 0..10 {
                for after in 0..10 {
                    let text = format!("{}{special}{}", "a".repeat(before), "b".repeat(after));
                    assert_eq!(serde_json::from_str::<String>(&written(&text)).unwrap(), text);
                }
            }
        }
        assert_eq!(written("a\u{8}\"b\n"), r#""a\u0008\"b\n""#);
    }

    proptest! {
        #[test]
        fn text_survives_a_round_trip(text in ".*") {
            prop_assert_eq!(serde_json::from_str::<String>(&written(&text)).unwrap(), text);
        }
    }
}

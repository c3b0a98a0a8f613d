//! Fast JSON strings. Contents of messages are most of what is sent, and few of their bytes need escaping: this looks at
//! eight bytes at a time, where a general serializer looks at each.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;

/// How many values the JSON of a request may have. In memory, a value takes up to a hundred times what it takes in the
/// request.
pub const MAX_JSON_VALUES: usize = 100_000;

/// Whether JSON has more than `limit` values: what stands between brackets, commas and colons outside of strings. Keys
/// count as well.
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

/// Whether one of eight bytes may need an escape. False positives are possible, false negatives are not.
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
    fn what_needs_an_escape_gets_one_wherever_it_stands() {
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
        fn any_text_comes_back(text in ".*") {
            prop_assert_eq!(serde_json::from_str::<String>(&written(&text)).unwrap(), text);
        }
    }
}

//! Fast JSON strings. Contents of messages are most of what is sent, and few of their bytes need escaping: this looks at
//! eight bytes at a time, where a general serializer looks at each.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;

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

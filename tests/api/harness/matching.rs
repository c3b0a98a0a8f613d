//! Comparing and masking JSON.

use serde_json::Value;

/// Matches every value in an expected one.
const ANY: &str = "*";

/// Lists the differences between a value and the expected one, a line each. The order of members of an object does not
/// matter; the order of a list does.
pub fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", expected, found, &mut lines);
    lines
}

fn compare(path: &str, expected: &Value, found: &Value, lines: &mut Vec<String>) {
    match (expected, found) {
        // Compiled with optimization, unlike what follows.
        _ if expected == found => {}
        (Value::String(any), _) if any == ANY => {}
        (Value::Object(expected), Value::Object(found)) => {
            for (name, expected) in expected {
                let path = format!("{path}.{name}");
                match found.get(name) {
                    Some(found) => compare(&path, expected, found, lines),
                    None => lines.push(format!("  {path}: missing, expected {expected}")),
                }
            }
            for (name, found) in found {
                if !expected.contains_key(name) {
                    lines.push(format!("  {path}.{name}: not expected, found {found}"));
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            for (index, expected) in expected.iter().enumerate() {
                let path = format!("{path}[{index}]");
                match found.get(index) {
                    Some(found) => compare(&path, expected, found, lines),
                    None => lines.push(format!("  {path}: missing, expected {expected}")),
                }
            }
            for (index, found) in found.iter().enumerate().skip(expected.len()) {
                lines.push(format!("  {path}[{index}]: not expected, found {found}"));
            }
        }
        _ => lines.push(format!("  {path}: expected {expected}, found {found}")),
    }
}

/// A copy for a snapshot, with varying values masked after a check of their form. Times follow the test's clock and ids
/// are sequential, so most of an answer is the same each time.
pub fn mask(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), mask_member(name, value))).collect()
        }
        Value::Array(values) => values.iter().map(mask).collect(),
        other => other.clone(),
    }
}

fn mask_member(name: &str, value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    match name {
        "queue_id" => {
            assert_eq!(text.len(), 36, "{name} is a UUID: {value}");
            "[queue_id]".into()
        }
        "api_key" => {
            assert!(
                text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "{name}: {value}"
            );
            "[api_key]".into()
        }
        "last_event_id" => {
            assert!(value.is_i64(), "{name} is a number: {value}");
            "[last_event_id]".into()
        }
        "realm_url" | "realm_uri" => {
            assert!(text.starts_with("http://127.0.0.1:"), "{name}: {value}");
            "[origin]".into()
        }
        _ if name.ends_with("_version") || name.ends_with("_merge_base") => {
            assert!(!value.is_null(), "{name}: {value}");
            "[version]".into()
        }
        _ => mask(value),
    }
}

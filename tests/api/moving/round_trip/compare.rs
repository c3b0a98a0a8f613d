//! Comparing answers.

use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Addresses of uploaded avatars, which are random.
static AVATAR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"/user_avatars/1/[0-9a-f]{16}(-medium)?\.png").unwrap());

/// The members that differ, without positions in lists, with both values.
pub fn differences(before: &Value, after: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    compare("", before, after, &mut found);
    found
}

fn compare(member: &str, before: &Value, after: &Value, found: &mut Vec<(String, String)>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for name in names {
                let missing = Value::from("(missing)");
                let of = |object: &serde_json::Map<String, Value>| object.get(name).cloned();
                let (one, other) = (of(before).unwrap_or(missing.clone()), of(after).unwrap_or(missing));
                compare(&format!("{member}.{name}"), &one, &other, found);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (before, after) in before.iter().zip(after) {
                compare(member, before, after, found);
            }
        }
        (Value::String(before), Value::String(after)) if plain(before) == plain(after) => {}
        _ if before == after => {}
        _ => found.push((member.to_owned(), format!("{member} was {before}, is {after}"))),
    }
}

fn plain(text: &str) -> String {
    AVATAR.replace_all(text, "/user_avatars/1/avatar$1.png").into_owned()
}

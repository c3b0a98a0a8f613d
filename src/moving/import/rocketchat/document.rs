//! The members of a document.

use crate::moving::import::json::TIMES;
use crate::moving::import::lines::model::Date;
use serde_json::Value;

/// The texts of a list.
pub fn texts(document: &Value, name: &str) -> Vec<String> {
    let list = document.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A document that is kept, with the members that are used.
pub fn only(mut document: Value, names: &[&str]) -> Value {
    if let Some(members) = document.as_object_mut() {
        members.retain(|name, _| names.contains(&name.as_str()));
    }
    document
}

/// The time of a member, without its fraction of a second.
pub fn date(document: &Value, name: &str) -> Option<Date> {
    let milliseconds = document.get(name)?.as_i64()?;
    Some(Date(milliseconds.div_euclid(1000).clamp(*TIMES.start(), *TIMES.end())))
}

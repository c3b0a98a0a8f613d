//! The members of a document.

use crate::moving::import::json::TIMES;
use crate::moving::import::lines::model::Date;
use serde_json::Value;

/// The text of a member, which is empty if there is none.
pub fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The first of some members that is a text and not empty.
pub fn first_text<'a>(document: &'a Value, names: &[&str]) -> &'a str {
    names.iter().map(|name| text(document, name)).find(|text| !text.is_empty()).unwrap_or_default()
}

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

/// A time.
pub fn date(document: &Value, name: &str) -> Option<Date> {
    let milliseconds = document.get(name)?.as_i64()?;
    Some(Date(milliseconds.div_euclid(1000).clamp(*TIMES.start(), *TIMES.end())))
}

//! Validation of the data of polls and to-do lists, with the published errors.

use crate::http::{ApiError, ApiResult};
use serde_json::{Map, Value};

/// The type of a member's value.
#[derive(Clone, Copy)]
enum ValueType {
    Text,
    Number,
    Switch,
    Vote,
    /// The key of an option of a poll.
    OptionKey,
}

/// Checks the data of a submessage for a kind of widget. Data for unknown kinds is not checked.
pub fn check(kind: Option<&str>, data: &Value, is_author: bool) -> ApiResult<()> {
    match kind {
        Some("poll") => check_poll(data, is_author),
        Some("todo") => check_todo(data, is_author),
        _ => Ok(()),
    }
}

fn check_poll(data: &Value, is_author: bool) -> ApiResult<()> {
    const NAME: &str = "poll data";
    let (data, kind) = read(NAME, data)?;
    let members: &[(&str, ValueType)] = match kind {
        "vote" => &[("key", ValueType::OptionKey), ("vote", ValueType::Vote)],
        "question" if !is_author => {
            return Err(ApiError::bad_request("You can't edit a question unless you are the author."));
        }
        "question" => &[("question", ValueType::Text)],
        "new_option" => &[("option", ValueType::Text), ("idx", ValueType::Number)],
        _ => return Err(ApiError::bad_request(format!("Unknown type for poll data: {kind}"))),
    };
    check_members(NAME, data, members)
}

fn check_todo(data: &Value, is_author: bool) -> ApiResult<()> {
    const NAME: &str = "todo data";
    let (data, kind) = read(NAME, data)?;
    let members: &[(&str, ValueType)] = match kind {
        "new_task" => &[
            ("key", ValueType::Number),
            ("task", ValueType::Text),
            ("desc", ValueType::Text),
            ("completed", ValueType::Switch),
        ],
        "strike" => &[("key", ValueType::Text)],
        "new_task_list_title" if !is_author => {
            let msg = "You can't edit the task list title unless you are the author.";
            return Err(ApiError::bad_request(msg));
        }
        "new_task_list_title" => &[("title", ValueType::Text)],
        _ => return Err(ApiError::bad_request(format!("Unknown type for todo data: {kind}"))),
    };
    check_members(NAME, data, members)
}

/// The data as an object, and its `type`.
fn read<'a>(name: &str, data: &'a Value) -> ApiResult<(&'a Map<String, Value>, &'a str)> {
    let data = data.as_object().ok_or_else(|| ApiError::bad_request(format!("{name} is not a dict")))?;
    check_member(name, data, "type", ValueType::Text)?;
    Ok((data, data.get("type").and_then(Value::as_str).unwrap_or_default()))
}

/// Checks that an object has exactly these members beside its `type`.
fn check_members(name: &str, data: &Map<String, Value>, members: &[(&str, ValueType)]) -> ApiResult<()> {
    for (member, value_type) in members {
        check_member(name, data, member, *value_type)?;
    }
    let is_known = |key: &str| key == "type" || members.iter().any(|(member, _)| *member == key);
    let mut more: Vec<&str> = data.keys().map(String::as_str).filter(|key| !is_known(key)).collect();
    if more.is_empty() {
        return Ok(());
    }
    more.sort_unstable();
    Err(ApiError::bad_request(format!("Unexpected arguments: {}", more.join(", "))))
}

fn check_member(name: &str, data: &Map<String, Value>, member: &str, value_type: ValueType) -> ApiResult<()> {
    let Some(value) = data.get(member) else {
        return Err(ApiError::bad_request(format!("{member} key is missing from {name}")));
    };
    let place = format!("{name}[\"{member}\"]");
    let refusal = match value_type {
        ValueType::Text | ValueType::OptionKey if !value.is_string() => format!("{place} is not a string"),
        ValueType::Number | ValueType::Vote if !value.is_i64() => format!("{place} is not an integer"),
        ValueType::Vote if !matches!(value.as_i64(), Some(1 | -1)) => format!("Invalid {place}"),
        ValueType::OptionKey if !value.as_str().is_some_and(is_option_key) => format!("Invalid {place}"),
        ValueType::Switch if !value.is_boolean() => format!("{place} is not a boolean"),
        _ => return Ok(()),
    };
    Err(ApiError::bad_request(refusal))
}

/// Checks whether a key is the id of the user who added an option, or `canned` for an initial one, a comma and a number. The
/// published phone app cannot read a page of messages with a vote for another key.
fn is_option_key(key: &str) -> bool {
    let Some((owner, number)) = key.split_once(',') else { return false };
    (owner == "canned" || owner.parse::<i64>().is_ok()) && number.parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // conformance: sub-14, sub-17, sub-18, sub-19, sub-20, sub-22, sub-23, sub-24, sub-25, sub-26, sub-27
    #[test]
    fn submessages_are_validated() {
        let new_task = json!({"type": "new_task", "key": 2, "task": "a", "desc": "", "completed": false});
        let good = [
            ("poll", json!({"type": "vote", "key": "1,1", "vote": -1}), false),
            ("poll", json!({"type": "vote", "key": "canned,0", "vote": 1}), false),
            ("poll", json!({"type": "question", "question": "why"}), true),
            ("poll", json!({"type": "new_option", "option": "no", "idx": 7}), false),
            ("todo", new_task.clone(), false),
            ("todo", json!({"type": "strike", "key": "1,1"}), false),
            ("todo", json!({"type": "new_task_list_title", "title": "t"}), true),
            ("game", json!(["anything"]), false),
        ];
        for (kind, data, is_author) in good {
            assert_eq!(check(Some(kind), &data, is_author).err().map(|error| error.msg().to_owned()), None);
        }
        assert!(check(None, &json!(1), false).is_ok());
        let mut half = new_task;
        half["completed"] = json!(0);
        let bad = [
            ("poll", json!([]), "poll data is not a dict"),
            ("poll", json!({}), "type key is missing from poll data"),
            ("poll", json!({"type": 1}), "poll data[\"type\"] is not a string"),
            ("poll", json!({"type": "x"}), "Unknown type for poll data: x"),
            ("poll", json!({"type": "vote", "key": "1,1"}), "vote key is missing from poll data"),
            ("poll", json!({"type": "vote", "key": 1, "vote": 1}), "poll data[\"key\"] is not a string"),
            ("poll", json!({"type": "vote", "key": "1", "vote": 1}), "Invalid poll data[\"key\"]"),
            ("poll", json!({"type": "vote", "key": "1,2,3", "vote": 1}), "Invalid poll data[\"key\"]"),
            ("poll", json!({"type": "vote", "key": "canned,", "vote": 1}), "Invalid poll data[\"key\"]"),
            ("poll", json!({"type": "vote", "key": "soup,1", "vote": 1}), "Invalid poll data[\"key\"]"),
            ("poll", json!({"type": "vote", "key": "1,1", "vote": 2}), "Invalid poll data[\"vote\"]"),
            (
                "poll",
                json!({"type": "vote", "key": "1,1", "vote": "1"}),
                "poll data[\"vote\"] is not an integer",
            ),
            (
                "poll",
                json!({"type": "vote", "key": "1,1", "vote": 1, "b": 1, "a": 1}),
                "Unexpected arguments: a, b",
            ),
            (
                "poll",
                json!({"type": "question", "question": "why"}),
                "You can't edit a question unless you are the author.",
            ),
            ("todo", json!("x"), "todo data is not a dict"),
            ("todo", half, "todo data[\"completed\"] is not a boolean"),
            ("todo", json!({"type": "y"}), "Unknown type for todo data: y"),
            (
                "todo",
                json!({"type": "new_task_list_title", "title": "t"}),
                "You can't edit the task list title unless you are the author.",
            ),
        ];
        for (kind, data, msg) in bad {
            assert_eq!(check(Some(kind), &data, false).unwrap_err().msg(), msg, "{data}");
        }
    }
}

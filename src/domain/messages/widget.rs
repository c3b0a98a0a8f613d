//! Widgets: polls and to-do lists, which messages that begin with `/poll` or `/todo` create, and choices, which bots send as
//! `widget_content`.

use crate::domain::messages::record::Submessage;
use crate::error::{ApiError, ApiResult};
use serde::Serialize;
use serde_json::{Map, Value};

/// `msg_type` of submessages that the server creates.
pub const WIDGET: &str = "widget";

/// The initial data of a poll or to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "widget_type", content = "extra_data", rename_all = "lowercase")]
pub enum Widget {
    /// `/poll question`, and a line for each option.
    Poll {
        /// The text after `/poll`; empty if there is none.
        question: String,
        /// The initial options.
        options: Vec<String>,
    },
    /// `/todo title`, and a line for each task.
    Todo {
        /// The text after `/todo`; empty if there is none.
        task_list_title: String,
        /// The initial tasks.
        tasks: Vec<Task>,
    },
    /// Buttons, each of which sends a reply of the user who presses it. The data is as the bot sent it.
    Zform(Map<String, Value>),
}

/// A line of a to-do list: `task: description`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    task: String,
    desc: String,
}

impl Widget {
    /// Parses a message; `None` if it is not a widget.
    pub fn of(content: &str) -> Option<Self> {
        let command = content.split_whitespace().next().filter(|_| content.starts_with('/'))?;
        let rest = &content[command.len()..];
        // The rest of the first line is the title, even if it is empty.
        let mut lines = rest.lines();
        let title = lines.next().unwrap_or_default().trim().to_owned();
        let items = lines.map(without_bullet).filter(|line| !line.is_empty());
        match command {
            "/poll" => Some(Self::Poll { question: title, options: items.map(str::to_owned).collect() }),
            "/todo" => Some(Self::Todo { task_list_title: title, tasks: items.map(Task::read).collect() }),
            _ => None,
        }
    }

    /// Reads the parameter `widget_content`, with the published errors.
    pub fn parse(text: &str) -> ApiResult<Self> {
        let content: Value = serde_json::from_str(text)
            .map_err(|_| ApiError::bad_request("Widgets: API programmer sent invalid JSON content"))?;
        choices(content)
            .map(Self::Zform)
            .map_err(|problem| ApiError::bad_request(format!("Widgets: {problem}")))
    }
}

/// The data of choices, checked as on the published server. More members than those it knows are kept.
fn choices(content: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(mut content) = content else { return Err("widget_content is not a dict".to_owned()) };
    for member in ["widget_type", "extra_data"] {
        if !content.contains_key(member) {
            return Err(format!("{member} is not in widget_content"));
        }
    }
    let Some(Value::Object(data)) = content.remove("extra_data") else {
        return Err("extra_data is not a dict".to_owned());
    };
    let shown = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        other => other.map(Value::to_string).unwrap_or_default(),
    };
    if content.get("widget_type").and_then(Value::as_str) != Some("zform") {
        return Err(format!("unknown widget type: {}", shown(content.get("widget_type"))));
    }
    match data.get("type").map(Value::as_str) {
        None => return Err("zform is missing type field".to_owned()),
        Some(Some("choices")) => {}
        Some(_) => return Err(format!("unknown zform type: {}", shown(data.get("type")))),
    }
    check_text(&data, "heading", "extra_data")?;
    let choices = data.get("choices").ok_or("choices key is missing from extra_data")?;
    let choices = choices.as_array().ok_or("extra_data[\"choices\"] is not a list")?;
    for (index, choice) in choices.iter().enumerate() {
        let place = format!("extra_data[\"choices\"][{index}]");
        let choice = choice.as_object().ok_or_else(|| format!("{place} is not a dict"))?;
        ["short_name", "long_name", "reply"]
            .iter()
            .try_for_each(|member| check_text(choice, member, &place))?;
    }
    Ok(data)
}

fn check_text(data: &Map<String, Value>, member: &str, place: &str) -> Result<(), String> {
    match data.get(member) {
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(format!("{place}[\"{member}\"] is not a string")),
        None => Err(format!("{member} key is missing from {place}")),
    }
}

/// The type of a message's widget: the first `widget_type` of its submessages.
pub fn kind_of(submessages: &[Submessage]) -> Option<String> {
    let first = submessages.iter().find(|submessage| submessage.msg_type == WIDGET)?;
    let data: Value = serde_json::from_str(&first.content).ok()?;
    Some(data.get("widget_type")?.as_str()?.to_owned())
}

impl Task {
    fn read(line: &str) -> Self {
        let (task, desc) = line.split_once(": ").unwrap_or((line, ""));
        Self { task: task.trim().to_owned(), desc: desc.trim().to_owned() }
    }
}

/// A line without the bullet of a list item.
fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix(['-', '*']).unwrap_or(line).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // conformance: sub-80
    #[test]
    fn choices_are_read_and_refused_as_published() {
        let choice =
            json!({"type": "multiple_choice", "short_name": "A", "long_name": "yes", "reply": "answer A"});
        let data = json!({"type": "choices", "heading": "Well?", "choices": [choice]});
        let good = json!({"widget_type": "zform", "extra_data": data});
        assert_eq!(json!(Widget::parse(&good.to_string()).unwrap()), good);
        let with = |member: &str, value: Value| {
            let mut data = data.clone();
            data[member] = value;
            json!({"widget_type": "zform", "extra_data": data}).to_string()
        };
        let cases = [
            ("{".to_owned(), "API programmer sent invalid JSON content"),
            ("5".to_owned(), "widget_content is not a dict"),
            ("{}".to_owned(), "widget_type is not in widget_content"),
            (json!({"widget_type": "x"}).to_string(), "extra_data is not in widget_content"),
            (json!({"widget_type": "zform", "extra_data": 4}).to_string(), "extra_data is not a dict"),
            (json!({"widget_type": "bogus", "extra_data": {}}).to_string(), "unknown widget type: bogus"),
            (json!({"widget_type": "zform", "extra_data": {}}).to_string(), "zform is missing type field"),
            (with("type", json!("bogus")), "unknown zform type: bogus"),
            (with("heading", json!(1)), "extra_data[\"heading\"] is not a string"),
            (with("choices", json!("a")), "extra_data[\"choices\"] is not a list"),
            (with("choices", json!([1])), "extra_data[\"choices\"][0] is not a dict"),
            (with("choices", json!([{}])), "short_name key is missing from extra_data[\"choices\"][0]"),
        ];
        for (text, problem) in cases {
            assert_eq!(Widget::parse(&text).unwrap_err().msg(), format!("Widgets: {problem}"), "{text}");
        }
    }

    // conformance: sub-2, sub-3, sub-4
    #[test]
    fn polls_and_lists_are_read() {
        let poll = |question: &str, options: Value| json!({"widget_type": "poll", "extra_data": {"question": question, "options": options}});
        let todo = |title: &str, tasks: Value| json!({"widget_type": "todo", "extra_data": {"task_list_title": title, "tasks": tasks}});
        let cases = [
            ("/poll", poll("", json!([]))),
            ("/poll  Lunch? ", poll("Lunch?", json!([]))),
            ("/poll Lunch?\nyes\n - no \n\n*maybe", poll("Lunch?", json!(["yes", "no", "maybe"]))),
            ("/poll\nyes\n**no**", poll("", json!(["yes", "*no**"]))),
            ("/todo", todo("", json!([]))),
            (
                "/todo Trip\n- tickets: by train: first class\nbags",
                todo(
                    "Trip",
                    json!([
                        {"task": "tickets", "desc": "by train: first class"},
                        {"task": "bags", "desc": ""},
                    ]),
                ),
            ),
        ];
        for (content, expected) in cases {
            assert_eq!(json!(Widget::of(content)), expected, "{content:?}");
        }
        for content in ["", "poll", "/polls", "/me polls", " /poll x", "/Poll", "a /poll"] {
            assert_eq!(Widget::of(content), None, "{content:?}");
        }
    }
}

//! Widgets: polls and to-do lists, which messages that begin with `/poll` or `/todo` create.

use crate::domain::messages::record::Submessage;
use serde::Serialize;
use serde_json::Value;

/// `msg_type` of submessages that the server creates.
pub const WIDGET: &str = "widget";

/// The initial data of a poll or to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "widget_type", content = "extra_data", rename_all = "lowercase")]
pub enum Widget {
    /// `/poll question`, and a line for each option.
    Poll {
        /// The question.
        question: String,
        /// The initial options.
        options: Vec<String>,
    },
    /// `/todo title`, and a line for each task.
    Todo {
        /// The title.
        task_list_title: String,
        /// The initial tasks.
        tasks: Vec<Task>,
    },
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

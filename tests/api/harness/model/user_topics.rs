//! Policies for topics.

use super::Model;
use serde_json::{Value, json};

/// `user_topic`.
pub fn set(model: &mut Model, event: &Value) {
    let Some(topics) = model.list("user_topics") else { return };
    let is_same = |known: &Value| {
        let key = |topic: &Value| topic["topic_name"].as_str().map(str::to_lowercase);
        known["stream_id"] == event["stream_id"] && key(known) == key(event)
    };
    topics.retain(|known| !is_same(known));
    if event["visibility_policy"] != 0 {
        let names = ["stream_id", "topic_name", "last_updated", "visibility_policy"];
        topics.push(names.iter().map(|name| ((*name).to_owned(), event[*name].clone())).collect());
    }
    // The server answers them by channel and topic; to a client their order means nothing.
    let shown = |topic: &Value| match topic["topic_name"].as_str() {
        Some("general chat") | None => String::new(),
        Some(name) => name.to_lowercase(),
    };
    topics.sort_by_key(|topic| (topic["stream_id"].as_i64(), shown(topic)));
}

/// `muted_topics`.
pub fn set_muted(model: &mut Model, event: &Value) {
    if let Some(muted) = model.list("muted_topics") {
        *muted = json!(event["muted_topics"]).as_array().cloned().unwrap_or_default();
    }
}

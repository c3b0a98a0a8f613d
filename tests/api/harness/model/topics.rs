//! `user_topic` and `muted_topics` events.

use super::Model;
use serde_json::Value;

/// The user sees a topic in another way; 0 is as its channel.
pub fn set(model: &mut Model, event: &Value) {
    let Some(topics) = model.list("user_topics") else { return };
    let lower = |topic: &Value| topic["topic_name"].as_str().expect("a topic has a name").to_lowercase();
    topics.retain(|topic| topic["stream_id"] != event["stream_id"] || lower(topic) != lower(event));
    if event["visibility_policy"] != 0 {
        let names = ["stream_id", "topic_name", "last_updated", "visibility_policy"];
        topics.push(names.iter().map(|name| ((*name).to_owned(), event[*name].clone())).collect());
    }
}

/// The older form: all muted topics.
pub fn muted(model: &mut Model, event: &Value) {
    if let Some(topics) = model.list("muted_topics") {
        topics.clone_from(event["muted_topics"].as_array().expect("a list of topics"));
    }
}

//! Whether a message event passes the `narrow` of a queue (`POST /register`).

use crate::events::Receiver;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, Topic};
use serde_json::Value;

/// Whether all terms of the queue's narrow hold for a message event.
pub fn matches(event: &Value, receiver: &Receiver<'_>) -> bool {
    receiver.registration.narrow.iter().all(|(operator, operand)| {
        let message = &event["message"];
        match operator.as_str() {
            "channel" | "stream" => is_channel(message, operand),
            "topic" => is_topic(message, operand),
            "sender" => is_sender(message, operand),
            "is" => is(event, operand, receiver.user_id.0),
            _ => false,
        }
    })
}

fn is_channel(message: &Value, operand: &str) -> bool {
    let Some(name) = message["display_recipient"].as_str() else { return false };
    name.to_lowercase() == operand.to_lowercase()
        || operand.parse::<i64>().is_ok_and(|id| message["stream_id"] == id)
}

fn is_topic(message: &Value, operand: &str) -> bool {
    let topic = message["subject"].as_str().unwrap_or_default();
    let wanted = if operand == EMPTY_TOPIC_DISPLAY_NAME { "" } else { operand };
    message["type"] == "stream" && topic.to_lowercase() == wanted.to_lowercase()
}

fn is_sender(message: &Value, operand: &str) -> bool {
    message["sender_email"].as_str().is_some_and(|email| email.eq_ignore_ascii_case(operand))
        || operand.parse::<i64>().is_ok_and(|id| message["sender_id"] == id)
}

fn is(event: &Value, operand: &str, user_id: i64) -> bool {
    let holders = &event["flags"];
    let holds = |name: &str| holders[name].as_array().is_some_and(|ids| ids.iter().any(|id| *id == user_id));
    match operand {
        "dm" | "private" => event["message"]["type"] == "private",
        "unread" => !holds("read"),
        "mentioned" => holds("mentioned") || holds("topic_wildcard") || holders["stream_wildcard"] == true,
        "alerted" => holds("alerted"),
        "resolved" => event["message"]["subject"]
            .as_str()
            .is_some_and(|topic| topic.starts_with(Topic::RESOLVED_PREFIX)),
        // A new message has none of the other flags.
        _ => false,
    }
}

//! Programs whose users write the messages: Home Assistant, IFTTT, Zapier, and programs that send arbitrary JSON.

use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::code_block;
use serde_json::Value;

/// Creates the message of a delivery of Home Assistant.
pub fn homeassistant(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let topic = payload.find_text("/topic").or(payload.find_text("/title")).unwrap_or("homeassistant");
    // A template may produce a number.
    Ok(vec![Post::new(topic, payload.at("/message")?.shown(), "")])
}

/// Creates the message of a delivery of IFTTT or Zapier.
pub fn topic_and_content(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let text = |name: &str| match payload.0.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(Refusal::Invalid("Malformed payload")),
    };
    let topic = match text("topic")? {
        Some(topic) => Some(topic),
        None => text("subject")?,
    };
    let topic = topic.ok_or(Refusal::Invalid("Topic can't be empty"))?;
    let content = text("content")?.ok_or(Refusal::Invalid("Content can't be empty"))?;
    Ok(vec![Post::new(topic, content, "")])
}

/// Shows the JSON of a delivery.
pub fn json(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let text = serde_json::to_string_pretty(payload.0).map_err(|_| Refusal::InvalidJson)?;
    Ok(vec![Post::new("JSON", code_block("json", &text), "")])
}

/// Creates a message of a text.
pub fn text(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let text = payload.as_text().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Refusal::Invalid("Message must not be empty"));
    }
    Ok(vec![Post::new("(no topic)", text, "")])
}

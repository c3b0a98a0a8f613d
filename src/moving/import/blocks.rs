//! Blocks that programs add to their messages in Slack, Mattermost and Rocket.Chat.

use crate::moving::import::json::text;
use serde_json::Value;
use teamchat_markdown::link_target;

/// Converts a block of Mattermost or Rocket.Chat: the text before it, its title, these words, its fields and its image.
pub fn to_markdown(block: &Value, words: &str) -> String {
    let title = match text(block, "title") {
        "" => String::new(),
        title => link(title, text(block, "title_link")),
    };
    let mut parts = vec![text(block, "pretext").to_owned(), title, words.to_owned()];
    parts.extend(fields(block.get("fields").unwrap_or(&Value::Null), "**"));
    parts.push(link("", text(block, "image_url")));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The fields of a block, a line each: a title between the `bold` marks, and a value.
pub fn fields(fields: &Value, bold: &str) -> Vec<String> {
    let part = |field: &Value, name: &str| match field.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(other) => other.to_string(),
    };
    let line = |field: &Value| match (part(field, "title"), part(field, "value")) {
        (title, value) if title.is_empty() => value,
        (title, value) if value.is_empty() => format!("{bold}{title}{bold}"),
        (title, value) => format!("{bold}{title}{bold}: {value}"),
    };
    let all = fields.as_array().into_iter().flatten();
    all.map(line).filter(|line| !line.is_empty()).collect()
}

/// A link with a text. Without an address of the web, it is the text, and without a text the address.
pub fn link(text: &str, address: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) {
        return text;
    }
    let address = link_target(address);
    match text.replace(['[', ']'], "") {
        text if text.is_empty() => address,
        text => format!("[{text}]({address})"),
    }
}

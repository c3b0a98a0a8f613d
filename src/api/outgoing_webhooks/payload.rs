//! The requests and responses of outgoing webhooks, in Zulip's format and in one compatible with Slack.

use crate::auth::Ctx;
use crate::domain::access;
use crate::domain::bots::Service;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::serialize::{MessageFormat, write_one};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::webhook_queue::QueuedRow;
use crate::domain::rows::user::UserRow;
use crate::http::{ApiError, ApiResult, Caller};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The interface number of Zulip's format.
const OWN: i64 = 1;

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The media type.
    pub content_type: &'static str,
    /// The text.
    pub body: String,
}

/// Writes the payload for a message; `None` for direct messages in the Slack format, which does not support them.
pub fn write(
    connection: &Connection,
    row: &QueuedRow,
    bot: (&UserRow, &Caller),
    service: &Service,
    message: &MessageRow,
    now: i64,
    host: &str,
) -> ApiResult<Option<Payload>> {
    let (user, caller) = bot;
    if service.interface != OWN {
        return form(connection, row, service, message, host);
    }
    let payload = json!({
        "bot_email": user.email,
        "bot_full_name": user.full_name,
        "data": message.content,
        "message": record(Ctx::new(connection, caller, now), message)?,
        "trigger": row.trigger,
        "token": service.token,
    });
    Ok(Some(Payload { content_type: "application/json", body: payload.to_string() }))
}

/// The message in the format of `GET /messages`, with both Markdown and HTML.
fn record(ctx: Ctx<'_>, message: &MessageRow) -> ApiResult<Value> {
    let form = MessageFormat { apply_markdown: false, allow_empty_topic_name: true };
    let written = write_one(&MessageViewer::new(ctx), message.id, form)?;
    let mut record: Value = serde_json::from_str(&written)?;
    if let Some(members) = record.as_object_mut() {
        members.remove("flags");
        members.insert("rendered_content".to_owned(), message.rendered_content.as_str().into());
    }
    Ok(record)
}

fn form(
    connection: &Connection,
    row: &QueuedRow,
    service: &Service,
    message: &MessageRow,
    host: &str,
) -> ApiResult<Option<Payload>> {
    let Some(stream_id) = access::messages::stream_of(connection, message.recipient_id)? else {
        return Ok(None);
    };
    let stream = crate::domain::rows::channel::by_id(connection, stream_id)?
        .ok_or_else(|| ApiError::internal("the channel of a message has no row"))?;
    let time = message.timestamp.to_string();
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("token", &service.token)
        .append_pair("team_id", "T1")
        .append_pair("team_domain", host)
        .append_pair("channel_id", &format!("C{stream_id}"))
        .append_pair("channel_name", &stream.name)
        .append_pair("thread_ts", &time)
        .append_pair("timestamp", &time)
        .append_pair("user_id", &format!("U{}", message.sender_id))
        .append_pair("user_name", &message.sender_full_name)
        .append_pair("text", &message.content)
        .append_pair("trigger_word", &row.trigger)
        .append_pair("service_id", &row.bot_id.to_string())
        .finish();
    Ok(Some(Payload { content_type: "application/x-www-form-urlencoded", body }))
}

/// Parses the bot's reply, if any, from the response of the other server. Fails with the published message if the
/// response is invalid.
pub fn reply(interface: i64, answer: &[u8]) -> Result<Option<String>, &'static str> {
    let answer: Value = serde_json::from_slice(answer).map_err(|_| "Invalid JSON in response")?;
    if answer == "" {
        // Older bot servers respond with an empty string if there is no reply.
        return Ok(None);
    }
    let answer = answer.as_object().ok_or("Invalid response format")?;
    let is_set =
        |name: &str| answer.get(name).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
    let text = if interface != OWN {
        answer.get("text")
    } else if is_set("response_not_required") {
        None
    } else {
        answer.get("response_string").or_else(|| answer.get("content"))
    };
    let text = text.map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned));
    Ok(text.filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_both_formats() {
        let cases = [
            (1, r#"{"content": "hi"}"#, Ok(Some("hi"))),
            (1, r#"{"response_string": "old", "content": "new"}"#, Ok(Some("old"))),
            (1, r#"{"response_not_required": true, "content": "hi"}"#, Ok(None)),
            (1, r#"{"response_not_required": false, "content": "hi"}"#, Ok(Some("hi"))),
            (1, r#"{"content": "  "}"#, Ok(None)),
            (1, r#"{"content": 7}"#, Ok(Some("7"))),
            (1, r#"{"text": "hi"}"#, Ok(None)),
            (1, "{}", Ok(None)),
            (1, r#""""#, Ok(None)),
            (1, "[]", Err("Invalid response format")),
            (1, "\"hi\"", Err("Invalid response format")),
            (1, "oops", Err("Invalid JSON in response")),
            (1, "", Err("Invalid JSON in response")),
            (2, r#"{"text": "hi"}"#, Ok(Some("hi"))),
            (2, r#"{"content": "hi"}"#, Ok(None)),
        ];
        for (interface, answer, expected) in cases {
            let found = reply(interface, answer.as_bytes());
            assert_eq!(
                found.as_ref().map(|text| text.as_deref()),
                expected.as_ref().map(|text| *text),
                "{answer}"
            );
        }
    }
}

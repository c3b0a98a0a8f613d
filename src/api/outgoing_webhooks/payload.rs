//! The requests and responses of outgoing webhooks, in Zulip's format and in one compatible with Slack.

use crate::auth::Ctx;
use crate::domain::access::users::Accessible;
use crate::domain::bots::Service;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::serialize::{MessageFormat, write_one};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::webhook_queue::QueuedRow;
use crate::domain::rows::user::UserRow;
use crate::domain::{access, rows};
use crate::http::{ApiResult, Caller};
use crate::http_client::Answer;
use crate::types::charset::CharsetError;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The published text about a response that is not JSON.
const INVALID_JSON: Cow<'static, str> = Cow::Borrowed("Invalid JSON in response");

/// The interface number of Zulip's format.
const OWN: i64 = 1;

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The media type.
    pub content_type: &'static str,
    /// The content, in the format of the media type.
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
        return form(connection, row, caller, service, message, host);
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
    caller: &Caller,
    service: &Service,
    message: &MessageRow,
    host: &str,
) -> ApiResult<Option<Payload>> {
    let Some(stream_id) = access::messages::stream_of(connection, message.recipient_id)? else {
        return Ok(None);
    };
    let stream = rows::channel::existing(connection, stream_id)?;
    let accessible = Accessible::to(connection, caller)?;
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
        .append_pair("user_name", message.sender_name(&accessible))
        .append_pair("text", &message.content)
        .append_pair("trigger_word", &row.trigger)
        .append_pair("service_id", &row.bot_id.to_string())
        .finish();
    Ok(Some(Payload { content_type: "application/x-www-form-urlencoded", body }))
}

/// The message that a response of the other server asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotReply {
    /// Markdown.
    pub content: String,
    /// The parameter `widget_content` of a message; not checked yet.
    pub widget_content: Option<Value>,
}

/// Parses the bot's reply, if any, from the response of the other server. Fails with the published message if the
/// response is invalid.
pub fn reply(interface: i64, answer: &Answer) -> Result<Option<BotReply>, Cow<'static, str>> {
    let text = answer.text().map_err(|error| match error {
        CharsetError::Unknown(_) => Cow::Owned(error.to_string()),
        CharsetError::Malformed(_) => INVALID_JSON,
    })?;
    let answer: Value = serde_json::from_str(&text).map_err(|_| INVALID_JSON)?;
    if answer == "" {
        // Older bot servers respond with an empty string if there is no reply.
        return Ok(None);
    }
    let answer = answer.as_object().ok_or(Cow::Borrowed("Invalid response format"))?;
    let is_set =
        |name: &str| answer.get(name).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
    let (content, widget) = if interface != OWN {
        (answer.get("text"), None)
    } else if is_set("response_not_required") {
        (None, None)
    } else if let Some(content) = answer.get("response_string") {
        (Some(content), None)
    } else {
        (answer.get("content"), answer.get("widget_content").filter(|widget| !widget.is_null()))
    };
    let content = content.map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned));
    let content = content.filter(|text| !text.trim().is_empty());
    Ok(content.map(|content| BotReply { content, widget_content: widget.cloned() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::HeaderMap;
    use hyper::header::{CONTENT_TYPE, HeaderValue};

    fn answer(content_type: &'static str, body: impl Into<bytes::Bytes>) -> Answer {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        Answer { status: 200, headers, body: body.into() }
    }

    #[test]
    fn answers_are_read_in_their_charset() {
        let cases: [(&str, &[u8], Result<&str, &str>); 6] = [
            ("application/json", b"\xef\xbb\xbf{\"content\": \"caf\xc3\xa9\"}", Ok("café")),
            ("application/json; charset=iso-8859-1", b"{\"content\": \"caf\xe9\"}", Ok("café")),
            ("text/plain; charset=windows-1251", b"{\"content\": \"\xcf\xf0\xe8\"}", Ok("При")),
            ("application/json", b"{\"content\": \"caf\xe9\"}", Err("Invalid JSON in response")),
            ("application/json; charset=utf-16", b"{}\0", Err("Invalid JSON in response")),
            ("application/json; charset=klingon", b"{}", Err("Unknown charset: klingon")),
        ];
        for (content_type, body, expected) in cases {
            let found = reply(1, &answer(content_type, body));
            let found = found.as_ref().map(|reply| reply.as_ref().unwrap().content.as_str());
            let found = found.map_err(|msg| &**msg);
            assert_eq!(found, expected, "{content_type}");
        }
    }

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
            let found = reply(interface, &self::answer("application/json", answer));
            let found = found.as_ref().map(|reply| reply.as_ref().map(|reply| reply.content.as_str()));
            assert_eq!(found.map_err(|msg| &**msg), expected, "{answer}");
        }
        for (interface, answer, expected) in [
            (1, r#"{"content": "hi", "widget_content": "{}"}"#, Some(json!("{}"))),
            (1, r#"{"content": "hi", "widget_content": null}"#, None),
            (1, r#"{"response_string": "hi", "widget_content": "{}"}"#, None),
            (2, r#"{"text": "hi", "widget_content": "{}"}"#, None),
        ] {
            let found = reply(interface, &self::answer("application/json", answer)).unwrap().unwrap();
            assert_eq!(found.widget_content, expected, "{answer}");
        }
    }
}

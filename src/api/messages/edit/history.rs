//! `GET /messages/{message_id}/history`: the edits and moves of a message.

use crate::api::messages::edit::html_diff::html_diff;
use crate::auth::Ctx;
use crate::domain::messages;
use crate::domain::messages::record::{EditRecord, MessageRow};
use crate::domain::messages::rules::EditHistoryVisibility;
use crate::domain::messages::viewer::MessageViewer;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::types::{MessageId, StreamId, UserId, members_of, shown_topic};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Parameters of `GET /messages/{message_id}/history`.
#[derive(Deserialize)]
pub struct HistoryParams {
    /// The id of the message.
    message_id: MessageId,
    /// True to return the empty topic as an empty string, false to return its display name. False by default.
    #[serde(default)]
    allow_empty_topic_name: bool,
}

/// A version of a message (spec, "Message edit snapshot").
#[derive(Serialize)]
struct Snapshot<'a> {
    /// The topic of this version; empty for direct messages.
    topic: &'a str,
    /// The content of this version, in Markdown.
    content: &'a str,
    /// The content of this version, as HTML.
    rendered_content: &'a str,
    /// When the version was created, in UNIX seconds: for the first, when the message was sent.
    timestamp: i64,
    /// The id of the user who created the version: for the first, the sender. Null if unknown.
    user_id: Option<UserId>,
    /// The previous topic, if this edit changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_topic: Option<&'a str>,
    /// The id of the new channel, if this edit changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<StreamId>,
    /// The id of the previous channel, if this edit changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_stream: Option<StreamId>,
    /// The previous content in Markdown, if this edit changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_content: Option<&'a str>,
    /// The previous content as HTML, if this edit changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_rendered_content: Option<&'a str>,
    /// The content as HTML with the differences marked, if this edit changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_html_diff: Option<String>,
}

/// Time limit for the differences of a history. Later ones are coarse.
const DIFFERENCES_TIME: Duration = Duration::from_secs(1);

/// The reply to `GET /messages/{message_id}/history`.
#[derive(Serialize)]
pub struct History<'a> {
    /// The versions, the oldest first.
    message_history: Vec<Snapshot<'a>>,
}

/// `GET /messages/{message_id}/history`: lists the versions of a message: as it was sent, and after each edit, the
/// oldest first. If there are many edits, only the newest. Refused if the organization hides the history of messages.
pub async fn get_history(call: Call<User>, params: HistoryParams) -> ApiResult<Reply<History<'static>>> {
    let (now, caller) = (call.app.clock.seconds(), Caller::clone(&call.caller));
    let history = call.app.read_in(&call.app.pools.rendering, Some(caller.quota_owner()), move |snapshot| {
        let visibility = EditHistoryVisibility::load(snapshot)?;
        if visibility == EditHistoryVisibility::None {
            return Err(ApiError::bad_request("Message edit history is disabled in this organization"));
        }
        let message = MessageViewer::new(Ctx::new(snapshot, &caller, now)).find(params.message_id)?;
        let edits = visibility.filter(messages::edits(snapshot, message.id)?);
        let deadline = Instant::now() + DIFFERENCES_TIME;
        let message_history = snapshots(&message, &edits, params.allow_empty_topic_name, deadline);
        Ok(Reply::members(members_of(&History { message_history })?))
    });
    history.await
}

/// Reconstructs the snapshots from the current message backwards; `edits` are the newest first.
fn snapshots<'a>(
    message: &'a MessageRow,
    edits: &'a [EditRecord],
    allow_empty_topic_name: bool,
    deadline: Instant,
) -> Vec<Snapshot<'a>> {
    let is_channel_message = message.topic_id.is_some();
    let shown =
        |topic: &'a str| if is_channel_message { shown_topic(topic, allow_empty_topic_name) } else { "" };
    let mut topic = message.subject.as_str();
    let mut content = message.content.as_str();
    let mut rendered_content = message.rendered_content.as_str();
    let mut snapshots = Vec::with_capacity(edits.len() + 1);
    for edit in edits {
        let prev_rendered_content = edit.prev_rendered_content.as_deref();
        snapshots.push(Snapshot {
            topic: shown(topic),
            content,
            rendered_content,
            timestamp: edit.timestamp,
            user_id: edit.user_id,
            prev_topic: edit.prev_topic.as_deref().map(shown),
            stream: edit.stream,
            prev_stream: edit.prev_stream,
            prev_content: edit.prev_content.as_deref(),
            prev_rendered_content,
            content_html_diff: prev_rendered_content
                .map(|before| html_diff(before, rendered_content, deadline)),
        });
        topic = edit.prev_topic.as_deref().unwrap_or(topic);
        content = edit.prev_content.as_deref().unwrap_or(content);
        rendered_content = prev_rendered_content.unwrap_or(rendered_content);
    }
    snapshots.push(Snapshot {
        topic: shown(topic),
        content,
        rendered_content,
        timestamp: message.timestamp,
        user_id: Some(message.sender_id),
        prev_topic: None,
        stream: None,
        prev_stream: None,
        prev_content: None,
        prev_rendered_content: None,
        content_html_diff: None,
    });
    snapshots.reverse();
    snapshots
}

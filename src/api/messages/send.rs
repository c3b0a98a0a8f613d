//! `POST /messages`: sends a channel or direct message.

use crate::domain::messages::create::{OutgoingMessage, send};
use crate::domain::messages::destination::MessageType;
use crate::domain::messages::{destination, rules};
use crate::domain::rendering::render_for;
use crate::events::QueueId;
use crate::http::params::JsonOrText;
use crate::http::{ApiError, ApiResult, Call, Reply, User};
use serde::Deserialize;
use serde_json::json;

/// Parameters of `POST /messages`.
#[derive(Deserialize)]
pub struct SendParams {
    /// `channel` or `direct`, or their older names.
    r#type: MessageType,
    /// A channel's id or name; or ids or emails of users.
    to: JsonOrText,
    /// The topic. Required for channel messages, ignored for direct ones.
    #[serde(default, alias = "subject")]
    topic: Option<String>,
    /// Markdown.
    content: String,
    /// The sender's own queue, whose event has `local_message_id`.
    #[serde(default)]
    queue_id: Option<String>,
    /// The client's local id of the message.
    #[serde(default)]
    local_id: Option<String>,
    /// Whether the sender has read it. Default: depends on the client program.
    #[serde(default)]
    read_by_sender: Option<bool>,
}

/// `POST /messages`.
pub async fn send_message(call: Call<User>, params: SendParams) -> ApiResult<Reply> {
    let now = call.app.clock.seconds();
    let client = call.info.client.clone();
    let message = call
        .app
        .readers
        .read(|snapshot| {
            let content = rules::content(&params.content)?;
            let topic = params.topic.as_deref();
            let destination =
                destination::resolve(snapshot, &call.caller, now, params.r#type, &params.to, topic)?;
            let rendered = render_for(snapshot, &call.caller, now, &call.info.origin, &content)?;
            let read_by_sender = params.read_by_sender.unwrap_or_else(|| rules::is_read_by_sender(&client));
            let echo = params.queue_id.map(|id| QueueId(id.into())).zip(params.local_id);
            Ok::<_, ApiError>(OutgoingMessage {
                read_by_sender,
                echo,
                ..OutgoingMessage::new(destination, content, rendered, client)
            })
        })
        .await?;
    let sent = call.write(move |tx, caller| send(tx, caller, message)).await?;
    let mut reply = json!({ "id": sent.id });
    if let Some(policy) = sent.automatic_new_visibility_policy {
        reply["automatic_new_visibility_policy"] = json!(policy);
    }
    Reply::data(&reply)
}

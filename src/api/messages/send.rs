//! `POST /messages`: sends a channel or direct message.

use crate::auth::Ctx;
use crate::domain::limits::{MAX_LOCAL_ID_LENGTH, MAX_MESSAGE_LENGTH};
use crate::domain::messages::create::{OutgoingMessage, SentMessage, send, send_if};
use crate::domain::messages::destination::{Destination, MessageType};
use crate::domain::messages::sent_names::SentName;
use crate::domain::messages::widget::Widget;
use crate::domain::messages::{destination, sent_names};
use crate::domain::rendering::{on_snapshot, render_for, render_plain};
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{messages, notices};
use crate::events::QueueId;
use crate::http::params::BoundedText;
use crate::http::{ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{JsonOrText, MessageId};
use serde::{Deserialize, Serialize};
use teamchat_markdown::Rendered;

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
    /// The sender's own queue, whose event has `local_message_id`. With the same `queue_id`, `local_id`, destination and
    /// `content` as one of the sender's last 200 messages the reply is that message's `id`, and nothing is sent: a client
    /// that did not get the reply may ask again.
    #[serde(default)]
    queue_id: Option<String>,
    /// The client's local id of the message.
    #[serde(default)]
    local_id: Option<BoundedText<MAX_LOCAL_ID_LENGTH>>,
    /// True if the sender has read it. Default: depends on the client program.
    #[serde(default)]
    read_by_sender: Option<bool>,
    /// A form, mostly of bots, that is shown in place of the text: `widget_type` (`zform`) and `extra_data`, which has the
    /// `type` (`choices`), a `heading`, and `choices`, each with `short_name`, `long_name` and `reply`.
    #[serde(default)]
    widget_content: Option<BoundedText<MAX_MESSAGE_LENGTH>>,
}

/// The reply to `POST /messages`.
#[derive(Serialize)]
pub struct SendReply {
    /// The message.
    id: MessageId,
    /// The sender's new policy for the topic, if sending changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    automatic_new_visibility_policy: Option<VisibilityPolicy>,
}

impl From<SentMessage> for SendReply {
    fn from(sent: SentMessage) -> Self {
        Self { id: sent.id, automatic_new_visibility_policy: sent.automatic_new_visibility_policy }
    }
}

/// A message as the request has it.
struct Requested {
    kind: MessageType,
    to: JsonOrText,
    topic: Option<String>,
    content: String,
    echo: Option<(QueueId, String)>,
    read_by_sender: bool,
    widget: Option<Widget>,
    client: String,
}

impl Requested {
    fn find_destination(&self, ctx: Ctx<'_>) -> ApiResult<Destination> {
        destination::find(ctx, self.kind, &self.to, self.topic.as_deref())
    }

    fn rendered(self, destination: Destination, rendered: Rendered) -> OutgoingMessage {
        OutgoingMessage {
            read_by_sender: self.read_by_sender,
            echo: self.echo,
            widget: self.widget,
            ..OutgoingMessage::new(destination, self.content, rendered, self.client)
        }
    }
}

/// `POST /messages`.
pub async fn send_message(call: Call<User>, params: SendParams) -> ApiResult<Reply<SendReply>> {
    let client = call.info.client.clone();
    let local_id = params.local_id.map(BoundedText::into_inner);
    let requested = Requested {
        kind: params.r#type,
        content: messages::rules::content(&params.content)?,
        widget: params.widget_content.as_deref().map(Widget::parse).transpose()?,
        echo: params.queue_id.map(|id| QueueId(id.into())).zip(local_id),
        read_by_sender: params.read_by_sender.unwrap_or_else(|| messages::rules::is_read_by_sender(&client)),
        to: params.to,
        topic: params.topic,
        client,
    };
    // Most messages of people. Their destination is found by the job that sends them, which has to look at it anyway.
    if requested.kind == MessageType::Channel
        && !call.caller.is_bot()
        && let Some(rendered) = render_plain(&call.app, &requested.content).await?
    {
        let job = move |tx: &mut Tx<'_>, caller: &User| {
            let to = requested.to.clone();
            let destination = requested.find_destination(tx.ctx(caller))?;
            let message = requested.rendered(destination, rendered);
            send_if(tx, caller, message, |ctx, destination| destination::check(ctx, &to, destination))
        };
        return Reply::data(&SendReply::from(call.write(job).await?));
    }
    send_with_markup(call, requested).await
}

/// Finds the destination and renders the message on a snapshot, and then sends it.
async fn send_with_markup(call: Call<User>, requested: Requested) -> ApiResult<Reply<SendReply>> {
    let (now, origin) = (call.app.clock.seconds(), call.info.origin.clone());
    let caller = Caller::clone(&call.caller);
    let (text, to) = (requested.content.clone(), requested.to.clone());
    let prepared = on_snapshot(&call.app, Some(caller.quota_owner()), &[&text], move |snapshot| {
        let ctx = Ctx::new(snapshot, &caller, now);
        let destination = requested.find_destination(ctx)?;
        // This holds even if the sender has lost the permission to send.
        if let Some(echo) = &requested.echo {
            let name = SentName::new(echo, &destination, &requested.content);
            if let Some(id) = sent_names::find(snapshot, caller.user_id, &name)? {
                return Ok(Err(SentMessage::known(id)));
            }
        }
        destination::check(ctx, &requested.to, &destination)?;
        let rendered = render_for(ctx, &origin, &requested.content)?;
        Ok(Ok(requested.rendered(destination, rendered)))
    })
    .await;
    let message = match prepared {
        Err(error) if error.code() == "STREAM_DOES_NOT_EXIST" && call.caller.is_bot() => {
            // Errors of a bot's requests are usually unread, so its owner is notified.
            call.write(move |tx, caller| notices::bots::missing_channel(tx, caller, &to)).await?;
            return Err(error);
        }
        prepared => match prepared? {
            Ok(message) => message,
            Err(known) => return Reply::data(&SendReply::from(known)),
        },
    };
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let channel = match &message.destination {
            Destination::Channel(stream, _) if caller.is_bot() => Some(stream.clone()),
            _ => None,
        };
        let sent = send(tx, caller, message)?;
        if let Some(stream) = channel {
            notices::bots::channel_without_subscribers(tx, caller, &stream)?;
        }
        Ok(sent)
    };
    let sent = call.write(job).await?;
    Reply::data(&SendReply::from(sent))
}

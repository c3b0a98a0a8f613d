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
    /// `channel` for a channel message, `direct` for a direct message. `stream` and `private` are the older names.
    r#type: MessageType,
    /// For a channel message, the id or name of the channel. For a direct one, a list of user ids or of emails.
    to: JsonOrText,
    /// The topic, at most 60 characters; longer ones are cut. Required for channel messages, ignored for direct ones.
    #[serde(default, alias = "subject")]
    topic: Option<String>,
    /// The content in Markdown. It must not be blank, and is cut to 10,000 characters.
    content: String,
    /// The id of an event queue of the sender, whose event has the `local_id` as `local_message_id`. If one of the
    /// sender's last 200 messages has the same `queue_id`, `local_id`, destination and `content`, nothing is sent and
    /// the response has its `id`: a client without a response can repeat the request.
    #[serde(default)]
    queue_id: Option<String>,
    /// The client's own id of the message, at most 100 characters. It has an effect only with `queue_id`.
    #[serde(default)]
    local_id: Option<BoundedText<MAX_LOCAL_ID_LENGTH>>,
    /// True if the message is marked as read for the sender. By default true for clients that people use.
    #[serde(default)]
    read_by_sender: Option<bool>,
    /// A form that is shown instead of the text, mostly of bots, as JSON with `widget_type` (`zform`) and `extra_data`:
    /// `type` (`choices`), `heading`, and `choices`, each with `short_name`, `long_name` and `reply`. At most 10,000
    /// characters.
    #[serde(default)]
    widget_content: Option<BoundedText<MAX_MESSAGE_LENGTH>>,
}

/// The reply to `POST /messages`.
#[derive(Serialize)]
pub struct SendReply {
    /// The id of the message.
    id: MessageId,
    /// The sender's new visibility policy for the topic, if sending the message changed it: 2 for unmuted, 3 for
    /// followed.
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

/// `POST /messages`: sends a message to a channel or to users.
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

//! `POST /typing` and `POST /messages/{message_id}/typing`: typing notifications. They are delivered and not stored.

use crate::api::resource::Resource;
use crate::auth::Ctx;
use crate::domain::access::users::Accessible;
use crate::domain::messages::destination;
use crate::domain::messages::receipts::users_who_received;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::rules::EditFacts;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, limits, messages, realm, rows, user_settings};
use crate::events::{Audience, Event, Form, Receiver, Registered, broadcast};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, Route, USER, User};
use crate::store::Snapshot;
use crate::types::{EmptyTopic, MessageId, StreamId, UserId};
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub const RESOURCE: Resource = Resource { name: "typing", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/typing", USER, set_typing_status).on_full_disk(),
        Route::call(Method::POST, "/messages/{message_id}/typing", USER, set_typing_status_for_edit)
            .on_full_disk(),
    ]
}

/// Channels with more subscribers than this get no typing notifications, as published.
const MAX_SUBSCRIBERS: u64 = 100;

/// The start or the end of typing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Starts typing.
    Start,
    /// Stops typing.
    Stop,
}

/// The kind of conversation.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TypingType {
    /// Direct messages.
    #[default]
    Direct,
    /// A topic of a channel.
    #[serde(alias = "stream")]
    Channel,
}

/// Parameters of `POST /typing`.
#[derive(Deserialize)]
pub struct TypingParams {
    /// `direct`, the default, for a direct message; `channel` or the older `stream` for a channel message.
    #[serde(default)]
    r#type: TypingType,
    /// `start` when the user begins to type and while they type, `stop` when they stop.
    op: Op,
    /// The user ids of the recipients. Required for direct messages.
    to: Option<Vec<UserId>>,
    /// The id of the channel. Required for channel messages.
    stream_id: Option<StreamId>,
    /// The topic. Required for channel messages.
    #[serde(alias = "subject")]
    topic: Option<String>,
}

/// `typing`: a user began or stopped typing a message to the receiver. In channels, only for clients with the
/// `stream_typing_notifications` capability.
#[derive(Clone, Serialize, Deserialize)]
pub struct Typing {
    /// `start` or `stop`.
    op: Op,
    /// The user who is typing.
    sender: Person,
    #[serde(flatten)]
    place: Place,
}

#[derive(Clone, Serialize, Deserialize)]
struct Person {
    /// The user's id.
    user_id: UserId,
    /// The user's API email.
    email: String,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "message_type", rename_all = "lowercase")]
enum Place {
    Stream {
        /// The id of the channel.
        stream_id: StreamId,
        /// The topic of the channel.
        topic: String,
    },
    Direct {
        /// All participants of the conversation, with the user who is typing.
        recipients: Vec<Person>,
    },
}

impl Event for Typing {
    const TYPE: &'static str = "typing";
    const VERSION: u32 = 1;
    type Routing = ();
    type Variant = EmptyTopic;

    /// Older clients take every typing event for one about a direct message.
    fn deliver(&self, _routing: &(), receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        let registration = receiver.registration;
        let is_understood = match self.place {
            Place::Stream { .. } => registration.client_capabilities.stream_typing_notifications,
            Place::Direct { .. } => true,
        };
        is_understood.then(|| registration.empty_topic())
    }

    fn form(&self, _routing: &(), empty: EmptyTopic) -> serde_json::Result<Form> {
        let mut shown = self.clone();
        if let Place::Stream { topic, .. } = &mut shown.place {
            *topic = empty.show(topic).to_owned();
        }
        Form::of(&shown)
    }
}

/// `typing_edit_message`: a user began or stopped editing a message.
#[derive(Clone, Serialize, Deserialize)]
pub struct TypingEdit {
    /// `start` or `stop`.
    op: Op,
    /// The id of the user who is editing.
    sender_id: UserId,
    /// The id of the message.
    message_id: MessageId,
    /// The conversation of the message.
    recipient: EditPlace,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum EditPlace {
    Channel {
        /// The id of the channel.
        channel_id: StreamId,
        /// The topic of the channel.
        topic: String,
    },
    Direct {
        /// The ids of all participants of the conversation, with the user who is editing, ascending.
        user_ids: Vec<UserId>,
    },
}

impl Event for TypingEdit {
    const TYPE: &'static str = "typing_edit_message";
    const VERSION: u32 = 1;
    type Routing = ();
    type Variant = EmptyTopic;

    fn deliver(&self, _routing: &(), receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        Some(receiver.registration.empty_topic())
    }

    fn form(&self, _routing: &(), empty: EmptyTopic) -> serde_json::Result<Form> {
        let mut shown = self.clone();
        if let EditPlace::Channel { topic, .. } = &mut shown.recipient {
            *topic = empty.show(topic).to_owned();
        }
        Form::of(&shown)
    }
}

/// More recipients than this are looked up on a thread that may block.
const MANY_RECIPIENTS: usize = 20;

/// `POST /typing`: informs the recipients of a message that the caller is typing it, or has stopped.
async fn set_typing_status(call: Call<User>, params: TypingParams) -> ApiResult<Reply> {
    let (app, caller, now) = (Arc::clone(&call.app), Caller::clone(&call.caller), call.app.clock.seconds());
    let has_many = params.to.as_ref().is_some_and(|to| to.len() > MANY_RECIPIENTS);
    let user_id = caller.quota_owner();
    let read = move |snapshot: &Snapshot<'_>| {
        let (place, audience) = match params.r#type {
            TypingType::Direct => direct(snapshot, &caller, params.to)?,
            TypingType::Channel => channel(Ctx::new(snapshot, &caller, now), params.stream_id, params.topic)?,
        };
        let sender = person(snapshot, caller.user_id)?;
        Ok::<_, ApiError>((Typing { op: params.op, sender, place }, audience))
    };
    let event = app.read_in_if(has_many, &app.pools.slow_reads, Some(user_id), read).await?;
    send(event, call).await
}

/// Parameters of `POST /messages/{message_id}/typing`.
#[derive(Deserialize)]
pub struct EditTypingParams {
    /// The id of the message that the caller is editing.
    message_id: MessageId,
    /// `start` when the user begins to edit and while they edit, `stop` when they stop.
    op: Op,
}

/// `POST /messages/{message_id}/typing`: informs the recipients of a message that the caller is editing it, or has
/// stopped. The caller must be able to edit the message.
async fn set_typing_status_for_edit(call: Call<User>, params: EditTypingParams) -> ApiResult<Reply> {
    let now = call.app.clock.seconds();
    let event = call.app.readers.read(|snapshot| {
        let caller = &call.caller;
        let (message, channel) =
            MessageViewer::new(Ctx::new(snapshot, caller, now)).find_to_change(params.message_id)?;
        let facts = EditFacts {
            editing_allowed: realm::settings::ALLOW_MESSAGE_EDITING.get(snapshot)?,
            limit_seconds: realm::settings::MESSAGE_CONTENT_EDIT_LIMIT_SECONDS.get(snapshot)?,
            now,
        };
        messages::rules::check_may_edit_content(caller, &message, facts)?;
        let (recipient, audience) = edited_place(snapshot, caller, &message, channel.as_ref())?;
        let (sender_id, message_id) = (caller.user_id, message.id);
        let event = TypingEdit { op: params.op, sender_id, message_id, recipient };
        Ok::<_, ApiError>((event, audience))
    });
    send(event.await?, call).await
}

async fn send<E: Registered<Routing = ()>>(event: (E, Audience), call: Call<User>) -> ApiResult<Reply> {
    let (event, audience) = event;
    broadcast(&call.app.hub, &call.app.writer, event, audience).await?;
    Ok(Reply::ok())
}

fn direct(connection: &Connection, caller: &Caller, to: Option<Vec<UserId>>) -> ApiResult<(Place, Audience)> {
    let mut people = to.ok_or_else(|| ApiError::bad_request("Missing 'to' argument"))?;
    if people.is_empty() {
        return Err(ApiError::bad_request("Empty 'to' list"));
    }
    limits::check("recipients", people.len(), limits::MAX_RECIPIENTS)?;
    check_sends_typing(connection, caller, ConversationKind::Direct)?;
    let accessible = Accessible::to(connection, caller)?;
    if let Some(hidden) = people.iter().find(|user_id| !accessible.contains(**user_id)) {
        return Err(no_such_id(*hidden));
    }
    people.push(caller.user_id);
    people.sort_unstable();
    people.dedup();
    let recipients = people.iter().map(|user_id| person(connection, *user_id)).collect::<ApiResult<_>>()?;
    let receivers = receivers(connection, people.iter().copied(), &people)?;
    Ok((Place::Direct { recipients }, receivers))
}

fn channel(ctx: Ctx<'_>, stream_id: Option<StreamId>, topic: Option<String>) -> ApiResult<(Place, Audience)> {
    let stream_id = stream_id.ok_or_else(|| ApiError::bad_request("Missing 'stream_id' argument"))?;
    let topic = topic.ok_or_else(|| ApiError::bad_request("Missing topic"))?;
    check_sends_typing(&ctx, ctx.caller, ConversationKind::Channel)?;
    let stream = access::channels::find_for_content(ctx, stream_id)?;
    destination::check_may_post(ctx, &stream)?;
    let topic = destination::read_topic(&topic)?.as_str().to_owned();
    Ok((Place::Stream { stream_id, topic }, subscribers(&ctx, ctx.caller, stream_id)?))
}

fn edited_place(
    connection: &Connection,
    caller: &Caller,
    message: &MessageRow,
    channel: Option<&StreamRow>,
) -> ApiResult<(EditPlace, Audience)> {
    if let Some(stream) = channel {
        check_sends_typing(connection, caller, ConversationKind::Channel)?;
        let mut audience = subscribers(connection, caller, stream.stream_id)?;
        if !stream.has_public_history() {
            // An id and a topic must not reveal a message that its reader never received.
            audience = Audience::set(audience.bitmap() & users_who_received(connection, channel, message)?);
        }
        let place = EditPlace::Channel { channel_id: stream.stream_id, topic: message.subject.clone() };
        return Ok((place, audience));
    }
    check_sends_typing(connection, caller, ConversationKind::Direct)?;
    let user_ids = access::messages::direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
    let audience = receivers(connection, user_ids.iter().copied(), &user_ids)?;
    Ok((EditPlace::Direct { user_ids }, audience))
}

#[derive(Clone, Copy)]
enum ConversationKind {
    Direct,
    Channel,
}

/// Checks that the caller's settings allow sending typing notifications.
fn check_sends_typing(connection: &Connection, caller: &Caller, place: ConversationKind) -> ApiResult<()> {
    let (setting, kind) = match place {
        ConversationKind::Direct => (user_settings::SEND_PRIVATE_TYPING_NOTIFICATIONS, "direct"),
        ConversationKind::Channel => (user_settings::SEND_STREAM_TYPING_NOTIFICATIONS, "channel"),
    };
    if setting.get(connection, caller.user_id)? {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("User has disabled typing notifications for {kind} messages")))
}

/// The subscribers of a channel who receive typing notifications; none if the channel is large.
fn subscribers(connection: &Connection, caller: &Caller, stream_id: StreamId) -> ApiResult<Audience> {
    let subscribers = rows::channel::subscribers(connection, stream_id)?;
    if subscribers.len() > MAX_SUBSCRIBERS {
        return Ok(Audience::users([]));
    }
    receivers(connection, subscribers.into_iter().map(UserId::from), &[caller.user_id])
}

/// The active users among `user_ids` whose settings allow receiving typing notifications, and who can access all users
/// of the event. They include the caller, for their other clients.
fn receivers(
    connection: &Connection,
    user_ids: impl IntoIterator<Item = UserId>,
    people: &[UserId],
) -> ApiResult<Audience> {
    let users = user_ids.into_iter().filter_map(UserId::bit).collect();
    let mut receivers = Vec::new();
    for user_id in
        access::users::filter_by_access_to_all(connection, users, people)?.into_iter().map(UserId::from)
    {
        let is_active = rows::user::by_id(connection, user_id)?.is_some_and(|user| user.is_active);
        if is_active && user_settings::RECEIVES_TYPING_NOTIFICATIONS.get(connection, user_id)? {
            receivers.push(user_id);
        }
    }
    Ok(Audience::users(receivers))
}

/// The error for a user who does not exist, or whom the caller cannot access.
fn no_such_id(user_id: UserId) -> ApiError {
    ApiError::bad_request(format!("Invalid user ID {user_id}"))
}

fn person(connection: &Connection, user_id: UserId) -> ApiResult<Person> {
    let user = rows::user::by_id(connection, user_id)?;
    let user = user.ok_or_else(|| no_such_id(user_id))?;
    Ok(Person { user_id: user.user_id, email: user.email })
}

//! `GET` and `POST /scheduled_messages`.

use crate::api::scheduled_messages::record::{ScheduledMessageRecord, ScheduledMessageRow, Target};
use crate::api::scheduled_messages::{record, sql};
use crate::auth::Ctx;
use crate::domain::files::references;
use crate::domain::limits::{Accounts, MAX_OWNED_LENGTH, MAX_SCHEDULED_MESSAGES};
use crate::domain::messages;
use crate::domain::messages::destination;
use crate::domain::messages::destination::{Destination, MessageType};
use crate::domain::messages::rules::mentions;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::http::params::{NoParams, UnixTime};
use crate::http::{ApiError, ApiResult, Call, Caller, Read, Reply, User};
use crate::store::Tx;
use crate::types::{JsonOrText, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The reply to `GET /scheduled_messages`.
#[derive(Serialize)]
pub struct ScheduledMessages {
    /// The messages, in the order of delivery.
    pub scheduled_messages: Vec<ScheduledMessageRecord>,
}

/// `GET /scheduled_messages`: lists the caller's messages that are not sent yet, including failed ones, in the order of
/// delivery.
pub fn get_scheduled_messages(
    read: &Read<'_, User>,
    _params: NoParams,
) -> ApiResult<Reply<ScheduledMessages>> {
    let rows = sql::of_sender(read, read.caller.user_id)?;
    let records: Vec<_> = rows.iter().map(ScheduledMessageRecord::new).collect();
    Reply::data(&ScheduledMessages { scheduled_messages: records })
}

/// Parameters of `POST /scheduled_messages`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// `channel` for a channel message, `direct` for a direct message. `stream` and `private` are the older names.
    r#type: MessageType,
    /// For a channel message, the id of the channel. For a direct one, a list of user ids.
    to: JsonOrText,
    /// The content in Markdown. It must not be blank, and is cut to 10,000 characters.
    content: String,
    /// The topic, at most 60 characters; longer ones are cut. Required for channel messages, ignored for direct ones.
    #[serde(alias = "subject")]
    topic: Option<String>,
    /// When to send the message, in UNIX seconds; in the future.
    scheduled_delivery_timestamp: UnixTime,
    /// True if the message will be marked as read for the sender. By default true for clients that people use, except for
    /// messages to oneself.
    read_by_sender: Option<bool>,
}

/// The reply to `POST /scheduled_messages`.
#[derive(Serialize)]
pub struct CreatedScheduledMessage {
    /// The id of the scheduled message.
    pub scheduled_message_id: i64,
}

/// `POST /scheduled_messages`: schedules a message. A person can have at most 500.
pub async fn create_scheduled_message(
    call: Call<User>,
    params: CreateParams,
) -> ApiResult<Reply<CreatedScheduledMessage>> {
    let app = Arc::clone(&call.app);
    let now = app.clock.seconds();
    let scheduled_delivery_timestamp = params.scheduled_delivery_timestamp.seconds();
    if scheduled_delivery_timestamp <= now {
        return Err(record::not_in_the_future());
    }
    let to = only_ids(params.r#type, params.to)?;
    let (client, origin) = (call.info.client.clone(), call.info.origin.clone());
    let caller = Caller::clone(&call.caller);
    let content = messages::rules::content(&params.content)?;
    let text = content.clone();
    let (mut address, mut row, path_ids) =
        on_snapshot(&app, Some(caller.quota_owner()), &[&text], move |snapshot| {
            let topic = params.topic.as_deref();
            let address = destination::resolve(Ctx::new(snapshot, &caller, now), params.r#type, &to, topic)?;
            let rendered = render_for(Ctx::new(snapshot, &caller, now), &origin, &content)?;
            mentions::check(Ctx::new(snapshot, &caller, now), address.topic(), &rendered)?;
            let target = Target::of(&address);
            let is_note = matches!(&target, Target::Direct(people) if people.len() == 1);
            let read_by_sender = params
                .read_by_sender
                .unwrap_or_else(|| messages::rules::is_read_by_sender(&client) && !is_note);
            let row = ScheduledMessageRow {
                scheduled_message_id: 0,
                sender_id: caller.user_id,
                target,
                content,
                rendered_content: rendered.html,
                scheduled_delivery_timestamp,
                client,
                read_by_sender,
                origin,
                failed: false,
                sent: false,
            };
            Ok((address, row, rendered.attachment_path_ids))
        })
        .await?;
    let id = call
        .write(move |tx, caller| {
            destination::recheck(tx.ctx(caller), &mut address)?;
            let statement = "SELECT count(*) FROM scheduled_message
                 WHERE sender_id IN (SELECT value FROM json_each(?1)) AND NOT sent";
            let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
            accounts.check("scheduled messages", statement, 1, MAX_SCHEDULED_MESSAGES)?;
            row.scheduled_message_id = sql::insert(tx, &row)?;
            check_length(tx, caller.user_id)?;
            references::set_scheduled(tx, row.sender_id, row.scheduled_message_id, &path_ids)?;
            record::emit_added(tx, &row);
            tx.wake_tasks_after_commit();
            Ok(row.scheduled_message_id)
        })
        .await?;
    Reply::data(&CreatedScheduledMessage { scheduled_message_id: id })
}

/// Checks how long the scheduled messages of a user are together.
pub fn check_length(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let statement =
        "SELECT sum(octet_length(content) + octet_length(rendered_content)) FROM scheduled_message
         WHERE sender_id IN (SELECT value FROM json_each(?1)) AND NOT sent";
    Accounts::of(tx, user_id, tx.now())?.check_length("scheduled messages", statement, MAX_OWNED_LENGTH)
}

/// Checks that a destination consists of ids: names may belong to others when the message is sent. A list of one
/// channel id is allowed, as for messages that are sent immediately.
pub fn only_ids(kind: MessageType, to: JsonOrText) -> ApiResult<JsonOrText> {
    let is_id = |value: &Value| value.is_i64();
    let is_right = match (kind, &to) {
        (MessageType::Channel, JsonOrText::Json(Value::Array(list))) => {
            matches!(list.as_slice(), [one] if is_id(one))
        }
        (MessageType::Channel, JsonOrText::Json(one)) => is_id(one),
        (MessageType::Direct, JsonOrText::Json(Value::Array(list))) => {
            if !list.iter().all(is_id) {
                return Err(ApiError::bad_request("Recipient list may only contain user IDs"));
            }
            true
        }
        _ => false,
    };
    if is_right {
        return Ok(to);
    }
    Err(ApiError::bad_request(match kind {
        MessageType::Channel => "Invalid data type for channel ID",
        MessageType::Direct => "Invalid data type for recipients",
    }))
}

impl Target {
    /// The stored form of an address.
    pub fn of(address: &Destination) -> Self {
        match address {
            Destination::Channel(stream, topic) => Self::Channel(stream.stream_id, topic.as_str().to_owned()),
            Destination::Direct(people) => Self::Direct(people.clone()),
        }
    }
}

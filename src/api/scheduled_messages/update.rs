//! `PATCH` and `DELETE /scheduled_messages/{scheduled_message_id}` (spec, "edit a scheduled message").

use crate::api::scheduled_messages::create::{check_length, only_ids};
use crate::api::scheduled_messages::record::{ScheduledMessageRow, Target};
use crate::api::scheduled_messages::{record, sql};
use crate::auth::Ctx;
use crate::domain::files::references;
use crate::domain::messages;
use crate::domain::messages::destination;
use crate::domain::messages::destination::{Destination, MessageType};
use crate::domain::messages::rules::mentions;
use crate::domain::rendering::render_for;
use crate::http::params::UnixTime;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, RequestInfo, User};
use crate::store::Tx;
use crate::types::{JsonOrText, UserId};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use teamchat_markdown::Rendered;

/// Parameters of `PATCH /scheduled_messages/{scheduled_message_id}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The id of a message of the caller that is not sent yet.
    scheduled_message_id: i64,
    /// `channel` for a channel message, `direct` for a direct message. `stream` and `private` are the older names.
    r#type: Option<MessageType>,
    /// For a channel message, the id of the channel. For a direct one, a list of user ids. Required with `type`.
    to: Option<JsonOrText>,
    /// The new content in Markdown. It must not be blank, and is cut to 10,000 characters.
    content: Option<String>,
    /// The topic, at most 60 characters; longer ones are cut. Required with a `type` of `channel`, ignored for direct
    /// messages.
    #[serde(alias = "subject")]
    topic: Option<String>,
    /// When to send the message, in UNIX seconds; in the future. Required for a failed message.
    scheduled_delivery_timestamp: Option<UnixTime>,
}

impl UpdateParams {
    /// Checks everything that does not depend on the scheduled message.
    fn check(&self, now: i64) -> ApiResult<()> {
        let is_empty = self.r#type.is_none()
            && self.to.is_none()
            && self.content.is_none()
            && self.topic.is_none()
            && self.scheduled_delivery_timestamp.is_none();
        if is_empty {
            return Err(ApiError::bad_request("Nothing to change"));
        }
        if self.r#type.is_some() && self.to.is_none() {
            let msg = "Recipient required when updating type of scheduled message.";
            return Err(ApiError::bad_request(msg));
        }
        if self.r#type == Some(MessageType::Channel) && self.topic.is_none() {
            let msg = "Topic required when updating scheduled message type to channel.";
            return Err(ApiError::bad_request(msg));
        }
        if self.scheduled_delivery_timestamp.is_some_and(|time| time.seconds() <= now) {
            return Err(record::not_in_the_future());
        }
        Ok(())
    }

    /// Resolves and checks the new destination; `None` if only the time changes.
    fn address(&mut self, ctx: Ctx<'_>, target: &Target) -> ApiResult<Option<Destination>> {
        if self.r#type.is_none() && self.to.is_none() && self.content.is_none() && self.topic.is_none() {
            return Ok(None);
        }
        let (kind, to, topic) = match target {
            Target::Channel(stream_id, topic) => (MessageType::Channel, json!(stream_id), topic.as_str()),
            Target::Direct(people) => (MessageType::Direct, json!(people), ""),
        };
        let kind = self.r#type.unwrap_or(kind);
        let to = match self.to.take() {
            Some(to) => only_ids(kind, to)?,
            None => JsonOrText::Json(to),
        };
        let topic = self.topic.as_deref().unwrap_or(topic);
        Ok(Some(destination::resolve(ctx, kind, &to, Some(topic))?))
    }
}

/// `PATCH /scheduled_messages/{scheduled_message_id}`: changes a scheduled message. Absent parameters keep their
/// values.
pub async fn update_scheduled_message(call: Call<User>, params: UpdateParams) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let now = app.clock.seconds();
    params.check(now)?;
    let (caller, origin) = (Caller::clone(&call.caller), info.origin.clone());
    let (id, content) = (params.scheduled_message_id, params.content.clone());
    // The stored content may be long.
    let rendering = app.read_in(&app.pools.rendering, Some(caller.quota_owner()), move |snapshot| {
        let row = find(snapshot, &caller, id)?;
        let content = match &content {
            Some(content) => messages::rules::content(content)?,
            None => row.content,
        };
        let rendered = render_for(Ctx::new(snapshot, &caller, now), &origin, &content)?;
        Ok((content, rendered))
    });
    let rendering = rendering.await?;
    call.write(move |tx, caller| update(tx, caller, params, rendering, info)).await?;
    Ok(Reply::ok())
}

fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mut params: UpdateParams,
    (content, rendered): (String, Rendered),
    info: RequestInfo,
) -> ApiResult<()> {
    let mut row = find(tx, caller, params.scheduled_message_id)?;
    if row.failed && params.scheduled_delivery_timestamp.is_none() {
        return Err(record::not_in_the_future());
    }
    if let Some(address) = params.address(tx.ctx(caller), &row.target)? {
        mentions::check(tx.ctx(caller), address.topic(), &rendered)?;
        row.target = Target::of(&address);
    }
    if params.content.is_some() {
        let path_ids = &rendered.attachment_path_ids;
        references::set_scheduled(tx, row.sender_id, row.scheduled_message_id, path_ids)?;
        row.content = content;
        row.rendered_content = rendered.html;
    }
    if let Some(time) = params.scheduled_delivery_timestamp {
        row.scheduled_delivery_timestamp = time.seconds();
    }
    row.client = info.client;
    row.origin = info.origin;
    row.failed = false;
    sql::update(tx, &row)?;
    check_length(tx, row.sender_id)?;
    record::emit_changed(tx, &row);
    tx.wake_tasks_after_commit();
    Ok(())
}

/// Parameters of `DELETE /scheduled_messages/{scheduled_message_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of a message of the caller that is not sent yet.
    scheduled_message_id: i64,
}

/// `DELETE /scheduled_messages/{scheduled_message_id}`: deletes a scheduled message, which is then not sent.
pub fn delete_scheduled_message(tx: &mut Tx<'_>, caller: &User, params: DeleteParams) -> ApiResult<Reply> {
    let row = find(tx, caller, params.scheduled_message_id)?;
    references::release_scheduled(tx, row.scheduled_message_id)?;
    sql::delete(tx, row.scheduled_message_id)?;
    record::emit_removed(tx, &row);
    Ok(Reply::ok())
}

/// Deletes the scheduled messages of a user, with events, and returns their number.
pub fn purge(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let rows = sql::of_sender(tx, user_id)?;
    for row in &rows {
        references::release_scheduled(tx, row.scheduled_message_id)?;
        sql::delete(tx, row.scheduled_message_id)?;
        record::emit_removed(tx, row);
    }
    Ok(rows.len())
}

/// Loads a message of the caller that is not sent yet. Messages of other users do not exist for the caller.
fn find(connection: &Connection, caller: &Caller, id: i64) -> ApiResult<ScheduledMessageRow> {
    let row = sql::by_id(connection, id)?
        .filter(|row| row.sender_id == caller.user_id)
        .ok_or_else(record::does_not_exist)?;
    if row.sent {
        return Err(ApiError::bad_request("Scheduled message was already sent"));
    }
    Ok(row)
}

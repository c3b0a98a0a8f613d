//! `DELETE /messages/{message_id}`.

use crate::domain::access::{channels, user_rows as users};
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::realm_settings::{RealmGroup, is_held};
use crate::domain::messages::rules::DeleteFacts;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{delete, rules};
use crate::domain::realm;
use crate::http::{ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{MessageId, StreamId};
use rusqlite::Connection;
use serde::Deserialize;

/// Parameters of `DELETE /messages/{message_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// Which message.
    message_id: MessageId,
}

/// `DELETE /messages/{message_id}`: removes a message for everybody.
pub fn delete_message(tx: &mut Tx<'_>, caller: &User, params: DeleteParams) -> ApiResult<Reply> {
    let (message, stream) = MessageViewer::new(tx, caller, tx.now()).find_to_change(params.message_id)?;
    let stream_id = stream.as_ref().map(|stream| stream.stream_id);
    let sender = users::by_id(tx, message.sender_id)?;
    let owns_sender = sender.is_some_and(|sender| sender.bot_owner_id == Some(caller.user_id));
    let (may_delete_any, may_delete_own) = permissions(tx, caller, stream_id, tx.now())?;
    rules::check_may_delete(DeleteFacts {
        may_delete_any,
        may_delete_own,
        is_own: message.sender_id == caller.user_id || owns_sender,
        limit_seconds: realm::settings::MESSAGE_CONTENT_DELETE_LIMIT_SECONDS.get(tx)?,
        age: tx.now() - message.timestamp,
    })?;
    if message.sender_id != caller.user_id {
        let (id, sender_id) = (message.id.0, message.sender_id.0);
        tracing::info!(id, sender_id, "a message of somebody else was deleted");
    }
    match &stream {
        Some(stream) => {
            let deleter = Some(caller.user_id);
            delete::from_channel(tx, stream, &message.subject, &[message.id], deleter)?;
        }
        None => delete::direct(tx, message.recipient_id, &[message.id])?,
    }
    Ok(Reply::ok())
}

/// Whether the caller may delete any message, and whether their own, in a channel or a direct conversation.
fn permissions(
    connection: &Connection,
    caller: &Caller,
    stream_id: Option<StreamId>,
    now: i64,
) -> ApiResult<(bool, bool)> {
    let membership = Membership::of(connection, caller.user_id, now)?;
    let held = |organization: RealmGroup, channel: StreamSetting| -> ApiResult<bool> {
        if is_held(connection, caller, &membership, organization)? {
            return Ok(true);
        }
        match stream_id {
            Some(stream_id) => channels::has_permission(connection, caller, &membership, stream_id, channel),
            None => Ok(false),
        }
    };
    Ok((
        held(RealmGroup::CanDeleteAnyMessage, StreamSetting::CanDeleteAnyMessage)?,
        held(RealmGroup::CanDeleteOwnMessage, StreamSetting::CanDeleteOwnMessage)?,
    ))
}

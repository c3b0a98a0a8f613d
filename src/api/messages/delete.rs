//! `DELETE /messages/{message_id}`.

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::is_held;
use crate::domain::audit::{Action, Entry};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::messages::delete;
use crate::domain::messages::rules::DeleteFacts;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{messages, realm, rows};
use crate::http::{ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::MessageId;
use serde::Deserialize;
use serde_json::json;

/// Parameters of `DELETE /messages/{message_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of the message to delete.
    message_id: MessageId,
}

/// `DELETE /messages/{message_id}`: deletes a message for all users. Allowed by the permissions to delete any message
/// or own ones, the latter within the organization's time limit.
pub fn delete_message(tx: &mut Tx<'_>, caller: &User, params: DeleteParams) -> ApiResult<Reply> {
    let (message, stream) = MessageViewer::new(tx.ctx(caller)).find_to_change(params.message_id)?;
    let sender = rows::user::by_id(tx, message.sender_id)?;
    let owns_sender = sender.is_some_and(|sender| sender.bot_owner_id == Some(caller.user_id));
    let (may_delete_any, may_delete_own) = permissions(tx.ctx(caller), stream.as_ref())?;
    messages::rules::check_may_delete(DeleteFacts {
        may_delete_any,
        may_delete_own,
        is_own: message.sender_id == caller.user_id || owns_sender,
        limit_seconds: realm::settings::MESSAGE_CONTENT_DELETE_LIMIT_SECONDS.get(tx)?,
        age: tx.now() - message.timestamp,
    })?;
    if message.sender_id != caller.user_id {
        let stream_id = stream.as_ref().map(|stream| stream.stream_id);
        let facts = json!({ "sender_id": message.sender_id, "stream_id": stream_id });
        tx.audit(Entry::new(Action::MessageDeleted, message.id).before(facts))?;
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

/// Returns the caller's permissions to delete any message, and their own, in a channel or a direct conversation.
fn permissions(ctx: Ctx<'_>, stream: Option<&StreamRow>) -> ApiResult<(bool, bool)> {
    let viewer = Viewer::new(ctx);
    let held = |organization: RealmGroup, channel: StreamSetting| -> ApiResult<bool> {
        Ok(is_held(&viewer, organization)?
            || stream.map_or(Ok(false), |stream| viewer.has_permission(stream, channel))?)
    };
    Ok((
        held(RealmGroup::CanDeleteAnyMessage, StreamSetting::CanDeleteAnyMessage)?,
        held(RealmGroup::CanDeleteOwnMessage, StreamSetting::CanDeleteOwnMessage)?,
    ))
}

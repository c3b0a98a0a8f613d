//! `GET /messages/{message_id}/read_receipts`.

use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{read_state, receipts};
use crate::domain::{access, muted_users, realm, rows, user_settings};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::{MessageId, UserId};
use serde::{Deserialize, Serialize};

/// Parameters of `GET /messages/{message_id}/read_receipts`.
#[derive(Deserialize)]
pub struct ReadReceiptsParams {
    /// The id of the message.
    message_id: MessageId,
}

/// The reply to `GET /messages/{message_id}/read_receipts`.
#[derive(Serialize)]
pub struct ReadReceipts {
    /// User ids, ascending.
    pub user_ids: Vec<UserId>,
}

/// `GET /messages/{message_id}/read_receipts`: lists the active users who have read a message. Excludes the sender,
/// users who do not send read receipts, users whom the caller cannot access or has muted, and users who muted the caller.
pub fn get_read_receipts(
    read: &Read<'_, User>,
    params: ReadReceiptsParams,
) -> ApiResult<Reply<ReadReceipts>> {
    let viewer = MessageViewer::new(read.ctx());
    let message = viewer.find(params.message_id)?;
    if !realm::settings::ENABLE_READ_RECEIPTS.get(read)? {
        return Err(ApiError::bad_request("Read receipts are disabled in this organization."));
    }
    let conversation = viewer.conversation(message.recipient_id)?;
    let readers = receipts::users_who_received(read, conversation.stream.as_ref(), &message)?
        & read_state::users_who_read(read, message.recipient_id, message.id)?;
    let estranged = muted_users::list_muted_either_way(read, read.caller.user_id)?;
    let mut user_ids = Vec::new();
    let accessible = access::users::Accessible::to(read, read.caller)?;
    for user_id in readers.into_iter().map(UserId::from) {
        if user_id == message.sender_id || estranged.contains(&user_id) {
            continue;
        }
        if accessible.contains(user_id)
            && rows::user::by_id(read, user_id)?.is_some_and(|user| user.is_active)
            && user_settings::SEND_READ_RECEIPTS.get(read, user_id)?
        {
            user_ids.push(user_id);
        }
    }
    Reply::data(&ReadReceipts { user_ids })
}

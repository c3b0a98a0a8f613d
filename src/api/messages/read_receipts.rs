//! `GET /messages/{message_id}/read_receipts`: who has read a message and lets it be known.

use crate::domain::access::user_rows;
use crate::domain::messages::access::Sight;
use crate::domain::messages::{receivers, unread};
use crate::domain::{access, muted_users, realm, user_settings};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::{MessageId, UserId};
use serde::Deserialize;

/// Parameters of `GET /messages/{message_id}/read_receipts`.
#[derive(Deserialize)]
pub struct ReadReceiptsParams {
    /// Which message.
    message_id: MessageId,
}

/// `GET /messages/{message_id}/read_receipts`: the users who received the message and have read it, ascending; never
/// its sender, who does not send read receipts or cannot be accessed, nor who has muted the caller or is muted by
/// them.
pub fn get_read_receipts(read: &Read<'_, User>, params: ReadReceiptsParams) -> ApiResult<Reply> {
    let sight = Sight::new(read, read.caller, read.app.clock.seconds());
    let message = sight.find(params.message_id)?;
    if !realm::settings::ENABLE_READ_RECEIPTS.get(read)? {
        return Err(ApiError::bad_request("Read receipts are disabled in this organization."));
    }
    let view = sight.view(message.recipient_id)?;
    let readers = receivers::who_received(read, view.stream.as_ref(), &message)?
        & unread::who_read(read, message.recipient_id, message.id)?;
    let estranged = muted_users::list_muted_either_way(read, read.caller.user_id)?;
    let mut user_ids = Vec::new();
    let accessible = access::users::Accessible::to(read, read.caller)?;
    for user_id in readers.into_iter().map(UserId::from) {
        if user_id == message.sender_id || estranged.contains(&user_id) {
            continue;
        }
        if accessible.contains(user_id)
            && user_rows::by_id(read, user_id)?.is_some_and(|user| user.is_active)
            && user_settings::SEND_READ_RECEIPTS.get(read, user_id)?
        {
            user_ids.push(user_id);
        }
    }
    Reply::field("user_ids", &user_ids)
}

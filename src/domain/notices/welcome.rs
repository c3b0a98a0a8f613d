//! Messages of the Welcome Bot to new users (feature level 416).

use crate::domain::notices;
use crate::domain::realm::settings;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, UserId};

/// Sends the organization's welcome text to a new user, if there is one.
pub fn greet(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let text: String = settings::WELCOME_MESSAGE_CUSTOM_TEXT.get(tx)?;
    if !text.is_empty() {
        send(tx, user_id, text)?;
    }
    Ok(())
}

/// Sends a text to a user as the Welcome Bot.
pub fn send(tx: &mut Tx<'_>, user_id: UserId, text: String) -> ApiResult<MessageId> {
    notices::send_as_welcome_bot(tx, user_id, text)
}

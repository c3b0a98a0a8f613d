//! `GET /streams/{stream_id}/email_address`: the email address of a channel (feature levels 226 and 335).
//!
//! This server receives no mail, so no channel has an address. The published server answers with the empty string where its
//! operator set up no gateway for mail; clients then show none.

use crate::domain::{access, notices, rows, users};
use crate::http::{ApiError, ApiResult, Caller, Read, Reply, User};
use crate::types::{StreamId, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Parameters of `GET /streams/{stream_id}/email_address`.
#[derive(Deserialize)]
pub struct EmailParams {
    /// A channel whose messages the caller may read.
    stream_id: StreamId,
    /// The sender of the messages: the caller, a bot of theirs, or the gateway's bot, which is the default.
    sender_id: Option<UserId>,
}

/// The email address of a channel.
#[derive(Serialize)]
pub struct EmailAddress {
    /// Always empty: the server takes no mail.
    pub email: String,
}

/// `GET /streams/{stream_id}/email_address`: returns an empty `email`.
pub fn email_address(read: &Read<'_, User>, params: EmailParams) -> ApiResult<Reply<EmailAddress>> {
    access::channels::find_for_content(read.ctx(), params.stream_id)?;
    check_sender(read, read.caller, params.sender_id)?;
    Reply::data(&EmailAddress { email: String::new() })
}

fn check_sender(connection: &Connection, caller: &Caller, sender_id: Option<UserId>) -> ApiResult<()> {
    let Some(sender_id) = sender_id.filter(|sender_id| *sender_id != caller.user_id) else { return Ok(()) };
    let gateway = users::by_delivery_email(connection, notices::EMAIL_GATEWAY)?;
    if gateway.is_some_and(|gateway| gateway.user_id == sender_id) {
        return Ok(());
    }
    let bot = rows::user::by_id(connection, sender_id)?.filter(|user| user.is_bot() && !user.is_system_bot);
    let bot = bot.ok_or_else(|| ApiError::bad_request("No such bot"))?;
    if bot.bot_owner_id == Some(caller.user_id) || caller.role.is_administrator() {
        Ok(())
    } else {
        Err(ApiError::insufficient_permission())
    }
}

//! `GET /streams/{stream_id}/email_address`: the email address of a channel (feature levels 226 and 335).

use crate::auth::Ctx;
use crate::domain::{access, mail_addresses, mail_in};
use crate::http::{ApiResult, Call, Caller, Reply, User};
use crate::types::{StreamId, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Parameters of `GET /streams/{stream_id}/email_address`.
#[derive(Deserialize)]
pub struct EmailParams {
    /// The id of a channel whose messages the caller may read.
    stream_id: StreamId,
    /// The id of the sender of the messages: the caller, a bot of the caller, or the email gateway's bot, which is the
    /// default.
    sender_id: Option<UserId>,
}

/// The reply to `GET /streams/{stream_id}/email_address`.
#[derive(Serialize)]
pub struct EmailAddress {
    /// The address, which is a secret; empty if the server receives no mail.
    pub email: String,
}

/// `GET /streams/{stream_id}/email_address`: returns the caller's address to send email to a channel. It is created at
/// the first request.
pub async fn email_address(call: Call<User>, params: EmailParams) -> ApiResult<Reply<EmailAddress>> {
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let found = call.app.readers.read(move |snapshot| Found::load(Ctx::new(snapshot, &caller, now), &params));
    let found = found.await?;
    let Some(pattern) = call.app.options.mail_pattern.clone() else {
        return Reply::data(&EmailAddress { email: String::new() });
    };
    let token = match found.token {
        Some(token) => token,
        None => {
            call.app.check_disk()?;
            let (stream_id, sender_id) = (found.stream_id, found.sender_id);
            call.write(move |tx, caller| {
                Ok(mail_addresses::channel_token_or_new(tx, stream_id, caller.user_id, sender_id)?)
            })
            .await?
        }
    };
    Reply::data(&EmailAddress { email: mail_addresses::channel_address(&pattern, &found.name, &token) })
}

/// A channel and a sender that the caller may use.
struct Found {
    stream_id: StreamId,
    name: String,
    sender_id: UserId,
    /// The token of the address, if it was made before.
    token: Option<String>,
}

impl Found {
    fn load(ctx: Ctx<'_>, params: &EmailParams) -> ApiResult<Self> {
        let stream = access::channels::find_for_content(ctx, params.stream_id)?;
        let sender_id = sender(&ctx, ctx.caller, params.sender_id)?;
        let token = mail_addresses::channel_token(&ctx, stream.stream_id, ctx.caller.user_id, sender_id)?;
        Ok(Self { stream_id: stream.stream_id, name: stream.name, sender_id, token })
    }
}

/// The sender of the messages. Fails if the caller may not send as this user.
fn sender(connection: &Connection, caller: &Caller, sender_id: Option<UserId>) -> ApiResult<UserId> {
    let gateway = mail_in::gateway(connection)?;
    match sender_id {
        None => Ok(gateway),
        Some(sender_id) if sender_id == gateway => Ok(gateway),
        Some(sender_id) => mail_in::check_may_send_as(connection, caller, sender_id).map(|()| sender_id),
    }
}

//! `GET /streams/{stream_id}/email_address`: the email address of a channel (feature levels 226 and 335).
//!
//! The address is for a gateway that forwards mail; this server does not receive mail itself. It is created at the
//! first request and stays the same for each pair of caller and sender.

use crate::auth::Ctx;
use crate::domain::access::{channels, user_rows};
use crate::domain::notices;
use crate::domain::users::sql as users;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use rand::RngExt;
use rusqlite::OptionalExtension;
use serde::Deserialize;

/// Parameters of `GET /streams/{stream_id}/email_address`.
#[derive(Deserialize)]
pub struct EmailParams {
    /// A channel whose messages the caller may read.
    stream_id: StreamId,
    /// The sender of the messages: the caller, a bot of theirs, or the gateway's bot, which is the default.
    sender_id: Option<UserId>,
}

/// `GET /streams/{stream_id}/email_address`: returns the `email` of a channel.
pub async fn email_address(call: Call<User>, params: EmailParams) -> ApiResult<Reply> {
    let host = host_of(&call.info.origin).to_owned();
    let email = call.write(move |tx, caller| {
        let stream = channels::find_for_content(Ctx::in_job(tx, caller), params.stream_id)?;
        let sender_id = resolve_sender(tx, caller, params.sender_id)?;
        let token = load_or_insert_token(tx, stream.stream_id, caller.user_id, sender_id)?;
        Ok(address(&stream.name, &token, &host))
    });
    Reply::field("email", &email.await?)
}

fn resolve_sender(tx: &Tx<'_>, caller: &Caller, sender_id: Option<UserId>) -> ApiResult<UserId> {
    let gateway = users::by_delivery_email(tx, notices::EMAIL_GATEWAY)?
        .ok_or_else(|| ApiError::internal("the organization has no email gateway bot"))?;
    let Some(sender_id) = sender_id.filter(|sender_id| *sender_id != gateway.user_id) else {
        return Ok(gateway.user_id);
    };
    if sender_id == caller.user_id {
        return Ok(sender_id);
    }
    let bot = user_rows::by_id(tx, sender_id)?.filter(|user| user.is_bot() && !user.is_system_bot);
    let bot = bot.ok_or_else(|| ApiError::bad_request("No such bot"))?;
    if bot.bot_owner_id == Some(caller.user_id) || caller.role.is_administrator() {
        Ok(sender_id)
    } else {
        Err(ApiError::insufficient_permission())
    }
}

/// The secret part of an address, created when there is none yet.
fn load_or_insert_token(
    tx: &Tx<'_>,
    stream_id: StreamId,
    creator_id: UserId,
    sender_id: UserId,
) -> ApiResult<String> {
    let stored = tx
        .prepare_cached(
            "SELECT token FROM channel_email_address WHERE stream_id = ?1 AND creator_id = ?2 AND sender_id = ?3",
        )?
        .query_row((stream_id, creator_id, sender_id), |row| row.get(0))
        .optional()?;
    if let Some(token) = stored {
        return Ok(token);
    }
    let token = format!("{:032x}", rand::rng().random::<u128>());
    tx.prepare_cached(
        "INSERT INTO channel_email_address (stream_id, creator_id, sender_id, token) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((stream_id, creator_id, sender_id, &token))?;
    Ok(token)
}

fn address(name: &str, token: &str, host: &str) -> String {
    let name = name_in_address(name);
    let dot = if name.is_empty() { "" } else { "." };
    format!("{name}{dot}{token}.show-sender@{host}")
}

/// The channel's name as a readable part of the address, with hyphens between words. Empty if the name has letters that
/// an address cannot have.
fn name_in_address(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | '0'..='9' | '_' => slug.push(character),
            'A'..='Z' => slug.push(character.to_ascii_lowercase()),
            other if other.is_alphanumeric() => return String::new(),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let is_mangled = slug.starts_with(['-', '_']) || slug.ends_with(['-', '_']);
    if is_mangled { String::new() } else { slug }
}

/// The host of a URL, without the port.
fn host_of(origin: &str) -> &str {
    let (_, authority) = origin.split_once("://").unwrap_or(("", origin));
    let authority = authority.split('/').next().unwrap_or(authority);
    match authority.rsplit_once(':') {
        // In [::1] the last colon does not precede a port.
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_addresses_as_far_as_they_go() {
        let cases = [
            ("Verona", "verona."),
            ("New  York & more", "new-york-more."),
            ("snake_case-2", "snake_case-2."),
            ("Zürich", ""),
            ("what?", ""),
            ("_x", ""),
            ("!!", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(
                address(name, "0f", "chat.example.com"),
                format!("{expected}0f.show-sender@chat.example.com")
            );
        }
    }

    #[test]
    fn hosts_have_no_ports() {
        let cases = [
            ("https://chat.example.com", "chat.example.com"),
            ("http://localhost:9991", "localhost"),
            ("http://127.0.0.1:80/", "127.0.0.1"),
            ("http://[::1]:80", "[::1]"),
            ("http://[::1]", "[::1]"),
        ];
        for (origin, expected) in cases {
            assert_eq!(host_of(origin), expected, "{origin}");
        }
    }
}

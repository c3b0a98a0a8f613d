//! `GET /streams/{stream_id}/email_address`: where mail to a channel arrives (feature levels 226 and 335).
//!
//! The address is for a gateway that hands mail on; this server does not take mail itself. It is made when it is first
//! asked for, and stays the same for who asked and whom it shows as the sender.

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
    /// The channel.
    stream_id: StreamId,
    /// Who is shown as the sender: the caller, a bot of theirs, or the gateway's bot.
    #[serde(default)]
    sender_id: Option<UserId>,
}

/// `GET /streams/{stream_id}/email_address`: the `email` of a channel that the caller may read.
pub async fn email_address(call: Call<User>, params: EmailParams) -> ApiResult<Reply> {
    let host = host_of(&call.info.origin).to_owned();
    let email = call.write(move |tx, caller| {
        let stream = channels::find_for_content(Ctx::in_job(tx, caller), params.stream_id)?;
        let sender_id = sender(tx, caller, params.sender_id)?;
        let token = token(tx, stream.stream_id, caller.user_id, sender_id)?;
        Ok(address(&stream.name, &token, &host))
    });
    Reply::field("email", &email.await?)
}

fn sender(tx: &Tx<'_>, caller: &Caller, sender_id: Option<UserId>) -> ApiResult<UserId> {
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

/// The token of an address; a new one if nobody asked before.
fn token(tx: &Tx<'_>, stream_id: StreamId, creator_id: UserId, sender_id: UserId) -> ApiResult<String> {
    let known = tx
        .prepare_cached(
            "SELECT token FROM channel_email_address WHERE stream_id = ?1 AND creator_id = ?2 AND sender_id = ?3",
        )?
        .query_row((stream_id, creator_id, sender_id), |row| row.get(0))
        .optional()?;
    if let Some(token) = known {
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

/// The channel's name as far as an address can have it, for people who look at the address: with a hyphen for what
/// stands between its words. A name that would lose letters is left out.
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

/// The host of an address of the web, without the port.
fn host_of(origin: &str) -> &str {
    let (_, place) = origin.split_once("://").unwrap_or(("", origin));
    let place = place.split('/').next().unwrap_or(place);
    match place.rsplit_once(':') {
        // What stands behind the colon of [::1] is no port.
        Some((host, port)) if !port.ends_with(']') => host,
        _ => place,
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

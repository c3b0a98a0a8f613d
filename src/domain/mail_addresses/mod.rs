//! Addresses at which the server receives mail: those of channels, and those at which people answer mails about messages.
//!
//! The secret part of an address is a token of 32 hexadecimal digits. The address of a channel also has the channel's name,
//! for people, and options ([`parts`]).

pub mod parts;

use crate::auth::credentials::digest;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{MailPattern, MessageId, StreamId, UserId, hex};
use parts::{Parts, SHOW_SENDER};
use rand::RngExt;
use rusqlite::{Connection, OptionalExtension};

/// The beginning of tokens at which mails are answered.
const REPLY_PREFIX: &str = "mm";

/// The hexadecimal digits of a token: 128 bits.
const TOKEN_DIGITS: usize = 32;

/// The owner of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTarget {
    /// A channel, in which mails become messages.
    Channel {
        /// The channel to which the messages are sent.
        stream_id: StreamId,
        /// The user who asked for the address.
        asker_id: UserId,
        /// The sender of the messages.
        sender_id: UserId,
    },
    /// The conversation of a message, in which a user answers.
    Reply {
        /// The person who was sent the address, and whose answer it takes.
        user_id: UserId,
        /// A message of the conversation to which the answer goes.
        message_id: MessageId,
    },
}

/// A new token: it cannot be guessed.
fn new_token() -> String {
    let bits: [u8; TOKEN_DIGITS / 2] = rand::rng().random();
    hex(&bits)
}

/// True if a text has the form of a token.
fn is_token(text: &str) -> bool {
    text.len() == TOKEN_DIGITS
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// Returns what an address with these parts belongs to; `None` if no address has this token. A token is looked up by a key of
/// an index, after its form was checked.
pub fn find(connection: &Connection, parts: &Parts) -> rusqlite::Result<Option<MailTarget>> {
    if let Some(token) = parts.token.strip_prefix(REPLY_PREFIX).filter(|token| is_token(token)) {
        return connection
            .prepare_cached("SELECT user_id, message_id FROM reply_email WHERE digest = ?1")?
            .query_row([digest(token)], |row| {
                Ok(MailTarget::Reply { user_id: row.get(0)?, message_id: row.get(1)? })
            })
            .optional();
    }
    if !is_token(&parts.token) {
        return Ok(None);
    }
    connection
        .prepare_cached("SELECT stream_id, asker_id, sender_id FROM channel_email WHERE token = ?1")?
        .query_row([&parts.token], |row| {
            Ok(MailTarget::Channel { stream_id: row.get(0)?, asker_id: row.get(1)?, sender_id: row.get(2)? })
        })
        .optional()
}

/// The token of a channel's address, if the user has asked for it before.
pub fn channel_token(
    connection: &Connection,
    stream_id: StreamId,
    asker_id: UserId,
    sender_id: UserId,
) -> rusqlite::Result<Option<String>> {
    let statement =
        "SELECT token FROM channel_email WHERE stream_id = ?1 AND asker_id = ?2 AND sender_id = ?3";
    connection
        .prepare_cached(statement)?
        .query_row((stream_id, asker_id, sender_id), |row| row.get(0))
        .optional()
}

/// The token of a channel's address, which is made if there is none.
pub fn channel_token_or_new(
    tx: &Tx<'_>,
    stream_id: StreamId,
    asker_id: UserId,
    sender_id: UserId,
) -> rusqlite::Result<String> {
    if let Some(token) = channel_token(tx, stream_id, asker_id, sender_id)? {
        return Ok(token);
    }
    let token = new_token();
    let statement =
        "INSERT INTO channel_email (token, stream_id, asker_id, sender_id) VALUES (?1, ?2, ?3, ?4)";
    tx.execute_cached(statement, (&token, stream_id, asker_id, sender_id))?;
    Ok(token)
}

/// The address of a channel, with the option that names the sender of each mail.
pub fn channel_address(pattern: &MailPattern, name: &str, token: &str) -> String {
    let rest = format!("{token}.{SHOW_SENDER}");
    let room = pattern.room().saturating_sub(rest.len() + 1);
    match parts::slug(name, room) {
        Some(slug) => pattern.address(&format!("{slug}.{rest}")),
        None => pattern.address(&rest),
    }
}

/// The address at which a user answers the conversation of a message by mail; `None` if the server receives no mail. Only the
/// digest of the token is stored, so each call makes another address: a mail has one.
pub fn reply_address(
    tx: &mut Tx<'_>,
    pattern: Option<&MailPattern>,
    user_id: UserId,
    message_id: MessageId,
) -> ApiResult<Option<String>> {
    let Some(pattern) = pattern else { return Ok(None) };
    let token = new_token();
    let statement = "INSERT INTO reply_email (digest, user_id, message_id) VALUES (?1, ?2, ?3)";
    tx.execute_cached(statement, (digest(&token), user_id, message_id))?;
    Ok(Some(pattern.address(&format!("{REPLY_PREFIX}{token}"))))
}

/// Counts a reply that arrived by mail at an address.
pub fn count_use(tx: &Tx<'_>, parts: &Parts) -> rusqlite::Result<()> {
    let Some(token) = parts.token.strip_prefix(REPLY_PREFIX) else { return Ok(()) };
    tx.execute_cached("UPDATE reply_email SET times_used = times_used + 1 WHERE digest = ?1", [digest(token)])
}

/// Deletes the addresses of channels that a user requested with the user or a bot as the sender.
pub fn forget_with_sender(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    tx.execute_cached(
        "DELETE FROM channel_email
         WHERE asker_id = ?1 AND NOT (SELECT is_system_bot FROM user WHERE user_id = sender_id)",
        [user_id],
    )
}

/// Deletes all addresses of channels that a user requested. An address is a right to post that clients do not list, so it ends
/// with the keys of the user. Returns whether there were any.
pub fn forget_channels(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<bool> {
    let statement = "DELETE FROM channel_email WHERE asker_id = ?1";
    Ok(tx.prepare_cached(statement)?.execute([user_id])? > 0)
}

/// Deletes the addresses at which a user answers mails.
pub fn forget_replies(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM reply_email WHERE user_id = ?1", [user_id])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_hexadecimal_digits() {
        let token = new_token();
        assert!(is_token(&token), "{token}");
        assert_ne!(new_token(), token);
        for text in [
            "",
            &token[1..],
            &format!("{token}0"),
            &token.replace(['0', '1', '2', '3'], "G"),
            &"G".repeat(32),
        ] {
            assert!(text == token || !is_token(text), "{text}");
        }
    }

    #[test]
    fn addresses_of_channels_fit_into_their_limit() {
        let pattern: MailPattern = "%s@mail.example.com".parse().unwrap();
        let token = "0123456789abcdef".repeat(2);
        for (name, expected) in [
            ("Design", format!("design.{token}.show-sender@mail.example.com")),
            ("日本語", format!("{token}.show-sender@mail.example.com")),
            (&"long name ".repeat(6), format!("long-name-long-name.{token}.show-sender@mail.example.com")),
        ] {
            let address = channel_address(&pattern, name, &token);
            assert_eq!(address, expected);
            assert!(address.find('@').unwrap() <= 64);
            let part = pattern.part_of(&address).unwrap();
            assert_eq!(Parts::of(part).token, token);
        }
    }
}

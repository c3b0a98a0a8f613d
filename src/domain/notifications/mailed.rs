//! The messages in emails that wait for the mail server: whether they are still as the email shows them.

use crate::auth::Ctx;
use crate::domain::mail::Basis;
use crate::domain::messages::read_state;
use crate::domain::messages::read_state::read_set::ReadSet;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notifications::MAIL;
use crate::domain::realm::settings::{DIGEST_EMAILS_ENABLED, MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS};
use crate::domain::user_settings::{ENABLE_DIGEST_EMAILS, MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS};
use crate::domain::{messages, realm, rows};
use crate::error::ApiResult;
use crate::types::{MessageId, RecipientId, UserId, hex};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

/// Returns the basis of an email to a user that is composed now: missed messages (none in a digest), and others that are shown.
/// `None` if the user gets no such email.
pub fn basis(
    connection: &Connection,
    user_id: UserId,
    missed: Vec<MessageId>,
    others: Vec<MessageId>,
    now: i64,
) -> ApiResult<Option<Basis>> {
    let state = state(connection, user_id, &missed, &others, now)?;
    Ok(state.map(|state| Basis { missed, others, state }))
}

/// True if an email would be the same now.
pub fn is_current(connection: &Connection, user_id: UserId, basis: &Basis, now: i64) -> ApiResult<bool> {
    let state = state(connection, user_id, &basis.missed, &basis.others, now)?;
    Ok(state.is_some_and(|state| state == basis.state))
}

/// A digest of the user's address, of the texts and places of messages, and of whether emails show them. `None` if the user gets
/// no such email, may not read one of the messages, or has read one of the missed ones.
fn state(
    connection: &Connection,
    user_id: UserId,
    missed: &[MessageId],
    others: &[MessageId],
    now: i64,
) -> ApiResult<Option<String>> {
    let user = rows::user::by_id(connection, user_id)?.filter(|user| user.is_active);
    let Some(user) = user else { return Ok(None) };
    if realm::is_deactivated(connection)? {
        return Ok(None);
    }
    let is_wanted = if missed.is_empty() {
        DIGEST_EMAILS_ENABLED.get(connection)? && ENABLE_DIGEST_EMAILS.get(connection, user_id)?
    } else {
        MAIL.personal.get(connection, user_id)?
    };
    if !is_wanted {
        return Ok(None);
    }
    let has_content = MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(connection)?
        && MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS.get(connection, user_id)?;
    let caller = rows::user::caller(connection, user_id)?;
    let viewer = MessageViewer::new(Ctx::new(connection, &caller, now));
    let mut digest = Sha256::new();
    digest.update(serde_json::to_vec(&(&user.delivery_email, has_content))?);
    // Most emails are about one conversation.
    let mut known: Option<(RecipientId, ReadSet)> = None;
    for (index, id) in missed.iter().chain(others).enumerate() {
        let Some(message) = messages::by_id(connection, *id)? else { return Ok(None) };
        if !viewer.can_read(message.recipient_id, *id)? {
            return Ok(None);
        }
        if index < missed.len() {
            let read = match known {
                Some((recipient_id, read)) if recipient_id == message.recipient_id => read,
                _ => read_state::load(connection, user_id, message.recipient_id)?,
            };
            if id.bit().is_none_or(|bit| read.contains(bit)) {
                return Ok(None);
            }
            known = Some((message.recipient_id, read));
        }
        digest.update(serde_json::to_vec(&(message.recipient_id, &message.subject, &message.content))?);
    }
    Ok(Some(hex(&digest.finalize())))
}

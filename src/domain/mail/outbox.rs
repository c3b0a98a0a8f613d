//! The rows of the queue of emails.

use crate::domain::mail::letter::{Basis, Letter, Priority};
use crate::error::ApiResult;
use crate::smtp::{Message, is_address};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension};

/// A row of `outgoing_mail` whose next attempt is due.
#[derive(Clone, Debug)]
pub struct DueLetter {
    /// Identifies the row.
    pub id: i64,
    /// The name of its kind in snake case, for the log.
    pub kind: String,
    /// The message as it was composed when the email was queued; stored as JSON.
    pub message: Message,
    /// When it becomes useless, in UNIX seconds.
    pub expires: i64,
    /// Number of attempts that failed.
    pub attempts: i64,
    /// The user whom it is for, and the messages in it, if it has some.
    pub basis: Option<(UserId, Basis)>,
}

/// True if fewer emails wait than `?1`. Ids grow, so that there are no more emails than ids: emails are counted only if some have
/// waited for long.
const HAS_ROOM: &str =
    "coalesce((SELECT max(id) FROM outgoing_mail) - (SELECT min(id) FROM outgoing_mail), 0) < ?1 - 1
    OR (SELECT count(*) FROM outgoing_mail) < ?1";

/// Inserts an email. Without a valid address, and while too many emails for its priority wait, it is dropped.
pub(super) fn insert(tx: &mut Tx<'_>, letter: &Letter, message: &Message) -> ApiResult<()> {
    if !is_address(&letter.to) {
        return Ok(());
    }
    let not_before = letter.not_before.unwrap_or(tx.now()).max(tx.now());
    let expires = letter.expires.unwrap_or_else(|| not_before.saturating_add(letter.kind.lifetime()));
    let priority = letter.kind.priority();
    let inserted = tx
        .prepare_cached(&format!(
            "INSERT INTO outgoing_mail (kind, about, user_id, recipient, letter, created, expires, next_try, invite_id,
                 basis, priority)
             SELECT ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 WHERE {HAS_ROOM}"
        ))?
        .execute((
            priority.most_waiting(),
            letter.kind.name(),
            &letter.about,
            letter.user_id,
            &letter.to,
            serde_json::to_string(message)?,
            tx.now(),
            expires,
            not_before,
            letter.invite_id,
            letter.basis.as_ref().map(serde_json::to_string).transpose()?,
            priority as i64,
        ))?;
    if inserted == 0 {
        tracing::warn!(
            kind = letter.kind.name(),
            "an email was dropped, because too many are waiting for the mail server"
        );
    }
    tx.wake_tasks_after_commit();
    Ok(())
}

/// True if another email of a priority can wait.
pub fn has_room(connection: &Connection, priority: Priority) -> ApiResult<bool> {
    let mut statement = connection.prepare_cached(&format!("SELECT {HAS_ROOM}"))?;
    Ok(statement.query_row([priority.most_waiting()], |row| row.get(0))?)
}

/// Removes the emails about something that wait: the link in them is dead, or what they report is over.
pub fn withdraw(tx: &Tx<'_>, about: &str) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM outgoing_mail WHERE about = ?1", [about])
}

/// Removes the emails of an invitation that wait.
pub fn withdraw_of_invite(tx: &Tx<'_>, invite_id: i64) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM outgoing_mail WHERE invite_id = ?1", [invite_id])
}

/// Removes all emails to a user that wait.
pub fn withdraw_of_user(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM outgoing_mail WHERE user_id = ?1", [user_id])
}

/// Removes a few emails: the server does not send mail any more. Returns false if there are none.
pub fn clear_some(tx: &Tx<'_>) -> rusqlite::Result<bool> {
    let removed = tx
        .prepare_cached("DELETE FROM outgoing_mail WHERE id IN (SELECT id FROM outgoing_mail LIMIT 10)")?
        .execute([])?;
    Ok(removed > 0)
}

/// The next email that is due at a time: the oldest one of the highest priority, but those with the ids `last` after all others.
/// `None` if there is none. Its row may belong to an account that is not active: then it is useless, like one that has expired.
pub fn next_due(connection: &Connection, now: i64, last: &[i64]) -> ApiResult<Option<DueLetter>> {
    match next_due_except(connection, now, last)? {
        None if !last.is_empty() => next_due_except(connection, now, &[]),
        found => Ok(found),
    }
}

fn next_due_except(connection: &Connection, now: i64, except: &[i64]) -> ApiResult<Option<DueLetter>> {
    let except = serde_json::to_string(except)?;
    let mut statement = connection.prepare_cached(
        "SELECT id, kind, letter, expires, attempts,
             user_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM user WHERE user.user_id = outgoing_mail.user_id AND is_active),
             user_id, basis
         FROM outgoing_mail
         WHERE priority = ?1 AND next_try <= ?2 AND id NOT IN (SELECT value FROM json_each(?3))
         ORDER BY next_try, id LIMIT 1",
    )?;
    for priority in Priority::ALL {
        let found = statement.query_row((priority as i64, now, &except), |row| {
            let is_useless: bool = row.get(5)?;
            let expires: i64 = row.get(3)?;
            let (user_id, basis): (Option<UserId>, Option<String>) = (row.get(6)?, row.get(7)?);
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get::<_, String>(2)?,
                if is_useless { 0 } else { expires },
                row.get(4)?,
                user_id.zip(basis),
            ))
        });
        let Some((id, kind, letter, expires, attempts, basis)) = found.optional()? else { continue };
        let basis = match basis {
            Some((user_id, basis)) => Some((user_id, serde_json::from_str(&basis)?)),
            None => None,
        };
        let message = serde_json::from_str(&letter)?;
        return Ok(Some(DueLetter { id, kind, message, expires, attempts, basis }));
    }
    Ok(None)
}

/// When the next email is due, in UNIX seconds.
pub fn next_time(connection: &Connection) -> ApiResult<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT min(next_try) FROM outgoing_mail")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Deletes an email that was sent, or that is given up.
pub fn delete(tx: &Tx<'_>, id: i64) -> ApiResult<()> {
    tx.execute_cached("DELETE FROM outgoing_mail WHERE id = ?1", [id])?;
    Ok(())
}

/// Makes emails due that were tried and wait beyond a time that no pause explains: the clock was ahead.
pub fn end_pauses_beyond(tx: &Tx<'_>, latest: i64) -> rusqlite::Result<()> {
    tx.execute_cached(
        "UPDATE outgoing_mail SET next_try = ?1 WHERE attempts > 0 AND next_try > ?2",
        (tx.now(), latest),
    )
}

/// Notes that an email was not taken, and when it is tried again.
pub fn postpone(tx: &Tx<'_>, id: i64, next_try: i64, error: &str) -> rusqlite::Result<()> {
    tx.execute_cached(
        "UPDATE outgoing_mail SET next_try = ?2, attempts = attempts + 1, last_error = ?3 WHERE id = ?1",
        (id, next_try, error),
    )
}

//! Budgets of notices that one person causes to another: in a day, the last one is followed by a notice that further ones
//! are left out. A person and their bots have one budget for each conversation.
//!
//! Notices about the security of an account ([`security`](super::security)) have no budget. Nor do those in a channel
//! about the channel and its topics, which the person who causes them may write to.

use crate::domain::limits::{MAX_CAUSED_NOTICES, quota_owner};
use crate::domain::messages::create;
use crate::domain::messages::destination::Destination;
use crate::domain::notices::{bot, name_of_user, send_and_read};
use crate::domain::realm::common_language;
use crate::domain::user_settings::language_of;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{RecipientId, SECONDS_PER_DAY, UserId};
use rusqlite::{Connection, OptionalExtension};
use teamchat_markdown::{Composition, Words};

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// Seconds until there is another one.
    pub seconds: i64,
}

impl UsedUp {
    /// The time to wait, in the words of an error.
    pub fn wait(self) -> String {
        match (self.seconds + 3599) / 3600 {
            ..=1 => "Try again in an hour.".to_owned(),
            hours => format!("Try again in {hours} hours."),
        }
    }
}

/// Sends notices that a user causes in a conversation, unless the budget of that person is used up. `send` sends them;
/// they count as one.
pub fn send_within(
    tx: &mut Tx<'_>,
    by: UserId,
    to: &Destination,
    send: impl FnOnce(&mut Tx<'_>) -> ApiResult<()>,
) -> ApiResult<Result<(), UsedUp>> {
    let causer = quota_owner(tx, by)?;
    let bot = bot(tx)?;
    let readers = match to {
        Destination::Direct(user_ids) => user_ids.as_slice(),
        Destination::Channel(..) => &[],
    };
    // What people cause to themselves is up to them.
    if readers.contains(&causer) {
        return send(tx).map(Ok);
    }
    let recipient_id = create::recipient(tx, bot, to)?;
    let (since, count) = load(tx, causer, recipient_id)?;
    if count >= MAX_CAUSED_NOTICES {
        return Ok(Err(UsedUp { seconds: since + SECONDS_PER_DAY - tx.now() }));
    }
    store(tx, causer, recipient_id, since, count + 1)?;
    send(tx)?;
    if count + 1 == MAX_CAUSED_NOTICES {
        let language = match readers.iter().find(|user_id| **user_id != bot) {
            Some(reader) => language_of(tx, *reader)?,
            None => common_language(tx)?,
        };
        let text = language.t(
            "{name} caused {count} of my messages here within a day. Further messages are omitted until {time}.",
        );
        let parameters = [
            ("name", name_of_user(tx, causer)?),
            ("count", Words::default().number(i64::from(MAX_CAUSED_NOTICES))),
            ("time", Words::default().time(since + SECONDS_PER_DAY)),
        ];
        send_and_read(tx, to.clone(), Words::filled(text, &parameters).into(), vec![by])?;
    }
    Ok(Ok(()))
}

/// Sends a notice that a user causes in a conversation, or leaves it out if the budget of that person is used up. It is
/// read for the user.
pub fn send_caused(tx: &mut Tx<'_>, by: UserId, to: Destination, content: Composition) -> ApiResult<()> {
    let address = to.clone();
    let sent = send_within(tx, by, &address, |tx| send_and_read(tx, to, content, vec![by]).map(|_| ()))?;
    if sent.is_err() {
        tracing::debug!(%by, "a notice is left out, because the user caused too many");
    }
    Ok(())
}

/// When the first notice of the day was sent, in UNIX seconds, and how many there were; now and none, if that day is over. A
/// time to come is of a clock that was wrong.
fn load(tx: &Tx<'_>, causer: UserId, recipient_id: RecipientId) -> rusqlite::Result<(i64, u32)> {
    let statement = "SELECT since, count FROM notice_budget WHERE causer_id = ?1 AND recipient_id = ?2";
    let stored: Option<(i64, u32)> =
        tx.prepare_cached(statement)?.query_row((causer, recipient_id), |row| row.try_into()).optional()?;
    Ok(stored
        .filter(|(since, _)| (0..SECONDS_PER_DAY).contains(&(tx.now() - since)))
        .unwrap_or((tx.now(), 0)))
}

fn store(
    connection: &Connection,
    causer: UserId,
    recipient_id: RecipientId,
    since: i64,
    count: u32,
) -> rusqlite::Result<()> {
    let statement = "INSERT OR REPLACE INTO notice_budget (causer_id, recipient_id, since, count)
         VALUES (?1, ?2, ?3, ?4)";
    connection.execute_cached(statement, (causer, recipient_id, since, count))
}

/// Deletes up to `limit` rows of days that are over. Returns their number.
pub fn delete_ended(connection: &Connection, now: i64, limit: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM notice_budget WHERE (causer_id, recipient_id) IN (
                 SELECT causer_id, recipient_id FROM notice_budget WHERE since <= ?1 LIMIT ?2)",
        )?
        .execute((now - SECONDS_PER_DAY, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_whole_hours() {
        for (seconds, wait) in
            [(1, "an hour"), (3600, "an hour"), (3601, "2 hours"), (SECONDS_PER_DAY, "24 hours")]
        {
            assert_eq!(UsedUp { seconds }.wait(), format!("Try again in {wait}."));
        }
    }
}

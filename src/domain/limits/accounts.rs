//! The accounts that limits count together: those of one person.

use super::check;
use crate::http::{ApiError, ApiResult};
use crate::types::{Role, UserId};
use rusqlite::{Connection, OptionalExtension};

/// How long an account counts for the person whose invitation it came by, in seconds: a week.
pub const NEW_ACCOUNT: i64 = 7 * 24 * 60 * 60;

/// The accounts that a limit counts together, and the database that it counts in.
///
/// A person and their bots are one set, so that bots add nothing to what a person may have. An account that came by the
/// invitation of somebody who is not an administrator counts for a week as if it were a bot of the inviter: with it count
/// the inviter, and all that came by the inviter's invitations. The inviter's own set does not have them, so that nobody
/// takes the room of those who invited them; an inviter with all new accounts has at most twice what one person may have.
pub struct Accounts<'a> {
    connection: &'a Connection,
    user_ids: Vec<UserId>,
    /// The same as a JSON list: the parameter of statements.
    list: String,
}

impl<'a> Accounts<'a> {
    /// The accounts that count with a user's. `now` is in UNIX seconds.
    pub fn of(connection: &'a Connection, user_id: UserId, now: i64) -> ApiResult<Self> {
        let person = person(connection, user_id)?;
        let since = now - NEW_ACCOUNT;
        let mut first = person;
        while let Some(inviter) = inviter(connection, first, since)? {
            first = inviter;
        }
        let user_ids = if first == person {
            with_bots(connection, person)?
        } else {
            all_invited(connection, first, since)?
        };
        let list = serde_json::to_string(&user_ids)?;
        Ok(Self { connection, user_ids, list })
    }

    /// A person with bots; `with_invited` also with the new accounts that came by the person's invitations, and by theirs.
    pub fn of_person(
        connection: &'a Connection,
        person: UserId,
        now: i64,
        with_invited: bool,
    ) -> ApiResult<Self> {
        let user_ids = if with_invited {
            all_invited(connection, person, now - NEW_ACCOUNT)?
        } else {
            with_bots(connection, person)?
        };
        let list = serde_json::to_string(&user_ids)?;
        Ok(Self { connection, user_ids, list })
    }

    /// The ids of the accounts.
    pub fn user_ids(&self) -> &[UserId] {
        &self.user_ids
    }

    /// The ids as a JSON list, for statements.
    pub fn list(&self) -> &str {
        &self.list
    }

    /// Whether an account is one of them.
    pub fn contains(&self, user_id: UserId) -> bool {
        self.user_ids.contains(&user_id)
    }

    /// Refuses things that would be more than these accounts may have together. `what` names them in the plural;
    /// `statement` counts those that they have. Its parameter is a JSON list of ids.
    pub fn check(&self, what: &str, statement: &str, added: usize, limit: usize) -> ApiResult<()> {
        check(what, self.count(statement)?.saturating_add(added), limit)
    }

    /// Runs a statement that counts something of these accounts, or adds up lengths.
    pub fn count(&self, statement: &str) -> ApiResult<usize> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let count: Option<i64> = statement.query_row([&self.list], |row| row.get(0))?;
        Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(0))
    }

    /// Refuses texts that are longer together than a limit, in bytes. `statement` adds up their lengths, with those that
    /// this job has written.
    pub fn check_length(&self, what: &str, statement: &str, limit: usize) -> ApiResult<()> {
        if self.count(statement)? <= limit {
            Ok(())
        } else {
            Err(ApiError::bad_request(format!("Too much text in {what} (limit: {limit} bytes)")))
        }
    }
}

/// The person who is accountable for an account, as in [`Caller::accountable`](crate::http::Caller::accountable).
fn person(connection: &Connection, user_id: UserId) -> rusqlite::Result<UserId> {
    connection
        .prepare_cached(
            "SELECT coalesce(created_by, bot_owner_id, user.user_id)
             FROM user LEFT JOIN bot ON bot.user_id = user.user_id WHERE user.user_id = ?1",
        )?
        .query_row([user_id], |row| row.get(0))
}

/// The person for whom a person's account counts, if it is new.
fn inviter(connection: &Connection, user_id: UserId, since: i64) -> rusqlite::Result<Option<UserId>> {
    connection
        .prepare_cached(
            "SELECT inviter.user_id FROM user JOIN user AS inviter ON inviter.user_id = user.invited_by
             WHERE user.user_id = ?1 AND user.date_joined > ?2 AND inviter.role > ?3",
        )?
        .query_row((user_id, since, Role::Administrator), |row| row.get(0))
        .optional()
}

fn with_bots(connection: &Connection, person: UserId) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached("SELECT user_id FROM bot WHERE created_by = ?1")?
        .query_map([person], |row| row.get(0))?
        .chain([Ok(person)])
        .collect()
}

/// A person with bots, and all new accounts that came by their invitations, with those that came by theirs.
fn all_invited(connection: &Connection, person: UserId, since: i64) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "WITH RECURSIVE account (user_id) AS (
                 SELECT ?1
                 UNION
                 SELECT bot.user_id FROM account JOIN bot ON bot.created_by = account.user_id
                 UNION
                 SELECT user.user_id FROM account JOIN user AS inviter ON inviter.user_id = account.user_id
                 JOIN user ON user.invited_by = inviter.user_id
                 WHERE user.date_joined > ?2 AND inviter.role > ?3)
             SELECT user_id FROM account",
        )?
        .query_map((person, since, Role::Administrator), |row| row.get(0))?
        .collect()
}

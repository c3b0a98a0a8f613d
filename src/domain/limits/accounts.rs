//! The accounts that limits count together: those of one person.

use super::too_many;
use crate::error::{ApiError, ApiResult};
use crate::types::{Role, UserId};
use rusqlite::{Connection, OptionalExtension};

/// Seconds for which an account counts for the person who invited it: a week.
const NEW_ACCOUNT: i64 = 7 * 24 * 60 * 60;

/// The part of each limit that a new account always has, however much others of its inviter use: a tenth.
const FLOOR: usize = 10;

/// The accounts that a limit counts together, and the database that it counts in.
///
/// A person and their bots are one set, so that bots share the limits of the person. For a week, an account invited by
/// a user who is not an administrator counts like a bot of the inviter: its set includes the inviter and all accounts
/// that they invited. The inviter's own set does not include them, so that invited users cannot exhaust the limits of
/// the inviter. Nor can they exhaust those of each other: beyond the common limit, each has a tenth of it for itself. An
/// inviter with all new accounts has at most twice the limits of one person, and a tenth for each of the accounts.
pub struct Accounts<'a> {
    connection: &'a Connection,
    all: AccountSet,
    /// A new account with its bots, if `all` are those of its inviter.
    own: Option<AccountSet>,
}

/// Accounts that share limits, as a list and as a parameter of statements.
pub struct AccountSet {
    user_ids: Vec<UserId>,
    /// The same as a JSON list: the parameter of statements.
    list: String,
}

impl AccountSet {
    fn new(user_ids: Vec<UserId>) -> ApiResult<Self> {
        let list = serde_json::to_string(&user_ids)?;
        Ok(Self { user_ids, list })
    }

    /// The ids as a JSON list, for statements.
    pub fn list(&self) -> &str {
        &self.list
    }

    /// True if an account is one of them.
    pub fn contains(&self, user_id: UserId) -> bool {
        self.user_ids.contains(&user_id)
    }

    /// Runs a statement that counts something of these accounts, or adds up lengths.
    fn count(&self, connection: &Connection, statement: &str) -> ApiResult<usize> {
        let mut statement = connection.prepare_cached(statement)?;
        let count: Option<i64> = statement.query_row([&self.list], |row| row.get(0))?;
        Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(0))
    }
}

impl<'a> Accounts<'a> {
    /// The accounts that count with a user's. `now` is in UNIX seconds.
    pub fn of(connection: &'a Connection, user_id: UserId, now: i64) -> ApiResult<Self> {
        let person = quota_owner(connection, user_id)?;
        let since = now - NEW_ACCOUNT;
        let first = first_inviter(connection, person, since)?;
        let own = AccountSet::new(with_bots(connection, person)?)?;
        if first == person {
            return Ok(Self { connection, all: own, own: None });
        }
        let all = AccountSet::new(all_invited(connection, first, since)?)?;
        Ok(Self { connection, all, own: Some(own) })
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
        Ok(Self { connection, all: AccountSet::new(user_ids)?, own: None })
    }

    /// All accounts of a chain of invitations: the first inviter of a person, and the new accounts that came by their
    /// invitations, or by those of these accounts.
    pub fn of_chain(connection: &'a Connection, person: UserId, now: i64) -> ApiResult<Self> {
        let first = first_inviter(connection, person, now - NEW_ACCOUNT)?;
        Self::of_person(connection, first, now, true)
    }

    /// The ids of the accounts.
    pub fn user_ids(&self) -> &[UserId] {
        &self.all.user_ids
    }

    /// The ids of one person's accounts among them.
    pub fn own_user_ids(&self) -> &[UserId] {
        &self.own().user_ids
    }

    /// The ids as a JSON list, for statements.
    pub fn list(&self) -> &str {
        self.all.list()
    }

    /// True if an account is of the same person.
    pub fn is_own(&self, user_id: UserId) -> bool {
        self.own().contains(user_id)
    }

    fn own(&self) -> &AccountSet {
        self.own.as_ref().unwrap_or(&self.all)
    }

    /// True if a number is within a limit: for all of the accounts, or for a new one alone within its part of the limit.
    /// `count` counts for a set of accounts.
    pub fn are_within(
        &self,
        limit: usize,
        mut count: impl FnMut(&AccountSet) -> ApiResult<usize>,
    ) -> ApiResult<bool> {
        if count(&self.all)? <= limit {
            return Ok(true);
        }
        match &self.own {
            Some(own) => Ok(count(own)? <= limit / FLOOR),
            None => Ok(false),
        }
    }

    /// Returns whether further objects are within a limit. `statement` counts the existing ones, or adds up lengths. Its
    /// parameter is a JSON list of ids.
    pub fn have_room(&self, statement: &str, added: usize, limit: usize) -> ApiResult<bool> {
        self.are_within(limit, |set| Ok(set.count(self.connection, statement)?.saturating_add(added)))
    }

    /// Checks that these accounts together stay within a limit. `what` names the objects in the plural; `statement`
    /// counts the existing ones, as in [`Accounts::have_room`].
    pub fn check(&self, what: &str, statement: &str, added: usize, limit: usize) -> ApiResult<()> {
        refuse_unless(self.have_room(statement, added, limit)?, what, limit)
    }

    /// Checks a limit as [`Self::check`] for objects that are loaded already: `count` counts those of a set of accounts.
    pub fn check_counted(
        &self,
        what: &str,
        limit: usize,
        mut count: impl FnMut(&AccountSet) -> usize,
    ) -> ApiResult<()> {
        refuse_unless(self.are_within(limit, |set| Ok(count(set)))?, what, limit)
    }

    /// Refuses texts that are longer together than a limit, in bytes. `statement` adds up their lengths, with those that
    /// this job has written.
    pub fn check_length(&self, what: &str, statement: &str, limit: usize) -> ApiResult<()> {
        if self.have_room(statement, 0, limit)? {
            Ok(())
        } else {
            Err(ApiError::bad_request(format!("Too much text in {what} (limit: {limit} bytes)")))
        }
    }
}

fn refuse_unless(is_within: bool, what: &str, limit: usize) -> ApiResult<()> {
    if is_within { Ok(()) } else { Err(too_many(what, limit)) }
}

/// The quota owner of an account, as in [`Caller::quota_owner`](crate::auth::Caller::quota_owner).
pub fn quota_owner(connection: &Connection, user_id: UserId) -> rusqlite::Result<UserId> {
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

/// The first of a chain of inviters whose accounts are new; the person, if theirs is not.
fn first_inviter(connection: &Connection, person: UserId, since: i64) -> rusqlite::Result<UserId> {
    let mut first = person;
    while let Some(inviter) = inviter(connection, first, since)? {
        first = inviter;
    }
    Ok(first)
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

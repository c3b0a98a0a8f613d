//! Writing entries.

use super::action::Action;
use super::subject::Subject;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{Author, Origin, Role, SECONDS_PER_DAY, UserId};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// The largest text of a value before or after, in bytes. Longer ones are left out.
const MAX_VALUE_BYTES: usize = 2000;

/// Seconds in which failed logins from one address to one account are one entry.
const FAILURES_COUNTED_FOR: i64 = 60 * 60;

/// Number of entries of one user within a day. The user's further changes of one kind are one entry, without object and
/// values, so that no account fills the disk. Administrators and owners have no limit.
const MAX_BY_USER: i64 = 500;

/// Number of entries of clients that are not logged in, within a day. Further ones are one entry of their kind, without
/// account and address, so that guesses from many addresses do not fill the disk.
const MAX_BY_STRANGERS: i64 = 2000;

/// An entry of the audit log, without time and author.
pub struct Entry {
    action: Action,
    subject: Subject,
    author: Option<Author>,
    before: Value,
    after: Value,
}

impl Entry {
    /// An entry about a subject.
    pub fn new(action: Action, subject: impl Into<Subject>) -> Self {
        Self { action, subject: subject.into(), author: None, before: Value::Null, after: Value::Null }
    }

    /// The author, if it is not that of the job: an identity is linked by its user.
    #[must_use]
    pub fn by(self, user_id: UserId) -> Self {
        Self { author: Some(Author::User(user_id)), ..self }
    }

    /// Sets the value before the change; null, the default, for something new.
    #[must_use]
    pub fn before(self, before: impl Into<Value>) -> Self {
        Self { before: before.into(), ..self }
    }

    /// The value after, or facts about the change.
    #[must_use]
    pub fn after(self, after: impl Into<Value>) -> Self {
        Self { after: after.into(), ..self }
    }
}

impl Tx<'_> {
    /// Writes an entry of the audit log with the job's rows, and a line of the program's log. A job that fails leaves no
    /// entry. Nothing is written for the first rows of a new database.
    pub fn audit(&self, entry: Entry) -> ApiResult<()> {
        if self.is_muted() {
            return Ok(());
        }
        let Entry { action, subject, author, .. } = &entry;
        let origin = Origin { author: author.unwrap_or(self.origin().author), ..self.origin() };
        tracing::info!(
            action = action.name(),
            by = origin.author.kind(),
            by_id = origin.author.user_id().map(|user_id| user_id.0),
            address = origin.address.map(tracing::field::display),
            subject = subject.kind,
            id = subject.id,
            name = subject.name,
            "{}",
            action.text()
        );
        insert(self, &entry, origin)
    }
}

/// Records a failed login to an account, or to none. Failures of one account from one address within an hour are one entry.
pub fn record_failure(tx: &Tx<'_>, user_id: Option<UserId>, reason: &str) -> ApiResult<()> {
    let address = tx.origin().address.map(|address| address.to_string());
    let action = Action::LoginFailed.name();
    let same: Option<i64> = tx
        .prepare_cached(
            "SELECT id FROM audit_entry WHERE action = ?1 AND time > ?2 AND subject_id IS ?3 AND address IS ?4
             ORDER BY time DESC LIMIT 1",
        )?
        .query_row((action, tx.now() - FAILURES_COUNTED_FOR, user_id, &address), |row| row.get(0))
        .optional()?;
    if let Some(id) = same {
        return count_again(tx, id);
    }
    let subject = user_id.map_or(Subject::UNKNOWN, Subject::from);
    insert(tx, &Entry::new(Action::LoginFailed, subject).after(reason), tx.origin())
}

fn insert(tx: &Tx<'_>, entry: &Entry, origin: Origin) -> ApiResult<()> {
    if !is_limited(tx, origin.author)? {
        return insert_row(tx, tx.now(), entry, origin);
    }
    let counted: Option<i64> = tx
        .prepare_cached(
            "SELECT id FROM audit_entry
             WHERE actor = ?1 AND actor_id IS ?2 AND time > ?3 AND action = ?4
                 AND subject_id IS NULL AND name IS NULL AND address IS NULL
             LIMIT 1",
        )?
        .query_row(
            (origin.author.kind(), origin.author.user_id(), tx.now() - SECONDS_PER_DAY, entry.action.name()),
            |row| row.get(0),
        )
        .optional()?;
    if let Some(id) = counted {
        return count_again(tx, id);
    }
    let rest = Entry::new(entry.action, Subject { id: None, name: None, ..entry.subject.clone() });
    insert_row(tx, tx.now(), &rest, Origin { address: None, ..origin })
}

/// Returns true if an author has the number of entries of a day.
fn is_limited(tx: &Tx<'_>, author: Author) -> ApiResult<bool> {
    let limit = match author {
        Author::User(_) => MAX_BY_USER,
        Author::Stranger => MAX_BY_STRANGERS,
        Author::Server | Author::Operator => return Ok(false),
    };
    let count: i64 = tx
        .prepare_cached(
            "SELECT count(*) FROM (
                 SELECT 1 FROM audit_entry WHERE actor = ?1 AND actor_id IS ?2 AND time > ?3 LIMIT ?4)",
        )?
        .query_row((author.kind(), author.user_id(), tx.now() - SECONDS_PER_DAY, limit), |row| row.get(0))?;
    if count < limit {
        return Ok(false);
    }
    let Some(user_id) = author.user_id() else { return Ok(true) };
    let role: Option<Role> = tx
        .prepare_cached("SELECT role FROM user WHERE user_id = ?1")?
        .query_row([user_id], |row| row.get(0))
        .optional()?;
    Ok(!role.is_some_and(Role::is_administrator))
}

/// Writes an entry of the operator into a file that no server has open.
pub fn record_in_file(connection: &Connection, now: i64, entry: &Entry) -> ApiResult<()> {
    insert_row(connection, now, entry, Origin::OPERATOR)
}

fn insert_row(connection: &Connection, now: i64, entry: &Entry, origin: Origin) -> ApiResult<()> {
    let Entry { action, subject, before, after, .. } = entry;
    connection.execute_cached(
        "INSERT INTO audit_entry (time, actor, actor_id, address, action, subject, subject_id, name, before, after)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        (
            now,
            origin.author.kind(),
            origin.author.user_id(),
            origin.address.map(|address| address.to_string()),
            action.name(),
            subject.kind,
            subject.id,
            &subject.name,
            stored(before),
            stored(after),
        ),
    )?;
    Ok(())
}

/// The text of a value, `NULL` if there is none.
fn stored(value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let text = value.to_string();
    Some(if text.len() > MAX_VALUE_BYTES { "\"(long)\"".to_owned() } else { text })
}

fn count_again(tx: &Tx<'_>, id: i64) -> ApiResult<()> {
    tx.execute_cached("UPDATE audit_entry SET times = times + 1, time = ?2 WHERE id = ?1", (id, tx.now()))?;
    Ok(())
}

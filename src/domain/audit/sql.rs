//! Statements on the audit log.

use super::action::Action;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of entries in one list.
pub const MAX_ENTRIES: usize = 1000;

/// An entry of the audit log in lists.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Identifies the entry. Later entries have greater ids.
    pub id: i64,
    /// UNIX seconds; for repeated failures, of the last time.
    pub time: i64,
    /// The author: the name of a user, or `command line`, `server`, or `anyone` for a client that is not logged in.
    pub actor: String,
    /// The id of the user who is the author; null for other authors.
    pub actor_id: Option<UserId>,
    /// The kind of change: `login`, `role_changed` and others, listed in the page on monitoring.
    pub action: String,
    /// The name of the changed object.
    pub subject: String,
    /// The kind of object: `user`, `channel`, `group`, `message`, `setting` and others.
    pub subject_type: String,
    /// The object's id, if it has one.
    pub subject_id: Option<i64>,
    /// The IP address that the request came from; null if there was no request.
    pub address: Option<String>,
    /// The value before the change; null if there is none.
    pub before: Value,
    /// The value after the change, or facts about it; null if there are none.
    pub after: Value,
    /// Number of occurrences in the entry: more than one for failed logins and for authors with many entries.
    pub times: i64,
}

/// A selection of entries. The newest come first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Filter {
    /// Only entries with smaller ids.
    pub before_id: Option<i64>,
    /// Only entries since a time in UNIX seconds.
    pub since: Option<i64>,
    /// Only entries of one action.
    pub action: Option<String>,
    /// Only entries by or about one user.
    pub user_id: Option<UserId>,
    /// True if users are named by their real emails instead of their names.
    pub with_emails: bool,
    /// Number of entries, at most [`MAX_ENTRIES`].
    pub limit: usize,
}

/// Lists entries, the newest first.
pub fn list(connection: &Connection, filter: &Filter) -> ApiResult<Vec<AuditRecord>> {
    let name = if filter.with_emails { "delivery_email" } else { "full_name" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, time, actor, actor_id, action, subject, subject_id, address, before, after, times,
             (SELECT {name} FROM user WHERE user_id = actor_id),
             coalesce(audit_entry.name, CASE subject
                 WHEN 'user' THEN (SELECT {name} FROM user WHERE user_id = subject_id)
                 WHEN 'channel' THEN (SELECT name FROM stream WHERE stream_id = subject_id)
                 WHEN 'group' THEN (SELECT name FROM user_group WHERE id = subject_id) END)
         FROM audit_entry
         WHERE id < ?1 AND time >= ?2 AND action = coalesce(?3, action)
             AND (?4 IS NULL OR actor_id = ?4 OR (subject = 'user' AND subject_id = ?4))
         ORDER BY id DESC LIMIT ?5"
    ))?;
    let limit = i64::try_from(filter.limit.min(MAX_ENTRIES)).unwrap_or(0);
    let (before_id, since) = (filter.before_id.unwrap_or(i64::MAX), filter.since.unwrap_or(i64::MIN));
    let parameters: [&dyn ToSql; 5] = [&before_id, &since, &filter.action, &filter.user_id, &limit];
    let entries = statement.query_map(parameters, |row| read(row, filter.with_emails))?;
    Ok(entries.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>, with_emails: bool) -> rusqlite::Result<AuditRecord> {
    let (kind, id): (String, Option<i64>) = (row.get(5)?, row.get(6)?);
    let action: String = row.get(4)?;
    let name: Option<String> = row.get(12)?;
    let author: Option<String> = row.get(11)?;
    let value = |column| -> rusqlite::Result<Value> {
        let text: Option<String> = row.get(column)?;
        // Users may hide their emails.
        let text = text.filter(|_| with_emails || action != Action::EmailChanged.name());
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    };
    let (before, after) = (value(8)?, value(9)?);
    Ok(AuditRecord {
        id: row.get(0)?,
        time: row.get(1)?,
        actor: author.map_or_else(|| row.get(2), Ok)?,
        actor_id: row.get(3)?,
        action,
        subject: name.unwrap_or_else(|| id.map_or_else(|| kind.clone(), |id| format!("{kind} {id}"))),
        subject_type: kind,
        subject_id: id,
        address: row.get(7)?,
        before,
        after,
        times: row.get(10)?,
    })
}

/// True if there are entries from before a time in UNIX seconds.
pub fn is_prunable(connection: &Connection, until: i64) -> ApiResult<bool> {
    let statement = "SELECT EXISTS (SELECT 1 FROM audit_entry WHERE time < ?1)";
    Ok(connection.prepare_cached(statement)?.query_row([until], |row| row.get(0))?)
}

/// The most entries that one step deletes.
const PRUNED_PER_STEP: i64 = 50;

/// Deletes entries from before a time in UNIX seconds, at most [`PRUNED_PER_STEP`] of them. Returns their number.
pub fn prune(tx: &Tx<'_>, until: i64) -> ApiResult<usize> {
    let statement = "DELETE FROM audit_entry
         WHERE id IN (SELECT id FROM audit_entry WHERE time < ?1 ORDER BY time LIMIT ?2)";
    Ok(tx.prepare_cached(statement)?.execute((until, PRUNED_PER_STEP))?)
}

/// Removes the earlier emails and names of a user whose content is deleted, and the email that they were invited by.
pub fn forget_user(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let [email, name] = [Action::EmailChanged, Action::NameChanged].map(Action::name);
    tx.execute_cached(
        "UPDATE audit_entry SET before = NULL, after = NULL
         WHERE subject = 'user' AND subject_id = ?1 AND action IN (?2, ?3)",
        (user_id, email, name),
    )?;
    let invitations = [
        Action::InvitationCreated,
        Action::InvitationSent,
        Action::InvitationRevoked,
        Action::InvitationAccepted,
    ];
    let [created, sent, revoked, accepted] = invitations.map(Action::name);
    tx.execute_cached(
        "UPDATE audit_entry SET name = NULL
         WHERE subject = 'invitation' AND action IN (?2, ?3, ?4, ?5) AND subject_id IN (
             SELECT subject_id FROM audit_entry WHERE action = ?5 AND actor = 'user' AND actor_id = ?1)",
        (user_id, created, sent, revoked, accepted),
    )?;
    Ok(())
}

/// Counts the failed logins since a time in UNIX seconds.
pub fn count_failures(connection: &Connection, since: i64) -> ApiResult<i64> {
    let statement = "SELECT coalesce(sum(times), 0) FROM audit_entry WHERE action = ?1 AND time > ?2";
    let count = connection
        .prepare_cached(statement)?
        .query_row((Action::LoginFailed.name(), since), |row| row.get(0))?;
    Ok(count)
}

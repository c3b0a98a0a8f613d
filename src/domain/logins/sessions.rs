//! The rows of browsers' sessions. Only people have sessions, and only the digest of a secret is stored.

use crate::auth::credentials::digest;
use crate::auth::session::{IDLE, SECRET_LENGTH};
use crate::domain::audit::{Action, Entry};
use crate::domain::limits::MAX_SESSIONS;
use crate::domain::logins::known;
use crate::domain::logins::known::LoginSource;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rand::RngExt;
use rand::distr::Alphanumeric;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::IpAddr;

/// Maximum number of ended sessions whose rows one job deletes.
const ENDED_AT_ONCE: i64 = 500;

/// Rows are deleted this many seconds after the end: uses are recorded to the hour.
const ENDED_FOR: i64 = 60 * 60;

/// Begins a session of a person, and returns its secret. Beyond [`MAX_SESSIONS`] the session that was unused for the
/// longest time ends.
pub fn begin(tx: &Tx<'_>, user_id: UserId, source: &LoginSource) -> ApiResult<String> {
    let secret: String = rand::rng().sample_iter(Alphanumeric).take(SECRET_LENGTH).map(char::from).collect();
    tx.execute_cached(
        "INSERT INTO session (user_id, digest, client, date_created) VALUES (?1, ?2, ?3, ?4)",
        (user_id, digest(&secret), &source.client, tx.now()),
    )?;
    let id = tx.last_insert_rowid();
    tx.execute_cached(
        "INSERT INTO session_use (session_id, last_used, address) VALUES (?1, ?2, ?3)",
        (id, tx.now(), shown(source.address)),
    )?;
    tx.execute_cached(
        "DELETE FROM session WHERE id IN (
             SELECT id FROM session JOIN session_use ON session_id = id WHERE user_id = ?1 AND id <> ?2
             ORDER BY last_used DESC, id DESC LIMIT -1 OFFSET ?3)",
        (user_id, id, i64::try_from(MAX_SESSIONS - 1).unwrap_or(i64::MAX)),
    )?;
    Ok(secret)
}

/// Ends one of a person's sessions. Returns whether there was one.
pub fn end(tx: &Tx<'_>, user_id: UserId, id: i64) -> ApiResult<bool> {
    let ended =
        tx.prepare_cached("DELETE FROM session WHERE user_id = ?1 AND id = ?2")?.execute((user_id, id))?;
    if ended > 0 {
        tx.audit(Entry::new(Action::SessionEnded, user_id).before(json!({ "id": id })))?;
    }
    Ok(ended > 0)
}

/// Ends the sessions of a person but `kept`.
pub fn end_others(tx: &Tx<'_>, user_id: UserId, kept: Option<i64>) -> ApiResult<()> {
    let statement = "DELETE FROM session WHERE user_id = ?1 AND id IS NOT ?2";
    let ended = tx.prepare_cached(statement)?.execute((user_id, kept))?;
    if ended > 0 {
        tx.audit(Entry::new(Action::SessionEnded, user_id).before(json!({ "count": ended })))?;
    }
    Ok(())
}

/// The sessions that ended by `now` because they were not used, at most `ENDED_AT_ONCE`.
pub fn ended(connection: &Connection, now: i64) -> ApiResult<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM session JOIN session_use ON session_id = id WHERE last_used <= ?1 LIMIT ?2",
    )?;
    let ids = statement.query_map((now - IDLE - ENDED_FOR, ENDED_AT_ONCE), |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Deletes the row of a session that has ended. One that was used in the meantime stays.
pub fn delete_ended(tx: &Tx<'_>, id: i64) -> ApiResult<()> {
    let mut statement = tx.prepare_cached(
        "DELETE FROM session WHERE id = ?1
             AND EXISTS (SELECT 1 FROM session_use WHERE session_id = ?1 AND last_used <= ?2)",
    )?;
    statement.execute((id, tx.now() - IDLE - ENDED_FOR))?;
    Ok(())
}

/// A session of a browser.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The id, for `DELETE /users/me/sessions/{session_id}`.
    pub id: i64,
    /// The browser and its operating system, as the browser named them.
    pub client: String,
    /// The IP address from which it was last used.
    pub address: String,
    /// When the session began, in UNIX seconds.
    pub date_created: i64,
    /// When the session was last used, in UNIX seconds, to the hour.
    pub last_used: i64,
}

/// Lists the sessions of a person that have not ended by `now`, the oldest first.
pub fn list(connection: &Connection, user_id: UserId, now: i64) -> ApiResult<Vec<SessionRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, client, address, date_created, last_used FROM session JOIN session_use ON session_id = id
         WHERE user_id = ?1 AND last_used > ?2 ORDER BY id",
    )?;
    let sessions = statement.query_map((user_id, now - IDLE), |row| {
        Ok(SessionRecord {
            id: row.get(0)?,
            client: row.get(1)?,
            address: row.get(2)?,
            date_created: row.get(3)?,
            last_used: row.get(4)?,
        })
    })?;
    Ok(sessions.collect::<Result<_, _>>()?)
}

/// Stores when and where a session was last used. Its place becomes one where the person is known. Does nothing if the session
/// has ended.
pub fn set_last_used(tx: &Tx<'_>, id: i64, time: i64, address: IpAddr) -> ApiResult<()> {
    let found: Option<(UserId, String)> = tx
        .prepare_cached("SELECT user_id, client FROM session WHERE id = ?1")?
        .query_row([id], |row| row.try_into())
        .optional()?;
    let Some((user_id, client)) = found else { return Ok(()) };
    tx.execute_cached(
        "UPDATE session_use SET last_used = max(last_used, ?2), address = ?3 WHERE session_id = ?1",
        (id, time, shown(address)),
    )?;
    known::record_use(tx, user_id, &client, address)
}

fn shown(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

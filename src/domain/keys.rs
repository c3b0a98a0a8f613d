//! API keys: creation, checks, listing and revocation.

use crate::auth::credentials::{API_KEY_LENGTH, digest};
use crate::domain::audit::{Action, Entry};
use crate::domain::limits::MAX_API_KEYS;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rand::RngExt;
use rand::distr::Alphanumeric;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Deletes the keys of a user but `kept`. Keys of people end together with their sessions: see [`crate::domain::logins`].
pub fn revoke_others(tx: &Tx<'_>, user_id: UserId, kept: Option<i64>) -> ApiResult<()> {
    let statement = "DELETE FROM api_key WHERE user_id = ?1 AND id IS NOT ?2";
    let revoked = tx.prepare_cached(statement)?.execute((user_id, kept))?;
    if revoked > 0 {
        // The bouncer is to forget phones that registered with one of them.
        tx.wake_tasks_after_commit();
        tx.audit(Entry::new(Action::KeyRevoked, user_id).before(json!({ "count": revoked })))?;
    }
    Ok(())
}

/// Creates a key and returns it. Only its digest is stored, so it cannot be read again. Beyond [`MAX_API_KEYS`] the key
/// that was not used for the longest time is deleted.
pub fn mint(tx: &Tx<'_>, user_id: UserId, client: &str) -> ApiResult<String> {
    let key: String = rand::rng().sample_iter(Alphanumeric).take(API_KEY_LENGTH).map(char::from).collect();
    insert(tx, user_id, client, &key)?;
    let id = tx.last_insert_rowid();
    tx.audit(Entry::new(Action::KeyCreated, user_id).after(json!({ "id": id, "client": client })))?;
    tx.execute_cached(
        "DELETE FROM api_key WHERE id IN (
             SELECT id FROM api_key LEFT JOIN api_key_use ON api_key_id = id WHERE user_id = ?1 AND id <> ?2
             ORDER BY coalesce(last_used, date_created) DESC, id DESC LIMIT -1 OFFSET ?3)",
        (user_id, id, i64::try_from(MAX_API_KEYS - 1).unwrap_or(i64::MAX)),
    )?;
    Ok(key)
}

/// Inserts a given key of a user, for fixtures. Fails if it is in use.
pub fn insert(tx: &Tx<'_>, user_id: UserId, client: &str, key: &str) -> ApiResult<()> {
    tx.execute_cached(
        "INSERT INTO api_key (user_id, digest, client, date_created) VALUES (?1, ?2, ?3, ?4)",
        (user_id, digest(key), client, tx.now()),
    )?;
    Ok(())
}

/// True if a key belongs to the user.
pub fn is_valid(connection: &Connection, user_id: UserId, api_key: &str) -> ApiResult<bool> {
    let statement = "SELECT EXISTS (SELECT 1 FROM api_key WHERE user_id = ?1 AND digest = ?2)";
    Ok(connection.prepare_cached(statement)?.query_row((user_id, digest(api_key)), |row| row.get(0))?)
}

/// An API key, without the secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyRecord {
    /// The id, for `DELETE /users/me/api_keys/{api_key_id}`.
    pub id: i64,
    /// The name of the client that the key was created for.
    pub client: String,
    /// When the key was created, in UNIX seconds.
    pub date_created: i64,
    /// When the key was last used, in UNIX seconds, to the hour; null if it never was.
    pub last_used: Option<i64>,
}

/// Lists a user's keys, the oldest first.
pub fn list(connection: &Connection, user_id: UserId) -> ApiResult<Vec<KeyRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, client, date_created, last_used FROM api_key LEFT JOIN api_key_use ON api_key_id = id
         WHERE user_id = ?1 ORDER BY id",
    )?;
    let keys = statement.query_map([user_id], |row| {
        Ok(KeyRecord {
            id: row.get(0)?,
            client: row.get(1)?,
            date_created: row.get(2)?,
            last_used: row.get(3)?,
        })
    })?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Stores when a key was last used, in UNIX seconds. Does nothing if the key was revoked.
pub fn set_last_used(tx: &Tx<'_>, id: i64, time: i64) -> ApiResult<()> {
    tx.execute_cached(
        "INSERT INTO api_key_use (api_key_id, last_used) SELECT id, ?2 FROM api_key WHERE id = ?1
         ON CONFLICT DO UPDATE SET last_used = max(last_used, excluded.last_used)",
        (id, time),
    )?;
    Ok(())
}

/// Deletes one of a user's keys. Returns whether it existed.
pub fn revoke(tx: &Tx<'_>, user_id: UserId, id: i64) -> ApiResult<bool> {
    let removed =
        tx.prepare_cached("DELETE FROM api_key WHERE user_id = ?1 AND id = ?2")?.execute((user_id, id))?;
    if removed > 0 {
        tx.wake_tasks_after_commit();
        tx.audit(Entry::new(Action::KeyRevoked, user_id).before(json!({ "id": id })))?;
    }
    Ok(removed > 0)
}

//! `/bot_storage`: a key-value store for each bot, in which the published bot library keeps its state.

use crate::api::resource::Resource;
use crate::domain::limits;
use crate::domain::limits::{
    AccountSet, Accounts, MAX_BOT_STORAGE, MAX_BOT_STORAGE_KEYS, MAX_BOT_STORAGE_KEYS_PER_REQUEST,
};
use crate::http::{ApiError, ApiResult, Call, Caller, Read, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Snapshot, Tx};
use crate::types::UserId;
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub const RESOURCE: Resource = Resource { name: "bot_storage", routes, ..Resource::EMPTY };

/// The maximum size of a request, which can fill the storage at once even if the text is escaped.
const BODY_LIMIT: usize = 32 << 20;

/// Counts the keys of accounts, a JSON list of their ids.
const KEYS: &str = "SELECT count(*) FROM bot_storage WHERE user_id IN (SELECT value FROM json_each(?1))";

/// Adds up the bytes of the keys and values of accounts, which does not read the values.
const BYTES: &str = "SELECT sum(octet_length(key) + octet_length(value)) FROM bot_storage
     WHERE user_id IN (SELECT value FROM json_each(?1))";

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/bot_storage", USER, get_storage).slow(),
        Route::call(Method::PUT, "/bot_storage", USER, update_storage).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/bot_storage", USER, remove_storage),
    ]
}

/// Parameters of `GET /bot_storage` and `DELETE /bot_storage`.
#[derive(Deserialize)]
pub struct KeysParams {
    /// The keys, at most 1000; by default all. An unknown key is an error.
    keys: Option<Vec<String>>,
}

/// The reply to `GET /bot_storage`.
#[derive(Serialize)]
struct Storage {
    /// An object with the value of each key; values are strings.
    storage: Map<String, Value>,
}

/// `GET /bot_storage`: returns values of the caller's storage.
fn get_storage(read: &Read<'_, User>, params: KeysParams) -> ApiResult<Reply<Storage>> {
    let mut storage = Map::new();
    match params.keys {
        Some(keys) => {
            check_number(keys.len())?;
            for key in keys {
                let value = load(read, read.caller.user_id, &key)?.ok_or_else(no_such_key)?;
                storage.insert(key, value.into());
            }
        }
        None => storage.extend(list(read, read.caller.user_id)?),
    }
    Reply::data(&Storage { storage })
}

/// Parameters of `PUT /bot_storage`.
#[derive(Deserialize)]
pub struct UpdateStorageParams {
    /// An object with keys, at most 1000, and their new values, which are strings. Other keys do not change.
    storage: BTreeMap<String, String>,
}

/// `PUT /bot_storage`: sets values in the caller's storage: all, or none if the storage would exceed 10,000,000
/// characters or 10,000 keys, with those of the other bots of the person.
async fn update_storage(call: Call<User>, params: UpdateStorageParams) -> ApiResult<Reply> {
    let storage = params.storage;
    check_number(storage.len())?;
    // SQLite's `length` counts the characters before the first null byte.
    if storage.iter().any(|(key, value)| key.contains('\0') || value.contains('\0')) {
        return Err(ApiError::bad_request("Storage must not contain null bytes"));
    }
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let bytes: usize = storage.iter().map(|(key, value)| key.len() + value.len()).sum();
    let may_exceed = call.app.readers.read(|snapshot| -> ApiResult<bool> {
        let accounts = Accounts::of(snapshot, caller.user_id, now)?;
        Ok(!accounts.have_room(BYTES, bytes, MAX_BOT_STORAGE)?)
    });
    if may_exceed.await? {
        let keys = serde_json::to_string(&storage.keys().collect::<Vec<_>>())?;
        let added: usize =
            storage.iter().map(|(key, value)| key.chars().count() + value.chars().count()).sum();
        let check =
            move |snapshot: &Snapshot<'_>| check_characters(snapshot, caller.user_id, &keys, added, now);
        call.app.read_in(&call.app.pools.slow_reads, Some(call.caller.quota_owner()), check).await?;
    }
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let mut has_new_keys = false;
        for (key, value) in &storage {
            has_new_keys |= set(tx, caller.user_id, key, value)?;
        }
        let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
        if has_new_keys {
            accounts.check("keys in the storage of bots", KEYS, 0, MAX_BOT_STORAGE_KEYS)?;
        }
        // Other requests may have written since the characters were counted.
        accounts.check_length("the storage of bots", BYTES, MAX_BOT_STORAGE * char::MAX.len_utf8())
    };
    call.write(job).await?;
    Ok(Reply::ok())
}

/// Checks the length of the storage without the values of `keys`, a JSON list, and with `added` more characters. Characters are
/// counted in a snapshot, because this reads all values.
fn check_characters(
    connection: &Connection,
    user_id: UserId,
    keys: &str,
    added: usize,
    now: i64,
) -> ApiResult<()> {
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(sum(length(key) + length(value)), 0) FROM bot_storage
         WHERE user_id IN (SELECT value FROM json_each(?1))
             AND NOT (user_id = ?2 AND key IN (SELECT value FROM json_each(?3)))",
    )?;
    let mut most = 0;
    let count = |set: &AccountSet| -> ApiResult<usize> {
        let stored: i64 = statement.query_row((set.list(), user_id, keys), |row| row.get(0))?;
        let length = usize::try_from(stored).unwrap_or(0).saturating_add(added);
        most = length.max(most);
        Ok(length)
    };
    if Accounts::of(connection, user_id, now)?.are_within(MAX_BOT_STORAGE, count)? {
        return Ok(());
    }
    let excess = most.saturating_sub(MAX_BOT_STORAGE);
    let msg = format!(
        "Request exceeds storage limit by {excess} characters. The limit is {MAX_BOT_STORAGE} characters."
    );
    Err(ApiError::bad_request(msg))
}

/// `DELETE /bot_storage`: deletes values of the caller's storage.
fn remove_storage(tx: &mut Tx<'_>, caller: &User, params: KeysParams) -> ApiResult<Reply> {
    match params.keys {
        Some(keys) => {
            check_number(keys.len())?;
            for key in keys {
                if !delete(tx, caller.user_id, &key)? {
                    return Err(no_such_key());
                }
            }
        }
        None => drop(delete_all(tx, caller.user_id)?),
    }
    Ok(Reply::ok())
}

/// Checks the number of keys in a request.
fn check_number(count: usize) -> ApiResult<()> {
    limits::check("keys in one request", count, MAX_BOT_STORAGE_KEYS_PER_REQUEST)
}

fn no_such_key() -> ApiError {
    ApiError::bad_request("Key does not exist.")
}

fn load(connection: &Connection, user_id: UserId, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM bot_storage WHERE user_id = ?1 AND key = ?2")?
        .query_row((user_id, key), |row| row.get(0))
        .optional()
}

fn list(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<(String, Value)>> {
    connection
        .prepare_cached("SELECT key, value FROM bot_storage WHERE user_id = ?1 ORDER BY key")?
        .query_map([user_id], |row| Ok((row.get(0)?, Value::String(row.get(1)?))))?
        .collect()
}

/// Sets a value, and returns whether the key is new.
fn set(connection: &Connection, user_id: UserId, key: &str, value: &str) -> rusqlite::Result<bool> {
    let update = "UPDATE bot_storage SET value = ?3 WHERE user_id = ?1 AND key = ?2";
    if connection.prepare_cached(update)?.execute((user_id, key, value))? > 0 {
        return Ok(false);
    }
    let insert = "INSERT INTO bot_storage (user_id, key, value) VALUES (?1, ?2, ?3)";
    connection.execute_cached(insert, (user_id, key, value))?;
    Ok(true)
}

fn delete(connection: &Connection, user_id: UserId, key: &str) -> rusqlite::Result<bool> {
    let statement = "DELETE FROM bot_storage WHERE user_id = ?1 AND key = ?2";
    Ok(connection.prepare_cached(statement)?.execute((user_id, key))? > 0)
}

/// Deletes all of a user's storage, and returns the number of its entries.
pub fn delete_all(connection: &Connection, user_id: UserId) -> rusqlite::Result<usize> {
    connection.prepare_cached("DELETE FROM bot_storage WHERE user_id = ?1")?.execute([user_id])
}

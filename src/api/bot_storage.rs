//! `/bot_storage`: a key-value store for each bot, in which the published bot library keeps its state.

use crate::api::resource::Resource;
use crate::domain::limits;
use crate::domain::limits::{Accounts, MAX_BOT_STORAGE, MAX_BOT_STORAGE_KEYS_PER_REQUEST};
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub const RESOURCE: Resource = Resource { name: "bot_storage", routes, ..Resource::EMPTY };

/// The maximum size of a request, which can fill the storage at once even if the text is escaped.
const BODY_LIMIT: usize = 32 << 20;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/bot_storage", USER, get_storage).slow(),
        Route::write(Method::PUT, "/bot_storage", USER, update_storage).body_limit(BODY_LIMIT),
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
/// characters.
fn update_storage(tx: &mut Tx<'_>, caller: &User, params: UpdateStorageParams) -> ApiResult<Reply> {
    check_number(params.storage.len())?;
    for (key, value) in &params.storage {
        // SQLite's `length` counts the characters before the first null byte.
        if key.contains('\0') || value.contains('\0') {
            return Err(ApiError::bad_request("Storage must not contain null bytes"));
        }
        set(tx, caller.user_id, key, value)?;
    }
    let statement = "SELECT sum(length(key) + length(value)) FROM bot_storage WHERE user_id IN (SELECT value FROM json_each(?1))";
    let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
    if !accounts.have_room(statement, 0, MAX_BOT_STORAGE)? {
        let excess = accounts.count(statement)?.saturating_sub(MAX_BOT_STORAGE);
        let msg = format!(
            "Request exceeds storage limit by {excess} characters. The limit is {MAX_BOT_STORAGE} characters."
        );
        return Err(ApiError::bad_request(msg));
    }
    Ok(Reply::ok())
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

fn set(connection: &Connection, user_id: UserId, key: &str, value: &str) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO bot_storage (user_id, key, value) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        (user_id, key, value),
    )
}

fn delete(connection: &Connection, user_id: UserId, key: &str) -> rusqlite::Result<bool> {
    let statement = "DELETE FROM bot_storage WHERE user_id = ?1 AND key = ?2";
    Ok(connection.prepare_cached(statement)?.execute((user_id, key))? > 0)
}

/// Deletes all of a user's storage, and returns the number of its entries.
pub fn delete_all(connection: &Connection, user_id: UserId) -> rusqlite::Result<usize> {
    connection.prepare_cached("DELETE FROM bot_storage WHERE user_id = ?1")?.execute([user_id])
}

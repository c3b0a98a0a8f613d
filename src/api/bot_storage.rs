//! `/bot_storage`: texts that a bot remembers by name. The published library of bots keeps its state here.

use super::Resource;
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Storage of bots.
pub const RESOURCE: Resource = Resource { name: "bot_storage", routes, ..Resource::EMPTY };

/// What one bot may keep: names and values together, in characters, as published.
const STORAGE_LIMIT: i64 = 10_000_000;

/// A request that fills the storage at once fits, also where the text is escaped.
const BODY_LIMIT: usize = 32 << 20;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/bot_storage", USER, get_storage),
        Route::write(Method::PUT, "/bot_storage", USER, update_storage).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/bot_storage", USER, remove_storage),
    ]
}

/// Parameters of `GET /bot_storage` and `DELETE /bot_storage`.
#[derive(Deserialize)]
pub struct KeysParams {
    /// Only these; all when absent.
    #[serde(default)]
    keys: Option<Vec<String>>,
}

/// `GET /bot_storage`.
fn get_storage(read: &Read<'_, User>, params: KeysParams) -> ApiResult<Reply> {
    let mut storage = Map::new();
    match params.keys {
        Some(keys) => {
            for key in keys {
                let value = get(read, read.caller.user_id, &key)?.ok_or_else(no_such_key)?;
                storage.insert(key, value.into());
            }
        }
        None => storage.extend(all(read, read.caller.user_id)?),
    }
    Reply::field("storage", &storage)
}

/// Parameters of `PUT /bot_storage`.
#[derive(Deserialize)]
pub struct UpdateStorageParams {
    /// Names and values; others stay as they are.
    storage: BTreeMap<String, String>,
}

/// `PUT /bot_storage`: all of it, or nothing if it would be too much.
fn update_storage(tx: &mut Tx<'_>, caller: &User, params: UpdateStorageParams) -> ApiResult<Reply> {
    for (key, value) in &params.storage {
        put(tx, caller.user_id, key, value)?;
    }
    let beyond = size(tx, caller.user_id)? - STORAGE_LIMIT;
    if beyond > 0 {
        let msg = format!(
            "Request exceeds storage limit by {beyond} characters. The limit is {STORAGE_LIMIT} characters."
        );
        return Err(ApiError::bad_request(msg));
    }
    Ok(Reply::ok())
}

/// `DELETE /bot_storage`.
fn remove_storage(tx: &mut Tx<'_>, caller: &User, params: KeysParams) -> ApiResult<Reply> {
    match params.keys {
        Some(keys) => {
            for key in keys {
                if !remove(tx, caller.user_id, &key)? {
                    return Err(no_such_key());
                }
            }
        }
        None => remove_all(tx, caller.user_id)?,
    }
    Ok(Reply::ok())
}

fn no_such_key() -> ApiError {
    ApiError::bad_request("Key does not exist.")
}

fn get(connection: &Connection, user_id: UserId, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM bot_storage WHERE user_id = ?1 AND key = ?2")?
        .query_row((user_id, key), |row| row.get(0))
        .optional()
}

fn all(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<(String, Value)>> {
    connection
        .prepare_cached("SELECT key, value FROM bot_storage WHERE user_id = ?1 ORDER BY key")?
        .query_map([user_id], |row| Ok((row.get(0)?, Value::String(row.get(1)?))))?
        .collect()
}

fn put(connection: &Connection, user_id: UserId, key: &str, value: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO bot_storage (user_id, key, value) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute((user_id, key, value))
        .map(|_| ())
}

/// Names and values together, in characters.
fn size(connection: &Connection, user_id: UserId) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT coalesce(sum(length(key) + length(value)), 0) FROM bot_storage WHERE user_id = ?1",
        )?
        .query_row([user_id], |row| row.get(0))
}

fn remove(connection: &Connection, user_id: UserId, key: &str) -> rusqlite::Result<bool> {
    let statement = "DELETE FROM bot_storage WHERE user_id = ?1 AND key = ?2";
    Ok(connection.prepare_cached(statement)?.execute((user_id, key))? > 0)
}

fn remove_all(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM bot_storage WHERE user_id = ?1")?.execute([user_id]).map(|_| ())
}

//! API keys: `POST /fetch_api_key`, `POST /users/me/api_key/regenerate`.
//!
//! A user has as many keys as clients: each login mints one under the client's name, so that a lost phone costs one key
//! and nothing else. Only digests are stored (`DESIGN.md`, "Who may"), but for the key of a bot, which its owner may read
//! again (`bots`).

use super::users::{passwords, sql as users};
use super::{Slice, bots, realm};
use crate::http::caller::{API_KEY_LENGTH, digest};
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use rand::RngExt;
use rand::distr::Alphanumeric;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// API keys.
pub const SLICE: Slice = Slice { name: "keys", routes, ..Slice::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/fetch_api_key", ANYONE, fetch_api_key),
        Route::write(Method::POST, "/users/me/api_key/regenerate", USER, regenerate),
    ]
}

/// Parameters of `POST /fetch_api_key`.
#[derive(Deserialize)]
pub struct LoginParams {
    /// The real email.
    username: String,
    /// The password.
    password: String,
}

/// `POST /fetch_api_key`: email and password to a key of its own for this client. A wrong password, an unknown email and
/// an account in no use take the same time.
pub async fn fetch_api_key(call: Call<Anyone>, params: LoginParams) -> ApiResult<Reply> {
    let (app, info) = (&call.app, &call.info);
    let account = params.username.trim().to_lowercase();
    let now = app.clock.milliseconds();
    app.limits.may_try_password(&account, info.peer, now)?;
    let (found, allowed, is_closed) = app
        .readers
        .read(|snapshot| -> ApiResult<_> {
            let allowed: bool = realm::settings::get(snapshot, "password_auth_enabled")?;
            let is_closed = realm::deactivated::get(snapshot)?;
            Ok((users::password_of(snapshot, &account)?, allowed, is_closed))
        })
        .await?;
    let (user_id, stored, is_active) = match found {
        Some((user_id, stored, is_active)) => (Some(user_id), stored, is_active),
        None => (None, None, false),
    };
    let right = passwords::verify(params.password, stored).await?;
    if !allowed {
        let msg = "Password authentication is disabled in this organization";
        return Err(ApiError::new(401, "PASSWORD_AUTH_DISABLED", msg));
    }
    let Some(user_id) = user_id.filter(|_| right) else {
        app.limits.failed_password(&account, info.peer, now);
        let msg = "Your username or password is incorrect";
        return Err(ApiError::new(401, "AUTHENTICATION_FAILED", msg));
    };
    if is_closed {
        return Err(ApiError::new(401, "REALM_DEACTIVATED", "This organization has been deactivated"));
    }
    if !is_active {
        return Err(ApiError::new(401, "USER_DEACTIVATED", "Account is deactivated"));
    }
    app.limits.right_password(&account);
    let client = info.client.clone();
    call.write(move |tx, _| {
        let user = users::by_id(tx, user_id)?.ok_or_else(ApiError::internal)?;
        let key = mint(tx, user_id, &client)?;
        Reply::data(&json!({ "api_key": key, "email": user.delivery_email, "user_id": user_id }))
    })
    .await
}

/// `POST /users/me/api_key/regenerate`: a new key; all others of the user stop working.
pub fn regenerate(tx: &mut Tx<'_>, caller: &User, _params: NoParams) -> ApiResult<Reply> {
    let client: String = tx
        .prepare_cached("SELECT client FROM api_key WHERE id = ?1")?
        .query_row([caller.api_key_id], |row| row.get(0))?;
    if caller.is_bot() {
        let bot = users::by_id(tx, caller.user_id)?.ok_or_else(ApiError::internal)?;
        return Reply::field("api_key", &bots::change::regenerate_key(tx, &bot)?);
    }
    delete_all(tx, caller.user_id)?;
    Reply::field("api_key", &mint(tx, caller.user_id, &client)?)
}

/// Removes all keys of a user.
pub fn delete_all(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    tx.prepare_cached("DELETE FROM api_key WHERE user_id = ?1")?.execute([user_id])?;
    Ok(())
}

/// Makes a key and answers it. It cannot be read again.
pub fn mint(tx: &Tx<'_>, user_id: UserId, client: &str) -> ApiResult<String> {
    let key: String = rand::rng().sample_iter(Alphanumeric).take(API_KEY_LENGTH).map(char::from).collect();
    tx.prepare_cached("INSERT INTO api_key (user_id, digest, client, date_created) VALUES (?1, ?2, ?3, ?4)")?
        .execute((user_id, digest(&key), client, tx.now()))?;
    Ok(key)
}

/// Whether a key is one of a user's.
pub fn works(connection: &Connection, user_id: UserId, api_key: &str) -> ApiResult<bool> {
    let statement = "SELECT EXISTS (SELECT 1 FROM api_key WHERE user_id = ?1 AND digest = ?2)";
    Ok(connection.prepare_cached(statement)?.query_row((user_id, digest(api_key)), |row| row.get(0))?)
}

/// A key as it can still be told of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Names the key in commands.
    pub id: i64,
    /// The program that asked for it.
    pub client: String,
    /// UNIX seconds.
    pub date_created: i64,
}

/// A user's keys, the oldest first.
pub fn list(connection: &Connection, user_id: UserId) -> ApiResult<Vec<KeyRecord>> {
    let mut statement = connection
        .prepare_cached("SELECT id, client, date_created FROM api_key WHERE user_id = ?1 ORDER BY id")?;
    let keys = statement.query_map([user_id], |row| {
        Ok(KeyRecord { id: row.get(0)?, client: row.get(1)?, date_created: row.get(2)? })
    })?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Removes one of a user's keys; answers whether there was one.
pub fn revoke(tx: &Tx<'_>, user_id: UserId, id: i64) -> ApiResult<bool> {
    let removed =
        tx.prepare_cached("DELETE FROM api_key WHERE user_id = ?1 AND id = ?2")?.execute((user_id, id))?;
    Ok(removed > 0)
}

//! Logging in, out, and the keys and sessions of the caller's clients: `POST /fetch_api_key`, `POST
//! /users/me/api_key/regenerate`, `POST /accounts/login/`, `POST /accounts/logout/`, and `/users/me/api_keys` and
//! `/users/me/sessions`, which the published interface lacks.
//!
//! Every login creates a key under the client's name, so a lost phone costs one key and no other client is logged out. In
//! a browser it begins a session, whose secret is in a cookie that scripts cannot read ([`session`]). Only digests are stored,
//! except for the key of a bot, which its owner may read again.

use crate::api::resource::{Background, Resource};
use crate::app::App;
use crate::auth::password_attempts::{Wrong, wrong_password};
use crate::auth::session;
use crate::domain::accounts::password;
use crate::domain::keys::{KeyRecord, list, mint, revoke};
use crate::domain::logins::known::LoginSource;
use crate::domain::logins::sessions::SessionRecord;
use crate::domain::logins::{known, sessions};
use crate::domain::rows::user::UserRow;
use crate::domain::users::passwords;
use crate::domain::users::passwords::OnBehalfOf;
use crate::domain::{bots, logins, notices, realm, rows, users};
use crate::http::params::NoParams;
use crate::http::{
    ANYONE, Anyone, ApiError, ApiResult, Call, OtherReply, Read, Reply, Route, USER, User, success_body,
};
use crate::scheduler;
use crate::store::{Snapshot, Tx};
use crate::types::UserId;
use hyper::Method;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;

pub const RESOURCE: Resource =
    Resource { name: "keys", routes, background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move {
        logins::save_uses(&app).await?;
        delete_ended_sessions(&app).await.map(|()| None)
    }))
};

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/fetch_api_key", ANYONE, fetch_api_key).on_full_disk(),
        Route::write(Method::POST, "/users/me/api_key/regenerate", USER, regenerate).on_full_disk(),
        Route::read(Method::GET, "/users/me/api_keys", USER, list_keys),
        Route::write(Method::POST, "/users/me/api_keys/revoke_others", USER, revoke_other_keys)
            .on_full_disk(),
        Route::write(Method::DELETE, "/users/me/api_keys/{api_key_id}", USER, revoke_key),
        Route::write(Method::DELETE, "/users/me/sessions/{session_id}", USER, end_session),
        Route::call(Method::POST, "/accounts/login/", ANYONE, log_in).outside().on_full_disk(),
        Route::call(Method::POST, "/accounts/logout/", USER, log_out).outside().on_full_disk(),
    ]
}

/// Parameters of `POST /fetch_api_key`.
#[derive(Deserialize)]
pub struct LoginParams {
    /// The user's real email; upper and lower case are the same.
    username: String,
    /// The user's password. Attempts are limited by account and by address.
    password: String,
}

/// The reply to `POST /fetch_api_key`.
#[derive(Serialize)]
pub struct NewApiKey {
    /// A new API key.
    pub api_key: String,
    /// The user's real email.
    pub email: String,
    /// The user's id.
    pub user_id: UserId,
}

/// `POST /fetch_api_key`: logs in with a password and returns a new API key for this client.
async fn fetch_api_key(call: Call<Anyone>, params: LoginParams) -> ApiResult<Reply<NewApiKey>> {
    let login = check_password(&call, params).await?;
    let source = LoginSource { client: call.info.client.clone(), address: call.info.peer };
    let (user, api_key) = complete_login(call, login, move |tx, user_id| {
        logins::record(tx, user_id, &source)?;
        mint(tx, user_id, &source.client)
    })
    .await?;
    Reply::data(&NewApiKey { api_key, email: user.delivery_email, user_id: user.user_id })
}

/// `POST /accounts/login/`: begins a session in a browser.
async fn log_in(call: Call<Anyone>, params: LoginParams) -> ApiResult<Reply> {
    let login = check_password(&call, params).await?;
    let origin = call.info.origin.clone();
    let client = call.info.browser.clone().unwrap_or_default();
    let source = LoginSource { client, address: call.info.peer };
    let begin = move |tx: &mut Tx<'_>, user_id| logins::begin_session(tx, user_id, &source);
    let (user, secret) = complete_login(call, login, begin).await?;
    Ok(with_cookies(format!("\"user_id\":{}", user.user_id), session::begin(&secret, &origin)))
}

/// `POST /accounts/logout/`: ends the session, and no other.
async fn log_out(call: Call<User>, _params: NoParams) -> ApiResult<Reply> {
    let Some(id) = call.caller.credential.session_id() else {
        return Err(ApiError::bad_request("There is no session to end"));
    };
    let origin = call.info.origin.clone();
    call.write(move |tx, caller| sessions::end(tx, caller.user_id, id)).await?;
    Ok(with_cookies(String::new(), session::end(&origin)))
}

fn with_cookies(members: String, headers: Vec<(&'static str, String)>) -> Reply {
    let body = success_body(members, &[]).into();
    Reply::other(OtherReply { status: 200, content_type: "application/json", headers, body })
}

/// The reply to `GET /users/me/api_keys`.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "members of the answer")]
struct ApiKeys {
    /// API keys of apps, programs and scripts, the oldest first.
    api_keys: Vec<KeyRecord>,
    /// The id of the API key of this request; null if it belongs to a session.
    current_api_key_id: Option<i64>,
    /// Sessions of browsers, the oldest first.
    sessions: Vec<SessionRecord>,
    /// The id of the session of this request; null if it came with an API key.
    current_session_id: Option<i64>,
}

/// `GET /users/me/api_keys`: lists the caller's API keys and browser sessions, without the secrets. Not part of the
/// published interface.
fn list_keys(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<ApiKeys>> {
    let (user_id, credential) = (read.caller.user_id, read.caller.credential);
    Reply::data(&ApiKeys {
        api_keys: list(read, user_id)?,
        current_api_key_id: credential.api_key_id(),
        sessions: sessions::list(read, user_id, read.app.clock.seconds())?,
        current_session_id: credential.session_id(),
    })
}

/// `POST /users/me/api_keys/revoke_others`: logs out the caller's other clients: revokes their API keys and ends their
/// sessions. Not part of the published interface.
fn revoke_other_keys(tx: &mut Tx<'_>, caller: &User, _params: NoParams) -> ApiResult<Reply> {
    logins::end_others(tx, caller)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /users/me/api_keys/{api_key_id}`.
#[derive(Deserialize)]
struct KeyParams {
    /// The id of an API key of the caller.
    api_key_id: i64,
}

/// `DELETE /users/me/api_keys/{api_key_id}`: revokes an API key, which may be that of this request. Not part of the
/// published interface.
fn revoke_key(tx: &mut Tx<'_>, caller: &User, params: KeyParams) -> ApiResult<Reply> {
    if !revoke(tx, caller.user_id, params.api_key_id)? {
        return Err(ApiError::bad_request("API key does not exist"));
    }
    bots::change::clear_revoked_key(tx, caller.user_id)?;
    // A thief may have used it.
    if caller.credential.api_key_id() != Some(params.api_key_id) {
        logins::end_requested(tx, caller.user_id)?;
    }
    Ok(Reply::ok())
}

/// Parameters of `DELETE /users/me/sessions/{session_id}`.
#[derive(Deserialize)]
struct SessionParams {
    /// The id of a session of the caller.
    session_id: i64,
}

/// `DELETE /users/me/sessions/{session_id}`: ends a session, which may be that of this request. Not part of the
/// published interface.
fn end_session(tx: &mut Tx<'_>, caller: &User, params: SessionParams) -> ApiResult<Reply> {
    if !sessions::end(tx, caller.user_id, params.session_id)? {
        return Err(ApiError::bad_request("Session does not exist"));
    }
    // As for a key.
    if caller.credential.session_id() != Some(params.session_id) {
        logins::end_requested(tx, caller.user_id)?;
    }
    Ok(Reply::ok())
}

/// A login with the right password, as of the moment at which its hash was read.
struct VerifiedLogin {
    user_id: UserId,
    /// The stored hash that the password matched.
    verified_hash: String,
    /// The hash that replaces it, if another server made it.
    new_hash: Option<String>,
}

/// Returns the login of the user with this email and password. A wrong password, an unknown email and a deactivated account
/// take the same time. Failures are logged with the address, for programs that block addresses.
async fn check_password(call: &Call<Anyone>, params: LoginParams) -> ApiResult<VerifiedLogin> {
    let (app, peer) = (&call.app, call.info.peer);
    let account = params.username.trim().to_lowercase();
    let is_known = app
        .readers
        .read(|snapshot| -> ApiResult<_> {
            let found = users::load_password(snapshot, &account)?;
            match found {
                Some((user_id, ..)) => known::is_known_address(snapshot, user_id, peer, app.clock.seconds()),
                None => Ok(false),
            }
        })
        .await?;
    let attempt = match app.rate_limiter.passwords.begin(&account, peer, is_known, &app.clock).await {
        Ok(attempt) => attempt,
        Err(error) => return Err(record_failure(app, peer, None, error).await),
    };
    let (found, is_enabled, is_deactivated) = app
        .readers
        .read(|snapshot| -> ApiResult<_> {
            let is_enabled: bool = realm::settings::PASSWORD_AUTH_ENABLED.get(snapshot)?;
            let is_deactivated = realm::is_deactivated(snapshot)?;
            Ok((users::load_password(snapshot, &account)?, is_enabled, is_deactivated))
        })
        .await?;
    if !is_enabled {
        attempt.cancel();
        let msg = "Password authentication is disabled in this organization";
        return Err(ApiError::new(401, "PASSWORD_AUTH_DISABLED", msg));
    }
    let (user_id, stored, is_active) = match found {
        Some((user_id, stored, is_active)) => (Some(user_id), stored, is_active),
        None => (None, None, false),
    };
    let whose = if is_known { OnBehalfOf::KnownAddress } else { OnBehalfOf::Stranger };
    let is_right = match passwords::verify(&app.pools, whose, params.password.clone(), stored.clone()).await {
        Ok(is_right) => is_right,
        Err(error) => {
            attempt.cancel();
            return Err(error);
        }
    };
    let Some((right_user_id, verified_hash)) = user_id.zip(stored).filter(|_| is_right) else {
        let Wrong { error, begins_lock } = attempt.wrong(wrong_password());
        if let Some(user_id) = user_id.filter(|_| is_active && begins_lock) {
            logins::tell_locked_out(app, user_id, peer);
        }
        return Err(record_failure(app, peer, user_id, error).await);
    };
    if let Err(error) = check_is_open(is_deactivated, is_active) {
        attempt.cancel();
        return Err(record_failure(app, peer, user_id, error).await);
    }
    attempt.right();
    let new_hash = if passwords::is_foreign(&verified_hash) {
        // The next login tries again.
        passwords::hash_async(&app.pools, OnBehalfOf::KnownAddress, params.password).await.ok()
    } else {
        None
    };
    Ok(VerifiedLogin { user_id: right_user_id, verified_hash, new_hash })
}

/// Creates the key or the session of a login. Hashing takes long, so the job asks again: a password that was changed meanwhile
/// is a wrong one, and a key of it would outlive the change.
async fn complete_login(
    call: Call<Anyone>,
    login: VerifiedLogin,
    create: impl FnOnce(&mut Tx<'_>, UserId) -> ApiResult<String> + Send + 'static,
) -> ApiResult<(UserRow, String)> {
    let (app, peer, user_id) = (Arc::clone(&call.app), call.info.peer, login.user_id);
    let completed = call.write(move |tx, _| {
        if !password::is_current(tx, user_id, Some(&login.verified_hash))? {
            return Err(wrong_password());
        }
        let user = rows::user::existing(tx, user_id)?;
        check_is_open(realm::is_deactivated(tx)?, user.is_active)?;
        if let Some(hash) = &login.new_hash {
            users::set_password(tx, user_id, hash)?;
        }
        let secret = create(tx, user_id)?;
        Ok((user, secret))
    });
    match completed.await {
        Ok(completed) => Ok(completed),
        Err(error) => Err(record_failure(&app, peer, Some(user_id), error).await),
    }
}

/// Refuses logins in a deactivated organization and to a deactivated account.
fn check_is_open(is_deactivated: bool, is_active: bool) -> ApiResult<()> {
    if is_deactivated {
        return Err(ApiError::realm_deactivated());
    }
    if is_active { Ok(()) } else { Err(ApiError::user_deactivated()) }
}

/// Records a failed login with its address in the program's log and in the audit log, and returns its error. Attempts beyond
/// the limit are no guesses, and only in the program's log.
async fn record_failure(app: &App, peer: IpAddr, user_id: Option<UserId>, error: ApiError) -> ApiError {
    let (id, code) = (user_id.map(|user_id| user_id.0), error.code());
    tracing::info!(address = %peer, user_id = id, code, "a login failed");
    if error.status() != 429 {
        logins::record_failure(app, peer, user_id, code).await;
    }
    error
}

/// The reply to `POST /users/me/api_key/regenerate`.
#[derive(Serialize)]
pub struct RegeneratedKey {
    /// The new API key.
    pub api_key: String,
}

/// `POST /users/me/api_key/regenerate`: creates an API key. All other keys of the user stop working, and all sessions
/// end except that of this request. The notification bot informs people.
fn regenerate(tx: &mut Tx<'_>, caller: &User, _params: NoParams) -> ApiResult<Reply<RegeneratedKey>> {
    if caller.is_bot() {
        let bot = rows::user::existing(tx, caller.user_id)?;
        return Reply::data(&RegeneratedKey { api_key: bots::change::regenerate_key(tx, &bot)? });
    }
    let client = match caller.credential.api_key_id() {
        Some(id) => tx
            .prepare_cached("SELECT client FROM api_key WHERE id = ?1")?
            .query_row([id], |row| row.get(0))?,
        None => session::CLIENT.to_owned(),
    };
    let lost_addresses = logins::end_others(tx, caller)?;
    if let Some(id) = caller.credential.api_key_id() {
        revoke(tx, caller.user_id, id)?;
    }
    notices::security::key_regenerated(tx, caller.user_id, lost_addresses)?;
    Reply::data(&RegeneratedKey { api_key: mint(tx, caller.user_id, &client)? })
}

/// Deletes the rows of sessions that ended because they were not used: they hold addresses. Deletes none for a day after the clock
/// has jumped: they work again when it is right.
async fn delete_ended_sessions(app: &App) -> ApiResult<()> {
    if !app.jump_detector.is_steady(&app.clock) {
        return Ok(());
    }
    let now = app.clock.seconds();
    loop {
        let find = move |snapshot: &Snapshot<'_>| sessions::ended(snapshot, now);
        // In a pool only if there are many sessions: it would start a thread every minute.
        let mut ended = app.read_quickly_or_slowly(None, find).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let delete = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
            ended.pop().map_or(Ok(()), |id| sessions::delete_ended(tx, id))?;
            Ok(ended.is_empty())
        };
        app.writer.run_in_steps("ended_sessions", delete).await?;
    }
}

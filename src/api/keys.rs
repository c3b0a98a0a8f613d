//! API keys: `POST /fetch_api_key`, `POST /users/me/api_key/regenerate`.
//!
//! A user has as many keys as clients: each login mints one under the client's name, so that a lost phone costs one key
//! and nothing else. Only digests are stored (`DESIGN.md`, "Who may"), but for the key of a bot, which its owner may read
//! again (`bots`).

use crate::domain::access::user_rows;
use crate::domain::keys::{delete_all, mint};
use crate::domain::users::{passwords, sql as users};
use crate::domain::{bots, realm};
use crate::http::Resource;
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Reply, Route, USER, User};
use crate::store::Tx;
use hyper::Method;
use serde::Deserialize;
use serde_json::json;

/// API keys.
pub const RESOURCE: Resource = Resource { name: "keys", routes, ..Resource::EMPTY };

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
    app.rate_limiter.check_password_attempt(&account, info.peer, now)?;
    let (found, allowed, is_closed) = app
        .readers
        .read(|snapshot| -> ApiResult<_> {
            let allowed: bool = realm::settings::PASSWORD_AUTH_ENABLED.get(snapshot)?;
            let is_closed = realm::is_deactivated(snapshot)?;
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
        app.rate_limiter.record_password_failure(&account, info.peer, now);
        let msg = "Your username or password is incorrect";
        return Err(ApiError::new(401, "AUTHENTICATION_FAILED", msg));
    };
    if is_closed {
        return Err(ApiError::new(401, "REALM_DEACTIVATED", "This organization has been deactivated"));
    }
    if !is_active {
        return Err(ApiError::new(401, "USER_DEACTIVATED", "Account is deactivated"));
    }
    app.rate_limiter.reset_password_failures(&account);
    let client = info.client.clone();
    call.write(move |tx, _| {
        let user = user_rows::by_id(tx, user_id)?
            .ok_or_else(|| ApiError::internal("the user who gave the right password has no row"))?;
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
        let bot = user_rows::by_id(tx, caller.user_id)?
            .ok_or_else(|| ApiError::internal("the calling bot has no user row"))?;
        return Reply::field("api_key", &bots::change::regenerate_key(tx, &bot)?);
    }
    delete_all(tx, caller.user_id)?;
    Reply::field("api_key", &mint(tx, caller.user_id, &client)?)
}

//! `POST /fetch_api_key` and `POST /users/me/api_key/regenerate`.
//!
//! Every login creates a key under the client's name, so a lost phone costs one key and no other client is logged out.
//! Only digests are stored, except for the key of a bot, which its owner may read again.

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

/// The resource of API keys.
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
    /// The real email, in any case.
    username: String,
    /// The password. Attempts are rate-limited by account and by address.
    password: String,
}

/// `POST /fetch_api_key`: returns a new key for this client. A wrong password, an unknown email and a deactivated
/// account take the same time.
pub async fn fetch_api_key(call: Call<Anyone>, params: LoginParams) -> ApiResult<Reply> {
    let (app, info) = (&call.app, &call.info);
    let account = params.username.trim().to_lowercase();
    let now = app.clock.milliseconds();
    app.rate_limiter.check_password_attempt(&account, info.peer, now)?;
    let (found, is_enabled, is_deactivated) = app
        .readers
        .read(|snapshot| -> ApiResult<_> {
            let is_enabled: bool = realm::settings::PASSWORD_AUTH_ENABLED.get(snapshot)?;
            let is_deactivated = realm::is_deactivated(snapshot)?;
            Ok((users::load_password(snapshot, &account)?, is_enabled, is_deactivated))
        })
        .await?;
    let (user_id, stored, is_active) = match found {
        Some((user_id, stored, is_active)) => (Some(user_id), stored, is_active),
        None => (None, None, false),
    };
    let is_correct = passwords::verify(params.password, stored).await?;
    if !is_enabled {
        let msg = "Password authentication is disabled in this organization";
        return Err(ApiError::new(401, "PASSWORD_AUTH_DISABLED", msg));
    }
    let Some(user_id) = user_id.filter(|_| is_correct) else {
        app.rate_limiter.record_password_failure(&account, info.peer, now);
        let msg = "Your username or password is incorrect";
        return Err(ApiError::new(401, "AUTHENTICATION_FAILED", msg));
    };
    if is_deactivated {
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

/// `POST /users/me/api_key/regenerate`: creates a key. All other keys of the user stop working.
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

//! `POST /dev_fetch_api_key` and `GET /dev_list_users`: API keys without passwords, on servers of developers only.

use crate::api::resource::Resource;
use crate::app::Options;
use crate::auth::password_attempts::wrong_password;
use crate::domain::rows::user::UserRow;
use crate::domain::{keys, realm, users};
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Read, Reply, RequestInfo, Route};
use crate::types::UserId;
use hyper::Method;
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource = Resource { name: "dev", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/dev_fetch_api_key", ANYONE, dev_fetch_api_key),
        Route::read(Method::GET, "/dev_list_users", ANYONE, dev_list_users),
    ]
}

/// Refuses, unless the server was started for it and the client is on this machine.
fn check_enabled(options: &Options, info: &RequestInfo) -> ApiResult<()> {
    if options.dev_login && info.peer.to_canonical().is_loopback() {
        return Ok(());
    }
    Err(ApiError::bad_request("Endpoint not available in production."))
}

/// Parameters of `POST /dev_fetch_api_key`.
#[derive(Deserialize)]
pub struct DevLoginParams {
    /// The real email of a user; upper and lower case are the same.
    username: String,
}

/// The reply to `POST /dev_fetch_api_key`.
#[derive(Serialize)]
struct NewApiKey {
    /// A new API key of the user.
    api_key: String,
    /// The real email of the user.
    email: String,
    /// The user's id.
    user_id: UserId,
}

/// `POST /dev_fetch_api_key`: returns a new API key of any user, without a password. Only with `serve --dev`, and for
/// clients on the server's machine.
async fn dev_fetch_api_key(call: Call<Anyone>, params: DevLoginParams) -> ApiResult<Reply<NewApiKey>> {
    check_enabled(&call.app.options, &call.info)?;
    let client = call.info.client.clone();
    call.write(move |tx, _| {
        if realm::is_deactivated(tx)? {
            return Err(ApiError::realm_deactivated());
        }
        let user = users::by_delivery_email(tx, params.username.trim())?.filter(|user| !user.is_system_bot);
        let user = user.ok_or_else(wrong_password)?;
        if !user.is_active {
            return Err(ApiError::user_deactivated());
        }
        let key = keys::mint(tx, user.user_id, &client)?;
        Reply::data(&NewApiKey { api_key: key, email: user.delivery_email, user_id: user.user_id })
    })
    .await
}

/// The reply to `GET /dev_list_users`.
#[derive(Serialize)]
struct Logins {
    /// Active administrators.
    direct_admins: Vec<Login>,
    /// All other active people.
    direct_users: Vec<Login>,
}

/// A user who can log in without a password.
#[derive(Serialize)]
struct Login {
    /// The user's real email.
    email: String,
    /// Deprecated name of `realm_url`.
    realm_uri: String,
    /// The URL of the organization.
    realm_url: String,
}

/// `GET /dev_list_users`: lists the people who can log in without a password, administrators apart. Only with `serve
/// --dev`, and for clients on the server's machine.
fn dev_list_users(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply<Logins>> {
    check_enabled(&read.app.options, read.info)?;
    let people = users::all(read)?.into_iter().filter(|user| user.is_active && !user.is_bot());
    let (administrators, others): (Vec<UserRow>, Vec<UserRow>) =
        people.partition(|user| user.role.is_administrator());
    let origin = &read.info.origin;
    let login = |user: &UserRow| Login {
        email: user.delivery_email.clone(),
        realm_uri: origin.clone(),
        realm_url: origin.clone(),
    };
    let list = |users: &[UserRow]| users.iter().map(login).collect();
    Reply::data(&Logins { direct_admins: list(&administrators), direct_users: list(&others) })
}

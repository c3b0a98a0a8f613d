//! Push notifications: for browsers whose pages are closed (Web Push, RFC 8030), and for phones.
//!
//! A browser subscribes at its push service, and gives the address and its keys to the server. The server encrypts each
//! notification for the browser and posts it to the address. Only the publisher of the phone apps can push to them: a service
//! of theirs, the bouncer, passes notifications on. Both are transports of the same decisions and the same queue.
//!
//! - `sql`: the server's key, and subscriptions;
//! - `queue`: the notifications that wait in the file;
//! - `decide`: chooses the users to notify, after the commit of a message;
//! - `deliver`, `payload`, `slots`, `retries`: sending, beside the decisions about further messages;
//! - `endpoint`: the addresses of push services that the server accepts;
//! - `encryption`, `vapid`: encryption and identification by the standards;
//! - `devices`, `device_sql`: phones;
//! - `phones`, `phone_payload`, `bouncer`: sending to them.
//!
//! A browser's subscription belongs to a session, and ends with it; a phone to an API key. Web Push is no part of the published
//! interface.

mod bouncer;
mod decide;
mod deliver;
mod device_sql;
mod devices;
mod encryption;
mod endpoint;
mod payload;
mod phone_payload;
mod phones;
mod queue;
mod retries;
mod slots;
mod sql;
mod vapid;

use crate::api::resource::{Background, Resource};
use crate::api::web_push::encryption::BrowserKeys;
use crate::api::web_push::sql::Subscription;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Reply, Route, USER, User};
use crate::scheduler;
use crate::store::Tx;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::Method;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub const RESOURCE: Resource =
    Resource { name: "web_push", routes, background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    let decide = scheduler::run(Arc::clone(&app), stopped.clone(), decide::decide_due);
    let deliver = scheduler::run(app, stopped, |app| async move { deliver::deliver_due(&app).await });
    Box::pin(async move {
        tokio::join!(decide, deliver);
    })
};

fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::call(Method::GET, "/users/me/web_push", USER, get_web_push),
        Route::call(Method::POST, "/users/me/web_push", USER, subscribe),
        Route::write(Method::DELETE, "/users/me/web_push", USER, unsubscribe),
    ];
    routes.extend(devices::routes());
    routes
}

/// The reply to `GET /users/me/web_push`.
#[derive(Serialize)]
struct WebPushState {
    /// The key with which browsers subscribe (`applicationServerKey`), base64url without padding; null if Web Push is
    /// off.
    public_key: Option<String>,
    /// The subscription of the session of this request; null if it has none, and for requests with an API key.
    subscription: Option<SubscriptionRecord>,
}

/// The subscription of a browser to Web Push.
#[derive(Serialize)]
struct SubscriptionRecord {
    /// The URL at the push service.
    endpoint: String,
    /// True if notifications contain names and message text.
    shows_content: bool,
}

/// `GET /users/me/web_push`: returns the key for Web Push and the subscription of this session. The key is created at
/// the first request.
async fn get_web_push(call: Call<User>, _params: NoParams) -> ApiResult<Reply<WebPushState>> {
    if call.app.options.web_push.is_off {
        return Reply::data(&WebPushState { public_key: None, subscription: None });
    }
    let session_id = call.caller.credential.session_id();
    let app = call.app.clone();
    let read = || {
        app.readers.read(|snapshot| -> ApiResult<_> {
            let subscription = session_id.map(|id| sql::of_session(snapshot, id)).transpose()?.flatten();
            Ok((sql::load_key(snapshot)?, subscription))
        })
    };
    let (mut key, subscription) = read().await?;
    if key.is_none() {
        call.write(|tx, _| sql::make_key(tx)).await?;
        key = read().await?.0;
    }
    let subscription = subscription
        .map(|Subscription { endpoint, shows_content, .. }| SubscriptionRecord { endpoint, shows_content });
    Reply::data(&WebPushState { public_key: key.map(|key| key.public_key()), subscription })
}

/// Parameters of `POST /users/me/web_push`: a browser's `PushSubscription`.
#[derive(Deserialize)]
struct SubscribeParams {
    /// The URL at the push service: https, at most 2048 bytes.
    endpoint: String,
    /// The browser's public key: an uncompressed point of P-256, base64url.
    p256dh: String,
    /// The secret that browser and server share: 16 bytes, base64url.
    auth: String,
    /// True if notifications contain names and message text. By default unchanged; true for a new subscription.
    shows_content: Option<bool>,
}

/// `POST /users/me/web_push`: subscribes the browser of this session to Web Push, in place of its earlier subscription.
/// Browsers repeat it at each start of the page.
async fn subscribe(call: Call<User>, params: SubscribeParams) -> ApiResult<Reply> {
    let options = &call.app.options.web_push;
    if options.is_off {
        let msg = "Server is not configured to use push notification service.";
        return Err(ApiError::new(400, "PUSH_SERVICE_NOT_CONFIGURED", msg));
    }
    let session_id = call
        .caller
        .credential
        .session_id()
        .ok_or_else(|| ApiError::bad_request("Web Push needs the session of a browser"))?;
    endpoint::check(&params.endpoint, options)?;
    let keys = BrowserKeys { public_key: decoded(&params.p256dh), auth_secret: decoded(&params.auth) };
    if !keys.are_valid() {
        return Err(ApiError::bad_request("Invalid keys of the subscription"));
    }
    let origin = call.info.origin.clone();
    let SubscribeParams { endpoint, shows_content, .. } = params;
    let job = move |tx: &mut Tx<'_>, caller: &User| -> ApiResult<()> {
        let before = sql::of_session(tx, session_id)?;
        let shows_content = shows_content.unwrap_or_else(|| before.is_none_or(|before| before.shows_content));
        // A browser may have subscribed for a key of another file, from before a restored backup.
        if sql::load_key(tx)?.is_none() {
            sql::make_key(tx)?;
        }
        let new = Subscription { endpoint, keys, shows_content, origin };
        sql::put(tx, caller.user_id, session_id, &new)
    };
    call.write(job).await?;
    Ok(Reply::ok())
}

/// The bytes of base64url; none if it is malformed.
fn decoded(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).unwrap_or_default()
}

/// `DELETE /users/me/web_push`: ends the subscription of the session of this request, if it has one.
fn unsubscribe(tx: &mut Tx<'_>, caller: &User, _params: NoParams) -> ApiResult<Reply> {
    if let Some(session_id) = caller.credential.session_id() {
        sql::delete_of_session(tx, session_id)?;
    }
    Ok(Reply::ok())
}

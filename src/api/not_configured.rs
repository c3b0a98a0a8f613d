//! Services that this server does not have: a push relay, video calls and summaries.
//!
//! Clients ask for them at their start, or because they know no better. Each endpoint has the published answer of a server
//! that is not configured for the service. The published web client's commands are here too; only those without state are served.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::auth::Caller;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use hyper::Method;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// The resource of services that are not configured.
pub const RESOURCE: Resource = Resource { name: "not_configured", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "push_devices", fetch: push_devices }];

/// The longest device token, in characters, as published.
const MAX_DEVICE_TOKEN_LENGTH: usize = 4096;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::POST, "/users/me/android_gcm_reg_id", USER, fcm_token),
        Route::read(Method::DELETE, "/users/me/android_gcm_reg_id", USER, fcm_token),
        Route::read(Method::POST, "/users/me/apns_device_token", USER, apns_token),
        Route::read(Method::DELETE, "/users/me/apns_device_token", USER, apns_token),
        Route::read(Method::POST, "/mobile_push/register", USER, push_service),
        Route::read(Method::POST, "/mobile_push/e2ee/test_notification", USER, push_service),
        Route::read(Method::POST, "/mobile_push/test_notification", USER, test_notification),
        Route::read(Method::GET, "/calls/bigbluebutton/create", USER, big_blue_button),
        Route::read(Method::POST, "/calls/zoom/create", USER, zoom),
        Route::read(Method::GET, "/messages/summary", USER, summary),
        Route::read(Method::POST, "/zcommand", USER, command),
    ]
}

/// State part `push_devices`: the caller's devices that get push notifications.
fn push_devices(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<HashMap<String, Value>>("push_devices", &HashMap::new())
}

fn people_only(caller: &Caller) -> ApiResult<()> {
    if caller.is_bot() {
        return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
    }
    Ok(())
}

/// Parameters of `/users/me/android_gcm_reg_id` and `/users/me/apns_device_token`.
#[derive(Deserialize)]
pub struct TokenParams {
    /// The device's token.
    token: String,
    /// The app's identifier.
    #[serde(rename = "appid")]
    _appid: Option<String>,
}

/// `POST` and `DELETE /users/me/android_gcm_reg_id`. Nothing is pushed, so no token is kept.
fn fcm_token(read: &Read<'_, User>, params: TokenParams) -> ApiResult<Reply> {
    people_only(read.caller)?;
    check_token_length(&params.token)?;
    Ok(Reply::ok())
}

/// `POST` and `DELETE /users/me/apns_device_token`.
fn apns_token(read: &Read<'_, User>, params: TokenParams) -> ApiResult<Reply> {
    people_only(read.caller)?;
    check_token_length(&params.token)?;
    if !params.token.len().is_multiple_of(2) || !params.token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ApiError::bad_request("Invalid APNS token"));
    }
    Ok(Reply::ok())
}

fn check_token_length(token: &str) -> ApiResult<()> {
    if token.is_empty() || token.len() > MAX_DEVICE_TOKEN_LENGTH {
        return Err(ApiError::bad_request("Empty or invalid length token"));
    }
    Ok(())
}

/// `POST /mobile_push/register` and `POST /mobile_push/e2ee/test_notification` (feature levels 406 and 420).
fn push_service(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    people_only(read.caller)?;
    let msg = "Server is not configured to use push notification service.";
    Err(ApiError::new(400, "PUSH_SERVICE_NOT_CONFIGURED", msg))
}

/// Parameters of `POST /mobile_push/test_notification`.
#[derive(Deserialize)]
pub struct TestNotificationParams {
    /// The device; all of the caller's by default.
    token: Option<String>,
}

/// `POST /mobile_push/test_notification` (feature level 217): the caller has no devices.
fn test_notification(read: &Read<'_, User>, params: TestNotificationParams) -> ApiResult<Reply> {
    people_only(read.caller)?;
    if params.token.is_some() {
        return Err(ApiError::new(400, "INVALID_PUSH_DEVICE_TOKEN", "Device not recognized"));
    }
    Ok(Reply::ok())
}

/// `GET /calls/bigbluebutton/create`.
fn big_blue_button(_read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Err(ApiError::bad_request("BigBlueButton is not configured."))
}

/// `POST /calls/zoom/create`.
fn zoom(_read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Err(ApiError::bad_request("Zoom credentials have not been configured"))
}

/// `GET /messages/summary` (feature level 350).
fn summary(_read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Err(ApiError::bad_request("AI features are not enabled on this server."))
}

/// Parameters of `POST /zcommand`.
#[derive(Deserialize)]
pub struct CommandParams {
    /// A command of the web client, with a slash in front.
    command: String,
}

/// `POST /zcommand`: `/ping`. The other commands change settings, for which there is `PATCH /settings`.
fn command(_read: &Read<'_, User>, params: CommandParams) -> ApiResult<Reply> {
    match params.command.strip_prefix('/') {
        Some("ping") => Ok(Reply::ok()),
        Some(other) => Err(ApiError::bad_request(format!("No such command: {other}"))),
        None => Err(ApiError::bad_request("There should be a leading slash in the zcommand.")),
    }
}

//! Phones: the tokens that apps register, and test notifications.
//!
//! Without a push bouncer the endpoints have the published answers of a server that cannot push: tokens are taken and not kept.

use crate::api::web_push::bouncer::{DeviceKind, Failure, Identity, Request, ask};
use crate::api::web_push::device_sql;
use crate::api::web_push::phone_payload::Organization;
use crate::auth::Ctx;
use crate::http::{ApiError, ApiResult, Call, Reply, Route, USER, User};
use crate::store::Tx;
use hyper::Method;
use serde::Deserialize;

/// The longest token, in characters, as published.
const MAX_TOKEN_LENGTH: usize = 4096;

/// The longest identifier of an app, in characters. Those of Apple are shorter.
const MAX_APP_ID_LENGTH: usize = 255;

/// The endpoints of phones.
pub fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/users/me/android_gcm_reg_id", USER, add_fcm_token),
        Route::call(Method::DELETE, "/users/me/android_gcm_reg_id", USER, remove_fcm_token),
        Route::call(Method::POST, "/users/me/apns_device_token", USER, add_apns_token),
        Route::call(Method::DELETE, "/users/me/apns_device_token", USER, remove_apns_token),
        Route::call(Method::POST, "/mobile_push/test_notification", USER, test_notification),
    ]
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unavailable(_, msg) => Self::new(502, "BAD_REQUEST", msg),
            Failure::Unauthorized(msg) => {
                Self::new(502, "BAD_REQUEST", format!("Push notifications bouncer error: {msg}"))
            }
            Failure::UnknownDevice(_) => {
                let msg = "Device not recognized by the push bouncer";
                Self::new(400, "INVALID_REMOTE_PUSH_DEVICE_TOKEN", msg)
            }
            Failure::Refused(msg) => Self::bad_request(msg),
        }
    }
}

fn check_token(kind: DeviceKind, token: &str) -> ApiResult<()> {
    if token.is_empty() || token.len() > MAX_TOKEN_LENGTH {
        return Err(ApiError::bad_request("Empty or invalid length token"));
    }
    let is_hex = token.len().is_multiple_of(2) && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if kind == DeviceKind::Apns && !is_hex {
        return Err(ApiError::bad_request("Invalid APNS token"));
    }
    Ok(())
}

/// Apps of Apple name themselves (feature level 223).
fn check_app_id(app_id: Option<&str>) -> ApiResult<()> {
    let app_id = app_id.ok_or_else(|| ApiError::missing("appid"))?;
    let is_valid = app_id.len() <= MAX_APP_ID_LENGTH
        && !app_id.is_empty()
        && app_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    if is_valid { Ok(()) } else { Err(ApiError::bad_request("Invalid app ID")) }
}

/// Parameters of `/users/me/android_gcm_reg_id` and `/users/me/apns_device_token`.
#[derive(Deserialize)]
struct TokenParams {
    /// The token of the phone, at most 4096 bytes.
    token: String,
    /// The identifier of the app. Required to register a token of Apple (feature level 223).
    appid: Option<String>,
}

/// `POST /users/me/android_gcm_reg_id`: registers a phone for push notifications through Google's service.
async fn add_fcm_token(call: Call<User>, params: TokenParams) -> ApiResult<Reply> {
    add(call, DeviceKind::Fcm, TokenParams { appid: None, ..params }).await
}

/// `POST /users/me/apns_device_token`: registers a phone for push notifications through Apple's service.
async fn add_apns_token(call: Call<User>, params: TokenParams) -> ApiResult<Reply> {
    add(call, DeviceKind::Apns, params).await
}

/// Registers a phone at the bouncer, and then here. It belongs to the API key of the request.
async fn add(call: Call<User>, kind: DeviceKind, params: TokenParams) -> ApiResult<Reply> {
    call.caller.check_is_person()?;
    let TokenParams { token, appid } = params;
    if kind == DeviceKind::Apns {
        check_app_id(appid.as_deref())?;
    }
    check_token(kind, &token)?;
    let app = call.app.clone();
    let Some(bouncer) = &app.options.push_bouncer else { return Ok(Reply::ok()) };
    let api_key_id = call
        .caller
        .credential
        .api_key_id()
        .ok_or_else(|| ApiError::bad_request("Notifications of a device need the API key of its app"))?;
    let user_id = call.caller.user_id;
    let read = app.readers.read(|snapshot| {
        // Before the bouncer is asked, which would keep the phone.
        device_sql::check_may_register(snapshot, user_id)?;
        Identity::of(snapshot, user_id)
    });
    let identity = read.await?;
    ask(&app, bouncer, &identity, Request::Register(kind, &token, appid.as_deref())).await?;
    let origin = call.info.origin.clone();
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        device_sql::put(tx, (caller.user_id, api_key_id), (kind, &token, appid.as_deref()), &origin)
    };
    call.write(job).await?;
    Ok(Reply::ok())
}

/// `DELETE /users/me/android_gcm_reg_id`: ends push notifications of a phone through Google's service.
async fn remove_fcm_token(call: Call<User>, params: TokenParams) -> ApiResult<Reply> {
    remove(call, DeviceKind::Fcm, params).await
}

/// `DELETE /users/me/apns_device_token`: ends push notifications of a phone through Apple's service.
async fn remove_apns_token(call: Call<User>, params: TokenParams) -> ApiResult<Reply> {
    remove(call, DeviceKind::Apns, params).await
}

/// Ends a phone. The answer does not wait for the bouncer, which is asked to forget it until it does.
async fn remove(call: Call<User>, kind: DeviceKind, params: TokenParams) -> ApiResult<Reply> {
    call.caller.check_is_person()?;
    let token = params.token;
    check_token(kind, &token)?;
    let is_kept = call.app.options.push_bouncer.is_some();
    let job = move |tx: &mut Tx<'_>, caller: &User| -> ApiResult<bool> {
        Ok(device_sql::end(tx, caller.user_id, kind, &token)?)
    };
    if !call.write(job).await? && is_kept {
        return Err(ApiError::bad_request("Token does not exist"));
    }
    Ok(Reply::ok())
}

/// Parameters of `POST /mobile_push/test_notification`.
#[derive(Deserialize)]
struct TestNotificationParams {
    /// The token of the phone; by default all phones of the caller.
    token: Option<String>,
}

/// `POST /mobile_push/test_notification` (feature level 217): sends a test notification to the caller's phones.
async fn test_notification(call: Call<User>, params: TestNotificationParams) -> ApiResult<Reply> {
    call.caller.check_is_person()?;
    let (app, caller, origin) = (call.app, call.caller, call.info.origin);
    let read = app.readers.read(|snapshot| -> ApiResult<_> {
        let organization = Organization::load(Ctx::new(snapshot, &caller, app.clock.seconds()), &origin)?;
        let devices = device_sql::of_user(snapshot, caller.user_id)?;
        Ok((devices, Identity::of(snapshot, caller.user_id)?, organization))
    });
    let (mut devices, identity, organization) = read.await?;
    if let Some(token) = &params.token {
        devices.retain(|device| device.token == *token);
        if devices.is_empty() {
            return Err(ApiError::new(400, "INVALID_PUSH_DEVICE_TOKEN", "Device not recognized"));
        }
    }
    let Some(bouncer) = &app.options.push_bouncer else { return Ok(Reply::ok()) };
    for device in &devices {
        let request = Request::Test(device.kind, &device.token, organization.base());
        ask(&app, bouncer, &identity, request).await?;
    }
    Ok(Reply::ok())
}

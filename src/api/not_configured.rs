//! Services that this server does not have: notifications of phones that are encrypted from end to end, video calls and summaries.
//!
//! Clients ask for them at their start, or because they know no better. Each endpoint has the published answer of a server
//! that is not configured for the service. The published web client's commands are here too; only those without state are served.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use hyper::Method;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

pub const RESOURCE: Resource = Resource { name: "not_configured", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "push_devices", fetch: push_devices }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::POST, "/mobile_push/register", USER, push_service),
        Route::read(Method::POST, "/mobile_push/e2ee/test_notification", USER, push_service),
        Route::read(Method::GET, "/calls/bigbluebutton/create", USER, big_blue_button),
        Route::read(Method::POST, "/calls/zoom/create", USER, zoom),
        Route::read(Method::GET, "/messages/summary", USER, summary),
        Route::read(Method::POST, "/zcommand", USER, command),
    ]
}

/// State part `push_devices`: devices with encrypted push notifications. Always empty.
fn push_devices(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<HashMap<String, Value>>("push_devices", &HashMap::new())
}

/// `POST /mobile_push/register` and `POST /mobile_push/e2ee/test_notification`: not configured on this server. Always
/// the error `PUSH_SERVICE_NOT_CONFIGURED` (feature levels 406 and 420).
fn push_service(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    read.caller.check_is_person()?;
    let msg = "Server is not configured to use push notification service.";
    Err(ApiError::new(400, "PUSH_SERVICE_NOT_CONFIGURED", msg))
}

/// `GET /calls/bigbluebutton/create`: not configured on this server. Always an error.
fn big_blue_button(_read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Err(ApiError::bad_request("BigBlueButton is not configured."))
}

/// `POST /calls/zoom/create`: not configured on this server. Always an error.
fn zoom(_read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Err(ApiError::bad_request("Zoom credentials have not been configured"))
}

/// `GET /messages/summary`: not configured on this server. Always an error (feature level 350).
fn summary(_read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Err(ApiError::bad_request("AI features are not enabled on this server."))
}

/// Parameters of `POST /zcommand`.
#[derive(Deserialize)]
pub struct CommandParams {
    /// The command with a leading slash. Only `/ping` exists.
    command: String,
}

/// `POST /zcommand`: runs a command of the web client. `/ping` does nothing; `PATCH /settings` replaces the other
/// commands.
fn command(_read: &Read<'_, User>, params: CommandParams) -> ApiResult<Reply> {
    match params.command.strip_prefix('/') {
        Some("ping") => Ok(Reply::ok()),
        Some(other) => Err(ApiError::bad_request(format!("No such command: {other}"))),
        None => Err(ApiError::bad_request("There should be a leading slash in the zcommand.")),
    }
}

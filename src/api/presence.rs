//! Presence: when users were last active or connected. Clients report it every minute and receive the others' in the
//! response. Events are sent only when a user comes online.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::access::users::Accessible;
use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::presence::{PresenceList, PresenceQuery, PresenceRecord, Status};
use crate::domain::{access, presence, realm, rows, users};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Read, Reply, Route, USER, User};
use crate::types::UserId;
use hyper::Method;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub const RESOURCE: Resource = Resource { name: "presence", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "presence", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/users/me/presence", USER, update_presence).on_full_disk(),
        Route::read(Method::GET, "/users/{user_id_or_email}/presence", USER, get_user_presence),
        Route::read(Method::GET, "/realm/presence", USER, get_presence),
    ]
}

/// Parameters of `GET /users/{user_id_or_email}/presence`.
#[derive(Deserialize)]
pub struct UserParams {
    /// The user's id or email.
    user_id_or_email: String,
}

/// The reply to `GET /users/{user_id_or_email}/presence`.
#[derive(Serialize)]
struct UserPresence {
    /// The presence of the person.
    presence: ClientPresences,
}

/// The presence of a person by client. The server stores one presence for all clients.
#[derive(Serialize)]
struct ClientPresences {
    /// The presence now: `offline` if the last report is too old.
    aggregated: ClientPresence,
    /// The presence of the last report: never `offline`.
    website: ClientPresence,
}

/// The presence of a person in a client.
#[derive(Serialize)]
struct ClientPresence {
    /// `active`, `idle` or `offline`.
    status: &'static str,
    /// When the person was last present, in UNIX seconds.
    timestamp: i64,
}

/// `GET /users/{user_id_or_email}/presence`: returns the presence of a person in the legacy format.
fn get_user_presence(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply<UserPresence>> {
    let name = &params.user_id_or_email;
    let user = match name.parse() {
        Ok(id) => rows::user::by_id(read, UserId(id))?,
        Err(_) => users::find::by_email(read, read.caller, &Accessible::to(read, read.caller)?, name)?,
    };
    let user = user.filter(|user| user.is_active).ok_or_else(users::find::no_such_user)?;
    access::users::check(read, read.caller, &user)?;
    if user.is_bot() || user.is_system_bot {
        return Err(ApiError::bad_request("Presence is not supported for bot users."));
    }
    let is_hidden = realm::settings::PRESENCE_DISABLED.get(read)?;
    let time = read.app.clock.seconds();
    let presence = if is_hidden { None } else { presence::load(read, user.user_id, time)? };
    let presence = presence.ok_or_else(|| ApiError::bad_request(format!("No presence data for {name}")))?;
    let (status, timestamp) = presence.status();
    let is_offline = time - timestamp > PRESENCE_OFFLINE_THRESHOLD_SECONDS;
    let now = if is_offline { "offline" } else { status };
    let aggregated = ClientPresence { status: now, timestamp };
    let presence = ClientPresences { aggregated, website: ClientPresence { status, timestamp } };
    Reply::data(&UserPresence { presence })
}

/// The reply to `GET /realm/presence`.
#[derive(Serialize)]
struct Presences {
    /// The presences by the API emails of users.
    presences: BTreeMap<String, PresenceRecord>,
    /// The time of the response, in UNIX seconds with a fraction.
    server_timestamp: f64,
}

/// `GET /realm/presence`: lists the presences of all users whom the caller can access, in the legacy format.
fn get_presence(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Presences>> {
    let loaded = presence::list(read, read.caller, PresenceQuery::default(), read.app.clock.milliseconds())?;
    Reply::data(&Presences { presences: loaded.presences, server_timestamp: loaded.server_timestamp })
}

/// Parameters of `POST /users/me/presence`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// `active` if the user is using the client, `idle` if the client is only running.
    status: String,
    /// True to return no presences. False by default.
    #[serde(default)]
    ping_only: bool,
    /// Accepted and ignored.
    #[serde(default, rename = "new_user_input")]
    _new_user_input: bool,
    /// The `presence_last_update_id` of the previous response, or -1 at first: only later updates are returned. Implies
    /// the modern format.
    last_update_id: Option<i64>,
    /// The maximum age of returned presences, in days, for the first request; 14 by default, 0 for no presences.
    history_limit_days: Option<i64>,
    /// True for the modern format, by user id; false, the default, for the legacy format, by API email.
    #[serde(default)]
    slim_presence: bool,
}

/// The reply to `POST /users/me/presence`: without presences if `ping_only` is true.
#[derive(Serialize)]
#[serde(untagged)]
enum UpdateReply {
    /// For `ping_only`.
    Nothing {},
    /// The presences of others.
    Presences(PresenceList),
}

/// `POST /users/me/presence`: reports the caller's presence and returns the presences of other users.
async fn update_presence(call: Call<User>, params: UpdateParams) -> ApiResult<Reply<UpdateReply>> {
    call.caller.check_is_person()?;
    let status = Status::from_name(&params.status)
        .ok_or_else(|| ApiError::bad_request(format!("Invalid status: {}", params.status)))?;
    let now = call.app.clock.seconds();
    let caller = &call.caller;
    // Most reports change nothing. They do not need a job of the writer.
    let has_change = call
        .app
        .readers
        .read(|snapshot| presence::would_change(snapshot, caller.user_id, status, now))
        .await?;
    if has_change {
        let user_id = caller.user_id;
        call.app.writer.run(move |tx| presence::report(tx, user_id, status)).await?;
    }
    if params.ping_only {
        return Reply::data(&UpdateReply::Nothing {});
    }
    let query = PresenceQuery {
        last_update_id: params.last_update_id,
        history_limit_days: params.history_limit_days,
        is_slim: params.slim_presence || params.last_update_id.is_some(),
    };
    let milliseconds = call.app.clock.milliseconds();
    let found =
        call.app.readers.read(|snapshot| presence::list(snapshot, caller, query, milliseconds)).await?;
    Reply::data(&UpdateReply::Presences(found))
}

/// State part `presence`.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let query = PresenceQuery {
        last_update_id: None,
        history_limit_days: request.presence_history_limit_days,
        is_slim: request.registration.slim_presence,
    };
    let loaded = presence::list(request.connection, request.caller, query, request.app.clock.milliseconds())?;
    state.add::<PresenceList>(&loaded)?;
    if request.caller.is_visitor() {
        state.remove("presence_last_update_id");
    }
    Ok(())
}

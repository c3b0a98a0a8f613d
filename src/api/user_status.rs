//! `/users/me/status` and `/users/{user_id}/status`: a short text and an emoji.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::access::users::Accessible;
use crate::domain::audit::{Action, Entry};
use crate::domain::emoji::resolve::{UNICODE, choose};
use crate::domain::user_status::{
    EmojiParts, StatusChanged, StatusRecord, UserStatus, load, read_status, save,
};
use crate::domain::{access, accounts, limits, rows, user_settings, users};
use crate::http::params::Trimmed;
use crate::http::{ApiError, ApiResult, Caller, Params2, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

pub const RESOURCE: Resource = Resource { name: "user_status", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "user_status", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/users/me/status", USER, update_status),
        Route::read(Method::GET, "/users/{user_id}/status", USER, get_status),
        // Not `ADMINISTRATOR`, because the published error for members is another one here.
        Route::write(Method::POST, "/users/{user_id}/status", USER, update_status_of_user),
    ]
}

/// The maximum length of a text, in characters.
const MAX_TEXT_LENGTH: usize = 60;

/// Parameters of both endpoints that change a status.
#[derive(Deserialize)]
pub struct StatusParams {
    /// The id of an active person. Absent for `POST /users/me/status`.
    #[serde(default)]
    user_id: UserId,
    /// The new text, at most 60 characters; empty to remove it.
    status_text: Option<Trimmed>,
    /// The name of the new emoji; empty to remove it. Required with `emoji_code` and `reaction_type`.
    emoji_name: Option<String>,
    /// The code of the emoji within its type; by default the code of the emoji with the name.
    emoji_code: Option<String>,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`; by default the type of the emoji with the name.
    reaction_type: Option<String>,
}

/// Parameters of `POST /users/me/status`.
#[derive(Deserialize)]
pub struct OwnStatusParams {
    /// Deprecated: use the setting `presence_enabled`. True hides the caller's presence.
    away: Option<bool>,
}

/// `POST /users/me/status`: changes the given parts of the caller's status.
fn update_status(
    tx: &mut Tx<'_>,
    caller: &User,
    Params2(own, params): Params2<OwnStatusParams, StatusParams>,
) -> ApiResult<Reply> {
    caller.check_is_person()?;
    let change = StatusChange::check(tx, &params, own.away.is_some())?;
    if let Some(away) = own.away {
        let user = rows::user::existing(tx, caller.user_id)?;
        let is_visible: bool = user_settings::PRESENCE_ENABLED.get(tx, user.user_id)?;
        if is_visible == away {
            accounts::change::set_setting(tx, &user, user_settings::PRESENCE_ENABLED.name(), &json!(!away))?;
        }
    }
    apply(tx, caller.user_id, change)?;
    Ok(Reply::ok())
}

/// `POST /users/{user_id}/status`: changes the given parts of a person's status. Only for administrators.
fn update_status_of_user(tx: &mut Tx<'_>, caller: &User, params: StatusParams) -> ApiResult<Reply> {
    let user = users::find::by_id(tx, params.user_id)?;
    if user.is_bot() {
        return Err(users::find::no_such_user());
    }
    user.check_is_active()?;
    check_administrator(caller)?;
    let change = StatusChange::check(tx, &params, false)?;
    apply(tx, user.user_id, change)?;
    if user.user_id != caller.user_id {
        tx.audit(Entry::new(Action::ProfileChanged, user.user_id).after(json!(["status"])))?;
    }
    Ok(Reply::ok())
}

/// Parameters of `GET /users/{user_id}/status`.
#[derive(Deserialize)]
pub struct GetParams {
    /// The id of an active user.
    user_id: UserId,
}

/// The reply to `GET /users/{user_id}/status`.
#[derive(Serialize)]
struct StatusReply {
    /// The status; without the parts that are not set.
    status: StatusRecord,
}

/// `GET /users/{user_id}/status`: returns the status of a user, which is an empty object if there is none.
fn get_status(read: &Read<'_, User>, params: GetParams) -> ApiResult<Reply<StatusReply>> {
    let user = users::find::by_id(read, params.user_id)?;
    // Users whom the caller cannot access get the same refusal, active or not.
    access::users::check(read, read.caller, &user)?;
    user.check_is_active()?;
    let is_visible: bool = user_settings::PRESENCE_ENABLED.get(read, user.user_id)?;
    let status = load(read, user.user_id)?;
    Reply::data(&StatusReply { status: StatusRecord::new(status, !is_visible) })
}

fn check_administrator(caller: &Caller) -> ApiResult<()> {
    if caller.role.is_administrator() { Ok(()) } else { Err(ApiError::insufficient_permission()) }
}

/// The checked change of a status.
struct StatusChange {
    status_text: Option<String>,
    emoji: Option<EmojiParts>,
}

impl StatusChange {
    /// Checks the parameters. At least one is required unless `has_other_change`.
    fn check(connection: &Connection, params: &StatusParams, has_other_change: bool) -> ApiResult<Self> {
        let status_text = params.status_text.as_ref().map(|text| text.0.clone());
        if let Some(text) = &status_text {
            limits::check_length("status_text", text, MAX_TEXT_LENGTH)?;
        }
        let StatusParams { emoji_name, emoji_code, reaction_type, .. } = params;
        if !has_other_change && status_text.is_none() && emoji_name.is_none() {
            return Err(ApiError::bad_request("Client did not pass any new values."));
        }
        let emoji = match emoji_name {
            None if emoji_code.is_some() || reaction_type.is_some() => {
                return Err(ApiError::bad_request(
                    "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
                ));
            }
            None => None,
            Some(name) if name.is_empty() => Some(no_emoji()),
            Some(name) => {
                let chosen = choose(connection, name, emoji_code.clone(), reaction_type.clone())?;
                Some(EmojiParts {
                    emoji_name: name.clone(),
                    emoji_code: chosen.code,
                    reaction_type: chosen.kind.to_owned(),
                })
            }
        };
        Ok(Self { status_text, emoji })
    }
}

/// Changes a status and, if it differs, emits it to the users who can access the user.
fn apply(tx: &mut Tx<'_>, user_id: UserId, change: StatusChange) -> ApiResult<()> {
    let before = load(tx, user_id)?;
    let mut status = before.clone();
    if let Some(text) = &change.status_text {
        status.status_text.clone_from(text);
    }
    if let Some(emoji) = &change.emoji {
        let EmojiParts { emoji_name, emoji_code, reaction_type } = emoji.clone();
        let reaction_type = if emoji_name.is_empty() { String::new() } else { reaction_type };
        status = UserStatus { emoji_name, emoji_code, reaction_type, ..status };
    }
    if status == before {
        return Ok(());
    }
    save(tx, user_id, &status)?;
    let event =
        StatusChanged { status_text: change.status_text, emoji: change.emoji, ..StatusChanged::of(user_id) };
    let user = rows::user::existing(tx, user_id)?;
    let audience = access::users::audience(tx, &user)?;
    tx.emit(event, audience);
    Ok(())
}

fn no_emoji() -> EmojiParts {
    EmojiParts { emoji_name: String::new(), emoji_code: String::new(), reaction_type: UNICODE.to_owned() }
}

/// Deletes the status of a user, with the event, and returns the number of statuses.
pub fn purge(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    if load(tx, user_id)? == UserStatus::default() {
        return Ok(0);
    }
    let none = StatusChange { status_text: Some(String::new()), emoji: Some(no_emoji()) };
    apply(tx, user_id, none)?;
    Ok(1)
}

/// State part `user_status`: the users with a status or a hidden presence, by user id.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let accessible = Accessible::to(request.connection, request.caller)?;
    let mut all = BTreeMap::new();
    let statuses = if request.caller.is_visitor() { Vec::new() } else { list_active(request.connection)? };
    for (user_id, status, away) in statuses {
        if (away || status != UserStatus::default()) && accessible.contains(user_id) {
            all.insert(user_id, StatusRecord::new(status, away));
        }
    }
    state.set::<BTreeMap<UserId, StatusRecord>>("user_status", &all)
}

/// Lists the active users with a status or a hidden presence: id, status, and whether the presence is hidden.
fn list_active(connection: &Connection) -> ApiResult<Vec<(UserId, UserStatus, bool)>> {
    let rows = connection
        .prepare_cached(
            "WITH hidden AS MATERIALIZED
                 (SELECT user_id FROM user_setting WHERE property = 'presence_enabled' AND value = 'false')
             SELECT user_id, coalesce(status_text, ''), coalesce(emoji_name, ''), coalesce(emoji_code, ''),
                 coalesce(reaction_type, ''), user_id IN hidden
             FROM user LEFT JOIN user_status USING (user_id)
             WHERE is_active AND (status_text IS NOT NULL OR user_id IN hidden)",
        )?
        .query_map([], |row| Ok((row.get(0)?, read_status(row, 1)?, row.get(5)?)))?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

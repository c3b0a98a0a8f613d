//! What people say they are doing: `/users/me/status` and `/users/{user_id}/status`.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users::Accessible;
use crate::domain::access::{user_rows as users, users as access};
use crate::domain::emoji::resolve::{UNICODE, choose};
use crate::domain::user_status::{EmojiParts, StatusChanged, UserStatus, load, put, read_status, wire};
use crate::domain::users::find;
use crate::domain::{accounts, user_settings as domain_user_settings};
use crate::http::Resource;
use crate::http::params::Trimmed;
use crate::http::{
    ApiError, ApiResult, Caller, Params2, Read, Reply, Route, State, StatePart, StateRequest, USER, User,
};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Map, json};

/// Statuses.
pub const RESOURCE: Resource = Resource { name: "user_status", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "user_status", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/users/me/status", USER, update_status),
        Route::read(Method::GET, "/users/{user_id}/status", USER, get_status),
        // Also members may ask: they are told in other words than elsewhere that they may not.
        Route::write(Method::POST, "/users/{user_id}/status", USER, update_status_of),
    ]
}

/// The longest text, in characters.
const MAX_TEXT_LENGTH: usize = 60;

/// Parameters about the status, of both endpoints that change one.
#[derive(Deserialize)]
pub struct StatusParams {
    /// Whose, where the path says it.
    #[serde(default)]
    user_id: UserId,
    /// A text; empty for none.
    #[serde(default)]
    status_text: Option<Trimmed>,
    /// A name of an emoji; empty for none.
    #[serde(default)]
    emoji_name: Option<String>,
    /// What identifies the emoji within its type; found by the name when absent.
    #[serde(default)]
    emoji_code: Option<String>,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`; found by the name when absent.
    #[serde(default)]
    reaction_type: Option<String>,
}

/// Parameters of `POST /users/me/status`.
#[derive(Deserialize)]
pub struct OwnStatusParams {
    /// Deprecated: whether the caller's presence is hidden.
    #[serde(default)]
    away: Option<bool>,
}

/// `POST /users/me/status`: changes what is given of the caller's own.
fn update_status(
    tx: &mut Tx<'_>,
    caller: &User,
    Params2(own, params): Params2<OwnStatusParams, StatusParams>,
) -> ApiResult<Reply> {
    if caller.is_bot() {
        return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
    }
    let change = Change::read(tx, &params, own.away.is_some())?;
    if let Some(away) = own.away {
        let user = users::by_id(tx, caller.user_id)?
            .ok_or_else(|| ApiError::internal("the caller has no user row"))?;
        let is_visible: bool = domain_user_settings::PRESENCE_ENABLED.get(tx, user.user_id)?;
        if is_visible == away {
            let name = domain_user_settings::PRESENCE_ENABLED.name();
            accounts::settings::setting(tx, &user, name, &json!(!away))?;
        }
    }
    apply(tx, caller.user_id, change)?;
    Ok(Reply::ok())
}

/// `POST /users/{user_id}/status`: changes what is given of somebody's, on behalf of an administrator.
fn update_status_of(tx: &mut Tx<'_>, caller: &User, params: StatusParams) -> ApiResult<Reply> {
    let user = find::by_id(tx, params.user_id)?;
    if user.is_bot() {
        return Err(find::no_such_user());
    }
    check_is_active(&user)?;
    may_administer(caller)?;
    let change = Change::read(tx, &params, false)?;
    apply(tx, user.user_id, change)?;
    Ok(Reply::ok())
}

/// Parameters of `GET /users/{user_id}/status`.
#[derive(Deserialize)]
pub struct GetParams {
    /// Whose.
    user_id: UserId,
}

/// `GET /users/{user_id}/status`: an empty object of whoever says nothing.
fn get_status(read: &Read<'_, User>, params: GetParams) -> ApiResult<Reply> {
    let user = find::by_id(read, params.user_id)?;
    check_is_active(&user)?;
    access::check(read, read.caller, &user)?;
    let is_visible: bool = domain_user_settings::PRESENCE_ENABLED.get(read, user.user_id)?;
    let status = load(read, user.user_id)?;
    Reply::field("status", &wire(&status, !is_visible))
}

fn check_is_active(user: &UserRow) -> ApiResult<()> {
    if user.is_active { Ok(()) } else { Err(ApiError::bad_request("User is deactivated")) }
}

fn may_administer(caller: &Caller) -> ApiResult<()> {
    if caller.role.is_administrator() { Ok(()) } else { Err(ApiError::insufficient_permission()) }
}

/// What a client wants to change, checked.
struct Change {
    status_text: Option<String>,
    emoji: Option<EmojiParts>,
}

impl Change {
    fn read(connection: &Connection, params: &StatusParams, changes_more: bool) -> ApiResult<Self> {
        let status_text = params.status_text.as_ref().map(|text| text.0.clone());
        if status_text.as_ref().is_some_and(|text| text.chars().count() > MAX_TEXT_LENGTH) {
            let msg = format!("status_text is too long (limit: {MAX_TEXT_LENGTH} characters)");
            return Err(ApiError::bad_request(msg));
        }
        let StatusParams { emoji_name, emoji_code, reaction_type, .. } = params;
        if !changes_more && status_text.is_none() && emoji_name.is_none() {
            return Err(ApiError::bad_request("Client did not pass any new values."));
        }
        let emoji = match emoji_name {
            None if emoji_code.is_some() || reaction_type.is_some() => {
                return Err(ApiError::bad_request(
                    "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
                ));
            }
            None => None,
            Some(name) if name.is_empty() => Some(EmojiParts {
                emoji_name: String::new(),
                emoji_code: String::new(),
                reaction_type: UNICODE.to_owned(),
            }),
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

/// Changes a status and tells those who can access the user, if it is another one now.
fn apply(tx: &mut Tx<'_>, user_id: UserId, change: Change) -> ApiResult<()> {
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
    put(tx, user_id, &status)?;
    let event =
        StatusChanged { status_text: change.status_text, emoji: change.emoji, ..StatusChanged::of(user_id) };
    let user = users::by_id(tx, user_id)?
        .ok_or_else(|| ApiError::internal("the user whose status changed has no row"))?;
    let audience = access::audience(tx, &user)?;
    tx.emit(event, audience);
    Ok(())
}

/// Word `user_status`: whoever says something or is away, by id.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let accessible = Accessible::to(request.connection, request.caller)?;
    let mut all = Map::new();
    for (user_id, status, away) in all_of_active(request.connection)? {
        let object = wire(&status, away);
        if !object.is_empty() && accessible.contains(user_id) {
            all.insert(user_id.to_string(), object.into());
        }
    }
    state.insert("user_status".into(), all.into());
    Ok(())
}

/// The active users who say something or hide their presence: what they say, and whether they hide.
fn all_of_active(connection: &Connection) -> ApiResult<Vec<(UserId, UserStatus, bool)>> {
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

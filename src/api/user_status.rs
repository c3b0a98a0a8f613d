//! What people say they are doing: `/users/me/status` and `/users/{user_id}/status`.

use super::emoji::choose::{UNICODE, choose};
use super::register::{State, StatePart, StateRequest};
use super::users::access::{self, Accessible};
use super::users::{find, record::UserRow, sql as users};
use super::{Slice, presence, user_settings};
use crate::events::{Audience, Event};
use crate::http::params::Trimmed;
use crate::http::{ApiError, ApiResult, Both, Caller, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Statuses.
pub const SLICE: Slice = Slice { name: "user_status", routes, state: STATE, ..Slice::EMPTY };

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

/// What somebody says. Texts are empty for what they do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct UserStatus {
    status_text: String,
    emoji_name: String,
    emoji_code: String,
    reaction_type: String,
}

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

/// `user_status`: the parts that are new.
#[derive(Serialize)]
struct StatusChanged {
    r#type: &'static str,
    user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    away: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_text: Option<String>,
    #[serde(flatten)]
    emoji: Option<EmojiParts>,
}

/// The emoji of a status, or of an event; `unicode_emoji` also when there is none, as older clients know it.
#[derive(Clone, Serialize)]
struct EmojiParts {
    emoji_name: String,
    emoji_code: String,
    reaction_type: String,
}

impl Event for StatusChanged {
    const TYPE: &'static str = "user_status";
}

impl StatusChanged {
    fn of(user_id: UserId) -> Self {
        Self { r#type: Self::TYPE, user_id, away: None, status_text: None, emoji: None }
    }
}

/// `POST /users/me/status`: changes what is given of the caller's own.
fn update_status(
    tx: &mut Tx<'_>,
    caller: &User,
    Both(own, params): Both<OwnStatusParams, StatusParams>,
) -> ApiResult<Reply> {
    if caller.is_bot() {
        return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
    }
    let change = Change::read(tx, &params, own.away.is_some())?;
    if let Some(away) = own.away {
        let user = users::by_id(tx, caller.user_id)?.ok_or_else(ApiError::internal)?;
        let is_visible: bool = user_settings::get(tx, user.user_id, presence::change::SETTING)?;
        if is_visible == away {
            user_settings::change::setting(tx, &user, presence::change::SETTING, &json!(!away))?;
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
    let is_visible: bool = user_settings::get(read, user.user_id, presence::change::SETTING)?;
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
    let user = users::by_id(tx, user_id)?.ok_or_else(ApiError::internal)?;
    let audience = access::audience(tx, &user)?;
    tx.emit(&event, audience);
    Ok(())
}

/// Somebody's presence is hidden from now on, or not any more. Older clients know it as being away.
pub fn away_changed(tx: &mut Tx<'_>, user: &UserRow, away: bool) -> ApiResult<()> {
    let audience = access::audience(tx, user)?;
    tx.emit(&StatusChanged { away: Some(away), ..StatusChanged::of(user.user_id) }, audience);
    Ok(())
}

/// Tells others, who can access a user from now on, what they say, if they say anything.
pub fn introduce(tx: &mut Tx<'_>, user: &UserRow, to: &RoaringBitmap) -> ApiResult<()> {
    let UserStatus { status_text, emoji_name, emoji_code, reaction_type } = load(tx, user.user_id)?;
    let is_hidden = !user_settings::get::<bool>(tx, user.user_id, presence::change::SETTING)?;
    let emoji = EmojiParts { emoji_name, emoji_code, reaction_type };
    let event = StatusChanged {
        away: is_hidden.then_some(true),
        status_text: Some(status_text).filter(|text| !text.is_empty()),
        emoji: Some(emoji).filter(|emoji| !emoji.emoji_name.is_empty()),
        ..StatusChanged::of(user.user_id)
    };
    if event.away.is_some() || event.status_text.is_some() || event.emoji.is_some() {
        tx.emit(&event, Audience::set(to.clone()));
    }
    Ok(())
}

/// A status as clients see it: only what is there.
fn wire(status: &UserStatus, away: bool) -> Map<String, Value> {
    let mut object = Map::new();
    if away {
        object.insert("away".into(), true.into());
    }
    for (name, text) in [
        ("status_text", &status.status_text),
        ("emoji_name", &status.emoji_name),
        ("emoji_code", &status.emoji_code),
        ("reaction_type", &status.reaction_type),
    ] {
        if !text.is_empty() {
            object.insert(name.into(), text.as_str().into());
        }
    }
    object
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

fn read_status(row: &Row<'_>, first: usize) -> rusqlite::Result<UserStatus> {
    Ok(UserStatus {
        status_text: row.get(first)?,
        emoji_name: row.get(first + 1)?,
        emoji_code: row.get(first + 2)?,
        reaction_type: row.get(first + 3)?,
    })
}

fn load(connection: &Connection, user_id: UserId) -> ApiResult<UserStatus> {
    let found = connection
        .prepare_cached(
            "SELECT status_text, emoji_name, emoji_code, reaction_type FROM user_status WHERE user_id = ?1",
        )?
        .query_row([user_id], |row| read_status(row, 0))
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn put(connection: &Connection, user_id: UserId, status: &UserStatus) -> ApiResult<()> {
    connection
        .prepare_cached(
            "INSERT INTO user_status (user_id, status_text, emoji_name, emoji_code, reaction_type)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET status_text = excluded.status_text, emoji_name = excluded.emoji_name,
                 emoji_code = excluded.emoji_code, reaction_type = excluded.reaction_type",
        )?
        .execute((
            user_id,
            &status.status_text,
            &status.emoji_name,
            &status.emoji_code,
            &status.reaction_type,
        ))?;
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

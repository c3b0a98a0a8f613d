//! `DELETE /users/me/subscriptions`: unsubscribes the caller or other users from channels.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channels::Viewer;
use crate::domain::access::user_rows::UserRow;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::limits::{MAX_CHANNELS_PER_REQUEST, MAX_SUBSCRIPTIONS_PER_REQUEST};
use crate::domain::membership::unsubscribe::{UnsubscribeResult, unsubscribe_users};
use crate::domain::subscriptions::principals;
use crate::domain::subscriptions::principals::Principals;
use crate::domain::{channels, limits};
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::UserId;
use serde::Deserialize;

/// Parameters of `DELETE /users/me/subscriptions`.
#[derive(Deserialize)]
pub struct UnsubscribeParams {
    /// The names of the channels.
    subscriptions: Vec<String>,
    /// The users, by id or API email; by default the caller.
    principals: Option<Principals>,
}

/// `DELETE /users/me/subscriptions`: users leave channels, and messages there become read for them.
pub fn unsubscribe(
    tx: &mut Tx<'_>,
    caller: &User,
    params: UnsubscribeParams,
) -> ApiResult<Reply<UnsubscribeResult>> {
    let users = params.principals.as_ref().map_or(1, Principals::len);
    let subscriptions = params.subscriptions.len().saturating_mul(users);
    limits::check("subscriptions in one request", subscriptions, MAX_SUBSCRIPTIONS_PER_REQUEST)?;
    let users = principals::resolve(tx, caller, params.principals.as_ref())?;
    let streams = channels_by_name(tx, caller, &params.subscriptions)?;
    if users.iter().any(|user| !controls(caller, user)) && !may_remove_others(tx, caller, &streams)? {
        return Err(ApiError::insufficient_permission());
    }
    let user_ids: Vec<UserId> = users.iter().map(|user| user.user_id).collect();
    Reply::data(&unsubscribe_users(tx, &streams, &user_ids)?)
}

/// Unsubscribes the caller from the channels with these names.
pub fn unsubscribe_caller(
    tx: &mut Tx<'_>,
    caller: &Caller,
    names: &[String],
) -> ApiResult<UnsubscribeResult> {
    let streams = channels_by_name(tx, caller, names)?;
    unsubscribe_users(tx, &streams, &[caller.user_id])
}

/// Loads the channels with these names, each once. Fails if one does not exist, or not for the caller.
fn channels_by_name(tx: &Tx<'_>, caller: &Caller, names: &[String]) -> ApiResult<Vec<StreamRow>> {
    limits::check("channels in one request", names.len(), MAX_CHANNELS_PER_REQUEST)?;
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    let mut streams: Vec<StreamRow> = Vec::new();
    let mut missing = Vec::new();
    for name in names {
        let name = channels::rules::name(name)?;
        match channels::sql::by_name(tx, &name)? {
            Some(stream) if viewer.can_see(&stream)? => {
                if !streams.iter().any(|other| other.stream_id == stream.stream_id) {
                    streams.push(stream);
                }
            }
            _ => missing.push(name),
        }
    }
    if missing.is_empty() {
        return Ok(streams);
    }
    Err(ApiError::bad_request(format!("Channel(s) ({}) do not exist", missing.join(", "))))
}

/// Whether a user is the caller, or a bot of theirs.
fn controls(caller: &Caller, user: &UserRow) -> bool {
    user.user_id == caller.user_id || (user.is_bot() && user.bot_owner_id == Some(caller.user_id))
}

/// Whether the caller may unsubscribe others from all of these channels.
fn may_remove_others(tx: &Tx<'_>, caller: &Caller, streams: &[StreamRow]) -> ApiResult<bool> {
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    for stream in streams {
        let may = viewer.may_administer(stream)?
            || viewer.has_permission(stream, StreamSetting::CanRemoveSubscribers)?;
        if !may {
            return Ok(false);
        }
    }
    Ok(true)
}

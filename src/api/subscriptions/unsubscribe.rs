//! `DELETE /users/me/subscriptions`: unsubscribes the caller or other users from channels.

use crate::domain::access::channels::Viewer;
use crate::domain::audit::{Action, Entry};
use crate::domain::channel_commands::parts::{Later, Parts};
use crate::domain::channel_commands::unsubscribe::{UnsubscribeResult, unsubscribe_users};
use crate::domain::groups::permission::StreamSetting;
use crate::domain::limits::{MAX_CHANNELS_PER_REQUEST, organization};
use crate::domain::messages::receipts::moved;
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::domain::subscriptions::principals;
use crate::domain::subscriptions::principals::Principals;
use crate::domain::{channels, limits, rows};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::Deserialize;
use serde_json::json;

/// Parameters of `DELETE /users/me/subscriptions`.
#[derive(Deserialize)]
pub struct UnsubscribeParams {
    /// The names of the channels.
    subscriptions: Vec<String>,
    /// The users to unsubscribe, as a list of user ids or of emails; by default the caller.
    principals: Option<Principals>,
}

/// `DELETE /users/me/subscriptions`: unsubscribes users from channels, and marks messages there as read for them.
pub async fn unsubscribe(call: Call<User>, params: UnsubscribeParams) -> ApiResult<Reply<UnsubscribeResult>> {
    let users = params.principals.as_ref().map_or(1, Principals::count);
    organization::check_subscriptions_of_request(&call.caller, params.subscriptions.len(), users)?;
    let job = move |tx: &mut Tx<'_>, caller: &User| unsubscribe_from_channels(tx, caller, &params);
    let (mut result, later) = call.write(job).await?;
    later
        .wait(|mut other| {
            result.removed.append(&mut other.removed);
            result.not_removed.append(&mut other.not_removed);
        })
        .await?;
    Reply::data(&result)
}

/// Unsubscribes users. With many, follow-up jobs unsubscribe the others.
fn unsubscribe_from_channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &UnsubscribeParams,
) -> ApiResult<(UnsubscribeResult, Later<UnsubscribeResult>)> {
    let users = principals::resolve(tx, caller, params.principals.as_ref())?;
    let streams = channels_by_name(tx, caller, &params.subscriptions)?;
    let for_others = users.iter().any(|user| !controls(caller, user));
    if for_others {
        check_may_remove_others(tx, caller, &streams)?;
    }
    let mut user_ids: Vec<UserId> = users.iter().map(|user| user.user_id).collect();
    // The caller leaves last: the permission to unsubscribe others may end with the subscription.
    user_ids.sort_by_key(|user_id| *user_id == caller.user_id);
    let sets = streams.iter().map(|stream| moved::count_sets(tx, stream.recipient_id));
    let sets = sets.sum::<Result<usize, _>>()?;
    let mut parts = Parts::split_weighted(&user_ids, streams.len(), sets);
    let result = unsubscribe_and_audit(tx, caller, &streams, &parts.take_first())?;
    let stream_ids: Vec<StreamId> = streams.into_iter().map(|stream| stream.stream_id).collect();
    let later = parts.run_later(tx, caller, move |tx, caller, users| {
        let streams = stream_ids.iter().filter_map(|id| rows::channel::by_id(tx, *id).transpose());
        let streams = streams.collect::<Result<Vec<_>, _>>()?;
        if for_others {
            check_may_remove_others(tx, caller, &streams)?;
        }
        unsubscribe_and_audit(tx, caller, &streams, users)
    });
    Ok((result, later))
}

/// Unsubscribes users, and records those who are not the caller.
fn unsubscribe_and_audit(
    tx: &mut Tx<'_>,
    caller: &Caller,
    streams: &[StreamRow],
    users: &[UserId],
) -> ApiResult<UnsubscribeResult> {
    let others: Vec<UserId> = users.iter().copied().filter(|user_id| *user_id != caller.user_id).collect();
    if !others.is_empty() {
        for stream in streams {
            let changed = Entry::new(Action::SubscribersChanged, stream.stream_id);
            tx.audit(changed.before(json!({ "user_ids": others })))?;
        }
    }
    unsubscribe_users(tx, streams, users)
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
    let viewer = Viewer::new(tx.ctx(caller));
    let mut streams: Vec<StreamRow> = Vec::new();
    let mut missing = Vec::new();
    for name in names {
        let name = channels::rules::name(name)?;
        match channels::by_name(tx, &name)? {
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

/// True if a user is the caller, or a bot of theirs.
fn controls(caller: &Caller, user: &UserRow) -> bool {
    user.user_id == caller.user_id || (user.is_bot() && user.bot_owner_id == Some(caller.user_id))
}

/// Checks that the caller may unsubscribe others from all of these channels.
fn check_may_remove_others(tx: &Tx<'_>, caller: &Caller, streams: &[StreamRow]) -> ApiResult<()> {
    let viewer = Viewer::new(tx.ctx(caller));
    for stream in streams {
        let may = viewer.may_administer(stream)?
            || viewer.has_permission(stream, StreamSetting::CanRemoveSubscribers)?;
        if !may {
            return Err(ApiError::insufficient_permission());
        }
    }
    Ok(())
}

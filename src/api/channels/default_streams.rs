//! `POST /default_streams` and `DELETE /default_streams`: the channels that new users are subscribed to.

use crate::auth::Ctx;
use crate::domain::access::{channels, permissions};
use crate::domain::channels::{events, sql};
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::StreamId;
use serde::Deserialize;

/// Parameters of `POST /default_streams` and `DELETE /default_streams`.
#[derive(Deserialize)]
pub struct DefaultStreamParams {
    /// The channel to add or remove.
    stream_id: StreamId,
}

/// `POST /default_streams`: new users will be subscribed to the channel.
pub fn add(tx: &mut Tx<'_>, caller: &User, params: DefaultStreamParams) -> ApiResult<Reply> {
    permissions::require_default_channels(caller)?;
    let stream = channels::find_for_metadata(Ctx::in_job(tx, caller), params.stream_id)?;
    if stream.is_archived {
        return Err(channels::no_such_channel());
    }
    if stream.invite_only {
        return Err(ApiError::bad_request("Private channels cannot be made default."));
    }
    set_default(tx, stream.stream_id, true)?;
    Ok(Reply::ok())
}

/// `DELETE /default_streams`: new users will not be subscribed to the channel.
pub fn remove(tx: &mut Tx<'_>, caller: &User, params: DefaultStreamParams) -> ApiResult<Reply> {
    permissions::require_default_channels(caller)?;
    let stream = channels::find_for_metadata(Ctx::in_job(tx, caller), params.stream_id)?;
    set_default(tx, stream.stream_id, false)?;
    Ok(Reply::ok())
}

/// Adds a channel to the default channels or removes it, and emits `default_streams` if that changed anything.
pub fn set_default(tx: &mut Tx<'_>, stream_id: StreamId, is_default: bool) -> ApiResult<()> {
    if sql::set_default(tx, stream_id, is_default)? {
        events::emit_default_streams(tx)?;
    }
    Ok(())
}

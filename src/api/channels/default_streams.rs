//! `POST /default_streams` and `DELETE /default_streams`: the channels that new users are subscribed to.

use crate::domain::audit::{Action, Entry};
use crate::domain::{access, channels};
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::StreamId;
use serde::Deserialize;
use serde_json::json;

/// Parameters of `POST /default_streams` and `DELETE /default_streams`.
#[derive(Deserialize)]
pub struct DefaultStreamParams {
    /// The channel. A private or archived one cannot be added.
    stream_id: StreamId,
}

/// `POST /default_streams`: adds a channel to the default channels, to which new users are subscribed.
pub fn add(tx: &mut Tx<'_>, caller: &User, params: DefaultStreamParams) -> ApiResult<Reply> {
    access::permissions::require_default_channels(caller)?;
    let stream = access::channels::find_for_metadata(tx.ctx(caller), params.stream_id)?;
    if stream.is_archived {
        return Err(access::channels::no_such_channel());
    }
    if stream.invite_only {
        return Err(ApiError::bad_request("Private channels cannot be made default."));
    }
    set_default(tx, stream.stream_id, true)?;
    Ok(Reply::ok())
}

/// `DELETE /default_streams`: removes a channel from the default channels, to which new users are subscribed.
pub fn remove(tx: &mut Tx<'_>, caller: &User, params: DefaultStreamParams) -> ApiResult<Reply> {
    access::permissions::require_default_channels(caller)?;
    let stream = access::channels::find_for_metadata(tx.ctx(caller), params.stream_id)?;
    set_default(tx, stream.stream_id, false)?;
    Ok(Reply::ok())
}

/// Adds a channel to the default channels or removes it, and emits `default_streams` if that changed anything.
pub fn set_default(tx: &mut Tx<'_>, stream_id: StreamId, is_default: bool) -> ApiResult<()> {
    if channels::set_default(tx, stream_id, is_default)? {
        let changed = Entry::new(Action::ChannelChanged, stream_id);
        tx.audit(changed.after(json!({ "is_default_stream": is_default })))?;
        channels::events::emit_default_streams(tx)?;
    }
    Ok(())
}

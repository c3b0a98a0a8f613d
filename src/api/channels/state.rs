//! Channels in the reply of `POST /register`.

use crate::api::resource::{State, StateRequest};
use crate::domain::access::channels::Viewer;
use crate::domain::channels;
use crate::domain::channels::record::{ChannelRecord, Records};
use crate::error::ApiResult;
use crate::types::StreamId;

/// `streams` of `POST /register`: all channels that the caller can see, by name. Absent for visitors, whose channels
/// are in `subscriptions`.
pub fn streams(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.caller.is_visitor() {
        return Ok(());
    }
    let viewer = Viewer::new(request.ctx());
    let records = Records::new(request.connection, request.now, &request.app.channel_traffic)?;
    let with_archived = request.registration.client_capabilities.archived_channels;
    let mut streams = Vec::new();
    for stream in channels::all(request.connection)? {
        if (with_archived || !stream.is_archived) && viewer.can_see(&stream)? {
            streams.push(records.of(&stream)?);
        }
    }
    state.set::<Vec<ChannelRecord>>("streams", &streams)
}

/// `realm_default_streams` of `POST /register`: the ids of the channels to which new users are subscribed. Empty for
/// guests.
pub fn default_streams(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let ids =
        if request.caller.is_guest() { Vec::new() } else { channels::default_streams(request.connection)? };
    state.set::<Vec<StreamId>>("realm_default_streams", &ids)
}

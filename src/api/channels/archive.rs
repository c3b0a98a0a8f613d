//! `DELETE /streams/{stream_id}`: archives a channel. Its messages can still be read, but none can be sent.

use crate::domain::access;
use crate::domain::channel_commands::archive::{mark_read_for_subscribers, set_archived};
use crate::http::{ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::StreamId;
use serde::Deserialize;

/// Parameters of `DELETE /streams/{stream_id}`.
#[derive(Deserialize)]
pub struct ArchiveParams {
    /// The channel to archive. The caller must be able to administer it.
    stream_id: StreamId,
}

/// `DELETE /streams/{stream_id}`: archives a channel and marks its messages as read. Messages stay readable, but none
/// can be sent.
pub fn archive(tx: &mut Tx<'_>, caller: &User, params: ArchiveParams) -> ApiResult<Reply> {
    let stream = access::channels::find_to_administer(tx.ctx(caller), params.stream_id)?;
    set_archived(tx, caller.user_id, &stream, true)?;
    mark_read_for_subscribers(tx, &stream)?;
    Ok(Reply::ok())
}

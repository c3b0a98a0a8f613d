//! Events for users who gain or lose sight of a channel.

use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::channels::events::{PeersChanged, StreamCreated, StreamDeleted};
use crate::domain::channels::record::{ChannelRecord, record};
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use roaring::RoaringBitmap;
use std::sync::Arc;

/// Tells those who can see a channel now and could not before that it is there, with its subscribers; and those who
/// no longer can that it is gone. The rows have changed already.
pub fn emit_changes(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    before: &RoaringBitmap,
    after: &RoaringBitmap,
) -> ApiResult<()> {
    let gained = after - before;
    if !gained.is_empty() {
        let record = record(tx, tx.now(), stream)?;
        emit_gained(tx, stream, record, gained)?;
    }
    tx.emit(StreamDeleted::new(stream.stream_id, stream.is_archived), Audience::set(before - after));
    Ok(())
}

/// Tells users that a channel is there, with its subscribers.
pub fn emit_gained(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    record: impl Into<Arc<ChannelRecord>>,
    gained: RoaringBitmap,
) -> ApiResult<()> {
    let audience = Audience::set(gained);
    tx.emit(StreamCreated::new(record), audience.clone());
    let subscribers = channel_rows::subscribers(tx, stream.stream_id)?;
    if !subscribers.is_empty() {
        let peers = PeersChanged::added(vec![stream.stream_id], &subscribers, stream.is_archived);
        tx.emit(peers, audience);
    }
    Ok(())
}

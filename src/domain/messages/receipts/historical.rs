//! Late receipts: a user receives a channel message after it was sent.
//!
//! This happens when they could read the channel without being subscribed, and marked a message as unread, starred it,
//! collapsed it or reacted to it. The message then has the flag `historical`, is in their combined feed, and they get
//! the events about it.

use crate::domain::messages::flags::bit;
use crate::domain::messages::receipts::moved::ChannelReceipts;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{flag_sql, read_state};
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;

/// Adds a user to the receivers of messages of a channel, of which they have received none.
pub fn add_receipts(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, ids: &[MessageId]) -> ApiResult<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let wanted: RoaringBitmap = ids.iter().filter_map(|id| id.bit()).collect();
    let mut receipts = ChannelReceipts::load(tx, stream.recipient_id)?;
    let moved = receipts.add_receiver(&wanted, user_id);
    receipts.store(tx)?;
    for id in ids {
        if id.is_in(&moved) {
            // Spans list the channels in which a user may have received something.
            subscriptions::add_empty_span(tx, user_id, stream.stream_id, *id)?;
        } else {
            subscriptions::add_span_of_one(tx, user_id, stream.stream_id, *id)?;
        }
        flag_sql::add_flags(tx, user_id, *id, bit::HISTORICAL)?;
    }
    let others: Vec<MessageId> = (moved - wanted).into_iter().map(MessageId::from).collect();
    read_state::mark_read(tx, user_id, stream.recipient_id, &others)?;
    Ok(())
}

/// Adds the viewer to the receivers of messages of a conversation that they star, collapse or react to: these count as read.
/// Messages that the viewer has received do not change.
pub fn add_receipts_as_read(
    tx: &Tx<'_>,
    viewer: &MessageViewer<'_>,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<()> {
    let conversation = viewer.conversation(recipient_id)?;
    let ids: Vec<MessageId> = ids.iter().copied().filter(|id| !conversation.has_received(*id)).collect();
    let Some(stream) = conversation.stream.as_ref().filter(|_| !ids.is_empty()) else { return Ok(()) };
    let user_id = viewer.caller.user_id;
    add_receipts(tx, user_id, stream, &ids)?;
    read_state::mark_read(tx, user_id, recipient_id, &ids)?;
    Ok(())
}

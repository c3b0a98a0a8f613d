//! Late receipts: a user receives a channel message after it was sent.
//!
//! This happens when they could read the channel without being subscribed, and marked a message as unread, starred it,
//! collapsed it or reacted to it. The message then has the flag `historical`, is in their combined feed, and they get
//! the events about it.

use crate::domain::access::messages::{moved_receipts, moved_receivers};
use crate::domain::messages::flags::bit;
use crate::domain::messages::receipts::moved;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{read_state, sql};
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;

/// Adds a user to the receivers of a channel message.
pub fn add_receipt(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, id: MessageId) -> ApiResult<()> {
    match moved_receivers(&moved_receipts(tx, stream.recipient_id)?, id) {
        Some(users) => {
            let users = users | RoaringBitmap::from_iter(user_id.bit());
            let ids = RoaringBitmap::from_iter(id.bit());
            moved::remove(tx, stream.recipient_id, &ids)?;
            moved::add(tx, stream.recipient_id, &ids, &users)?;
            // Spans list the channels in which a user may have received something.
            subscriptions::add_empty_span(tx, user_id, stream.stream_id, id)?;
        }
        None => subscriptions::add_span_of_one(tx, user_id, stream.stream_id, id)?,
    }
    Ok(sql::add_flags(tx, user_id, id, bit::HISTORICAL)?)
}

/// The same for a message that the viewer stars, collapses or reacts to: it counts as read. Nothing changes if they have
/// received the message.
pub fn add_receipt_as_read(
    tx: &Tx<'_>,
    viewer: &MessageViewer<'_>,
    recipient_id: RecipientId,
    id: MessageId,
) -> ApiResult<()> {
    let conversation = viewer.conversation(recipient_id)?;
    let Some(stream) = conversation.stream.as_ref().filter(|_| !conversation.has_received(id)) else {
        return Ok(());
    };
    let user_id = viewer.caller.user_id;
    add_receipt(tx, user_id, stream, id)?;
    read_state::mark_read(tx, user_id, recipient_id, &[id])?;
    Ok(())
}

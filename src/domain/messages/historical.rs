//! Messages that come to a user later than they were sent: they were not subscribed then, could read the channel, and did
//! something with one of its messages. Such messages are theirs from then on, with the flag `historical`: they are in
//! the combined feed, and the user hears what happens to them.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::messages::access::Sight;
use crate::domain::messages::flags::bit;
use crate::domain::messages::{moved_receipts, sql, unread};
use crate::domain::subscriptions::sql as subscriptions;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;

/// Makes a message of a channel one that a user received, though it was sent when they were not subscribed.
pub fn receive(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, id: MessageId) -> ApiResult<()> {
    match moved_receipts::receivers(&moved_receipts::of(tx, stream.recipient_id)?, id) {
        Some(users) => {
            let users = users | RoaringBitmap::from_iter(user_id.bit());
            let ids = RoaringBitmap::from_iter(id.bit());
            moved_receipts::remove(tx, stream.recipient_id, &ids)?;
            moved_receipts::add(tx, stream.recipient_id, &ids, &users)?;
            // Spans say in which channels to look for what somebody received.
            subscriptions::add_empty_span(tx, user_id, stream.stream_id, id)?;
        }
        None => subscriptions::add_span_of_one(tx, user_id, stream.stream_id, id)?,
    }
    Ok(sql::add_flags(tx, user_id, id, bit::HISTORICAL)?)
}

/// The same for what a user stars, collapses or reacts to: it comes to them as read. What they received stays as it is.
pub fn receive_as_read(
    tx: &Tx<'_>,
    sight: &Sight<'_>,
    recipient_id: RecipientId,
    id: MessageId,
) -> ApiResult<()> {
    let view = sight.view(recipient_id)?;
    let Some(stream) = view.stream.as_ref().filter(|_| !view.received(id)) else { return Ok(()) };
    let user_id = sight.caller.user_id;
    receive(tx, user_id, stream, id)?;
    unread::mark_read(tx, user_id, recipient_id, &[id])?;
    Ok(())
}

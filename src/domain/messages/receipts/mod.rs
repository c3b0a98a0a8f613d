//! Receipts: who received a message.
//!
//! - [`moved`]: receipts of messages that were moved to another channel;
//! - [`historical`]: messages that a user receives after they were sent.

pub mod historical;
pub mod moved;

use crate::domain::access::messages::{direct_user_ids, moved_receipts, moved_receivers};
use crate::domain::messages::record::MessageRow;
use crate::domain::realm::user_ids;
use crate::domain::rows::channel::StreamRow;
use crate::error::ApiResult;
use crate::types::{MessageId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// Returns the users who received a message; `stream` is its channel.
pub fn users_who_received(
    connection: &Connection,
    stream: Option<&StreamRow>,
    message: &MessageRow,
) -> ApiResult<RoaringBitmap> {
    let Some(stream) = stream else {
        let people = direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
        return Ok(people.into_iter().filter_map(UserId::bit).collect());
    };
    match moved_receivers(&moved_receipts(connection, stream.recipient_id)?, message.id) {
        Some(received) => Ok(received.clone()),
        None => receivers_by_spans(connection, stream.stream_id, message.id),
    }
}

/// Returns the users who were subscribed to a channel when a message was sent, by their spans.
pub fn receivers_by_spans(
    connection: &Connection,
    stream_id: StreamId,
    id: MessageId,
) -> ApiResult<RoaringBitmap> {
    let present = user_ids::set(
        connection,
        "SELECT user_id FROM subscription INDEXED BY subscription_stream
             JOIN subscription_span USING (user_id, stream_id)
         WHERE stream_id = ?1 AND active AND from_message_id <= ?2
             AND (until_message_id IS NULL OR ?2 < until_message_id)",
        (stream_id, id),
    )?;
    Ok(present | former_receivers(connection, stream_id, id)?)
}

/// Returns those of them whose span has ended.
pub fn former_receivers(
    connection: &Connection,
    stream_id: StreamId,
    id: MessageId,
) -> ApiResult<RoaringBitmap> {
    let former = user_ids::set(
        connection,
        "SELECT user_id FROM subscription_span INDEXED BY subscription_span_ended
         WHERE stream_id = ?1 AND until_message_id IS NOT NULL
             AND from_message_id <= ?2 AND ?2 < until_message_id",
        (stream_id, id),
    )?;
    Ok(former)
}

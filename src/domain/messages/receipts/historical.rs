//! Late receipts: a user receives a channel message after it was sent.
//!
//! This happens when they could read the channel without being subscribed, and marked a message as unread, starred it,
//! collapsed it or reacted to it. The message then has the flag `historical`, is in their combined feed, and they get
//! the events about it.

use crate::domain::access::messages::moved_receipts;
use crate::domain::limits::{MAX_SEPARATE_SPANS, MAX_SPAN_DISTANCE};
use crate::domain::messages::flags::bit;
use crate::domain::messages::receipts::moved::ChannelReceipts;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{flag_sql, read_state};
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions;
use crate::domain::subscriptions::EndedSpan;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;

/// Adds a user to the receivers of messages of a channel, ascending, of which they have received none.
pub fn add_receipts(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, ids: &[MessageId]) -> ApiResult<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let wanted: RoaringBitmap = ids.iter().filter_map(|id| id.bit()).collect();
    let mut receipts = ChannelReceipts::load(tx, stream.recipient_id)?;
    let moved = receipts.add_receiver(&wanted, user_id);
    receipts.store(tx)?;
    let (from_elsewhere, of_channel): (Vec<MessageId>, Vec<MessageId>) =
        ids.iter().copied().partition(|id| id.is_in(&moved));
    if let Some(first) = from_elsewhere.first() {
        // Spans list the channels in which a user may have received something.
        subscriptions::add_empty_span(tx, user_id, stream.stream_id, *first)?;
    }
    add_to_spans(tx, user_id, stream, &of_channel)?;
    for id in ids {
        flag_sql::add_flags(tx, user_id, *id, bit::HISTORICAL)?;
    }
    let others: Vec<MessageId> = (moved - wanted).into_iter().map(MessageId::from).collect();
    read_state::mark_read(tx, user_id, stream.recipient_id, &others)?;
    Ok(())
}

/// Adds messages of a channel, ascending, to the spans of a user who has received none of them. If the user has many spans,
/// those nearby are joined, and the user also receives the messages between them, as read. Otherwise the messages that a user
/// stars, or the mentions of a bot, would make each later change in the channel slower.
pub fn add_to_spans(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, ids: &[MessageId]) -> ApiResult<()> {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(()) };
    let (stream_id, recipient_id) = (stream.stream_id, stream.recipient_id);
    let count = subscriptions::count_spans(tx, user_id, stream_id, MAX_SEPARATE_SPANS)?;
    let distance = if count + ids.len() > MAX_SEPARATE_SPANS { MAX_SPAN_DISTANCE } else { 0 };
    let stored = subscriptions::ended_spans_around(tx, user_id, stream_id, *first, *last)?;
    let added = ids.iter().map(|id| (*id, MessageId(id.0 + 1)));
    let (joined, mut between) = join(stored.iter().copied().chain(added).collect(), distance);
    for (from, _) in stored.iter().filter(|span| joined.binary_search(span).is_err()) {
        subscriptions::delete_span(tx, user_id, stream_id, *from)?;
    }
    for span in joined.iter().filter(|span| stored.binary_search(span).is_err()) {
        subscriptions::put_ended_span(tx, user_id, stream_id, *span)?;
    }
    if between.is_empty() {
        return Ok(());
    }
    // Messages from elsewhere that the user received before stay unread.
    for receipts in moved_receipts(tx, recipient_id)? {
        if user_id.is_in(&receipts.user_ids) {
            between -= receipts.message_ids;
        }
    }
    read_state::add_read_ids(tx, user_id, recipient_id, &between)
}

/// Joins spans whose ids differ by at most `distance`. Returns the spans, ascending, and the ids between those that were joined.
fn join(mut spans: Vec<EndedSpan>, distance: i64) -> (Vec<EndedSpan>, RoaringBitmap) {
    spans.sort_unstable();
    let (mut joined, mut between): (Vec<EndedSpan>, _) = (Vec::new(), RoaringBitmap::new());
    for (from, until) in spans {
        match joined.last_mut() {
            Some((_, end)) if from.0 - end.0 <= distance => {
                if let (Some(end), Some(from)) = (end.bit(), from.bit()) {
                    between.insert_range(end..from);
                }
                *end = until;
            }
            _ => joined.push((from, until)),
        }
    }
    (joined, between)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_nearby_are_joined() {
        let spans = |pairs: &[(i64, i64)]| -> Vec<EndedSpan> {
            pairs.iter().map(|(from, until)| (MessageId(*from), MessageId(*until))).collect()
        };
        let joined_at = |distance| join(spans(&[(6, 7), (20, 21), (3, 4), (4, 5)]), distance);
        assert_eq!(joined_at(0), (spans(&[(3, 5), (6, 7), (20, 21)]), RoaringBitmap::new()));
        assert_eq!(joined_at(1), (spans(&[(3, 7), (20, 21)]), RoaringBitmap::from([5])));
        assert_eq!(joined_at(13), (spans(&[(3, 21)]), [5].into_iter().chain(7..20).collect()));
    }
}

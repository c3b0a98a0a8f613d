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
        "SELECT user_id FROM subscription_span INDEXED BY subscription_span_current
         WHERE stream_id = ?1 AND until_message_id IS NULL AND from_message_id <= ?2",
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
    let by_message = user_ids::set(
        connection,
        "SELECT user_id FROM subscription_span INDEXED BY subscription_span_single
         WHERE stream_id = ?1 AND from_message_id = ?2 AND until_message_id = from_message_id + 1",
        (stream_id, id),
    )?;
    let by_end = user_ids::set(
        connection,
        "SELECT user_id FROM subscription_span INDEXED BY subscription_span_ended
         WHERE stream_id = ?1 AND until_message_id > from_message_id + 1
             AND from_message_id <= ?2 AND ?2 < until_message_id",
        (stream_id, id),
    )?;
    Ok(by_message | by_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::count_steps;
    use crate::types::RecipientId;

    /// A channel that users 1, 2 and 5 have left, that user 4 is in, and of which user 3 received every other message from 21 on.
    fn with_spans() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection
            .execute_batch(
                "INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
                 VALUES (1, 5, 10, 20), (1, 5, 20, 20), (2, 5, 10, 41), (4, 5, 15, NULL), (5, 5, 20, 21), (6, 6, 1, 90);
                 WITH RECURSIVE one (id) AS (SELECT 21 UNION ALL SELECT id + 2 FROM one WHERE id < 2000)
                 INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
                 SELECT 3, 5, id, id + 1 FROM one;",
            )
            .unwrap();
        connection
    }

    #[test]
    fn receivers_are_found_by_spans() {
        let connection = with_spans();
        let set = |users: &[u32]| users.iter().copied().collect::<RoaringBitmap>();
        let cases: [(i64, &[u32], &[u32]); 8] = [
            (9, &[], &[]),
            (10, &[1, 2], &[1, 2]),
            (19, &[1, 2], &[1, 2, 4]),
            (20, &[2, 5], &[2, 4, 5]),
            (21, &[2, 3], &[2, 3, 4]),
            (40, &[2], &[2, 4]),
            (41, &[3], &[3, 4]),
            (42, &[], &[4]),
        ];
        for (id, former, all) in cases {
            let id = MessageId(id);
            assert_eq!(former_receivers(&connection, StreamId(5), id).unwrap(), set(former), "{id}");
            assert_eq!(receivers_by_spans(&connection, StreamId(5), id).unwrap(), set(all), "{id}");
        }
        let ids = cases.map(|(id, ..)| MessageId(id));
        let (stream_id, recipient_id) = (StreamId(5), RecipientId(7));
        for (first, last) in [(0, 7), (2, 5), (6, 6)] {
            let (ids, cases) = (&ids[first..=last], &cases[first..=last]);
            let former = moved::group_by_former_receivers(&connection, stream_id, recipient_id, ids).unwrap();
            let all = moved::group_by_receivers(&connection, stream_id, recipient_id, ids).unwrap();
            for (id, of_former, of_all) in cases {
                let receivers = |groups: &moved::ReceiverGroups| {
                    let bit = MessageId(*id).bit().unwrap();
                    groups.iter().find(|(ids, _)| ids.contains(bit)).unwrap().1.clone()
                };
                assert_eq!(receivers(&former), set(of_former), "{id}");
                assert_eq!(receivers(&all), set(of_all), "{id}");
            }
        }
    }

    #[test]
    fn spans_of_later_messages_are_not_read() {
        let connection = with_spans();
        let steps = count_steps(&connection);
        former_receivers(&connection, StreamId(5), MessageId(12)).unwrap();
        let ids = [MessageId(12), MessageId(30)];
        moved::group_by_former_receivers(&connection, StreamId(5), RecipientId(7), &ids).unwrap();
        // Each row takes several steps.
        let steps = steps();
        assert!(steps < 500, "{steps} steps beside a thousand spans");
    }
}

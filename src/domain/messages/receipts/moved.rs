//! Writing the receipts of messages that were moved to another channel, and grouping messages by their receivers.
//!
//! Messages with the same receivers share a row, so that moving a topic writes a row or two, not one for each receiver.

use crate::domain::access::messages::{MovedReceipts, moved_receipts, moved_receivers};
use crate::error::ApiResult;
use crate::store::bitmap;
use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// Stores the receivers of messages that were moved to a channel.
pub fn add(
    connection: &Connection,
    recipient_id: RecipientId,
    message_ids: &RoaringBitmap,
    user_ids: &RoaringBitmap,
) -> ApiResult<()> {
    let same_receivers =
        moved_receipts(connection, recipient_id)?.into_iter().find(|row| row.user_ids == *user_ids);
    match same_receivers {
        Some(row) => put_messages(connection, &row, &(&row.message_ids | message_ids))?,
        None => {
            connection
                .prepare_cached(
                    "INSERT INTO arrival (recipient_id, message_ids, user_ids) VALUES (?1, ?2, ?3)",
                )?
                .execute((recipient_id, bitmap::to_blob(message_ids), bitmap::to_blob(user_ids)))?;
        }
    }
    Ok(())
}

/// Deletes the receipts of messages that leave a channel.
pub fn remove(
    connection: &Connection,
    recipient_id: RecipientId,
    message_ids: &RoaringBitmap,
) -> ApiResult<()> {
    for row in moved_receipts(connection, recipient_id)? {
        if !row.message_ids.is_disjoint(message_ids) {
            put_messages(connection, &row, &(&row.message_ids - message_ids))?;
        }
    }
    Ok(())
}

fn put_messages(
    connection: &Connection,
    row: &MovedReceipts,
    message_ids: &RoaringBitmap,
) -> rusqlite::Result<()> {
    if message_ids.is_empty() {
        connection.prepare_cached("DELETE FROM arrival WHERE arrival_id = ?1")?.execute([row.row_id])?;
    } else {
        connection
            .prepare_cached("UPDATE arrival SET message_ids = ?2 WHERE arrival_id = ?1")?
            .execute((row.row_id, bitmap::to_blob(message_ids)))?;
    }
    Ok(())
}

/// Messages of a channel, grouped by who received them: pairs of messages and users.
pub type ReceiverGroups = Vec<(RoaringBitmap, RoaringBitmap)>;

/// Every user who received one of the messages.
pub fn all_receivers(groups: &ReceiverGroups) -> RoaringBitmap {
    groups.iter().fold(RoaringBitmap::new(), |all, (_, users)| all | users)
}

/// Groups messages of a channel, ascending, by their receivers, in one pass over the ids and the ends of spans.
pub fn group_by_receivers(
    connection: &Connection,
    stream_id: StreamId,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<ReceiverGroups> {
    let moved = moved_receipts(connection, recipient_id)?;
    let mut ends = span_ends(connection, stream_id)?.into_iter().peekable();
    let mut subscribed = RoaringBitmap::new();
    let mut groups: ReceiverGroups = Vec::new();
    for id in ids {
        while let Some((_, user, begins)) = ends.next_if(|(at, ..)| at <= id) {
            if begins {
                subscribed.insert(user);
            } else {
                subscribed.remove(user);
            }
        }
        let users = moved_receivers(&moved, *id).unwrap_or(&subscribed);
        // Usually those of the previous message.
        match groups.iter().rposition(|(_, receivers)| receivers == users) {
            Some(index) => groups[index].0.extend(id.bit()),
            None => groups.push((id.bit().into_iter().collect(), users.clone())),
        }
    }
    Ok(groups)
}

/// The beginnings (true) and ends (false) of spans, in the order of messages; at one message, ends come first.
fn span_ends(connection: &Connection, stream_id: StreamId) -> ApiResult<Vec<(MessageId, u32, bool)>> {
    let statements = [
        "SELECT user_id, from_message_id, until_message_id
         FROM subscription INDEXED BY subscription_stream JOIN subscription_span USING (user_id, stream_id)
         WHERE stream_id = ?1 AND active AND until_message_id IS NULL",
        "SELECT user_id, from_message_id, until_message_id
         FROM subscription_span INDEXED BY subscription_span_ended
         WHERE stream_id = ?1 AND until_message_id IS NOT NULL AND from_message_id < until_message_id",
    ];
    let mut ends = Vec::new();
    for statement in statements {
        let mut statement = connection.prepare_cached(statement)?;
        let mut rows = statement.query([stream_id])?;
        while let Some(row) = rows.next()? {
            let (user_id, until): (UserId, Option<MessageId>) = (row.get(0)?, row.get(2)?);
            let Some(user) = user_id.bit() else { continue };
            ends.push((row.get(1)?, user, true));
            ends.extend(until.map(|until| (until, user, false)));
        }
    }
    ends.sort_unstable_by_key(|(at, _, begins)| (*at, *begins));
    Ok(ends)
}

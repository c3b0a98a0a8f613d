//! Writing the receipts of messages that were moved to another channel, and grouping messages by their receivers.
//!
//! Messages with the same receivers share a row, so that moving a topic writes a row or two, not one for each receiver.

use crate::domain::access::messages::{MovedReceipts, moved_receipts, moved_receivers};
use crate::domain::limits::MAX_SETS_OF_RECEIVERS;
use crate::error::ApiResult;
use crate::store::bitmap;
use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// The receipts of the messages that were moved to a channel. They are changed in memory and then stored, because each
/// access to the table reads all of them.
pub struct ChannelReceipts {
    recipient_id: RecipientId,
    /// Rows that are not stored yet have the key 0.
    rows: Vec<MovedReceipts>,
    /// Indexes of changed rows.
    changed: BTreeSet<usize>,
}

impl ChannelReceipts {
    /// Loads the receipts of a channel.
    pub fn load(connection: &Connection, recipient_id: RecipientId) -> rusqlite::Result<Self> {
        let rows = moved_receipts(connection, recipient_id)?;
        Ok(Self { recipient_id, rows, changed: BTreeSet::new() })
    }

    /// Returns whether a message with these receivers needs no further row, or may have one. Everyone who reads the channel
    /// reads all rows.
    pub fn has_room_for(&self, user_ids: &RoaringBitmap) -> bool {
        self.rows.len() < MAX_SETS_OF_RECEIVERS || self.rows.iter().any(|row| row.user_ids == *user_ids)
    }

    /// Adds messages without receipts.
    pub fn add(&mut self, message_ids: &RoaringBitmap, user_ids: &RoaringBitmap) {
        let index = self.rows.iter().position(|row| row.user_ids == *user_ids).unwrap_or_else(|| {
            let (message_ids, user_ids) = (RoaringBitmap::new(), user_ids.clone());
            self.rows.push(MovedReceipts { row_id: 0, message_ids, user_ids });
            self.rows.len() - 1
        });
        self.rows[index].message_ids |= message_ids;
        self.changed.insert(index);
    }

    /// Removes the receipts of messages.
    pub fn remove(&mut self, message_ids: &RoaringBitmap) {
        for (index, row) in self.rows.iter_mut().enumerate() {
            if !row.message_ids.is_disjoint(message_ids) {
                row.message_ids -= message_ids;
                self.changed.insert(index);
            }
        }
    }

    /// Adds a receiver of messages. Returns those of them that were moved, and, if there is no room for another set of
    /// receivers, the other messages with the same ones: the user receives these too.
    pub fn add_receiver(&mut self, message_ids: &RoaringBitmap, user_id: UserId) -> RoaringBitmap {
        let mut received = RoaringBitmap::new();
        let Some(user) = user_id.bit() else { return received };
        for index in 0..self.rows.len() {
            let row = &self.rows[index];
            let mut ids = &row.message_ids & message_ids;
            if ids.is_empty() || row.user_ids.contains(user) {
                continue;
            }
            let mut users = row.user_ids.clone();
            users.insert(user);
            if !self.has_room_for(&users) {
                ids.clone_from(&row.message_ids);
            }
            self.rows[index].message_ids -= &ids;
            self.changed.insert(index);
            self.add(&ids, &users);
            received |= ids;
        }
        received
    }

    /// Stores the changes.
    pub fn store(self, connection: &Connection) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO arrival (recipient_id, message_ids, user_ids) VALUES (?1, ?2, ?3)",
        )?;
        let mut update =
            connection.prepare_cached("UPDATE arrival SET message_ids = ?2 WHERE arrival_id = ?1")?;
        let mut delete = connection.prepare_cached("DELETE FROM arrival WHERE arrival_id = ?1")?;
        for row in self.changed.iter().filter_map(|index| self.rows.get(*index)) {
            let ids = bitmap::to_blob(&row.message_ids);
            match (row.row_id, row.message_ids.is_empty()) {
                (0, true) => continue,
                (0, false) => insert.execute((self.recipient_id, ids, bitmap::to_blob(&row.user_ids)))?,
                (id, true) => delete.execute([id])?,
                (id, false) => update.execute((id, ids))?,
            };
        }
        Ok(())
    }
}

/// Returns the number of different sets of receivers of the messages that were moved to a channel. What is done for many of its
/// subscribers looks at all of them for each.
pub fn count_sets(connection: &Connection, recipient_id: RecipientId) -> rusqlite::Result<usize> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM arrival WHERE recipient_id = ?1")?
        .query_row([recipient_id], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Deletes the receipts of messages that leave a channel.
pub fn remove(
    connection: &Connection,
    recipient_id: RecipientId,
    message_ids: &RoaringBitmap,
) -> rusqlite::Result<()> {
    let mut receipts = ChannelReceipts::load(connection, recipient_id)?;
    receipts.remove(message_ids);
    receipts.store(connection)
}

/// Messages of a channel, grouped by who received them: pairs of messages and users.
pub type ReceiverGroups = Vec<(RoaringBitmap, RoaringBitmap)>;

/// Every user who received one of the messages.
pub fn all_receivers(groups: &ReceiverGroups) -> RoaringBitmap {
    groups.iter().fold(RoaringBitmap::new(), |all, (_, users)| all | users)
}

/// Groups messages of a channel, ascending, by their receivers.
pub fn group_by_receivers(
    connection: &Connection,
    stream_id: StreamId,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<ReceiverGroups> {
    let spans = span_ends(connection, stream_id, ids, &[CURRENT_SPANS, SINGLE_SPANS, ENDED_SPANS])?;
    group(connection, recipient_id, ids, spans)
}

/// Groups messages as [`group_by_receivers`], without receivers who have been subscribed since: a channel may have very many.
pub fn group_by_former_receivers(
    connection: &Connection,
    stream_id: StreamId,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<ReceiverGroups> {
    let spans = span_ends(connection, stream_id, ids, &[SINGLE_SPANS, ENDED_SPANS])?;
    group(connection, recipient_id, ids, spans)
}

/// In one pass over the ids and the ends of spans.
fn group(
    connection: &Connection,
    recipient_id: RecipientId,
    ids: &[MessageId],
    ends: Vec<SpanEnd>,
) -> ApiResult<ReceiverGroups> {
    let moved = moved_receipts(connection, recipient_id)?;
    let mut ends = ends.into_iter().peekable();
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

/// A beginning (true) or an end (false) of a user's span, at a message.
type SpanEnd = (MessageId, u32, bool);

const CURRENT_SPANS: &str = "SELECT user_id, from_message_id, until_message_id
     FROM subscription_span INDEXED BY subscription_span_current
     WHERE stream_id = ?1 AND until_message_id IS NULL AND from_message_id <= ?3";

/// Ended spans of one message.
const SINGLE_SPANS: &str = "SELECT user_id, from_message_id, until_message_id
     FROM subscription_span INDEXED BY subscription_span_single
     WHERE stream_id = ?1 AND until_message_id = from_message_id + 1 AND from_message_id BETWEEN ?2 AND ?3";

/// Longer spans that have ended.
const ENDED_SPANS: &str = "SELECT user_id, from_message_id, until_message_id
     FROM subscription_span INDEXED BY subscription_span_ended
     WHERE stream_id = ?1 AND until_message_id > from_message_id + 1
         AND until_message_id > ?2 AND from_message_id <= ?3";

/// The beginnings and ends of spans that may contain some of the messages, in the order of messages; at one message, ends come first.
fn span_ends(
    connection: &Connection,
    stream_id: StreamId,
    ids: &[MessageId],
    statements: &[&str],
) -> ApiResult<Vec<SpanEnd>> {
    let mut ends = Vec::new();
    for statement in statements {
        let mut statement = connection.prepare_cached(statement)?;
        let mut rows = statement.query((stream_id, ids.first(), ids.last()))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: impl IntoIterator<Item = u32>) -> RoaringBitmap {
        ids.into_iter().collect()
    }

    /// Receipts in which each message from 1 on has receivers of its own.
    fn receipts(count: usize) -> ChannelReceipts {
        let mut receipts =
            ChannelReceipts { recipient_id: RecipientId(1), rows: Vec::new(), changed: BTreeSet::new() };
        for number in 1..=u32::try_from(count).unwrap() {
            receipts.add(&set([number, number + 10_000]), &set([number]));
        }
        receipts
    }

    fn receivers(receipts: &ChannelReceipts, id: u32) -> RoaringBitmap {
        moved_receivers(&receipts.rows, MessageId::from(id)).unwrap().clone()
    }

    #[test]
    fn messages_with_the_same_receivers_share_a_row() {
        let mut receipts = receipts(3);
        receipts.add(&set([7]), &set([2]));
        assert_eq!(receipts.rows.len(), 3);
        assert_eq!(receipts.add_receiver(&set([1, 2, 8]), UserId(9)), set([1, 2]));
        assert_eq!(receivers(&receipts, 2), set([2, 9]));
        assert_eq!([7, 10_001].map(|id| receivers(&receipts, id)), [set([2]), set([1])]);
        receipts.remove(&set([1, 7]));
        assert_eq!(moved_receivers(&receipts.rows, MessageId(1)), None);
    }

    #[test]
    fn the_sets_of_receivers_are_limited() {
        let mut receipts = receipts(MAX_SETS_OF_RECEIVERS);
        assert!(receipts.has_room_for(&set([5])));
        assert!(!receipts.has_room_for(&set([5, 6])));
        // All messages with the same receivers get the new one, so that there is no further set.
        assert_eq!(receipts.add_receiver(&set([5, 6]), UserId(9)), set([5, 10_005, 6, 10_006]));
        assert_eq!([5, 10_006].map(|id| receivers(&receipts, id)), [set([5, 9]), set([6, 9])]);
        let stored = receipts.rows.iter().filter(|row| !row.message_ids.is_empty());
        assert_eq!(stored.count(), MAX_SETS_OF_RECEIVERS);
    }
}

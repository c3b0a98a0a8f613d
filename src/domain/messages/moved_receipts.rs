//! Messages that came to a channel from another one, and who received them.
//!
//! Who received a message follows from spans of subscription to the channel that it was sent to. A message that moved
//! lies in a channel whose spans know nothing of it, so its receivers are written down: as one set for all messages
//! that have the same receivers. Moving a topic writes a row or two, not one for each receiver.

use crate::domain::messages::access::Ranges;
use crate::http::ApiResult;
use crate::store::bitmap;
use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, Row};
use std::ops::RangeInclusive;

/// Messages of a channel that came from elsewhere and have the same receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    row_id: i64,
    /// The messages.
    pub message_ids: RoaringBitmap,
    /// Who received them.
    pub user_ids: RoaringBitmap,
}

impl Arrival {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { row_id: row.get(0)?, message_ids: set_at(row, 1)?, user_ids: set_at(row, 2)? })
    }
}

fn set_at(row: &Row<'_>, index: usize) -> rusqlite::Result<RoaringBitmap> {
    bitmap::from_blob(index, row.get_ref(index)?.as_blob()?)
}

/// What came to a channel.
pub fn of(connection: &Connection, recipient_id: RecipientId) -> rusqlite::Result<Vec<Arrival>> {
    connection
        .prepare_cached("SELECT arrival_id, message_ids, user_ids FROM arrival WHERE recipient_id = ?1")?
        .query_map([recipient_id], Arrival::read)?
        .collect()
}

/// The receivers of a message that came from elsewhere; `None` if spans tell them.
pub fn receivers(arrivals: &[Arrival], id: MessageId) -> Option<&RoaringBitmap> {
    let bit = id.bit()?;
    arrivals.iter().find(|arrival| arrival.message_ids.contains(bit)).map(|arrival| &arrival.user_ids)
}

/// The ids that a user received of a channel: those of their spans, corrected by what came from elsewhere. Ranges go on
/// over ids that are no messages of the channel, as those of spans do, so that they stay few.
pub fn correct(spans: Ranges, arrivals: &[Arrival], user_id: UserId) -> Ranges {
    if arrivals.is_empty() {
        return spans;
    }
    let (mut gained, mut lost) = (RoaringBitmap::new(), RoaringBitmap::new());
    for arrival in arrivals {
        let is_receiver = user_id.bit().is_some_and(|bit| arrival.user_ids.contains(bit));
        if is_receiver {
            gained |= &arrival.message_ids;
        } else {
            lost |= &arrival.message_ids;
        }
    }
    let mut received: Ranges = spans.into_iter().flat_map(|range| without(range, &lost)).collect();
    let mut runs = gained.iter();
    received.extend(std::iter::from_fn(|| runs.next_range()));
    received.sort_unstable_by_key(|range| *range.start());
    received.dedup_by(|next, range| {
        let touches = *next.start() <= range.end().saturating_add(1);
        if touches {
            *range = *range.start()..=*range.end().max(next.end());
        }
        touches
    });
    received
}

/// What is left of a range.
fn without(range: RangeInclusive<u32>, lost: &RoaringBitmap) -> Ranges {
    let mut left = Vec::new();
    let mut runs = lost.range(range.clone());
    let mut start = *range.start();
    while let Some(run) = runs.next_range() {
        if start < *run.start() {
            left.push(start..=*run.start() - 1);
        }
        start = run.end().saturating_add(1);
    }
    if start <= *range.end() {
        left.push(start..=*range.end());
    }
    left
}

/// Writes down who received messages that have come to a channel.
pub fn add(
    connection: &Connection,
    recipient_id: RecipientId,
    message_ids: &RoaringBitmap,
    user_ids: &RoaringBitmap,
) -> ApiResult<()> {
    let alike = of(connection, recipient_id)?.into_iter().find(|arrival| arrival.user_ids == *user_ids);
    match alike {
        Some(arrival) => put_messages(connection, &arrival, &(&arrival.message_ids | message_ids))?,
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

/// Forgets messages that are no longer in a channel.
pub fn remove(
    connection: &Connection,
    recipient_id: RecipientId,
    message_ids: &RoaringBitmap,
) -> ApiResult<()> {
    for arrival in of(connection, recipient_id)? {
        if !arrival.message_ids.is_disjoint(message_ids) {
            put_messages(connection, &arrival, &(&arrival.message_ids - message_ids))?;
        }
    }
    Ok(())
}

fn put_messages(
    connection: &Connection,
    arrival: &Arrival,
    message_ids: &RoaringBitmap,
) -> rusqlite::Result<()> {
    if message_ids.is_empty() {
        connection.prepare_cached("DELETE FROM arrival WHERE arrival_id = ?1")?.execute([arrival.row_id])?;
    } else {
        connection
            .prepare_cached("UPDATE arrival SET message_ids = ?2 WHERE arrival_id = ?1")?
            .execute((arrival.row_id, bitmap::to_blob(message_ids)))?;
    }
    Ok(())
}

/// Messages of a channel, grouped by who received them: pairs of messages and users.
pub type Groups = Vec<(RoaringBitmap, RoaringBitmap)>;

/// Everybody who received some of the messages.
pub fn all_users(groups: &Groups) -> RoaringBitmap {
    groups.iter().fold(RoaringBitmap::new(), |all, (_, users)| all | users)
}

/// Groups messages of a channel, ascending ids, by their receivers. One walk over the ids and over the ends of spans,
/// whatever their number.
pub fn group_by_receivers(
    connection: &Connection,
    stream_id: StreamId,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<Groups> {
    let arrivals = of(connection, recipient_id)?;
    let mut steps = span_ends(connection, stream_id)?.into_iter().peekable();
    let mut subscribed = RoaringBitmap::new();
    let mut groups: Groups = Vec::new();
    for id in ids {
        while let Some((_, user, comes)) = steps.next_if(|(at, ..)| at <= id) {
            if comes {
                subscribed.insert(user);
            } else {
                subscribed.remove(user);
            }
        }
        let users = receivers(&arrivals, *id).unwrap_or(&subscribed);
        // Mostly they are those of the message before.
        match groups.iter().rposition(|(_, known)| known == users) {
            Some(index) => groups[index].0.extend(id.bit()),
            None => groups.push((id.bit().into_iter().collect(), users.clone())),
        }
    }
    Ok(groups)
}

/// Who came (true) and left (false) at which message, in the order of messages; at one message, who left comes first.
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
    ends.sort_unstable_by_key(|(at, _, comes)| (*at, *comes));
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_correct_spans_both_ways() {
        let set = |ids: &[u32]| ids.iter().copied().collect::<RoaringBitmap>();
        let arrival = |messages: &[u32], users: &[u32]| Arrival {
            row_id: 0,
            message_ids: set(messages),
            user_ids: set(users),
        };
        let arrivals = [arrival(&[3, 4, 12], &[1, 2]), arrival(&[15, 30], &[2])];
        let spans: Ranges = vec![10..=20];
        assert_eq!(correct(spans.clone(), &[], UserId(1)), spans);
        assert_eq!(correct(spans.clone(), &arrivals, UserId(1)), [3..=4, 10..=14, 16..=20]);
        assert_eq!(correct(spans.clone(), &arrivals, UserId(2)), [3..=4, 10..=20, 30..=30]);
        assert_eq!(correct(spans, &arrivals, UserId(3)), [10..=11, 13..=14, 16..=20]);
        assert_eq!(receivers(&arrivals, MessageId(30)), Some(&set(&[2])));
        assert_eq!(receivers(&arrivals, MessageId(31)), None);
    }
}

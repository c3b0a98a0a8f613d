//! Storing a move: rows, search index, history; and who received and read the messages, if they change channel.

use crate::api::messages::moves::plan::Move;
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state::by_users::ReadByUsers;
use crate::domain::messages::receipts::moved;
use crate::domain::messages::receipts::moved::{ChannelReceipts, ReceiverGroups};
use crate::domain::messages::topic_sql::NewLocation;
use crate::domain::messages::{read_state, topic_sql};
use crate::domain::search::{index, purge};
use crate::domain::{messages, rows, subscriptions};
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// Updates the rows of the messages, their search index and their history, but not the history of `skip_history_of`: an
/// edit of its content records the move too.
pub fn write_rows(
    tx: &mut Tx<'_>,
    mv: &Move,
    caller: &Caller,
    skip_history_of: Option<MessageId>,
) -> ApiResult<()> {
    let topic_id = topic_sql::topic_or_new(tx, mv.to.stream_id, &mv.topic.key())?;
    let subject = mv.changes_topic().then(|| mv.topic.as_str());
    let links = if mv.topic_links.is_empty() { None } else { Some(serde_json::to_string(&mv.topic_links)?) };
    let with_history = mv.ids.iter().copied().filter(|id| skip_history_of != Some(*id));
    topic_sql::insert_moves(tx, with_history, &mv.record(caller.user_id, tx.now(), mv.old_topic.as_str()))?;
    let location = NewLocation {
        recipient_id: mv.changes_stream().then_some(mv.to.recipient_id),
        topic_id,
        subject,
        links: links.as_deref().filter(|_| subject.is_some()),
        moved_at: (!mv.only_resolves()).then(|| tx.now()),
    };
    topic_sql::relocate(tx, &mv.ids, &location)?;
    if subject.is_some() {
        purge::retire_words(tx, mv.old_topic.as_str())?;
        index::renew_topics(tx, &mv.ids)?;
    }
    Ok(())
}

/// Receivers of the messages of a move, before and after it.
pub struct Receipts {
    /// The messages by their receivers in the old channel.
    pub before: ReceiverGroups,
    /// The messages by their receivers in the new channel: those before who are subscribed there; and all active
    /// subscribers, if the history of the new channel is protected. A channel with public history stores a limited number
    /// of sets of receivers; beyond it, the set is empty.
    pub after: ReceiverGroups,
    /// The new channel's subscribers, deactivated users too.
    pub subscribers: RoaringBitmap,
}

impl Receipts {
    /// The messages by those who received them before and do not receive them in the new channel.
    pub fn lost(&self) -> ReceiverGroups {
        let pairs = self.before.iter().zip(&self.after);
        pairs.map(|((ids, before), (_, after))| (ids.clone(), before - after)).collect()
    }
}

/// Returns who receives the messages of a move. To be called before their rows move.
pub fn load(connection: &Connection, mv: &Move) -> ApiResult<Receipts> {
    let before = moved::group_by_receivers(connection, mv.from.stream_id, mv.from.recipient_id, &mv.ids)?;
    let subscribers = subscriptions::subscribers_with_deactivated(connection, mv.to.stream_id)?;
    let after = if mv.to.has_public_history() {
        let mut there = ChannelReceipts::load(connection, mv.to.recipient_id)?;
        let mut after = ReceiverGroups::new();
        for (ids, users) in &before {
            let wanted = users & &subscribers;
            let users = if there.has_room_for(&wanted) { wanted } else { RoaringBitmap::new() };
            there.add(ids, &users);
            after.push((ids.clone(), users));
        }
        after
    } else {
        let active = rows::channel::subscribers(connection, mv.to.stream_id)?;
        before.iter().map(|(ids, users)| (ids.clone(), users & &subscribers | &active)).collect()
    };
    Ok(Receipts { before, after, subscribers })
}

/// Stores who received the messages and who has read them in the new channel. To be called when their rows have moved.
///
/// Stores only deviations from the spans and read sets of the new channel. `read` is who has read the messages in the old one.
pub fn transfer(tx: &Tx<'_>, mv: &Move, receipts: &Receipts, read: &ReadByUsers) -> ApiResult<()> {
    moved::remove(tx, mv.from.recipient_id, &mv.id_set())?;
    let by_spans = moved::group_by_receivers(tx, mv.to.stream_id, mv.to.recipient_id, &mv.ids)?;
    let mut stored = ChannelReceipts::load(tx, mv.to.recipient_id)?;
    for (ids, users) in &receipts.after {
        let mut wrong = ids.clone();
        for (same, _) in by_spans.iter().filter(|(_, found)| found == users) {
            wrong -= same;
        }
        if !wrong.is_empty() {
            stored.add(&wrong, users);
        }
    }
    stored.store(tx)?;
    for (ids, users) in &receipts.after {
        forget_historical(tx, ids, users)?;
    }
    let there = ReadByUsers::load(tx, mv.to.recipient_id, &mv.id_set())?;
    for user in to_compare(receipts, read, &there) {
        let unread = unread_among(read, user, &receipts.before);
        let groups = receipts.after.iter().filter(|(_, users)| users.contains(user));
        let seen = groups.fold(RoaringBitmap::new(), |all, (ids, _)| all | ids) - &unread;
        if !there.unread(user, seen.clone()).is_empty() || there.unread(user, unread.clone()) != unread {
            read_state::set(tx, UserId::from(user), mv.to.recipient_id, &seen, &unread)?;
        }
    }
    Ok(())
}

/// Returns the receivers whose read state in the new channel may have to change: of thousands, these are few as a rule.
fn to_compare(receipts: &Receipts, read: &ReadByUsers, there: &ReadByUsers) -> RoaringBitmap {
    let mut users = read.partial() | there.partial();
    for ((_, before), (_, after)) in receipts.before.iter().zip(&receipts.after) {
        let unread = before - &read.all;
        users |= (after - &unread) - &there.all;
        users |= unread & &there.all;
    }
    users & moved::all_receivers(&receipts.after)
}

/// Removes the flag `historical` from users who are no longer receivers.
fn forget_historical(
    connection: &Connection,
    ids: &RoaringBitmap,
    receivers: &RoaringBitmap,
) -> ApiResult<()> {
    for id in ids.iter().map(MessageId::from) {
        // As a rule, all users with flags are receivers, and their rows need not be read.
        if messages::users_with_any_flag(connection, [id])?.is_subset(receivers) {
            continue;
        }
        for user_id in messages::users_with_flag(connection, id, bit::HISTORICAL)? {
            if !user_id.is_in(receivers) {
                let flags = messages::flags_of(connection, user_id, id)?;
                messages::put_flags(connection, user_id, id, flags & !bit::HISTORICAL)?;
            }
        }
    }
    Ok(())
}

/// Returns the messages of some groups that a user received and has not read.
pub fn unread_among(read: &ReadByUsers, user: u32, groups: &ReceiverGroups) -> RoaringBitmap {
    let received = groups.iter().filter(|(_, users)| users.contains(user));
    read.unread(user, received.fold(RoaringBitmap::new(), |all, (ids, _)| all | ids))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::count_steps;

    #[test]
    fn flags_of_receivers_are_not_read() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        let message = MessageId(7);
        for user in 1..=1000 {
            messages::put_flags(&connection, UserId(user), message, bit::MENTIONED | bit::HISTORICAL)
                .unwrap();
        }
        let steps = count_steps(&connection);
        let mut receivers: RoaringBitmap = (1..=1000).collect();
        let ids = message.bit().into_iter().collect();
        forget_historical(&connection, &ids, &receivers).unwrap();
        // A row of the index takes four steps, and finding the row of the table as many again.
        let steps = steps();
        assert!(steps < 6000, "{steps} steps for a thousand receivers");
        receivers.remove(5);
        forget_historical(&connection, &ids, &receivers).unwrap();
        let flags = |user: i64| messages::flags_of(&connection, UserId(user), message).unwrap();
        assert_eq!([4, 5].map(flags), [bit::MENTIONED | bit::HISTORICAL, bit::MENTIONED]);
    }
}

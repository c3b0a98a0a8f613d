//! Read state: a [`ReadSet`] for each user and conversation, loaded and stored.
//!
//! - [`read_set`]: the set itself;
//! - [`by_users`]: which of some messages all users have read;
//! - [`bulk_events`]: events for messages that became read for many users of channels.

pub mod bulk_events;
pub mod by_users;
pub mod read_set;

use crate::domain::access::messages::{MovedReceipts, Ranges, clip, received_ids};
use crate::domain::limits::MAX_SHOWN_UNREAD;
use crate::domain::messages::read_state::by_users::ReadByUsers;
use crate::domain::messages::read_state::read_set::ReadSet;
use crate::domain::messages::{phones, sql};
use crate::domain::rows::channel::StreamRow;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx, bitmap};
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension};
use std::ops::RangeInclusive;

/// Loads the read messages of a user in a conversation.
pub fn load(connection: &Connection, user_id: UserId, recipient_id: RecipientId) -> ApiResult<ReadSet> {
    let until: Option<u32> = connection
        .prepare_cached("SELECT read_until FROM read_state WHERE user_id = ?1 AND recipient_id = ?2")?
        .query_row((user_id, recipient_id), |row| row.get(0))
        .optional()?;
    let Some(until) = until else { return Ok(ReadSet::default()) };
    let mut above = RoaringBitmap::new();
    let mut statement =
        connection.prepare_cached("SELECT bits FROM read_chunk WHERE user_id = ?1 AND recipient_id = ?2")?;
    let mut rows = statement.query((user_id, recipient_id))?;
    while let Some(row) = rows.next()? {
        above |= bitmap::from_blob(0, row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?;
    }
    Ok(ReadSet::stored(until, above))
}

fn store(tx: &Tx<'_>, user_id: UserId, recipient_id: RecipientId, set: &mut ReadSet) -> ApiResult<()> {
    write(tx, user_id, recipient_id, set)?;
    phones::messages_read(tx, user_id, recipient_id, |id| set.contains(id))
}

fn write(tx: &Tx<'_>, user_id: UserId, recipient_id: RecipientId, set: &mut ReadSet) -> ApiResult<()> {
    if let Some(until) = set.take_changed_mark() {
        tx.execute_cached(
            "INSERT INTO read_state (user_id, recipient_id, read_until) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET read_until = excluded.read_until",
            (user_id, recipient_id, until),
        )?;
    }
    for (chunk, bits) in set.take_changed() {
        if bits.is_empty() {
            tx.execute_cached(
                "DELETE FROM read_chunk WHERE user_id = ?1 AND recipient_id = ?2 AND chunk = ?3",
                (user_id, recipient_id, chunk),
            )?;
            continue;
        }
        tx.execute_cached(
            "INSERT INTO read_chunk (user_id, recipient_id, chunk, bits) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET bits = excluded.bits",
            (user_id, recipient_id, chunk, bitmap::to_blob(&bits)),
        )?;
    }
    Ok(())
}

/// Marks messages of one conversation as read; ascending ids. Returns those that were unread.
pub fn mark_read(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<Vec<MessageId>> {
    let mut set = load(tx, user_id, recipient_id)?;
    let unread = |id: &&MessageId| id.bit().is_some_and(|bit| !set.contains(bit));
    let changed: Vec<MessageId> = ids.iter().filter(unread).copied().collect();
    if changed.is_empty() {
        return Ok(changed);
    }
    let bits: Vec<u32> = changed.iter().filter_map(|id| id.bit()).collect();
    set.insert(&bits, |range| has_message(tx, recipient_id, range))?;
    store(tx, user_id, recipient_id, &mut set)?;
    Ok(changed)
}

/// Adds ids to those that a user has read of a conversation. Messages with these ids must not be ones that the user received
/// before, for which there would be an event.
pub fn add_read_ids(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    ids: &RoaringBitmap,
) -> ApiResult<()> {
    let mut set = load(tx, user_id, recipient_id)?;
    let mut runs = ids.iter();
    while let Some(run) = runs.next_range() {
        set.insert_range(run);
    }
    store(tx, user_id, recipient_id, &mut set)
}

/// Stores the read state of a user in a conversation where there is none: all messages up to the newest are read, but for
/// `unread` ranges of ids.
pub fn put(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    newest: u32,
    unread: &[RangeInclusive<u32>],
) -> ApiResult<()> {
    let mut set = ReadSet::default();
    set.insert_until(newest);
    for ids in unread.iter().rev() {
        set.remove_range(ids.clone());
    }
    store(tx, user_id, recipient_id, &mut set)
}

/// Marks messages of one conversation as unread. Returns those that were read.
pub fn mark_unread(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<Vec<MessageId>> {
    let mut set = load(tx, user_id, recipient_id)?;
    let read = |id: &&MessageId| id.bit().is_some_and(|bit| set.contains(bit));
    let changed: Vec<MessageId> = ids.iter().filter(read).copied().collect();
    if changed.is_empty() {
        return Ok(changed);
    }
    for id in changed.iter().filter_map(|id| id.bit()) {
        set.remove(id);
    }
    store(tx, user_id, recipient_id, &mut set)?;
    Ok(changed)
}

/// Marks all of a channel as read, as unsubscribing does. Returns the ids that were received and unread, the newest
/// [`MAX_SHOWN_UNREAD`] ranges. `moved` are the receipts of messages that were moved to the channel.
pub fn mark_channel_read(
    tx: &Tx<'_>,
    user_id: UserId,
    stream: &StreamRow,
    moved: &[MovedReceipts],
) -> ApiResult<Ranges> {
    let recipient_id = stream.recipient_id;
    let Some(newest) = newest_bit(tx, recipient_id)? else { return Ok(Vec::new()) };
    let mut set = load(tx, user_id, recipient_id)?;
    let received = clip(&received_ids(tx, user_id, stream.stream_id, moved)?, 0..=newest);
    let gaps = received.iter().rev().flat_map(|range| set.gaps_down(range.clone()));
    let mut unread: Ranges = gaps.take(MAX_SHOWN_UNREAD).collect();
    unread.reverse();
    set.insert_until(newest);
    store(tx, user_id, recipient_id, &mut set)?;
    Ok(unread)
}

/// Marks the messages of a conversation up to an id as read.
pub fn mark_read_until(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    until: MessageId,
) -> ApiResult<()> {
    match load_read_until(tx, user_id, recipient_id, until)? {
        Some(mut set) => store(tx, user_id, recipient_id, &mut set),
        None => Ok(()),
    }
}

/// Marks the messages of several conversations up to an id as read. The notifications on phones are left as they are.
pub fn mark_conversations_read(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_ids: impl IntoIterator<Item = RecipientId>,
    until: MessageId,
) -> ApiResult<()> {
    for recipient_id in recipient_ids {
        if let Some(mut set) = load_read_until(tx, user_id, recipient_id, until)? {
            write(tx, user_id, recipient_id, &mut set)?;
        }
    }
    Ok(())
}

/// Loads the read messages of a user in a conversation, and adds those up to an id; `None` if it has no messages.
fn load_read_until(
    connection: &Connection,
    user_id: UserId,
    recipient_id: RecipientId,
    until: MessageId,
) -> ApiResult<Option<ReadSet>> {
    let (Some(newest), Some(until)) = (newest_bit(connection, recipient_id)?, until.bit()) else {
        return Ok(None);
    };
    let mut set = load(connection, user_id, recipient_id)?;
    set.insert_until(newest.min(until));
    Ok(Some(set))
}

/// True if a user has read all of a conversation.
pub fn is_all_read(connection: &Connection, user_id: UserId, recipient_id: RecipientId) -> ApiResult<bool> {
    let Some(newest) = newest_bit(connection, recipient_id)? else { return Ok(true) };
    Ok(newest <= load(connection, user_id, recipient_id)?.until())
}

/// The newest message of a conversation, as sets hold it.
fn newest_bit(connection: &Connection, recipient_id: RecipientId) -> ApiResult<Option<u32>> {
    Ok(sql::newest_of(connection, recipient_id)?.and_then(MessageId::bit))
}

/// Returns the users who have read a message of a conversation.
pub fn users_who_read(
    connection: &Connection,
    recipient_id: RecipientId,
    id: MessageId,
) -> ApiResult<RoaringBitmap> {
    let ids = id.bit().into_iter().collect();
    Ok(ReadByUsers::load(connection, recipient_id, &ids)?.all)
}

/// Sets which messages of a conversation a user has read and which not, for messages that move to it.
pub fn set(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    read: &RoaringBitmap,
    unread: &RoaringBitmap,
) -> ApiResult<()> {
    let mut set = load(tx, user_id, recipient_id)?;
    let read: Vec<u32> = set.missing(read).into_iter().collect();
    let unread = unread - set.missing(unread);
    if read.is_empty() && unread.is_empty() {
        return Ok(());
    }
    for id in unread {
        set.remove(id);
    }
    set.insert(&read, |range| has_message(tx, recipient_id, range))?;
    store(tx, user_id, recipient_id, &mut set)
}

fn has_message(
    connection: &Connection,
    recipient_id: RecipientId,
    range: RangeInclusive<u32>,
) -> ApiResult<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM message WHERE recipient_id = ?1 AND id BETWEEN ?2 AND ?3)",
        )?
        .query_row((recipient_id, range.start(), range.end()), |row| row.get(0))?)
}

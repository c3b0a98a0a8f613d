//! Read state in the file: loading and storing [`ReadSet`]s, and what follows from them.

use super::read_set::ReadSet;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension};
use std::ops::RangeInclusive;

/// What a user has read of a conversation.
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
        let bits = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        above |= RoaringBitmap::deserialize_from(bits).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, error.into())
        })?;
    }
    Ok(ReadSet::stored(until, above))
}

fn store(tx: &Tx<'_>, user_id: UserId, recipient_id: RecipientId, set: &mut ReadSet) -> ApiResult<()> {
    tx.prepare_cached(
        "INSERT INTO read_state (user_id, recipient_id, read_until) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET read_until = excluded.read_until",
    )?
    .execute((user_id, recipient_id, set.until()))?;
    for (chunk, bits) in set.take_changed() {
        if bits.is_empty() {
            tx.prepare_cached(
                "DELETE FROM read_chunk WHERE user_id = ?1 AND recipient_id = ?2 AND chunk = ?3",
            )?
            .execute((user_id, recipient_id, chunk))?;
            continue;
        }
        let mut bytes = Vec::with_capacity(bits.serialized_size());
        // Writing to memory cannot fail.
        let _infallible = bits.serialize_into(&mut bytes);
        tx.prepare_cached(
            "INSERT INTO read_chunk (user_id, recipient_id, chunk, bits) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET bits = excluded.bits",
        )?
        .execute((user_id, recipient_id, chunk, bytes))?;
    }
    Ok(())
}

/// Marks messages of one conversation as read; ascending ids. Answers those that were unread.
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

/// Marks messages of one conversation as unread. Answers those that were read.
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

/// Marks a whole conversation as read, as leaving a channel does.
pub fn mark_all_read(tx: &Tx<'_>, user_id: UserId, recipient_id: RecipientId) -> ApiResult<()> {
    let newest: Option<u32> = tx
        .prepare_cached("SELECT max(id) FROM message WHERE recipient_id = ?1")?
        .query_row([recipient_id], |row| row.get(0))?;
    let Some(newest) = newest else { return Ok(()) };
    let mut set = load(tx, user_id, recipient_id)?;
    if newest <= set.until() {
        return Ok(());
    }
    set.insert_until(newest);
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

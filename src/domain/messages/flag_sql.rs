//! Statements about the flags that users have on messages.

use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension};

/// A user's flags on a message.
pub fn flags_of(connection: &Connection, user_id: UserId, id: MessageId) -> rusqlite::Result<i64> {
    let flags = connection
        .prepare_cached("SELECT flags FROM user_message_flags WHERE user_id = ?1 AND message_id = ?2")?
        .query_row((user_id, id), |row| row.get(0))
        .optional()?;
    Ok(flags.unwrap_or(0))
}

/// Sets a user's flags on a message.
pub fn put_flags(
    connection: &Connection,
    user_id: UserId,
    id: MessageId,
    flags: i64,
) -> rusqlite::Result<()> {
    if flags == 0 {
        connection
            .prepare_cached("DELETE FROM user_message_flags WHERE user_id = ?1 AND message_id = ?2")?
            .execute((user_id, id))?;
    } else {
        connection
            .prepare_cached(
                "INSERT INTO user_message_flags (user_id, message_id, flags) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET flags = excluded.flags",
            )?
            .execute((user_id, id, flags))?;
    }
    Ok(())
}

/// All users with a flag of a mask on a message, ascending.
pub fn users_with_flag(connection: &Connection, id: MessageId, mask: i64) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "SELECT user_id FROM user_message_flags WHERE message_id = ?1 AND flags & ?2 ORDER BY user_id",
        )?
        .query_map((id, mask), |row| row.get(0))?
        .collect()
}

/// The users who have a flag on one of some messages. It reads only an index, since a message may mention thousands: what the flags
/// are is in the row of each user and message, on a page of its own.
pub fn users_with_any_flag(
    connection: &Connection,
    ids: impl IntoIterator<Item = MessageId>,
) -> rusqlite::Result<RoaringBitmap> {
    let mut statement = connection.prepare_cached(
        "SELECT user_id FROM user_message_flags INDEXED BY user_message_flags_message WHERE message_id = ?1",
    )?;
    let mut users = RoaringBitmap::new();
    for id in ids {
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            users.extend(row.get::<_, UserId>(0)?.bit());
        }
    }
    Ok(users)
}

/// The messages of a set on which a user has a flag of a mask, each with all flags of the user. It reads all flags of the user from
/// the first message to the last, which lie side by side.
pub fn flags_among(
    connection: &Connection,
    user_id: UserId,
    ids: &RoaringBitmap,
    mask: i64,
) -> rusqlite::Result<Vec<(MessageId, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT message_id, flags FROM user_message_flags
         WHERE user_id = ?1 AND message_id BETWEEN ?2 AND ?3 AND flags & ?4",
    )?;
    let mut rows = statement.query((user_id, ids.min(), ids.max(), mask))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let id: MessageId = row.get(0)?;
        if id.bit().is_some_and(|bit| ids.contains(bit)) {
            found.push((id, row.get(1)?));
        }
    }
    Ok(found)
}

/// Adds flags to those that a user has on a message.
pub fn add_flags(
    connection: &Connection,
    user_id: UserId,
    id: MessageId,
    flags: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO user_message_flags (user_id, message_id, flags) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET flags = flags | excluded.flags",
        )?
        .execute((user_id, id, flags))
        .map(|_| ())
}

/// The number of users who have flags on a message.
pub fn count_flags(connection: &Connection, id: MessageId) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM user_message_flags INDEXED BY user_message_flags_message WHERE message_id = ?1",
        )?
        .query_row([id], |row| row.get(0))
}

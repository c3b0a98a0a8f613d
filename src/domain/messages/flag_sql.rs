//! Statements about the flags that users have on messages.

use crate::store::ExecuteCached;
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
        connection.execute_cached(
            "DELETE FROM user_message_flags WHERE user_id = ?1 AND message_id = ?2",
            (user_id, id),
        )?;
    } else {
        connection.execute_cached(
            "INSERT INTO user_message_flags (user_id, message_id, flags) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET flags = excluded.flags",
            (user_id, id, flags),
        )?;
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

/// All users with flags on a message, with their flags, ascending.
pub fn flags_by_user(connection: &Connection, id: MessageId) -> rusqlite::Result<Vec<(UserId, i64)>> {
    connection
        .prepare_cached(
            "SELECT user_id, flags FROM user_message_flags WHERE message_id = ?1 ORDER BY user_id",
        )?
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
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

/// The number of rows of other messages in succession after which [`flags_among`] looks up the next message of the set.
const MAX_SKIPPED: u32 = 10;

/// The messages of a set on which a user has a flag of a mask, each with all flags of the user. It reads few of the user's flags on
/// other messages: there can be thousands between the first message and the last.
pub fn flags_among(
    connection: &Connection,
    user_id: UserId,
    ids: &RoaringBitmap,
    mask: i64,
) -> rusqlite::Result<Vec<(MessageId, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT message_id, flags FROM user_message_flags
         WHERE user_id = ?1 AND message_id BETWEEN ?2 AND ?3 ORDER BY message_id",
    )?;
    let mut found = Vec::new();
    let mut next = ids.min();
    while let Some(first) = next.take() {
        let mut rows = statement.query((user_id, first, ids.max()))?;
        let mut skipped = 0;
        while let Some(row) = rows.next()? {
            let (id, flags): (MessageId, i64) = (row.get(0)?, row.get(1)?);
            let Some(bit) = id.bit() else { break };
            if ids.contains(bit) {
                skipped = 0;
                if flags & mask != 0 {
                    found.push((id, flags));
                }
            } else if skipped == MAX_SKIPPED {
                next = ids.range(bit..).next();
                break;
            } else {
                skipped += 1;
            }
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
    connection.execute_cached(
        "INSERT INTO user_message_flags (user_id, message_id, flags) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET flags = flags | excluded.flags",
        (user_id, id, flags),
    )
}

/// The number of users who have flags on a message.
pub fn count_flags(connection: &Connection, id: MessageId) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM user_message_flags INDEXED BY user_message_flags_message WHERE message_id = ?1",
        )?
        .query_row([id], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::count_steps;

    /// Flags on each of the messages 1 to 1000: 8 on those that are divisible by 100, and else 1.
    fn with_flags() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        for id in 1..=1000 {
            let flags = if id % 100 == 0 { 8 } else { 1 };
            put_flags(&connection, UserId(7), MessageId(id), flags).unwrap();
        }
        connection
    }

    #[test]
    fn flags_are_found_among_any_messages() {
        let connection = with_flags();
        let found = |ids: RoaringBitmap, mask: i64| -> Vec<i64> {
            let found = flags_among(&connection, UserId(7), &ids, mask).unwrap();
            found.into_iter().map(|(id, _)| id.0).collect()
        };
        let far: RoaringBitmap = [1, 2, 500, 505, 900, 1000, 2000].into_iter().collect();
        assert_eq!(found(far.clone(), 9), [1, 2, 500, 505, 900, 1000]);
        assert_eq!(found(far, 8), [500, 900, 1000]);
        assert_eq!(found((1..=1000).collect(), 8), (1..=10).map(|number| number * 100).collect::<Vec<_>>());
        assert_eq!(found((900..=3000).collect(), 8), [900, 1000]);
        assert_eq!(found([5000].into_iter().collect(), 9), [0; 0]);
        assert_eq!(found(RoaringBitmap::new(), 9), [0; 0]);
        put_flags(&connection, UserId(7), MessageId(500), 0).unwrap();
        assert_eq!(found((499..=501).collect(), 9), [499, 501]);
    }

    #[test]
    fn flags_on_messages_between_are_not_read() {
        let connection = with_flags();
        let steps = count_steps(&connection);
        let ids: RoaringBitmap = [1, 1000].into_iter().collect();
        assert_eq!(flags_among(&connection, UserId(7), &ids, 9).unwrap().len(), 2);
        // Each row takes several steps.
        let steps = steps();
        assert!(steps < 500, "{steps} steps for two messages of a thousand");
    }
}

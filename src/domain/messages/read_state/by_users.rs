//! Read state of all users of a conversation, about some of its messages: two statements for all users.

use crate::domain::messages::read_state::read_set::CHUNK_BITS;
use crate::error::ApiResult;
use crate::store::bitmap;
use crate::types::{RecipientId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::HashMap;

/// The users of a conversation, by which of some messages they have read.
pub struct ReadByUsers {
    /// The users who have read all of the messages.
    pub all: RoaringBitmap,
    /// Marks of the users who have read some of the messages, but not all, and the ids above the marks, in runs as they are stored: a
    /// set of the messages themselves would take much memory for thousands of users. Other users have read none.
    some: HashMap<u32, (u32, RoaringBitmap)>,
}

impl ReadByUsers {
    /// Loads which of these messages each user has read.
    pub fn load(connection: &Connection, recipient_id: RecipientId, ids: &RoaringBitmap) -> ApiResult<Self> {
        let (mut all, mut some) = (RoaringBitmap::new(), HashMap::<u32, (u32, RoaringBitmap)>::new());
        let (Some(first), Some(last)) = (ids.min(), ids.max()) else { return Ok(Self { all, some }) };
        let mut statement = connection.prepare_cached(
            "SELECT user_id, read_until FROM read_state INDEXED BY read_state_recipient
             WHERE recipient_id = ?1 AND read_until >= ?2",
        )?;
        let mut rows = statement.query((recipient_id, first))?;
        while let Some(row) = rows.next()? {
            let (user_id, until): (UserId, u32) = (row.get(0)?, row.get(1)?);
            let Some(user) = user_id.bit() else { continue };
            if until >= last {
                all.insert(user);
            } else {
                some.insert(user, (until, RoaringBitmap::new()));
            }
        }
        let mut statement = connection.prepare_cached(
            "SELECT user_id, bits FROM read_chunk INDEXED BY read_chunk_recipient
             WHERE recipient_id = ?1 AND chunk BETWEEN ?2 AND ?3",
        )?;
        let mut rows = statement.query((recipient_id, first >> CHUNK_BITS, last >> CHUNK_BITS))?;
        while let Some(row) = rows.next()? {
            let Some(user) = row.get::<_, UserId>(0)?.bit() else { continue };
            if all.contains(user) {
                continue;
            }
            let bits = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            let read = bitmap::from_blob(1, bits)?;
            if !read.is_disjoint(ids) {
                some.entry(user).or_default().1 |= read;
            }
        }
        some.retain(|user, (until, above)| {
            let is_all = above.contains(last) && unread_of(ids - &*above, *until).is_empty();
            if is_all {
                all.insert(*user);
            }
            !is_all
        });
        Ok(Self { all, some })
    }

    /// The users who have read some of the messages, but not all.
    pub fn partial(&self) -> RoaringBitmap {
        self.some.keys().copied().collect()
    }

    /// The messages of a set of these that a user has not read.
    pub fn unread(&self, user: u32, ids: RoaringBitmap) -> RoaringBitmap {
        match self.some.get(&user) {
            _ if self.all.contains(user) => RoaringBitmap::new(),
            Some((until, above)) => unread_of(ids - above, *until),
            None => ids,
        }
    }
}

/// Removes the ids up to a mark.
fn unread_of(mut ids: RoaringBitmap, until: u32) -> RoaringBitmap {
    ids.remove_range(..=until);
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::messages::read_state::read_set::ReadSet;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection
    }

    #[test]
    fn all_users_are_loaded_as_each_of_them() {
        let connection = connection();
        let sets: [(u32, u32, &[u32]); 9] = [
            (1, 200_000, &[]),
            (2, 5, &[]),
            (3, 9, &[]),
            (4, 10, &[]),
            (5, 50, &[140_000]),
            (6, 5, &[10, 100, 140_000]),
            (7, 5, &[11, 100, 139_999]),
            (8, 140_000, &[]),
            (9, 100, &[140_000]),
        ];
        let state = "INSERT INTO read_state (user_id, recipient_id, read_until) VALUES (?1, 7, ?2)";
        let chunk = "INSERT INTO read_chunk (user_id, recipient_id, chunk, bits) VALUES (?1, 7, ?2, ?3)";
        for (user, until, above) in sets {
            connection.execute(state, (user, until)).unwrap();
            for number in 0..3 {
                let bits = above.iter().copied().filter(|id| id >> CHUNK_BITS == number);
                let bits: RoaringBitmap = bits.collect();
                if !bits.is_empty() {
                    connection.execute(chunk, (user, number, bitmap::to_blob(&bits))).unwrap();
                }
            }
        }
        let ids: RoaringBitmap = [10, 100, 140_000].into_iter().collect();
        let read = ReadByUsers::load(&connection, RecipientId(7), &ids).unwrap();
        assert_eq!(read.all.iter().collect::<Vec<_>>(), [1, 6, 8, 9]);
        assert_eq!(read.partial().iter().collect::<Vec<_>>(), [4, 5, 7]);
        for (user, until, above) in sets {
            let alone = ReadSet::stored(until, above.iter().copied().collect());
            assert_eq!(read.unread(user, ids.clone()), alone.missing(&ids), "user {user}");
        }
        assert_eq!(read.unread(10, ids.clone()), ids);
        let none = ReadByUsers::load(&connection, RecipientId(7), &RoaringBitmap::new()).unwrap();
        assert!(none.all.is_empty() && none.partial().is_empty());
    }

    #[test]
    fn users_take_little_memory_however_many_messages_they_read() {
        let connection = connection();
        connection.execute("INSERT INTO read_state VALUES (1, 7, 100000), (2, 7, 10)", ()).unwrap();
        let mut run: RoaringBitmap = (12..=65_000).collect();
        run.optimize();
        connection.execute("INSERT INTO read_chunk VALUES (2, 7, 0, ?1)", [bitmap::to_blob(&run)]).unwrap();
        let ids: RoaringBitmap = (1..=50_000).map(|number| 4 * number).collect();
        let read = ReadByUsers::load(&connection, RecipientId(7), &ids).unwrap();
        assert_eq!(read.partial().iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!([1, 2].map(|user| read.unread(user, ids.clone()).len()), [25_000, 33_750]);
        for (user, (_, above)) in &read.some {
            let size = above.serialized_size();
            assert!(size < 100, "{size} bytes for user {user}");
        }
    }
}

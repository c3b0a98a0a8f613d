//! Comparison of names by their appearance: skeletons (UTS 39) are stored with the names, so that rules on unique names
//! can use an index.

use crate::store::ExecuteCached;
use crate::types::{folded_skeleton, skeleton};
use rusqlite::Connection;

/// Kinds of objects with comparable names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// People and bots, by display name.
    User,
    /// People and bots, by real email.
    Email,
    /// Channels.
    Stream,
    UserGroup,
}

impl Named {
    fn kind(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Email => "email",
            Self::Stream => "stream",
            Self::UserGroup => "user_group",
        }
    }

    /// The skeletons by which names are compared, and whether each is of the name in lower case. Emails are the same in any
    /// case.
    fn skeletons(self, name: &str) -> Vec<(bool, String)> {
        let folded = (true, folded_skeleton(name));
        if self == Self::Email { vec![folded] } else { vec![(false, skeleton(name)), folded] }
    }
}

/// Stores the skeleton of an object's name, replacing the previous one.
pub fn set(connection: &Connection, named: Named, id: i64, name: &str) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM name_skeleton WHERE kind = ?1 AND id = ?2", (named.kind(), id))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO name_skeleton (kind, is_folded, skeleton, id) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (is_folded, skeleton) in named.skeletons(name) {
        insert.execute((named.kind(), is_folded, skeleton, id))?;
    }
    Ok(())
}

/// Lists the ids of objects with the same or a similar name.
pub fn list(connection: &Connection, named: Named, name: &str) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM name_skeleton WHERE kind = ?1 AND is_folded = ?2 AND skeleton = ?3 ORDER BY id",
    )?;
    let mut ids = Vec::new();
    for (is_folded, skeleton) in named.skeletons(name) {
        let found = statement.query_map((named.kind(), is_folded, skeleton), |row| row.get(0))?;
        ids.extend(found.collect::<rusqlite::Result<Vec<i64>>>()?);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// True if two similar names count as the same. Names of ASCII letters are compared exactly, because the published
/// server has channels such as `phase-1` and `phase-l`.
pub fn is_confusable(one: &str, other: &str) -> bool {
    !(one.is_ascii() && other.is_ascii())
}

//! Statements on custom emoji.

use crate::store::ExecuteCached;
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::BTreeSet;

/// A custom emoji's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealmEmoji {
    /// The id, whose text is the `emoji_code`.
    pub id: i64,
    /// Unique among the active emoji.
    pub name: String,
    /// The name of the image below `emoji/images/`.
    pub file: String,
    /// True if the image is animated, and a still image exists.
    pub is_animated: bool,
    /// The user who added it.
    pub author_id: Option<UserId>,
    /// Deactivated emoji are shown where they were used, but cannot be used again.
    pub deactivated: bool,
}

const COLUMNS: &str = "id, name, file, is_animated, author_id, deactivated";

fn read(row: &Row<'_>) -> rusqlite::Result<RealmEmoji> {
    Ok(RealmEmoji {
        id: row.get(0)?,
        name: row.get(1)?,
        file: row.get(2)?,
        is_animated: row.get(3)?,
        author_id: row.get(4)?,
        deactivated: row.get(5)?,
    })
}

/// The path of an emoji's image among the public ones.
pub fn image_path(file: &str) -> String {
    format!("emoji/images/{file}")
}

/// The path of the still image of an animated emoji.
pub fn still_image_path(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    format!("emoji/images/still/{stem}.png")
}

/// All emoji, the oldest first.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<RealmEmoji>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM realm_emoji ORDER BY id"))?
        .query_map([], read)?
        .collect()
}

/// Loads an active or deactivated emoji by id.
pub fn by_id(connection: &Connection, id: i64) -> rusqlite::Result<Option<RealmEmoji>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM realm_emoji WHERE id = ?1"))?
        .query_row([id], read)
        .optional()
}

/// Loads the active emoji with a name.
pub fn active_by_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<RealmEmoji>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM realm_emoji WHERE name = ?1 AND NOT deactivated"))?
        .query_row([name], read)
        .optional()
}

/// Loads the emoji with a name, active or not: the one with this file, or else the newest.
pub fn by_file(connection: &Connection, name: &str, file: &str) -> rusqlite::Result<Option<RealmEmoji>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM realm_emoji WHERE name = ?1 ORDER BY file = ?2 DESC, id DESC LIMIT 1"
        ))?
        .query_row((name, file), read)
        .optional()
}

/// Inserts an emoji.
pub fn insert(
    connection: &Connection,
    name: &str,
    file: &str,
    is_animated: bool,
    author_id: UserId,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO realm_emoji (name, file, is_animated, author_id) VALUES (?1, ?2, ?3, ?4)",
        (name, file, is_animated, author_id),
    )
}

/// Deactivates an emoji.
pub fn deactivate(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE realm_emoji SET deactivated = 1 WHERE id = ?1", [id])
}

/// Deletes an emoji that nothing shows.
pub fn delete(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM realm_emoji WHERE id = ?1", [id])
}

/// The ids of the emoji that reactions and statuses show. Reads all of both.
pub fn shown(connection: &Connection) -> rusqlite::Result<BTreeSet<i64>> {
    connection
        .prepare_cached(
            "SELECT CAST(emoji_code AS INTEGER) FROM reaction WHERE reaction_type = 'realm_emoji'
             UNION SELECT CAST(emoji_code AS INTEGER) FROM user_status WHERE reaction_type = 'realm_emoji'",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

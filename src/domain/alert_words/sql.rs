//! Every statement about alert words.

use crate::types::{UserId, fold};
use rusqlite::Connection;

/// A user's words, in the order in which they were added.
pub fn words_of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT word FROM alert_word WHERE user_id = ?1 ORDER BY id")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// Adds a word; answers whether the user did not have it yet, in upper or lower case.
pub fn insert(connection: &Connection, user_id: UserId, word: &str) -> rusqlite::Result<bool> {
    let added = connection
        .prepare_cached("INSERT OR IGNORE INTO alert_word (user_id, word, word_key) VALUES (?1, ?2, ?3)")?
        .execute((user_id, word, fold(word)))?;
    Ok(added > 0)
}

/// Removes a word; answers whether the user had it, in upper or lower case.
pub fn delete(connection: &Connection, user_id: UserId, word: &str) -> rusqlite::Result<bool> {
    let removed = connection
        .prepare_cached("DELETE FROM alert_word WHERE user_id = ?1 AND word_key = ?2")?
        .execute((user_id, fold(word)))?;
    Ok(removed > 0)
}

/// All words of all users in lower case, each with one who has it; ordered by word.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<(String, UserId)>> {
    connection
        .prepare_cached("SELECT word_key, user_id FROM alert_word ORDER BY word_key, user_id")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

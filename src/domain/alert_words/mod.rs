//! Alert words: SQL statements, and a cached tree that finds the words of all users in one pass over a message.

mod word_tree;

use self::word_tree::WordTree;
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{UserId, fold};
use rusqlite::Connection;

/// The writer's cache of the words of all users, read from the file once. It is correct because every job that changes
/// words updates it, and a failed job drops its changes (see `Tx::cache_mut`).
#[derive(Default)]
struct AlertWords(Option<WordTree>);

/// Returns the users of `audience` who have an alert word in `text`, ascending.
pub fn alerted(tx: &mut Tx<'_>, text: &str, audience: &Audience) -> ApiResult<Vec<UserId>> {
    if tx.cache::<AlertWords>().is_none_or(|words| words.0.is_none()) {
        let (connection, words) = tx.cache_mut::<AlertWords>();
        words.0 = Some(load_all(connection)?);
    }
    let words = tx.cache::<AlertWords>().and_then(|words| words.0.as_ref());
    let mut user_ids = words.map_or_else(Vec::new, |words| words.find_users(text));
    user_ids.retain(|user_id| audience.contains(*user_id));
    Ok(user_ids)
}

/// Applies a change of a user's words to the cache. Every job that inserts or deletes words has to call this, when nothing
/// can be refused any more.
pub fn update_cache(tx: &mut Tx<'_>, user_id: UserId, added: &[&str], removed: &[&str]) {
    if tx.cache::<AlertWords>().is_none_or(|words| words.0.is_none()) {
        return;
    }
    if let Some(words) = &mut tx.cache_mut::<AlertWords>().1.0 {
        for word in removed {
            words.remove(&fold(word), user_id);
        }
        for word in added {
            words.insert(&fold(word), user_id);
        }
    }
}

/// Lists a user's words in the order in which they were added.
pub fn list(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT word FROM alert_word WHERE user_id = ?1 ORDER BY id")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// Inserts a word. Returns `false` if the user already has it, ignoring case.
pub fn insert(connection: &Connection, user_id: UserId, word: &str) -> rusqlite::Result<bool> {
    let added = connection
        .prepare_cached("INSERT OR IGNORE INTO alert_word (user_id, word, word_key) VALUES (?1, ?2, ?3)")?
        .execute((user_id, word, fold(word)))?;
    Ok(added > 0)
}

/// Deletes a word, ignoring case. Returns whether the user had it.
pub fn delete(connection: &Connection, user_id: UserId, word: &str) -> rusqlite::Result<bool> {
    let removed = connection
        .prepare_cached("DELETE FROM alert_word WHERE user_id = ?1 AND word_key = ?2")?
        .execute((user_id, fold(word)))?;
    Ok(removed > 0)
}

/// Loads the words of all users.
fn load_all(connection: &Connection) -> rusqlite::Result<WordTree> {
    let mut words = WordTree::default();
    let mut statement = connection.prepare_cached("SELECT word_key, user_id FROM alert_word")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let word = row.get_ref(0)?.as_str()?;
        words.insert(word, row.get(1)?);
    }
    Ok(words)
}

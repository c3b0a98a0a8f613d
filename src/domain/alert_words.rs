//! Alert words: SQL statements, and a cached automaton that finds the words of all users in one pass over a message.

use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{UserId, fold};
use aho_corasick::AhoCorasick;
use rusqlite::Connection;

/// The characters that may precede a word, besides the start of the text.
const BEFORE: &str = " \n(\".,';[*`>";

/// The characters that may follow a word, besides the end of the text. As published.
const AFTER: &str = " \n)\"?:.,';]!*`";

/// The writer's cache of the automaton. It is correct because every job that changes words drops it, and because a failed
/// job does (see `Tx::cache_mut`).
#[derive(Default)]
struct AlertWords {
    built: Option<Automaton>,
}

/// The words of all users.
struct Automaton {
    /// `None` if there are no words.
    words: Option<AhoCorasick>,
    /// The users of each word, by its pattern index.
    users_by_word: Vec<Vec<UserId>>,
}

/// Returns the users of `audience` who have an alert word in `text`, ascending.
pub fn alerted(tx: &mut Tx<'_>, text: &str, audience: &Audience) -> ApiResult<Vec<UserId>> {
    if tx.cache::<AlertWords>().is_none_or(|words| words.built.is_none()) {
        let (connection, words) = tx.cache_mut::<AlertWords>();
        words.built = Some(Automaton::new(list_for_all_users(connection)?)?);
    }
    let automaton = tx.cache::<AlertWords>().and_then(|words| words.built.as_ref());
    let mut user_ids = automaton.map_or_else(Vec::new, |automaton| automaton.find_users(text));
    user_ids.retain(|user_id| audience.contains(*user_id));
    Ok(user_ids)
}

/// Drops the cached automaton. Every job that changes words has to call this.
pub fn invalidate_cache(tx: &mut Tx<'_>) {
    tx.cache_mut::<AlertWords>().1.built = None;
}

impl Automaton {
    /// Builds the automaton from pairs of a case-folded word and a user, ordered by word.
    fn new(all: Vec<(String, UserId)>) -> ApiResult<Self> {
        let mut patterns: Vec<String> = Vec::new();
        let mut users_by_word: Vec<Vec<UserId>> = Vec::new();
        for (word, user_id) in all {
            match (patterns.last(), users_by_word.last_mut()) {
                (Some(last), Some(users)) if *last == word => users.push(user_id),
                _ => {
                    patterns.push(word);
                    users_by_word.push(vec![user_id]);
                }
            }
        }
        if patterns.is_empty() {
            return Ok(Self { words: None, users_by_word });
        }
        let words = AhoCorasick::new(&patterns).map_err(|error| {
            ApiError::internal(format_args!("the alert words do not fit into an automaton: {error}"))
        })?;
        Ok(Self { words: Some(words), users_by_word })
    }

    /// Returns the users who have a word in `text`, ascending.
    fn find_users(&self, text: &str) -> Vec<UserId> {
        let Some(words) = &self.words else { return Vec::new() };
        let text = fold(text);
        let mut user_ids: Vec<UserId> = words
            .find_overlapping_iter(&text)
            .filter(|found| is_whole_word(&text, found.start(), found.end()))
            .flat_map(|found| &self.users_by_word[found.pattern().as_usize()])
            .copied()
            .collect();
        user_ids.sort_unstable();
        user_ids.dedup();
        user_ids
    }
}

/// Whether the range of a text is a whole word rather than part of a longer one.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    before.is_none_or(|character| BEFORE.contains(character))
        && after.is_none_or(|character| AFTER.contains(character))
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

/// Lists the case-folded words of all users, ordered by word.
fn list_for_all_users(connection: &Connection) -> rusqlite::Result<Vec<(String, UserId)>> {
    connection
        .prepare_cached("SELECT word_key, user_id FROM alert_word ORDER BY word_key, user_id")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_stand_alone() {
        let words = |list: &[(&str, i64)]| {
            let mut list: Vec<_> = list.iter().map(|(word, id)| ((*word).to_owned(), UserId(*id))).collect();
            list.sort();
            Automaton::new(list).unwrap()
        };
        let automaton = words(&[("été", 1), ("two words", 2), ("c++", 3), ("c", 4), ("two", 5), ("two", 6)]);
        let cases: [(&str, &[i64]); 14] = [
            ("", &[]),
            ("été", &[1]),
            ("L'ÉTÉ!", &[1]),
            ("étés", &[]),
            ("(été)", &[1]),
            ("\"été\", he said", &[1]),
            ("Two words", &[2, 5, 6]),
            ("two\nwords", &[5, 6]),
            ("two-words", &[]),
            ("I like C++.", &[3]),
            ("c, c++: both", &[3, 4]),
            ("a two", &[5, 6]),
            ("atwo two", &[5, 6]),
            ("[two](x)", &[5, 6]),
        ];
        for (text, expected) in cases {
            let found: Vec<i64> = automaton.find_users(text).into_iter().map(|user_id| user_id.0).collect();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(words(&[]).find_users("anything"), []);
    }
}

//! Alert words: statements, and the automaton that finds the words of all users in one walk through a message.

use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{UserId, fold};
use aho_corasick::AhoCorasick;
use rusqlite::Connection;

/// What may stand before a word, beside the beginning of the text.
const BEFORE: &str = " \n(\".,';[*`>";

/// What may stand after a word, beside the end of the text. The published list has no closing quotation mark, by a slip:
/// it has the opening one.
const AFTER: &str = " \n)\"?:.,';]!*`";

/// The writer's memory of the automaton. It is true because every job that changes words calls [`forget`], and because a
/// failed job drops it (see [`Tx::local`]).
#[derive(Default)]
struct AlertWords {
    built: Option<Automaton>,
}

/// The words of all users.
struct Automaton {
    /// `None` when nobody has any.
    words: Option<AhoCorasick>,
    /// Who has each word, by its number in the automaton.
    holders: Vec<Vec<UserId>>,
}

/// Those of an audience who have an alert word in a text, ascending.
pub fn alerted(tx: &mut Tx<'_>, text: &str, audience: &Audience) -> ApiResult<Vec<UserId>> {
    if tx.cache::<AlertWords>().is_none_or(|words| words.built.is_none()) {
        let (connection, words) = tx.cache_mut::<AlertWords>();
        words.built = Some(Automaton::new(all(connection)?)?);
    }
    let automaton = tx.cache::<AlertWords>().and_then(|words| words.built.as_ref());
    let mut user_ids = automaton.map_or_else(Vec::new, |automaton| automaton.found_in(text));
    user_ids.retain(|user_id| audience.contains(*user_id));
    Ok(user_ids)
}

/// Says that somebody's words changed.
pub fn forget(tx: &mut Tx<'_>) {
    tx.cache_mut::<AlertWords>().1.built = None;
}

impl Automaton {
    /// Builds it of words in lower case and who has them, ordered by word.
    fn new(all: Vec<(String, UserId)>) -> ApiResult<Self> {
        let mut patterns: Vec<String> = Vec::new();
        let mut holders: Vec<Vec<UserId>> = Vec::new();
        for (word, user_id) in all {
            match (patterns.last(), holders.last_mut()) {
                (Some(last), Some(users)) if *last == word => users.push(user_id),
                _ => {
                    patterns.push(word);
                    holders.push(vec![user_id]);
                }
            }
        }
        if patterns.is_empty() {
            return Ok(Self { words: None, holders });
        }
        let words = AhoCorasick::new(&patterns).map_err(|error| {
            ApiError::internal(format_args!("the alert words do not fit into an automaton: {error}"))
        })?;
        Ok(Self { words: Some(words), holders })
    }

    /// Who has a word in a text, ascending.
    fn found_in(&self, text: &str) -> Vec<UserId> {
        let Some(words) = &self.words else { return Vec::new() };
        let text = fold(text);
        let mut user_ids: Vec<UserId> = words
            .find_overlapping_iter(&text)
            .filter(|found| stands_alone(&text, found.start(), found.end()))
            .flat_map(|found| &self.holders[found.pattern().as_usize()])
            .copied()
            .collect();
        user_ids.sort_unstable();
        user_ids.dedup();
        user_ids
    }
}

/// Whether what lies between two places of a text is not a part of a longer word.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    before.is_none_or(|character| BEFORE.contains(character))
        && after.is_none_or(|character| AFTER.contains(character))
}

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
            let found: Vec<i64> = automaton.found_in(text).into_iter().map(|user_id| user_id.0).collect();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(words(&[]).found_in("anything"), []);
    }
}

//! Removal of the remains of deleted and changed messages: their entries in the index, and words and topics that no
//! other message has.
//!
//! A lookup of a word in other messages reads a snapshot and may take long: its stem may be in many long texts. The writer
//! only deletes what was found to be unused, unless the word was written or retired again meanwhile
//! (`KnownWords::watch`).
//!
//! The index only marks an entry as deleted; the words leave the file when the segment that has them is merged with others.
//! SQLite does this when it sees fit, so that a purge merges all segments. It is done in short jobs, at most once an hour.

use crate::domain::search::emoji::with_names;
use crate::domain::search::index::KnownWords;
use crate::domain::search::text::{fold, words};
use crate::error::ApiResult;
use crate::store::{Budget, ExecuteCached, Tx, counter};
use crate::types::MessageId;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Purges are due at full hours, in seconds.
const INTERVAL: i64 = 60 * 60;

/// Words that are looked up in one snapshot, fewer if the texts with their stems are long.
const WORDS_PER_LOOKUP: usize = 100;

/// Bytes of messages after which a lookup ends with the present word.
const BYTES_PER_LOOKUP: usize = 1 << 20;

/// Number of messages in which a word is searched. A word whose stem occurs in that many others is kept.
const MAX_MESSAGES_OF_WORD: usize = 20;

/// Words that wait for a purge. Beyond, no more are written down, and the purge goes through the list of all words.
const MAX_RETIRED_WORDS: i64 = 100_000;

/// The row of `counter` that exists if words were not written down, with the number of texts that had such words.
const SWEEPS: &str = "search_sweep";

/// Topics that are looked at in one step.
const TOPICS_PER_STEP: i64 = 100;

/// Pages of the index that are merged in one step.
const PAGES_PER_STEP: i64 = 16;

/// Records that the content and the topic of a message are about to be deleted: words and topics without other uses go with
/// the next purge. To be called before the row changes.
pub fn retire(tx: &mut Tx<'_>, id: MessageId) -> rusqlite::Result<()> {
    let Some((content, subject)) = texts_of(tx, id)? else { return Ok(()) };
    let mut words = words_of(&content);
    words.extend(words_of(&subject));
    retire_all(tx, words)
}

/// Records as [`retire`] that the content of a message is about to be replaced: only words that the new one lacks are looked up.
pub fn retire_content(tx: &mut Tx<'_>, id: MessageId, replacement: &str) -> rusqlite::Result<()> {
    let Some((content, _)) = texts_of(tx, id)? else { return Ok(()) };
    let mut gone = words_of(&content);
    for word in words_of(replacement) {
        gone.remove(&word);
    }
    retire_all(tx, gone)
}

/// Like [`retire`], for one text of messages, such as their topic.
pub fn retire_words(tx: &mut Tx<'_>, text: &str) -> rusqlite::Result<()> {
    retire_all(tx, words_of(text))
}

fn retire_all(tx: &mut Tx<'_>, words: HashSet<String>) -> rusqlite::Result<()> {
    let due = next_purge(tx.now());
    let (connection, known) = tx.cache_mut::<KnownWords>();
    let mut room = MAX_RETIRED_WORDS - *known.retired(|| count_retired(connection))?;
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO retired_word (word) VALUES (?1)")?;
    let (mut added, mut is_complete) = (0, true);
    for word in words {
        known.unwatch(&word);
        if room > 0 {
            let rows = insert.execute([&word])? as i64;
            (room, added) = (room - rows, added + rows);
        } else {
            is_complete = false;
        }
    }
    *known.retired(|| count_retired(connection))? += added;
    if !is_complete {
        connection.execute_cached(
            "INSERT INTO counter (name, value) VALUES (?1, 1) ON CONFLICT DO UPDATE SET value = value + 1",
            [SWEEPS],
        )?;
    }
    schedule(connection, due)
}

fn count_retired(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM retired_word WHERE word > '' LIMIT ?1)")?
        .query_row([MAX_RETIRED_WORDS], |row| row.get(0))
}

/// Schedules a purge.
fn schedule(connection: &Connection, due: i64) -> rusqlite::Result<()> {
    connection.execute_cached("INSERT OR IGNORE INTO search_purge (due) VALUES (?1)", [due])
}

/// Returns when the next purge is due, in UNIX seconds.
pub fn next_due(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection.prepare_cached("SELECT min(due) FROM search_purge")?.query_row([], |row| row.get(0))
}

/// Forgets the purges that were due up to a time: everything is done. Words that were used meanwhile are for another one.
pub fn finish(connection: &Connection, until: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM search_purge WHERE due <= ?1", [until])?;
    let has_words: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM retired_word WHERE word > '')")?
        .query_row([], |row| row.get(0))?;
    if has_words { schedule(connection, next_purge(until)) } else { Ok(()) }
}

/// The next full hour.
fn next_purge(now: i64) -> i64 {
    (now / INTERVAL + 1) * INTERVAL
}

/// The words that a purge looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// The words of deleted and changed messages.
    Retired,
    /// All words, because not all of those were written down.
    All,
}

/// Returns a number other than 0 if the purge has to go through all words; for [`finish_sweep`].
pub fn sweeps(connection: &Connection) -> rusqlite::Result<i64> {
    Ok(counter::load(connection, SWEEPS)?.unwrap_or(0))
}

/// Records that the purge has gone through all words. Another one has to, if more words were left out since.
pub fn finish_sweep(connection: &Connection, sweeps: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM counter WHERE name = ?1 AND value = ?2", (SWEEPS, sweeps))
}

/// The next words to look up, in alphabetical order after one.
pub fn words_after(
    connection: &Connection,
    candidates: Candidates,
    after: &str,
) -> rusqlite::Result<Vec<String>> {
    let mut statement = match candidates {
        Candidates::Retired => connection
            .prepare_cached("SELECT word FROM retired_word WHERE word > ?1 ORDER BY word LIMIT ?2")?,
        Candidates::All => connection
            .prepare_cached("SELECT word FROM search_word WHERE word > ?1 ORDER BY word LIMIT ?2")?,
    };
    let words = statement.query_map((after, WORDS_PER_LOOKUP as i64), |row| row.get(0))?;
    words.collect()
}

/// Watches words whose use is about to be looked up, in a snapshot after this job.
pub fn watch(tx: &mut Tx<'_>, words: &[String]) {
    let (_, known) = tx.cache_mut::<KnownWords>();
    known.watch(words);
}

/// A word, and whether a message has it.
#[derive(Debug)]
pub struct LookedUp {
    pub word: String,
    /// True if it stays in the list of words.
    is_used: bool,
}

/// Looks up the first of some words, one at least.
pub fn look_up(connection: &Connection, words: Vec<String>) -> rusqlite::Result<VecDeque<LookedUp>> {
    let mut texts = Texts::default();
    let mut looked_up = VecDeque::new();
    for word in words {
        if texts.bytes > BYTES_PER_LOOKUP {
            break;
        }
        let is_used = is_in_some_message(connection, &word, &mut texts)?;
        looked_up.push_back(LookedUp { word, is_used });
    }
    Ok(looked_up)
}

/// Removes words that no message has from the list, one in each step. One that was written or retired since it is watched is
/// left to the next purge. Returns true when all are done.
pub fn remove_words(
    tx: &mut Tx<'_>,
    budget: &mut Budget,
    looked_up: &mut VecDeque<LookedUp>,
) -> ApiResult<bool> {
    let (connection, known) = tx.cache_mut::<KnownWords>();
    let mut delete = connection.prepare_cached("DELETE FROM search_word WHERE word = ?1")?;
    let mut forget = connection.prepare_cached("DELETE FROM retired_word WHERE word = ?1")?;
    while !looked_up.is_empty() && budget.next_step() {
        let Some(LookedUp { word, is_used }) = looked_up.pop_front() else { break };
        if !known.unwatch(&word) {
            continue;
        }
        if !is_used {
            delete.execute([&word])?;
        }
        *known.retired(|| count_retired(connection))? -= forget.execute([&word])? as i64;
    }
    Ok(looked_up.is_empty())
}

/// The words of messages that were read during a lookup: retired words often share their messages.
#[derive(Default)]
struct Texts {
    words: HashMap<MessageId, HashSet<String>>,
    bytes: usize,
}

impl Texts {
    fn have(&mut self, connection: &Connection, id: MessageId, word: &str) -> rusqlite::Result<bool> {
        if let Some(words) = self.words.get(&id) {
            return Ok(words.contains(word));
        }
        let (content, subject) = texts_of(connection, id)?.unwrap_or_default();
        self.bytes += content.len() + subject.len();
        let mut words = words_of(&content);
        words.extend(words_of(&subject));
        let has_word = words.contains(word);
        self.words.insert(id, words);
        Ok(has_word)
    }
}

fn is_in_some_message(connection: &Connection, word: &str, texts: &mut Texts) -> rusqlite::Result<bool> {
    let mut found = connection
        .prepare_cached("SELECT rowid FROM message_search WHERE message_search MATCH ?1 LIMIT ?2")?;
    let phrase = format!("\"{}\"", word.replace('"', "\"\""));
    let ids = found.query_map((phrase, MAX_MESSAGES_OF_WORD as i64), |row| row.get(0))?;
    let ids: Vec<MessageId> = ids.collect::<rusqlite::Result<_>>()?;
    if ids.len() >= MAX_MESSAGES_OF_WORD {
        return Ok(true);
    }
    for id in ids {
        if texts.have(connection, id, word)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The content and the topic of a message.
fn texts_of(connection: &Connection, id: MessageId) -> rusqlite::Result<Option<(String, String)>> {
    connection
        .prepare_cached("SELECT content, subject FROM message WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The words of a text as the list has them. A long message may repeat a few words or emoji thousands of times.
fn words_of(text: &str) -> HashSet<String> {
    let text = with_names(text);
    let spellings: HashSet<&str> = words(&text).map(|range| &text[range]).collect();
    spellings.into_iter().map(fold).collect()
}

/// Removes topics without messages, of those after one. Returns the last one that was looked at; `None` after all.
pub fn remove_topics(connection: &Connection, after: i64) -> rusqlite::Result<Option<i64>> {
    let last: Option<i64> = connection
        .prepare_cached(
            "SELECT max(topic_id) FROM (SELECT topic_id FROM topic WHERE topic_id > ?1 ORDER BY topic_id LIMIT ?2)",
        )?
        .query_row((after, TOPICS_PER_STEP), |row| row.get(0))?;
    let Some(last) = last else { return Ok(None) };
    connection.execute_cached(
        "DELETE FROM topic WHERE topic_id > ?1 AND topic_id <= ?2
         AND NOT EXISTS (SELECT 1 FROM message WHERE message.topic_id = topic.topic_id)",
        (after, last),
    )?;
    Ok(Some(last))
}

/// Merges parts of the index, at the end of the group of jobs. The first of a purge `begins`. Sets `is_done` if nothing is left
/// to merge.
pub fn merge(tx: &mut Tx<'_>, begins: bool, is_done: Arc<AtomicBool>) {
    let background = tx.background();
    tx.before_commit(move |connection, _| {
        let changes = |connection: &Connection| {
            connection.prepare_cached("SELECT total_changes()")?.query_row([], |row| row.get::<_, i64>(0))
        };
        let mut merge = connection
            .prepare_cached("INSERT INTO message_search (message_search, rank) VALUES ('merge', ?1)")?;
        let mut budget = background.budget("search_index_merge");
        // A negative number starts merging all segments into one, a positive one continues it.
        let mut pages = if begins { -PAGES_PER_STEP } else { PAGES_PER_STEP };
        let mut has_merged = true;
        while has_merged && budget.next_step() {
            let before = changes(connection)?;
            merge.execute([pages])?;
            // The statement itself counts as one.
            has_merged = changes(connection)? - before >= 2;
            pages = PAGES_PER_STEP;
        }
        is_done.store(!has_merged, Ordering::Relaxed);
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_include_the_names_of_emoji() {
        let mut found: Vec<String> = words_of("Tea tea TEA, été 🎉🎉 :tada: 東京 x").into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, ["ete", "tada", "tea", "x"]);
        assert_eq!(words_of(&"🎉".repeat(1000)), words_of("Tada"));
    }
}

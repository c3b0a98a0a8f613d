//! Removal of the remains of deleted and changed messages: their entries in the index, and words and topics that no
//! other message has.
//!
//! The index only marks an entry as deleted; the words leave the file when the segment that has them is merged with others.
//! SQLite does this when it sees fit, so that a purge merges all segments. It is done in short jobs, at most once an hour.

use crate::domain::search::emoji::with_words;
use crate::domain::search::index::KnownWords;
use crate::domain::search::text::{fold_into, words};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::MessageId;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Purges are due at full hours, in seconds.
const INTERVAL: i64 = 60 * 60;

/// Words that are looked up in one job.
const WORDS_PER_JOB: usize = 100;

/// Number of messages in which a word is searched. A word whose stem occurs in that many others is kept.
const MAX_MESSAGES_OF_WORD: usize = 20;

/// Topics that are looked at in one job.
const TOPICS_PER_JOB: i64 = 1000;

/// Pages of the index that are merged in one job.
const PAGES_PER_JOB: i64 = 64;

/// Records that the content and the topic of a message are about to be deleted or replaced: words and topics without
/// other uses go with the next purge. To be called before the row changes.
pub fn retire(tx: &Tx<'_>, id: MessageId) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached("SELECT content, subject FROM message WHERE id = ?1")?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(()) };
    for column in [0, 1] {
        retire_words(tx, row.get_ref(column)?.as_str()?)?;
    }
    Ok(())
}

/// Like [`retire`], for one text of messages, such as their topic.
pub fn retire_words(tx: &Tx<'_>, text: &str) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached("INSERT OR IGNORE INTO retired_word (word) VALUES (?1)")?;
    let (text, _) = with_words(text);
    let mut folded = String::new();
    for range in words(&text) {
        folded.clear();
        fold_into(&text[range], &mut folded);
        insert.execute([&folded])?;
    }
    schedule(tx, tx.now())
}

/// Schedules a purge for the end of the hour.
fn schedule(connection: &Connection, now: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO search_purge (due) VALUES (?1)")?
        .execute([(now / INTERVAL + 1) * INTERVAL])
        .map(|_| ())
}

/// Returns when the next purge is due, in UNIX seconds.
pub fn next_due(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection.prepare_cached("SELECT min(due) FROM search_purge")?.query_row([], |row| row.get(0))
}

/// Forgets the purges that were due up to a time: everything is done.
pub fn finish(connection: &Connection, until: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM search_purge WHERE due <= ?1")?.execute([until]).map(|_| ())
}

/// Removes some of the words that no message has any more from the list. Returns whether there is more to do.
pub fn remove_words(tx: &mut Tx<'_>) -> ApiResult<bool> {
    let retired: Vec<String> = tx
        .prepare_cached("SELECT word FROM retired_word WHERE word > '' LIMIT ?1")?
        .query_map([WORDS_PER_JOB as i64], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for word in &retired {
        if !is_in_some_message(tx, word)? {
            tx.prepare_cached("DELETE FROM search_word WHERE word = ?1")?.execute([word])?;
            let (_, known) = tx.cache_mut::<KnownWords>();
            known.forget(word);
        }
        tx.prepare_cached("DELETE FROM retired_word WHERE word = ?1")?.execute([word])?;
    }
    Ok(!retired.is_empty())
}

fn is_in_some_message(connection: &Connection, word: &str) -> rusqlite::Result<bool> {
    let mut found = connection
        .prepare_cached("SELECT rowid FROM message_search WHERE message_search MATCH ?1 LIMIT ?2")?;
    let phrase = format!("\"{}\"", word.replace('"', "\"\""));
    let ids = found.query_map((phrase, MAX_MESSAGES_OF_WORD as i64), |row| row.get::<_, i64>(0))?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
    if ids.len() >= MAX_MESSAGES_OF_WORD {
        return Ok(true);
    }
    let mut texts = connection.prepare_cached("SELECT content, subject FROM message WHERE id = ?1")?;
    for id in ids {
        let mut rows = texts.query([id])?;
        if let Some(row) = rows.next()?
            && (has_word(row.get_ref(0)?.as_str()?, word) || has_word(row.get_ref(1)?.as_str()?, word))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_word(text: &str, word: &str) -> bool {
    let (text, _) = with_words(text);
    let mut folded = String::new();
    words(&text).any(|range| {
        folded.clear();
        fold_into(&text[range], &mut folded);
        folded == word
    })
}

/// Removes topics without messages, of those after one. Returns the last one that was looked at; `None` after all.
pub fn remove_topics(connection: &Connection, after: i64) -> rusqlite::Result<Option<i64>> {
    let last: Option<i64> = connection
        .prepare_cached(
            "SELECT max(topic_id) FROM (SELECT topic_id FROM topic WHERE topic_id > ?1 ORDER BY topic_id LIMIT ?2)",
        )?
        .query_row((after, TOPICS_PER_JOB), |row| row.get(0))?;
    let Some(last) = last else { return Ok(None) };
    connection
        .prepare_cached(
            "DELETE FROM topic WHERE topic_id > ?1 AND topic_id <= ?2
             AND NOT EXISTS (SELECT 1 FROM message WHERE message.topic_id = topic.topic_id)",
        )?
        .execute((after, last))?;
    Ok(Some(last))
}

/// Merges some pages of the index, at the end of the group of jobs. Sets `has_merged` if there was something to merge. The
/// first of a purge `begins`.
pub fn merge(tx: &mut Tx<'_>, begins: bool, has_merged: Arc<AtomicBool>) {
    // A negative number starts merging all segments into one, a positive one continues it.
    let pages = if begins { -PAGES_PER_JOB } else { PAGES_PER_JOB };
    tx.before_commit(move |connection, _| {
        let changes = |connection: &Connection| {
            connection.prepare_cached("SELECT total_changes()")?.query_row([], |row| row.get::<_, i64>(0))
        };
        let before = changes(connection)?;
        connection
            .prepare_cached("INSERT INTO message_search (message_search, rank) VALUES ('merge', ?1)")?
            .execute([pages])?;
        // The statement itself counts as one.
        has_merged.store(changes(connection)? - before >= 2, Ordering::Relaxed);
        Ok(())
    });
}

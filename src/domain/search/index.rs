//! Writing the search index, and the list of words that completes prefixes.
//!
//! A message is acknowledged before its words are indexed: the index is written for many messages at once, which costs
//! little more than for one. Messages are indexed in the order of their ids, so the newest entry separates those that have
//! one from those that wait, also after a crash. A move may change the topics of thousands of messages, of which whole rows of
//! the index have to be written again: these messages wait in the table `search_backlog`. A search first has all messages
//! indexed that wait ([`catch_up`]).

use crate::app::App;
use crate::domain::search::emoji::with_words;
use crate::domain::search::stem::stem;
use crate::domain::search::text::{fold_into, index_text, words};
use crate::error::ApiResult;
use crate::store::{BackgroundJobs, Budget, ExecuteCached, FollowUp, Snapshot, Tx, WriterCaches};
use crate::types::MessageId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The most new messages that wait. A search that has to index them takes a few milliseconds longer.
const MAX_WAITING: i64 = 256;

/// Messages that are read at a time. More only wait after a large move, in a file that is damaged, or if their words take long.
const MAX_PER_JOB: i64 = 1000;

/// Has a new message indexed, once enough of them wait or a search needs it.
pub fn add(tx: &mut Tx<'_>, id: MessageId) {
    let background = tx.background();
    tx.before_commit(move |connection, caches| {
        let waiting = id.0 - last_indexed(connection, caches)?.0;
        if waiting < MAX_WAITING { Ok(()) } else { put_waiting(connection, caches, &background) }
    });
}

/// Indexes a new message at the end of the group of jobs. For imports, whose messages may come in any order.
pub fn add_at_once(tx: &mut Tx<'_>, id: MessageId) {
    tx.before_commit(move |connection, caches| {
        caches.cache_mut::<Progress>().last_indexed = None;
        put_message(connection, caches, id, Entry::New)
    });
}

/// Updates the index entry of a message from its row at the end of the group of jobs, if it has one. Jobs must not touch
/// the index themselves: it flushes everything at each savepoint.
pub fn renew(tx: &mut Tx<'_>, id: MessageId) {
    tx.before_commit(move |connection, caches| renew_entry(connection, caches, id, Entry::Renewed));
}

/// Updates the index entries of messages, ascending, of which only the topic changed. They may be many: those for which there
/// is no time are updated in follow-up jobs, and those that a stop leaves, before the next search.
pub fn renew_topics(tx: &mut Tx<'_>, ids: &[MessageId]) -> ApiResult<()> {
    insert_backlog(tx, ids)?;
    SearchBacklog.run(tx)
}

fn insert_backlog(connection: &Connection, ids: &[MessageId]) -> rusqlite::Result<()> {
    let last = read_last_indexed(connection)?;
    let mut insert = connection.prepare_cached("INSERT INTO search_backlog (message_id) VALUES (?1)")?;
    // Newer ones have no entry yet.
    for id in ids.iter().take_while(|id| **id <= last) {
        insert.execute([id])?;
    }
    Ok(())
}

/// The messages that wait after moves, which are indexed in as many jobs as they take.
#[derive(Serialize, Deserialize)]
pub struct SearchBacklog;

impl FollowUp for SearchBacklog {
    const NAME: &'static str = "search_backlog";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let is_there: bool = tx
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM search_backlog WHERE number > 0)")?
            .query_row([], |row| row.get(0))?;
        if is_there && !tx.background().is_stopping() {
            index_waiting(tx);
            tx.then(self)?;
        }
        Ok(())
    }
}

/// Indexes messages that wait at the end of the group of jobs, once for all of its jobs that ask for it.
fn index_waiting(tx: &mut Tx<'_>) {
    let (_, progress) = tx.cache_mut::<Progress>();
    if std::mem::replace(&mut progress.is_scheduled, true) {
        return;
    }
    let background = tx.background();
    tx.before_commit(move |connection, caches| {
        caches.cache_mut::<Progress>().is_scheduled = false;
        put_waiting(connection, caches, &background)
    });
}

/// Waits until all messages and moves are indexed that have been acknowledged. Snapshots that are taken later find their
/// words.
pub async fn catch_up(app: &App) -> ApiResult<()> {
    let mut wanted = [i64::MAX; 2];
    loop {
        let waiting = app.readers.read(newest_and_indexed).await?;
        let mut is_done = true;
        for (wanted, (newest, indexed)) in wanted.iter_mut().zip(waiting) {
            // It may be deleted meanwhile, and newer ones do not matter.
            *wanted = newest.min(*wanted);
            is_done &= indexed >= *wanted;
        }
        if is_done {
            return Ok(());
        }
        let index = |tx: &mut Tx<'_>| -> ApiResult<()> {
            index_waiting(tx);
            Ok(())
        };
        app.writer.run(index).await?;
    }
}

/// The newest message, and the newest one that is indexed; the last row of the backlog, and the last one before its first; 0
/// for none.
fn newest_and_indexed(snapshot: &Snapshot<'_>) -> ApiResult<[(i64, i64); 2]> {
    let newest = snapshot
        .prepare_cached("SELECT coalesce(max(id), 0) FROM message")?
        .query_row([], |row| row.get(0))?;
    let backlog: (i64, i64) = snapshot
        .prepare_cached(
            "SELECT coalesce((SELECT max(number) FROM search_backlog WHERE number > 0), 0),
                 coalesce((SELECT min(number) - 1 FROM search_backlog WHERE number > 0), 0)",
        )?
        .query_row([], |row| row.try_into())?;
    Ok([(newest, read_last_indexed(snapshot)?.0), backlog])
}

/// The state of indexing, a cache of the writer.
#[derive(Default)]
struct Progress {
    /// The newest message that is indexed, once it is known.
    last_indexed: Option<MessageId>,
    /// True if messages that wait are indexed at the end of the present group of jobs.
    is_scheduled: bool,
}

fn last_indexed(connection: &Connection, caches: &mut WriterCaches) -> rusqlite::Result<MessageId> {
    let progress: &mut Progress = caches.cache_mut();
    match progress.last_indexed {
        Some(id) => Ok(id),
        None => Ok(*progress.last_indexed.insert(read_last_indexed(connection)?)),
    }
}

fn read_last_indexed(connection: &Connection) -> rusqlite::Result<MessageId> {
    connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM message_search_docsize")?
        .query_row([], |row| row.get(0))
}

/// Indexes messages that wait, as many as there is time for. The next message and the next search go on with the others.
fn put_waiting(
    connection: &Connection,
    caches: &mut WriterCaches,
    background: &Arc<BackgroundJobs>,
) -> rusqlite::Result<()> {
    let mut budget = background.budget("search_index");
    // New messages are first: while too many of them wait, each send comes here.
    put_new(connection, caches, &mut budget)?;
    put_backlog(connection, caches, &mut budget)
}

fn put_new(connection: &Connection, caches: &mut WriterCaches, budget: &mut Budget) -> rusqlite::Result<()> {
    let mut last = last_indexed(connection, caches)?;
    let mut statement = connection
        .prepare_cached("SELECT id, content, subject FROM message WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((last, MAX_PER_JOB))?;
    while let Some(row) = rows.next()?
        && budget.next_step()
    {
        last = row.get(0)?;
        let texts = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
        put(connection, caches.cache_mut(), last, texts, Entry::New)?;
    }
    caches.cache_mut::<Progress>().last_indexed = Some(last);
    Ok(())
}

/// Updates the entries of messages in the backlog, in the order of the moves. Only a file from elsewhere has numbers below 1, which
/// are left alone everywhere here.
fn put_backlog(
    connection: &Connection,
    caches: &mut WriterCaches,
    budget: &mut Budget,
) -> rusqlite::Result<()> {
    let mut done = None;
    let mut statement = connection.prepare_cached(
        "SELECT number, message_id FROM search_backlog WHERE number > 0 ORDER BY number LIMIT ?1",
    )?;
    let mut rows = statement.query([MAX_PER_JOB])?;
    while let Some(row) = rows.next()?
        && budget.next_step()
    {
        done = Some(row.get::<_, i64>(0)?);
        renew_entry(connection, caches, row.get(1)?, Entry::Moved)?;
    }
    drop(rows);
    if let Some(number) = done {
        connection.execute_cached("DELETE FROM search_backlog WHERE number <= ?1", [number])?;
    }
    Ok(())
}

/// Indexes all messages that have no entry.
pub fn add_missing(connection: &Connection) -> rusqlite::Result<()> {
    let mut known = KnownWords::default();
    let mut statement = connection.prepare(
        "SELECT id, content, subject FROM message WHERE id NOT IN (SELECT id FROM message_search_docsize)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let texts = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
        put(connection, &mut known, row.get(0)?, texts, Entry::New)?;
    }
    Ok(())
}

/// Possible state of the index entry of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    New,
    Renewed,
    /// Renewed with another topic and the same content.
    Moved,
}

/// Updates the index entry of a message, if it has one.
fn renew_entry(
    connection: &Connection,
    caches: &mut WriterCaches,
    id: MessageId,
    entry: Entry,
) -> rusqlite::Result<()> {
    if id > last_indexed(connection, caches)? {
        return Ok(());
    }
    put_message(connection, caches, id, entry)
}

fn put_message(
    connection: &Connection,
    caches: &mut WriterCaches,
    id: MessageId,
    entry: Entry,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT content, subject FROM message WHERE id = ?1")?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else {
        return connection.execute_cached("DELETE FROM message_search WHERE rowid = ?1", [id]);
    };
    put(connection, caches.cache_mut(), id, (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?), entry)
}

/// Writes the content and the topic of a message to the index, and their words to the list of words.
pub(super) fn put(
    connection: &Connection,
    known: &mut KnownWords,
    id: MessageId,
    (content, subject): (&str, &str),
    entry: Entry,
) -> rusqlite::Result<()> {
    let (content, emoji_of_content) = with_words(content);
    let (subject, emoji_of_subject) = with_words(subject);
    let insert = match entry {
        Entry::New => "INSERT",
        Entry::Renewed | Entry::Moved => "INSERT OR REPLACE",
    };
    connection.execute_cached(
        &format!("{insert} INTO message_search (rowid, content, subject) VALUES (?1, ?2, ?3)"),
        (
            id,
            index_text(&content) + emoji_of_content.as_str(),
            index_text(&subject) + emoji_of_subject.as_str(),
        ),
    )?;
    if !matches!(entry, Entry::Moved) {
        known.put(connection, &content)?;
    }
    known.put(connection, &subject)
}

/// A cache of words that are in the list, as most words of a message are.
pub(super) struct KnownWords {
    /// The digest of the last word of each slot; 0 for none.
    digests: Vec<u64>,
    folded: String,
    /// Words that a purge looks up in a snapshot. A word that is written or retired again is not watched any more: the
    /// snapshot may lack that.
    watched: HashSet<String>,
    /// The number of retired words, once it is known.
    retired: Option<i64>,
}

impl Default for KnownWords {
    fn default() -> Self {
        // A quarter of a MiB, of which untouched pages take no memory.
        Self { digests: vec![0; 1 << 15], folded: String::new(), watched: HashSet::new(), retired: None }
    }
}

impl KnownWords {
    /// Watches words, and no others. They are forgotten, so that writing one is noticed.
    pub(super) fn watch(&mut self, words: &[String]) {
        for word in words {
            let (slot, digest) = self.slot(word);
            if self.digests[slot] == digest {
                self.digests[slot] = 0;
            }
        }
        self.watched = words.iter().cloned().collect();
    }

    /// Ends watching a word. Returns whether it was watched: then it was neither written nor retired since.
    pub(super) fn unwatch(&mut self, word: &str) -> bool {
        !self.watched.is_empty() && self.watched.remove(word)
    }

    /// The number of retired words, which `count` returns at first.
    pub(super) fn retired(
        &mut self,
        count: impl FnOnce() -> rusqlite::Result<i64>,
    ) -> rusqlite::Result<&mut i64> {
        match self.retired {
            Some(ref mut known) => Ok(known),
            None => Ok(self.retired.insert(count()?)),
        }
    }

    /// Returns the slot and the digest of a word.
    fn slot(&self, word: &str) -> (usize, u64) {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        let digest = hasher.finish() | 1;
        ((digest >> 32) as usize % self.digests.len(), digest)
    }

    fn put(&mut self, connection: &Connection, text: &str) -> rusqlite::Result<()> {
        let mut insert =
            connection.prepare_cached("INSERT OR IGNORE INTO search_word (word, stem) VALUES (?1, ?2)")?;
        for range in words(text) {
            self.folded.clear();
            fold_into(&text[range], &mut self.folded);
            let (slot, digest) = self.slot(&self.folded);
            if self.digests[slot] != digest {
                insert.execute((&self.folded, stem(&self.folded)))?;
                self.digests[slot] = digest;
                if !self.watched.is_empty() {
                    self.watched.remove(&self.folded);
                }
            }
        }
        Ok(())
    }
}

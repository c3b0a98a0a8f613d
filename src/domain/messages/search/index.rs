//! Writing the search index, and the list of words that completes prefixes.

use crate::domain::messages::search::emoji::with_words;
use crate::domain::messages::search::stem::stem;
use crate::domain::messages::search::text::{fold_into, index_text, words};
use crate::store::{Tx, WriterCaches};
use crate::types::MessageId;
use rusqlite::Connection;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Indexes a new message at the end of the group of jobs. It has no entry yet, so that none is looked up.
pub fn add(tx: &mut Tx<'_>, id: MessageId) {
    tx.before_commit(move |connection, caches| put_message(connection, caches, id, Entry::New));
}

/// Updates the index entry of a message from its row at the end of the group of jobs. Jobs must not touch the index
/// themselves: it flushes everything at each savepoint.
pub fn renew(tx: &mut Tx<'_>, id: MessageId) {
    tx.before_commit(move |connection, caches| put_message(connection, caches, id, Entry::Renewed));
}

/// Whether the index may have an entry for a message already.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    New,
    Renewed,
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
        return connection
            .prepare_cached("DELETE FROM message_search WHERE rowid = ?1")?
            .execute([id])
            .map(|_| ());
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
        Entry::Renewed => "INSERT OR REPLACE",
    };
    connection
        .prepare_cached(&format!(
            "{insert} INTO message_search (rowid, content, subject) VALUES (?1, ?2, ?3)"
        ))?
        .execute((
            id,
            index_text(&content) + emoji_of_content.as_str(),
            index_text(&subject) + emoji_of_subject.as_str(),
        ))?;
    known.put(connection, &content)?;
    known.put(connection, &subject)
}

/// A cache of words that are in the list, as most words of a message are.
pub(super) struct KnownWords {
    /// The digest of the last word of each slot; 0 for none.
    digests: Vec<u64>,
    folded: String,
}

impl Default for KnownWords {
    fn default() -> Self {
        // A quarter of a MiB, of which untouched pages take no memory.
        Self { digests: vec![0; 1 << 15], folded: String::new() }
    }
}

impl KnownWords {
    /// Forgets a word, which may no longer be in the list.
    pub(super) fn forget(&mut self, word: &str) {
        let (slot, digest) = self.slot(word);
        if self.digests[slot] == digest {
            self.digests[slot] = 0;
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
            }
        }
        Ok(())
    }
}

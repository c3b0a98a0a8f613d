//! Writing the index: what a search finds of a message, and the words that the beginning of one may stand for.

use crate::domain::messages::search::emoji::with_words;
use crate::domain::messages::search::stem::stem;
use crate::domain::messages::search::text::{fold_into, index_text, words};
use crate::store::{Tx, WriterCaches};
use crate::types::MessageId;
use rusqlite::Connection;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Indexes a new message at the end of the group. Nothing stands in the index for its id, so nothing has to be looked
/// for there.
pub fn add(tx: &mut Tx<'_>, id: MessageId) {
    tx.before_commit(move |connection, caches| put_message(connection, caches, id, Entry::New));
}

/// Brings what a search finds of a message in line with its row, at the end of the group: the index writes out all it
/// has at each savepoint, so that jobs must not touch it.
pub fn renew(tx: &mut Tx<'_>, id: MessageId) {
    tx.before_commit(move |connection, caches| put_message(connection, caches, id, Entry::Renewed));
}

/// Whether something may stand in the index for a message already: only then it is worth looking.
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

/// Writes the content and the subject of a message into the index, and their words into the list of words.
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

/// Words of which the writer knows that they are in the list. Most words of a message are, and are not asked for again.
pub(super) struct KnownWords {
    /// A digest of the last word that came to each place; 0 for none.
    digests: Vec<u64>,
    folded: String,
}

impl Default for KnownWords {
    fn default() -> Self {
        // A quarter of a MiB, of which only what is used takes memory.
        Self { digests: vec![0; 1 << 15], folded: String::new() }
    }
}

impl KnownWords {
    fn put(&mut self, connection: &Connection, text: &str) -> rusqlite::Result<()> {
        for range in words(text) {
            self.folded.clear();
            fold_into(&text[range], &mut self.folded);
            let mut hasher = DefaultHasher::new();
            self.folded.hash(&mut hasher);
            let digest = hasher.finish() | 1;
            let place = (digest >> 32) as usize % self.digests.len();
            if self.digests[place] != digest {
                connection
                    .prepare_cached("INSERT OR IGNORE INTO search_word (word, stem) VALUES (?1, ?2)")?
                    .execute((&self.folded, stem(&self.folded)))?;
                self.digests[place] = digest;
            }
        }
        Ok(())
    }
}

//! A cache of compiled linkifiers for the renderer.
//!
//! Compiling takes much longer than rendering, so the compiled linkifiers are kept together with their rows. Every rendering
//! compares the rows with those of its snapshot, so the cache needs no invalidation. After a change only new patterns are
//! compiled, because it may be the writer that needs them.

use crate::domain::linkifiers::{LinkifierRecord, sql};
use crate::error::ApiResult;
use parking_lot::Mutex;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use teamchat_markdown::{Linkifier, TopicLink};

/// Linkifiers, compiled.
struct Compiled {
    rows: Vec<LinkifierRecord>,
    /// One for each row.
    entries: Vec<Entry>,
    linkifiers: Arc<[Linkifier]>,
}

/// A compiled row.
#[derive(Clone)]
struct Entry {
    /// `None` if the pattern does not compile.
    linkifier: Option<Linkifier>,
    /// The number of linkifiers that it shares the memory for caches with.
    among: usize,
}

/// The linkifiers that were compiled last, for all threads.
static COMPILED: Mutex<Option<Arc<Compiled>>> = Mutex::new(None);

/// All linkifiers, in the order in which they are tried.
pub fn all(connection: &Connection) -> ApiResult<Arc<[Linkifier]>> {
    let known = last();
    if let Some(known) = &known
        && sql::is_unchanged(connection, &known.rows)?
    {
        return Ok(Arc::clone(&known.linkifiers));
    }
    Ok(keep(sql::all(connection)?, known.as_deref()))
}

/// Compiles linkifiers that are about to be stored.
pub fn prepare(rows: Vec<LinkifierRecord>) {
    keep(rows, last().as_deref());
}

fn last() -> Option<Arc<Compiled>> {
    COMPILED.lock().clone()
}

fn keep(rows: Vec<LinkifierRecord>, known: Option<&Compiled>) -> Arc<[Linkifier]> {
    let compiled = Compiled::new(rows, known);
    let linkifiers = Arc::clone(&compiled.linkifiers);
    *COMPILED.lock() = Some(Arc::new(compiled));
    linkifiers
}

impl Compiled {
    /// Compiles rows that are not among the known ones, and those whose caches would be too large for the number of all.
    fn new(rows: Vec<LinkifierRecord>, known: Option<&Self>) -> Self {
        let known: HashMap<(&str, &str), &Entry> = known
            .into_iter()
            .flat_map(|known| known.rows.iter().zip(&known.entries))
            .map(|(row, entry)| ((row.pattern.as_str(), row.url_template.as_str()), entry))
            .collect();
        let count = rows.len();
        let entries: Vec<Entry> = rows
            .iter()
            .map(|row| match known.get(&(row.pattern.as_str(), row.url_template.as_str())) {
                Some(entry) if count <= entry.among * 2 => Entry::clone(entry),
                _ => Entry { linkifier: compile(row, count), among: count },
            })
            .collect();
        let linkifiers = entries.iter().filter_map(|entry| entry.linkifier.clone()).collect();
        Self { rows, entries, linkifiers }
    }
}

/// The links in a topic: matches of linkifiers, and URLs.
pub fn topic_links(connection: &Connection, topic: &str) -> ApiResult<Vec<TopicLink>> {
    Ok(teamchat_markdown::topic_links(topic, &all(connection)?))
}

/// Compiles a linkifier. Stored patterns compile, but another version of the engine may reject them.
fn compile(row: &LinkifierRecord, count: usize) -> Option<Linkifier> {
    match Linkifier::compile_among(count, &row.pattern, &row.url_template) {
        Ok(linkifier) => Some(linkifier),
        Err(error) => {
            tracing::warn!(id = row.id, %error, "a linkifier is not used");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_separate_for_each_file() {
        let file = || {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(crate::store::SCHEMA).unwrap();
            connection
        };
        let links = |connection: &Connection| -> Vec<String> {
            topic_links(connection, "#1 @2").unwrap().into_iter().map(|link| link.url).collect()
        };
        let (one, other) = (file(), file());
        sql::insert(&one, "#(?P<id>[0-9]+)", "https://one.example.com/{id}").unwrap();
        sql::insert(&other, "@(?P<id>[0-9]+)", "https://other.example.com/{id}").unwrap();
        for _ in 0..2 {
            assert_eq!(links(&one), ["https://one.example.com/1"]);
            assert_eq!(links(&other), ["https://other.example.com/2"]);
        }
        let second = sql::insert(&one, "[@#](?P<id>[0-9]+)", "https://second.example.com/{id}").unwrap();
        assert_eq!(links(&one), ["https://one.example.com/1", "https://second.example.com/2"]);
        sql::set_position(&one, second, 0).unwrap();
        assert_eq!(links(&one), ["https://second.example.com/1", "https://second.example.com/2"]);
        assert!(Arc::ptr_eq(&all(&one).unwrap(), &all(&one).unwrap()), "nothing is compiled twice");
    }

    #[test]
    fn known_linkifiers_are_compiled_again_when_there_are_twice_as_many() {
        let row = |number: usize| LinkifierRecord {
            pattern: number.to_string(),
            url_template: "https://example.com".to_owned(),
            id: number as i64,
        };
        let compile = |count: usize, known: Option<&Compiled>| {
            let compiled = Compiled::new((0..count).map(row).collect(), known);
            assert_eq!(compiled.linkifiers.len(), count);
            compiled
        };
        let among = |compiled: &Compiled| -> Vec<usize> {
            compiled.entries.iter().map(|entry| entry.among).collect()
        };
        let two = compile(2, None);
        let four = compile(4, Some(&two));
        let five = compile(5, Some(&four));
        let one = compile(1, Some(&five));
        assert_eq!(
            [two, four, five, one].map(|compiled| among(&compiled)),
            [vec![2, 2], vec![2, 2, 4, 4], vec![5, 5, 4, 4, 5], vec![5]]
        );
    }

    #[test]
    fn one_that_does_not_compile_does_not_stop_the_others() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        sql::insert(&connection, "(", "https://example.com").unwrap();
        sql::insert(&connection, "#(?P<id>[0-9]+)", "https://example.com/{id}").unwrap();
        assert_eq!(all(&connection).unwrap().len(), 1);
    }
}

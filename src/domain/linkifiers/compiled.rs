//! A cache of compiled linkifiers for the renderer.
//!
//! Compiling takes much longer than rendering, so the compiled linkifiers are kept together with their rows. Every rendering
//! compares the rows with those of its snapshot, so the cache needs no invalidation.

use crate::domain::linkifiers::{LinkifierRecord, sql};
use crate::error::ApiResult;
use parking_lot::Mutex;
use rusqlite::Connection;
use std::sync::Arc;
use teamchat_markdown::{Linkifier, TopicLink};

/// Linkifiers, compiled.
struct Compiled {
    rows: Vec<LinkifierRecord>,
    linkifiers: Arc<[Linkifier]>,
}

/// The linkifiers that were compiled last, for all threads.
static COMPILED: Mutex<Option<Arc<Compiled>>> = Mutex::new(None);

/// All linkifiers, in the order in which they are tried.
pub fn all(connection: &Connection) -> ApiResult<Arc<[Linkifier]>> {
    let compiled = || COMPILED.lock();
    let known = compiled().clone();
    if let Some(known) = known
        && sql::is_unchanged(connection, &known.rows)?
    {
        return Ok(Arc::clone(&known.linkifiers));
    }
    let rows = sql::all(connection)?;
    let linkifiers: Arc<[Linkifier]> = rows.iter().filter_map(|row| compile(row, rows.len())).collect();
    *compiled() = Some(Arc::new(Compiled { rows, linkifiers: Arc::clone(&linkifiers) }));
    Ok(linkifiers)
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
    fn one_that_does_not_compile_does_not_stop_the_others() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        sql::insert(&connection, "(", "https://example.com").unwrap();
        sql::insert(&connection, "#(?P<id>[0-9]+)", "https://example.com/{id}").unwrap();
        assert_eq!(all(&connection).unwrap().len(), 1);
    }
}

//! Steps of SQLite's machine, which tests count to show that a statement reads few rows.

use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the steps that the statements of a connection take from now on.
pub fn count_steps(connection: &Connection) -> impl Fn() -> usize + use<> {
    let counter = Arc::new(AtomicUsize::new(0));
    let steps = Arc::clone(&counter);
    let count_step = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(count_step)).unwrap();
    move || steps.load(Ordering::Relaxed)
}

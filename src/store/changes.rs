//! Whether what was read of a few tables is still so.

use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts the commits that changed rows of a few tables. What was read of them holds as long as the count is what it was
/// before the reading. The tables have row ids: SQLite tells of no others.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<AtomicU64>);

impl Changes {
    /// How many there were since the start.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// Notices changes on the writing connection.
pub(super) struct Watch {
    changes: Changes,
    touched: Arc<AtomicBool>,
}

impl Watch {
    /// Watches these tables.
    pub(super) fn start(
        connection: &Connection,
        tables: &'static [&'static str],
        changes: Changes,
    ) -> rusqlite::Result<Self> {
        let touched = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&touched);
        connection.update_hook(Some(move |_action, _database: &str, table: &str, _row_id| {
            if tables.contains(&table) {
                flag.store(true, Ordering::Relaxed);
            }
        }))?;
        Ok(Self { changes, touched })
    }

    /// Counts a commit, if it changed any of the tables: before anybody hears of it.
    pub(super) fn committed(&self) {
        if self.touched.swap(false, Ordering::Relaxed) {
            self.changes.0.fetch_add(1, Ordering::Release);
        }
    }
}

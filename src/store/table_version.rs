//! A version counter of a few tables, used to invalidate caches outside the writer.

use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts the commits that changed rows of the watched tables. A value that was read from these tables is current as
/// long as the version is still the one from before the read. The tables need row ids: SQLite reports changes of no
/// others.
#[derive(Clone, Debug, Default)]
pub struct TableVersion(Arc<AtomicU64>);

impl TableVersion {
    /// Returns the number of such commits since the start.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// Notices changes of the watched tables on the writing connection.
pub(super) struct UpdateHook {
    version: TableVersion,
    is_changed: Arc<AtomicBool>,
}

impl UpdateHook {
    /// Watches tables.
    pub(super) fn install(
        connection: &Connection,
        tables: &'static [&'static str],
        version: TableVersion,
    ) -> rusqlite::Result<Self> {
        let is_changed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_changed);
        connection.update_hook(Some(move |_action, _database: &str, table: &str, _row_id| {
            if tables.contains(&table) {
                flag.store(true, Ordering::Relaxed);
            }
        }))?;
        Ok(Self { version, is_changed })
    }

    /// Increments the version: all rows may be others.
    pub(super) fn invalidate(&self) {
        self.is_changed.store(true, Ordering::Relaxed);
        self.committed();
    }

    /// Increments the version if the group changed a watched table. Called after the commit and before any job is
    /// answered.
    pub(super) fn committed(&self) {
        if self.is_changed.swap(false, Ordering::Relaxed) {
            self.version.0.fetch_add(1, Ordering::Release);
        }
    }
}

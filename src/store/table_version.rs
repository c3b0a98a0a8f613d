//! Changes of tables on the writing connection: a version counter of a few tables, and the changed rows of others, used to
//! invalidate caches outside the writer.

use super::row_cache::{RowCache, RowKey};
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::Action;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts the commits that changed rows of the watched tables. A value that was read from these tables is current as
/// long as the version is still the one from before the read. The tables need row ids: SQLite reports changes of no
/// others.
///
/// It also keeps values that are made of rows of these tables and of nothing else, one of each type, for jobs and snapshots.
#[derive(Clone, Debug, Default)]
pub struct TableVersion(Arc<Counted>);

/// A value, and the version that it is of.
type Kept = (u64, Box<dyn Any + Send>);

#[derive(Debug, Default)]
struct Counted {
    commits: AtomicU64,
    /// Values with the versions from before their rows were read: they may be newer, but not older.
    values: Mutex<HashMap<TypeId, Kept>>,
}

impl TableVersion {
    /// Returns the number of such commits since the start.
    pub fn get(&self) -> u64 {
        self.0.commits.load(Ordering::Acquire)
    }

    /// Returns the kept value of a type, if it is of this version.
    pub fn value<T: Clone + 'static>(&self, version: u64) -> Option<T> {
        let values = self.0.values.lock();
        let (of_version, value) = values.get(&TypeId::of::<T>())?;
        if *of_version == version { value.downcast_ref().cloned() } else { None }
    }

    /// Keeps a value whose rows were read after this was the version.
    pub fn keep<T: Send + 'static>(&self, version: u64, value: T) {
        let mut values = self.0.values.lock();
        values.insert(TypeId::of::<T>(), (version, Box::new(value)));
    }
}

/// Tables whose changes are noticed. Both kinds need row ids, and their rows are never deleted without a condition: SQLite
/// does not report other changes.
#[derive(Clone, Copy, Default)]
pub struct WatchedTables {
    /// Tables that [`TableVersion`] counts: small ones that seldom change.
    pub counted: &'static [&'static [&'static str]],
    /// Tables whose rows have values in the cache of [`Snapshot::cached`](super::Snapshot::cached).
    pub cached: &'static [&'static str],
}

/// Notices changes of the watched tables on the writing connection.
pub(super) struct UpdateHook {
    pub(super) version: TableVersion,
    is_changed: Arc<AtomicBool>,
    rows: Arc<RowCache>,
    /// Rows of the cached tables that were updated or deleted since the last commit.
    changed_rows: Arc<Mutex<Vec<RowKey>>>,
}

impl UpdateHook {
    /// Installs a hook that counts the changes of the watched tables.
    pub(super) fn install(
        connection: &Connection,
        tables: WatchedTables,
        version: TableVersion,
        rows: Arc<RowCache>,
    ) -> rusqlite::Result<Self> {
        let is_changed = Arc::new(AtomicBool::new(false));
        let changed_rows = Arc::new(Mutex::new(Vec::new()));
        let (flag, changed) = (Arc::clone(&is_changed), Arc::clone(&changed_rows));
        connection.update_hook(Some(move |action, _database: &str, table: &str, id| {
            if tables.counted.iter().any(|counted| counted.contains(&table)) {
                flag.store(true, Ordering::Relaxed);
            }
            if action != Action::SQLITE_INSERT
                && let Some(table) = tables.cached.iter().find(|cached| **cached == table)
            {
                changed.lock().push(RowKey { table, id });
            }
        }))?;
        Ok(Self { version, is_changed, rows, changed_rows })
    }

    /// Returns the version; `None` if jobs have changed watched tables since the last commit. They count even if they failed.
    pub(super) fn current_version(&self) -> Option<u64> {
        (!self.is_changed.load(Ordering::Relaxed)).then(|| self.version.get())
    }

    /// Runs work that may replace the rows of all tables: then it returns `Some`.
    pub(super) fn around_replacement<T>(&self, work: impl FnOnce() -> Option<T>) -> Option<T> {
        self.rows.begin_all();
        let result = work();
        self.is_changed.fetch_or(result.is_some(), Ordering::Relaxed);
        self.committed();
        result
    }

    /// Drops cached values of changed rows. Called before the commit.
    pub(super) fn before_commit(&self) {
        let changed = std::mem::take(&mut *self.changed_rows.lock());
        if !changed.is_empty() {
            self.rows.begin(&changed);
        }
    }

    /// Lets snapshots add values of changed rows again. Called when the rows are as they were.
    pub(super) fn rolled_back(&self) {
        self.before_commit();
        self.rows.end();
    }

    /// Increments the version if the group changed a watched table. Called after the commit and before any job is
    /// answered.
    pub(super) fn committed(&self) {
        self.rows.end();
        if self.is_changed.swap(false, Ordering::Relaxed) {
            self.version.0.commits.fetch_add(1, Ordering::Release);
        }
    }
}

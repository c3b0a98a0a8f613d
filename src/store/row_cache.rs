//! Values made of single rows of a few tables, shared by all snapshots.
//!
//! A snapshot gets a value only if the row is the same in it. The writer numbers the groups that change rows of the tables,
//! and drops the values of these rows before it commits. A snapshot knows the last group that was committed when it began:
//!
//! - it takes values that were made by snapshots which began no later, since a changed row has none;
//! - it adds values of rows that no later group changed, or is about to change.
//!
//! So a race costs a read of the row, and never shows a row of another state. Adding rows changes none.

use crate::types::IdMap;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The most bytes of all values.
const MAX_BYTES: usize = 3 << 20;

/// Values that are longer are not kept.
const MAX_VALUE_BYTES: usize = MAX_BYTES / 48;

/// Memory of an entry beside its value.
const ENTRY_BYTES: usize = 128;

/// The changes that are remembered. Snapshots that began before all of them add nothing.
const MAX_CHANGES: usize = 1024;

/// A number of the writer's groups that changed rows.
pub type RowVersion = u64;

/// A value that is made of a single row, and of nothing else that changes.
pub trait RowValue: Send + Sync + 'static {
    /// The table, one of [`WatchedTables::cached`](super::WatchedTables::cached).
    const TABLE: &'static str;

    /// The memory that the value holds, in bytes.
    fn bytes(&self) -> usize;
}

/// A row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The table's name.
    pub table: &'static str,
    pub id: i64,
}

/// The id alone: the tables are few.
impl Hash for RowKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_i64(self.id);
    }
}

/// Values that were made of rows, shared by all readers.
#[derive(Default)]
pub struct RowCache(Mutex<State>);

impl fmt::Debug for RowCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RowCache").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    /// Entries that were used lately, and those that were not: the latter go when the former fill their half.
    young: Entries,
    old: Entries,
    young_bytes: usize,
    /// The newest group, which may not be committed yet.
    begun: RowVersion,
    committed: RowVersion,
    /// Changed rows, each with its group, the oldest first.
    changes: VecDeque<(RowVersion, RowKey)>,
    /// The newest group whose changes are not all in `changes`.
    forgotten: RowVersion,
}

type Entries = IdMap<RowKey, Entry>;

struct Entry {
    value: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    /// The version of the snapshot that made it.
    version: RowVersion,
}

impl RowCache {
    /// Returns the version of a snapshot that begins now or later.
    pub(super) fn version(&self) -> RowVersion {
        self.0.lock().committed
    }

    /// Returns the values of rows, as far as they are there and the same in a snapshot of this version.
    pub(super) fn get<T: RowValue>(
        &self,
        version: RowVersion,
        ids: impl Iterator<Item = i64>,
    ) -> Vec<Option<Arc<T>>> {
        let mut state = self.0.lock();
        ids.map(|id| state.get(version, RowKey { table: T::TABLE, id })?.downcast().ok()).collect()
    }

    /// Adds values of rows that were read in a snapshot of this version.
    pub(super) fn add<T: RowValue>(&self, version: RowVersion, values: impl Iterator<Item = (i64, Arc<T>)>) {
        let mut state = self.0.lock();
        for (id, value) in values {
            let (row, bytes) = (RowKey { table: T::TABLE, id }, value.bytes());
            if bytes <= MAX_VALUE_BYTES && !state.is_changed_after(version, row) {
                state.insert(row, Entry { value, bytes: bytes + ENTRY_BYTES, version });
            }
        }
    }

    /// Drops the values of rows that a group changes. Called before its commit.
    pub(super) fn begin(&self, rows: &[RowKey]) {
        let mut state = self.0.lock();
        state.begun += 1;
        let begun = state.begun;
        for row in rows {
            state.remove(*row);
            if state.changes.len() == MAX_CHANGES
                && let Some((version, _)) = state.changes.pop_front()
            {
                state.forgotten = version;
            }
            state.changes.push_back((begun, *row));
        }
    }

    /// Drops all values: the rows are about to be replaced.
    pub(super) fn begin_all(&self) {
        let mut state = self.0.lock();
        let begun = state.begun + 1;
        *state = State { begun, forgotten: begun, committed: state.committed, ..State::default() };
    }

    /// Ends what was begun, committed or not.
    pub(super) fn end(&self) {
        let mut state = self.0.lock();
        state.committed = state.begun;
    }
}

impl State {
    fn get(&mut self, version: RowVersion, row: RowKey) -> Option<Arc<dyn Any + Send + Sync>> {
        if let Some(entry) = self.old.remove(&row) {
            self.insert(row, entry);
        }
        let entry = self.young.get(&row).filter(|entry| entry.version <= version)?;
        Some(Arc::clone(&entry.value))
    }

    fn is_changed_after(&self, version: RowVersion, row: RowKey) -> bool {
        version < self.forgotten
            || version < self.begun
                && self
                    .changes
                    .iter()
                    .rev()
                    .take_while(|(group, _)| *group > version)
                    .any(|(_, changed)| *changed == row)
    }

    fn insert(&mut self, row: RowKey, entry: Entry) {
        if self.young_bytes + entry.bytes > MAX_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.remove(row);
        self.young_bytes += entry.bytes;
        self.young.insert(row, entry);
    }

    fn remove(&mut self, row: RowKey) {
        self.old.remove(&row);
        if let Some(entry) = self.young.remove(&row) {
            self.young_bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(String);

    impl RowValue for Text {
        const TABLE: &'static str = "text";

        fn bytes(&self) -> usize {
            self.0.len()
        }
    }

    struct Number(i64);

    impl RowValue for Number {
        const TABLE: &'static str = "number";

        fn bytes(&self) -> usize {
            0
        }
    }

    fn texts(ids: impl Iterator<Item = i64>) -> Vec<RowKey> {
        ids.map(|id| RowKey { table: Text::TABLE, id }).collect()
    }

    fn add(cache: &RowCache, version: RowVersion, id: i64, value: &str) {
        cache.add(version, std::iter::once((id, Arc::new(Text(value.to_owned())))));
    }

    fn get(cache: &RowCache, version: RowVersion, id: i64) -> Option<String> {
        let [value] = &cache.get::<Text>(version, std::iter::once(id))[..] else { panic!("one value") };
        value.as_deref().map(|text| text.0.clone())
    }

    #[test]
    fn a_snapshot_gets_only_values_of_its_own_state() {
        let cache = RowCache::default();
        let old = cache.version();
        add(&cache, old, 1, "one");
        add(&cache, old, 2, "two");
        assert_eq!(get(&cache, old, 1).as_deref(), Some("one"));

        cache.begin(&texts(1..=1));
        let between = cache.version();
        assert_eq!(get(&cache, old, 1), None, "about to change");
        add(&cache, between, 1, "one, of a snapshot before the commit");
        assert_eq!(get(&cache, between, 1), None);
        cache.end();

        let new = cache.version();
        add(&cache, old, 1, "one");
        assert_eq!(get(&cache, new, 1), None, "the row has changed since");
        add(&cache, new, 1, "eins");
        assert_eq!(get(&cache, new, 1).as_deref(), Some("eins"));
        assert_eq!(get(&cache, old, 1), None, "newer than the snapshot");
        assert_eq!(get(&cache, new, 2).as_deref(), Some("two"), "others stay");
        add(&cache, old, 3, "three");
        assert_eq!(get(&cache, new, 3).as_deref(), Some("three"), "an old snapshot adds what did not change");
    }

    #[test]
    fn rows_of_two_tables_may_have_one_id() {
        let cache = RowCache::default();
        let number =
            || cache.get::<Number>(cache.version(), std::iter::once(1)).remove(0).map(|number| number.0);
        add(&cache, cache.version(), 1, "one");
        assert_eq!(number(), None);
        cache.add(cache.version(), std::iter::once((1, Arc::new(Number(7)))));
        assert_eq!(get(&cache, cache.version(), 1).as_deref(), Some("one"));
        cache.begin(&texts(1..=1));
        cache.end();
        assert_eq!((number(), get(&cache, cache.version(), 1)), (Some(7), None), "the text changed");
    }

    #[test]
    fn snapshots_older_than_all_known_changes_add_nothing() {
        let cache = RowCache::default();
        let old = cache.version();
        cache.begin(&texts(1..=1 + MAX_CHANGES as i64));
        cache.end();
        add(&cache, old, 5000, "unchanged");
        assert_eq!(get(&cache, cache.version(), 5000), None);
        add(&cache, cache.version(), 5000, "unchanged");
        assert_eq!(get(&cache, cache.version(), 5000).as_deref(), Some("unchanged"));
    }

    #[test]
    fn replaced_rows_leave_no_values() {
        let cache = RowCache::default();
        let old = cache.version();
        add(&cache, old, 1, "one");
        cache.begin_all();
        add(&cache, cache.version(), 1, "one, before the rows were replaced");
        cache.end();
        add(&cache, old, 1, "one");
        assert_eq!(get(&cache, cache.version(), 1), None);
    }

    #[test]
    fn values_have_a_limit_in_bytes_and_those_in_use_stay() {
        let cache = RowCache::default();
        let text = "x".repeat(10_000);
        add(&cache, 0, 0, &text);
        for id in 1..2000 {
            add(&cache, 0, id, &text);
            assert!(get(&cache, 0, 0).is_some(), "in use, after {id}");
        }
        let state = cache.0.lock();
        let held: usize = state.young.values().chain(state.old.values()).map(|entry| entry.bytes).sum();
        assert!(held <= MAX_BYTES, "{held} bytes");
        assert_eq!(state.young.values().map(|entry| entry.bytes).sum::<usize>(), state.young_bytes);
        assert!(held > MAX_BYTES / 4);
        drop(state);
        add(&cache, 0, -1, &"x".repeat(MAX_VALUE_BYTES + 1));
        assert_eq!(get(&cache, 0, -1), None, "too long");
    }
}

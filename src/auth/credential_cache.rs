//! A cache of API keys and their owners: most requests carry a key that was looked up a moment ago.

use super::caller::Caller;
use super::credentials::{ApiKeyOwner, digest};
use crate::error::ApiResult;
use crate::store::{Readers, TableVersion};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most keys in the cache.
const CAPACITY: usize = 1000;

/// The owners of recently used API keys, by digest. A change of accounts or keys clears it, so that a result is always
/// the same as from the database.
pub struct CredentialCache {
    table_version: TableVersion,
    entries: Mutex<Entries>,
    uses: Mutex<HashMap<i64, KeyUse>>,
}

/// The most recent use of a key.
struct KeyUse {
    /// UNIX seconds.
    time: i64,
    is_saved: bool,
}

/// Uses of a key that are closer together than this, in seconds, are one: the time of the last use is known to the hour.
const USE_PRECISION: i64 = 3600;

#[derive(Default)]
struct Entries {
    /// The table version that `owners` was read at.
    version: u64,
    owners: HashMap<[u8; 32], Arc<ApiKeyOwner>>,
}

impl CredentialCache {
    /// An empty cache. `table_version` has to count the changes of [`ApiKeyOwner::TABLES`].
    pub fn new(table_version: TableVersion) -> Self {
        Self { table_version, entries: Mutex::default(), uses: Mutex::default() }
    }

    /// Records that a key was used at a time in UNIX seconds.
    pub fn record_use(&self, api_key_id: i64, now: i64) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        match uses.get(&api_key_id) {
            Some(known) if (0..USE_PRECISION).contains(&(now - known.time)) => {}
            _ => {
                if uses.len() >= CAPACITY {
                    uses.retain(|_, known| !known.is_saved);
                }
                uses.insert(api_key_id, KeyUse { time: now, is_saved: false });
            }
        }
    }

    /// Returns the uses that were not returned before: ids of keys, and UNIX seconds.
    pub fn take_unsaved_uses(&self) -> Vec<(i64, i64)> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let unsaved = uses.iter_mut().filter(|(_, known)| !known.is_saved);
        unsaved
            .map(|(id, known)| {
                known.is_saved = true;
                (*id, known.time)
            })
            .collect()
    }

    /// Returns the owner of a key, from the cache or the database.
    pub async fn find(&self, readers: &Readers, key: &str) -> ApiResult<Option<Arc<ApiKeyOwner>>> {
        let digest = digest(key);
        // The version is taken before the rows are read: an entry may be newer than its version, but not older.
        let version = self.table_version.get();
        if let Some(owner) = self.entries_at(version).owners.get(&digest) {
            return Ok(Some(Arc::clone(owner)));
        }
        let found =
            readers.read(|snapshot| ApiKeyOwner::find(snapshot, &digest, version)).await?.map(Arc::new);
        if let Some(owner) = &found {
            let mut entries = self.entries_at(version);
            if entries.version == version {
                if entries.owners.len() >= CAPACITY {
                    entries.owners.clear();
                }
                entries.owners.insert(digest, Arc::clone(owner));
            }
        }
        Ok(found)
    }

    /// Whether no account and no key changed since a caller was authenticated.
    pub fn is_current(&self, caller: &Caller) -> bool {
        caller.version == self.table_version.get()
    }

    /// Locks the entries, and drops those that are older than `version`.
    fn entries_at(&self, version: u64) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.version < version {
            entries.owners.clear();
            entries.version = version;
        }
        entries
    }
}

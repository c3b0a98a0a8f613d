//! Callers who were here lately: most requests come from somebody whose key was looked up a moment ago.

use super::caller::{KeyHolder, digest};
use crate::error::ApiResult;
use crate::store::{Changes, Readers};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys remembered at most.
const REMEMBERED: usize = 1000;

/// Whose keys came lately, by digest. All are forgotten at each change of accounts or keys, so that an answer from here
/// is what the file would answer.
pub struct KnownCallers {
    changes: Changes,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The count of changes for which `holders` is true.
    as_of: u64,
    holders: HashMap<[u8; 32], Arc<KeyHolder>>,
}

impl KnownCallers {
    /// Nobody yet. `changes` counts those of [`KeyHolder::TABLES`].
    pub fn new(changes: Changes) -> Self {
        Self { changes, known: Mutex::default() }
    }

    /// Finds whose key this is.
    pub async fn find(&self, readers: &Readers, key: &str) -> ApiResult<Option<Arc<KeyHolder>>> {
        let digest = digest(key);
        // Counted before the reading: what is remembered may be newer than the count, but not older.
        let as_of = self.changes.count();
        if let Some(holder) = self.known(as_of).holders.get(&digest) {
            return Ok(Some(Arc::clone(holder)));
        }
        let found = readers.read(|snapshot| KeyHolder::find(snapshot, &digest)).await?.map(Arc::new);
        if let Some(holder) = &found {
            let mut known = self.known(as_of);
            if known.as_of == as_of {
                if known.holders.len() >= REMEMBERED {
                    known.holders.clear();
                }
                known.holders.insert(digest, Arc::clone(holder));
            }
        }
        Ok(found)
    }

    /// What is remembered, without what a change may have made wrong.
    fn known(&self, as_of: u64) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_of < as_of {
            known.holders.clear();
            known.as_of = as_of;
        }
        known
    }
}

//! A cache of credentials and their accounts: most requests carry one that was looked up a moment ago.

use super::caller::{Caller, Credential};
use super::credentials::{CredentialRow, SecretKind, digest};
use crate::error::ApiResult;
use crate::store::{Readers, TableVersion};
use crate::types::address_block;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The most credentials in the cache.
const CAPACITY: usize = 1000;

/// Recently used API keys and sessions, by digest. A change of accounts or credentials clears it, so that a result is always
/// the same as from the database.
pub struct CredentialCache {
    table_version: TableVersion,
    entries: Mutex<Entries>,
    uses: Mutex<HashMap<(Credential, IpAddr), LatestUse>>,
}

/// The most recent use of a credential.
#[derive(Clone, Copy, Debug)]
pub struct CredentialUse {
    /// The credential of the request.
    pub credential: Credential,
    /// UNIX seconds.
    pub time: i64,
    /// The client's address.
    pub address: IpAddr,
}

struct LatestUse {
    latest: CredentialUse,
    is_saved: bool,
}

/// Uses of a credential at an address that are closer together than this, in seconds, are one: the time of the last use is
/// known to the hour.
const USE_PRECISION: i64 = 3600;

/// Maximum number of uses that wait to be saved: a user with many addresses fills no memory.
const MAX_UNSAVED: usize = 10 * CAPACITY;

#[derive(Default)]
struct Entries {
    /// The table version that `rows` was read at.
    version: u64,
    rows: HashMap<(SecretKind, [u8; 32]), Arc<CredentialRow>>,
}

impl CredentialCache {
    /// An empty cache. `table_version` has to count the changes of [`CredentialRow::TABLES`].
    pub fn new(table_version: TableVersion) -> Self {
        Self { table_version, entries: Mutex::default(), uses: Mutex::default() }
    }

    pub fn record_use(&self, latest: CredentialUse) {
        let mut uses = self.uses.lock();
        let key = (latest.credential, address_block(latest.address));
        match uses.get(&key) {
            Some(known) if (0..USE_PRECISION).contains(&(latest.time - known.latest.time)) => {}
            _ => {
                if uses.len() >= CAPACITY {
                    uses.retain(|_, known| !known.is_saved);
                }
                if uses.len() >= MAX_UNSAVED {
                    return;
                }
                uses.insert(key, LatestUse { latest, is_saved: false });
            }
        }
    }

    /// Returns the uses that are not saved yet, the oldest first.
    pub fn unsaved_uses(&self) -> Vec<CredentialUse> {
        let uses = self.uses.lock();
        let unsaved = uses.values().filter(|known| !known.is_saved);
        let mut unsaved: Vec<CredentialUse> = unsaved.map(|known| known.latest).collect();
        unsaved.sort_by_key(|latest| latest.time);
        unsaved
    }

    /// Notes that uses have been committed. Until then [`Self::unsaved_uses`] returns them to others, too: they can save them
    /// without waiting, and a save that fails loses none.
    pub fn mark_saved(&self, saved: &[CredentialUse]) {
        let mut uses = self.uses.lock();
        for CredentialUse { credential, time, address } in saved {
            if let Some(known) = uses.get_mut(&(*credential, address_block(*address))) {
                known.is_saved |= known.latest.time == *time;
            }
        }
    }

    /// Returns the credential with a secret, from the cache or the database.
    pub async fn find(
        &self,
        readers: &Readers,
        kind: SecretKind,
        secret: &str,
    ) -> ApiResult<Option<Arc<CredentialRow>>> {
        let digest = digest(secret);
        // The version is taken before the rows are read: an entry may be newer than its version, but not older.
        let version = self.table_version.get();
        if let Some(login) = self.entries_at(version).rows.get(&(kind, digest)) {
            return Ok(Some(Arc::clone(login)));
        }
        let found = readers
            .read(|snapshot| CredentialRow::find(snapshot, kind, &digest, version))
            .await?
            .map(Arc::new);
        if let Some(login) = &found {
            let mut entries = self.entries_at(version);
            if entries.version == version {
                if entries.rows.len() >= CAPACITY {
                    entries.rows.clear();
                }
                entries.rows.insert((kind, digest), Arc::clone(login));
            }
        }
        Ok(found)
    }

    /// True if no account and no credential changed since a caller was authenticated.
    pub fn is_current(&self, caller: &Caller) -> bool {
        caller.version == self.table_version.get()
    }

    /// Locks the entries, and drops those that are older than `version`.
    fn entries_at(&self, version: u64) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock();
        if entries.version < version {
            entries.rows.clear();
            entries.version = version;
        }
        entries
    }
}

//! Maps and sets by identifiers.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by identifiers that the server itself gave, so that no client can choose them to collide.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// A set of such identifiers.
pub type IdSet<K> = HashSet<K, BuildHasherDefault<IdHasher>>;

/// Hashes one identifier, in a fraction of the time that a page of messages takes with a hash for any keys.
#[derive(Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_i64(i64::from(*byte));
        }
    }

    fn write_i64(&mut self, id: i64) {
        // The golden ratio: ids in a row get hashes far from each other, in their upper bits too.
        self.0 = (self.0 ^ id.cast_unsigned()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

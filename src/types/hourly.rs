//! Values that are computed at most once an hour.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;

/// Values that take long to compute and may be up to an hour old. They are dropped when the hour ends.
#[derive(Debug)]
pub struct Hourly<K, V>(Mutex<(i64, HashMap<K, V>)>);

impl<K, V> Default for Hourly<K, V> {
    fn default() -> Self {
        Self(Mutex::new((i64::MIN, HashMap::new())))
    }
}

impl<K: Hash + Eq, V: Copy> Hourly<K, V> {
    /// Returns the value of a key, and computes it if it has none of this hour. `now` in UNIX seconds.
    pub fn get<E>(&self, now: i64, key: K, compute: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let known = self.of_hour(now).1.get(&key).copied();
        if let Some(value) = known {
            return Ok(value);
        }
        let value = compute()?;
        self.of_hour(now).1.insert(key, value);
        Ok(value)
    }

    /// Drops all values.
    pub fn clear(&self) {
        self.0.lock().1.clear();
    }

    fn of_hour(&self, now: i64) -> MutexGuard<'_, (i64, HashMap<K, V>)> {
        let hour = now.div_euclid(60 * 60);
        let mut state = self.0.lock();
        if state.0 != hour {
            *state = (hour, HashMap::new());
        }
        state
    }
}

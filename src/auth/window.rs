//! Counting attempts in a window of time, for rate limits.

use std::collections::HashMap;
use std::hash::Hash;

/// A minute in milliseconds.
pub const MINUTE: i64 = 60 * 1000;

/// A limit: at most `attempts` in `window` milliseconds, which begin with the first attempt.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The attempts that are allowed.
    pub attempts: u32,
    /// Length of the window in milliseconds.
    pub window: i64,
}

/// The most keys of one counter.
pub const CAPACITY: usize = 20_000;

/// A window of one key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    since: i64,
    count: u32,
}

impl Window {
    /// Counts one more attempt, and returns the number of them in the window.
    pub fn count(&mut self, rule: Rule, now: i64) -> u32 {
        self.count_many(1, rule, now)
    }

    /// Counts more attempts, and returns the number of all in the window.
    pub fn count_many(&mut self, attempts: u32, rule: Rule, now: i64) -> u32 {
        if self.is_over(rule, now) {
            *self = Self { since: now, count: 0 };
        }
        self.count = self.count.saturating_add(attempts);
        self.count
    }

    /// The attempts in the window.
    pub fn counted(self, rule: Rule, now: i64) -> u32 {
        if self.is_over(rule, now) { 0 } else { self.count }
    }

    /// The attempts of the window, be it over or not.
    pub fn total(self) -> u32 {
        self.count
    }

    /// Milliseconds until the window ends.
    pub fn rest(self, rule: Rule, now: i64) -> i64 {
        (self.since + rule.window - now).max(0)
    }

    /// True if the next attempt starts a new window.
    pub fn is_over(self, rule: Rule, now: i64) -> bool {
        self.count == 0 || now - self.since >= rule.window
    }
}

/// Drops entries until a full map has room, those with the smallest counts first. Filling the map with new keys
/// therefore evicts those keys, and not one with many attempts.
pub fn make_room<K: Eq + Hash, V>(entries: &mut HashMap<K, V>, count: impl Fn(&V) -> u32) {
    let mut smallest = 1;
    while entries.len() >= CAPACITY {
        entries.retain(|_, entry| count(entry) > smallest);
        smallest *= 2;
    }
}

//! The free space of the disk, measured when it matters: each change asks for it, and the answer is a system call.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// A measurement answers for this time, if it found ample space.
const MAX_AGE: Duration = Duration::from_millis(100);

/// Space is ample if this many bytes are left beyond the limit: more than a disk takes within [`MAX_AGE`].
const AMPLE: u64 = 1 << 30;

/// The last measurement.
#[derive(Debug, Default)]
pub(super) struct MeasuredSpace(Mutex<Option<Measurement>>);

#[derive(Clone, Copy, Debug)]
struct Measurement {
    time: Instant,
    /// In bytes.
    free: u64,
}

impl MeasuredSpace {
    /// Returns whether less than `limit` bytes are left; false if that is unknown. `measure` is called unless there was ample
    /// space a moment before `now`.
    pub(super) fn is_below(&self, limit: u64, now: Instant, measure: impl FnOnce() -> Option<u64>) -> bool {
        let last = *self.0.lock();
        let is_ample = |last: Measurement| {
            now.saturating_duration_since(last.time) < MAX_AGE && last.free >= limit.saturating_add(AMPLE)
        };
        if last.is_some_and(is_ample) {
            return false;
        }
        let free = measure();
        let measured = free.map(|free| Measurement { time: now, free });
        *self.0.lock() = measured;
        free.is_some_and(|free| free < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn space_is_measured_each_time_unless_it_was_ample_a_moment_ago() {
        const LIMIT: u64 = 64 << 20;
        let (space, free, count) = (MeasuredSpace::default(), Cell::new(None), Cell::new(0));
        let start = Instant::now();
        let is_below = |limit: u64, after: u64| {
            count.set(0);
            let measure = || {
                count.set(count.get() + 1);
                free.get()
            };
            let is_below = space.is_below(limit, start + Duration::from_millis(after), measure);
            (is_below, count.get() == 1)
        };
        assert_eq!(is_below(LIMIT, 0), (false, true), "unknown");
        assert_eq!(is_below(LIMIT, 1), (false, true), "still unknown");
        free.set(Some(LIMIT + AMPLE - 1));
        assert_eq!(is_below(LIMIT, 2), (false, true));
        free.set(Some(LIMIT + AMPLE));
        assert_eq!(is_below(LIMIT, 3), (false, true), "close to the limit, each request measures");
        free.set(Some(LIMIT - 1));
        assert_eq!(is_below(LIMIT, 102), (false, false), "ample 99 ms ago");
        assert_eq!(is_below(LIMIT + 1, 102), (true, true), "not ample for another limit");
        free.set(Some(u64::MAX));
        assert_eq!(is_below(LIMIT, 103), (false, true), "free again");
        free.set(Some(0));
        assert_eq!(is_below(LIMIT, 203), (true, true), "100 ms later");
        assert_eq!(is_below(u64::MAX, 203), (true, true));
    }
}

//! Counters, gauges and histograms that are cheap to update: atomics, without locks. The server writes them as text in
//! `server/metrics.rs`; nothing here knows names.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Counts one more.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Counts some more.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// The number so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that grows and shrinks.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// Changes the number.
    pub fn add(&self, number: i64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// The number now.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper bounds of the buckets of times, in microseconds.
pub const TIMES: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 10_000_000,
];

/// Upper bounds of the buckets of small numbers.
pub const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256];

/// A distribution of values. Times are in microseconds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One for each bound, and one for larger values.
    buckets: Vec<AtomicU64>,
    sum: AtomicU64,
}

/// The values of a histogram at one moment.
pub struct Distribution {
    /// Upper bounds with the number of values in each bucket; the last has no bound.
    pub buckets: Vec<(Option<u64>, u64)>,
    /// The sum of all values.
    pub sum: u64,
}

impl Distribution {
    /// Number of values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }
}

impl Histogram {
    /// An empty distribution with these bounds, which ascend.
    pub fn new(bounds: &'static [u64]) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::default()).collect();
        Self { bounds, buckets, sum: AtomicU64::default() }
    }

    /// Counts a value.
    pub fn observe(&self, value: u64) {
        let index = self.bounds.partition_point(|bound| *bound < value);
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// Counts a time.
    pub fn observe_time(&self, time: Duration) {
        self.observe(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// The values so far.
    pub fn distribution(&self) -> Distribution {
        let bounds = self.bounds.iter().copied().map(Some).chain([None]);
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        Distribution { buckets: bounds.zip(counts).collect(), sum: self.sum.load(Ordering::Relaxed) }
    }
}

/// Returns the log of some work, for tests.
#[cfg(test)]
pub fn logged(level: tracing::Level, work: impl FnOnce()) -> String {
    use parking_lot::Mutex;
    use std::io::Write;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(text);
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let text = lines.0.lock().clone();
    String::from_utf8(text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_the_bucket_of_the_next_bound() {
        let histogram = Histogram::new(&[10, 20]);
        for value in [0, 10, 11, 20, 21, 1000] {
            histogram.observe(value);
        }
        let found = histogram.distribution();
        assert_eq!(found.buckets, [(Some(10), 2), (Some(20), 2), (None, 2)]);
        assert_eq!((found.sum, found.count()), (1062, 6));
    }

    #[test]
    fn bounds_ascend() {
        assert!(TIMES.is_sorted() && SIZES.is_sorted());
    }
}

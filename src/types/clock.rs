//! The time of day. Everything asks here, so that a test can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The source of the current time.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock for tests, which moves only by [`Clock::advance`]; milliseconds since 1970.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A manual clock at this UNIX time, in seconds.
    pub fn manual(seconds: i64) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(seconds * 1000)))
    }

    /// UNIX time in milliseconds, UTC.
    pub fn milliseconds(&self) -> i64 {
        match self {
            #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
            Self::System => jiff::Timestamp::now().as_millisecond(),
            Self::Manual(milliseconds) => milliseconds.load(Ordering::SeqCst),
        }
    }

    /// UNIX time in seconds, UTC, as on the wire.
    pub fn seconds(&self) -> i64 {
        self.milliseconds().div_euclid(1000)
    }

    /// Moves a manual clock forward. Does nothing to the machine's clock.
    pub fn advance(&self, seconds: i64) {
        if let Self::Manual(milliseconds) = self {
            milliseconds.fetch_add(seconds * 1000, Ordering::SeqCst);
        }
    }
}

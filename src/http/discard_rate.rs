//! The rate at which bytes are read that nothing needs.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const BYTES_PER_SECOND: u64 = 64 << 20;

/// The time that is ahead of the rate at most. A few bodies are read as fast as they arrive.
const AHEAD: Duration = Duration::from_millis(50);

/// The rate at which the rest of refused bodies is read, by all connections together: many large ones would take the processors
/// from other requests.
pub struct DiscardRate(Mutex<Instant>);

impl Default for DiscardRate {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl DiscardRate {
    /// Counts bytes that were read, and waits until more may be.
    pub async fn take(&self, bytes: usize) {
        let ahead = {
            let mut paid = self.0.lock();
            let now = Instant::now();
            let time = Duration::from_nanos(bytes as u64 * 1_000_000_000 / BYTES_PER_SECOND);
            *paid = (*paid).max(now) + time;
            *paid - now
        };
        let wait = ahead.saturating_sub(AHEAD);
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_few_bytes_take_no_time_and_many_that_of_the_rate() {
        let (rate, begun) = (DiscardRate::default(), Instant::now());
        for _ in 0..3 {
            rate.take(1 << 20).await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let many = (0..64).map(async |_| rate.take(5 << 20).await);
        futures_util::future::join_all(many).await;
        // The timer of the runtime counts milliseconds.
        let expected = (Duration::from_secs(5) + Duration::from_secs(3) / 64).saturating_sub(AHEAD);
        assert!(begun.elapsed() >= expected && begun.elapsed() <= expected + Duration::from_millis(2));
    }
}

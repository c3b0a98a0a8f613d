//! Background jobs of the writer, each of which gets a short time at a stretch.
//!
//! A job holds up all other changes, so work that no request waits for is bounded by its time and not by how much it looks
//! at: it asks its [`Budget`] before each step, stops when the budget is spent, and goes on in another job. A step is small
//! whatever the rows contain. What needs a long look at rows is read from a snapshot first.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time of the writer that a background job may use. The step that exceeds it is the last.
const TIME_PER_JOB: Duration = Duration::from_millis(5);

/// The background jobs of a writer: their limit, and their figures.
pub struct BackgroundJobs {
    /// Time for one job, in microseconds.
    limit: AtomicU64,
    is_stopping: AtomicBool,
    figures: Mutex<BTreeMap<&'static str, BackgroundFigures>>,
}

/// Figures of the background jobs of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundFigures {
    /// Jobs that ran.
    pub jobs: u64,
    /// The steps of all of them.
    pub steps: u64,
    /// The most steps of one job.
    pub most_steps: u64,
    /// The longest time of one job.
    pub longest: Duration,
}

/// The time that one background job has left. Its figures are recorded when it is dropped.
pub struct Budget {
    name: &'static str,
    jobs: Arc<BackgroundJobs>,
    started: Instant,
    limit: Duration,
    steps: u64,
}

impl Default for BackgroundJobs {
    fn default() -> Self {
        let limit = AtomicU64::new(TIME_PER_JOB.as_micros() as u64);
        Self { limit, is_stopping: AtomicBool::new(false), figures: Mutex::default() }
    }
}

impl BackgroundJobs {
    /// Starts the time of a job. `name` names its kind in the figures.
    pub fn budget(self: &Arc<Self>, name: &'static str) -> Budget {
        let limit = Duration::from_micros(self.limit.load(Ordering::Relaxed));
        Budget { name, jobs: Arc::clone(self), started: Instant::now(), limit, steps: 0 }
    }

    /// Sets the time for one job. Without any, each job takes one step: so tests see that all work is divided.
    pub fn set_limit(&self, limit: Duration) {
        self.limit.store(u64::try_from(limit.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Ends work in steps between two jobs: the server stops. The rest is due at the next start. Follow-up jobs still run.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// True if work in steps ends: see [`stop`](Self::stop).
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Returns the figures of each kind of job that ran.
    pub fn figures(&self) -> BTreeMap<&'static str, BackgroundFigures> {
        self.figures.lock().clone()
    }
}

impl Budget {
    /// Returns whether there is time for another step, and counts it. There always is for the first.
    pub fn next_step(&mut self) -> bool {
        if self.is_spent() {
            return false;
        }
        self.steps += 1;
        true
    }

    /// True if the job has taken a step and has no time for another one.
    fn is_spent(&self) -> bool {
        self.steps > 0 && self.started.elapsed() >= self.limit
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        let longest = self.started.elapsed();
        let mut figures = self.jobs.figures.lock();
        let figures = figures.entry(self.name).or_default();
        figures.jobs += 1;
        figures.steps += self.steps;
        figures.most_steps = figures.most_steps.max(self.steps);
        figures.longest = figures.longest.max(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spent_budget_has_one_step() {
        let jobs = Arc::new(BackgroundJobs::default());
        jobs.set_limit(Duration::ZERO);
        for _ in 0..3 {
            let mut budget = jobs.budget("sweep");
            assert!(!budget.is_spent(), "it has not begun");
            assert!(budget.next_step());
            assert!(budget.is_spent() && !budget.next_step());
        }
        jobs.set_limit(Duration::MAX);
        let mut budget = jobs.budget("sweep");
        assert!((0..100).all(|_| budget.next_step()));
        drop(budget);
        let figures = jobs.figures()["sweep"];
        assert_eq!((figures.jobs, figures.steps, figures.most_steps), (4, 103, 100));
    }
}

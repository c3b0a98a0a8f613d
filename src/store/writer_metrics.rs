//! Figures of the writer.

use crate::metrics::{Count, Gauge, Histogram, SIZES, TIMES};

/// Figures of the writer.
pub struct WriterMetrics {
    /// Jobs that wait.
    pub queued: Gauge,
    /// Jobs that ran.
    pub jobs: Count,
    /// Groups that were committed.
    pub commits: Count,
    /// Groups that could not be committed.
    pub failed_commits: Count,
    /// Times of the commit itself: writing and synchronizing the write-ahead log.
    pub commit_time: Histogram,
    /// Times of groups: their jobs and the commit.
    pub group_time: Histogram,
    /// Numbers of jobs that share a commit.
    pub jobs_per_commit: Histogram,
}

impl Default for WriterMetrics {
    fn default() -> Self {
        Self {
            queued: Gauge::default(),
            jobs: Count::default(),
            commits: Count::default(),
            failed_commits: Count::default(),
            commit_time: Histogram::new(TIMES),
            group_time: Histogram::new(TIMES),
            jobs_per_commit: Histogram::new(SIZES),
        }
    }
}

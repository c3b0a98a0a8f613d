//! Destination of the outboxes of jobs.

use super::WriterCaches;
use super::tx::OutboxItem;
use rusqlite::Connection;

/// Writes the outboxes of jobs, and publishes them after the commit. All methods run on the writer's thread. For each
/// group of jobs, [`append`](Self::append) is called for every successful job with an outbox, then
/// [`before_commit`](Self::before_commit) once, then either [`committed`](Self::committed) and
/// [`answered`](Self::answered) or [`rolled_back`](Self::rolled_back).
pub trait CommitSink: Send + 'static {
    /// Writes a job's outbox inside the job's savepoint. An error loses the whole group.
    fn append(
        &mut self,
        connection: &Connection,
        caches: &mut WriterCaches,
        outbox: Vec<OutboxItem>,
    ) -> rusqlite::Result<()>;

    /// Writes further rows of the group's transaction. An error rolls the group back.
    fn before_commit(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// Publishes the group, which is on the disk. Called before any job is answered: a client that has its answer finds
    /// the events in every queue.
    fn committed(&mut self);

    /// Wakes the readers of what was published. Called after all jobs are answered: woken first, a thousand readers would
    /// be served before the one sender.
    fn answered(&mut self);

    /// Drops the outboxes appended since the last commit.
    fn rolled_back(&mut self);

    /// Saves the sink's own state: the writer stops.
    fn stopped(&mut self, connection: &Connection) -> rusqlite::Result<()>;
}

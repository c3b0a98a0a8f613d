//! Where the outboxes of jobs go.

use super::WriterCaches;
use super::tx::OutboxItem;
use rusqlite::Connection;

/// Writes what jobs leave in their outboxes and publishes it once it is committed. All methods run on the writer's
/// thread. Of each group of jobs, [`append`](Self::append) is called for every job that succeeded and left something, then
/// [`before_commit`](Self::before_commit) once, then either [`committed`](Self::committed) or
/// [`rolled_back`](Self::rolled_back).
pub trait CommitSink: Send + 'static {
    /// Writes a job's outbox inside the job's savepoint. An error loses the whole group.
    fn append(
        &mut self,
        connection: &Connection,
        caches: &mut WriterCaches,
        outbox: Vec<OutboxItem>,
    ) -> rusqlite::Result<()>;

    /// Writes what else belongs into the group's transaction. An error loses the group.
    fn before_commit(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// Publishes the group, which is on the disk. Called before any job is answered.
    fn committed(&mut self);

    /// Drops what was appended since the last commit.
    fn rolled_back(&mut self);

    /// Saves the sink's own state: the writer stops.
    fn stopped(&mut self, connection: &Connection) -> rusqlite::Result<()>;
}

//! A job, and what it works with: the connection, caches, and an outbox that is committed or dropped with its rows.

use super::StoreError;
use super::writer_cache::WriterCaches;
use crate::error::ApiError;
use rusqlite::Connection;
use std::any::Any;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a job hands to the [`CommitSink`](super::CommitSink), which knows its type.
pub type OutboxItem = Box<dyn Any + Send>;

/// Work that is deferred to the end of the group.
pub(super) type BeforeCommit = Box<dyn FnOnce(&Connection, &mut WriterCaches) -> rusqlite::Result<()> + Send>;

/// Runs in a savepoint, or fails with the reason why there is none. Its caller is answered once the outcome of the group
/// is known.
pub(super) type Job = Box<dyn FnOnce(Result<&mut Tx<'_>, StoreError>) -> JobOutcome + Send>;

/// Reports the outcome of the group to a job's caller.
pub(super) type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct JobOutcome {
    pub(super) succeeded: bool,
    pub(super) answer: Answer,
}

/// One job's transaction. Dereferences to the connection. The writer gives each job a savepoint: if the job returns an
/// error, its rows and its outbox are dropped together.
pub struct Tx<'c> {
    connection: &'c Connection,
    caches: &'c mut WriterCaches,
    now: i64,
    pub(super) left: Leftovers,
    is_muted: bool,
    failure: Option<StoreError>,
}

/// What a job leaves for the writer to do, if it succeeds.
#[derive(Default)]
pub(super) struct Leftovers {
    pub(super) outbox: Vec<OutboxItem>,
    pub(super) before_commit: Vec<BeforeCommit>,
    /// Jobs of their own that come after this one's group.
    pub(super) next: Vec<Job>,
    /// Whether background tasks have something new to do.
    pub(super) wakes_tasks: bool,
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl<'c> Tx<'c> {
    pub(super) fn new(connection: &'c Connection, caches: &'c mut WriterCaches, now: i64) -> Self {
        Self { connection, caches, now, left: Leftovers::default(), is_muted: false, failure: None }
    }

    /// Returns the time in UNIX seconds, the same for the whole job.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Sets the time for the rest of the job, in UNIX seconds: rows are written that belong to the past.
    pub fn set_now(&mut self, now: i64) {
        self.now = now;
    }

    /// Keeps the outbox empty: the rows are the first of a new database, and nobody was told of anything before.
    pub fn mute(&mut self) {
        self.is_muted = true;
    }

    /// Returns whether nothing that is added to the outbox stays there.
    pub fn is_muted(&self) -> bool {
        self.is_muted
    }

    /// Adds an item to the outbox: the sink writes it with the job's rows and publishes it after the commit.
    pub fn push_outbox(&mut self, item: OutboxItem) {
        if !self.is_muted {
            self.left.outbox.push(item);
        }
    }

    /// Makes the job fail with this error even if it returns a success. For steps that are too common to return a
    /// `Result`; the first failure counts.
    pub fn fail(&mut self, error: StoreError) {
        self.failure.get_or_insert(error);
    }

    pub(super) fn take_failure(&mut self) -> Option<StoreError> {
        self.failure.take()
    }

    /// Defers work to the end of the group, just before the commit: it is part of the transaction, but of no job's
    /// savepoint. For indexes that write out all they have at each savepoint, as full-text search does. The group's jobs
    /// do not see its rows. It is dropped if the job fails, and if it fails itself, the group does.
    pub fn before_commit(
        &mut self,
        work: impl FnOnce(&Connection, &mut WriterCaches) -> rusqlite::Result<()> + Send + 'static,
    ) {
        self.left.before_commit.push(Box::new(work));
    }

    /// Runs a job of its own after the group of this one is committed, whether or not its caller is still there: the rest of
    /// what would be too long for one. It is dropped with this job, and a failure is logged.
    pub fn then(&mut self, work: impl FnOnce(&mut Tx<'_>) -> Result<(), ApiError> + Send + 'static) {
        let done = |result| {
            if let Err::<(), ApiError>(error) = result {
                tracing::error!(%error, "the rest of a job was not done");
            }
        };
        self.left.next.push(job(work, done));
    }

    /// Wakes the tasks that wait on [`Writer::task_wakeup`](super::Writer::task_wakeup), after the commit: this job wrote
    /// rows that one of them works through.
    pub fn wake_tasks_after_commit(&mut self) {
        self.left.wakes_tasks = true;
    }

    /// Returns the connection and the writer's cache of a type, for reading and writing.
    pub fn cache_mut<T: Default + Send + 'static>(&mut self) -> (&Connection, &mut T) {
        (self.connection, self.caches.cache_mut())
    }

    /// Returns the writer's cache of a type for reading, if it was ever used.
    pub fn cache<T: 'static>(&self) -> Option<&T> {
        self.caches.cache()
    }
}

/// A job that does some work, and then tells what became of it.
pub(super) fn job<T, E>(
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    done: impl FnOnce(Result<T, E>) + Send + 'static,
) -> Job
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    Box::new(move |tx| {
        let result = match tx {
            Ok(tx) => catch_unwind(AssertUnwindSafe(|| work(tx)))
                .unwrap_or_else(|panic| Err(StoreError::panicked(panic.as_ref()).into()))
                .and_then(|value| tx.take_failure().map_or(Ok(value), |failure| Err(failure.into()))),
            Err(refusal) => Err(refusal.into()),
        };
        JobOutcome {
            succeeded: result.is_ok(),
            answer: Box::new(move |committed| done(committed.map_err(E::from).and(result))),
        }
    })
}

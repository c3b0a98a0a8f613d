//! A job and its transaction: the connection, caches, and an outbox that is committed or dropped with its rows.

use super::StoreError;
use super::background::{BackgroundJobs, Budget};
use super::table_version::UpdateHook;
use super::writer_cache::WriterCaches;
use crate::error::ApiError;
use crate::types::Origin;
use rusqlite::Connection;
use std::any::Any;
use std::cell::Cell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An item for the [`CommitSink`](super::CommitSink), which knows its type.
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
    background: &'c Arc<BackgroundJobs>,
    update_hook: &'c UpdateHook,
    now: i64,
    origin: Origin,
    pub(super) left: JobOutput,
    is_muted: bool,
    failure: Option<StoreError>,
}

/// Work that a successful job leaves for the writer.
#[derive(Default)]
pub(super) struct JobOutput {
    pub(super) outbox: Vec<OutboxItem>,
    pub(super) before_commit: Vec<BeforeCommit>,
    /// Jobs of their own that come after this one's group.
    pub(super) next: Vec<Job>,
    /// True if background tasks have new work.
    pub(super) wakes_tasks: Cell<bool>,
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl<'c> Tx<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        caches: &'c mut WriterCaches,
        background: &'c Arc<BackgroundJobs>,
        update_hook: &'c UpdateHook,
        now: i64,
    ) -> Self {
        let (origin, left) = (Origin::default(), JobOutput::default());
        Self {
            connection,
            caches,
            background,
            update_hook,
            now,
            origin,
            left,
            is_muted: false,
            failure: None,
        }
    }

    /// Starts the time of a part of some long work, of which the rest comes in further jobs ([`Self::then`]).
    pub fn budget(&self, name: &'static str) -> Budget {
        self.background.budget(name)
    }

    /// Returns the background jobs, for work at the end of the group ([`Self::before_commit`]).
    pub fn background(&self) -> Arc<BackgroundJobs> {
        Arc::clone(self.background)
    }

    /// Returns the version of the counted tables ([`WatchedTables::counted`](super::WatchedTables::counted)). What was read
    /// from them at this version, and not before, is as the job sees it. `None` if a job of the group has changed one of them.
    pub fn table_version(&self) -> Option<u64> {
        self.update_hook.current_version()
    }

    /// Returns the time in UNIX seconds, the same for the whole job.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Sets the time for the rest of the job, in UNIX seconds: rows are written that belong to the past.
    pub fn set_now(&mut self, now: i64) {
        self.now = now;
    }

    /// The author of the job's changes: the server, unless [`Self::set_origin`] was called.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Sets the author of the job's changes.
    pub fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// Keeps the outbox empty: the rows are the first of a new database, for which there are no events.
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

    /// The items of a type that the job has added to the outbox.
    pub fn outbox_items<T: 'static>(&self) -> impl Iterator<Item = &T> {
        self.left.outbox.iter().filter_map(|item| item.downcast_ref::<T>())
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

    /// Runs a follow-up job as [`Self::then`], for a request that waits for it: a crash loses it with the request. `done` gets the
    /// outcome, after the commit if it is a success.
    pub fn then_report<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, ApiError> + Send + 'static,
        done: impl FnOnce(Result<T, ApiError>) + Send + 'static,
    ) {
        let origin = self.origin;
        let work = move |tx: &mut Tx<'_>| {
            tx.set_origin(origin);
            work(tx)
        };
        self.left.next.push(job(work, done));
    }

    /// Wakes the tasks that wait on [`Writer::task_wakeup`](super::Writer::task_wakeup), after the commit: this job wrote
    /// rows that one of them works through.
    pub fn wake_tasks_after_commit(&self) {
        self.left.wakes_tasks.set(true);
    }

    /// Returns a value that is made of rows of the counted tables and of nothing else: what `load` returned before, as long as
    /// none of these rows changed. One value of each type is kept.
    pub fn kept<T: Clone + Send + 'static, E>(
        &self,
        load: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(version) = self.table_version() else { return load(self.connection) };
        let tables = &self.update_hook.version;
        if let Some(value) = tables.value(version) {
            return Ok(value);
        }
        let value = load(self.connection)?;
        tables.keep(version, value.clone());
        Ok(value)
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

/// A job that runs `work` and sends its result.
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

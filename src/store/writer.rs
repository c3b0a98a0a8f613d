//! The one way to change the file: a thread that runs jobs in groups and commits each group once.

use super::background::BackgroundJobs;
use super::copies::{self, DatabaseCopy};
use super::file::{FileIdentity, beside, disk_usage, free_space};
use super::measured_space::MeasuredSpace;
use super::sink::CommitSink;
use super::table_version::{TableVersion, UpdateHook, WatchedTables};
use super::tx::{Answer, BeforeCommit, Job, JobOutcome, JobOutput, Tx, job};
use super::writer_cache::{Rollback, WriterCaches};
use super::writer_metrics::WriterMetrics;
use super::{Cause, Database, ExecuteCached, StoreError};
use crate::types::Clock;
use rusqlite::Connection;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot, watch};

/// Jobs that may share a commit. With more, the first would wait too long for the last.
const MAX_JOBS_PER_COMMIT: usize = 256;

/// The handle to the writer's thread. The thread ends when the last handle is dropped.
#[derive(Clone)]
pub struct Writer {
    tasks: mpsc::UnboundedSender<Task>,
    table_version: TableVersion,
    task_wakeup: watch::Sender<()>,
    failure: watch::Receiver<bool>,
    identity: FileIdentity,
    measured_space: Arc<MeasuredSpace>,
    metrics: Arc<WriterMetrics>,
    /// Number of failed commits at the last check that succeeded.
    checked_failures: Arc<AtomicU64>,
    background: Arc<BackgroundJobs>,
}

/// Work of the thread: jobs in groups, and operations on the whole file on their own.
enum Task {
    Job(Job),
    Exclusive(Exclusive),
}

/// Runs between two groups, outside of any transaction, and returns whether it replaced the rows.
type Exclusive = Box<dyn FnOnce(&mut Connection) -> AfterReplacement + Send>;

/// Runs after the rows were replaced and the caches are dropped, before the caller is answered.
type AfterReplacement = Option<Box<dyn FnOnce() + Send>>;

/// A job that ran. `left` is `None` if it failed and was rolled back, and an error if its group is lost.
struct JobResult {
    succeeded: bool,
    left: Result<Option<JobOutput>, StoreError>,
    answer: Answer,
}

/// Jobs that share a transaction, as far as they ran.
#[derive(Default)]
struct Group {
    succeeded: Vec<Answer>,
    /// Failed without having seen rows of another job: their refusals hold whatever becomes of the group.
    refused: Vec<Answer>,
    /// Failed after others had succeeded: their refusals may rest on rows of the group.
    failed: Vec<Answer>,
    before_commit: Vec<BeforeCommit>,
    /// To come after the group.
    next: Vec<Job>,
    wakes_tasks: bool,
    /// Why the group cannot be committed.
    lost: Option<StoreError>,
}

impl Task {
    /// Counts a job that waits no longer.
    fn taken(self, metrics: &WriterMetrics) -> Self {
        if let Self::Job(_) = self {
            metrics.queued.add(-1);
        }
        self
    }
}

impl Writer {
    /// Starts the thread, with the connection for writing. Outboxes go to the `sink`. Commits that change `watched` tables
    /// are counted ([`Writer::table_version`]), or drop cached values ([`Snapshot::cached`](super::Snapshot::cached)).
    pub fn start(
        database: &Database,
        connection: Connection,
        clock: Clock,
        watched: WatchedTables,
        sink: impl CommitSink,
    ) -> Result<(Self, std::thread::JoinHandle<()>), StoreError> {
        let (tasks, queue) = mpsc::unbounded_channel();
        let table_version = TableVersion::default();
        let update_hook =
            UpdateHook::install(&connection, watched, table_version.clone(), Arc::clone(database.rows()))?;
        let task_wakeup = watch::Sender::new(());
        let (failed, failure) = watch::channel(false);
        let metrics = Arc::new(WriterMetrics::default());
        let background = Arc::new(BackgroundJobs::default());
        let writer = WriterThread {
            connection,
            metrics: Arc::clone(&metrics),
            background: Arc::clone(&background),
            identity: database.identity().clone(),
            caches: WriterCaches::default(),
            sink,
            clock,
            update_hook,
            task_wakeup: task_wakeup.clone(),
            next_jobs: VecDeque::new(),
            last_group: 0,
        };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || {
                if let Err(error) = guard(|| writer.run(queue)).flatten() {
                    tracing::error!(%error, "the writer has failed; restart the server");
                    failed.send_replace(true);
                }
            })
            .map_err(|error| StoreError::Panicked(error.to_string()))?;
        let identity = database.identity().clone();
        let writer = Self {
            tasks,
            table_version,
            task_wakeup,
            failure,
            identity,
            measured_space: Arc::default(),
            metrics,
            checked_failures: Arc::default(),
            background,
        };
        Ok((writer, thread))
    }

    /// Checks that the path of the database still leads to the open file. The writer checks it before each commit.
    pub fn check_file(&self) -> Result<(), StoreError> {
        self.identity.check()
    }

    /// Checks that changes can be committed. A commit without changes does not use the disk, so after one that failed, this
    /// writes a page that stays the same.
    pub async fn check_commit(&self) -> Result<(), StoreError> {
        let failures = self.metrics.failed_commits.get();
        let writes = failures != self.checked_failures.load(Ordering::Relaxed);
        let check = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
            if writes {
                let version: i64 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
                tx.pragma_update(None, "user_version", version)?;
            }
            Ok(())
        };
        self.run(check).await?;
        self.checked_failures.store(failures, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the number of bytes that the disk has left for the file; `None` if it is unknown.
    pub fn free_space(&self) -> Option<u64> {
        free_space(self.identity.path())
    }

    /// Returns whether the disk has less than this number of bytes left for the file; false if that is unknown. As long as
    /// there is ample space, the answer may be a tenth of a second old.
    pub fn has_less_space_than(&self, limit: u64) -> bool {
        self.measured_space.is_below(limit, Instant::now(), || self.free_space())
    }

    /// Returns the size of the log, in bytes.
    pub fn log_size(&self) -> u64 {
        std::fs::metadata(beside(self.path(), "-wal")).map_or(0, |metadata| metadata.len())
    }

    /// Copies the log to the file, as far as no reader needs it, so that it starts from the beginning.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        let checkpoint = |connection: &mut Connection| {
            let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            (done.map_err(StoreError::from), false)
        };
        self.run_exclusive(checkpoint, || {}).await
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        self.identity.path()
    }

    /// Returns the bytes that are left of the disk, and its size; `None` if they are unknown.
    pub fn disk_usage(&self) -> Option<(u64, u64)> {
        disk_usage(self.identity.path())
    }

    /// Counters and histograms of the writer.
    pub fn metrics(&self) -> &WriterMetrics {
        &self.metrics
    }

    pub fn background(&self) -> &Arc<BackgroundJobs> {
        &self.background
    }

    /// Returns the sizes of the file and of its log, in bytes.
    pub fn file_sizes(&self) -> (u64, u64) {
        (std::fs::metadata(self.path()).map_or(0, |metadata| metadata.len()), self.log_size())
    }

    /// Waits until the writer fails permanently: it panicked where its state cannot be repaired. All later jobs are
    /// refused, so the process should end. Never returns otherwise.
    pub async fn failed(&self) {
        let mut failure = self.failure.clone();
        if failure.wait_for(|failed| *failed).await.is_err() {
            // The thread ended as it should.
            std::future::pending::<()>().await;
        }
    }

    /// Returns the version counter of the watched tables.
    pub fn table_version(&self) -> &TableVersion {
        &self.table_version
    }

    /// Returns the channel on which background tasks wait for new work in the file. Jobs signal it with
    /// [`Tx::wake_tasks_after_commit`].
    pub fn task_wakeup(&self) -> &watch::Sender<()> {
        &self.task_wakeup
    }

    /// Runs a job and returns its result when the changes are on the disk. The job is completed even if the caller goes
    /// away.
    pub async fn run<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.submit(work).await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    fn submit<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, E>>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.send(job(work, |result| {
            // The caller may be gone; committed changes stay.
            let _gone = sender.send(result);
        }));
        receiver
    }

    /// Like [`run`](Self::run), but returns when the job has run, before its changes are on the disk. A crash may lose them,
    /// but with them those of all later jobs: once one of these is acknowledged, they are on the disk. `lost` runs if they
    /// are not committed.
    pub async fn run_ahead<E: From<StoreError> + Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<(), E> + Send + 'static,
        lost: impl FnOnce() + Send + 'static,
    ) -> Result<(), E> {
        let (sender, mut results) = mpsc::unbounded_channel();
        let at_end = sender.clone();
        let ahead = move |tx: &mut Tx<'_>| {
            work(tx)?;
            // The caller may be gone.
            let _gone = sender.send(Ok(()));
            Ok(())
        };
        self.send(job(ahead, move |result| {
            if let Err(error) = result {
                lost();
                let _gone = at_end.send(Err(error));
            }
        }));
        results.recv().await.unwrap_or_else(|| Err(StoreError::Stopped.into()))
    }

    fn send(&self, job: Job) {
        // A closed channel drops the job and with it the sender, which the receiver reports as stopped.
        self.metrics.queued.add(1);
        let _stopped = self.tasks.send(Task::Job(job));
    }

    /// Copies the database into memory, after the jobs before this and before those after it.
    pub fn copy(&self) -> Arc<DatabaseCopy> {
        let copy = Arc::new(DatabaseCopy::default());
        let filled = Arc::clone(&copy);
        let exclusive: Exclusive = Box::new(move |connection| {
            if let Err(error) = filled.fill(connection) {
                tracing::error!(%error, "the database was not copied");
            }
            None
        });
        let _stopped = self.tasks.send(Task::Exclusive(exclusive));
        copy
    }

    /// Writes a copy of the database to a new file.
    pub async fn copy_to(&self, path: PathBuf) -> Result<(), StoreError> {
        self.run_exclusive(move |connection| (copies::write_to(connection, &path), false), || {}).await
    }

    /// Replaces the database with a copy, drops all caches, and runs `replaced` before the next job.
    pub async fn restore(
        &self,
        copy: Arc<DatabaseCopy>,
        replaced: impl FnOnce() + Send + 'static,
    ) -> Result<(), StoreError> {
        self.run_exclusive(move |connection| (copy.restore_to(connection), true), replaced).await
    }

    async fn run_exclusive<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> (Result<T, StoreError>, bool) + Send + 'static,
        replaced: impl FnOnce() + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let exclusive: Exclusive = Box::new(move |connection| {
            let (result, has_replaced) = work(connection);
            let answer = move || {
                // The caller may be gone.
                let _gone = sender.send(result);
            };
            if has_replaced {
                return Some(Box::new(move || {
                    replaced();
                    answer();
                }));
            }
            answer();
            None
        });
        let _stopped = self.tasks.send(Task::Exclusive(exclusive));
        receiver.await.unwrap_or(Err(StoreError::Stopped))
    }
}

/// Runs a closure and turns a panic into an error. Its changes must then be dropped or rolled back.
fn guard<T>(work: impl FnOnce() -> T) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| StoreError::panicked(panic.as_ref()))
}

struct WriterThread<S> {
    metrics: Arc<WriterMetrics>,
    background: Arc<BackgroundJobs>,
    identity: FileIdentity,
    caches: WriterCaches,
    sink: S,
    clock: Clock,
    update_hook: UpdateHook,
    task_wakeup: watch::Sender<()>,
    /// Follow-up jobs of committed jobs ([`Tx::then`]).
    next_jobs: VecDeque<Job>,
    /// The number of jobs of the last group.
    last_group: u64,
    /// Dropped last, after the readers that the sink may hold: the last connection to close removes the files beside the
    /// database, and readers cannot.
    connection: Connection,
}

impl<S: CommitSink> WriterThread<S> {
    fn run(mut self, mut queue: mpsc::UnboundedReceiver<Task>) -> Result<(), StoreError> {
        let mut exclusive = None;
        while let Some(task) = exclusive
            .take()
            .or_else(|| self.next_jobs.pop_front().map(Task::Job))
            .or_else(|| Some(queue.blocking_recv()?.taken(&self.metrics)))
        {
            match task {
                Task::Job(first) => {
                    let metrics = Arc::clone(&self.metrics);
                    // If jobs come in groups, more are on their way: those who were answered ask again. Without waiting for
                    // them, the first of them would have a commit of its own each time.
                    let expects_more = self.last_group > 1;
                    let mut next = || {
                        queue.try_recv().ok().or_else(|| {
                            expects_more.then(std::thread::yield_now)?;
                            queue.try_recv().ok()
                        })
                    };
                    let waiting = std::iter::from_fn(|| match next()?.taken(&metrics) {
                        Task::Job(job) => Some(job),
                        task @ Task::Exclusive(_) => {
                            exclusive = Some(task);
                            None
                        }
                    });
                    self.commit(std::iter::once(first).chain(waiting.take(MAX_JOBS_PER_COMMIT - 1)))?;
                }
                Task::Exclusive(work) => self.run_exclusive(work),
            }
        }
        self.stop();
        Ok(())
    }

    fn run_exclusive(&mut self, work: Exclusive) {
        if let Some(replaced) = self.update_hook.around_replacement(|| work(&mut self.connection)) {
            self.caches.rollback(Rollback::Group);
            self.next_jobs.clear();
            replaced();
            self.task_wakeup.send_replace(());
        }
    }

    /// Runs jobs in one transaction, commits it, publishes the outboxes, answers the callers, and wakes the readers of the
    /// outboxes, in this order. Fails if publishing does: the rows are on the disk, and the queues lack their events until
    /// the next start.
    fn commit(&mut self, jobs: impl Iterator<Item = Job>) -> Result<(), StoreError> {
        let started = Instant::now();
        let mut count = 0;
        let begun = self.connection.execute_cached("BEGIN IMMEDIATE", []);
        let mut group = Group { lost: begun.err().map(StoreError::from), ..Group::default() };
        for job in jobs {
            count += 1;
            if let Some(error) = &group.lost {
                group.refused.push(job(Err(error.of_group())).answer);
                continue;
            }
            let JobResult { succeeded, left, answer } = self.run_job(job);
            match left {
                Ok(Some(mut left)) => {
                    group.succeeded.push(answer);
                    group.before_commit.append(&mut left.before_commit);
                    group.next.append(&mut left.next);
                    group.wakes_tasks |= left.wakes_tasks.get();
                }
                Ok(None) if group.succeeded.is_empty() => group.refused.push(answer),
                Ok(None) => group.failed.push(answer),
                Err(error) => {
                    let answers = if succeeded { &mut group.succeeded } else { &mut group.refused };
                    answers.push(answer);
                    group.lost = Some(error);
                }
            }
        }
        if group.lost.is_none() {
            let before_commit = std::mem::take(&mut group.before_commit);
            group.lost = guard(|| self.finish(before_commit)).flatten().err();
        }
        self.last_group = count;
        self.metrics.jobs.add(count);
        self.metrics.jobs_per_commit.observe(count);
        self.metrics.group_time.observe_time(started.elapsed());
        if let Some(error) = group.lost {
            self.metrics.failed_commits.increment();
            self.rollback_group(&error);
            for answer in group.succeeded.into_iter().chain(group.failed) {
                answer(Err(error.of_group()));
            }
            for answer in group.refused {
                answer(Ok(()));
            }
            return Ok(());
        }
        self.metrics.commits.increment();
        let published = guard(|| {
            self.caches.commit();
            self.update_hook.committed();
            self.sink.committed();
        });
        self.next_jobs.extend(group.next);
        if group.wakes_tasks {
            self.task_wakeup.send_replace(());
        }
        for answer in group.succeeded.into_iter().chain(group.failed).chain(group.refused) {
            answer(Ok(()));
        }
        published.and_then(|()| guard(|| self.sink.answered()))
    }

    /// Runs one job in its savepoint and has the sink write its outbox. The group is lost when the savepoint itself
    /// fails: a full disk makes SQLite roll back the whole transaction.
    fn run_job(&mut self, job: Job) -> JobResult {
        let started = self.connection.execute_cached("SAVEPOINT job", []);
        let now = self.clock.seconds();
        let mut tx = Tx::new(&self.connection, &mut self.caches, &self.background, &self.update_hook, now);
        let outcome = match started {
            Ok(()) => job(Ok(&mut tx)),
            Err(error) => {
                let error = StoreError::from(error);
                let JobOutcome { answer, .. } = job(Err(error.of_group()));
                return JobResult { succeeded: false, left: Err(error), answer };
            }
        };
        let left = std::mem::take(&mut tx.left);
        let left = guard(|| {
            if outcome.succeeded { Ok(Some(self.keep_job(left)?)) } else { self.undo_job().map(|()| None) }
        });
        let left = left.flatten();
        JobResult { succeeded: outcome.succeeded, left, answer: outcome.answer }
    }

    /// Writes the outbox, and returns the work for the end of the group.
    fn keep_job(&mut self, mut left: JobOutput) -> rusqlite::Result<JobOutput> {
        let outbox = std::mem::take(&mut left.outbox);
        if !outbox.is_empty() {
            self.sink.append(&self.connection, &mut self.caches, outbox)?;
        }
        self.connection.execute_cached("RELEASE job", [])?;
        self.caches.commit();
        Ok(left)
    }

    fn undo_job(&mut self) -> Result<(), StoreError> {
        self.caches.rollback(Rollback::Job);
        if self.connection.is_autocommit() {
            // Errors known to the job take precedence.
            let why = "an error of the disk or of memory has ended the transaction";
            return Err(StoreError::NotCommitted(Cause::BadDisk, why.to_owned()));
        }
        self.connection.execute_cached("ROLLBACK TO job", [])?;
        Ok(self.connection.execute_cached("RELEASE job", [])?)
    }

    fn finish(&mut self, before_commit: Vec<BeforeCommit>) -> Result<(), StoreError> {
        before_commit.into_iter().try_for_each(|work| work(&self.connection, &mut self.caches))?;
        self.sink.before_commit(&self.connection)?;
        self.identity.check()?;
        self.update_hook.before_commit();
        let started = Instant::now();
        self.connection.execute_cached("COMMIT", [])?;
        self.metrics.commit_time.observe_time(started.elapsed());
        Ok(())
    }

    /// Rolls back a group that could not be committed.
    fn rollback_group(&mut self, error: &StoreError) {
        tracing::error!(%error, "a group of changes was not committed");
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_cached("ROLLBACK", [])
        {
            tracing::error!(%error, "rolling back failed");
        }
        self.caches.rollback(Rollback::Group);
        self.update_hook.rolled_back();
        self.sink.rolled_back();
    }

    fn stop(&mut self) {
        if let Err(error) = self.sink.stopped(&self.connection) {
            tracing::warn!(%error, "the state of the commit sink was not saved");
        }
        let pages =
            self.connection.pragma_query_value(None, "wal_autocheckpoint", |row| row.get::<_, i64>(0));
        if pages.is_ok_and(|pages| pages == 0) {
            // See `leave_log_to_replicator`.
            return;
        }
        let checkpoint = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = checkpoint {
            tracing::warn!(%error, "the file was not checkpointed");
        }
    }
}

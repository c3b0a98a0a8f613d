//! The one way to change the file: a thread that runs jobs in groups and commits each group once.

use super::sink::CommitSink;
use super::table_version::{TableVersion, UpdateHook};
use super::tx::{BeforeCommit, Leftovers, Tx};
use super::writer_cache::{Rollback, WriterCaches};
use super::{Database, StoreError};
use crate::types::Clock;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::{mpsc, oneshot, watch};

/// Jobs that may share a commit. With more, the first would wait too long for the last.
const MAX_JOBS_PER_COMMIT: usize = 256;

/// The handle to the writer's thread. The thread ends when the last handle is dropped.
#[derive(Clone)]
pub struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
    table_version: TableVersion,
    task_wakeup: watch::Sender<()>,
}

/// Runs in a savepoint, or fails with the reason why there is none. Its caller is answered once the outcome of the group
/// is known.
type Job = Box<dyn FnOnce(Result<&mut Tx<'_>, StoreError>) -> JobOutcome + Send>;

/// Reports the outcome of the group to a job's caller.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

struct JobOutcome {
    succeeded: bool,
    answer: Answer,
}

/// A job that ran. The first value is `None` if it failed and was rolled back, and an error if its group is lost.
struct JobResult {
    left: rusqlite::Result<Option<JobOutput>>,
    answer: Answer,
}

/// What a successful job leaves for the end of its group. Its outbox is written already.
struct JobOutput {
    before_commit: Vec<BeforeCommit>,
    wakes_tasks: bool,
}

impl Writer {
    /// Starts the thread. Outboxes go to the `sink`. Commits that change the `watched` tables are counted
    /// ([`Writer::table_version`]).
    pub fn start(
        database: &Database,
        clock: Clock,
        watched: &'static [&'static str],
        sink: impl CommitSink,
    ) -> Result<(Self, std::thread::JoinHandle<()>), StoreError> {
        let connection = database.connect_writer()?;
        let (jobs, queue) = mpsc::unbounded_channel();
        let table_version = TableVersion::default();
        let update_hook = UpdateHook::install(&connection, watched, table_version.clone())?;
        let task_wakeup = watch::Sender::new(());
        let writer = WriterThread {
            connection,
            caches: WriterCaches::default(),
            sink,
            clock,
            update_hook,
            task_wakeup: task_wakeup.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || writer.run(queue))
            .map_err(|error| StoreError::Panicked(error.to_string()))?;
        Ok((Self { jobs, table_version, task_wakeup }, thread))
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
        let job: Job = Box::new(move |tx| {
            let result = match tx {
                Ok(tx) => catch_unwind(AssertUnwindSafe(|| work(tx)))
                    .unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(panic.as_ref())).into()))
                    .and_then(|value| tx.take_failure().map_or(Ok(value), |failure| Err(failure.into()))),
                Err(refusal) => Err(refusal.into()),
            };
            JobOutcome {
                succeeded: result.is_ok(),
                answer: Box::new(move |committed| {
                    let result = result.and_then(|value| committed.map(|()| value).map_err(E::from));
                    // The caller may be gone; what was committed stays committed.
                    let _gone = sender.send(result);
                }),
            }
        });
        // A closed channel drops the job and with it the sender, which the receiver reports as stopped.
        let _stopped = self.jobs.send(job);
        receiver
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// The writer's thread.
struct WriterThread<S> {
    connection: Connection,
    caches: WriterCaches,
    sink: S,
    clock: Clock,
    update_hook: UpdateHook,
    task_wakeup: watch::Sender<()>,
}

impl<S: CommitSink> WriterThread<S> {
    fn run(mut self, mut queue: mpsc::UnboundedReceiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let waiting = std::iter::from_fn(|| queue.try_recv().ok()).take(MAX_JOBS_PER_COMMIT - 1);
            self.commit(std::iter::once(first).chain(waiting));
        }
        self.stop();
    }

    /// Runs jobs in one transaction, commits it, publishes the outboxes, and answers the callers, in this order.
    fn commit(&mut self, jobs: impl Iterator<Item = Job>) {
        let mut succeeded = Vec::new();
        let mut failed = Vec::new();
        let mut before_commit = Vec::new();
        let mut wakes_tasks = false;
        let mut lost = execute(&self.connection, "BEGIN IMMEDIATE").err();
        for job in jobs {
            if lost.is_some() {
                let reason = StoreError::NotCommitted("the group had failed already".to_owned());
                failed.push(job(Err(reason)).answer);
                continue;
            }
            let JobResult { left, answer } = self.run_job(job);
            match left {
                Ok(Some(mut output)) => {
                    succeeded.push(answer);
                    before_commit.append(&mut output.before_commit);
                    wakes_tasks |= output.wakes_tasks;
                }
                Ok(None) => failed.push(answer),
                Err(error) => {
                    succeeded.push(answer);
                    lost = Some(error);
                }
            }
        }
        if lost.is_none() {
            lost = self.finish(before_commit).err();
        }
        if let Some(error) = lost {
            self.rollback_group(&error);
            for answer in succeeded {
                answer(Err(StoreError::NotCommitted(error.to_string())));
            }
        } else {
            self.caches.commit();
            self.update_hook.committed();
            self.sink.committed();
            if wakes_tasks {
                self.task_wakeup.send_replace(());
            }
            for answer in succeeded {
                answer(Ok(()));
            }
        }
        for answer in failed {
            answer(Ok(()));
        }
    }

    /// Runs one job in its savepoint and has the sink write its outbox. The group is lost when the savepoint itself
    /// fails: a full disk makes SQLite roll back the whole transaction.
    fn run_job(&mut self, job: Job) -> JobResult {
        let started = execute(&self.connection, "SAVEPOINT job");
        let mut tx = Tx::new(&self.connection, &mut self.caches, self.clock.seconds());
        let outcome = match started {
            Ok(()) => job(Ok(&mut tx)),
            Err(error) => {
                let JobOutcome { answer, .. } = job(Err(StoreError::NotCommitted(error.to_string())));
                return JobResult { left: Err(error), answer };
            }
        };
        let left = std::mem::take(&mut tx.left);
        let left =
            if outcome.succeeded { self.keep_job(left).map(Some) } else { self.undo_job().map(|()| None) };
        JobResult { left, answer: outcome.answer }
    }

    fn keep_job(&mut self, left: Leftovers) -> rusqlite::Result<JobOutput> {
        if !left.outbox.is_empty() {
            self.sink.append(&self.connection, &mut self.caches, left.outbox)?;
        }
        execute(&self.connection, "RELEASE job")?;
        self.caches.commit();
        Ok(JobOutput { before_commit: left.before_commit, wakes_tasks: left.wakes_tasks })
    }

    fn undo_job(&mut self) -> rusqlite::Result<()> {
        self.caches.rollback(Rollback::Job);
        execute(&self.connection, "ROLLBACK TO job")?;
        execute(&self.connection, "RELEASE job")
    }

    fn finish(&mut self, before_commit: Vec<BeforeCommit>) -> rusqlite::Result<()> {
        before_commit.into_iter().try_for_each(|work| work(&self.connection, &mut self.caches))?;
        self.sink.before_commit(&self.connection)?;
        execute(&self.connection, "COMMIT")
    }

    /// Rolls back a group that could not be committed.
    fn rollback_group(&mut self, error: &rusqlite::Error) {
        tracing::error!(%error, "a group of changes was not committed");
        if !self.connection.is_autocommit()
            && let Err(error) = execute(&self.connection, "ROLLBACK")
        {
            tracing::error!(%error, "rolling back failed");
        }
        self.caches.rollback(Rollback::Group);
        self.sink.rolled_back();
    }

    fn stop(&mut self) {
        if let Err(error) = self.sink.stopped(&self.connection) {
            tracing::warn!(%error, "the state of the commit sink was not saved");
        }
        let checkpoint = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = checkpoint {
            tracing::warn!(%error, "the file was not checkpointed");
        }
    }
}

/// Runs a statement without parameters, prepared once.
fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(|_| ())
}

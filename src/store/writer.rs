//! The one way to change the file: a thread that runs jobs in groups and commits each group once.

use super::changes::{Changes, Watch};
use super::locals::Locals;
use super::tx::{BeforeCommit, Tx, Unsent};
use super::{Database, StoreError};
use crate::events::log;
use crate::types::{Clock, EventId};
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::{mpsc, oneshot};

/// Jobs that may share a commit. More would let the first wait too long for the last.
const GROUP: usize = 256;

/// Event numbers taken at a time. A crash leaves the rest of the block unused, so that no number is given out twice,
/// not even one of an event that was never stored.
const NUMBER_BLOCK: i64 = 1 << 16;

/// An event with its number, on its way from a committed group to the queues.
#[derive(Debug)]
pub struct Committed {
    /// Its number in the log.
    pub id: EventId,
    /// What was emitted.
    pub event: Unsent,
}

/// The handle to the writer's thread. The thread ends when the last handle is gone.
#[derive(Clone)]
pub struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
    changes: Changes,
}

/// Runs in a savepoint, or hears that there is none; answers the caller once it is known whether the group was
/// committed.
type Job = Box<dyn FnOnce(Result<&mut Tx<'_>, StoreError>) -> Outcome + Send>;

/// Tells a job's caller how the group ended.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

struct Outcome {
    /// Whether the job's rows and events are to be kept.
    keep: bool,
    /// Tells the caller.
    answer: Answer,
}

/// A job that ran: what it leaves, `None` if it failed and was undone; or why its group is lost.
type JobResult = Result<(Answer, Option<Kept>), (Answer, rusqlite::Error)>;

/// What a job that succeeded leaves for the end of its group.
struct Kept {
    events: Vec<Committed>,
    before_commit: Vec<BeforeCommit>,
}

impl Writer {
    /// Starts the thread. `publish` gets the events of each group in the order of their numbers, after the commit and
    /// before any caller is answered. Commits that change `watched` tables are counted ([`Writer::changes`]).
    pub fn start(
        database: &Database,
        clock: Clock,
        watched: &'static [&'static str],
        publish: impl FnMut(Vec<Committed>) + Send + 'static,
    ) -> Result<(Self, std::thread::JoinHandle<()>), StoreError> {
        let connection = database.connect_writer()?;
        let numbers = Numbers::load(&connection)?;
        let (jobs, queue) = mpsc::unbounded_channel();
        let changes = Changes::default();
        let watch = Watch::start(&connection, watched, changes.clone())?;
        let group = Group { connection, locals: Locals::default(), numbers, clock, watch, publish };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || group.run(queue))
            .map_err(|error| StoreError::Panicked(error.to_string()))?;
        Ok((Self { jobs, changes }, thread))
    }

    /// Counts the commits that changed the watched tables.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Runs a job and answers when its changes are on the disk. If the caller goes away, the job is still done whole.
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
                    .unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(panic.as_ref())).into())),
                Err(refusal) => Err(refusal.into()),
            };
            Outcome {
                keep: result.is_ok(),
                answer: Box::new(move |committed| {
                    let result = result.and_then(|value| committed.map(|()| value).map_err(E::from));
                    // The caller may have gone; what was committed stays committed.
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

/// The writer's thread: its connection, what jobs remember, and the event numbers.
struct Group<P> {
    connection: Connection,
    locals: Locals,
    numbers: Numbers,
    clock: Clock,
    watch: Watch,
    publish: P,
}

impl<P: FnMut(Vec<Committed>)> Group<P> {
    fn run(mut self, mut queue: mpsc::UnboundedReceiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let waiting = std::iter::from_fn(|| queue.try_recv().ok()).take(GROUP - 1);
            self.commit(std::iter::once(first).chain(waiting));
        }
        self.stop();
    }

    /// Runs jobs in one transaction, commits it, publishes the events, and answers the callers, in this order.
    fn commit(&mut self, jobs: impl Iterator<Item = Job>) {
        let mut kept = Vec::new();
        let mut failed = Vec::new();
        let mut events = Vec::new();
        let mut before_commit = Vec::new();
        let mut broken = execute(&self.connection, "BEGIN IMMEDIATE").err();
        for job in jobs {
            if broken.is_some() {
                failed.push(
                    job(Err(StoreError::NotCommitted("the group had failed already".to_owned()))).answer,
                );
                continue;
            }
            match self.run_job(job) {
                Ok((answer, Some(mut left))) => {
                    kept.push(answer);
                    events.append(&mut left.events);
                    before_commit.append(&mut left.before_commit);
                }
                Ok((answer, None)) => failed.push(answer),
                Err((answer, error)) => {
                    kept.push(answer);
                    broken = Some(error);
                }
            }
        }
        if broken.is_none() {
            let put_off =
                before_commit.into_iter().try_for_each(|work| work(&self.connection, &mut self.locals));
            broken = put_off.and_then(|()| execute(&self.connection, "COMMIT")).err();
        }
        if let Some(error) = broken {
            self.give_up(&error);
            for answer in kept {
                answer(Err(StoreError::NotCommitted(error.to_string())));
            }
        } else {
            self.locals.keep();
            self.watch.committed();
            if !events.is_empty() {
                (self.publish)(events);
            }
            for answer in kept {
                answer(Ok(()));
            }
        }
        for answer in failed {
            answer(Ok(()));
        }
    }

    /// Runs one job in its savepoint and writes its events: `None` in their place if the job failed and was undone.
    /// `Err` when the savepoint itself fails (a full disk makes SQLite undo the whole transaction): the group is lost.
    fn run_job(&mut self, job: Job) -> JobResult {
        let started = execute(&self.connection, "SAVEPOINT job");
        let mut tx = Tx::new(&self.connection, &mut self.locals, self.clock.seconds());
        let outcome = match started {
            Ok(()) => job(Ok(&mut tx)),
            Err(error) => return Err((job(Err(StoreError::NotCommitted(error.to_string()))).answer, error)),
        };
        let (outbox, before_commit) = (std::mem::take(&mut tx.outbox), std::mem::take(&mut tx.before_commit));
        let finished = if outcome.keep {
            self.numbers.write(&self.connection, &mut self.locals, outbox).and_then(|events| {
                execute(&self.connection, "RELEASE job")?;
                self.locals.keep();
                Ok(Some(Kept { events, before_commit }))
            })
        } else {
            self.locals.undo(false);
            execute(&self.connection, "ROLLBACK TO job")
                .and_then(|()| execute(&self.connection, "RELEASE job"))
                .map(|()| None)
        };
        match finished {
            Ok(events) => Ok((outcome.answer, events)),
            Err(error) => Err((outcome.answer, error)),
        }
    }

    /// Undoes a group that could not be committed.
    fn give_up(&mut self, error: &rusqlite::Error) {
        tracing::error!(%error, "a group of changes was not committed");
        if !self.connection.is_autocommit()
            && let Err(error) = execute(&self.connection, "ROLLBACK")
        {
            tracing::error!(%error, "rolling back failed");
        }
        self.locals.undo(true);
        if let Ok(numbers) = Numbers::load(&self.connection) {
            self.numbers = numbers;
        }
    }

    fn stop(&mut self) {
        if let Err(error) = self.numbers.save(&self.connection) {
            tracing::warn!(%error, "the event counter was not saved; a block of numbers is skipped");
        }
        let checkpoint = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = checkpoint {
            tracing::warn!(%error, "the file was not checkpointed");
        }
    }
}

/// Statements without parameters, prepared once.
fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(|_| ())
}

/// The counter of the event log.
struct Numbers {
    /// The next number to give out.
    next: i64,
    /// The end of the block that is ours.
    reserved: i64,
}

impl Numbers {
    /// Starts behind every number that was ever given out.
    fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let next = connection.query_row(
            "SELECT max(coalesce((SELECT value FROM counter WHERE name = 'event'), 1),
                        coalesce((SELECT max(id) + 1 FROM event), 1))",
            [],
            |row| row.get(0),
        )?;
        Ok(Self { next, reserved: next })
    }

    /// Gives numbers to a job's events and writes those that are kept.
    fn write(
        &mut self,
        connection: &Connection,
        locals: &mut Locals,
        outbox: Vec<Unsent>,
    ) -> rusqlite::Result<Vec<Committed>> {
        let mut committed = Vec::with_capacity(outbox.len());
        for event in outbox {
            if self.next >= self.reserved {
                self.reserved = self.next + NUMBER_BLOCK;
                Self::store(connection, self.reserved)?;
            }
            let id = EventId(self.next);
            self.next += 1;
            if event.logged {
                log::append(connection, locals.get(), id, &event)?;
            }
            committed.push(Committed { id, event });
        }
        Ok(committed)
    }

    fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        Self::store(connection, self.next)
    }

    fn store(connection: &Connection, value: i64) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO counter (name, value) VALUES ('event', ?1)")?
            .execute([value])
            .map(|_| ())
    }
}

//! A pool of read-only connections. Each request reads from one snapshot of the database.

use super::row_cache::{RowCache, RowValue, RowVersion};
use super::watchdog::Watchdog;
use super::{Database, StoreError};
use crate::pool::Owner;
use crate::turns::{Turn, Turns};
use parking_lot::Mutex;
use r2d2::{ManageConnection, Pool};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};
use std::convert::Infallible;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time limit of a read on a thread that serves requests, and on one that may block.
const DEADLINE: Duration = Duration::from_secs(5);
const SLOW_DEADLINE: Duration = Duration::from_secs(20);

/// The time of a read that takes as long as it takes.
const NO_DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);

/// Steps of SQLite's virtual machine between two looks at the clock: about a millisecond.
const STEPS_PER_CHECK: i32 = 50_000;

/// Number of such checks of a quick read. Counted in steps, so that the limit does not depend on the load of the
/// machine.
const QUICK_CHECKS: u32 = 10;

/// Time for connections to close that are in use when the pool is dropped.
const MAX_CLOSING: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// The owner of the request that the task serves; `None` for work of the server.
    static READER: Option<Owner>;
}

/// Serves a request of this owner. Its reads take turns with those of others: the owner that has read least is next.
pub async fn read_for<F: Future>(owner: Option<Owner>, request: F) -> F::Output {
    READER.scope(owner, request).await
}

/// The owner of the request that this task serves, for reads that come after its handler; `None` for work of the server.
pub fn current_reader() -> Option<Owner> {
    READER.try_get().ok().flatten()
}

/// The pool of read-only connections.
pub struct Readers {
    pool: Pool<Manager>,
    /// A place for each connection that [`Readers::read`] may use, so that waiting for one does not block a thread.
    turns: Arc<Turns>,
    watchdog: Watchdog,
    rows: Arc<RowCache>,
    has_deadlines: AtomicBool,
    closed: Mutex<Option<Receiver<Infallible>>>,
}

/// A read transaction: the state of the database at one moment. Dereferences to the connection.
pub struct Snapshot<'c> {
    connection: &'c Connection,
    deadline: &'c Deadline,
    rows: &'c RowCache,
    row_version: RowVersion,
}

impl Snapshot<'_> {
    /// True for a read of [`Readers::read_quickly`], which must be short.
    pub fn is_quick(&self) -> bool {
        self.deadline.checks.load(Ordering::Relaxed) != NO_LIMIT
    }

    /// Aborts the read so that it is repeated in a pool. Returns the error to end it with.
    pub fn abort_quick_read(&self) -> StoreError {
        self.deadline.checks.store(0, Ordering::Relaxed);
        StoreError::TooSlow
    }

    /// Returns cached values of rows, as far as there are any, in the order of the ids. They were made of the same rows as
    /// this snapshot has.
    pub fn cached<T: RowValue>(&self, ids: impl Iterator<Item = i64>) -> Vec<Option<Arc<T>>> {
        self.rows.get(self.row_version, ids)
    }

    /// Caches values that were made of rows of this snapshot, with the ids of their rows.
    pub fn cache<T: RowValue>(&self, values: impl Iterator<Item = (i64, Arc<T>)>) {
        self.rows.add(self.row_version, values);
    }
}

impl Deref for Snapshot<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Readers {
    /// Creates a pool of at most `size` connections for [`read`](Self::read) and `blocking` more for
    /// [`read_now`](Self::read_now). They are opened when first needed, those of an ephemeral database at once, and stay open:
    /// to close idle ones, the pool would wake its threads every half a minute. This does not wait for them; see
    /// [`wait_until_open`](Self::wait_until_open).
    pub fn open(database: &Database, size: u32, blocking: u32) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let inner = SqliteConnectionManager::file(database.path()).with_flags(flags);
        let opened_at_once = if database.is_ephemeral() { size + blocking } else { 0 };
        let (open, closed) = mpsc::channel();
        let pool = Pool::builder()
            .idle_timeout(None)
            .max_lifetime(None)
            .min_idle(Some(opened_at_once))
            .max_size(size + blocking)
            .test_on_check_out(false)
            .connection_timeout(Duration::from_secs(10))
            .build_unchecked(Manager { inner, warmed: opened_at_once, opened: AtomicU32::new(0), open });
        let rows = Arc::clone(database.rows());
        Self {
            pool,
            turns: Turns::new(size as usize),
            watchdog: Watchdog::start(),
            rows,
            has_deadlines: AtomicBool::new(true),
            closed: Mutex::new(Some(closed)),
        }
    }

    /// Returns a function that waits until all connections are closed, after the pool was dropped. A thread of the pool may
    /// still be opening one.
    pub fn wait_until_closed(&self) -> impl FnOnce() + use<> {
        let closed = self.closed.lock().take();
        move || {
            if let Some(Err(RecvTimeoutError::Timeout)) =
                closed.map(|closed| closed.recv_timeout(MAX_CLOSING))
            {
                tracing::warn!("a connection for reading is still open");
            }
        }
    }

    /// Waits until the connections that are opened at once are open.
    pub fn wait_until_open(&self) -> Result<(), StoreError> {
        let opened =
            (0..self.pool.min_idle().unwrap_or(0)).map(|_| self.pool.get()).collect::<Result<Vec<_>, _>>()?;
        // The pool is a stack: in this order, the first to be used stays the first.
        opened.into_iter().rev().for_each(drop);
        Ok(())
    }

    /// Runs `work` on a snapshot, on the calling thread. A read from the system's page cache takes well under a
    /// millisecond, less than handing it to another thread. If it takes longer, the watchdog sees to it that another thread
    /// polls the network; the runtime has more threads than there are places. For reads that are known to be slow there is
    /// [`read_now`](Self::read_now).
    pub async fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let _turn = self.turn().await?;
        let _watched = self.watchdog.watch();
        self.read_until(self.deadline(DEADLINE), NO_LIMIT, work)
    }

    /// Like [`read`](Self::read), for work that can be repeated: it has no effect outside of its snapshot. `None` if it takes
    /// more than about ten milliseconds in SQLite, or [aborts](Snapshot::abort_quick_read). The caller repeats it on a thread
    /// that may block, since the next reads wait for the place. A read cannot move to another thread while it runs, because
    /// its statements borrow the connection.
    pub async fn read_quickly<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let _turn = self.turn().await?;
        let _watched = self.watchdog.watch();
        self.read_until(self.deadline(DEADLINE), QUICK_CHECKS, |snapshot| {
            let result = work(snapshot);
            // Independent of the error that the work returned.
            if snapshot.deadline.checks.load(Ordering::Relaxed) == 0 { Ok(None) } else { result.map(Some) }
        })
    }

    async fn turn(&self) -> Result<Turn, StoreError> {
        self.turns.take(current_reader()).await.map_err(|_| StoreError::Stopped)
    }

    /// Like [`read`](Self::read), for threads that may block.
    pub fn read_now<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_until(self.deadline(SLOW_DEADLINE), NO_LIMIT, work)
    }

    /// Like [`read_now`](Self::read_now), for work that reads the whole database and takes as long as that takes.
    pub fn read_everything<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_until(NO_DEADLINE, NO_LIMIT, work)
    }

    /// Lets all reads take as long as they take: for tests, whose results must not depend on the speed of the machine.
    pub fn lift_deadlines(&self) {
        self.has_deadlines.store(false, Ordering::Relaxed);
    }

    fn deadline(&self, limit: Duration) -> Duration {
        if self.has_deadlines.load(Ordering::Relaxed) { limit } else { NO_DEADLINE }
    }

    /// Runs `work` on a snapshot. A running statement fails at the deadline, or after a number of checks.
    pub(super) fn read_until<T, E: From<StoreError>>(
        &self,
        limit: Duration,
        checks: u32,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let pooled = self.pool.get().map_err(StoreError::from)?;
        let PooledConnection { connection, deadline, .. } = &*pooled;
        let sqlite = |error| E::from(StoreError::Sqlite(error));
        // Before the snapshot begins: it may be newer than the version, but not older.
        let row_version = self.rows.version();
        connection.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([])).map_err(sqlite)?;
        // Ends the transaction also on a panic: the connection goes back to the pool.
        let end = EndSnapshot(&pooled);
        deadline.set(limit, checks);
        let result = work(&Snapshot { connection, deadline, rows: &self.rows, row_version });
        drop(end);
        result
    }
}

struct EndSnapshot<'c>(&'c PooledConnection);

impl Drop for EndSnapshot<'_> {
    fn drop(&mut self) {
        let PooledConnection { connection, deadline, .. } = self.0;
        deadline.clear();
        let ended = connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
        if let Err(error) = ended {
            tracing::error!(%error, "a snapshot did not end");
        }
    }
}

/// When the statements of a connection are interrupted.
#[derive(Default)]
struct Deadline {
    /// In milliseconds of [`elapsed`]; 0 for never.
    until: AtomicU64,
    /// Number of remaining checks.
    checks: AtomicU32,
}

/// Checks without end.
const NO_LIMIT: u32 = u32::MAX;

impl Deadline {
    fn set(&self, limit: Duration, checks: u32) {
        self.until.store(elapsed() + limit.as_millis() as u64, Ordering::Relaxed);
        self.checks.store(checks, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.until.store(0, Ordering::Relaxed);
        self.checks.store(NO_LIMIT, Ordering::Relaxed);
    }

    /// True if the statement should end. Runs on the thread that has the connection.
    fn check(&self) -> bool {
        let checks = self.checks.load(Ordering::Relaxed);
        if checks != NO_LIMIT {
            self.checks.store(checks.saturating_sub(1), Ordering::Relaxed);
        }
        let until = self.until.load(Ordering::Relaxed);
        checks <= 1 || (until != 0 && elapsed() >= until)
    }
}

/// Milliseconds since the first call, plus one.
fn elapsed() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64 + 1
}

/// A connection of the pool, with the deadline of its statements.
struct PooledConnection {
    connection: Connection,
    deadline: Arc<Deadline>,
    /// Dropped after the connection; see [`Readers::wait_until_closed`].
    _open: Sender<Infallible>,
}

/// Opens connections for the pool with the pragmas of [`prepare`](super::connect::prepare).
struct Manager {
    inner: SqliteConnectionManager,
    /// The connection that reads the schema before it is used: the last of those that are opened at once, which is used
    /// first.
    warmed: u32,
    opened: AtomicU32,
    open: Sender<Infallible>,
}

impl ManageConnection for Manager {
    type Connection = PooledConnection;
    type Error = rusqlite::Error;

    fn connect(&self) -> Result<PooledConnection, rusqlite::Error> {
        let connection = self.inner.connect()?;
        super::connect::prepare(&connection, true)?;
        // Opens the files, which may be unlinked later.
        connection.pragma_query_value(None, "user_version", |_| Ok(()))?;
        if self.opened.fetch_add(1, Ordering::Relaxed) + 1 == self.warmed {
            connection.prepare("SELECT 1 FROM sqlite_schema")?;
        }
        let deadline = Arc::new(Deadline::default());
        deadline.clear();
        let of_statements = Arc::clone(&deadline);
        connection.progress_handler(STEPS_PER_CHECK, Some(move || of_statements.check()))?;
        Ok(PooledConnection { connection, deadline, _open: self.open.clone() })
    }

    fn is_valid(&self, pooled: &mut PooledConnection) -> Result<(), rusqlite::Error> {
        self.inner.is_valid(&mut pooled.connection)
    }

    fn has_broken(&self, pooled: &mut PooledConnection) -> bool {
        !pooled.connection.is_autocommit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Cause;
    use crate::types::UserId;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use tokio::net::TcpListener;

    #[test]
    fn a_statement_ends_at_its_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
        let readers = Readers::open(&database, 1, 0);
        let endless =
            "WITH RECURSIVE one (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one) SELECT max(n) FROM one";
        let count = |snapshot: &Snapshot<'_>, statement: &str| -> Result<i64, StoreError> {
            Ok(snapshot.query_row(statement, [], |row| row.get(0))?)
        };
        let error =
            readers.read_until(Duration::from_millis(1), NO_LIMIT, |snapshot| count(snapshot, endless));
        let error = error.unwrap_err();
        assert_eq!(error.cause(), Cause::Deadline, "{error}");
        let rows = readers.read_now(|snapshot| count(snapshot, "SELECT count(*) FROM message"));
        assert_eq!(rows.unwrap(), 0, "the connection goes on");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn reads_of_one_owner_leave_room_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
        let readers = Arc::new(Readers::open(&database, 2, 0));
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(parking_lot::Mutex::new(gate));
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (readers, gate) = (Arc::clone(&readers), Arc::clone(&gate));
            waiting.spawn(read_for(Some(Owner::User(UserId(1))), async move {
                let wait = |_: &Snapshot<'_>| Ok::<_, StoreError>(gate.lock().recv().is_err());
                readers.read(wait).await.unwrap()
            }));
        }
        while readers.turns.running() == 0 {
            tokio::task::yield_now().await;
        }
        let other = read_for(Some(Owner::User(UserId(2))), readers.read(|_| Ok::<_, StoreError>(7)));
        assert_eq!(other.await.unwrap(), 7);
        assert!(waiting.try_join_next().is_none(), "they wait for the gate");
        drop(open);
        assert_eq!(waiting.join_all().await, [true; 20]);
    }

    #[tokio::test]
    async fn quick_reads_abort_when_slow() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
        let readers = Readers::open(&database, 1, 0);
        let small = "SELECT count(*) FROM message";
        let read = async |statement: &str| {
            let count = |snapshot: &Snapshot<'_>| Ok(snapshot.query_row(statement, [], |row| row.get(0))?);
            readers.read_quickly::<i64, StoreError>(count).await.unwrap()
        };
        let numbers = "WITH RECURSIVE one (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one LIMIT 10000000)";
        assert_eq!(read(small).await, Some(0));
        assert_eq!(read(&format!("{numbers} SELECT max(n) FROM one")).await, None);
        assert_eq!(read(small).await, Some(0), "the connection goes on");
        // The same in many small statements.
        let many = |snapshot: &Snapshot<'_>| {
            let mut statement = snapshot.prepare_cached(small)?;
            for _ in 0..1_000_000 {
                statement.query_row([], |row| row.get::<_, i64>(0))?;
            }
            Ok(())
        };
        assert_eq!(readers.read_quickly::<(), StoreError>(many).await.unwrap(), None);
        let given_up = |snapshot: &Snapshot<'_>| {
            assert!(snapshot.is_quick());
            Err::<(), _>(snapshot.abort_quick_read())
        };
        assert_eq!(readers.read_quickly(given_up).await.unwrap(), None);
        let fails = readers.read_quickly(|_| Err::<(), _>(StoreError::Stopped)).await;
        assert!(matches!(fails, Err(StoreError::Stopped)), "what fails otherwise is not done again");
        let is_quick = readers.read(|snapshot| Ok::<_, StoreError>(snapshot.is_quick()));
        assert!(!is_quick.await.unwrap());
    }

    /// Serves one connection: each byte is sent back, after `r` once a read has ended that waits for the gate.
    async fn serve(
        stream: tokio::net::TcpStream,
        readers: Arc<Readers>,
        started: mpsc::Sender<()>,
        gate: Arc<parking_lot::Mutex<mpsc::Receiver<()>>>,
    ) {
        let mut byte = [0];
        loop {
            stream.readable().await.unwrap();
            match stream.try_read(&mut byte) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(error) => panic!("{error}"),
            }
            if &byte == b"r" {
                let read = readers.read(|_| -> Result<(), StoreError> {
                    started.send(()).unwrap();
                    gate.lock().recv().unwrap();
                    Ok(())
                });
                read.await.unwrap();
            }
            stream.writable().await.unwrap();
            assert_eq!(stream.try_write(&byte).unwrap(), 1);
        }
    }

    /// The thread that polls the network is the one that runs the read, since all others are idle.
    #[test]
    fn a_read_that_blocks_its_thread_stops_no_other_request() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        let entered = runtime.enter();
        let readers = Arc::new(Readers::open(&database, 2, 0));
        drop(entered);
        let (open, gate) = mpsc::channel();
        let (started, has_started) = mpsc::channel();
        let gate = Arc::new(parking_lot::Mutex::new(gate));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let reads = Arc::clone(&readers);
        runtime.spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let served = serve(stream, Arc::clone(&reads), started.clone(), Arc::clone(&gate));
                connections.spawn(served);
            }
        });
        let connect = || {
            let stream = TcpStream::connect(address).unwrap();
            // Far more than it takes; without a limit, a failure would never end.
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream
        };
        let exchange = |stream: &mut TcpStream, byte: &[u8; 1]| {
            stream.write_all(byte).unwrap();
            let mut answer = [0];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, byte);
        };
        let (mut slow, mut slower, mut quick) = (connect(), connect(), connect());
        for stream in [&mut slow, &mut slower, &mut quick] {
            exchange(stream, b"q");
        }
        for stream in [&mut slow, &mut slower] {
            stream.write_all(b"r").unwrap();
            has_started.recv().unwrap();
            exchange(&mut quick, b"q");
        }
        open.send(()).unwrap();
        open.send(()).unwrap();
        for stream in [&mut slow, &mut slower] {
            stream.read_exact(&mut [0]).unwrap();
        }
    }
}

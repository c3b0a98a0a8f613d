//! A pool of read-only connections. Each request reads from one snapshot of the database.

use super::{Database, StoreError};
use r2d2::{ManageConnection, Pool};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};
use std::ops::Deref;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The pool of read-only connections.
pub struct Readers {
    pool: Pool<Manager>,
    /// One permit for each connection, so that waiting for one does not block a thread.
    permits: Semaphore,
}

/// A read transaction: the state of the database at one moment. Dereferences to the connection.
pub struct Snapshot<'c> {
    connection: &'c Connection,
}

impl Deref for Snapshot<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Readers {
    /// Creates a pool of at most `size` connections, which are opened when first needed.
    pub fn open(database: &Database, size: u32) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let inner = SqliteConnectionManager::file(database.path()).with_flags(flags);
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(1))
            .test_on_check_out(false)
            .idle_timeout(Some(Duration::from_secs(60)))
            .connection_timeout(Duration::from_secs(10))
            .build(Manager(inner))?;
        Ok(Self { pool, permits: Semaphore::new(size as usize) })
    }

    /// Runs `work` on a snapshot, on the calling thread. A read from the system's page cache takes well under a
    /// millisecond, less than handing it to another thread. The runtime has more threads than the pool has connections,
    /// so a slow disk does not block other requests.
    pub async fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let _permit = self.permits.acquire().await.map_err(|_| StoreError::Stopped)?;
        self.read_now(work)
    }

    /// Like [`read`](Self::read), for threads that may block.
    pub fn read_now<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let connection = self.pool.get().map_err(StoreError::from)?;
        let sqlite = |error| E::from(StoreError::Sqlite(error));
        connection.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([])).map_err(sqlite)?;
        // Ends the transaction also on a panic: the connection goes back to the pool.
        let end = EndSnapshot(&connection);
        let result = work(&Snapshot { connection: &connection });
        drop(end);
        result
    }
}

struct EndSnapshot<'c>(&'c Connection);

impl Drop for EndSnapshot<'_> {
    fn drop(&mut self) {
        let ended = self.0.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
        if let Err(error) = ended {
            tracing::error!(%error, "a snapshot did not end");
        }
    }
}

/// Opens connections for the pool with the pragmas of [`prepare`](super::open::prepare).
struct Manager(SqliteConnectionManager);

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = rusqlite::Error;

    fn connect(&self) -> Result<Connection, rusqlite::Error> {
        let connection = self.0.connect()?;
        super::open::prepare(&connection, true)?;
        Ok(connection)
    }

    fn is_valid(&self, connection: &mut Connection) -> Result<(), rusqlite::Error> {
        self.0.is_valid(connection)
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !connection.is_autocommit()
    }
}

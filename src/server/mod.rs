//! A running server: start, connections, maintenance and shutdown. Its tasks are started here and in `connection`; test
//! servers start more in `crate::testing`.

mod connection;
mod connection_limits;
#[cfg(unix)]
mod control;
mod timed_io;

use self::connection::Connections;
#[cfg(unix)]
use self::control::ControlSocket;
use crate::api;
use crate::app::{App, Options};
use crate::auth::{CredentialCache, CredentialRow, RateLimiter};
use crate::events::{self, EventSink, Hub};
use crate::http::service::Service;
use crate::http::{ApiError, Interceptor, Router};
use crate::pool::Pools;
use crate::store::{Database, OpenError, Readers, Snapshot, StoreError, Writer};
use crate::types::{Clock, JumpDetector};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How often event queues and rate limits are maintained.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60);

/// The least free space in the file that is told of, in MiB.
const MIN_FREE_MIB: i64 = 64;

/// How long running requests may take to finish when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Worker threads of the runtime that [`runtime`] builds.
const WORKER_THREADS: usize = 5;

/// An error that keeps a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database was opened, and then failed.
    #[error("the database does not answer: {0}")]
    Store(#[from] StoreError),
    /// The organization could not be created.
    #[error("the organization could not be set up: {0}")]
    Setup(#[from] ApiError),
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system does not tell the address.
    #[error("cannot find out the address to listen on: {source}")]
    Address {
        /// The error of the system.
        source: std::io::Error,
    },
    /// Two routes match the same requests: a mistake in the program.
    #[error(transparent)]
    Routes(#[from] crate::http::RouteConflict),
}

/// Builds a runtime for a server, or for commands that work on a database.
pub fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(WORKER_THREADS).enable_all().build()
}

/// The number of connections for reading: one less than the worker threads of the current runtime. A read blocks its
/// thread, so one thread is always left for everything else.
fn reader_count() -> u32 {
    let workers = Handle::current().metrics().num_workers();
    u32::try_from(workers).unwrap_or(u32::MAX).saturating_sub(1).max(1)
}

/// An open database with its writer, readers and queues, without a network. `serve` adds one with [`Server::start`];
/// commands use it alone when no server runs.
pub struct Engine {
    /// The shared state.
    pub app: Arc<App>,
    database: Database,
    writer_thread: JoinHandle<()>,
}

impl Engine {
    /// Opens a database. If the file is missing, it is created with its organization.
    pub async fn open(path: &Path, clock: Clock, options: Options) -> Result<Self, StartError> {
        Self::on(Database::open(path)?, clock, options).await
    }

    /// Runs on an open database, which gets its organization if it is new. The readers of an ephemeral one may still be
    /// opening its files: see [`Readers::wait_until_open`].
    pub async fn on(database: Database, clock: Clock, mut options: Options) -> Result<Self, StartError> {
        if database.is_ephemeral() {
            // Its file is in memory, of which there may be little; nothing of it has to be deleted.
            options.disk_reserve_mib.get_or_insert(0);
        }
        let readers = Arc::new(Readers::open(&database, reader_count(), Pools::READERS));
        // Beside the readers, which are being opened on other threads.
        let connection = database.connect_writer()?;
        let hub = Hub::load(&connection, &api::events::EVENTS, Arc::clone(&readers), clock.monotonic())?;
        let hub = Arc::new(hub);
        if is_older_copy(&database, &hub) {
            tracing::warn!("the database is an older copy; all clients register anew");
            hub.expire_all();
        }
        let sink = EventSink::new(Arc::clone(&hub));
        let (writer, writer_thread) =
            Writer::start(&database, connection, clock.clone(), CredentialRow::TABLES, sink)?;
        let public_url = options.public_url.clone();
        writer.run(move |tx| api::set_up(tx, public_url.as_deref())).await?;
        events::save_queues(&hub, &writer).await;
        let started_at = clock.seconds();
        let app = Arc::new(App {
            credential_cache: CredentialCache::new(writer.table_version().clone()),
            rate_limiter: RateLimiter::default(),
            readers,
            scheduler_wakeup: writer.task_wakeup().clone(),
            scheduler_progress: watch::Sender::default(),
            pools: Pools::default(),
            writer,
            hub,
            jump_detector: JumpDetector::new(&clock),
            clock,
            started_at,
            options,
        });
        Ok(Self { app, database, writer_thread })
    }

    /// The backup of the older database that this start upgraded, if it did.
    pub fn upgraded_from(&self) -> Option<&Path> {
        self.database.upgraded_from.as_deref()
    }

    /// Whether the file was made by this start.
    pub fn is_new(&self) -> bool {
        self.database.is_new()
    }

    /// Removes the files of the database: they are not to be kept.
    pub fn unlink(&self) -> std::io::Result<()> {
        self.database.unlink()
    }

    /// Stops the writer after its last job, and checkpoints the database.
    pub fn close(self) {
        let Self { app, mut database, writer_thread } = self;
        let next_event = app.hub.head().0 + 1;
        drop(app);
        if writer_thread.join().is_err() {
            tracing::error!("the writer's thread had panicked");
        }
        // See `is_older_copy`.
        if let Err(error) = database.announce(&serde_json::json!({ "next_event": next_event }).to_string()) {
            tracing::warn!(%error, "the lock file was not written");
        }
        drop(database);
    }
}

/// Whether the database is older than what a server last had open under its path: a backup was restored. Clients may know
/// events that this file never had and whose numbers it would give out again. At a clean stop the lock file gets the next
/// number.
fn is_older_copy(database: &Database, hub: &Hub) -> bool {
    let last: Option<serde_json::Value> = serde_json::from_str(&database.last_announcement).ok();
    let next_event = last.and_then(|last| last["next_event"].as_i64());
    next_event.is_some_and(|next_event| hub.head().0 + 1 < next_event)
}

/// A listening server.
pub struct Server {
    engine: Engine,
    service: Arc<Service>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Listens on an address without answering yet. With port 0 the system picks a port; see [`Server::address`].
    /// Whoever listens before the database is opened makes no new file for an address that is taken.
    pub async fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
        TcpListener::bind(address).await.map_err(|source| StartError::Listen { address, source })
    }

    /// Listens on an address and serves it.
    pub async fn start(engine: Engine, address: SocketAddr) -> Result<Self, StartError> {
        Self::serve(engine, Self::listen(address).await?)
    }

    /// Serves connections, and the commands of the command line.
    pub fn serve(engine: Engine, listener: TcpListener) -> Result<Self, StartError> {
        Self::serve_intercepted(engine, listener, None)
    }

    /// Like [`Server::serve`], with an interceptor that sees each exchange.
    pub fn serve_intercepted(
        mut engine: Engine,
        listener: TcpListener,
        interceptor: Option<Arc<dyn Interceptor>>,
    ) -> Result<Self, StartError> {
        let router = Router::new(api::routes())?;
        let address = listener.local_addr().map_err(|source| StartError::Address { source })?;
        let app = &engine.app;
        let service = Arc::new(Service::new(Arc::clone(app), router, interceptor));
        let connections = Connections::new(Arc::clone(&service), &app.options);
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(connections.accept(listener, stopped.clone()));
        tasks.spawn(maintain(Arc::clone(app), stopped.clone()));
        // Together on one thread: all of them read when the server starts, and each would need a connection.
        let background = api::background_tasks().map(|task| task(Arc::clone(app), stopped.clone()));
        tasks.spawn(background.collect::<FuturesUnordered<_>>().collect::<()>());
        // An ephemeral database has no place for the socket, and no command finds it.
        #[cfg(unix)]
        if !engine.database.is_ephemeral() {
            match open_control_socket(&mut engine, here(address)) {
                Ok(socket) => drop(tasks.spawn(socket.serve(Arc::clone(&engine.app), stopped))),
                Err(error) => {
                    tracing::warn!(%error, "commands such as `user create` will not reach this server");
                }
            }
        }
        Ok(Self { engine, service, address, stop, tasks })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address at which programs on this machine reach it.
    pub fn address_here(&self) -> SocketAddr {
        here(self.address)
    }

    /// The shared state.
    pub fn app(&self) -> &Arc<App> {
        &self.engine.app
    }

    /// Whether the file was made by this start.
    pub fn is_new(&self) -> bool {
        self.engine.is_new()
    }

    /// The free space inside the database file in MiB, if it is a good part of it.
    pub fn free_mib(&self) -> Option<u64> {
        self.engine.app.readers.read_now(free_mib).unwrap_or_default()
    }

    /// Waits until the server cannot write any more, and should be stopped. Never returns otherwise.
    pub async fn failed(&self) {
        self.engine.app.writer.failed().await;
    }

    /// What responds to requests.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// Shuts down without regard for clients: connections end where they are, and what they asked for may be done or not.
    /// Returns the database, which is still open, with all that was committed.
    pub async fn abort(mut self) -> Engine {
        self.tasks.shutdown().await;
        self.engine
    }

    /// Shuts down: accepts no new connections, ends waiting polls, lets running requests finish, drains the writer and
    /// checkpoints the database.
    pub async fn stop(self) {
        let engine = self.finish().await;
        let closed = tokio::task::spawn_blocking(move || engine.close()).await;
        if let Err(error) = closed {
            tracing::error!(%error, "closing the file failed");
        }
    }

    /// Like [`Server::stop`], but returns the database, which is still open.
    pub async fn finish(mut self) -> Engine {
        // It fails only if all tasks have ended already.
        let _ended = self.stop.send(true);
        self.engine.app.hub.close();
        let ended =
            tokio::time::timeout(SHUTDOWN_GRACE, async { while self.tasks.join_next().await.is_some() {} });
        if ended.await.is_err() {
            tracing::warn!("some requests did not end in time");
            self.tasks.shutdown().await;
        }
        events::save_queues(&self.engine.app.hub, &self.engine.app.writer).await;
        self.engine
    }
}

/// The address at which programs on this machine reach a server: none connects to `0.0.0.0`.
fn here(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            Ipv4Addr::LOCALHOST.into()
        } else {
            Ipv6Addr::LOCALHOST.into()
        });
    }
    address
}

/// Listens for commands, and writes into the lock file where, and where the server listens for requests.
#[cfg(unix)]
fn open_control_socket(engine: &mut Engine, address: SocketAddr) -> std::io::Result<ControlSocket> {
    let socket = ControlSocket::bind(engine.database.path())?;
    let announcement =
        serde_json::json!({ "pid": std::process::id(), "control": socket.path(), "address": address });
    engine.database.announce(&announcement.to_string())?;
    Ok(socket)
}

/// Returns the free space of a file in MiB if it is a quarter of the file and worth a word.
fn free_mib(snapshot: &Snapshot<'_>) -> Result<Option<u64>, StoreError> {
    let pragma = |name: &str| snapshot.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(worth_a_word(pragma("freelist_count")?, pragma("page_count")?, pragma("page_size")?))
}

fn worth_a_word(free: i64, all: i64, page_size: i64) -> Option<u64> {
    let mib = (free * page_size) >> 20;
    (free * 4 >= all && mib >= MIN_FREE_MIB).then_some(mib as u64)
}

/// Periodic work: expiry of queues and of counted attempts.
async fn maintain(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(MAINTENANCE_INTERVAL) => {
                app.rate_limiter.remove_expired(&app.clock);
                if let Err(error) = app.writer.check_file() {
                    tracing::error!(%error, "stop the server and restore the file");
                }
                events::run_maintenance(&app.hub, &app.writer, &app.clock).await;
            }
            _ = stopped.changed() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_worth_a_word_from_a_quarter_of_the_file_and_64_mib_on() {
        let pages = |mib: i64| mib << 8;
        for (free, all, expected) in [
            (pages(64), pages(256), Some(64)),
            (pages(64), pages(256) + 1, None),
            (pages(64) - 1, pages(128), None),
            (pages(1000), pages(1001), Some(1000)),
            (0, 0, None),
        ] {
            assert_eq!(worth_a_word(free, all, 4096), expected, "{free} of {all}");
        }
    }
}

//! A running server: start, connections, maintenance and shutdown. The only place that spawns tasks.

use crate::api;
use crate::app::{App, Options};
use crate::auth::{ApiKeyOwner, AuthRateLimiter, CredentialCache};
use crate::events::{self, EventSink, Hub};
use crate::http::{ApiError, JsonErrorIo, Router, service};
use crate::store::{Database, OpenError, Readers, StoreError, Writer};
use crate::types::Clock;
use futures_util::FutureExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The longest time to receive the head of a request, and for a connection to be idle between requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);

/// The largest head of a request in bytes, far more than published clients send.
const HEAD_LIMIT: usize = 64 * 1024;

/// How long, and for how many bytes, a connection is read after its last response.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DRAINED: usize = 64 * 1024 * 1024;

/// How often event queues are maintained.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60);

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
        let database = Database::open(path)?;
        let readers = Arc::new(Readers::open(&database, reader_count())?);
        let hub = readers.read_now(|snapshot| {
            Hub::load(snapshot, &api::events::EVENTS, Arc::clone(&readers), clock.milliseconds())
        })?;
        let hub = Arc::new(hub);
        let sink = EventSink::new(Arc::clone(&hub));
        let (writer, writer_thread) = Writer::start(&database, clock.clone(), ApiKeyOwner::TABLES, sink)?;
        writer.run(api::set_up).await?;
        let started_at = clock.seconds();
        let app = Arc::new(App {
            credential_cache: CredentialCache::new(writer.table_version().clone()),
            rate_limiter: AuthRateLimiter::default(),
            readers,
            scheduler_wakeup: writer.task_wakeup().clone(),
            writer,
            hub,
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

    /// Stops the writer after its last job, and checkpoints the database.
    pub fn close(self) {
        let Self { app, database, writer_thread } = self;
        drop(app);
        if writer_thread.join().is_err() {
            tracing::error!("the writer's thread had panicked");
        }
        drop(database);
    }
}

/// A listening server.
pub struct Server {
    engine: Engine,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Starts to listen. With port 0 the system picks a port; see [`Server::address`].
    pub async fn start(mut engine: Engine, address: SocketAddr) -> Result<Self, StartError> {
        let refused = |source| StartError::Listen { address, source };
        let router = Arc::new(Router::new(api::routes())?);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let announcement = serde_json::json!({
            "pid": std::process::id(),
            "address": address.to_string(),
            "token": engine.app.options.control_token,
        });
        if let Err(error) = engine.database.announce(&announcement.to_string()) {
            tracing::warn!(%error, "commands will not find this server");
        }
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&engine.app), router, stopped.clone()));
        tasks.spawn(maintain_queues(Arc::clone(&engine.app), stopped.clone()));
        for task in api::background_tasks() {
            tasks.spawn(task(Arc::clone(&engine.app), stopped.clone()));
        }
        Ok(Self { engine, address, stop, tasks })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The shared state.
    pub fn app(&self) -> &Arc<App> {
        &self.engine.app
    }

    /// Shuts down: accepts no new connections, ends waiting polls, lets running requests finish, drains the writer and
    /// checkpoints the database.
    pub async fn stop(mut self) {
        // It fails only if all tasks have ended already.
        let _ended = self.stop.send(true);
        self.engine.app.hub.close();
        let ended =
            tokio::time::timeout(SHUTDOWN_GRACE, async { while self.tasks.join_next().await.is_some() {} });
        if ended.await.is_err() {
            tracing::warn!("some requests did not end in time");
            self.tasks.shutdown().await;
        }
        events::save_positions(&self.engine.app.hub, &self.engine.app.writer).await;
        let engine = self.engine;
        let closed = tokio::task::spawn_blocking(move || engine.close()).await;
        if let Err(error) = closed {
            tracing::error!(%error, "closing the file failed");
        }
    }
}

async fn accept(
    listener: TcpListener,
    app: Arc<App>,
    router: Arc<Router>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let (app, router) = (Arc::clone(&app), Arc::clone(&router));
                    connections.spawn(connection(stream, peer, app, router, stopped.clone()));
                }
                Err(error) => {
                    // Most likely there are no file descriptors left, until connections end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            _ = stopped.changed() => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: Arc<App>,
    router: Arc<Router>,
    mut stopped: watch::Receiver<bool>,
) {
    // Responses are small and written at once; waiting to fill a packet would only delay them.
    let _slower = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        service::respond(Arc::clone(&app), Arc::clone(&router), request, peer.ip()).map(Ok::<_, Infallible>)
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_LIMIT)
        .half_close(false)
        .serve_connection(JsonErrorIo::new(TokioIo::new(stream)), service);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
    let stream = connection.into_parts().io.into_inner().into_inner();
    tokio::select! {
        _done = tokio::time::timeout(DRAIN_TIMEOUT, drain_connection(&stream)) => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
}

/// Reads until the client closes the connection, too. A response may have been sent before the whole request arrived (too
/// large, no such path): closing while the client still sends would reset the connection, and the response would be lost.
async fn drain_connection(stream: &TcpStream) {
    let mut left = MAX_DRAINED;
    // On the heap, since every connection allocates the whole future.
    let mut buffer = vec![0; 16 * 1024];
    while left > 0 && stream.readable().await.is_ok() {
        match stream.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => left = left.saturating_sub(read),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

async fn maintain_queues(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(MAINTENANCE_INTERVAL) => {
                events::run_maintenance(&app.hub, &app.writer, &app.clock).await;
            }
            _ = stopped.changed() => return,
        }
    }
}

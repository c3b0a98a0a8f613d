//! A running server: start, connections, maintenance and shutdown. Its tasks are started here and in `connection`; test
//! servers start more in `crate::testing`.

#[cfg(unix)]
mod admin_socket;
mod connection;
mod connection_limits;
mod http2;
mod http2_frames;
mod listeners;
mod mail;
mod metrics;
mod redirect;
#[cfg(unix)]
pub mod systemd;
mod timed_io;
pub mod tls;

use self::connection::{Connections, Secure};
use self::connection_limits::ConnectionLimits;
pub use self::listeners::{ListenAddress, Listener, inherited};
use self::redirect::Redirect;
use self::tls::Tls;
use crate::app::{App, Backups, Deliveries, Mail, Options, Overrides};
use crate::auth::{CredentialCache, CredentialRow, RateLimiter};
use crate::domain::mail::Setup;
use crate::domain::messages::{notification_queue, serialize};
use crate::domain::space::Space;
use crate::domain::{audit, linkifiers};
use crate::events::{EventSink, Hub};
use crate::http::service::Service;
use crate::http::{ApiError, Interceptor, Router};
use crate::http_client::TlsClient;
use crate::oidc::SignOn;
use crate::pool::Pools;
#[cfg(unix)]
use crate::server::admin_socket::AdminSocket;
use crate::store::{Announcement, Database, OpenError, Readers, StoreError, Tx, WatchedTables, Writer};
use crate::types::{Clock, Hourly, JumpDetector};
use crate::{api, domain, events, scheduler, store};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The size of the log, in bytes, from which on the server empties it although another program is to do it.
const MAX_REPLICATED_LOG: u64 = 1 << 30;

/// Grace period for running requests when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Worker threads of the runtime that [`runtime`] builds.
const WORKER_THREADS: usize = 5;

/// The tables whose changes the writer notices.
pub const WATCHED: WatchedTables = WatchedTables {
    counted: &[CredentialRow::TABLES, linkifiers::TABLES, notification_queue::TABLES],
    cached: serialize::CACHED_TABLES,
};

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
        address: ListenAddress,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system does not provide the address.
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
            // Its file is in memory, which may be small; there is nothing to delete.
            options.overrides.disk_reserve_mib.get_or_insert(0);
            options.overrides.disk_warning = Some(Overrides::NO_DISK_WARNING);
        }
        let readers = Arc::new(Readers::open(&database, reader_count(), Pools::READERS));
        // Beside the readers, which are being opened on other threads.
        let connection = database.connect_writer()?;
        if options.is_replicated {
            store::leave_log_to_replicator(&connection)?;
        }
        let hub = Hub::load(&connection, &api::events::EVENTS, Arc::clone(&readers), clock.monotonic())?;
        let hub = Arc::new(hub);
        if is_older_copy(&database, &hub) {
            tracing::warn!("the database is an older copy; all clients register again");
            hub.expire_of(None);
        }
        let sink = EventSink::new(Arc::clone(&hub));
        let (writer, writer_thread) = Writer::start(&database, connection, clock.clone(), WATCHED, sink)?;
        let public_url = options.public_url.clone();
        let mail =
            options.mail.as_ref().map(|mail| Setup { sender: mail.sender.clone(), url: mail.url.clone() });
        let set_up = move |tx: &mut Tx<'_>| {
            api::set_up(tx, public_url.as_deref())?;
            // Commands that work on the file leave it as the server set it up.
            mail.map_or(Ok(()), |mail| domain::mail::set_up(tx, &mail))
        };
        writer.run(set_up).await?;
        events::save_queues(&hub, &writer).await;
        let started_at = clock.seconds();
        let app = Arc::new(App {
            credential_cache: CredentialCache::new(writer.table_version().clone()),
            rate_limiter: RateLimiter::default(),
            readers,
            scheduler_wakeup: writer.task_wakeup().clone(),
            scheduler_progress: watch::Sender::default(),
            pools: Pools::new(options.overrides.pool_deadline),
            tls_client: TlsClient::trusting(options.web_push.authorities.clone()),
            sign_on: SignOn::default(),
            writer,
            hub,
            jump_detector: JumpDetector::new(&clock),
            clock,
            started_at,
            backups: Backups::default(),
            mail: Mail::default(),
            web_push: Deliveries::default(),
            phone_push: Deliveries::default(),
            channel_traffic: Hourly::default(),
            certificate_end: OnceLock::new(),
            probe: Mutex::default(),
            space_measured: AtomicI64::new(i64::MIN),
            is_full_disk_logged: AtomicBool::new(false),
            options,
        });
        Ok(Self { app, database, writer_thread })
    }

    /// The backup of the older database that this start upgraded, if it did.
    pub fn upgraded_from(&self) -> Option<&Path> {
        self.database.upgraded_from.as_deref()
    }

    /// True if the file was created by this start.
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
        let (is_replicated, wait_for_readers) = (app.options.is_replicated, app.readers.wait_until_closed());
        drop(app);
        if writer_thread.join().is_err() {
            tracing::error!("the writer's thread had panicked");
        }
        wait_for_readers();
        if !is_replicated && let Err(error) = database.remove_log() {
            tracing::warn!(%error, "the log of the database was not removed");
        }
        // See `is_older_copy`.
        announce(&mut database, &Announcement { next_event: Some(next_event), ..Announcement::default() });
        drop(database);
    }
}

/// Writes the lock file, for commands and for the next server.
fn announce(database: &mut Database, announcement: &Announcement) {
    if let Err(error) = database.announce(announcement) {
        tracing::warn!(%error, "the lock file was not written");
    }
}

/// True if the database is older than the one that a server last had open under its path, because a backup was
/// restored. Clients may know events that this file never had and whose ids it would allocate again. A clean stop
/// writes the next id into the lock file.
fn is_older_copy(database: &Database, hub: &Hub) -> bool {
    database.last_announcement.next_event.is_some_and(|next_event| hub.head().0 + 1 < next_event)
}

/// A listening server.
pub struct Server {
    engine: Engine,
    service: Arc<Service>,
    limits: Arc<ConnectionLimits>,
    addresses: Vec<ListenAddress>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    /// Requests begin until the last connection has ended.
    _rounds: JoinSet<()>,
}

impl Server {
    /// Listens on an address without answering yet. With port 0 the system picks a port; see [`Server::addresses`].
    /// Listening before the database is opened avoids creating a file if the address is in use. `mode` holds the
    /// permissions of a Unix socket.
    pub fn listen(address: &ListenAddress, mode: u32) -> Result<Listener, StartError> {
        let refused = |source| StartError::Listen { address: address.clone(), source };
        Listener::bind(address, mode).map_err(refused)
    }

    /// Listens on an address and serves it.
    pub fn start(engine: Engine, address: SocketAddr) -> Result<Self, StartError> {
        let listener = Self::listen(&ListenAddress::Tcp(address), 0)?;
        Self::serve(engine, vec![listener], None)
    }

    /// Serves connections, and the commands of the command line. With TLS, all TCP sockets speak it, and redirect what is
    /// sent without it.
    pub fn serve(
        engine: Engine,
        listeners: Vec<Listener>,
        tls: Option<Arc<Tls>>,
    ) -> Result<Self, StartError> {
        Self::serve_intercepted(engine, listeners, tls, None)
    }

    /// Like [`Server::serve`], with an interceptor that sees each exchange.
    pub fn serve_intercepted(
        mut engine: Engine,
        listeners: Vec<Listener>,
        tls: Option<Arc<Tls>>,
        interceptor: Option<Arc<dyn Interceptor>>,
    ) -> Result<Self, StartError> {
        let router = Router::new(api::routes())?;
        let addresses: std::io::Result<Vec<ListenAddress>> =
            listeners.iter().map(Listener::address).collect();
        let addresses = addresses.map_err(|source| StartError::Address { source })?;
        let app = &engine.app;
        let service = Arc::new(Service::new(Arc::clone(app), router, interceptor));
        let (stop, stopped) = watch::channel(false);
        let (mut tasks, mut rounds) = (JoinSet::new(), JoinSet::new());
        rounds.spawn(service.rounds().run());
        let (is_secure, public_url) = (tls.is_some(), app.options.public_url.as_deref());
        let secure = tls.map(|tls| {
            let port = tcp_address(&addresses).map_or(0, |address| address.port());
            let redirect = Redirect::new(public_url, port, Arc::clone(&tls.certificates));
            app.certificate_end.get_or_init(|| Arc::clone(&tls.certificates.end));
            tasks.spawn(Arc::clone(&tls).run(stopped.clone()));
            Secure { tls, redirect: Arc::new(redirect) }
        });
        let connections = Arc::new(Connections::new(Arc::clone(&service), secure, &app.options));
        let limits = Arc::clone(connections.limits());
        for listener in listeners {
            tasks.spawn(Arc::clone(&connections).accept(listener, stopped.clone()));
        }
        tasks.spawn(maintain(Arc::clone(app), stopped.clone()));
        #[cfg(unix)]
        if let Some(interval) = systemd::watchdog_interval() {
            tasks.spawn(systemd::run_watchdog(Arc::clone(app), interval, stopped.clone()));
        }
        // Together on one thread: all of them read when the server starts, and each would need a connection.
        let background = api::background_tasks().map(|task| task(Arc::clone(app), stopped.clone()));
        tasks.spawn(background.collect::<FuturesUnordered<_>>().collect::<()>());
        // An ephemeral database has no place for the socket, and no command finds it.
        #[cfg(unix)]
        if !engine.database.is_ephemeral() {
            let origin =
                tcp_address(&addresses).map(|address| ListenAddress::Tcp(address).here().url(is_secure));
            match open_admin_socket(&mut engine, origin, &addresses) {
                Ok(socket) => drop(tasks.spawn(socket.serve(Arc::clone(&engine.app), stopped))),
                Err(error) => {
                    tracing::warn!(%error, "commands such as `user create` will not reach this server");
                }
            }
        }
        Ok(Self { engine, service, limits, addresses, stop, tasks, _rounds: rounds })
    }

    /// Serves the figures of the server on a listener of their own.
    pub fn serve_metrics(&mut self, listener: Listener) {
        let server = metrics::Measured {
            app: Arc::clone(&self.engine.app),
            service: Arc::clone(&self.service),
            limits: Arc::clone(&self.limits),
        };
        self.tasks.spawn(metrics::serve(listener, server, self.stop.subscribe()));
    }

    /// Receives mail on a listener of its own.
    pub fn serve_mail(&mut self, listener: Listener) {
        self.tasks.spawn(mail::serve(listener, Arc::clone(&self.engine.app), self.stop.subscribe()));
    }

    /// The addresses that the server listens on, at least one.
    pub fn addresses(&self) -> &[ListenAddress] {
        &self.addresses
    }

    /// The first address with a port.
    pub fn address(&self) -> Option<SocketAddr> {
        tcp_address(&self.addresses)
    }

    /// The shared state.
    pub fn app(&self) -> &Arc<App> {
        &self.engine.app
    }

    /// True if the file was created by this start.
    pub fn is_new(&self) -> bool {
        self.engine.is_new()
    }

    /// The free space inside the database file in MiB, if it is a good part of it and cannot be given back while the server
    /// runs.
    pub fn free_mib(&self) -> Option<i64> {
        let measured = self.engine.app.readers.read_now(|snapshot| Ok::<_, StoreError>(Space::of(snapshot)?));
        let space = measured.ok().filter(|space| !space.can_shrink && space.has_much_free());
        space.map(|space| space.free >> 20)
    }

    /// Waits until the server cannot write any more, and should be stopped. Never returns otherwise.
    pub async fn failed(&self) {
        self.engine.app.writer.failed().await;
    }

    /// The service that responds to requests.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// Shuts down like a crash: connections are cut, and running requests may or may not take effect. Returns the
    /// database, still open, with all committed changes.
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
        // The socket for commands closes: they wait until the file is closed, too.
        announce(&mut self.engine.database, &Announcement::default());
        // It fails only if all tasks have ended already.
        let _ended = self.stop.send(true);
        self.engine.app.writer.background().stop();
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

fn tcp_address(addresses: &[ListenAddress]) -> Option<SocketAddr> {
    addresses.iter().find_map(|address| match address {
        ListenAddress::Tcp(address) => Some(*address),
        #[cfg(unix)]
        ListenAddress::Unix(_) => None,
    })
}

/// Listens for commands, and writes into the lock file where, and where the server listens for requests.
#[cfg(unix)]
fn open_admin_socket(
    engine: &mut Engine,
    origin: Option<String>,
    addresses: &[ListenAddress],
) -> std::io::Result<AdminSocket> {
    let socket = AdminSocket::bind(engine.database.path())?;
    engine.database.announce(&Announcement {
        pid: Some(std::process::id()),
        control: Some(socket.path().to_owned()),
        origin,
        listen: addresses.iter().map(ToString::to_string).collect(),
        next_event: None,
    })?;
    Ok(socket)
}

/// Periodic work, when scheduled work runs as well: expiry of queues and of counted attempts.
async fn maintain(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(scheduler::pause_until(&app, None)) => {
                app.rate_limiter.remove_expired(&app.clock);
                if let Err(error) = app.writer.check_file() {
                    tracing::error!(%error, "stop the server and restore the file");
                }
                limit_replicated_log(&app).await;
                events::run_maintenance(&app.hub, &app.writer, &app.clock).await;
                if let Err(error) = audit::prune_old(&app).await {
                    tracing::warn!(%error, "the audit log was not pruned");
                }
            }
            _ = stopped.changed() => return,
        }
    }
}

/// Empties the log of the database if it has become large although another program is to empty it.
pub async fn limit_replicated_log(app: &App) {
    if app.options.is_replicated && app.writer.log_size() > MAX_REPLICATED_LOG {
        tracing::warn!("the log of the database has become large: does the program that replicates it run?");
        if let Err(error) = app.writer.checkpoint().await {
            tracing::warn!(%error, "the log was not copied to the file");
        }
    }
}

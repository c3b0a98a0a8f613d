//! A running test server and its control.

use super::ephemeral;
use super::faults::{Fault, MAX_DELAY};
use super::fixtures::{self, Date, FixtureError, Fixtures, PasswordCost, StartClock};
use super::har::Har;
use super::in_process;
use super::level::Level;
use super::monitor::Monitor;
use crate::app::{App, Options};
use crate::auth::Caller;
use crate::domain::{rows, users};
use crate::http::{ApiError, ApiResult, Interceptor};
use crate::server::{Engine, ListenAddress, Listener, Server, StartError};
use crate::store::{Database, DatabaseCopy, StoreError};
use crate::types::{Clock, LAST_SECOND, UserId};
use crate::{events, scheduler};
use hyper::Method;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, RwLock};

/// Maximum time that a change of the clock waits for due work: a webhook may wait for the test itself. On a busy machine
/// work takes long.
const MAX_SETTLING: Duration = Duration::from_secs(60);

/// A clock that differs from the system's by at least this many milliseconds was set.
const MIN_SET_CLOCK: u64 = 1000;

/// Options of a test server.
#[derive(Default)]
pub struct Settings {
    /// The database; `None` for one that leaves nothing behind.
    pub database: Option<PathBuf>,
    /// Initial data of a new database.
    pub fixtures: Option<Fixtures>,
    /// Enables control of the clock, the requests and so on. It costs a little for each request, and a copy of the
    /// database in memory.
    pub is_controlled: bool,
    /// The file for exchanges.
    pub record: Option<PathBuf>,
    /// Answers requests with unknown parameters with an error, after they were handled.
    pub is_strict: bool,
    /// Options of the server.
    pub options: Options,
}

/// Why a test server did not start.
#[derive(Debug, thiserror::Error)]
pub enum DoubleError {
    /// The fixtures cannot be used.
    #[error(transparent)]
    Fixtures(#[from] FixtureError),
    /// The server did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The database has users already.
    #[error("{0} has users already; fixtures are for a new file")]
    NotNew(PathBuf),
    /// The file for exchanges cannot be written.
    #[error("cannot write {path}: {source}")]
    Record {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A running test server.
pub struct Double {
    settings: Settings,
    clock: Clock,
    /// Exchanges; unused unless the server is controlled or records.
    pub monitor: Arc<Monitor>,
    interceptor: Option<Arc<dyn Interceptor>>,
    listener: std::net::TcpListener,
    address: SocketAddr,
    /// `None` while the server starts again, and once it has stopped.
    server: RwLock<Option<Server>>,
    /// The state that a reset restores; `None` unless the server is controlled.
    baseline: Mutex<Option<Baseline>>,
    /// Held while the clock is changed.
    clock_change: Mutex<()>,
}

/// The state that a reset restores.
#[derive(Clone)]
struct Baseline {
    data: Arc<DatabaseCopy>,
    clock: Option<StartClock>,
}

/// The time of the server's clock, and whether it is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockState {
    /// The time of the server's clock.
    pub now: Date,
    /// The same in UNIX seconds.
    pub timestamp: f64,
    /// True if it is frozen.
    pub frozen: bool,
}

/// Options of a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Restart {
    /// Cuts connections, as a crash does. By default running requests are answered first.
    #[serde(default)]
    pub abrupt: bool,
    /// Seconds during which connections are refused.
    #[serde(default)]
    pub down: f64,
}

impl Restart {
    /// Checks the time during which connections are refused.
    pub fn check(self) -> ApiResult<()> {
        if (0.0..=MAX_DELAY).contains(&self.down) {
            return Ok(());
        }
        Err(ApiError::bad_request(format!("\"down\" is a number of seconds from 0 to {MAX_DELAY}")))
    }
}

impl Double {
    /// Starts a server on an address. Fixtures are loaded before it answers.
    pub async fn start(mut settings: Settings, address: SocketAddr) -> Result<Self, DoubleError> {
        let fixtures = settings.fixtures.take().map(Arc::new);
        let start_clock = fixtures.as_ref().and_then(|fixtures| fixtures.clock);
        let clock =
            if settings.is_controlled || start_clock.is_some() { Clock::adjustable() } else { Clock::System };
        start_clock.inspect(|start| set_clock(&clock, *start));
        let har = settings.record.as_ref().map(|path| {
            Har::create(path).map_err(|source| DoubleError::Record { path: path.clone(), source })
        });
        let is_watched = settings.is_controlled || settings.is_strict || har.is_some();
        let monitor = Arc::new(Monitor::new(har.transpose()?, settings.is_strict, clock.clone()));
        let interceptor: Option<Arc<dyn Interceptor>> =
            if is_watched { Some(Arc::clone(&monitor) as _) } else { None };
        let refused = |source| StartError::Listen { address: ListenAddress::Tcp(address), source };
        let listener = std::net::TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let double = Self {
            settings,
            clock,
            monitor,
            interceptor,
            listener,
            address,
            server: RwLock::default(),
            baseline: Mutex::default(),
            clock_change: Mutex::default(),
        };
        let is_new = double.settings.database.as_ref().is_some_and(|path| !path.exists());
        let engine = double.open(None).await?;
        if let Some(fixtures) = fixtures
            && let Err(error) = double.load(&engine, &fixtures).await
        {
            if is_new && let Err(error) = engine.unlink() {
                tracing::warn!(%error, "the new file stays");
            }
            return Err(error);
        }
        if double.settings.is_controlled {
            *double.baseline.lock().await =
                Some(Baseline { data: engine.app.writer.copy(), clock: start_clock });
        }
        let server = double.serve(engine)?;
        *double.server.write().await = Some(server);
        Ok(double)
    }

    /// Opens the database. One that leaves nothing behind is new, or a copy of another; its folder is removed as soon as
    /// all files are open.
    async fn open(&self, copy_of: Option<Engine>) -> Result<Engine, DoubleError> {
        let (clock, options) = (self.clock.clone(), self.settings.options.clone());
        if let Some(path) = &self.settings.database {
            if let Some(before) = copy_of {
                close(before).await;
            }
            return Ok(Engine::open(path, clock, options).await?);
        }
        let (database, folder) = match copy_of {
            None => ephemeral::open().map_err(StartError::from)?,
            Some(before) => {
                let folder = ephemeral::folder().map_err(StartError::from)?;
                before.app.writer.copy_to(folder.database()).await?;
                close(before).await;
                (Database::open_ephemeral(&folder.database()).map_err(StartError::from)?, folder)
            }
        };
        let engine = Engine::on(database, clock, options).await?;
        // Before fixtures are loaded, which takes a while: nothing stays if the process is killed.
        engine.app.readers.wait_until_open()?;
        drop(folder);
        Ok(engine)
    }

    async fn load(&self, engine: &Engine, fixtures: &Arc<Fixtures>) -> Result<(), DoubleError> {
        if let Some(path) = &self.settings.database {
            let count =
                engine.app.readers.read(|snapshot| users::count_people(snapshot).map_err(StoreError::from));
            if count.await? != (0, 0) {
                return Err(DoubleError::NotNew(path.clone()));
            }
        }
        let cost = match self.settings.database {
            Some(_) => PasswordCost::Full,
            None => PasswordCost::Least,
        };
        Ok(fixtures::load(&engine.app, fixtures, cost).await?)
    }

    /// Serves a database.
    fn serve(&self, engine: Engine) -> Result<Server, DoubleError> {
        let refused = |source| StartError::Listen { address: ListenAddress::Tcp(self.address), source };
        let listener = self.listener.try_clone().and_then(TcpListener::from_std).map_err(refused)?;
        let server =
            Server::serve_intercepted(engine, vec![Listener::Tcp(listener)], None, self.interceptor.clone())?;
        Ok(server)
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as clients write it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The shared state of the server.
    pub async fn app(&self) -> ApiResult<Arc<App>> {
        let server = self.server.read().await;
        server.as_ref().map(|server| Arc::clone(server.app())).ok_or_else(|| StoreError::Stopped.into())
    }

    /// Stops cleanly.
    pub async fn stop(&self) {
        if let Some(server) = self.server.write().await.take() {
            server.stop().await;
        }
    }

    /// Stops at once.
    pub async fn abort(&self) {
        if let Some(server) = self.server.write().await.take() {
            close(server.abort().await).await;
        }
    }

    /// Makes the present data what a reset restores; the present time too, where the clock was set.
    pub async fn snapshot(&self) -> ApiResult<()> {
        let app = self.app().await?;
        let ClockState { now, frozen, .. } = self.clock();
        let ahead = now.milliseconds().abs_diff(Clock::System.milliseconds());
        let clock = (frozen || ahead >= MIN_SET_CLOCK).then_some(StartClock::At { now, frozen });
        *self.baseline.lock().await = Some(Baseline { data: app.writer.copy(), clock });
        Ok(())
    }

    /// Restores the fixtures or the snapshot: rows, clock. Faults, requests and level are cleared. Queues are removed.
    pub async fn reset(&self) -> ApiResult<()> {
        let Some(Baseline { data, clock }) = self.baseline.lock().await.clone() else {
            return Err(ApiError::internal("a server that is not controlled is reset"));
        };
        let app = self.app().await?;
        self.monitor.reset();
        self.clock.set_frozen(false);
        set_time(&self.clock, Clock::System.milliseconds());
        clock.inspect(|start| set_clock(&self.clock, *start));
        let hub = Arc::clone(&app.hub);
        app.writer.restore(data, move || hub.clear()).await?;
        app.rate_limiter.clear();
        app.channel_traffic.clear();
        Ok(())
    }

    /// Stops and starts again on the same data, at the same address.
    pub async fn restart(&self, how: Restart) -> Result<(), DoubleError> {
        let mut running = self.server.write().await;
        let Some(server) = running.take() else { return Err(StoreError::Stopped.into()) };
        let before = if how.abrupt { server.abort().await } else { server.finish().await };
        let engine = self.open(Some(before)).await?;
        if let Ok(down) = Duration::try_from_secs_f64(how.down)
            && !down.is_zero()
        {
            // Connections would otherwise wait until the server is back.
            let _ended = tokio::time::timeout(down, self.refuse_connections()).await;
        }
        *running = Some(self.serve(engine)?);
        Ok(())
    }

    async fn refuse_connections(&self) {
        let listener = self.listener.try_clone().and_then(TcpListener::from_std);
        match listener {
            Ok(listener) => loop {
                drop(listener.accept().await);
            },
            Err(error) => tracing::warn!(%error, "connections are not refused"),
        }
    }

    /// The state of the clock.
    pub fn clock(&self) -> ClockState {
        let milliseconds = self.clock.milliseconds();
        ClockState {
            now: Date::from_milliseconds(milliseconds),
            timestamp: SignedDuration::from_millis(milliseconds).as_secs_f64(),
            frozen: self.clock.is_frozen(),
        }
    }

    /// Sets the clock, then advances it by milliseconds, then freezes or resumes it. Time passes as on a production
    /// server: work that becomes due in between runs at its own time and is complete when this returns, unless it takes
    /// too long. Idle queues expire, and polls return after their timeout.
    pub async fn set_clock(
        &self,
        now: Option<Date>,
        advance: Option<i64>,
        frozen: Option<bool>,
    ) -> ApiResult<ClockState> {
        let app = self.app().await?;
        let _one_at_a_time = self.clock_change.lock().await;
        let after = |before: i64| now.map_or(before, Date::milliseconds).saturating_add(advance.unwrap_or(0));
        if after(self.clock.milliseconds()).div_euclid(1000).saturating_abs() > LAST_SECOND {
            return Err(ApiError::bad_request("the clock cannot be beyond the year 9999"));
        }
        if frozen == Some(true) {
            self.clock.set_frozen(true);
        }
        let before = self.clock.milliseconds();
        let after = after(before);
        let mut remaining = after.saturating_sub(before);
        // Before polls are answered: a queue whose poll waits now is kept.
        app.hub.expire(self.clock.monotonic().saturating_add(remaining));
        events::save_queues(&app.hub, &app.writer).await;
        if tokio::time::timeout(MAX_SETTLING, self.pass_time(&app, &mut remaining)).await.is_err() {
            tracing::warn!("the clock does not wait any longer for what became due");
            self.clock.advance_milliseconds(remaining);
            scheduler::wake(&app);
        }
        if frozen == Some(false) {
            self.clock.set_frozen(false);
        }
        app.hub.wake_all();
        Ok(self.clock())
    }

    /// Advances the clock from one due item to the next.
    async fn pass_time(&self, app: &App, remaining: &mut i64) {
        loop {
            let next_due = scheduler::settle(app).await;
            let step = match next_due {
                _ if *remaining == 0 => return,
                Some(seconds) if *remaining > 0 => {
                    let until_due = seconds.saturating_mul(1000).saturating_sub(self.clock.milliseconds());
                    until_due.clamp(0, *remaining)
                }
                _ => *remaining,
            };
            self.clock.advance_milliseconds(step);
            *remaining -= step;
        }
    }

    /// Expires the queues of a user, or all, and returns how many.
    pub async fn expire_queues(&self, email: Option<&str>) -> ApiResult<usize> {
        let app = self.app().await?;
        let user_id = match email {
            Some(email) => Some(self.user_id(&app, email).await?),
            None => None,
        };
        let count = app.hub.expire_of(user_id);
        events::run_maintenance(&app.hub, &app.writer, &app.clock).await;
        Ok(count)
    }

    /// Poses as an older server, or no longer.
    pub fn set_level(&self, level: Option<Level>) {
        self.monitor.set_level(level);
    }

    /// Adds a fault, unless something is wrong with it.
    pub fn add_fault(&self, fault: Fault) -> ApiResult<()> {
        match fault.problem() {
            Some(problem) => Err(ApiError::bad_request(problem)),
            None => {
                self.monitor.faults.add(fault);
                Ok(())
            }
        }
    }

    /// Calls an endpoint as a user would, without a connection. `path` is below `/api/v1`.
    pub async fn call(
        &self,
        email: &str,
        method: &Method,
        path: &str,
        parameters: &Map<String, Value>,
    ) -> ApiResult<Value> {
        let (app, service) = {
            let server = self.server.read().await;
            let server = server.as_ref().ok_or(StoreError::Stopped)?;
            (Arc::clone(server.app()), Arc::clone(server.service()))
        };
        let user_id = self.user_id(&app, email).await?;
        let caller: Caller = app.readers.read(|snapshot| rows::user::caller(snapshot, user_id)).await?;
        in_process::call(&app, service.router(), caller, method, path, parameters).await
    }

    async fn user_id(&self, app: &App, email: &str) -> ApiResult<UserId> {
        let user =
            app.readers.read(|snapshot| users::by_delivery_email(snapshot, email).map_err(StoreError::from));
        let user = user.await?;
        user.map(|user| user.user_id)
            .ok_or_else(|| ApiError::bad_request(format!("no user has the email '{email}'")))
    }

    /// The contents of the database as fixtures.
    pub async fn dump(&self) -> ApiResult<Fixtures> {
        self.app().await?.readers.read(|snapshot| fixtures::dump(snapshot)).await
    }
}

async fn close(engine: Engine) {
    if let Err(error) = tokio::task::spawn_blocking(move || engine.close()).await {
        tracing::error!(%error, "closing a database failed");
    }
}

fn set_clock(clock: &Clock, start: StartClock) {
    match start {
        StartClock::Running(now) => set_time(clock, now.milliseconds()),
        StartClock::At { now, frozen } => {
            clock.set_frozen(frozen);
            set_time(clock, now.milliseconds());
        }
    }
}

/// Sets a clock as if the time in between had passed, for waiting polls too.
fn set_time(clock: &Clock, milliseconds: i64) {
    clock.advance_milliseconds(milliseconds.saturating_sub(clock.milliseconds()));
}

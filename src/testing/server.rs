//! A test server for tests in Rust.

use super::double::{ClockState, Double, DoubleError, Restart, Settings};
use super::faults::Fault;
use super::fixtures::{Date, FixtureError, Fixtures};
use super::level::Level;
use super::requests::{RecordedRequest, RequestFilter};
use crate::http::{ApiError, ApiResult};
use hyper::Method;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

/// Threads that serve requests. One of them may be reading.
const WORKER_THREADS: usize = 2;

/// Builds a runtime for a test server: smaller than that of other servers, since many may run at once.
pub fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(WORKER_THREADS).enable_all().build()
}

/// Something that was asked of a test server is not possible.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// The fixtures cannot be used.
    #[error("fixtures: {0}")]
    Fixtures(#[from] FixtureError),
    /// The server did not start.
    #[error("the server did not start: {0}")]
    Start(String),
    /// The server refused it; the text is that of the published error.
    #[error("{msg} ({code})")]
    Refused {
        /// The `code` of the published error.
        code: String,
        /// The `msg` of the published error.
        msg: String,
    },
    /// The server has stopped.
    #[error("the server has stopped")]
    Stopped,
}

impl From<DoubleError> for TestError {
    fn from(error: DoubleError) -> Self {
        match error {
            DoubleError::Fixtures(error) => Self::Fixtures(error),
            other => Self::Start(other.to_string()),
        }
    }
}

impl From<ApiError> for TestError {
    fn from(error: ApiError) -> Self {
        Self::Refused { code: error.code().to_owned(), msg: error.msg().to_owned() }
    }
}

/// A server on a free port of this machine, which ends when this is dropped. It runs on threads of its own, so that it
/// works in every test: with any runtime, and with none.
pub struct TestServer {
    double: Arc<Double>,
    keys: HashMap<String, String>,
    runtime: Handle,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// Starts a server with fixtures.
    pub async fn start(fixtures: Fixtures) -> Result<Self, TestError> {
        let keys =
            fixtures.users.iter().filter_map(|user| Some((user.email.to_lowercase(), user.api_key.clone()?)));
        let keys = keys.collect();
        let settings = Settings { fixtures: Some(fixtures), is_controlled: true, ..Settings::default() };
        let (started, start) = oneshot::channel();
        let (end, ended) = oneshot::channel::<()>();
        let run = move || {
            let runtime = match runtime() {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _gone = started.send(Err(TestError::Start(error.to_string())));
                    return;
                }
            };
            let handle = runtime.handle().clone();
            runtime.block_on(async {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                match Double::start(settings, address).await {
                    Ok(double) => {
                        let double = Arc::new(double);
                        let _gone = started.send(Ok((Arc::clone(&double), handle)));
                        // The request also ends when the sender is dropped.
                        let _ended = ended.await;
                        double.abort().await;
                    }
                    Err(error) => {
                        let _gone = started.send(Err(error.into()));
                    }
                }
            });
        };
        let thread = std::thread::Builder::new().name("test server".to_owned()).spawn(run);
        let thread = thread.map_err(|error| TestError::Start(error.to_string()))?;
        let (double, runtime) = start.await.map_err(|_| TestError::Stopped)??;
        Ok(Self { double, keys, runtime, end: Some(end), thread: Some(thread) })
    }

    /// Runs something on the server's own threads.
    async fn on<T, E, F>(&self, work: impl FnOnce(Arc<Double>) -> F) -> Result<T, TestError>
    where
        T: Send + 'static,
        E: Into<TestError> + Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let done = self.runtime.spawn(work(Arc::clone(&self.double)));
        done.await.map_err(|_| TestError::Stopped)?.map_err(Into::into)
    }

    /// Fails if the server has stopped.
    async fn check_running(&self) -> Result<(), TestError> {
        self.on(|double| async move { double.app().await.map(drop) }).await
    }

    /// The URL of the server, which clients call their site or realm: `http://127.0.0.1:` and a port.
    pub fn url(&self) -> String {
        self.double.url()
    }

    /// The API key that the fixtures give to the user with an email.
    pub fn api_key(&self, email: &str) -> Option<&str> {
        self.keys.get(&email.to_lowercase()).map(String::as_str)
    }

    /// The requests that were answered since the start or since [`TestServer::clear_requests`].
    pub async fn requests(&self) -> Result<Vec<RecordedRequest>, TestError> {
        self.find_requests(RequestFilter::default()).await
    }

    /// The requests that match a filter.
    pub async fn find_requests(&self, filter: RequestFilter) -> Result<Vec<RecordedRequest>, TestError> {
        filter.check()?;
        self.on(move |double| async move { ok(double.monitor.requests.list(&filter)) }).await
    }

    /// Waits until enough requests match a filter, and returns all that do; fewer if the timeout expires.
    pub async fn wait_for_requests(
        &self,
        filter: RequestFilter,
        count: usize,
        timeout: Duration,
    ) -> Result<Vec<RecordedRequest>, TestError> {
        filter.check()?;
        self.on(move |double| async move {
            ok(double.monitor.requests.wait(&filter, count, Some(timeout)).await)
        })
        .await
    }

    /// Forgets the requests so far.
    pub async fn clear_requests(&self) -> Result<(), TestError> {
        self.double.monitor.requests.clear();
        self.check_running().await
    }

    /// Adds a fault.
    pub async fn fault(&self, fault: Fault) -> Result<(), TestError> {
        self.on(move |double| async move { double.add_fault(fault) }).await
    }

    /// The faults that are left, and to how many requests each has happened: one that never fired is a mistake in a test.
    pub async fn faults(&self) -> Result<Vec<Fault>, TestError> {
        self.on(|double| async move { ok(double.monitor.faults.list()) }).await
    }

    /// Removes all faults.
    pub async fn clear_faults(&self) -> Result<(), TestError> {
        self.double.monitor.faults.clear();
        self.check_running().await
    }

    /// The time of the server.
    pub async fn clock(&self) -> Result<ClockState, TestError> {
        self.on(|double| async move { ok(double.clock()) }).await
    }

    /// Sets the clock to a UNIX time in seconds.
    pub async fn set_time(&self, seconds: i64) -> Result<ClockState, TestError> {
        self.change_clock(Some(Date::from_seconds(seconds)), None, None).await
    }

    /// Moves the clock forward.
    pub async fn advance(&self, seconds: i64) -> Result<ClockState, TestError> {
        self.change_clock(None, Some(seconds.saturating_mul(1000)), None).await
    }

    /// Stops the clock.
    pub async fn freeze(&self) -> Result<ClockState, TestError> {
        self.change_clock(None, None, Some(true)).await
    }

    /// Lets the clock run.
    pub async fn unfreeze(&self) -> Result<ClockState, TestError> {
        self.change_clock(None, None, Some(false)).await
    }

    async fn change_clock(
        &self,
        now: Option<Date>,
        advance: Option<i64>,
        frozen: Option<bool>,
    ) -> Result<ClockState, TestError> {
        self.on(move |double| async move { double.set_clock(now, advance, frozen).await }).await
    }

    /// Expires the event queues of a user, or of all users. Their clients get `BAD_EVENT_QUEUE_ID` and have to register
    /// again. Returns their number.
    pub async fn expire_queues(&self, email: Option<&str>) -> Result<usize, TestError> {
        let email = email.map(str::to_owned);
        self.on(move |double| async move { double.expire_queues(email.as_deref()).await }).await
    }

    /// Poses as an older server, or no longer.
    pub async fn set_level(&self, level: Option<Level>) -> Result<(), TestError> {
        self.double.set_level(level);
        self.check_running().await
    }

    /// Makes the present data and time what [`TestServer::reset`] restores.
    pub async fn snapshot(&self) -> Result<(), TestError> {
        self.on(|double| async move { double.snapshot().await }).await
    }

    /// Restores the fixtures or the snapshot: data and clock are reset, requests, faults and level are cleared, queues are removed.
    pub async fn reset(&self) -> Result<(), TestError> {
        self.on(|double| async move { double.reset().await }).await
    }

    /// Stops the server and starts it again on the same data, at the same URL.
    pub async fn restart(&self, how: Restart) -> Result<(), TestError> {
        how.check()?;
        self.on(move |double| async move { double.restart(how).await }).await
    }

    /// Sends a message to a channel as the user with an email. Returns its id.
    pub async fn send_to_channel(
        &self,
        sender: &str,
        channel: &str,
        topic: &str,
        content: &str,
    ) -> Result<i64, TestError> {
        let message = json!({"type": "channel", "to": [channel], "topic": topic, "content": content});
        self.send(sender, message).await
    }

    /// Sends a direct message as the user with an email. Returns its id.
    pub async fn send_direct(&self, sender: &str, to: &[&str], content: &str) -> Result<i64, TestError> {
        self.send(sender, json!({"type": "direct", "to": to, "content": content})).await
    }

    async fn send(&self, sender: &str, message: Value) -> Result<i64, TestError> {
        let sent = self.call(sender, "POST", "/messages", message).await?;
        sent["id"].as_i64().ok_or(TestError::Stopped)
    }

    /// Calls any endpoint as the user with an email would, without a connection: it is not among the requests. `path` is
    /// below `/api/v1`; `parameters` is a JSON object.
    pub async fn call(
        &self,
        email: &str,
        method: &str,
        path: &str,
        parameters: Value,
    ) -> Result<Value, TestError> {
        let (email, path) = (email.to_owned(), path.to_owned());
        let refused =
            |what: &str| TestError::Refused { code: "BAD_REQUEST".to_owned(), msg: what.to_owned() };
        let method: Method = method.parse().map_err(|_| refused("not an HTTP method"))?;
        let parameters: Map<String, Value> = match parameters {
            Value::Object(parameters) => parameters,
            Value::Null => Map::new(),
            _ => return Err(refused("the parameters are not a JSON object")),
        };
        self.on(move |double| async move { double.call(&email, &method, &path, &parameters).await }).await
    }
}

#[expect(clippy::unnecessary_wraps, reason = "work that cannot be refused, among work that can")]
fn ok<T>(value: T) -> ApiResult<T> {
    Ok(value)
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The test can no longer handle an error.
            let _ended = thread.join();
        }
    }
}

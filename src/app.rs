//! The state of a running server, shared by all handlers and background tasks.

use crate::auth::{CredentialCache, RateLimiter};
use crate::error::{ApiError, ApiResult};
use crate::events::Hub;
use crate::pool::{Pool, Pools};
use crate::store::{Readers, Snapshot, Writer};
use crate::types::{Clock, JumpDetector, Network, UserId};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The space that uploads leave on the disk, in MiB. Other changes leave a quarter of it, so that things can be deleted: see
/// [`Route::on_full_disk`](crate::http::Route::on_full_disk).
pub const DISK_RESERVE_MIB: u64 = 256;

/// The shared state of a running server.
pub struct App {
    /// Snapshots of the database.
    pub readers: Arc<Readers>,
    /// The only way to change the database.
    pub writer: Writer,
    /// The event queues.
    pub hub: Arc<Hub>,
    /// The current time.
    pub clock: Clock,
    /// Whether the date can be trusted.
    pub jump_detector: JumpDetector,
    /// When the server started, in UNIX seconds.
    pub started_at: i64,
    /// The owners of recently used API keys.
    pub credential_cache: CredentialCache,
    /// Limits on requests and on failures to log in.
    pub rate_limiter: RateLimiter,
    /// The pools for work that takes long.
    pub pools: Pools,
    /// Wakes scheduled tasks, since the time of the next one may have changed.
    pub scheduler_wakeup: watch::Sender<()>,
    /// The progress of scheduled tasks.
    pub scheduler_progress: watch::Sender<SchedulerProgress>,
    /// The operator's options.
    pub options: Options,
}

impl App {
    /// Runs `work` on a snapshot, on a thread of a pool; see [`Pool::run`]. Only pools that [`Pools::READERS`] counts
    /// may read.
    pub async fn read_in<T: Send + 'static>(
        &self,
        pool: &Pool,
        user: Option<UserId>,
        work: impl FnOnce(&Snapshot<'_>) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let readers = Arc::clone(&self.readers);
        pool.run(user, move || readers.read_now(work)).await?
    }

    /// How many bytes changes leave on the disk; uploads leave four times as much.
    fn disk_reserve(&self) -> u64 {
        self.options.disk_reserve_mib.unwrap_or(DISK_RESERVE_MIB).saturating_mul(1 << 20) / 4
    }

    /// Refuses changes while the disk is almost full: what is left is for deleting.
    pub fn check_disk(&self) -> ApiResult<()> {
        if self.writer.free_space().is_none_or(|free| free >= self.disk_reserve()) {
            return Ok(());
        }
        let msg = "The server could not save this change: its disk is almost full";
        Err(ApiError::new(507, "INTERNAL_SERVER_ERROR", msg))
    }
}

/// Options of the operator who starts the server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The address at which clients reach the server behind a reverse proxy: scheme, host and port.
    pub public_url: Option<String>,
    /// The proxies whose `X-Forwarded-...` headers are believed.
    pub trusted_proxies: Vec<Network>,
    /// Whether requests that succeed are limited, as on the published server.
    pub rate_limit: bool,
    /// The most connections of one address, this machine included; `None` means 256, and no limit for this machine.
    pub connections_per_address: Option<usize>,
    /// Hosts to which outgoing webhooks may post: `name`, `name:port`, `name:*`, or `*` for the public internet.
    pub webhook_hosts: Vec<String>,
    /// How long a poll waits for events; `None` means 45 to 49.5 seconds.
    pub heartbeat: Option<Duration>,
    /// The largest file that can be uploaded, in MiB; `None` means 100.
    pub max_file_upload_size_mib: Option<u64>,
    /// How much all uploaded files may take together, in MiB; `None` means no limit.
    pub upload_quota_mib: Option<u64>,
    /// The space that uploads leave on the disk, in MiB; `None` means 256. Other changes leave a quarter of it.
    pub disk_reserve_mib: Option<u64>,
    /// Where the files of the client for browsers are served from.
    pub client_files: ClientFiles,
    /// Whether API keys are handed out without passwords, for developers of clients.
    pub dev_login: bool,
}

/// Where the files of the client for browsers come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientFiles {
    /// The program itself.
    #[default]
    Embedded,
    /// A folder, read for each request: for people who work on the client.
    Folder(PathBuf),
    /// Nowhere: no page is served.
    Off,
}

/// The progress of the scheduler's tasks.
#[derive(Default)]
pub struct SchedulerProgress {
    /// How often somebody asked for everything that is due to be done.
    pub requested: u64,
    /// In the order in which the tasks were started.
    pub tasks: Vec<TaskProgress>,
}

/// The progress of a task of the scheduler.
#[derive(Clone, Copy, Default)]
pub struct TaskProgress {
    /// The value of [`SchedulerProgress::requested`] before its last run.
    pub completed: u64,
    /// When the task has something to do next, in UNIX seconds.
    pub next_due: Option<i64>,
}

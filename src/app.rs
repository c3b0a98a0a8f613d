//! The state of a running server, shared by all handlers and background tasks.

use crate::auth::{AuthRateLimiter, CredentialCache};
use crate::events::Hub;
use crate::store::{Readers, Writer};
use crate::types::Clock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

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
    /// When the server started, in UNIX seconds.
    pub started_at: i64,
    /// The owners of recently used API keys.
    pub credential_cache: CredentialCache,
    /// Counts failed logins.
    pub rate_limiter: AuthRateLimiter,
    /// Wakes scheduled tasks, since the time of the next one may have changed.
    pub scheduler_wakeup: watch::Sender<()>,
    /// The operator's options.
    pub options: Options,
}

/// Options of the operator who starts the server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The address at which clients reach the server behind a reverse proxy: scheme, host and port.
    pub public_url: Option<String>,
    /// The secret with which commands of the command line authenticate to the running server.
    pub control_token: String,
    /// Hosts to which outgoing webhooks may post: names, names with a port, or `*` for all.
    pub webhook_hosts: Vec<String>,
    /// How long a poll waits for events; `None` means the published 45 to 50 seconds.
    pub heartbeat: Option<Duration>,
    /// The largest file that can be uploaded, in MiB; `None` means 100.
    pub max_file_upload_size_mib: Option<u64>,
    /// How much all uploaded files may take together, in MiB; `None` means no limit.
    pub upload_quota_mib: Option<u64>,
}

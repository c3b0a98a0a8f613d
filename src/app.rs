//! What all handlers share: the way to read, the way to write, the queues, the clock.

use crate::events::Hub;
use crate::http::{KnownCallers, Limits};
use crate::store::{Readers, Writer};
use crate::types::Clock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A running server, as handlers see it.
pub struct App {
    /// Snapshots of the file.
    pub readers: Arc<Readers>,
    /// The one way to change it.
    pub writer: Writer,
    /// The event queues.
    pub hub: Arc<Hub>,
    /// The time.
    pub clock: Clock,
    /// When it started, UNIX seconds.
    pub started_at: i64,
    /// Who called lately.
    pub callers: KnownCallers,
    /// Failed logins.
    pub limits: Limits,
    /// Changes when something is to be done at another time than before.
    pub timetable: watch::Sender<()>,
    /// What the person who started the server chose.
    pub options: Options,
}

/// Choices of the person who starts the server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The address at which clients reach the server, if it stands behind another: scheme, host and port.
    pub public_url: Option<String>,
    /// What a command has to know to have the running server do its work.
    pub control_token: String,
    /// Hosts to which outgoing webhooks may post: names, names with a port, or `*`.
    pub webhook_hosts: Vec<String>,
    /// A poll without events is answered after this time; absent means the published 45 to 50 seconds.
    pub heartbeat: Option<Duration>,
    /// The largest file that can be uploaded, in MiB; absent means 100.
    pub max_file_upload_size_mib: Option<u64>,
    /// How much room all uploaded files may take, in MiB; absent means that nobody counts.
    pub upload_quota_mib: Option<u64>,
}

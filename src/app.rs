//! The state of a running server, shared by all handlers and background tasks.

use crate::auth::{CredentialCache, RateLimiter};
use crate::error::{ApiError, ApiResult};
use crate::events::Hub;
use crate::http_client::TlsClient;
use crate::metrics::Count;
use crate::oidc::{Environment, Provider, SignOn};
use crate::pool::{Pool, Pools};
use crate::smtp::MailServer;
use crate::store::{Readers, Snapshot, Writer};
use crate::types::{Clock, Hourly, JumpDetector, MailPattern, Network, RecipientId, UserId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// The space that uploads leave on the disk, in MiB. Other changes leave a quarter of it, reserved for deletions: see
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
    /// Detects jumps of the system clock.
    pub jump_detector: JumpDetector,
    /// When the server started, in UNIX seconds.
    pub started_at: i64,
    /// The owners of recently used API keys.
    pub credential_cache: CredentialCache,
    /// Limits on requests and on failures to log in.
    pub rate_limiter: RateLimiter,
    /// The pools for work that takes long.
    pub pools: Pools,
    /// Makes TLS connections to other servers.
    pub tls_client: TlsClient,
    /// Logins at providers of OpenID Connect.
    pub sign_on: SignOn,
    /// Wakes scheduled tasks, since the time of the next one may have changed.
    pub scheduler_wakeup: watch::Sender<()>,
    /// The progress of scheduled tasks.
    pub scheduler_progress: watch::Sender<SchedulerProgress>,
    /// The scheduled backups.
    pub backups: Backups,
    /// The state of mail.
    pub mail: Mail,
    /// Notifications of browsers.
    pub web_push: Deliveries,
    /// Notifications of phones.
    pub phone_push: Deliveries,
    /// The number of messages of the last weeks, by channel.
    pub channel_traffic: Hourly<RecipientId, i64>,
    /// Until when the certificate is valid; not set without TLS.
    pub certificate_end: OnceLock<Arc<CertificateEnd>>,
    /// The request that `teamchat doctor` sends through the public address.
    pub probe: Mutex<Probe>,
    /// When the space of the file and the disk was last measured, in UNIX seconds.
    pub space_measured: AtomicI64,
    /// True if the last line of the log about it says that the disk is almost full.
    pub is_full_disk_logged: AtomicBool,
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

    /// Runs `work` on a snapshot: in a pool as [`Self::read_in`] if it is long, or else on the calling thread.
    pub async fn read_in_if<T: Send + 'static>(
        &self,
        is_long: bool,
        pool: &Pool,
        user: Option<UserId>,
        work: impl FnOnce(&Snapshot<'_>) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        if is_long { self.read_in(pool, user, work).await } else { self.readers.read(work).await }
    }

    /// Runs `work` of unknown length on a snapshot: on the calling thread, and again in the pool for slow reads if it takes
    /// longer than about ten milliseconds there; see [`Readers::read_quickly`].
    pub async fn read_quickly_or_slowly<T: Send + 'static>(
        &self,
        user: Option<UserId>,
        work: impl Fn(&Snapshot<'_>) -> ApiResult<T> + Send + Sync + 'static,
    ) -> ApiResult<T> {
        self.read_quickly_or_in(&self.pools.slow_reads, user, work).await
    }

    /// Runs work as [`Self::read_quickly_or_slowly`], with another pool for slow reads.
    pub async fn read_quickly_or_in<T: Send + 'static>(
        &self,
        pool: &Pool,
        user: Option<UserId>,
        work: impl Fn(&Snapshot<'_>) -> ApiResult<T> + Send + Sync + 'static,
    ) -> ApiResult<T> {
        match self.readers.read_quickly(&work).await? {
            Some(value) => Ok(value),
            None => self.read_in(pool, user, work).await,
        }
    }

    /// Returns a value that is made of rows of the counted tables and of nothing else
    /// ([`WatchedTables::counted`](crate::store::WatchedTables::counted)): the one that was read before, as long as none of these
    /// rows changed.
    pub async fn kept<T: Clone + Send + 'static>(
        &self,
        load: impl FnOnce(&Snapshot<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        let tables = self.writer.table_version();
        let version = tables.get();
        if let Some(value) = tables.value(version) {
            return Ok(value);
        }
        let value = self.readers.read(load).await?;
        tables.keep(version, value.clone());
        Ok(value)
    }

    /// The environment of requests to providers of OpenID Connect.
    pub fn sign_on_environment(&self) -> Environment<'_> {
        Environment {
            tls: &self.tls_client,
            timeout: self.options.overrides.outgoing_timeout,
            clock: &self.clock,
        }
    }

    /// Number of bytes that changes leave free on the disk; uploads leave four times as much.
    fn disk_reserve(&self) -> u64 {
        self.options.overrides.disk_reserve_mib.unwrap_or(DISK_RESERVE_MIB).saturating_mul(1 << 20) / 4
    }

    /// True if the disk has space for this number of bytes, and as much beside it as uploads leave.
    pub fn has_space_for(&self, size: u64) -> bool {
        let needed = self.disk_reserve().saturating_mul(4).saturating_add(size);
        self.writer.free_space().is_none_or(|free| free >= needed)
    }

    /// Number of bytes of files for which the disk has space, beside the space that uploads leave; `None` if it is unknown.
    pub fn space_for_files(&self) -> Option<u64> {
        let reserve = self.disk_reserve().saturating_mul(4);
        self.writer.free_space().map(|free| free.saturating_sub(reserve))
    }

    /// True if the scheduled backups are late: one takes long or hangs, or none was made while the server was stopped.
    pub fn is_backup_overdue(&self) -> bool {
        self.backup_overdue_after().is_some_and(|time| self.clock.seconds() > time)
    }

    /// The time after which the scheduled backups are late, in UNIX seconds; `None` if there are none.
    pub fn backup_overdue_after(&self) -> Option<i64> {
        let every = self.options.backups.as_ref()?.every;
        let last = self.backups.status().last_success.map_or(self.started_at, |backup| backup.time);
        Some(last.saturating_add(every.saturating_mul(2)))
    }

    /// Until when the certificate is valid, in UNIX seconds; `None` without TLS, or as long as there is no certificate.
    pub fn certificate_end(&self) -> Option<i64> {
        let end = self.certificate_end.get()?.time.load(Ordering::Relaxed);
        (end != 0).then_some(end)
    }

    /// True if an ACME server issues the certificate.
    pub fn has_issued_certificate(&self) -> bool {
        self.certificate_end.get().is_some_and(|end| end.is_issued.load(Ordering::Relaxed))
    }

    /// True if there is TLS.
    pub fn has_tls(&self) -> bool {
        self.certificate_end.get().is_some()
    }

    /// True if there is TLS, and no certificate yet.
    pub fn lacks_certificate(&self) -> bool {
        self.has_tls() && self.certificate_end().is_none()
    }

    /// From when on warnings name the certificate, in UNIX seconds; `None` if there is none.
    pub fn certificate_warned_from(&self) -> Option<i64> {
        self.certificate_end()?;
        Some(self.certificate_end.get()?.warned_from.load(Ordering::Relaxed))
    }

    /// The end of a certificate that should have been renewed by a time, in UNIX seconds.
    pub fn certificate_ending(&self, now: i64) -> Option<i64> {
        let is_named = self.certificate_warned_from().is_some_and(|from| now >= from);
        self.certificate_end().filter(|_| is_named)
    }

    /// True while the disk is almost full: the remaining space is for deletions. The log has a line when this begins, and when it
    /// ends.
    pub fn refuses_changes(&self) -> bool {
        let refuses = self.writer.has_less_space_than(self.disk_reserve());
        if self.is_full_disk_logged.swap(refuses, Ordering::Relaxed) != refuses {
            if refuses {
                tracing::warn!("the disk is almost full: changes are refused until some space is free");
            } else {
                tracing::info!("the disk has space again: changes are accepted");
            }
        }
        refuses
    }

    /// Refuses changes while the disk is almost full.
    pub fn check_disk(&self) -> ApiResult<()> {
        if !self.refuses_changes() {
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
    /// True if successful requests are limited, as on the published server.
    pub rate_limit: bool,
    /// Hosts to which outgoing webhooks may post: `name`, `name:port`, `name:*`, or `*` for the public internet.
    pub webhook_hosts: Vec<String>,
    pub web_push: WebPush,
    /// The push bouncer of phones; `None` means that phones get no notifications.
    pub push_bouncer: Option<PushBouncer>,
    /// Providers of OpenID Connect at which people log in, in the order of their buttons.
    pub oidc: Vec<Provider>,
    /// The addresses at which the server receives mail; `None` if it receives none.
    pub mail_pattern: Option<MailPattern>,
    /// The largest file that can be uploaded, in MiB; `None` means 100.
    pub max_file_upload_size_mib: Option<u64>,
    /// Limit on the size of all uploaded files, in MiB; `None` means no limit.
    pub upload_quota_mib: Option<u64>,
    /// The same for each person with their bots; `None` means a share by role, as in `domain::upload_quota`.
    pub upload_quota_per_person_mib: Option<u64>,
    /// Number of days for which the audit log is kept; `None` means 400.
    pub audit_keep_days: Option<u32>,
    /// Mail; `None` means that this server sends none.
    pub mail: Option<MailOptions>,
    /// The scheduled backups; `None` means that there are none.
    pub backups: Option<BackupOptions>,
    /// True if another program copies the log of the database, and decides when it is emptied.
    pub is_replicated: bool,
    /// Source of the files of the web client.
    pub client_files: ClientFiles,
    /// True if search engines may list the public pages.
    pub search_engines: bool,
    /// True if API keys are issued without passwords, for developers of clients.
    pub dev_login: bool,
    /// Replaced constants.
    pub overrides: Overrides,
}

/// Replacements for constants of the program. No flag sets them: they are for tests, and for databases in memory.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Maximum duration of a poll; `None` means 45 to 49.5 seconds.
    pub heartbeat: Option<Duration>,
    /// Maximum duration of a request to a webhook, a push service or a provider of OpenID Connect; `None` means 10 seconds.
    pub outgoing_timeout: Option<Duration>,
    /// Maximum time that a caller waits for work in a pool; `None` means 10 or 30 seconds, by the pool, and a day for backups and
    /// exports.
    pub pool_deadline: Option<Duration>,
    /// The most connections of one address, this machine included; `None` means 256, and no limit for this machine.
    pub connections_per_address: Option<usize>,
    /// The space that uploads leave on the disk, in MiB; `None` means 256. Other changes leave a quarter of it.
    pub disk_reserve_mib: Option<u64>,
    /// The share of the disk in use, in percent, from which on owners are warned; `None` means 80.
    pub disk_warning: Option<i64>,
    /// The time for the formulas in the messages of one payload of an incoming webhook; `None` means 5 seconds.
    pub time_for_formulas: Option<Duration>,
}

impl Overrides {
    /// A share of the disk that is never in use.
    pub const NO_DISK_WARNING: i64 = 101;
}

/// The way in which mail is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailOptions {
    /// The address, encryption and credentials of the mail server; of `--smtp-url`.
    pub server: MailServer,
    /// The address that emails come from.
    pub sender: String,
    /// The base of links in emails: scheme, host and port, without a slash at the end.
    pub url: String,
}

/// Options of Web Push.
#[derive(Clone, Debug, Default)]
pub struct WebPush {
    /// True if no notifications are sent.
    pub is_off: bool,
    /// Hosts of push services beside those of the public internet: `name`, `name:port` or `name:*`.
    pub hosts: Vec<String>,
    /// Certificates of authorities of push services beside those of public servers, in PEM.
    pub authorities: Option<String>,
}

/// A push bouncer: the service that passes notifications on to the phone apps, whose publisher runs it. Nothing is sent to one
/// that the operator does not name.
#[derive(Clone)]
pub struct PushBouncer {
    /// Its URL without a slash at the end: https, or http on this machine.
    pub url: String,
    /// The id that it knows this server by.
    pub org_id: String,
    /// The secret that goes with the id.
    pub org_key: String,
}

impl fmt::Debug for PushBouncer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushBouncer")
            .field("url", &self.url)
            .field("org_id", &self.org_id)
            .finish_non_exhaustive()
    }
}

/// Source of the files of the web client.
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
    /// Number of requests to run all due work.
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

/// The end of the certificate, in UNIX seconds. The times are 0 as long as there is no certificate.
#[derive(Debug, Default)]
pub struct CertificateEnd {
    /// Until when it is valid.
    pub time: AtomicI64,
    /// From when on warnings name it.
    pub warned_from: AtomicI64,
    /// True if an ACME server issues it, so that there are no files to replace.
    pub is_issued: AtomicBool,
}

/// A request to find out whether an address leads to this server, and through which proxies.
#[derive(Default)]
pub struct Probe {
    /// The text that the request has; empty if none is expected.
    pub token: String,
    /// The request, once it has arrived.
    pub seen: Option<SeenProbe>,
}

/// A [`Probe`] as it arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenProbe {
    /// The client's address, as limits and the audit log have it.
    pub client: IpAddr,
    /// True if the connection came from a trusted proxy.
    pub is_proxied: bool,
    /// All lines of `X-Forwarded-For`, joined.
    pub forwarded_for: String,
}

/// When and where backups are made, and which are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupOptions {
    /// The folder that backups are written to; of `--backup-to`.
    pub folder: PathBuf,
    /// Seconds between two backups.
    pub every: i64,
    /// The rule of what is kept, such as `7d,4w,6m`.
    pub keep: String,
    /// The public keys that backups are encrypted to.
    pub recipients: Vec<String>,
}

/// The results of deliveries to other servers since the server started: of emails, or of notifications.
#[derive(Default)]
pub struct Deliveries {
    /// Number of those that were taken.
    pub sent: Count,
    /// Number of those that were refused for good.
    pub refused: Count,
    /// Number of those that became useless while they waited.
    pub expired: Count,
    /// Number of attempts that failed.
    pub failures: Count,
    /// When the last one was taken, in UNIX seconds; 0 if none was.
    last_success: AtomicI64,
    failing: Mutex<Option<FailingDeliveries>>,
}

/// The outcome of an attempt to deliver something.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'e> {
    Taken,
    /// It alone is refused for good: others may be taken.
    Unwanted,
    /// It is refused for good, with an error that may be true for others too.
    Refused(&'e str),
    /// The attempt failed with this error, and may be repeated.
    Failed(&'e str),
}

/// Deliveries of which the last attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingDeliveries {
    /// Since when none was taken, in UNIX seconds.
    pub since: i64,
    /// The error of the last attempt.
    pub error: String,
}

impl Deliveries {
    /// Notes the outcome of an attempt. Returns its counter, to be incremented when the change of the queue is stored.
    pub fn note(&self, now: i64, outcome: Outcome<'_>) -> &Count {
        let mut failing = self.failing.lock();
        let (counter, error) = match outcome {
            Outcome::Taken => {
                self.last_success.store(now, Ordering::Relaxed);
                *failing = None;
                return &self.sent;
            }
            Outcome::Unwanted => return &self.refused,
            Outcome::Refused(error) => (&self.refused, error),
            Outcome::Failed(error) => (&self.failures, error),
        };
        let since = failing.as_ref().map_or(now, |failing| failing.since);
        *failing = Some(FailingDeliveries { since, error: error.to_owned() });
        counter
    }

    /// The failure of the last attempt, if it failed.
    pub fn failing(&self) -> Option<FailingDeliveries> {
        self.failing.lock().clone()
    }

    /// When the last one was taken, in UNIX seconds; `None` if none was since the start.
    pub fn last_success(&self) -> Option<i64> {
        Some(self.last_success.load(Ordering::Relaxed)).filter(|time| *time != 0)
    }
}

/// The state of mail since the server started.
#[derive(Default)]
pub struct Mail {
    /// The results of deliveries.
    pub deliveries: Deliveries,
    /// Number of attempts in a row in which the mail server failed.
    pub failures_in_a_row: AtomicU64,
    /// The time before which the mail server is left alone, in UNIX seconds.
    pub next_attempt: AtomicI64,
    /// The last time at which emails that are due were looked for, in UNIX seconds; 0 if they were not yet.
    pub last_run: AtomicI64,
    /// Emails that were sent and may still be in the queue.
    sent_ids: Mutex<HashSet<i64>>,
    /// Emails at which the mail server failed since it took one.
    failed_ids: Mutex<HashSet<i64>>,
}

impl Mail {
    /// Emails at which the mail server failed, which are tried after all others.
    pub fn failed_ids(&self) -> Vec<i64> {
        self.failed_ids.lock().iter().copied().collect()
    }

    /// Notes that the mail server failed at an email.
    pub fn mark_failed(&self, id: i64) {
        self.failed_ids.lock().insert(id);
    }

    /// Forgets at which emails the mail server failed: it took another one, or all of them were tried.
    pub fn forget_failed(&self) {
        self.failed_ids.lock().clear();
    }

    /// True if an email in the queue was sent.
    pub fn has_sent(&self, id: i64) -> bool {
        self.sent_ids.lock().contains(&id)
    }

    /// Notes that an email was sent, before it is deleted: it is not sent again if that fails.
    pub fn mark_sent(&self, id: i64) {
        self.sent_ids.lock().insert(id);
    }

    /// Notes that an email was deleted.
    pub fn forget_sent(&self, id: i64) {
        self.sent_ids.lock().remove(&id);
    }
}

/// The state of the scheduled backups.
#[derive(Default)]
pub struct Backups {
    status: Mutex<BackupStatus>,
    /// True ends the backup that is being made.
    pub stop: Arc<AtomicBool>,
}

/// The result of the scheduled backups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupStatus {
    /// The newest backup that succeeded.
    pub last_success: Option<BackupRecord>,
    /// Why the last attempt failed; `None` if it succeeded.
    pub failure: Option<BackupFailure>,
    /// Number of attempts that failed since the server started.
    pub failures: u64,
    /// When the next one is due, in UNIX seconds.
    pub next_due: Option<i64>,
    /// Since when one is being made, in UNIX seconds; `None` if none is.
    pub running_since: Option<i64>,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRecord {
    /// The name of the file; of those that the command makes, the path, or `-` for standard output.
    pub name: String,
    /// When it was made, in UNIX seconds.
    pub time: i64,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The time that it took, in milliseconds.
    pub milliseconds: u64,
}

/// A backup that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFailure {
    /// When it failed, in UNIX seconds.
    pub time: i64,
    /// The text of the error, for the operator.
    pub error: String,
}

impl Backups {
    /// Returns what is known.
    pub fn status(&self) -> BackupStatus {
        self.status.lock().clone()
    }

    /// Changes what is known.
    pub fn update(&self, change: impl FnOnce(&mut BackupStatus)) {
        change(&mut self.status.lock());
    }
}

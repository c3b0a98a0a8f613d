//! `status`: the state of a server or a database.

use crate::app::{App, BackupRecord, BackupStatus, Deliveries};
use crate::domain::mail::Priority;
use crate::domain::notices::operation;
use crate::domain::statistics::{Backlog, Backlogs, Recent, Statistics};
use crate::domain::upload_quota::{ALMOST_FULL, UploadQuota};
use crate::domain::{audit, backups, realm, rows, upload_quota, users};
use crate::http::ApiResult;
use crate::store::Snapshot;
use crate::types::version::FEATURE_LEVEL;
use crate::types::{SECONDS_PER_DAY, format_days, timestamp};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Free space of a disk below which `status` and `doctor` warn, in bytes.
pub const LOW_DISK: u64 = 1 << 30;

/// Days until the disk is full from which `status` warns.
const DISK_DAYS: i64 = 30;

/// Free space inside the file from which `status` warns, if it is also a quarter of the file, in bytes.
const UNUSED: u64 = 64 << 20;

/// Size of the write-ahead log from which they warn, in bytes. It is emptied when it has 4 MiB, unless it is in use.
pub const LARGE_LOG: u64 = 256 << 20;

/// The most people that one warning names.
const MAX_NAMED: usize = 5;

/// Time of failures from which `status` warns of notifications, in seconds. Push services of browsers fail now and then.
const PUSH_FAILING: i64 = 15 * 60;

/// Failed logins of a day from which `status` warns.
const MANY_FAILURES: i64 = 100;

/// The remedy for a certificate that an ACME server does not issue. The lines of the log have these words.
const ISSUE: &str = "Remove the cause, which the lines `no certificate was issued` of the log name. SIGHUP (`systemctl reload teamchat`) \
    starts the next attempt immediately.";

/// The answer to [`Command::Status`](super::Command::Status).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The version of the program.
    pub version: String,
    /// The feature level of the interface.
    pub feature_level: i64,
    /// The address for clients, if it is configured.
    pub public_url: Option<String>,
    /// When the server started, in UNIX seconds.
    pub started_at: i64,
    /// Number of event queues.
    pub queues: usize,
    /// Number of polls that wait for events.
    pub polls_waiting: usize,
    /// Counts and sizes of the database.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// Growth.
    #[serde(flatten)]
    pub recent: Recent,
    /// Size of the database file.
    pub database_bytes: u64,
    /// Size of the write-ahead log.
    pub wal_bytes: u64,
    /// Free space of the disk.
    pub disk_free_bytes: Option<u64>,
    /// Growth of the file in a day, in bytes: an estimate from the last 30 days.
    #[serde(default)]
    pub growth_bytes_per_day: i64,
    /// Days until the disk is full at this growth; `None` if it does not grow.
    #[serde(default)]
    pub days_until_disk_full: Option<i64>,
    /// The folder of the scheduled backups; `None` if there are none, or the server is stopped.
    pub backup_folder: Option<PathBuf>,
    /// The scheduled backups. The newest may also be one of the command.
    pub backups: BackupStatus,
    /// Mail; `None` if this server sends none, or is stopped.
    pub mail: Option<MailStatus>,
    /// Notifications of browsers; `None` if Web Push is off.
    pub web_push: Option<DeliveryStatus>,
    /// Notifications of phones; `None` without a push bouncer, or if the server is stopped.
    pub phone_push: Option<DeliveryStatus>,
    /// Problems, each with its remedy.
    pub warnings: Vec<String>,
}

/// The state of mail.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MailStatus {
    /// Host and port of the mail server.
    pub server: String,
    /// The address that emails come from.
    pub sender: String,
    /// The emails.
    #[serde(flatten)]
    pub letters: DeliveryStatus,
}

impl MailStatus {
    fn of(app: &App, backlog: Backlog) -> Option<Self> {
        let options = app.options.mail.as_ref()?;
        let letters = DeliveryStatus::of(&app.mail.deliveries, backlog);
        Some(Self { server: options.server.to_string(), sender: options.sender.clone(), letters })
    }
}

/// The state of deliveries to another server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryStatus {
    /// The items that wait.
    #[serde(flatten)]
    pub backlog: Backlog,
    /// Number of those that were taken since the start.
    pub sent: u64,
    /// Number of those that were refused for good since the start.
    pub refused: u64,
    /// Number of those that became useless while they waited, since the start.
    pub expired: u64,
    /// Number of attempts that failed since the start.
    pub failures: u64,
    /// When the last one was taken, in UNIX seconds; `None` if none was since the start.
    pub last_success: Option<i64>,
    /// Since when none was taken, in UNIX seconds; `None` if the last attempt succeeded.
    pub failing_since: Option<i64>,
    /// Why the last attempt failed, if it did.
    pub error: Option<String>,
}

impl DeliveryStatus {
    fn of(results: &Deliveries, backlog: Backlog) -> Self {
        let (failing_since, error) = results.failing().map(|failing| (failing.since, failing.error)).unzip();
        Self {
            backlog,
            sent: results.sent.get(),
            refused: results.refused.get(),
            expired: results.expired.get(),
            failures: results.failures.get(),
            last_success: results.last_success(),
            failing_since,
            error,
        }
    }
}

/// Collects the status.
pub(super) async fn status(app: &App) -> ApiResult<Status> {
    let (now, quota) = (app.clock.seconds(), UploadQuota::of(&app.options));
    let read = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
        Ok(Read {
            statistics: Statistics::load(snapshot)?,
            recent: Recent::load(snapshot, now)?,
            failed_logins: audit::count_failures(snapshot, now - SECONDS_PER_DAY)?,
            is_closed: realm::is_deactivated(snapshot)?,
            can_log_in: users::can_anyone_log_in(snapshot)?,
            last_backup: backups::last_recorded(snapshot)?,
            is_backup_failing: operation::is_backup_failing(snapshot)?,
            full_quotas: full_quotas(snapshot, quota)?,
            backlogs: Backlogs::load(snapshot, now)?,
        })
    });
    let read = read.await?;
    let mut backups = app.backups.status();
    // The command makes backups too, and the server has made none since it started.
    backups.last_success =
        backups.last_success.into_iter().chain(read.last_backup.clone()).max_by_key(|last| last.time);
    let mail = MailStatus::of(app, read.backlogs.mail);
    let web_push =
        (!app.options.web_push.is_off).then(|| DeliveryStatus::of(&app.web_push, read.backlogs.web_push));
    let phone_push = app
        .options
        .push_bouncer
        .as_ref()
        .map(|_| DeliveryStatus::of(&app.phone_push, read.backlogs.phone_push));
    let mut warnings = warnings(app, &read, &backups, now);
    let (database_bytes, wal_bytes) = app.writer.file_sizes();
    let disk_free_bytes = app.writer.free_space();
    let growth = read.recent.bytes_per_day(&read.statistics, database_bytes);
    let days_until_disk_full = days_until_full(disk_free_bytes, growth);
    if let Some(days) = days_until_disk_full.filter(|days| *days < DISK_DAYS) {
        let (left, past) = (format_days(days), format_days(read.recent.days));
        warnings.push(format!(
            "The disk will be full in {left}, at the growth of the last {past}: free some space, move the database to a larger disk, \
             or set a quota with --upload-quota-mib."
        ));
    }
    add_mail(mail.as_ref(), &mut warnings);
    add_push([web_push.as_ref(), phone_push.as_ref()], now, &mut warnings);
    let queues = app.hub.figures();
    Ok(Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        feature_level: FEATURE_LEVEL,
        public_url: app.options.public_url.clone(),
        started_at: app.started_at,
        queues: queues.queues,
        polls_waiting: queues.waiting,
        statistics: read.statistics,
        recent: read.recent,
        database_bytes,
        wal_bytes,
        disk_free_bytes,
        growth_bytes_per_day: growth,
        days_until_disk_full,
        backup_folder: app.options.backups.as_ref().map(|options| options.folder.clone()),
        backups,
        mail,
        web_push,
        phone_push,
        warnings,
    })
}

/// Days until a disk is full, if its files grow.
fn days_until_full(free: Option<u64>, growth: i64) -> Option<i64> {
    i64::try_from(free?).unwrap_or(i64::MAX).checked_div(growth)
}

/// The parts of the status that are in the database.
struct Read {
    statistics: Statistics,
    recent: Recent,
    failed_logins: i64,
    is_closed: bool,
    can_log_in: bool,
    last_backup: Option<BackupRecord>,
    is_backup_failing: bool,
    /// The emails of people whose own quota is almost used up, and the share in percent.
    full_quotas: Vec<(String, i64)>,
    backlogs: Backlogs,
}

fn full_quotas(snapshot: &Snapshot<'_>, quota: UploadQuota) -> ApiResult<Vec<(String, i64)>> {
    let mut people = quota.people_above(snapshot, ALMOST_FULL)?;
    people.sort_by_key(|person| std::cmp::Reverse(person.percent()));
    let named = people.iter().map(|person| {
        let email = rows::user::by_id(snapshot, person.user_id)?.map(|user| user.delivery_email);
        Ok((email.unwrap_or_default(), person.percent()))
    });
    named.collect()
}

/// Adds the quotas of uploads that are almost used up.
fn add_quotas(app: &App, read: &Read, warnings: &mut Vec<String>) {
    if let Some(quota) = UploadQuota::of(&app.options).of_all() {
        let percent = upload_quota::percent(read.statistics.upload_bytes.unsigned_abs(), quota);
        if percent >= ALMOST_FULL {
            warnings.push(format!(
                "Uploaded files take {percent} % of their quota: ask people to delete old files, or raise --upload-quota-mib."
            ));
        }
    }
    if read.full_quotas.is_empty() {
        return;
    }
    let named =
        read.full_quotas.iter().take(MAX_NAMED).map(|(email, percent)| format!("{email} ({percent} %)"));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match read.full_quotas.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    warnings.push(format!(
        "The upload quota of {named}{more} is almost used up: ask them to delete old files, or raise --upload-quota-per-person-mib."
    ));
}

/// Adds mail that is not sent, or dropped.
fn add_mail(mail: Option<&MailStatus>, warnings: &mut Vec<String>) {
    let Some(MailStatus { letters, .. }) = mail else { return };
    let waiting = letters.backlog.waiting;
    if let Some(since) = letters.failing_since {
        let (since, error) = (timestamp(since), letters.error.as_deref().unwrap_or_default());
        warnings.push(format!(
            "No email could be sent since {since}: {error}. {waiting} emails are waiting. `teamchat mail test ADDRESS` tests the mail \
             server."
        ));
    }
    if waiting >= Priority::Bulk.most_waiting() {
        warnings.push(format!(
            "{waiting} emails are waiting, and new emails are dropped: use a mail server that accepts more emails."
        ));
    }
}

/// Adds transports of notifications that have failed for some time: of browsers, and of phones.
fn add_push([web_push, phone_push]: [Option<&DeliveryStatus>; 2], now: i64, warnings: &mut Vec<String>) {
    let remedies = [
        (
            web_push,
            "No push service accepted a notification",
            "allow this machine HTTPS requests to the internet, or turn Web \
         Push off with `--web-push off`",
        ),
        (
            phone_push,
            "The push bouncer accepted no notification",
            "check --push-bouncer, --push-org-id and --push-org-key",
        ),
    ];
    for (status, problem, remedy) in remedies {
        let Some(status) = status else { continue };
        let Some(since) = status.failing_since.filter(|since| now - since >= PUSH_FAILING) else { continue };
        let (since, error) = (timestamp(since), status.error.as_deref().unwrap_or_default());
        let waiting = status.backlog.waiting;
        warnings.push(format!("{problem} since {since}: {error}. {waiting} notifications wait; {remedy}."));
    }
}

/// The warning of scheduled backups that are late.
fn overdue_backup(app: &App) -> String {
    // Those of the command do not count.
    let scheduled = app.backups.status();
    let last = scheduled.last_success.map_or(app.started_at, |last| last.time);
    let running =
        scheduled.running_since.map(|since| format!(", and one has been running since {}", timestamp(since)));
    let folder = app.options.backups.as_ref().map(|options| options.folder.display().to_string());
    format!(
        "The last scheduled backup is overdue: no backup was made since {}{}. Check whether {} responds, and look into the log.",
        timestamp(last),
        running.unwrap_or_default(),
        folder.unwrap_or_default()
    )
}

/// Lists problems, each with its remedy.
fn warnings(app: &App, read: &Read, backups: &BackupStatus, now: i64) -> Vec<String> {
    let mut warnings = Vec::new();
    if read.is_closed {
        warnings.push("The organization is deactivated: run `teamchat organization reactivate`.".to_owned());
    }
    if !read.can_log_in {
        warnings.push("There is no owner: open the link that `teamchat serve` prints.".to_owned());
    }
    let refused = match (app.refuses_changes(), app.has_space_for(0)) {
        (true, _) => ", and changes are refused",
        (false, false) => ", and uploads are refused",
        (false, true) => "",
    };
    if let Some(free) = app.writer.free_space().filter(|free| *free < LOW_DISK || !refused.is_empty()) {
        let mib = free >> 20;
        warnings.push(format!(
            "The disk has {mib} MiB left{refused}: free some space, or move the database to a larger disk."
        ));
    }
    let (database_bytes, wal_bytes) = app.writer.file_sizes();
    let unused = read.statistics.unused_bytes.unsigned_abs();
    if unused >= UNUSED && unused * 4 >= database_bytes {
        let mib = unused >> 20;
        warnings
            .push(format!("{mib} MiB of the file are unused: `teamchat compact` returns them to the disk."));
    }
    if wal_bytes >= LARGE_LOG && !app.options.is_replicated {
        let mib = wal_bytes >> 20;
        warnings.push(format!(
            "The write-ahead log of the database has {mib} MiB: another program, such as a backup that hangs, keeps it open. Stop that program."
        ));
    }
    add_quotas(app, read, &mut warnings);
    if let Some(failure) = &backups.failure {
        let (since, error) = (timestamp(failure.time), &failure.error);
        warnings.push(format!(
            "The backup failed at {since}: {error}. The server tries again. Until a backup succeeds, `teamchat backup` can save one elsewhere."
        ));
    } else if app.is_backup_overdue() {
        warnings.push(overdue_backup(app));
    } else if app.options.backups.is_none() && read.is_backup_failing {
        warnings.push(
            "The last scheduled backup failed: start the server with --backup-to, and look into its log."
                .to_owned(),
        );
    }
    if let Some(end) = app.certificate_ending(now) {
        let (word, end) = (if end > now { "ends" } else { "ended" }, timestamp(end));
        let remedy = if app.has_issued_certificate() {
            format!("it was not renewed. {ISSUE}")
        } else {
            "replace the files of --tls-cert and --tls-key. The server reads them again when they change."
                .to_owned()
        };
        warnings.push(format!("The certificate {word} at {end}: {remedy}"));
    } else if app.lacks_certificate() {
        warnings.push(format!("There is no certificate, so clients cannot connect. {ISSUE}"));
    }
    if read.failed_logins >= MANY_FAILURES {
        let words = "logins failed in the last day: see `teamchat audit --action login_failed`";
        warnings.push(format!("{} {words}.", read.failed_logins));
    }
    warnings
}

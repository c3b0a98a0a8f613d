//! `teamchat status`.

use super::common::{Failure, File, Output, Style, run_command};
use clap::Args;
use clap::builder::BoolishValueParser;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;
use teamchat::app::BackupStatus;
use teamchat::commands::{Command, DeliveryStatus, Status};
use teamchat::domain::statistics::Sizes;
use teamchat::store::Database;
use teamchat::types::timestamp;

/// The time between two screens of `--watch`.
const INTERVAL: Duration = Duration::from_secs(2);

/// Days that the screen shows at most. Growth changes before that.
const MAX_DAYS: i64 = 3650;

#[derive(Args)]
pub(super) struct StatusCommand {
    #[command(flatten)]
    file: File,
    /// Also print the sizes of the parts of the database: messages, search index, events, files. Reads the whole file, which
    /// takes some seconds for each GiB.
    #[arg(long, env = "TEAMCHAT_SIZES", value_parser = BoolishValueParser::new(), conflicts_with = "watch")]
    sizes: bool,
    /// Repeat the output every two seconds until Ctrl-C.
    #[arg(long, env = "TEAMCHAT_WATCH", value_parser = BoolishValueParser::new())]
    watch: bool,
    #[command(flatten)]
    output: Output,
}

impl StatusCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        loop {
            let server = Database::announced(&self.file.db);
            let status: Status = run_command(&self.file.db, Command::Status)?;
            if self.watch && !self.output.json {
                // A closed pipe is noticed below.
                let _unseen = write!(std::io::stdout(), "\x1b[2J\x1b[H");
            }
            let sizes =
                if self.sizes { Some(Sizes::measure(&Database::inspect(&self.file.db)?.0)?) } else { None };
            let address = server.as_ref().and_then(|server| server.origin.as_deref());
            let mut value = serde_json::to_value(&status)?;
            value["running"] = server.is_some().into();
            value["address"] = json!(address);
            if server.is_none() {
                value["started_at"] = Value::Null;
            }
            if let Some(sizes) = &sizes {
                value["sizes"] = json!(sizes);
            }
            let is_read = self.output.print_unless_closed(&self.file.db, &value, |out, style| {
                write_screen(out, style, &status, sizes.as_ref(), server.is_some(), address)
            })?;
            if !self.watch || !is_read {
                return Ok(());
            }
            std::thread::sleep(INTERVAL);
        }
    }
}

fn write_screen(
    out: &mut dyn Write,
    style: Style,
    status: &Status,
    sizes: Option<&Sizes>,
    is_running: bool,
    address: Option<&str>,
) -> std::io::Result<()> {
    let (figures, recent) = (&status.statistics, &status.recent);
    writeln!(out, "{} {}", style.bold("teamchat"), style.dim(&status.version))?;
    if is_running {
        let since = timestamp(status.started_at);
        let address = address.map(|address| format!(" at {}", style.green(address))).unwrap_or_default();
        writeln!(out, "  server     running since {since}{address}")?;
    } else {
        writeln!(out, "  server     stopped")?;
    }
    if let Some(url) = &status.public_url {
        writeln!(out, "  public     {url}")?;
    }
    writeln!(out, "  people     {} and {} bots", figures.people, figures.bots)?;
    writeln!(out, "  queues     {}, {} polls wait", status.queues, status.polls_waiting)?;
    let tenths = recent.messages_in_hour / 6;
    writeln!(
        out,
        "  messages   {} sent, {} in the last day, {}.{} a minute in the last hour",
        figures.newest_message_id,
        recent.messages_in_day,
        tenths / 10,
        tenths % 10
    )?;
    writeln!(out, "  database   {}, and {} of its log", size(status.database_bytes), size(status.wal_bytes))?;
    let bytes = |bytes: i64| size(u64::try_from(bytes).unwrap_or(0));
    writeln!(
        out,
        "  files      {} with {}, {} of them in the last 30 days",
        recent.uploads,
        bytes(figures.upload_bytes),
        bytes(recent.upload_bytes_in_30_days)
    )?;
    if let Some(free) = status.disk_free_bytes {
        writeln!(out, "  disk       {} free{}", size(free), lasting(status))?;
    }
    if let Some(sizes) = sizes {
        let Sizes { messages, search, events, files, other, unused } = sizes.clone();
        let parts = [
            ("messages", messages),
            ("search index", search),
            ("events", events),
            ("files", files),
            ("other", other),
            ("unused", unused),
        ];
        let parts = parts.map(|(name, part)| format!("{name} {}", bytes(part)));
        writeln!(out, "  parts      {}", parts.join(", "))?;
    }
    writeln!(out, "  backup     {}", backup(&status.backups, status.backup_folder.is_some()))?;
    if let Some(mail) = &status.mail {
        let (server, sender) = (&mail.server, &mail.sender);
        writeln!(out, "  mail       {}; {sender} by {server}", deliveries(&mail.letters))?;
    }
    for (name, status) in [("web push", &status.web_push), ("phones", &status.phone_push)] {
        if let Some(status) = status.as_ref().filter(|status| is_used(status)) {
            writeln!(out, "  {name:10} {}", deliveries(status))?;
        }
    }
    for warning in &status.warnings {
        writeln!(out, "{} {warning}", style.red("warning:"))?;
    }
    Ok(())
}

/// The days that the disk lasts, and the growth in a day.
fn lasting(status: &Status) -> String {
    let Some(days) = status.days_until_disk_full else { return String::new() };
    let growth = size(u64::try_from(status.growth_bytes_per_day).unwrap_or(0));
    let time = if days > MAX_DAYS { "over 10 years".to_owned() } else { format!("{days} days") };
    format!(", enough for {time} at {growth} a day")
}

/// True if something was sent since the start, or waits.
fn is_used(status: &DeliveryStatus) -> bool {
    let DeliveryStatus { backlog, sent, refused, expired, failures, .. } = status;
    backlog.waiting > 0 || sent + refused + expired + failures > 0
}

/// The numbers of deliveries, when the last one succeeded, and since when the oldest waits.
fn deliveries(status: &DeliveryStatus) -> String {
    let since = |word: &str, time: Option<i64>| {
        time.map(|time| format!(" {word} {}", timestamp(time))).unwrap_or_default()
    };
    let DeliveryStatus { backlog, sent, refused, failures, .. } = status;
    format!(
        "{sent} sent{}, {refused} refused, {failures} failed attempts, {} waiting{}",
        since("until", status.last_success),
        backlog.waiting,
        since("since", backlog.oldest_waiting)
    )
}

/// The last backup, and the one that is running or the next one.
fn backup(backups: &BackupStatus, are_scheduled: bool) -> String {
    let last = backups.last_success.as_ref().map(|last| {
        format!(
            "{} with {} in {} s",
            timestamp(last.time),
            size(last.bytes),
            last.milliseconds.div_ceil(1000)
        )
    });
    let failed = backups.failure.as_ref().map(|failure| format!("failed at {}", timestamp(failure.time)));
    let running = backups.running_since.map(|since| format!("running since {}", timestamp(since)));
    let next = || backups.next_due.map(|due| format!("next at {}", timestamp(due)));
    let known: Vec<String> = [last, failed, running.or_else(next)].into_iter().flatten().collect();
    match (known.is_empty(), are_scheduled) {
        (false, _) => known.join(", "),
        (true, true) => "none yet".to_owned(),
        (true, false) => "none; `serve --backup-to DIR` makes them, or `teamchat backup`".to_owned(),
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    let (unit, divisor) = match bytes {
        0..0x10_0000 => ("KiB", 1_u64 << 10),
        0x10_0000..0x4000_0000 => ("MiB", 1 << 20),
        _ => ("GiB", 1 << 30),
    };
    format!("{}.{} {unit}", bytes / divisor, bytes % divisor * 10 / divisor)
}

#[cfg(test)]
mod tests {
    use super::{backup, size};
    use teamchat::app::{BackupFailure, BackupStatus};

    #[test]
    fn a_backup_is_running_only_while_it_is_made() {
        let due = BackupStatus { next_due: Some(1_800_000_000), ..BackupStatus::default() };
        let failure = Some(BackupFailure { time: 1_799_999_400, error: "the disk is gone".to_owned() });
        let failed = BackupStatus { failure, ..due.clone() };
        let again = BackupStatus { running_since: Some(1_800_000_000), ..failed.clone() };
        for (status, is_scheduled, expected) in [
            (
                BackupStatus::default(),
                false,
                "none; `serve --backup-to DIR` makes them, or `teamchat backup`",
            ),
            (BackupStatus::default(), true, "none yet"),
            (due, true, "next at 2027-01-15T08:00:00Z"),
            (failed, true, "failed at 2027-01-15T07:50:00Z, next at 2027-01-15T08:00:00Z"),
            (again, true, "failed at 2027-01-15T07:50:00Z, running since 2027-01-15T08:00:00Z"),
        ] {
            assert_eq!(backup(&status, is_scheduled), expected);
        }
    }

    #[test]
    fn sizes_have_one_decimal() {
        for (bytes, expected) in
            [(0, "0.0 KiB"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 29, "1.5 GiB")]
        {
            assert_eq!(size(bytes), expected);
        }
    }
}

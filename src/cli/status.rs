//! `teamchat status`.

use super::common::{Failure, File, Output, Style, print, run_command};
use clap::Args;
use clap::builder::BoolishValueParser;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;
use teamchat::commands::{Command, DeliveryStatus, Status};
use teamchat::store::Database;
use teamchat::types::{Clock, timestamp};

/// The time between two screens of `--watch`.
const INTERVAL: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(super) struct StatusCommand {
    #[command(flatten)]
    file: File,
    /// Repeat it every two seconds until Ctrl-C.
    #[arg(long, env = "TEAMCHAT_WATCH", value_parser = BoolishValueParser::new())]
    watch: bool,
    #[command(flatten)]
    output: Output,
}

impl StatusCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        loop {
            let server = Database::announced(&self.file.db)
                .map(|announcement| serde_json::from_str::<Value>(&announcement).unwrap_or_default());
            let status: Status = run_command(&self.file.db, Command::Status, false)?;
            if self.watch && !self.output.json {
                print(|out| write!(out, "\x1b[2J\x1b[H"))?;
            }
            let address = server.as_ref().and_then(|server| Some(server["origin"].as_str()?.to_owned()));
            let mut value = serde_json::to_value(&status)?;
            value["running"] = server.is_some().into();
            value["address"] = json!(address);
            if server.is_none() {
                value["started_at"] = Value::Null;
            }
            let is_read = self.output.print_unless_closed(&self.file.db, &value, |out, style| {
                write_screen(out, style, &status, server.is_some(), address.as_deref())
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
        writeln!(out, "  disk       {} free", size(free))?;
    }
    writeln!(out, "  backup     {}", backup(status))?;
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

/// The last backup and the next one.
fn backup(status: &Status) -> String {
    let last = status.backups.last_success.as_ref().map(|last| {
        format!(
            "{} with {} in {} s",
            timestamp(last.time),
            size(last.bytes),
            last.milliseconds.div_ceil(1000)
        )
    });
    let failed =
        status.backups.failure.as_ref().map(|failure| format!("failed at {}", timestamp(failure.time)));
    let next = status.backups.next_due.map(|due| next_backup(due, Clock::System.seconds()));
    let known: Vec<String> = [last, failed, next].into_iter().flatten().collect();
    if known.is_empty() {
        return "none; `serve --backup-to DIR` makes them, or `teamchat backup`".to_owned();
    }
    known.join(", ")
}

/// The time of the next backup, which stays while that one is made.
fn next_backup(due: i64, now: i64) -> String {
    if due > now { format!("next at {}", timestamp(due)) } else { "one is being made".to_owned() }
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
    use super::{next_backup, size};

    #[test]
    fn a_backup_that_is_due_is_being_made() {
        assert_eq!(next_backup(1_800_000_000, 1_799_999_999), "next at 2027-01-15T08:00:00Z");
        assert_eq!(next_backup(1_800_000_000, 1_800_000_000), "one is being made");
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

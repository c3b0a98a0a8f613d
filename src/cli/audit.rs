//! `teamchat audit`.

use super::common::{Failure, File, Output, Style, print, run_command};
use clap::Args;
use jiff::{SignedDuration, Span, Timestamp, civil, tz::TimeZone};
use serde_json::{Value, json};
use std::io::Write;
use teamchat::commands::Command;
use teamchat::domain::audit::{Action, AuditRecord, Filter, MAX_ENTRIES};
use teamchat::types::{Clock, nearest_name, timestamp};

#[derive(Args)]
pub(super) struct AuditCommand {
    #[command(flatten)]
    file: File,
    /// Print only entries since this time: a date, a time, UNIX seconds, or an age such as 7d or 12h.
    #[arg(long, env = "TEAMCHAT_SINCE", value_name = "TIME", value_parser = parse_since)]
    since: Option<i64>,
    /// Print only entries of this kind, such as login_failed or role_changed.
    #[arg(long, env = "TEAMCHAT_ACTION", value_name = "ACTION", value_parser = parse_action)]
    action: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl AuditCommand {
    /// Prints the entries, the oldest first, in pieces.
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut entries: Vec<AuditRecord> = Vec::new();
        loop {
            let filter = Filter {
                before_id: entries.last().map(|entry| entry.id),
                since: self.since,
                action: self.action.clone(),
                with_emails: true,
                limit: MAX_ENTRIES,
                ..Filter::default()
            };
            let more: Vec<AuditRecord> = run_command(&self.file.db, Command::ListAudit(filter))?;
            let is_last = more.len() < MAX_ENTRIES;
            entries.extend(more);
            if is_last {
                break;
            }
        }
        print(|out| {
            entries.iter().rev().try_for_each(|entry| {
                if self.output.json { writeln!(out, "{}", as_json(entry)) } else { write_line(out, entry) }
            })
        })
    }
}

fn time(entry: &AuditRecord) -> String {
    timestamp(entry.time).to_string()
}

/// An entry as a line of JSON, with a time that people can read.
fn as_json(entry: &AuditRecord) -> Value {
    let mut value = json!(entry);
    value["time"] = time(entry).into();
    value
}

fn write_line(out: &mut dyn Write, entry: &AuditRecord) -> std::io::Result<()> {
    let style = Style::stdout();
    let address = entry.address.as_deref().map(|address| format!(" from {address}")).unwrap_or_default();
    write!(
        out,
        "{}  {}  {}: {}",
        style.dim(&time(entry)),
        style.bold(&entry.action),
        entry.actor,
        entry.subject
    )?;
    match (&entry.before, &entry.after) {
        (Value::Null, Value::Null) => {}
        (Value::Null, after) => write!(out, " {after}")?,
        (before, Value::Null) => write!(out, " (before: {before})")?,
        (before, after) => write!(out, " {before} -> {after}")?,
    }
    if entry.times > 1 {
        write!(out, " {} times", entry.times)?;
    }
    writeln!(out, "{}", style.dim(&address))
}

/// The name of an action.
fn parse_action(text: &str) -> Result<String, String> {
    let names = || Action::ALL.iter().map(|action| action.name());
    if names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    Err(match nearest_name(text, names()) {
        Some(nearest) => format!("there is no such action; the nearest name is '{nearest}'"),
        None => {
            format!("there is no such action; the actions are {}", names().collect::<Vec<_>>().join(", "))
        }
    })
}

/// A point in time, in UNIX seconds.
fn parse_since(text: &str) -> Result<i64, String> {
    let since = |now: Timestamp| -> Option<i64> {
        if let Ok(seconds) = text.parse::<i64>() {
            return Some(seconds);
        }
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(time.as_second());
        }
        if let Ok(time) = text.parse::<civil::DateTime>() {
            return Some(time.to_zoned(TimeZone::system()).ok()?.timestamp().as_second());
        }
        let days = |span: Span| span.total((jiff::Unit::Second, jiff::SpanRelativeTo::days_are_24_hours()));
        let age = SignedDuration::try_from_secs_f64(days(text.parse::<Span>().ok()?).ok()?.abs()).ok()?;
        Some(now.checked_sub(age).ok()?.as_second())
    };
    Timestamp::from_second(Clock::System.seconds()).ok().and_then(since).ok_or_else(|| {
        "write a date such as 2027-01-31, a time, UNIX seconds, or an age such as 7d".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_known_names() {
        assert_eq!(parse_action("role_changed").unwrap(), "role_changed");
        assert!(parse_action("role_chnged").unwrap_err().ends_with("the nearest name is 'role_changed'"));
        assert!(parse_action("-").unwrap_err().contains("the actions are login, login_failed, "));
    }

    #[test]
    fn times_are_dates_numbers_and_ages() {
        assert_eq!(parse_since("2027-01-31T00:00:00Z"), Ok(1_801_353_600));
        assert_eq!(parse_since("1801353600"), Ok(1_801_353_600));
        assert!(parse_since("2027-01-31").is_ok_and(|time| (time - 1_801_353_600).abs() <= 86_400));
        let now = Clock::System.seconds();
        assert!(parse_since("7d").is_ok_and(|time| (now - 7 * 86_400 - time).abs() < 60));
        for text in ["yesterday", "", "7 parsecs"] {
            assert!(parse_since(text).unwrap_err().contains("such as 7d"), "{text}");
        }
    }
}

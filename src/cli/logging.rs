//! The program's log: text for people or JSON for machines, on standard error.
//!
//! Under systemd, when `JOURNAL_STREAM` names standard error, each line begins with the priority that the journal reads, and has
//! no time of its own.

use clap::ValueEnum;
use std::io::{IsTerminal, Write};
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The form of the log.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Libraries whose detailed logs have headers of requests.
const QUIET: [&str; 2] = ["h2", "hpack"];

/// Starts writing the log.
pub fn start(filter: &Targets, format: LogFormat) {
    let filter = filter.clone().with_targets(QUIET.map(|target| (target, LevelFilter::WARN)));
    let log = tracing_subscriber::registry();
    let is_journal = is_journal();
    let lines = || Lines { has_priority: is_journal };
    match (format, is_journal) {
        (LogFormat::Json, true) => {
            log.with(
                fmt::layer()
                    .json()
                    .flatten_event(true)
                    .without_time()
                    .with_writer(lines())
                    .with_filter(filter),
            )
            .init();
        }
        (LogFormat::Json, false) => {
            log.with(fmt::layer().json().flatten_event(true).with_writer(lines()).with_filter(filter)).init();
        }
        (LogFormat::Text, true) => {
            let layer = fmt::layer().without_time().with_level(false).with_ansi(false).with_writer(lines());
            log.with(layer.with_filter(filter)).init();
        }
        (LogFormat::Text, false) => {
            let layer = fmt::layer().with_ansi(std::io::stderr().is_terminal()).with_writer(lines());
            log.with(layer.with_filter(filter)).init();
        }
    }
}

/// True if standard error leads to the journal of systemd.
#[cfg(unix)]
fn is_journal() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(stderr) = std::io::stderr().as_fd().try_clone_to_owned() else { return false };
    std::fs::File::from(stderr)
        .metadata()
        .is_ok_and(|metadata| stream == format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_journal() -> bool {
    false
}

/// Writes lines to standard error.
struct Lines {
    has_priority: bool,
}

/// Writes a line, with a priority if there is one.
struct Line {
    priority: Option<u8>,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { priority: None }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line {
        Line { priority: self.has_priority.then(|| priority(*metadata.level())) }
    }
}

/// The priority of the journal, as in `sd-daemon(3)`.
fn priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        Level::DEBUG | Level::TRACE => 7,
    }
}

impl Write for Line {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let mut stderr = std::io::stderr().lock();
        let Some(priority) = self.priority else {
            stderr.write_all(text)?;
            return Ok(text.len());
        };
        let mut lines = Vec::with_capacity(text.len() + 8);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            write!(lines, "<{priority}>")?;
            lines.extend_from_slice(line);
        }
        stderr.write_all(&lines)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

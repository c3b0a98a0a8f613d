//! Slow statements in the log.

use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use std::time::Duration;

/// A statement that takes longer is reported in the log.
const SLOW_STATEMENT: Duration = Duration::from_millis(500);

/// The beginning of statements about the whole file.
const WHOLE_FILE: [&str; 2] = ["PRAGMA", "VACUUM"];

/// Reports slow statements of a connection.
pub(super) fn report(connection: &Connection) {
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(report_slow));
}

/// Reports a slow statement, without the values of its parameters.
fn report_slow(event: TraceEvent<'_>) {
    if let TraceEvent::Profile(statement, time) = event
        && is_slow(time, || statement.sql())
    {
        let statement = statement.sql().split_whitespace().collect::<Vec<_>>().join(" ");
        tracing::warn!(ms = time.as_secs_f64() * 1000.0, statement, "a slow statement");
    }
}

/// Work on the whole file takes long anyway. The text of a quick statement, which each request has many of, is not read.
fn is_slow<T: AsRef<str>>(time: Duration, statement: impl FnOnce() -> T) -> bool {
    time >= SLOW_STATEMENT && {
        let statement = statement();
        !WHOLE_FILE.iter().any(|name| statement.as_ref().starts_with(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_statements_and_work_on_the_whole_file_are_not_slow() {
        let before = SLOW_STATEMENT.saturating_sub(Duration::from_millis(1));
        assert!(is_slow(SLOW_STATEMENT, || "SELECT 1"));
        assert!(!is_slow(before, || -> String { panic!("the text of a quick statement is not read") }));
        for statement in ["PRAGMA integrity_check", "VACUUM"] {
            assert!(!is_slow(SLOW_STATEMENT, || statement), "{statement}");
        }
    }

    #[test]
    fn slow_statements_are_logged_without_values() {
        let connection = Connection::open_in_memory().unwrap();
        report(&connection);
        let sleep = |context: &rusqlite::functions::Context<'_>| {
            std::thread::sleep(Duration::from_millis(context.get::<u32>(0)?.into()));
            Ok(0)
        };
        connection
            .create_scalar_function("sleep", 1, rusqlite::functions::FunctionFlags::default(), sleep)
            .unwrap();
        let logged = crate::metrics::logged(tracing::Level::WARN, || {
            connection.query_row("SELECT\n  sleep(?1)", [600], |_| Ok(())).unwrap();
        });
        assert!(
            logged.contains("a slow statement") && logged.contains("statement=\"SELECT sleep(?1)\""),
            "{logged}"
        );
    }
}

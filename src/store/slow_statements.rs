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

/// Reports a slow statement, without the values of its parameters. Work on the whole file takes long anyway.
fn report_slow(event: TraceEvent<'_>) {
    if let TraceEvent::Profile(statement, time) = event
        && time >= SLOW_STATEMENT
        && !WHOLE_FILE.iter().any(|name| statement.sql().starts_with(name))
    {
        let statement = statement.sql().split_whitespace().collect::<Vec<_>>().join(" ");
        tracing::warn!(ms = time.as_secs_f64() * 1000.0, statement, "a slow statement");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_statements_are_logged_without_values() {
        let connection = Connection::open_in_memory().unwrap();
        report(&connection);
        let sleep = |context: &rusqlite::functions::Context<'_>| {
            std::thread::sleep(Duration::from_millis(if context.get(0)? { 600 } else { 0 }));
            Ok(0)
        };
        connection
            .create_scalar_function("sleep", 1, rusqlite::functions::FunctionFlags::default(), sleep)
            .unwrap();
        let run = |is_slow: bool| {
            crate::metrics::logged(tracing::Level::WARN, || {
                connection.query_row("SELECT\n  sleep(?1)", [is_slow], |_| Ok(())).unwrap();
            })
        };
        assert_eq!(run(false), "");
        let logged = run(true);
        assert!(
            logged.contains("a slow statement") && logged.contains("statement=\"SELECT sleep(?1)\""),
            "{logged}"
        );
    }
}

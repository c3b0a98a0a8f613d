//! Statements that return no rows.

use rusqlite::{Connection, Params};

/// Runs statements that return no rows and whose number of changed rows does not matter.
pub trait ExecuteCached {
    /// Runs a statement, which the connection prepares once and keeps.
    fn execute_cached(&self, sql: &str, params: impl Params) -> rusqlite::Result<()>;
}

impl ExecuteCached for Connection {
    fn execute_cached(&self, sql: &str, params: impl Params) -> rusqlite::Result<()> {
        self.prepare_cached(sql)?.execute(params).map(|_| ())
    }
}

//! A check: a rule, and the way to what breaks it.

use rusqlite::Connection;

/// The most findings of one check.
pub(super) const MAX_FINDINGS: usize = 100;

/// A rule that the rows of a sound database keep.
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) find: Find,
    /// Repairs all that the check finds, at a time in UNIX seconds.
    pub(super) repair: Option<fn(&Connection, i64) -> rusqlite::Result<()>>,
}

/// The way to what breaks a rule.
pub(super) enum Find {
    /// A statement with a text for each.
    Statement(&'static str),
    /// A function that adds a text for each.
    Function(fn(&Connection, &mut Vec<String>) -> rusqlite::Result<()>),
}

impl Check {
    /// Lists what breaks the rule.
    pub(super) fn findings(&self, connection: &Connection) -> rusqlite::Result<Vec<String>> {
        match self.find {
            Find::Statement(sql) => {
                let mut statement = connection.prepare(sql)?;
                let rows = statement.query_map([], |row| row.get(0))?;
                rows.take(MAX_FINDINGS + 1).collect()
            }
            Find::Function(find) => {
                let mut found = Vec::new();
                find(connection, &mut found)?;
                Ok(found)
            }
        }
    }
}

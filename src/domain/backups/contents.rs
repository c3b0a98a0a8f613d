//! Examining a copy of the database.

use crate::domain::backups::{BackupError, Progress, Stage};
use crate::store::{Database, OpenError, integrity_problems, schema_differences};
use rusqlite::Connection;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Virtual machine steps of SQLite between two questions whether to go on.
const STEPS_PER_QUESTION: i32 = 100_000;

/// The size and the content of a database that was found to be sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The size of the database, in bytes.
    pub database_bytes: u64,
    /// Number of people and bots, without the bots of the server itself.
    pub users: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of uploaded files.
    pub files: u64,
    /// When the newest message was sent, in UNIX seconds.
    pub newest_message: Option<i64>,
}

impl Contents {
    /// Opens a file that nothing else has open, checks it with SQLite, and counts. `name` is for errors. Returns also the first
    /// difference of the schema. A file that `may_be_foreign` is refused with one before it is checked: indexes and tables call
    /// functions while SQLite checks them.
    pub(super) fn examine(
        file: &Path,
        name: &Path,
        may_be_foreign: bool,
        progress: &mut Progress<'_>,
    ) -> Result<(Self, Option<String>), BackupError> {
        let connection = Database::open_copy(file).map_err(|error| match error {
            OpenError::Damaged { why, .. } => BackupError::damaged(name, why),
            OpenError::Foreign { why, .. } => OpenError::Foreign { path: name.to_owned(), why }.into(),
            OpenError::Newer { found, known, .. } => {
                OpenError::Newer { path: name.to_owned(), found, known }.into()
            }
            error => error.into(),
        })?;
        let damaged = |error: rusqlite::Error| BackupError::damaged(name, error);
        let mut difference = schema_differences(&connection).map_err(damaged)?.into_iter().next();
        if may_be_foreign && let Some(why) = difference.take() {
            return Err(BackupError::Schema { path: name.to_owned(), why });
        }
        let problem = check(&connection, progress)?;
        if let Some(problem) = problem {
            return Err(BackupError::damaged(name, problem));
        }
        let count = |table: &str, condition: &str| -> Result<u64, BackupError> {
            let is_there = "SELECT count(*) FROM sqlite_master WHERE name = ?1";
            let is_there: i64 = connection.query_row(is_there, [table], |row| row.get(0)).map_err(damaged)?;
            if is_there == 0 {
                return Ok(0);
            }
            let counted =
                connection.query_row(&format!("SELECT count(*) FROM {table} WHERE {condition}"), [], |row| {
                    row.get::<_, i64>(0)
                });
            Ok(counted.map_err(damaged)? as u64)
        };
        let newest = "SELECT timestamp FROM message ORDER BY id DESC LIMIT 1";
        let newest = match connection.query_row(newest, [], |row| row.get(0)) {
            Err(rusqlite::Error::QueryReturnedNoRows) => None,
            newest => Some(newest.map_err(damaged)?),
        };
        let contents = Self {
            database_bytes: std::fs::metadata(file).map_err(|error| BackupError::file(file, error))?.len(),
            users: count("user", "NOT is_system_bot")?,
            messages: count("message", "true")?,
            files: count("attachment", "true")?,
            newest_message: newest,
        };
        Ok((contents, difference))
    }
}

/// Runs SQLite's check of the whole file, which includes that of the search index. Returns the first problem.
fn check(connection: &Connection, progress: &mut Progress<'_>) -> Result<Option<String>, BackupError> {
    progress.report(Stage::Check, 0, 0)?;
    let stop = Arc::clone(&progress.stop);
    let ask = move || stop.load(Ordering::Relaxed);
    let checked = connection
        .progress_handler(STEPS_PER_QUESTION, Some(ask))
        .and_then(|()| integrity_problems(connection, 1));
    progress.report(Stage::Check, 1, 1)?;
    Ok(match checked {
        Ok(problems) => problems.into_iter().next(),
        Err(error) => Some(error.to_string()),
    })
}

//! Failures below a request that are not the client's fault, and reasons why a database cannot be opened.

use crate::error::ApiError;
use rusqlite::ffi;
use std::any::Any;
use std::path::PathBuf;

/// A failure of the store. Clients learn only that there was one; the log has the reason.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A statement failed.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// No reader was free in time.
    #[error("no reader: {0}")]
    Pool(#[from] r2d2::Error),
    /// A value could not be written as JSON.
    #[error("not serializable: {0}")]
    Serialize(#[from] serde_json::Error),
    /// A read that must not take long did, and gave up.
    #[error("a quick read was slow")]
    TooSlow,
    /// The writer has stopped: the server is shutting down.
    #[error("the writer has stopped")]
    Stopped,
    /// A job panicked; its rows were rolled back.
    #[error("a job panicked: {0}")]
    Panicked(String),
    /// The path of the database does not lead to the open file any more.
    #[error(
        "{0} was deleted, moved or replaced while the server had it open; the server no longer writes to it"
    )]
    Replaced(PathBuf),
    /// The group that the job was part of could not be committed.
    #[error("the group was not committed: {1}")]
    NotCommitted(Cause, String),
}

/// Category of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    FullDisk,
    /// The disk or the file cannot be written: read-only, failing, or removed.
    BadDisk,
    /// There is not enough memory.
    Memory,
    /// A statement took longer than it may.
    Deadline,
    /// The server stops.
    Stopped,
    /// Anything else, most likely a mistake in the program.
    Program,
}

impl StoreError {
    /// The kind of trouble that this failure comes from.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Sqlite(error) => cause_of(error),
            Self::NotCommitted(cause, _) => *cause,
            Self::Replaced(_) => Cause::BadDisk,
            Self::TooSlow => Cause::Deadline,
            Self::Stopped => Cause::Stopped,
            Self::Pool(_) | Self::Serialize(_) | Self::Panicked(_) => Cause::Program,
        }
    }

    /// The failure of a job that panicked with this.
    pub(super) fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::Panicked(text.unwrap_or_else(|| "no message".to_owned()))
    }

    /// The error of another job in a group that this failure has cost.
    pub(super) fn of_group(&self) -> Self {
        Self::NotCommitted(self.cause(), self.to_string())
    }
}

fn cause_of(error: &rusqlite::Error) -> Cause {
    use rusqlite::ErrorCode;
    // It counts as a failure of the disk by its primary code.
    if error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_NOMEM) {
        return Cause::Memory;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Cause::FullDisk,
        Some(ErrorCode::ReadOnly | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Cause::BadDisk,
        Some(ErrorCode::OutOfMemory) => Cause::Memory,
        Some(ErrorCode::OperationInterrupted) => Cause::Deadline,
        _ => Cause::Program,
    }
}

/// All errors except bugs of the program have another status than 500, so that clients retry.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        const CODE: &str = "INTERNAL_SERVER_ERROR";
        let refuse = |status: u16, msg: &'static str| {
            tracing::error!(%error, "the store failed");
            Self::new(status, CODE, msg)
        };
        match error.cause() {
            Cause::FullDisk => refuse(507, "The server could not save this change: its disk is full"),
            Cause::BadDisk => {
                refuse(503, "The server could not save this change: its disk is read-only or failing")
            }
            Cause::Memory => refuse(503, "The server is out of memory"),
            // The error of a quick read is not shown: the read is repeated with a longer limit.
            Cause::Deadline => Self::new(503, CODE, "This request takes too long; request less data"),
            Cause::Stopped => Self::new(503, CODE, "The server is stopping"),
            Cause::Program => Self::internal(format_args!("the store failed: {error}")),
        }
    }
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}

/// Reason why a database could not be opened. The message suggests a solution.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the database open.
    #[error("{path} is in use by another teamchat server (process {process}); stop that one first")]
    InUse {
        /// The path of the database file.
        path: PathBuf,
        /// The id of the other process, or `unknown`.
        process: String,
    },
    /// A newer version of the program wrote the database.
    #[error(
        "{path} was written by a newer teamchat (schema {found}; this one knows {known}); \
         install that version or restore the copy it made before the upgrade"
    )]
    Newer {
        /// The path of the database file.
        path: PathBuf,
        /// The schema version of the database.
        found: usize,
        /// The newest schema version that this program knows.
        known: usize,
    },
    /// The file is not a database of this program.
    #[error("{path} is not a teamchat database: {why}")]
    Foreign {
        /// The path of the database file.
        path: PathBuf,
        /// The actual kind of the file.
        why: String,
    },
    /// The file is a database whose pages are damaged.
    #[error("{path} is damaged: {why}; `teamchat restore` replaces it with a backup")]
    Damaged {
        /// The path of the database file.
        path: PathBuf,
        /// The error of SQLite.
        why: String,
    },
    /// An older version of the program wrote the database, and the command does not upgrade it.
    #[error("{path} was written by an older teamchat; the next start of `teamchat serve` upgrades it")]
    Older {
        /// The path of the database file.
        path: PathBuf,
    },
    /// The file has no bytes, and the command does not create a database.
    #[error(
        "{path} is empty, and not a database; `teamchat restore` replaces it with a backup, and `teamchat serve` creates a \
         new database in it"
    )]
    Empty {
        /// The path of the database file.
        path: PathBuf,
    },
    /// The file does not exist, and the command does not create one.
    #[error(
        "{path} does not exist; `teamchat serve`, `teamchat user create`, `teamchat import` and `teamchat restore` create a \
         new database"
    )]
    Missing {
        /// The path of the database file.
        path: PathBuf,
    },
    /// The copy of a database could not be made.
    #[error("{path} could not be copied: {why}")]
    NotCopied {
        /// The path of the database file.
        path: PathBuf,
        /// The error of the operating system or of SQLite.
        why: String,
    },
    /// The path cannot be that of a database.
    #[error("{path} cannot be the database: {why}")]
    Unsuitable {
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// The file or its directory cannot be written.
    #[error("{path} cannot be written: {why}")]
    ReadOnly {
        /// The path of the database file.
        path: PathBuf,
        /// The error of the operating system or of SQLite.
        why: String,
    },
    /// Any other error of SQLite.
    #[error("{path}: {source}")]
    Sqlite {
        /// The path of the database file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_errors_are_classified() {
        for (code, cause) in [
            (ffi::SQLITE_FULL, Cause::FullDisk),
            (ffi::SQLITE_IOERR_WRITE, Cause::BadDisk),
            (ffi::SQLITE_READONLY, Cause::BadDisk),
            (ffi::SQLITE_CANTOPEN, Cause::BadDisk),
            (ffi::SQLITE_NOMEM, Cause::Memory),
            (ffi::SQLITE_IOERR_NOMEM, Cause::Memory),
            (ffi::SQLITE_INTERRUPT, Cause::Deadline),
            (ffi::SQLITE_CONSTRAINT, Cause::Program),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(StoreError::from(error).cause(), cause, "{code}");
        }
    }
}

//! Reasons why a backup could not be made or restored.

use crate::store::OpenError;
use std::path::{Path, PathBuf};

/// Reason why a backup could not be made or restored. The message suggests a solution.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database or the copy of it could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The disk has not enough space.
    #[error("{path}: the disk has {free} MiB left, and the backup needs {needed} MiB while it is made")]
    NoSpace {
        /// The directory.
        path: PathBuf,
        /// MiB left.
        free: u64,
        /// MiB needed.
        needed: u64,
    },
    /// The disk has not enough space for what the backup contains.
    #[error("{path}: the disk has {free} MiB left, and the backup is larger; free some space")]
    Full {
        /// The file that was unpacked.
        path: PathBuf,
        /// MiB left.
        free: u64,
    },
    /// The directory for the backup does not exist.
    #[error("{0}: there is no such directory; create it, or mount its disk")]
    NoFolder(PathBuf),
    /// There is a file of that name.
    #[error("{0} exists already; nothing was overwritten")]
    Exists(PathBuf),
    /// Another process writes the same backup.
    #[error("{0} is being written by another process")]
    Busy(PathBuf),
    /// The backup, or the database, is damaged.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The first problem that was found.
        why: String,
    },
    /// The database has other tables, indexes, views or triggers than those of this program.
    #[error("{path} has another schema than this program makes: {why}")]
    Schema {
        /// The path of the file.
        path: PathBuf,
        /// The first difference.
        why: String,
    },
    /// A key could not be read, or does not fit.
    #[error("{0}")]
    Key(String),
    /// The work was interrupted, because the program stops.
    #[error("it was interrupted")]
    Interrupted,
}

impl BackupError {
    /// An error of the system about a file.
    pub(super) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// A file that is damaged.
    pub(super) fn damaged(path: &Path, why: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.to_string() }
    }
}

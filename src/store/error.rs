//! What can go wrong below a request without the client being at fault.

/// A failure of the store. Clients see only that it happened; the log has the reason.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A statement failed.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// No reader was free in time.
    #[error("no reader: {0}")]
    Pool(#[from] r2d2::Error),
    /// The writer has stopped: the server is shutting down.
    #[error("the writer has stopped")]
    Stopped,
    /// A job panicked; its rows were rolled back.
    #[error("a job panicked: {0}")]
    Panicked(String),
    /// The group that the job was part of could not be committed.
    #[error("the group was not committed: {0}")]
    NotCommitted(String),
}

impl StoreError {
    /// Whether the disk refused the change: full, read-only or broken. Reads go on.
    pub fn is_disk(&self) -> bool {
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) => is_disk_code(error.code),
            Self::NotCommitted(_) => true,
            _ => false,
        }
    }
}

fn is_disk_code(code: rusqlite::ErrorCode) -> bool {
    use rusqlite::ErrorCode;
    matches!(
        code,
        ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen
    )
}

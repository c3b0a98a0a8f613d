//! Failures below a request that are not the client's fault.

use crate::error::ApiError;

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
    /// Whether the disk refused the change: full, read-only or broken. Reads still work.
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

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        const CODE: &str = "INTERNAL_SERVER_ERROR";
        if error.is_disk() {
            tracing::error!(%error, "the disk refused a change");
            let msg = "The server could not save this change: its disk is full, read-only or failing";
            return Self::new(500, CODE, msg);
        }
        if matches!(error, StoreError::Stopped) {
            return Self::new(503, CODE, "The server is stopping");
        }
        Self::internal(format_args!("the store failed: {error}"))
    }
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}

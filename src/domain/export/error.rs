//! Failures of an export.

use crate::error::ApiError;

/// The result of a part of an export.
pub type Result<T> = std::result::Result<T, ExportError>;

/// A reason why an archive was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A statement failed.
    #[error("the database cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The archive could not be written, or a stored file could not be read.
    #[error("the archive cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// A row cannot be written as JSON.
    #[error("a row cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// A fact about the organization could not be loaded.
    #[error("{}", .0.msg())]
    Load(ApiError),
}

impl From<ApiError> for ExportError {
    fn from(error: ApiError) -> Self {
        Self::Load(error)
    }
}

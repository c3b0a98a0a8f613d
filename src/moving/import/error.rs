//! Errors of archives, with the file and the line.

use crate::error::ApiError;
use crate::store::StoreError;
use std::fmt;

/// The result of a step of an import.
pub type ImportResult<T> = Result<T, ImportError>;

/// The reason why an archive was refused.
#[derive(Debug)]
pub struct ImportError {
    /// The file of the archive, and the line in it.
    place: Option<(String, Option<usize>)>,
    what: String,
}

impl ImportError {
    /// An error without a place.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { place: None, what: what.to_string() }
    }

    /// An error in a file.
    pub fn in_file(file: &str, what: impl fmt::Display) -> Self {
        Self { place: Some((file.to_owned(), None)), what: what.to_string() }
    }

    /// The same error, in this file unless its place is known.
    #[must_use]
    pub fn or_in(self, file: &str) -> Self {
        Self { place: self.place.or_else(|| Some((file.to_owned(), None))), ..self }
    }

    /// An error in a line of a file, counted from 1.
    pub fn at(file: &str, line: usize, what: impl fmt::Display) -> Self {
        Self { place: Some((file.to_owned(), Some(line))), what: what.to_string() }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((file, Some(line))) => write!(f, "{file}:{line}: {}", self.what),
            Some((file, None)) => write!(f, "{file}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for ImportError {}

impl From<StoreError> for ImportError {
    fn from(error: StoreError) -> Self {
        Self::new(error)
    }
}

impl From<rusqlite::Error> for ImportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(error)
    }
}

impl From<ApiError> for ImportError {
    fn from(error: ApiError) -> Self {
        Self::new(error.msg())
    }
}

impl From<std::io::Error> for ImportError {
    fn from(error: std::io::Error) -> Self {
        Self::new(error)
    }
}

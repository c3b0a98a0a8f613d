//! Folders of databases that leave nothing behind.

use crate::store::{Database, OpenError};
use rand::RngExt;
use rand::distr::Alphanumeric;
use std::path::{Path, PathBuf};

/// A folder in memory, where the system has it.
const MEMORY: &str = "/dev/shm";

/// Opens a database in a new folder: in memory if possible, or else in the system's temporary folder. Its files are
/// unlinked when all connections are open, so that nothing is left when the process ends.
pub fn open() -> Result<(Database, Folder), OpenError> {
    let folder = folder()?;
    Ok((Database::open_ephemeral(&folder.database())?, folder))
}

/// Creates a folder for such a database.
pub fn folder() -> Result<Folder, OpenError> {
    let folder = Folder::create(Path::new(MEMORY)).or_else(|_| Folder::create(&std::env::temp_dir()));
    folder.map_err(|error| OpenError::ReadOnly { path: std::env::temp_dir(), why: error.to_string() })
}

/// A folder that is removed when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder for the current user alone.
    fn create(parent: &Path) -> std::io::Result<Self> {
        let name: String = rand::rng().sample_iter(Alphanumeric).take(16).map(char::from).collect();
        let path = parent.join(format!("teamchat-{name}"));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// The path of the database in it.
    pub fn database(&self) -> PathBuf {
        self.0.join("chat.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "a temporary folder stays");
        }
    }
}

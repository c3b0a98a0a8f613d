//! Files that are removed unless they are complete.

use crate::domain::backups::BackupError;
use crate::store::{beside, name_finished, private_file};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// The path of a file that is removed when this is dropped, with what SQLite made beside it.
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Takes the name. A file left there by a process that was killed is removed.
    pub(super) fn new(path: PathBuf) -> Result<Self, BackupError> {
        if let Ok(left) = File::open(&path) {
            match left.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(BackupError::Busy(path)),
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            std::fs::remove_file(&path).map_err(|error| BackupError::file(&path, error))?;
        }
        Ok(Self { path })
    }

    /// Creates the file, locked, so that its owner alone can read it.
    pub(super) fn create(&self) -> Result<File, BackupError> {
        let created = private_file().create_new(true).open(&self.path);
        let file = created.map_err(|error| BackupError::file(&self.path, error))?;
        // A file system without locks has no other process either that would look for them.
        let _unlocked = file.try_lock();
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the complete file its name. Fails if there is one of that name.
    pub(super) fn finish(self, name: &Path) -> Result<(), BackupError> {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => BackupError::Exists(name.to_owned()),
            _ => BackupError::file(name, error),
        };
        name_finished(&self.path, name).map_err(failed)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm", "-journal"] {
            // Most are not there.
            let _missing = std::fs::remove_file(beside(&self.path, ending));
        }
    }
}

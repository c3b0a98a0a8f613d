//! The files of an import. The database is written beside its final path, and renamed when it is complete.

use crate::moving::import::error::{ImportError, ImportResult};
use crate::store::{ScratchFolder, beside, name_finished};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Endings of the files beside an unfinished database.
const COMPANIONS: [&str; 4] = ["", "-wal", "-shm", ".lock"];

/// The paths of an import. Everything but the finished database is removed when this is dropped.
#[derive(Debug)]
pub struct Place {
    new: PathBuf,
    /// Held until the end: no other import to this path removes the files.
    folder: ScratchFolder,
}

impl Place {
    /// Prepares an import to a path at which there is no file. What an earlier import left that was killed is removed.
    pub fn prepare(new: &Path) -> ImportResult<Self> {
        let shown = new.display();
        if new.symlink_metadata().is_ok() {
            return Err(ImportError::new(format!(
                "{shown} exists already; an import creates a new file, so choose another name"
            )));
        }
        let place = Self { new: new.to_owned(), folder: ScratchFolder::take(beside(new, ".importing.d"))? };
        place.remove()?;
        Ok(place)
    }

    /// The path of the unfinished database.
    pub fn database(&self) -> PathBuf {
        beside(&self.new, ".importing")
    }

    /// The folder to which archives are unpacked.
    pub fn unpacked(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    /// Gives the finished database its name, unless there is a file of this name meanwhile.
    pub fn finish(self) -> ImportResult<()> {
        Ok(name_finished(&self.database(), &self.new)?)
    }

    fn remove(&self) -> ImportResult<()> {
        for ending in COMPANIONS {
            match std::fs::remove_file(beside(&self.database(), ending)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The next import to this path tries again.
        let _left = self.remove();
    }
}

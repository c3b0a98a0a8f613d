//! Folders that are removed unless they are complete.

use super::private_file;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The file that marks a folder as unfinished, locked by the process that writes it.
const MARK: &str = ".unfinished";

/// A folder that only its owner can read. It is removed with its contents when this is dropped.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    is_finished: bool,
    _lock: File,
}

impl ScratchFolder {
    /// Creates the folder, or empties one that a killed process left. Fails if there is another folder of this name, or if a
    /// process still writes it.
    pub fn take(path: PathBuf) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mark = path.join(MARK);
        match create_private(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !is_left(&path, &mark) {
                    let what =
                        format!("{}: it exists, and is no unfinished folder of this user", path.display());
                    return Err(io::Error::new(ErrorKind::AlreadyExists, what));
                }
            }
            created => created.map_err(named)?,
        }
        let lock = private_file().create(true).truncate(false).open(&mark).map_err(named)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let what = format!("{}: another process writes it", path.display());
            return Err(io::Error::new(ErrorKind::ResourceBusy, what));
        }
        // A file system without locks has no other process that would look for them.
        let folder = Self { path, is_finished: false, _lock: lock };
        folder.empty()?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn empty(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else if entry.file_name() != MARK {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Gives the complete folder its name.
    pub fn finish(mut self, name: &Path) -> io::Result<()> {
        fs::rename(&self.path, name)?;
        self.is_finished = true;
        fs::remove_file(name.join(MARK))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if !self.is_finished {
            // The next process that takes the name tries again.
            let _left = fs::remove_dir_all(&self.path);
        }
    }
}

/// True for a folder that a process of this user began, which may have been killed before it marked it.
fn is_left(path: &Path, mark: &Path) -> bool {
    let is_own = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir() && is_private(&metadata));
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    is_own && (mark.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) || is_empty())
}

/// True if only this user can change the contents of a folder. Another user of a shared folder such as `/tmp` can make one of the
/// expected name, replace it by a link before it is emptied, or put links into it.
#[cfg(unix)]
fn is_private(folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    folder.uid() == rustix::process::geteuid().as_raw() && folder.mode() & 0o002 == 0
}

#[cfg(not(unix))]
fn is_private(_folder: &Metadata) -> bool {
    true
}

fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_processes_are_taken() {
        let place = tempfile::tempdir().unwrap();
        let (part, name) = (place.path().join("out.part"), place.path().join("out"));
        let take = || ScratchFolder::take(part.clone());
        let folder = take().unwrap();
        assert_eq!(take().unwrap_err().kind(), ErrorKind::ResourceBusy);
        drop(folder);
        assert!(!part.exists());

        create_private(&part).unwrap();
        fs::create_dir(part.join("inner")).unwrap();
        assert_eq!(take().unwrap_err().kind(), ErrorKind::AlreadyExists);
        fs::write(part.join("inner/file"), "left").unwrap();
        fs::write(part.join(MARK), "").unwrap();
        take().unwrap().finish(&name).unwrap();
        assert_eq!(fs::read_dir(&name).unwrap().count(), 0);
        assert!(!part.exists());
    }

    /// They may be those of other users, who can replace them by links.
    #[cfg(unix)]
    #[test]
    fn folders_that_others_can_change_are_not_taken() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let part = place.path().join("out.part");
        for is_marked in [false, true] {
            create_private(&part).unwrap();
            if is_marked {
                fs::write(part.join(MARK), "").unwrap();
            }
            fs::set_permissions(&part, fs::Permissions::from_mode(0o777)).unwrap();
            let refused = ScratchFolder::take(part.clone()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
            assert!(refused.to_string().contains("is no unfinished folder of this user"), "{refused}");
            fs::set_permissions(&part, fs::Permissions::from_mode(0o700)).unwrap();
            drop(ScratchFolder::take(part.clone()).unwrap());
            assert!(!part.exists());
        }
    }
}

//! Copies of the database as files: made beside a running server, examined, and put in the place of the database.

use super::connect::{connect_scratch, explain};
use super::file::{
    adopt_owner_of_folder, beside, free_space, private_file, real_path, remove_files, unwritable,
};
use super::open::{self, Database};
use super::{Cause, OpenError, StoreError};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::fs::File;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Pages of one step, 1 MiB: after each, the copy pauses as long as the step took.
const PAGES_PER_STEP: i32 = 256;

/// Steps after which the copy goes to the disk. Otherwise a commit of the writer would wait for all of it at once.
const STEPS_PER_SYNC: u32 = 8;

/// Endings of the names of what belongs to a database file.
const WITH_LOGS: [&str; 3] = ["", "-wal", "-shm"];

/// Gets the number of pages that are done, and of all; returns whether to go on.
type OnProgress<'p> = &'p mut dyn FnMut(u64, u64) -> ControlFlow<()>;

impl Database {
    /// Writes the committed pages of a database to a new file that only its owner can read, also while a server has the
    /// database open. The copy is one snapshot. It holds a read transaction and no lock that a writer waits for; with
    /// `is_gentle` it takes at most half of the disk's time.
    pub fn copy_file(
        from: &Path,
        to: &Path,
        is_gentle: bool,
        on_progress: OnProgress<'_>,
    ) -> Result<(), OpenError> {
        let source = open::connect_any_version(from)?;
        let failed = |error: std::io::Error| unwritable(to, &error.to_string());
        let file = private_file().create_new(true).open(to).map_err(failed)?;
        copy_pages(&source, to, &file, is_gentle, on_progress)
            .map_err(|error| OpenError::NotCopied { path: from.to_owned(), why: error.to_string() })?;
        file.sync_all().map_err(failed)
    }

    /// Runs `work` on one snapshot of a connection for reading.
    pub fn in_snapshot<T>(
        connection: &Connection,
        work: impl FnOnce(&Connection) -> T,
    ) -> Result<T, StoreError> {
        connection.execute_batch("BEGIN")?;
        let result = work(connection);
        // Nothing was changed. A commit would fail on damaged pages of the search index, and a severe error has ended the
        // transaction already.
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        Ok(result)
    }

    /// Opens a file that nothing else has open, for reading. Nothing is written beside it.
    pub fn open_copy(path: &Path) -> Result<Connection, OpenError> {
        open::connect_immutable(path)
    }

    /// Opens a file that nothing else has open, for changing. It reaches the disk when the file is replaced.
    pub fn open_scratch(path: &Path) -> Result<Connection, OpenError> {
        connect_scratch(path).map_err(|source| OpenError::Sqlite { path: path.to_owned(), source })
    }

    /// Rewrites a database that no server has open without its free space. Returns its size before and after, in bytes, and the
    /// copy of an older file that was upgraded first.
    pub fn compact(path: &Path) -> Result<(u64, u64, Option<PathBuf>), OpenError> {
        let database = Self::open(path)?;
        let size = || std::fs::metadata(database.path()).map_or(0, |metadata| metadata.len());
        let before = size();
        if let Some(free) = free_space(database.path())
            && free < before * 2
        {
            let (free, needed) = (free >> 20, (before * 2) >> 20);
            let why = format!("the disk has {free} MiB left, and rewriting the file takes {needed} MiB");
            return Err(OpenError::ReadOnly { path: path.to_owned(), why });
        }
        let rewritten = || -> Result<(), StoreError> {
            let connection = database.connect_writer()?;
            connection.execute_batch("VACUUM")?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        };
        rewritten().map_err(|error| match error {
            StoreError::Sqlite(source) => explain(path, source),
            error => OpenError::ReadOnly { path: path.to_owned(), why: error.to_string() },
        })?;
        Ok((before, size(), database.upgraded_from.clone()))
    }

    /// Removes the files of a database that no process has open: it was created for a command that failed.
    pub fn remove(path: &Path) -> Result<(), OpenError> {
        let path = real_path(path)?;
        let _lock = open::lock_for_replacement(&path)?;
        remove_files(&path).map_err(|error| unwritable(&path, &error.to_string()))
    }

    /// Puts a file in the place of the database, which no server may have open. What was there stays, under a name with
    /// `ending`; returns it. Both are on the disk when this returns. Fails before anything is changed, or not at all
    /// unless the disk does.
    pub fn replace(path: &Path, with: &Path, ending: &str) -> Result<Option<PathBuf>, OpenError> {
        let path = real_path(path)?;
        let _lock = open::lock_for_replacement(&path)?;
        let failed = |error: std::io::Error| unwritable(&path, &error.to_string());
        let kept = unused_name(beside(&path, ending));
        let file = File::open(with).map_err(failed)?;
        adopt_owner_of_folder(&path, &file);
        file.sync_all().map_err(failed)?;
        let had_file = path.exists();
        // The logs first: a database without its log is older, a log without its database is none.
        for what in WITH_LOGS.into_iter().rev() {
            match std::fs::rename(beside(&path, what), beside(&kept, what)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        if let Err(error) = std::fs::rename(with, &path) {
            for what in WITH_LOGS {
                // The first error is the one to report.
                let _failed = std::fs::rename(beside(&kept, what), beside(&path, what));
            }
            return Err(failed(error));
        }
        sync_folder(&path).map_err(failed)?;
        Ok(had_file.then_some(kept))
    }
}

/// Returns the path, or else the first of those with a number that is the name of no file: two files may be replaced in one
/// second.
fn unused_name(path: PathBuf) -> PathBuf {
    let (mut name, mut number) = (path.clone(), 1);
    while name.symlink_metadata().is_ok() {
        number += 1;
        name = beside(&path, format!("-{number}"));
    }
    name
}

/// Puts the names of a folder on the disk, if the file system can do so: SMB with older kernels, for example, cannot.
pub fn sync_folder(of: &Path) -> std::io::Result<()> {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

fn copy_pages(
    source: &Connection,
    to: &Path,
    file: &File,
    is_gentle: bool,
    on_progress: OnProgress<'_>,
) -> Result<(), StoreError> {
    let mut copy = connect_scratch(to)?;
    // Without a transaction around all steps, each change of the writer would start the copy again.
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
    let backup = Backup::new(source, &mut copy)?;
    let mut steps = 0;
    loop {
        let started = Instant::now();
        let result = backup.step(PAGES_PER_STEP)?;
        let progress = backup.progress();
        let total = u64::try_from(progress.pagecount).unwrap_or(0);
        let left = u64::try_from(progress.remaining).unwrap_or(0);
        if on_progress(total - left, total).is_break() {
            return Err(StoreError::Stopped);
        }
        match result {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => return Err(StoreError::NotCommitted(Cause::Program, "the database was busy".to_owned())),
        }
        steps += 1;
        if is_gentle {
            if steps % STEPS_PER_SYNC == 0 {
                file.sync_data()
                    .map_err(|error| StoreError::NotCommitted(Cause::BadDisk, error.to_string()))?;
            }
            std::thread::sleep(started.elapsed());
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn folders_of_file_systems_without_synchronization_are_no_error() {
        // The kernel cannot synchronize this folder.
        assert_eq!(File::open("/proc").unwrap().sync_all().unwrap_err().kind(), ErrorKind::InvalidInput);
        sync_folder(Path::new("/proc/version")).unwrap();
        sync_folder(Path::new("/no-such-folder/file")).unwrap_err();
    }
}

//! Connections to the database with their pragmas, and the errors of opening one.

use super::file::{free_space, has_log, network_file_system, unwritable};
use super::{OpenError, slow_statements};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The capacity of each connection's cache of prepared statements: more than the program has.
const STATEMENT_CACHE_CAPACITY: usize = 512;

/// Opens a connection and sets its pragmas.
pub(super) fn connect(path: &Path, read_only: bool) -> rusqlite::Result<Connection> {
    let access = if !read_only {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    } else if has_log(path) {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        // SQLite creates the files of the log, and removes them when the last connection is closed, if that one may write. A
        // log with changes stays as it is: a program may have to replicate it.
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    open(path, access, read_only)
}

fn open(path: impl AsRef<Path>, access: OpenFlags, read_only: bool) -> rusqlite::Result<Connection> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that opens connections")]
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    prepare(&connection, read_only)?;
    Ok(connection)
}

/// Sets the pragmas of a connection. An acknowledged change is on the disk (`synchronous=FULL`), and readers never wait
/// for the writer (`WAL`). A reader's page cache has room for the pages of a busy channel, the writer's for the changes
/// of a group of jobs; a larger job spills to the log. Caches take memory only as they fill.
pub(super) fn prepare(connection: &Connection, read_only: bool) -> rusqlite::Result<()> {
    slow_statements::report(connection);
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    rusqlite::vtab::array::load_module(connection)?;
    disable_triggers_and_views(connection)?;
    // Query plans do not depend on bound values. Otherwise SQLite would replan some statements at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if read_only {
        // The page cache is SQLite's default, 2 MB. None of these reads the schema, so that a connection costs little
        // until it is used.
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "query_only", true)?;
    } else {
        // The statement journal of a job goes to a temporary file when it grows. In memory it is a linked list, which
        // SQLite walks from its start after each statement, so a large job would take quadratic time. The file has no
        // name. It is in the system's temporary directory, or in the working directory.
        connection.pragma_update(None, "temp_store", "file")?;
        connection.pragma_update(None, "cache_size", -4 * 1024)?;
        // Free pages can be given back to the disk. For a new file only: `VACUUM` converts others.
        connection.pragma_update(None, "auto_vacuum", "incremental")?;
        // Deleted data is overwritten.
        connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", 1000)?;
        connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    }
    Ok(())
}

/// Disables triggers and views. This program has none, so those in a file, such as a backup from elsewhere, would change or show
/// data unnoticed.
fn disable_triggers_and_views(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    Ok(())
}

/// Opens a connection for reading any SQLite file that no other program changes. No lock is taken, and no file made beside it.
pub(super) fn open_immutable(path: &Path) -> Result<Connection, OpenError> {
    let name = path.as_os_str().as_encoded_bytes();
    let uri = format!("file:{}?immutable=1", percent_encode(name, NON_ALPHANUMERIC));
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(uri, access, true).map_err(|source| explain(path, source))
}

/// Opens a connection for changing a file that is thrown away if anything fails: nothing of it is kept twice, and nothing
/// waits for the disk.
pub(super) fn connect_scratch(path: &Path) -> rusqlite::Result<Connection> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that opens connections")]
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    rusqlite::vtab::array::load_module(&connection)?;
    disable_triggers_and_views(&connection)?;
    connection.pragma_update_and_check(None, "journal_mode", "off", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "off")?;
    Ok(connection)
}

const FULL: &str = "the disk is full; free some space";

/// Free space of a disk, in bytes, at which errors of the system mean that it is full.
const LITTLE_SPACE: u64 = 128 << 10;

/// Converts an error of SQLite into one that suggests a solution.
pub(super) fn explain(path: &Path, source: rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode;
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            OpenError::Foreign { path, why: "it is not an SQLite file".to_owned() }
        }
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, why: source.to_string() },
        Some(ErrorCode::DiskFull) => unwritable(&path, FULL),
        // The file of the log's index cannot grow.
        Some(ErrorCode::SystemIoFailure) if free_space(&path).is_some_and(|free| free < LITTLE_SPACE) => {
            unwritable(&path, FULL)
        }
        // The system says why.
        Some(ErrorCode::CannotOpen) => {
            let refused = std::fs::File::open(&path).err();
            unwritable(&path, &refused.map_or_else(|| source.to_string(), |error| error.to_string()))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => unwritable(&path, &source.to_string()),
        _ => match network_file_system(&path) {
            Some(name) => OpenError::Unsuitable {
                path,
                why: format!(
                    "{source}; it is on {name}, whose locks are not reliable: move it to a disk of this machine"
                ),
            },
            None => OpenError::Sqlite { path, source },
        },
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn errors_on_a_full_disk_say_so() {
        let failure = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let folder = tempfile::tempdir().unwrap();
        // This file system has no space left, ever.
        let full = Path::new("/proc/version");
        for (path, code, is_full) in [
            (full, ffi::SQLITE_IOERR_SHMSIZE, true),
            (full, ffi::SQLITE_FULL, true),
            (folder.path(), ffi::SQLITE_FULL, true),
            (folder.path(), ffi::SQLITE_IOERR_SHMSIZE, false),
        ] {
            let said = explain(path, failure(code)).to_string();
            let expected = format!("{} cannot be written: the disk is full; free some space", path.display());
            assert_eq!(said.starts_with(&expected), is_full, "{said}");
        }
    }
}

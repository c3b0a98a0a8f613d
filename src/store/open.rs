//! Opens the database: takes the lock, checks the application id and the schema version, creates the schema or runs
//! migrations.

use super::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The schema of a new database.
pub const SCHEMA: &str = include_str!("../../schema.sql");

/// `PRAGMA application_id` of the database: "tmch".
const APPLICATION_ID: i32 = 0x746d_6368;

/// The migrations to [`SCHEMA`], the oldest first. The first creates the original schema. `PRAGMA user_version` is the
/// number of migrations that a database has.
const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_first", include_str!("migrations/0001_first.sql")),
    ("0002_whole", include_str!("migrations/0002_whole.sql")),
    ("0003_words", include_str!("migrations/0003_words.sql")),
    ("0004_typed_events", include_str!("migrations/0004_typed_events.sql")),
];

/// The capacity of each connection's cache of prepared statements: more than the program has.
const STATEMENT_CACHE_CAPACITY: usize = 512;

/// Why a database could not be opened. The message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the database open.
    #[error("{path} is in use by another teamchat server (process {process}); stop that one first")]
    InUse {
        /// The path of the database file.
        path: PathBuf,
        /// The id of the other process, or `unknown`.
        process: String,
    },
    /// A newer version of the program wrote the database.
    #[error(
        "{path} was written by a newer teamchat (schema {found}; this one knows {known}); \
         install that version or restore the copy it made before the upgrade"
    )]
    Newer {
        /// The path of the database file.
        path: PathBuf,
        /// The schema version of the database.
        found: usize,
        /// The newest schema version that this program knows.
        known: usize,
    },
    /// The file is not a database of this program.
    #[error("{path} is not a teamchat database: {why}")]
    Foreign {
        /// The path of the database file.
        path: PathBuf,
        /// What the file is instead.
        why: String,
    },
    /// The file or its directory cannot be written.
    #[error("{path} cannot be written: {why}")]
    ReadOnly {
        /// The path of the database file.
        path: PathBuf,
        /// The error of the operating system or of SQLite.
        why: String,
    },
    /// Any other error of SQLite.
    #[error("{path}: {source}")]
    Sqlite {
        /// The path of the database file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

/// An open database. The lock against other processes is held until this is dropped.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    lock: File,
    /// The copy made before migrating, if the schema was older.
    pub upgraded_from: Option<PathBuf>,
}

impl Database {
    /// Opens the database, creating a missing file. An older schema is copied to another file and migrated.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let lock = take_lock(path)?;
        make_private(path)
            .map_err(|error| OpenError::ReadOnly { path: path.to_owned(), why: error.to_string() })?;
        let mut upgraded_from = None;
        let mut connection = connect(path, false).map_err(|source| explain(path, source))?;
        match examine(path, &connection)? {
            FileState::Empty => create(&mut connection).map_err(|source| explain(path, source))?,
            FileState::Version(version) if version < MIGRATIONS.len() => {
                upgraded_from = Some(copy_before_upgrade(path, &connection, version)?);
                migrate(&mut connection, version).map_err(|source| explain(path, source))?;
            }
            FileState::Version(_) => {}
        }
        Ok(Self { path: path.to_owned(), lock, upgraded_from })
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the connection for writing. There is only one, on the writer's thread.
    pub fn connect_writer(&self) -> Result<Connection, StoreError> {
        Ok(connect(&self.path, false)?)
    }

    /// Writes into the lock file how to reach this server, for commands that find the database in use.
    pub fn announce(&mut self, text: &str) -> std::io::Result<()> {
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.write_all(text.as_bytes())?;
        self.lock.flush()
    }

    /// Returns what the server that has the database open wrote with [`Database::announce`]; `None` if there is none.
    pub fn announced(path: &Path) -> Option<String> {
        let mut file = File::open(lock_path(path)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text).ok()?;
                Some(text)
            }
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Takes the lock, a file beside the database. SQLite's own locks would let two processes write in turn, but the
/// writer's caches and event ids need exclusive access. Only the owner may read the lock file: it has the control
/// token.
fn take_lock(path: &Path) -> Result<File, OpenError> {
    let refused =
        |error: &std::io::Error| OpenError::ReadOnly { path: path.to_owned(), why: error.to_string() };
    let mut options = private_file();
    options.read(true).create(true).truncate(false);
    let mut file = options.open(lock_path(path)).map_err(|error| refused(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let process = file
                .read_to_string(&mut text)
                .ok()
                .and_then(|_| serde_json::from_str::<serde_json::Value>(&text).ok())
                .and_then(|value| value["pid"].as_u64())
                .map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
            Err(OpenError::InUse { path: path.to_owned(), process })
        }
        Err(TryLockError::Error(error)) => Err(refused(&error)),
    }
}

/// Creates a missing file that only its owner can read. SQLite gives the `-wal` and `-shm` files the same mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    match private_file().create_new(true).open(path) {
        Ok(_) => Ok(()),
        // `Database::open` examines an existing file.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns options that open a file for writing and, if they create it, let only its owner read it.
fn private_file() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Opens a connection and sets its pragmas.
pub(super) fn connect(path: &Path, read_only: bool) -> rusqlite::Result<Connection> {
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    };
    #[expect(clippy::disallowed_methods, reason = "this is the one place that opens connections")]
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    prepare(&connection, read_only)?;
    Ok(connection)
}

/// Sets the pragmas of a connection. An acknowledged change is on the disk (`synchronous=FULL`), and readers never wait
/// for the writer (`WAL`). A reader's page cache has room for what a busy channel needs at a time; the writer's also
/// for the pages that a job changes in a whole topic. Caches take memory only as they fill.
pub(super) fn prepare(connection: &Connection, read_only: bool) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    rusqlite::vtab::array::load_module(connection)?;
    // Query plans do not depend on bound values. Otherwise SQLite would replan some statements at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if read_only {
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "cache_size", -2048)?;
        connection.pragma_update(None, "query_only", true)?;
    } else {
        // The statement journal of a job goes to a temporary file when it grows. In memory it is a linked list, which
        // SQLite walks from its start after each statement, so a large job would take quadratic time. The file has no
        // name. It is in the system's temporary directory, or in the working directory.
        connection.pragma_update(None, "temp_store", "file")?;
        connection.pragma_update(None, "cache_size", -16 * 1024)?;
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", 1000)?;
        connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    }
    Ok(())
}

/// The state of a database file.
enum FileState {
    /// A new, empty file.
    Empty,
    /// A database of this program, with its schema version.
    Version(usize),
}

fn examine(path: &Path, connection: &Connection) -> Result<FileState, OpenError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables = "SELECT count(*) FROM sqlite_schema";
    let (application, version, objects) = (|| {
        let objects: i64 = connection.query_row(tables, [], |row| row.get(0))?;
        Ok((pragma("application_id")?, pragma("user_version")?, objects))
    })()
    .map_err(|source| explain(path, source))?;
    let version = usize::try_from(version).unwrap_or(0);
    if application == 0 && objects == 0 {
        return Ok(FileState::Empty);
    }
    if application != APPLICATION_ID || version == 0 {
        return Err(OpenError::Foreign {
            path: path.to_owned(),
            why: "it is an SQLite database of another program".to_owned(),
        });
    }
    if version > MIGRATIONS.len() {
        return Err(OpenError::Newer { path: path.to_owned(), found: version, known: MIGRATIONS.len() });
    }
    Ok(FileState::Version(version))
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()
}

/// Runs the migrations after `version`, in one transaction.
fn migrate(connection: &mut Connection, version: usize) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (name, statements) in &MIGRATIONS[version..] {
        tracing::info!(step = name, "upgrading the file");
        transaction.execute_batch(statements)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()
}

fn copy_before_upgrade(path: &Path, connection: &Connection, version: usize) -> Result<PathBuf, OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".before-{}", MIGRATIONS[version].0));
    let copy = PathBuf::from(name);
    make_private(&copy)
        .map_err(|error| OpenError::ReadOnly { path: copy.clone(), why: error.to_string() })?;
    connection
        .backup("main", &copy, None::<fn(rusqlite::backup::Progress)>)
        .map_err(|source| explain(&copy, source))?;
    Ok(copy)
}

/// Converts an error of SQLite into one that says what to do.
fn explain(path: &Path, source: rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode;
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            OpenError::Foreign { path, why: "it is not an SQLite file".to_owned() }
        }
        Some(
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::DiskFull | ErrorCode::PermissionDenied,
        ) => OpenError::ReadOnly { path, why: source.to_string() },
        _ => OpenError::Sqlite { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema_of(connection: &Connection) -> Vec<(String, String)> {
        let mut statement = connection
            .prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
        rows.map(|row| row.map(|(name, sql)| (name, normalize(&sql))).unwrap()).collect()
    }

    /// Comments and white space do not make two schemas differ; a column that was added later has its own.
    fn normalize(sql: &str) -> String {
        sql.lines()
            .map(|line| line.split("--").next().unwrap_or(""))
            .flat_map(str::split_whitespace)
            .collect::<Vec<_>>()
            .join(" ")
            .replace(" ,", ",")
            .replace(" )", ")")
    }

    #[test]
    fn migrating_the_oldest_file_gives_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        let mut migrated = connect(&folder.path().join("old.sqlite"), false).unwrap();
        migrate(&mut migrated, 0).unwrap();
        let mut created = connect(&folder.path().join("new.sqlite"), false).unwrap();
        create(&mut created).unwrap();
        assert_eq!(schema_of(&migrated), schema_of(&created));
    }

    #[test]
    fn a_second_server_is_refused_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let mut first = Database::open(&path).unwrap();
        first.announce(r#"{"pid": 42}"#).unwrap();
        let refusal = Database::open(&path).unwrap_err();
        assert!(matches!(&refusal, OpenError::InUse { process, .. } if process == "42"), "{refusal}");
        assert_eq!(Database::announced(&path).as_deref(), Some(r#"{"pid": 42}"#));
        drop(first);
        assert_eq!(Database::announced(&path), None);
        Database::open(&path).unwrap();
    }

    #[test]
    fn files_that_are_not_ours_are_refused_and_left_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("letter.txt");
        std::fs::write(&text, "Dear friend, ".repeat(100)).unwrap();
        assert!(matches!(Database::open(&text), Err(OpenError::Foreign { .. })));
        assert_eq!(std::fs::read_to_string(&text).unwrap(), "Dear friend, ".repeat(100));

        let other = folder.path().join("other.sqlite");
        connect(&other, false).unwrap().execute_batch("CREATE TABLE recipe (id INTEGER)").unwrap();
        assert!(matches!(Database::open(&other), Err(OpenError::Foreign { .. })));

        let newer = folder.path().join("newer.sqlite");
        drop(Database::open(&newer).unwrap());
        connect(&newer, false).unwrap().pragma_update(None, "user_version", 10_000).unwrap();
        assert!(matches!(Database::open(&newer), Err(OpenError::Newer { found: 10_000, .. })));

        let nowhere = folder.path().join("missing/chat.sqlite");
        assert!(matches!(Database::open(&nowhere), Err(OpenError::ReadOnly { .. })));
    }
}

//! Opens the database: checks the application id, takes the lock, creates the schema or runs migrations.

use super::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The schema of a new database.
pub const SCHEMA: &str = include_str!("../../schema.sql");

/// Identifies a database of this program (`PRAGMA application_id`): "tmch".
const APPLICATION_ID: i32 = 0x746d_6368;

/// The migrations that lead an older database to [`SCHEMA`], the oldest first. `PRAGMA user_version` counts the ones that a
/// database has taken.
const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_first", include_str!("migrations/0001_first.sql")),
    ("0002_whole", include_str!("migrations/0002_whole.sql")),
    ("0003_words", include_str!("migrations/0003_words.sql")),
    ("0004_typed_events", include_str!("migrations/0004_typed_events.sql")),
];

/// Statements kept prepared on each connection, more than the program has.
const STATEMENTS: usize = 512;

/// Why a database was refused. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process serves the file.
    #[error("{path} is in use by another teamchat server (process {process}); stop that one first")]
    InUse {
        /// The file.
        path: PathBuf,
        /// What the other process wrote of itself.
        process: String,
    },
    /// The file was written by a later version.
    #[error(
        "{path} was written by a newer teamchat (schema {found}; this one knows {known}); \
         install that version or restore the copy it made before the upgrade"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's schema version.
        found: usize,
        /// The newest that this program knows.
        known: usize,
    },
    /// The file is something else.
    #[error("{path} is not a teamchat database: {why}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        why: String,
    },
    /// The file or its folder cannot be written.
    #[error("{path} cannot be written: {why}")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
    /// Anything else that SQLite says.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
}

/// An opened database, locked against other servers until it is dropped.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    lock: File,
    /// The copy that was made before an upgrade, if there was one.
    pub upgraded_from: Option<PathBuf>,
}

impl Database {
    /// Opens a database and creates it if the file is missing. An older one is copied and then migrated to the current schema.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let lock = take_lock(path)?;
        make_private(path)
            .map_err(|error| OpenError::ReadOnly { path: path.to_owned(), why: error.to_string() })?;
        let mut upgraded_from = None;
        let mut connection = connect(path, false).map_err(|source| explain(path, source))?;
        match examine(path, &connection)? {
            Found::Nothing => create(&mut connection).map_err(|source| explain(path, source))?,
            Found::Version(version) if version < MIGRATIONS.len() => {
                upgraded_from = Some(copy_before_upgrade(path, &connection, version)?);
                migrate(&mut connection, version).map_err(|source| explain(path, source))?;
            }
            Found::Version(_) => {}
        }
        Ok(Self { path: path.to_owned(), lock, upgraded_from })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the writing connection. There is only one, on the writer's thread.
    pub fn connect_writer(&self) -> Result<Connection, StoreError> {
        Ok(connect(&self.path, false)?)
    }

    /// Writes into the lock file how this server is reached, for commands that find the database in use.
    pub fn announce(&mut self, text: &str) -> std::io::Result<()> {
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.write_all(text.as_bytes())?;
        self.lock.flush()
    }

    /// Returns what the server that has the database open wrote with [`Database::announce`]; `None` when there is none.
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

/// Takes the lock file beside the database. SQLite's own locks let two processes write in turn, but the writer's caches and
/// event numbers allow for one process only. The file is readable by its owner alone: it also tells how to command the
/// server.
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

/// Creates a missing file, readable by its owner alone: it will hold everybody's messages. SQLite gives its side files the
/// same mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    match private_file().create_new(true).open(path) {
        Ok(_) => Ok(()),
        // A file that is there is examined by whoever opens it.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns options that open a file for writing and, if they create it, make it readable by its owner alone.
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

/// Sets the pragmas of a connection. An acknowledged change is on the disk (`synchronous=FULL`), and readers never wait for
/// the writer (`WAL`). Page caches fill only as they are used: a reader's holds what a busy channel needs at a time, the
/// writer's also the pages that a job changes in a whole topic.
pub(super) fn prepare(connection: &Connection, read_only: bool) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    rusqlite::vtab::array::load_module(connection)?;
    // Plans do not depend on bound values; otherwise SQLite would plan some statements anew at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if read_only {
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "cache_size", -2048)?;
        connection.pragma_update(None, "query_only", true)?;
    } else {
        // SQLite keeps a journal for each savepoint. In memory it is a list that is walked from its start after each
        // statement, so that a large job would take the square of its size. Hence it may spill to a temporary file. The
        // file has no name, and is created in the system's folder for such files or in the server's working directory.
        connection.pragma_update(None, "temp_store", "file")?;
        connection.pragma_update(None, "cache_size", -16 * 1024)?;
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", 1000)?;
        connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    }
    Ok(())
}

enum Found {
    /// A new, empty file.
    Nothing,
    /// A database of this program, after so many migrations.
    Version(usize),
}

fn examine(path: &Path, connection: &Connection) -> Result<Found, OpenError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables = "SELECT count(*) FROM sqlite_schema";
    let (application, version, objects) = (|| {
        let objects: i64 = connection.query_row(tables, [], |row| row.get(0))?;
        Ok((pragma("application_id")?, pragma("user_version")?, objects))
    })()
    .map_err(|source| explain(path, source))?;
    let version = usize::try_from(version).unwrap_or(0);
    if application == 0 && objects == 0 {
        return Ok(Found::Nothing);
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
    Ok(Found::Version(version))
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()
}

/// Runs the migrations that a database of this version still lacks, in one transaction.
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

/// Turns an error of SQLite into a message for the person who started the server.
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

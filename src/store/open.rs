//! Opens the database: takes the lock, and creates the schema or runs migrations.

use super::connect::{connect, explain, open_immutable};
use super::file::{self, FileIdentity, LockedFile, beside};
use super::file_state::{FileState, check_version, examine, refuse_foreign};
use super::migrations::{MIGRATIONS, create, migrate};
use super::row_cache::RowCache;
use super::upgrade_copy::copy_before_upgrade;
use super::{Announcement, OpenError, StoreError, new_database};
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The ending of the lock file's name.
const LOCK: &str = ".lock";

/// The longest wait for a command that has the database open, or a server that is starting or stopping. A server that stops
/// gives requests ten seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// The longest wait if a server has announced itself: another process may only be asking for it.
const BRIEF: Duration = Duration::from_millis(100);

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// An open database. The locks against other processes are held until this is dropped.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    /// The connection that opened the database, until the writer gets it. Closed before `file`.
    connection: Mutex<Option<Connection>>,
    lock: File,
    file: LockedFile,
    /// The previous content of the lock file: see [`Database::announce`].
    pub last_announcement: Announcement,
    /// The copy made before migrating, if the schema was older.
    pub upgraded_from: Option<PathBuf>,
    /// True if the file need not survive a crash of the machine, and is unlinked once all connections are open.
    is_ephemeral: bool,
    /// Values made of rows, which the readers share and the writer drops.
    rows: Arc<RowCache>,
}

impl Database {
    /// Opens the database, creating a missing file. An older schema is copied to another file and migrated.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_as(path, false)
    }

    /// Opens a database that lives as long as the process. All connections are opened at once, and nothing waits for the
    /// disk.
    pub fn open_ephemeral(path: &Path) -> Result<Self, OpenError> {
        Self::open_as(path, true)
    }

    fn open_as(path: &Path, is_ephemeral: bool) -> Result<Self, OpenError> {
        let path = &*file::real_path(path)?;
        let had_lock = beside(path, LOCK).exists();
        let (lock, last_announcement) = take_lock(path)?;
        let opened = Self::open_file(path, is_ephemeral).inspect_err(|_| {
            if !had_lock {
                // Nothing is left beside a refused file. The first error is the one to report.
                let _left = std::fs::remove_file(beside(path, LOCK));
            }
        });
        let (file, connection, upgraded_from) = opened?;
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(Some(connection)),
            lock,
            file,
            last_announcement,
            upgraded_from,
            is_ephemeral,
            rows: Arc::default(),
        })
    }

    /// Locks the file and connects to it. Returns the copy of an older file, too.
    fn open_file(
        path: &Path,
        is_ephemeral: bool,
    ) -> Result<(LockedFile, Connection, Option<PathBuf>), OpenError> {
        let mut file = file::open_locked(path)?;
        let prepared = Self::prepare_file(path, &mut file, is_ephemeral).inspect_err(|_| {
            if file.is_new {
                // A new file is not left half made. The first error is the one to report.
                let _left = file::remove_files(path);
            }
        });
        let (connection, upgraded_from) = prepared?;
        Ok((file, connection, upgraded_from))
    }

    /// Connects to a locked file, and creates or upgrades the schema. Returns the copy of an older file, too.
    fn prepare_file(
        path: &Path,
        file: &mut LockedFile,
        is_ephemeral: bool,
    ) -> Result<(Connection, Option<PathBuf>), OpenError> {
        let mut upgraded_from = None;
        if is_ephemeral && file.is_new {
            let written = new_database::write(&file.file);
            written.map_err(|error| file::unwritable(path, &error.to_string()))?;
        }
        if !file.is_new {
            refuse_foreign(path, &file.file)?;
            file::make_private(path, &file.file);
        }
        let mut connection = connect(path, false).map_err(|source| explain(path, source))?;
        if is_ephemeral {
            file.identity.set_unlinked();
            let no_sync = connection.pragma_update(None, "synchronous", "off");
            no_sync.map_err(|source| explain(path, source))?;
        }
        match examine(path, &connection)? {
            FileState::Empty => create(&mut connection).map_err(|source| explain(path, source))?,
            FileState::Version(version) if version < MIGRATIONS.len() => {
                upgraded_from = Some(copy_before_upgrade(path, &connection, version)?);
                migrate(&mut connection, version..MIGRATIONS.len())
                    .map_err(|source| explain(path, source))?;
            }
            FileState::Version(_) => {}
        }
        Ok((connection, upgraded_from))
    }

    pub(super) fn rows(&self) -> &Arc<RowCache> {
        &self.rows
    }

    /// True if the database was opened with [`Database::open_ephemeral`].
    pub fn is_ephemeral(&self) -> bool {
        self.is_ephemeral
    }

    /// Removes the files of the database. The open connections work on; the system frees the space when they are closed,
    /// also when the process is killed.
    pub fn unlink(&self) -> std::io::Result<()> {
        file::remove_files(&self.path)
    }

    /// Checks that there is a database file to open, for commands that do not create one.
    pub fn check_exists(path: &Path) -> Result<(), OpenError> {
        file::check_exists(path)
    }

    /// True if the file was created by this start.
    pub fn is_new(&self) -> bool {
        self.file.is_new
    }

    /// Returns which file it is.
    pub fn identity(&self) -> &FileIdentity {
        &self.file.identity
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the connection for writing. There is only one, on the writer's thread.
    pub fn connect_writer(&self) -> Result<Connection, StoreError> {
        match self.connection.lock().take() {
            Some(connection) => Ok(connection),
            None => Ok(connect(&self.path, false)?),
        }
    }

    /// Removes the log if it is left, once all connections are closed: the last one may have been one for reading, which
    /// cannot remove it.
    pub fn remove_log(&self) -> Result<(), StoreError> {
        if beside(&self.path, "-wal").exists() {
            let connection = self.connect_writer()?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Opens a connection for reading, also while a server has the database open. Fails if there is no file, or one of
    /// another version.
    pub fn connect_reader(path: &Path) -> Result<Connection, OpenError> {
        let connection = connect(path, true).map_err(|source| explain(path, source))?;
        match examine(path, &connection)? {
            FileState::Version(version) if version == MIGRATIONS.len() => Ok(connection),
            FileState::Version(_) => Err(OpenError::Older { path: path.to_owned() }),
            FileState::Empty => {
                Err(OpenError::Foreign { path: path.to_owned(), why: "it is empty".to_owned() })
            }
        }
    }

    /// Opens a connection for reading a file of this or an older version. Returns true beside it if it is of this one.
    /// Nothing is written beside a file that no server has open, unless it was not closed.
    pub fn inspect(path: &Path) -> Result<(Connection, bool), OpenError> {
        Self::check_exists(path)?;
        let is_open = file::has_log(path) || Self::announced(path).is_some();
        let connection = if is_open { connect_any_version(path) } else { connect_immutable(path) }?;
        let version = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
        let version = version.map_err(|source| explain(path, source))?;
        Ok((connection, usize::try_from(version) == Ok(MIGRATIONS.len())))
    }

    /// Opens a connection for reading that sees the database as it is now, until it is closed.
    pub fn open_snapshot(path: &Path) -> Result<Connection, OpenError> {
        let connection = Self::connect_reader(path)?;
        // The snapshot is taken by the first statement.
        connection
            .execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")
            .map_err(|source| explain(path, source))?;
        Ok(connection)
    }

    /// Writes into the lock file how to reach this server, for commands that find the database in use.
    pub fn announce(&mut self, announcement: &Announcement) -> std::io::Result<()> {
        let text = serde_json::to_string(announcement)?;
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.write_all(text.as_bytes())?;
        self.lock.flush()
    }

    /// Returns the announcement of the server that has the database open ([`Database::announce`]); `None` if there is
    /// none. Waits for commands, and for a server that is starting or stopping.
    pub fn announced(path: &Path) -> Option<Announcement> {
        let mut lock = File::open(beside(&file::real_path(path).ok()?, LOCK)).ok()?;
        match wait_for_lock(&mut lock, File::try_lock_shared, Duration::ZERO) {
            (Err(TryLockError::WouldBlock), announcement) => Some(announcement),
            _ => None,
        }
    }
}

/// Tries to lock the lock file until that succeeds, or for [`PATIENCE`]. If a server has announced itself, only for
/// `if_announced`. Returns the result of the last attempt, and the content after it.
fn wait_for_lock(
    lock: &mut File,
    try_lock: fn(&File) -> Result<(), TryLockError>,
    if_announced: Duration,
) -> (Result<(), TryLockError>, Announcement) {
    let started = Instant::now();
    loop {
        let locked = try_lock(lock);
        let mut text = String::new();
        // Other content than text was not written by this program.
        let _unreadable = lock.rewind().and_then(|()| lock.read_to_string(&mut text));
        let announcement = Announcement::parse(&text);
        let patience = if announcement.pid.is_some() { if_announced } else { PATIENCE };
        if !matches!(locked, Err(TryLockError::WouldBlock)) || started.elapsed() >= patience {
            return (locked, announcement);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Takes the lock file beside the database, and returns it with its content. SQLite's own locks would let two processes
/// write in turn, but the writer's caches and event ids need exclusive access. Only the owner may open the lock file:
/// others could hold its lock. Waits for commands, and for a server that is starting or stopping.
fn take_lock(path: &Path) -> Result<(File, Announcement), OpenError> {
    let lock_path = beside(path, LOCK);
    let refused =
        |error: std::io::Error| file::unwritable(path, &format!("its lock {}: {error}", lock_path.display()));
    let (mut lock, is_new) = file::open_or_create(&lock_path).map_err(refused)?;
    if is_new {
        file::adopt_owner_of_folder(path, &lock);
    } else if file::has_several_names(&lock.metadata().map_err(refused)?) {
        // It will be overwritten, and is to be no other file.
        return Err(refused(std::io::Error::other("it has several names (hard links)")));
    }
    let (locked, announcement) = wait_for_lock(&mut lock, File::try_lock, BRIEF);
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => {
            OpenError::InUse { path: path.to_owned(), process: announcement.process() }
        }
        TryLockError::Error(error) => refused(error),
    })?;
    if announcement.pid.is_some() {
        // It was killed.
        lock.set_len(0).map_err(refused)?;
    }
    Ok((lock, announcement))
}

/// Opens a connection for reading a database of this program, of this or an older version, also while a server has it
/// open.
pub(super) fn connect_any_version(path: &Path) -> Result<Connection, OpenError> {
    Database::check_exists(path)?;
    let connection = connect(path, true).map_err(|source| explain(path, source))?;
    check_version(path, &connection)?;
    Ok(connection)
}

/// Opens a connection for reading a database of this program that no other program changes.
pub(super) fn connect_immutable(path: &Path) -> Result<Connection, OpenError> {
    let connection = open_immutable(path)?;
    check_version(path, &connection)?;
    Ok(connection)
}

/// Takes the locks of a database that is to be replaced. The file itself may be missing.
pub(super) fn lock_for_replacement(path: &Path) -> Result<(File, Option<LockedFile>), OpenError> {
    let (lock, _) = take_lock(path)?;
    let file = if path.exists() { Some(file::open_locked(path)?) } else { None };
    if let Some(file) = &file {
        file::make_private(path, &file.file);
    }
    Ok((lock, file))
}

/// Leaves copying the log to the file, and emptying it, to a program that replicates the log: pages that this did would be
/// missing there.
pub fn leave_log_to_replicator(connection: &Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::connect::connect_scratch;
    use super::*;

    #[test]
    fn a_second_server_is_refused_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let mut first = Database::open(&path).unwrap();
        let announcement = Announcement { pid: Some(42), ..Announcement::default() };
        first.announce(&announcement).unwrap();
        let refusal = Database::open(&path).unwrap_err();
        assert!(matches!(&refusal, OpenError::InUse { process, .. } if process == "42"), "{refusal}");
        assert_eq!(Database::announced(&path), Some(announcement));
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
        assert!(matches!(Database::open(&nowhere), Err(OpenError::Unsuitable { .. })));
        for name in [":memory:", "file:chat.sqlite", ""] {
            let refusal = Database::open(Path::new(name)).unwrap_err().to_string();
            assert!(refusal.contains("--ephemeral"), "{refusal}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn all_names_of_a_file_have_one_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let link = folder.path().join("link.sqlite");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let refusal = Database::open(&link).unwrap_err();
        assert!(matches!(refusal, OpenError::Unsuitable { .. }), "a link to nothing: {refusal}");
        let mut database = Database::open(&path).unwrap();
        assert!(database.is_new());
        let announcement = Announcement { pid: Some(42), ..Announcement::default() };
        database.announce(&announcement).unwrap();
        assert!(matches!(Database::open(&link), Err(OpenError::InUse { .. })));
        assert_eq!(Database::announced(&link), Some(announcement));
        drop(database);
        drop(Database::open(&link).unwrap());
        assert!(!folder.path().join("link.sqlite.lock").exists());

        let other = folder.path().join("other.sqlite");
        std::fs::hard_link(&path, &other).unwrap();
        for path in [&path, &other] {
            let refusal = Database::open(path).unwrap_err();
            assert!(matches!(refusal, OpenError::Unsuitable { .. }), "{refusal}");
        }
        std::fs::remove_file(other).unwrap();
        assert!(!Database::open(&path).unwrap().is_new());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_beside_a_database_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("chat.sqlite"), folder.path().join("elsewhere"));
        let lock = beside(&path, LOCK);
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        let refusal = Database::open(&path).unwrap_err().to_string();
        assert!(refusal.contains("its lock "), "{refusal}");
        assert!(!elsewhere.exists() && !path.exists());
        std::fs::write(&elsewhere, "kept").unwrap();
        Database::open(&path).unwrap_err();
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "kept");
        std::fs::remove_file(&lock).unwrap();
        std::fs::hard_link(&elsewhere, &lock).unwrap();
        let refusal = Database::open(&path).unwrap_err().to_string();
        assert!(refusal.contains("its lock ") && refusal.contains("several names"), "{refusal}");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "kept");
        std::fs::remove_file(lock).unwrap();

        let database = Database::open(&path).unwrap();
        let copy = beside(&path, format!(".before-{}", MIGRATIONS[1].0));
        std::os::unix::fs::symlink(&elsewhere, &copy).unwrap();
        let make_copy = || copy_before_upgrade(&path, &connect(&path, true).unwrap(), 1).unwrap();
        make_copy();
        std::fs::remove_file(&copy).unwrap();
        std::fs::hard_link(&elsewhere, &copy).unwrap();
        make_copy();
        drop(database);
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "kept");
        Database::open(&copy).unwrap();
    }

    /// In two containers, one file may have two paths that are no links.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_file_itself_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let database = Database::open(&path).unwrap();
        std::fs::remove_file(beside(&path, LOCK)).unwrap();
        assert!(matches!(Database::open(&path), Err(OpenError::InUse { .. })));
        drop(database);
        Database::open(&path).unwrap();
    }

    #[test]
    fn only_some_commands_create_a_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        assert!(matches!(Database::check_exists(&path), Err(OpenError::Missing { .. })));
        assert!(matches!(Database::check_exists(folder.path()), Err(OpenError::Unsuitable { .. })));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(&path, "").unwrap();
        assert!(matches!(Database::check_exists(&path), Err(OpenError::Empty { .. })));
        drop(Database::open(&path).unwrap());
        Database::check_exists(&path).unwrap();
    }

    #[test]
    fn triggers_and_views_of_a_file_have_no_effect() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        drop(Database::open(&path).unwrap());
        let foreign = "CREATE TRIGGER thief AFTER INSERT ON client BEGIN DELETE FROM client; END;
                       CREATE VIEW everything AS SELECT content FROM message;";
        connect(&path, false).unwrap().execute_batch(foreign).unwrap();
        let open: [fn(&Path) -> rusqlite::Result<Connection>; 2] =
            [|path| connect(path, false), connect_scratch];
        for (expected, open) in (1_i64..).zip(open) {
            let connection = open(&path).unwrap();
            connection.execute("INSERT INTO client (name) VALUES (?1)", [format!("new {expected}")]).unwrap();
            let count = "SELECT count(*) FROM client WHERE name LIKE 'new %'";
            let count: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
            assert_eq!(count, expected);
            let refusal = connection.prepare("select content from everything").unwrap_err().to_string();
            assert!(refusal.contains("prohibited"), "{refusal}");
        }
    }

    #[test]
    fn reading_leaves_no_log_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        drop(Database::open(&path).unwrap());
        let is_there = || ["-wal", "-shm"].map(|ending| beside(&path, ending).exists());
        for _ in 0..2 {
            let readers = [Database::open_snapshot(&path).unwrap(), connect_any_version(&path).unwrap()];
            assert_eq!(is_there(), [true, true]);
            readers[1].execute("DELETE FROM client", []).unwrap_err();
            drop(readers);
            assert_eq!(is_there(), [false, false]);
        }

        // What a program has to replicate stays.
        let writer = connect(&path, false).unwrap();
        leave_log_to_replicator(&writer).unwrap();
        writer.execute("INSERT INTO client (name) VALUES ('kept')", []).unwrap();
        drop(writer);
        drop(Database::open_snapshot(&path).unwrap());
        assert!(file::has_log(&path));
    }

    #[cfg(unix)]
    #[test]
    fn database_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(Database::open(&path).unwrap());
        assert_eq!(mode(), 0o600);
        // A copy that was restored.
        for (before, after) in [(0o644, 0o640), (0o666, 0o660), (0o640, 0o640)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before)).unwrap();
            drop(Database::open(&path).unwrap());
            assert_eq!(mode(), after);
        }
    }
}

//! A database on a disk that can fail: a layer below SQLite (`shim.c`) is compiled with the system's C compiler and loaded into
//! the program.

use crate::program::Server;
use crate::shim::{compile_shim, variables};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Numbers of errors, as Linux has them.
pub const EIO: i32 = 5;
pub const ENOSPC: i32 = 28;

/// Tables that tasks in the background write, whenever they run: counters, which only grow, the uses of keys, the positions
/// of queues, and the search index, whose parts are merged at the end of an hour.
const WRITTEN_BY_TASKS: &str =
    "name IN ('counter', 'sqlite_sequence', 'api_key_use', 'known_login', 'event_queue')
     OR name GLOB 'message_search*'";

/// Tables from which tasks remove rows: those of the log that no queue needs, unused words and topics, moved messages once they are
/// indexed, and follow-up jobs that ran.
const TRIMMED_BY_TASKS: &[&str] = &[
    "event",
    "event_audience",
    "follow_up",
    "search_word",
    "retired_word",
    "search_purge",
    "search_backlog",
    "topic",
];

/// Rows by table.
pub type Rows = BTreeMap<String, BTreeSet<String>>;

/// The tables that differ for another reason than a task in the background.
pub fn changed_tables<'a>(before: &'a Rows, after: &Rows) -> Vec<&'a str> {
    let is_same = |table: &str, rows: &BTreeSet<String>| {
        rows == &after[table] || (TRIMMED_BY_TASKS.contains(&table) && after[table].is_subset(rows))
    };
    before.iter().filter(|(table, rows)| !is_same(table, rows)).map(|(table, _)| table.as_str()).collect()
}

/// The database on a disk that can fail.
pub struct Disk {
    _folder: TempDir,
    shim: PathBuf,
    database: PathBuf,
    control: PathBuf,
}

impl Disk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shim = compile_shim(folder.path());
        std::fs::create_dir(folder.path().join("durable")).unwrap();
        // SQLite opens the real path.
        let place = folder.path().canonicalize().unwrap();
        Self { _folder: folder, shim, database: place.join("chat.sqlite"), control: place.join("control") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.database.with_file_name(name)
    }

    pub fn database(&self) -> PathBuf {
        self.database.clone()
    }

    /// Starts the program above this layer. The current file counts as synced.
    pub fn start(&self) -> Server {
        self.heal();
        for ending in ["", "-wal"] {
            let name = format!("chat.sqlite{ending}");
            let durable = self.path("durable").join(&name);
            if self.path(&name).exists() {
                std::fs::copy(self.path(&name), durable).unwrap();
            } else {
                let _absent = std::fs::remove_file(durable);
            }
        }
        let durable = self.path("durable");
        let variables = [&self.variables()[..], &[("SHIM_DURABLE", &*durable)]].concat();
        Server::start_with(&self.database, &variables)
    }

    /// The variables with which commands run above this layer.
    pub fn variables(&self) -> [(&'static str, &Path); 3] {
        variables(&self.shim, &self.database, &self.control)
    }

    /// Makes operations of a kind fail after a number of successes.
    pub fn fail(&self, kind: &str, after: u32, error: i32) {
        // Each plan has a unique text, so that the layer restarts its count.
        static PLANS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = PLANS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let part = self.path("control.part");
        std::fs::write(&part, format!("{kind} {after} {error} {number}")).unwrap();
        std::fs::rename(part, &self.control).unwrap();
    }

    pub fn heal(&self) {
        self.fail("nothing", 0, 0);
    }

    /// Cuts the power: unsynced data is lost.
    pub fn cut_power(&self, server: Server) {
        server.kill();
        for ending in ["", "-wal", "-shm"] {
            let name = format!("chat.sqlite{ending}");
            let _absent = std::fs::remove_file(self.path(&name));
            let durable = self.path("durable").join(&name);
            if durable.exists() {
                std::fs::copy(durable, self.path(&name)).unwrap();
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "looks at the file from outside of the program")]
    pub fn connect(&self) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(&self.database, flags).unwrap()
    }

    /// All rows that requests write.
    pub fn rows(&self) -> Rows {
        let connection = self.connect();
        let tables =
            format!("SELECT name FROM sqlite_schema WHERE type = 'table' AND NOT ({WRITTEN_BY_TASKS})");
        let mut tables = connection.prepare(&tables).unwrap();
        let tables: Vec<String> =
            tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let rows_of = |table: &String| {
            let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                let values = (0..columns).map(|column| row.get::<_, SqlValue>(column));
                Ok(format!("{:?}", values.collect::<Result<Vec<_>, _>>()?))
            });
            rows.unwrap().map(Result::unwrap).collect()
        };
        tables.iter().map(|table| (table.clone(), rows_of(table))).collect()
    }

    pub fn check_integrity(&self) {
        let connection = self.connect();
        let text = |query: &str| connection.query_row(query, [], |row| row.get::<_, String>(0));
        assert_eq!(text("PRAGMA integrity_check").unwrap(), "ok");
        assert!(
            text("SELECT \"table\" FROM pragma_foreign_key_check").is_err(),
            "no reference leads nowhere"
        );
    }
}

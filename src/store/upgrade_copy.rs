//! The copy of a database that is made before an upgrade, to go back to the old version.

use super::OpenError;
use super::connect::explain;
use super::file::{adopt_owner_of_folder, beside, create_private, free_space, unwritable};
use super::migrations::MIGRATIONS;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Copies made before upgrades that are kept.
const KEPT_COPIES: usize = 2;

/// The space that a copy leaves on the disk, in bytes, unless the database is smaller: for the changes of the upgrade, and for the
/// server after it.
const RESERVE: u64 = 256 << 20;

/// Copies a database with this schema version to a file beside it, and returns the path of the copy. Removes older copies.
pub(super) fn copy_before_upgrade(
    path: &Path,
    connection: &Connection,
    version: usize,
) -> Result<PathBuf, OpenError> {
    let copy = beside(path, format!(".before-{}", MIGRATIONS[version].0));
    // There is one already if the upgrade failed before.
    let file = create_private(&copy).map_err(|error| unwritable(&copy, &error.to_string()))?;
    // A command of root may be the one that upgrades.
    adopt_owner_of_folder(&copy, &file);
    drop(file);
    let made = check_space(path, connection).and_then(|size| {
        tracing::info!(copy = %copy.display(), mib = size >> 20, "copying the file before the upgrade");
        let written = connection.backup("main", &copy, None::<fn(rusqlite::backup::Progress)>);
        written.map_err(|source| explain(&copy, source))
    });
    made.inspect_err(|_| {
        // Half a copy would take the space that is missing.
        for ending in ["", "-journal"] {
            let _left = std::fs::remove_file(beside(&copy, ending));
        }
    })?;
    remove_old_copies(path);
    Ok(copy)
}

/// Returns the size of the database in bytes. Fails if the disk has too little space for the upgrade: each try would fill it again.
fn check_space(path: &Path, connection: &Connection) -> Result<u64, OpenError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let size = pragma("page_count").and_then(|pages| Ok(pages * pragma("page_size")?));
    let size = size.map_err(|source| explain(path, source))?.cast_unsigned();
    let needed = size + size.min(RESERVE);
    match free_space(path) {
        Some(free) if free < needed => {
            let (free, needed) = (free >> 20, needed.div_ceil(1 << 20));
            let why = format!(
                "the disk has {free} MiB left, and the upgrade, which saves a copy first, needs {needed} MiB; free some space"
            );
            Err(OpenError::NotCopied { path: path.to_owned(), why })
        }
        _ => Ok(size),
    }
}

/// Removes the copies of earlier upgrades but the newest ones.
fn remove_old_copies(path: &Path) {
    let copies = MIGRATIONS.iter().map(|(name, _)| beside(path, format!(".before-{name}")));
    for old in copies.filter(|copy| copy.exists()).rev().skip(KEPT_COPIES) {
        match std::fs::remove_file(&old) {
            Ok(()) => tracing::info!(path = %old.display(), "the copy of an earlier upgrade was removed"),
            Err(error) => {
                tracing::warn!(%error, path = %old.display(), "the copy of an earlier upgrade stays");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Database;
    use super::super::connect::connect;
    use super::super::migrations::{APPLICATION_ID, migrate};
    use super::*;

    #[test]
    fn the_newest_two_copies_of_upgrades_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        old_file(&path);
        let last = MIGRATIONS.len() - 1;
        let copy = |index: usize| beside(&path, format!(".before-{}", MIGRATIONS[index].0));
        for index in [1, 2, last - 1] {
            std::fs::write(copy(index), "").unwrap();
        }
        let other = beside(&path, ".before-holidays");
        std::fs::write(&other, "").unwrap();
        drop(Database::open(&path).unwrap());
        let kept = [1, 2, last - 1, last].map(|index| copy(index).exists());
        assert_eq!(kept, [false, false, true, true]);
        assert!(other.exists());
    }

    /// An older file with a client, and the version that it is of.
    fn old_file(path: &Path) -> usize {
        let version = MIGRATIONS.len() - 1;
        let mut connection = connect(path, false).unwrap();
        migrate(&mut connection, 0..version).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.execute_batch("INSERT INTO client (id, name) VALUES (1, 'kept')").unwrap();
        version
    }

    fn version_and_client(path: &Path) -> (usize, String) {
        let connection = connect(path, true).unwrap();
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        (version as usize, connection.query_row("SELECT name FROM client", [], |row| row.get(0)).unwrap())
    }

    #[test]
    fn an_older_file_is_copied_and_upgraded_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let version = old_file(&path);
        let database = Database::open(&path).unwrap();
        let copy = database.upgraded_from.clone().unwrap();
        assert_eq!(copy, beside(&path, format!(".before-{}", MIGRATIONS[version].0)));
        drop(database);
        assert_eq!(version_and_client(&copy), (version, "kept".to_owned()));
        assert_eq!(version_and_client(&path), (MIGRATIONS.len(), "kept".to_owned()));
        assert_eq!(Database::open(&path).unwrap().upgraded_from, None);
    }
}

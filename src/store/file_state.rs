//! The state of a database file: new, of this program with a schema version, or of another program.

use super::OpenError;
use super::connect::{explain, open_immutable};
use super::file::unwritable;
use super::migrations::{APPLICATION_ID, MIGRATIONS};
use rusqlite::Connection;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// The place of the application id in the header of an SQLite file, and the end of it.
const APPLICATION_ID_AT: usize = 68;
const APPLICATION_ID_END: u64 = 72;

/// The state of a database file.
pub enum FileState {
    /// A new, empty file.
    Empty,
    /// A database of this program, with its schema version.
    Version(usize),
}

/// Reads the state. Fails for a file of another program, or of a newer version of this one.
pub fn examine(path: &Path, connection: &Connection) -> Result<FileState, OpenError> {
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

/// Fails unless the file is a database of this or an older version.
pub fn check_version(path: &Path, connection: &Connection) -> Result<(), OpenError> {
    match examine(path, connection)? {
        FileState::Version(_) => Ok(()),
        FileState::Empty => Err(OpenError::Foreign { path: path.to_owned(), why: "it is empty".to_owned() }),
    }
}

/// Refuses a file of another program before a connection for writing changes it: the journal mode is stored in the file.
/// Nothing more is read of a file with the application id of this program.
pub fn refuse_foreign(path: &Path, mut file: &File) -> Result<(), OpenError> {
    let failed = |error: std::io::Error| unwritable(path, &error.to_string());
    let mut header = Vec::new();
    file.rewind().map_err(failed)?;
    file.take(APPLICATION_ID_END).read_to_end(&mut header).map_err(failed)?;
    if header.is_empty() || header.get(APPLICATION_ID_AT..) == Some(&APPLICATION_ID.to_be_bytes()[..]) {
        return Ok(());
    }
    examine(path, &open_immutable(path)?).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::Database;
    use super::*;

    /// Names of the files of a folder, with content and permissions.
    fn files(folder: &Path) -> Vec<(String, Vec<u8>, u32)> {
        #[cfg(unix)]
        use std::os::unix::fs::PermissionsExt;
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                #[cfg(unix)]
                let mode = std::fs::metadata(&path).unwrap().permissions().mode();
                #[cfg(not(unix))]
                let mode = 0;
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read(&path).unwrap(), mode)
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "makes files of other programs")]
    fn refused_files_and_their_folder_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (recipes, letter) = (folder.join("recipes.sqlite"), folder.join("letter.txt"));
        let recipe = Connection::open(&recipes).unwrap();
        recipe.execute_batch("CREATE TABLE recipe (id INTEGER); INSERT INTO recipe VALUES (1)").unwrap();
        drop(recipe);
        std::fs::write(&letter, "Dear friend, ".repeat(100)).unwrap();
        #[cfg(unix)]
        for path in [&recipes, &letter] {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        let before = files(folder);
        for path in [&recipes, &letter] {
            assert!(matches!(Database::open(path), Err(OpenError::Foreign { .. })), "{}", path.display());
            assert!(files(folder) == before, "{}: {:?}", path.display(), names(folder));
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        files(folder).into_iter().map(|(name, ..)| name).collect()
    }
}

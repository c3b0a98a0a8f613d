//! Copies of the whole database: in memory, to go back to later, or in another file.

use super::{Cause, StoreError};
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::backup::Backup;
use std::path::Path;

/// A copy of the database in memory, once the writer has made it.
#[derive(Default)]
pub struct DatabaseCopy(Mutex<Option<Connection>>);

impl DatabaseCopy {
    /// Copies the committed pages.
    pub(super) fn fill(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut copy = Connection::open_in_memory()?;
        copy_all(connection, &mut copy)?;
        *self.0.lock() = Some(copy);
        Ok(())
    }

    /// Replaces the contents of a database with the copy, in one transaction. Other connections see all of it or nothing.
    pub(super) fn restore_to(&self, connection: &mut Connection) -> Result<(), StoreError> {
        match &*self.0.lock() {
            Some(copy) => {
                let version: i64 = connection.pragma_query_value(None, "schema_version", |row| row.get(0))?;
                copy_all(copy, connection)?;
                // The tables are those that other connections know, so they go on with their statements.
                Ok(connection.pragma_update(None, "schema_version", version)?)
            }
            None => Err(StoreError::NotCommitted(Cause::Program, "the database was not copied".to_owned())),
        }
    }
}

fn copy_all(from: &Connection, to: &mut Connection) -> Result<(), StoreError> {
    let backup = Backup::new(from, to)?;
    // All pages in one step: a copy in several could be interrupted by other connections.
    match backup.step(-1)? {
        rusqlite::backup::StepResult::Done => Ok(()),
        _ => Err(StoreError::NotCommitted(Cause::Program, "the database was busy".to_owned())),
    }
}

/// Writes the committed pages to a new file.
pub(super) fn write_to(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    Ok(connection.backup("main", path, None::<fn(rusqlite::backup::Progress)>)?)
}

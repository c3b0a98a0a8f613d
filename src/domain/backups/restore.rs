//! Restoring a backup in the place of the database.

use crate::domain::audit;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::backups::archive::{self, Identities, SQLITE, read_pieces};
use crate::domain::backups::create::RESERVE;
use crate::domain::backups::rotation::stamp;
use crate::domain::backups::scratch::Scratch;
use crate::domain::backups::{BackupError, Contents, Progress, Stage};
use crate::error::ApiResult;
use crate::store::{Database, OpenError, beside, free_space, has_log};
use rusqlite::Connection;
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Tables that a restored file has empty: event queues, since clients know other events and have to register again, and
/// notifications and emails that were waiting, which are outdated or were sent.
const LEFT_BEHIND: [&str; 11] = [
    "event_queue",
    "event",
    "event_audience",
    "push_message",
    "push_held",
    "push_notification",
    "mail_message",
    "mail_held",
    "missed_message",
    "missed_batch",
    "outgoing_mail",
];

/// A backup that was restored.
#[derive(Clone, Debug, Serialize)]
pub struct Restored {
    /// The previous file under its new name; `None` if there was none.
    pub kept: Option<PathBuf>,
    /// The content of the new file.
    #[serde(flatten)]
    pub contents: Contents,
}

/// Checks a backup, and puts it in the place of the database. `input` is the path of a file, or `-` for `stream`. Nothing is
/// changed if it fails. Event queues and waiting notifications are not restored.
pub fn restore(
    database: &Path,
    input: &Path,
    stream: &mut (dyn Read + Send),
    identities: &Identities,
    now: i64,
    progress: &mut Progress<'_>,
) -> Result<Restored, BackupError> {
    if let Some(announcement) = Database::announced(database) {
        let process = announcement.process();
        return Err(OpenError::InUse { path: database.to_owned(), process }.into());
    }
    let is_stream = input.as_os_str() == "-";
    let failed = |error: std::io::Error| BackupError::file(input, error);
    let scratch = Scratch::new(beside(database, ".restored"))?;
    let free = || free_space(scratch.path());
    let mut total = 0;
    if is_stream {
        extract(stream, input, identities, &scratch, &free, 0, progress)?;
    } else {
        let mut file = File::open(input).map_err(failed)?;
        total = file.metadata().map_err(failed)?.len();
        let mut start = Vec::new();
        (&mut file).take(SQLITE.len() as u64).read_to_end(&mut start).map_err(failed)?;
        if start == SQLITE && has_log(input) {
            // The changes in the log belong to it.
            let mut report = |done, total| match progress.report(Stage::Archive, done, total) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            Database::copy_file(input, scratch.path(), false, &mut report)?;
        } else {
            let input_stream = std::io::Cursor::new(start).chain(file);
            extract(input_stream, input, identities, &scratch, &free, total, progress)?;
        }
    }
    progress.report(Stage::Archive, total, total)?;
    let (contents, _) = Contents::examine(scratch.path(), input, true, progress)?;
    let copy = Database::open_scratch(scratch.path())?;
    leave_behind(&copy).map_err(|error| BackupError::damaged(input, error))?;
    record(&copy, input, now).map_err(|error| BackupError::damaged(input, error.msg()))?;
    drop(copy);
    let ending = format!(".before-restore-{}", stamp(now));
    let kept = Database::replace(database, scratch.path(), &ending)?;
    Ok(Restored { kept, contents })
}

fn leave_behind(connection: &Connection) -> rusqlite::Result<()> {
    for table in LEFT_BEHIND {
        if has_table(connection, table)? {
            connection.execute(&format!("DELETE FROM {table}"), [])?;
        }
    }
    Ok(())
}

/// Writes the restoration into the audit log of the restored file.
fn record(connection: &Connection, input: &Path, now: i64) -> ApiResult<()> {
    if !has_table(connection, "audit_entry")? {
        return Ok(());
    }
    let name = input.display().to_string();
    let entry = Entry::new(Action::BackupRestored, Subject::named("backup", name));
    audit::record_in_file(connection, now, &entry)
}

/// False for tables that files of older versions lack.
fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let statement = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?1)";
    connection.query_row(statement, [table], |row| row.get(0))
}

/// Writes the database of a backup to a file. It leaves as much space as it takes, up to the reserve, since a small archive can be
/// that of an endless file. `free` is the space left.
fn extract(
    input: impl Read,
    name: &Path,
    identities: &Identities,
    to: &Scratch,
    free: &dyn Fn() -> Option<u64>,
    total: u64,
    progress: &mut Progress<'_>,
) -> Result<(), BackupError> {
    let reader = archive::read(input, name, identities)?;
    let mut file = to.create()?;
    let mut done = 0;
    let unread = |error: std::io::Error| BackupError::damaged(name, error);
    read_pieces(reader, unread, |piece| {
        file.write_all(piece).map_err(|error| BackupError::file(to.path(), error))?;
        done += piece.len() as u64;
        if let Some(free) = free()
            && free < done.min(RESERVE)
        {
            return Err(BackupError::Full { path: to.path().to_owned(), free: free >> 20 });
        }
        progress.report(Stage::Archive, done.min(total), total)
    })?;
    file.sync_all().map_err(|error| BackupError::file(to.path(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::backups::archive::PIECE;
    use std::sync::Arc;

    #[test]
    fn space_is_left_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path().join("out")).unwrap();
        let mut content = SQLITE.to_vec();
        content.resize(4 * PIECE, 0);
        let archive = zstd::encode_all(&content[..], 1).unwrap();
        let unpack = |free: Option<u64>| {
            let mut progress = Progress { on_progress: &mut |_, _, _| {}, stop: Arc::default() };
            let (name, keys) = (Path::new("in"), Identities::default());
            let unpacked = extract(&archive[..], name, &keys, &scratch, &|| free, 0, &mut progress);
            std::fs::remove_file(scratch.path()).unwrap();
            unpacked.map_err(|error| error.to_string())
        };
        assert_eq!(unpack(None), Ok(()));
        assert_eq!(unpack(Some(RESERVE)), Ok(()));
        let refused = unpack(Some(2 << 20)).unwrap_err();
        assert!(refused.contains("the disk has 2 MiB left, and the backup is larger"), "{refused}");
    }
}

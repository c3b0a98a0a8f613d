//! Scheduled backups (`serve --backup-to`): making them, pruning those that it made, and messages to the owners about failures.
//!
//! A list in the folder has the backups that this organization made. Nothing else in the folder is ever removed.

use crate::app::{App, BackupFailure, BackupOptions, BackupRecord};
use crate::domain::backups;
use crate::domain::backups::{
    Backup, BackupError, Keep, Progress, Recipients, Request, Target, create, name_of,
};
use crate::domain::notices::operation;
use crate::domain::realm;
use crate::http::ApiResult;
use crate::store::{Tx, beside, create_private};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The longest delay after a failure, in seconds.
const RETRY_DELAY: i64 = 10 * 60;

/// Makes a backup if one is due. Returns when the next one is, in UNIX seconds.
pub async fn run_due(app: Arc<App>) -> ApiResult<Option<i64>> {
    let Some(options) = app.options.backups.clone() else { return Ok(None) };
    let list = list_path(&app, &options).await?;
    // In the pool: a folder on another machine may not respond, and other work goes on.
    let read = {
        let list = list.clone();
        move || read_list(&list)
    };
    let records = app.pools.backups.run(None, read).await?;
    let now = app.clock.seconds();
    // Backups from the future are of a clock that was wrong. They neither stop others, nor make one due at once each time.
    let newest = records.iter().filter(|record| record.time <= now).max_by_key(|record| record.time);
    let newest_time = newest.map(|record| record.time);
    let failed = app.backups.status().failure.map(|failure| failure.time).filter(|time| *time <= now);
    let due = match (failed, newest_time) {
        (Some(failed), _) => failed + options.every.min(RETRY_DELAY),
        (None, Some(newest)) => newest + options.every,
        (None, None) => now,
    };
    app.backups.update(|status| {
        // The list cannot be read while the folder is gone.
        if let Some(newest) = newest {
            status.last_success = Some(newest.clone());
        }
        status.next_due = Some(due.max(now));
    });
    if due > now {
        return Ok(Some(due));
    }
    if failed.is_none()
        && let Some(newest) = newest_time
        && now > newest + 2 * options.every
    {
        tracing::warn!(hours = (now - newest) / 3600, "backups were missed; one is made now");
        app.writer.run(operation::backup_overdue).await?;
    }
    let work = {
        // Without the state of the server: a backup that hangs must not keep the writer from ending.
        let (database, stop) = (app.writer.path().to_owned(), Arc::clone(&app.backups.stop));
        let options = options.clone();
        move || make(&database, stop, &options, &list, records, now)
    };
    app.backups.update(|status| status.running_since = Some(now));
    let made = app.pools.backups.run(None, work).await;
    app.backups.update(|status| status.running_since = None);
    match made? {
        Ok((record, difference)) => {
            let next = now + options.every;
            note_success(&app, record, difference, next).await?;
            Ok(Some(next))
        }
        Err(BackupError::Interrupted) => Ok(None),
        Err(error) => {
            let next = now + options.every.min(RETRY_DELAY);
            note_failure(&app, error.to_string(), now, next).await?;
            Ok(Some(next))
        }
    }
}

/// Records a backup, with the reason for which a restore refuses it, if there is one. `next` is when the next one is due, in UNIX
/// seconds.
async fn note_success(
    app: &App,
    record: BackupRecord,
    difference: Option<String>,
    next: i64,
) -> ApiResult<()> {
    tracing::info!(
        name = record.name,
        bytes = record.bytes,
        milliseconds = record.milliseconds,
        "a backup was made"
    );
    if let Some(difference) = &difference {
        tracing::warn!(difference, "a restore refuses the backup: correct the schema with SQLite");
    }
    app.backups.update(|status| {
        status.last_success = Some(record.clone());
        status.failure = None;
        status.next_due = Some(next);
    });
    // One that took two periods is late already, and the next one follows at once.
    let is_late = app.is_backup_overdue();
    let note = move |tx: &mut Tx<'_>| {
        backups::record(tx, &record)?;
        match difference {
            _ if is_late => Ok(()),
            Some(difference) => operation::backup_refused(tx, &difference),
            None => operation::backup_succeeded(tx),
        }
    };
    app.writer.run(note).await
}

/// Records the failure of a backup. Both times are in UNIX seconds.
async fn note_failure(app: &App, error: String, now: i64, next: i64) -> ApiResult<()> {
    tracing::warn!(%error, "the backup failed and will be tried again");
    app.backups.update(|status| {
        status.failure = Some(BackupFailure { time: now, error: error.clone() });
        status.failures += 1;
        status.next_due = Some(next);
    });
    app.writer.run(move |tx| operation::backup_failed(tx, &error)).await
}

/// Warns the owners if backups are late although none failed, because one hangs. Returns when to look again, in UNIX seconds.
pub async fn warn_if_overdue(app: Arc<App>) -> ApiResult<Option<i64>> {
    let Some(overdue_after) = app.backup_overdue_after() else { return Ok(None) };
    let now = app.clock.seconds();
    if now <= overdue_after {
        return Ok(Some(overdue_after + 1));
    }
    if app.backups.status().failure.is_none() {
        app.writer.run(operation::backup_overdue).await?;
    }
    Ok(Some(now + RETRY_DELAY))
}

/// The path of the list, which names the organization: several may use one folder.
async fn list_path(app: &App, options: &BackupOptions) -> ApiResult<PathBuf> {
    let uuid = app.readers.read(|snapshot| ApiResult::Ok(realm::uuid(snapshot)?)).await?;
    Ok(options.folder.join(format!(".teamchat-backups-{uuid}.json")))
}

/// Reads the list of the backups that were made; it is empty before the first one.
fn read_list(path: &Path) -> Vec<BackupRecord> {
    let records = std::fs::read(path).and_then(|text| Ok(serde_json::from_slice(&text)?));
    records.unwrap_or_else(|error: std::io::Error| {
        if error.kind() != std::io::ErrorKind::NotFound {
            let path = path.display();
            tracing::warn!(%error, %path, "the list of backups cannot be read: those on it are kept for good");
        }
        Vec::new()
    })
}

/// Makes a backup, and removes those that are not kept. Returns also why a restore refuses it, if it does. Blocks.
fn make(
    database: &Path,
    stop: Arc<AtomicBool>,
    options: &BackupOptions,
    list: &Path,
    mut records: Vec<BackupRecord>,
    now: i64,
) -> Result<(BackupRecord, Option<String>), BackupError> {
    let started = Instant::now();
    let recipients = Recipients::parse(options.recipients.iter().map(String::as_str))?;
    let keep: Keep = options.keep.parse().map_err(BackupError::Key)?;
    let name = name_of(now, !recipients.is_empty());
    let path = options.folder.join(&name);
    let request = Request { database, target: Target::File(&path), recipients: &recipients, is_gentle: true };
    let progress = &mut Progress { on_progress: &mut |_, _, _| (), stop };
    let Backup { bytes, schema_difference, .. } = create(request, progress)?;
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let record = BackupRecord { name, time: now, bytes, milliseconds };
    records.push(record.clone());
    // Backups from the future do not take the places of others. They are kept until their time comes.
    let times: Vec<i64> = records.iter().map(|record| record.time).filter(|time| *time <= now).collect();
    let superfluous = keep.superfluous(&times);
    let (gone, kept): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|record| superfluous.contains(&record.time));
    // The list first: a file that is not on it stays for good.
    write_list(list, &kept).map_err(|source| BackupError::File { path: list.to_owned(), source })?;
    for record in gone {
        remove(&options.folder, &record);
    }
    Ok((record, schema_difference))
}

/// Removes a backup, unless it is another file by now.
fn remove(folder: &Path, record: &BackupRecord) {
    let path = folder.join(&record.name);
    match std::fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() && found.len() == record.bytes => {
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(%error, path = %path.display(), "an old backup was not removed");
            }
        }
        Ok(_) => tracing::warn!(path = %path.display(), "an old backup has changed and is kept"),
        // It was removed by hand.
        Err(_) => {}
    }
}

fn write_list(path: &Path, records: &[BackupRecord]) -> std::io::Result<()> {
    let part = beside(path, ".part");
    let mut file = create_private(&part)?;
    file.write_all(&serde_json::to_vec(records)?)?;
    file.sync_all()?;
    std::fs::rename(&part, path)
}

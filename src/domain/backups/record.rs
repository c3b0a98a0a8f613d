//! Backups in the audit log of the database.

use crate::app::BackupRecord;
use crate::domain::audit;
use crate::domain::audit::{Action, Entry, Filter, Subject};
use crate::error::ApiResult;
use crate::store::Tx;
use rusqlite::Connection;
use serde_json::json;

/// Writes a backup that was made into the audit log.
pub fn record(tx: &Tx<'_>, backup: &BackupRecord) -> ApiResult<()> {
    let BackupRecord { name, time, bytes, milliseconds } = backup;
    let facts = json!({ "time": time, "bytes": bytes, "milliseconds": milliseconds });
    tx.audit(Entry::new(Action::BackupCreated, Subject::named("backup", name)).after(facts))
}

/// The newest backup in the audit log, made by the server or by the command.
pub fn last_recorded(connection: &Connection) -> ApiResult<Option<BackupRecord>> {
    let action = Some(Action::BackupCreated.name().to_owned());
    let newest = audit::list(connection, &Filter { action, limit: 1, ..Filter::default() })?;
    Ok(newest.into_iter().next().map(|entry| BackupRecord {
        name: entry.subject,
        // The entry was written when it was complete.
        time: entry.after["time"].as_i64().unwrap_or(entry.time),
        bytes: entry.after["bytes"].as_u64().unwrap_or(0),
        milliseconds: entry.after["milliseconds"].as_u64().unwrap_or(0),
    }))
}

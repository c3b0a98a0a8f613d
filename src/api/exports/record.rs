//! An export on the wire, and the event about exports.

use crate::api::exports::sql;
use crate::api::exports::sql::ExportRow;
use crate::domain::realm::user_ids;
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// `export_type` of public data.
pub const PUBLIC: i64 = 1;

/// `export_type` with the private data of those who consent.
pub const WITH_CONSENT: i64 = 2;

/// An export of the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportRecord {
    /// The id of the export.
    id: i64,
    /// The user id of the administrator who requested it.
    acting_user_id: UserId,
    /// When it was requested, in UNIX seconds.
    export_time: i64,
    /// When the archive was deleted, in UNIX seconds; null if it was not.
    deleted_timestamp: Option<i64>,
    /// When it failed, in UNIX seconds; null if it did not.
    failed_timestamp: Option<i64>,
    /// The URL of the archive; null unless there is one. Anyone who knows the URL can download the archive.
    export_url: Option<String>,
    /// True until the archive is complete or the export has failed.
    pending: bool,
    /// 1 for public data, 2 with the private data of users who consent.
    export_type: i64,
}

impl ExportRecord {
    fn new(row: ExportRow) -> Self {
        let url =
            row.content.map(|content| format!("{}/user_avatars/exports/1/{}", row.origin, content.path));
        let is_over = row.date_failed.is_some() || row.date_deleted.is_some() || url.is_some();
        Self {
            id: row.id,
            acting_user_id: row.acting_user_id,
            export_time: row.date_requested,
            deleted_timestamp: row.date_deleted,
            failed_timestamp: row.date_failed,
            export_url: url,
            pending: !is_over,
            export_type: row.export_type,
        }
    }
}

/// All exports, the oldest first.
pub fn list(connection: &Connection) -> ApiResult<Vec<ExportRecord>> {
    Ok(sql::all(connection)?.into_iter().map(ExportRecord::new).collect())
}

/// `realm_export`: the state of an export changed. The event has all exports.
#[derive(Serialize, Deserialize)]
pub struct ExportsChanged {
    /// The exports, the oldest first.
    exports: Vec<ExportRecord>,
}

uniform_event!(ExportsChanged: "realm_export", version 1);

/// Emits all exports to administrators.
pub fn emit_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = ExportsChanged { exports: list(tx)? };
    let administrators = user_ids::administrator_ids(tx)?;
    tx.emit(event, Audience::set(administrators));
    Ok(())
}

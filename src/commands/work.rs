//! Work of the program on the database file itself, which no job of the writer does: entries of the audit log.

use crate::app::BackupRecord;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::backups;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Work that is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// `backup`.
    Backup(BackupRecord),
    /// `compact`.
    Compact {
        /// The size of the file before, in bytes.
        bytes_before: u64,
        /// The size of the file after, in bytes.
        bytes_after: u64,
    },
    /// `export zulip`, `export html` and `fixtures dump`.
    Export {
        /// The format: `zulip`, `html` or `fixtures`.
        format: String,
        /// The part of the organization.
        scope: String,
    },
    /// `export person`.
    ExportPerson {
        /// The person.
        user_id: UserId,
    },
    /// `import`.
    Import {
        /// The format of the archive.
        format: String,
    },
}

/// Writes an entry of the audit log.
pub(super) fn record(tx: &Tx<'_>, work: Work) -> ApiResult<()> {
    tx.audit(match work {
        Work::Backup(backup) => return backups::record(tx, &backup),
        Work::Compact { bytes_before, bytes_after } => {
            Entry::new(Action::DatabaseCompacted, Subject::DATABASE).before(bytes_before).after(bytes_after)
        }
        Work::Export { format, scope } => {
            let facts = json!({ "format": format, "scope": scope });
            Entry::new(Action::OrganizationExported, Subject::named("export", format)).after(facts)
        }
        Work::ExportPerson { user_id } => Entry::new(Action::AccountExported, user_id),
        Work::Import { format } => Entry::new(Action::OrganizationImported, Subject::named("import", format)),
    })
}

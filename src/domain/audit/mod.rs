//! The audit log: an entry for each login and each change to accounts, credentials, permissions and settings, with its author,
//! the address it came from, and the values before and after.
//!
//! An entry is written in the transaction of its change ([`Tx::audit`](crate::store::Tx::audit)). Failed logins change nothing
//! and have a job of their own ([`record_failure`]), which counts repeated ones in one entry. Entries have no secrets, no
//! content of messages, drafts or files, and the ids of users in place of their names: a list shows the present names.

mod action;
mod entry;
mod sql;
mod subject;

pub use action::Action;
pub use entry::{Entry, record_failure, record_in_file};
pub use sql::{AuditRecord, Filter, MAX_ENTRIES, count_failures, forget_user, list};
pub use subject::Subject;

use crate::app::App;
use crate::error::ApiResult;
use crate::types::SECONDS_PER_DAY;

/// Days for which entries are kept by default.
pub const DEFAULT_KEEP_DAYS: u32 = 400;

/// Deletes entries that are older than they are kept, but none for a day after the clock has jumped.
pub async fn prune_old(app: &App) -> ApiResult<()> {
    if !app.jump_detector.is_steady(&app.clock) {
        return Ok(());
    }
    let days = app.options.audit_keep_days.unwrap_or(DEFAULT_KEEP_DAYS);
    let until = app.clock.seconds() - i64::from(days) * SECONDS_PER_DAY;
    if !app.readers.read(|snapshot| sql::is_prunable(snapshot, until)).await? {
        return Ok(());
    }
    app.writer.run_in_steps("audit_log", move |tx| ApiResult::Ok(sql::prune(tx, until)? == 0)).await
}

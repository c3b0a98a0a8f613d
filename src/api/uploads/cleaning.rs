//! Background removal of files without references, and of the contents of aborted uploads and deleted files.

use crate::app::App;
use crate::domain::files;
use crate::domain::files::{blobs, references};
use crate::http::ApiResult;
use crate::scheduler;
use crate::scheduler::{DUE_START, DuePosition};
use crate::store::{Snapshot, Tx};

/// Retention of a file that no message links to, in seconds: five weeks.
const UNREFERENCED_RETENTION: i64 = 5 * 7 * 24 * 60 * 60;

/// Removes everything that is due, a part in each job. Returns when the next removal is due, in UNIX seconds. Nothing is
/// removed for a day after the clock has jumped.
pub async fn clean_due(app: &App) -> ApiResult<Option<i64>> {
    if !app.jump_detector.is_steady(&app.clock) {
        return Ok(None);
    }
    scheduler::process_due(app, next_removal, |()| app.writer.run(clean_some)).await
}

/// When the next removal is due. It is the only item: after a failure there is no other.
fn next_removal(snapshot: &Snapshot<'_>, after: DuePosition) -> ApiResult<Option<(DuePosition, ())>> {
    if after > DUE_START {
        return Ok(None);
    }
    let file = files::longest_unclaimed(snapshot)?.map(|(_, since)| since + UNREFERENCED_RETENTION);
    let content = blobs::next_deletion(snapshot)?.map(|(_, from)| from);
    Ok(file.into_iter().chain(content).min().map(|time| ((time, 0), ())))
}

fn clean_some(tx: &mut Tx<'_>) -> ApiResult<()> {
    let mut budget = tx.budget("deleted_files");
    while budget.next_step() && clean_step(tx)? {}
    Ok(())
}

/// Deletes a file, or a chunk of one. Returns whether there was something to delete.
fn clean_step(tx: &mut Tx<'_>) -> ApiResult<bool> {
    if let Some((file, since)) = files::longest_unclaimed(tx)?
        && since + UNREFERENCED_RETENTION <= tx.now()
    {
        references::delete(tx, &file)?;
        return Ok(true);
    }
    blobs::delete_some(tx)
}

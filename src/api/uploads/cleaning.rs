//! Background removal of files without references, and of the contents of aborted uploads and deleted files.

use crate::app::App;
use crate::domain::files::references;
use crate::domain::files::{blobs, sql};
use crate::http::ApiResult;
use crate::scheduler;
use crate::store::{Snapshot, Tx};

/// How long a file that no message links to is kept, in seconds: five weeks.
const UNREFERENCED_RETENTION: i64 = 5 * 7 * 24 * 60 * 60;

/// Removes everything that is due, a part in each job. Returns when the next removal is due, in UNIX seconds.
pub async fn clean_due(app: &App) -> ApiResult<Option<i64>> {
    scheduler::process_due(app, next_removal, |()| app.writer.run(clean_some)).await
}

fn next_removal(snapshot: &Snapshot<'_>) -> ApiResult<Option<(i64, ())>> {
    let file = sql::longest_unclaimed(snapshot)?.map(|(_, since)| since + UNREFERENCED_RETENTION);
    let content = blobs::next_deletion(snapshot)?.map(|(_, from)| from);
    Ok(file.into_iter().chain(content).min().map(|time| (time, ())))
}

fn clean_some(tx: &mut Tx<'_>) -> ApiResult<()> {
    if let Some((file, since)) = sql::longest_unclaimed(tx)?
        && since + UNREFERENCED_RETENTION <= tx.now()
    {
        references::delete(tx, &file)?;
    }
    blobs::delete_some(tx)
}

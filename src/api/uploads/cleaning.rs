//! Files and contents that are removed in time: files that no message links to, and what is left of uploads and of
//! deleted files.

use crate::app::App;
use crate::domain::files::{blobs, sql};
use crate::domain::messages::file_references;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;

/// A file that no message links to is kept for five weeks, in seconds.
const UNCLAIMED: i64 = 5 * 7 * 24 * 60 * 60;

/// Removes all that is due, a little in each job, and answers when the next is, in UNIX seconds.
pub async fn clean_due(app: &App) -> ApiResult<Option<i64>> {
    loop {
        let next = app.readers.read(|snapshot| {
            let unclaimed = sql::longest_unclaimed(snapshot)?.map(|(_, since)| since + UNCLAIMED);
            let removed = blobs::next_removed(snapshot)?.map(|(_, from)| from);
            Ok::<_, ApiError>(unclaimed.into_iter().chain(removed).min())
        });
        match next.await? {
            Some(time) if time <= app.clock.seconds() => app.writer.run(clean_some).await?,
            next => return Ok(next),
        }
    }
}

fn clean_some(tx: &mut Tx<'_>) -> ApiResult<()> {
    if let Some((file, since)) = sql::longest_unclaimed(tx)?
        && since + UNCLAIMED <= tx.now()
    {
        file_references::delete(tx, &file)?;
    }
    blobs::remove_some(tx)
}

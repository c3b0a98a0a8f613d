//! Removal of deleted and changed messages from the search index and the lists of words and topics.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::search::purge;
use crate::http::ApiResult;
use crate::scheduler;
use crate::store::Tx;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The task that purges once an hour, if anything was deleted or changed.
pub const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { purge_due(&app).await })))
};

/// Purges if that is due, in many short jobs. Returns when the next purge is due, in UNIX seconds.
async fn purge_due(app: &App) -> ApiResult<Option<i64>> {
    let now = app.clock.seconds();
    let due = app.readers.read(|snapshot| ApiResult::Ok(purge::next_due(snapshot)?)).await?;
    if due.is_none_or(|due| due > now) {
        return Ok(due);
    }
    while app.writer.run(purge::remove_words).await? {}
    let mut after = Some(0);
    while let Some(last) = after {
        let remove = move |tx: &mut Tx<'_>| ApiResult::Ok(purge::remove_topics(tx, last)?);
        after = app.writer.run(remove).await?;
    }
    let mut begins = true;
    while merge_some(app, begins).await? {
        begins = false;
    }
    app.writer.run(move |tx| ApiResult::Ok(purge::finish(tx, now)?)).await?;
    app.readers.read(|snapshot| ApiResult::Ok(purge::next_due(snapshot)?)).await
}

async fn merge_some(app: &App, begins: bool) -> ApiResult<bool> {
    let has_merged = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&has_merged);
    let merge = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        purge::merge(tx, begins, tell);
        Ok(())
    };
    app.writer.run(merge).await?;
    Ok(has_merged.load(Ordering::Relaxed))
}

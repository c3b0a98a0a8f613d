//! Removal of deleted and changed messages from the search index and the lists of words and topics.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::search::purge::Candidates;
use crate::domain::search::{index, purge};
use crate::http::ApiResult;
use crate::scheduler;
use crate::store::{Budget, Snapshot, StoreError, Tx};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The task that purges once an hour, if anything was deleted or changed.
pub const BACKGROUND: Background =
    |app, stopped| Box::pin(scheduler::run(app, stopped, |app| async move { purge_due(&app).await }));

/// Purges if that is due, in many short jobs. Returns when the next purge is due, in UNIX seconds.
async fn purge_due(app: &App) -> ApiResult<Option<i64>> {
    let now = app.clock.seconds();
    let next =
        |snapshot: &Snapshot<'_>| ApiResult::Ok((purge::next_due(snapshot)?, purge::sweeps(snapshot)?));
    let (due, sweeps) = app.readers.read(next).await?;
    if due.is_none_or(|due| due > now) {
        return Ok(due);
    }
    if sweeps != 0 {
        remove_words(app, Candidates::All).await?;
        app.writer.run(move |tx| ApiResult::Ok(purge::finish_sweep(tx, sweeps)?)).await?;
    }
    remove_words(app, Candidates::Retired).await?;
    let mut after = 0;
    let remove_topics = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
        let last = purge::remove_topics(tx, after)?;
        after = last.unwrap_or(after);
        Ok(last.is_none())
    };
    app.writer.run_in_steps("search_topics", remove_topics).await?;
    let mut begins = true;
    while !merge_some(app, begins).await? {
        begins = false;
    }
    app.writer.run(move |tx| ApiResult::Ok(purge::finish(tx, now)?)).await?;
    Ok(app.readers.read(next).await?.0)
}

/// Removes the words that no message has: some are looked up in a snapshot, then deleted by the writer, and so on.
async fn remove_words(app: &App, candidates: Candidates) -> ApiResult<()> {
    let mut after = String::new();
    loop {
        let next = |snapshot: &Snapshot<'_>| ApiResult::Ok(purge::words_after(snapshot, candidates, &after)?);
        let words = app.readers.read(next).await?;
        if words.is_empty() {
            return Ok(());
        }
        let watched = words.clone();
        app.writer
            .run(move |tx| {
                purge::watch(tx, &watched);
                ApiResult::Ok(())
            })
            .await?;
        // Entries of moved messages that wait have the words of earlier topics.
        index::catch_up(app).await?;
        let look_up = move |snapshot: &Snapshot<'_>| Ok(purge::look_up(snapshot, words)?);
        let mut looked_up = app.read_in(&app.pools.slow_reads, None, look_up).await?;
        if let Some(last) = looked_up.back() {
            after.clone_from(&last.word);
        }
        let remove =
            move |tx: &mut Tx<'_>, budget: &mut Budget| purge::remove_words(tx, budget, &mut looked_up);
        app.writer.run_in_parts("search_words", remove).await?;
    }
}

/// Merges a part of the index. Returns whether that was the last.
async fn merge_some(app: &App, begins: bool) -> ApiResult<bool> {
    if app.writer.background().is_stopping() {
        return Err(StoreError::Stopped.into());
    }
    let is_done = Arc::new(AtomicBool::new(false));
    let report = Arc::clone(&is_done);
    let merge = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        purge::merge(tx, begins, report);
        Ok(())
    };
    app.writer.run(merge).await?;
    Ok(is_done.load(Ordering::Relaxed))
}

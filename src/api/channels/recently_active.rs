//! Task that emits `is_recently_active` when channels become inactive. A channel becomes active by a message, whose job
//! emits the event.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::messages::channel_summary;
use crate::http::ApiResult;
use crate::scheduler;
use crate::store::{Snapshot, Tx};

/// Emits the changes of `is_recently_active` that time brings.
pub const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { emit_silent_channels(&app).await }))
};

/// Emits the channels that have become silent, if it is time to look, and returns when it is the next time, in UNIX
/// seconds.
pub async fn emit_silent_channels(app: &App) -> ApiResult<Option<i64>> {
    let now = app.clock.seconds();
    let next = app.readers.read(|snapshot| channel_summary::next_look(snapshot)).await?;
    if next.is_some_and(|time| time > now) {
        return Ok(next);
    }
    app.writer.run(|tx| channel_summary::begin_look(tx)).await?;
    let find = move |snapshot: &Snapshot<'_>| channel_summary::silent_channels(snapshot, now);
    let (mut silent, next) = app.read_in(&app.pools.slow_reads, None, find).await?;
    let emit = move |tx: &mut Tx<'_>| match silent.pop() {
        Some(recipient_id) => channel_summary::emit_silent(tx, recipient_id, now).map(|()| false),
        None => channel_summary::set_looked(tx, now, next).map(|()| true),
    };
    app.writer.run_in_steps("silent_channels", emit).await?;
    app.readers.read(|snapshot| channel_summary::next_look(snapshot)).await
}

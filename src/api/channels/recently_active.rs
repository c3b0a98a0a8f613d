//! Task that emits `is_recently_active` when channels become inactive. A channel becomes active by a message, whose job
//! emits the event.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::messages::channel_summary;
use crate::http::ApiResult;
use crate::scheduler;

/// The task.
pub const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { emit_silent_channels(&app).await })))
};

/// Emits the channels that have become silent, if it is time to look, and returns when it is the next time, in UNIX
/// seconds.
pub async fn emit_silent_channels(app: &App) -> ApiResult<Option<i64>> {
    let next = app.readers.read(|snapshot| channel_summary::next_look(snapshot)).await?;
    match next {
        Some(time) if time > app.clock.seconds() => Ok(next),
        _ => app.writer.run(channel_summary::emit_silent).await.map(Some),
    }
}

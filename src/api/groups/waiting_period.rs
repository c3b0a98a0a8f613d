//! The task that emits the end of waiting periods when new members become full members.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::visibility::waiting_period;
use crate::http::ApiResult;
use crate::scheduler;

/// Emits the events of members whose waiting period has ended.
pub const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { emit_ended_waiting_periods(&app).await }))
};

/// Emits the waiting periods that have ended, and returns when the next one ends, in UNIX seconds.
pub async fn emit_ended_waiting_periods(app: &App) -> ApiResult<Option<i64>> {
    let next_end = || app.readers.read(|snapshot| waiting_period::next_end(snapshot, app.clock.seconds()));
    match next_end().await? {
        Some(time) if time <= app.clock.seconds() => {
            app.writer.run_in_steps("waiting_periods", waiting_period::emit_some).await?;
            next_end().await
        }
        next => Ok(next),
    }
}

//! What happens at a time: the loop of the tasks that wait for the next of their things to be due.

use crate::app::App;
use crate::http::ApiResult;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A look at the clock at least this often: it may be set, and a machine may sleep.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// After a failure of the file, how long until the next try.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);

/// Does all that is due, and answers when the next thing is, in UNIX seconds.
pub type DoDue = fn(Arc<App>) -> Pin<Box<dyn Future<Output = ApiResult<Option<i64>>> + Send>>;

/// Says that something was put on the timetable, or that its time changed.
pub fn ring(app: &App) {
    app.scheduler_wakeup.send_replace(());
}

/// Does what is due, when it is due, until the server stops. What became due while it was down is done at once.
pub async fn keep(app: Arc<App>, mut stopped: watch::Receiver<bool>, do_due: DoDue) {
    let mut changed = app.scheduler_wakeup.subscribe();
    loop {
        changed.mark_unchanged();
        let pause = match do_due(Arc::clone(&app)).await {
            Ok(next) => next.map_or(LONGEST_PAUSE, |next| until(&app, next)),
            Err(error) => {
                tracing::warn!(%error, "what is due has to wait");
                PAUSE_AFTER_FAILURE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // The sender is in `app`.
            _ = changed.changed() => {}
            _ = stopped.changed() => return,
        }
    }
}

fn until(app: &App, next: i64) -> Duration {
    let milliseconds = next.saturating_mul(1000).saturating_sub(app.clock.milliseconds());
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)).min(LONGEST_PAUSE)
}

//! Runs the background tasks of resources when they have work that is due.

use crate::app::{App, SchedulerProgress, TaskProgress};
use crate::http::{ApiError, ApiResult};
use crate::store::{Snapshot, StoreError};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Tasks with nothing due run at multiples of this: the clock may be set, and the machine may be suspended.
const TICK: Duration = Duration::from_secs(60);

/// Delay after a failed run.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Wakes all tasks, since something was scheduled or its time changed.
pub fn wake(app: &App) {
    app.scheduler_wakeup.send_replace(());
}

/// Wakes all tasks and waits until all due work is done, including work that becomes due as a result. Failed work
/// counts as done: it is retried later. Returns the time of the next work, in UNIX seconds.
pub async fn settle(app: &App) -> Option<i64> {
    loop {
        let mut requested = 0;
        app.scheduler_progress.send_modify(|progress| {
            progress.requested += 1;
            requested = progress.requested;
        });
        wake(app);
        let wakeups = app.scheduler_wakeup.subscribe();
        let mut progress = app.scheduler_progress.subscribe();
        let have_run =
            |progress: &SchedulerProgress| progress.tasks.iter().all(|task| task.completed >= requested);
        // The sender is in `app`.
        let progress = progress.wait_for(have_run).await.ok()?;
        if !wakeups.has_changed().unwrap_or(false) {
            return progress.tasks.iter().filter_map(|task| task.next_due).min();
        }
    }
}

/// Calls `run_due` whenever work is due, until the server stops. It returns the time of the next work, in UNIX seconds. Work that
/// became due while the server was down runs immediately. A run that fails or panics is repeated after a pause.
pub fn run<F: Future<Output = ApiResult<Option<i64>>> + Send>(
    app: Arc<App>,
    mut stopped: watch::Receiver<bool>,
    run_due: fn(Arc<App>) -> F,
) -> impl Future<Output = ()> + Send {
    // Before the first poll, so that `settle` waits also for tasks that have not begun.
    let mut task = 0;
    app.scheduler_progress.send_modify(|progress| {
        task = progress.tasks.len();
        progress.tasks.push(TaskProgress::default());
    });
    async move {
        let mut changed = app.scheduler_wakeup.subscribe();
        loop {
            changed.mark_unchanged();
            let completed = app.scheduler_progress.borrow().requested;
            let (next_due, pause) = match guard(run_due(Arc::clone(&app))).await {
                Ok(next) => (next, pause_until(&app, next)),
                // Work in parts ends between two of them. The rest is due at the next start.
                Err(_) if *stopped.borrow() => return,
                Err(error) => {
                    tracing::warn!(%error, "scheduled work failed and will be tried again");
                    (None, RETRY_DELAY)
                }
            };
            // Otherwise the next run begins at once: some tasks work in batches.
            if !pause.is_zero() {
                app.scheduler_progress.send_modify(|progress| {
                    if let Some(task) = progress.tasks.get_mut(task) {
                        *task = TaskProgress { completed, next_due };
                    }
                });
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // The sender is in `app`.
                _ = changed.changed() => {}
                _ = stopped.changed() => return,
            }
        }
    }
}

/// The position of an item in the order of processing: its time in UNIX seconds, and its id.
pub type DuePosition = (i64, i64);

/// The position before all items.
pub const DUE_START: DuePosition = (i64::MIN, i64::MIN);

/// Calls `process` with one item after the other as long as the next one is due. `load_next` returns the first item
/// after a position. An item that fails or panics stays where it is and does not stop others. Returns the time of the
/// first item that is not due yet, in UNIX seconds, or the last error, so that failed items are retried. Fails between two
/// items if the server stops.
pub async fn process_due<T, F>(
    app: &App,
    load_next: impl Fn(&Snapshot<'_>, DuePosition) -> ApiResult<Option<(DuePosition, T)>> + Sync,
    process: impl Fn(T) -> F + Sync,
) -> ApiResult<Option<i64>>
where
    T: Send,
    F: Future<Output = ApiResult<()>> + Send,
{
    let mut after = DUE_START;
    let mut failed = Ok(());
    loop {
        if app.writer.background().is_stopping() {
            return Err(StoreError::Stopped.into());
        }
        match app.readers.read(|snapshot| load_next(snapshot, after)).await? {
            Some((position, item)) if position.0 <= app.clock.seconds() => {
                if let Err(error) = guard(process(item)).await {
                    tracing::warn!(%error, ?position, "scheduled work failed and will be tried again");
                    failed = Err(error);
                    after = position;
                }
            }
            next => return failed.map(|()| next.map(|((time, _), _)| time)),
        }
    }
}

/// Turns a panic of scheduled work into an error.
pub async fn guard<T>(work: impl Future<Output = ApiResult<T>>) -> ApiResult<T> {
    let result = AssertUnwindSafe(work).catch_unwind().await;
    result.unwrap_or_else(|_| Err(ApiError::internal("scheduled work panicked")))
}

/// Time until work is due, in UNIX seconds, and until the next tick at most.
pub fn pause_until(app: &App, next: Option<i64>) -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let tick = until_tick(START.get_or_init(Instant::now).elapsed());
    next.map_or(tick, |next| {
        let milliseconds = next.saturating_mul(1000).saturating_sub(app.clock.milliseconds());
        Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)).min(tick)
    })
}

/// Time until the next tick. It is the same one for all tasks, so that a machine with nothing to do wakes up once for them.
fn until_tick(passed: Duration) -> Duration {
    TICK.saturating_sub(Duration::new(passed.as_secs() % TICK.as_secs(), passed.subsec_nanos()))
}

/// The pause after a try that failed, in seconds: one of `pauses` by the number of failures before it. The last is repeated.
pub fn pause_after(pauses: &[i64], failures: u64) -> i64 {
    let pause = usize::try_from(failures).ok().and_then(|index| pauses.get(index));
    pause.or(pauses.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_meet_at_ticks() {
        for passed in [0, 1, 59_999, 60_000, 60_001, 3_600_000, 86_399_999].map(Duration::from_millis) {
            let pause = until_tick(passed);
            assert!(!pause.is_zero() && pause <= TICK, "{pause:?}");
            assert_eq!((passed + pause).as_millis() % TICK.as_millis(), 0);
        }
    }

    #[test]
    fn the_last_pause_is_repeated() {
        let pauses = [0, 1, 2, 3, u64::MAX].map(|failures| pause_after(&[5, 60, 300], failures));
        assert_eq!(pauses, [5, 60, 300, 300, 300]);
    }
}

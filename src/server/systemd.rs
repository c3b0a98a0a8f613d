//! Notifications to systemd (`Type=notify`): readiness, the watchdog, the stop. Without systemd they do nothing.

use crate::app::App;
use crate::store::StoreError;
use sd_notify::NotifyState;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Reports that requests are answered.
pub fn notify_ready() {
    notify(&[NotifyState::Ready]);
}

/// Reports that the server is stopping.
pub fn notify_stopping() {
    notify(&[NotifyState::Stopping]);
}

fn notify(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "systemd cannot be notified");
    }
}

/// The interval in which systemd expects a sign of life (`WatchdogSec=`), if it does.
pub fn watchdog_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().filter(|interval| !interval.is_zero())
}

/// Gives signs of life, twice in each interval, as long as the database can be changed and read. If it cannot, systemd
/// restarts the server.
pub async fn run_watchdog(app: Arc<App>, interval: Duration, mut stopped: watch::Receiver<bool>) {
    let half = interval / 2;
    loop {
        match tokio::time::timeout(half, works(&app)).await {
            Ok(true) => notify(&[NotifyState::Watchdog]),
            _ => tracing::error!("the database does not respond; systemd will restart the server"),
        }
        tokio::select! {
            () = tokio::time::sleep(half) => {}
            _ = stopped.changed() => return,
        }
    }
}

async fn works(app: &App) -> bool {
    let written = app.writer.run(|_tx| Ok::<_, StoreError>(())).await;
    let read = app
        .readers
        .read(|snapshot| Ok::<i64, StoreError>(snapshot.query_row("SELECT 1", (), |row| row.get(0))?));
    written.is_ok() && read.await.is_ok()
}

//! Keeps the network served while reads block the threads that serve it.
//!
//! One of tokio's workers waits for the network. The worker that it wakes runs the requests that arrived, while the
//! others sleep, and no other worker waits for the network in the meantime. So a read that blocks its worker, on a disk
//! or in SQLite, would stop all connections. Handing the network over before each read would cost as much as the read.
//! Instead, a separate thread checks periodically if a read has been running since its last check, and if so wakes a
//! worker.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;

/// The time between two looks while there are reads. Connections wait for twice as long beside a read that blocks.
const INTERVAL: Duration = Duration::from_millis(2);

/// Number of checks without a read after which the thread sleeps until the next one. A server that is asked now and then
/// is a machine that sleeps in between.
const IDLE_LOOKS: u32 = 2;

/// The handle to the thread, which ends when this is dropped. Without a runtime there is nothing to watch.
pub struct Watchdog(Arc<State>);

#[derive(Default)]
struct State {
    begun: AtomicU64,
    ended: AtomicU64,
    /// The thread waits for the next read.
    is_asleep: AtomicBool,
    is_closed: Mutex<bool>,
    wakeup: Condvar,
}

/// A read that is running.
pub struct Watched<'w>(&'w State);

impl Watchdog {
    /// Starts the thread for the current runtime.
    pub fn start() -> Self {
        let state = Arc::new(State::default());
        if let Ok(runtime) = Handle::try_current() {
            let watched = Arc::clone(&state);
            let thread = std::thread::Builder::new().name("watchdog".to_owned());
            if let Err(error) = thread.spawn(move || watched.run(&runtime)) {
                tracing::warn!(%error, "slow reads may delay other requests");
            }
        }
        Self(state)
    }

    /// Counts a read until the result is dropped.
    pub fn watch(&self) -> Watched<'_> {
        let state = &*self.0;
        state.begun.fetch_add(1, Ordering::SeqCst);
        if state.is_asleep.load(Ordering::SeqCst) {
            state.wake();
        }
        Watched(state)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        *self.0.is_closed.lock() = true;
        self.0.wakeup.notify_one();
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl State {
    fn wake(&self) {
        // Under the lock, so that the thread either has not looked yet or is waiting already.
        let _closed = self.is_closed.lock();
        self.is_asleep.store(false, Ordering::SeqCst);
        self.wakeup.notify_one();
    }

    fn run(&self, runtime: &Handle) {
        let mut idle_looks = 0;
        let mut begun = self.begun.load(Ordering::SeqCst);
        let mut closed = self.is_closed.lock();
        while !*closed {
            if idle_looks < IDLE_LOOKS {
                self.wakeup.wait_for(&mut closed, INTERVAL);
            } else {
                self.is_asleep.store(true, Ordering::SeqCst);
                while !*closed
                    && self.is_asleep.load(Ordering::SeqCst)
                    && self.begun.load(Ordering::SeqCst) == begun
                {
                    self.wakeup.wait(&mut closed);
                }
                self.is_asleep.store(false, Ordering::SeqCst);
            }
            // Reads that ended count for those that had begun, so one may be missed while others come and go. Then the
            // network is served.
            let is_stuck = begun > self.ended.load(Ordering::SeqCst);
            let now = self.begun.load(Ordering::SeqCst);
            idle_looks = if is_stuck || now != begun { 0 } else { idle_looks.saturating_add(1) };
            begun = now;
            if is_stuck {
                // An empty task wakes an idle worker, which then waits for the network.
                drop(runtime.spawn(async {}));
            }
        }
    }
}

//! Progress of what takes long, on standard error, if it is a terminal.

use super::common::Failure;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line that shows how far something is.
#[derive(Default)]
pub(super) struct Meter {
    shown: Option<Instant>,
}

impl Meter {
    /// Shows what is being done, and how much of how much; 0 of 0 if it is not known.
    pub(super) fn show(&mut self, what: &str, done: u64, total: u64) {
        let mut error = std::io::stderr();
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= INTERVAL);
        if !is_due || !error.is_terminal() {
            return;
        }
        self.shown = Some(Instant::now());
        let percent =
            (done * 100).checked_div(total).map(|percent| format!(" {percent} %")).unwrap_or_default();
        // The erased line is for the eyes only.
        let _unseen = write!(error, "\r\x1b[K{what}{percent}").and_then(|()| error.flush());
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _unseen = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// Runs work that does not say how far it is in a thread of its own, and shows meanwhile what can be seen of it.
pub(super) fn while_shown<T: Send>(
    work: impl FnOnce() -> T + Send,
    mut show: impl FnMut(&mut Meter),
) -> Result<T, Failure> {
    thread::scope(|scope| {
        let (done, result) = channel();
        scope.spawn(move || done.send(work()));
        let mut meter = Meter::default();
        loop {
            show(&mut meter);
            let ended = result.recv_timeout(INTERVAL);
            if !matches!(ended, Err(RecvTimeoutError::Timeout)) {
                meter.clear();
                return Ok(ended?);
            }
        }
    })
}

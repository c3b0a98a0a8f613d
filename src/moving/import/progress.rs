//! Progress of an import, with the time left, on standard error.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The time between two lines of a log, and between two updates of a terminal.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
const TERMINAL_INTERVAL: Duration = Duration::from_millis(200);

/// The progress of an import in bytes read.
pub struct Progress {
    total: Cell<u64>,
    done: Cell<u64>,
    started: Instant,
    printed: Cell<Instant>,
    is_terminal: bool,
    interval: Option<Duration>,
}

impl Progress {
    /// Starts to measure. Where standard error is not a terminal, the progress is printed only if `is_logged`.
    pub fn start(is_logged: bool) -> Self {
        let now = Instant::now();
        let is_terminal = std::io::stderr().is_terminal();
        Self {
            total: Cell::default(),
            done: Cell::default(),
            started: now,
            printed: Cell::new(now),
            is_terminal,
            interval: interval(is_terminal, is_logged),
        }
    }

    /// Adds bytes that will be read.
    pub fn expect(&self, bytes: u64) {
        self.total.set(self.total.get() + bytes);
    }

    /// The seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Notes bytes that were read, and prints the progress from time to time.
    pub fn advance(&self, bytes: u64) {
        let done = self.done.get() + bytes;
        self.done.set(done);
        if self.interval.is_none_or(|interval| self.printed.get().elapsed() < interval) {
            return;
        }
        self.printed.set(Instant::now());
        let text = line(done, self.total.get(), self.started.elapsed());
        let mut error = std::io::stderr();
        // Without standard error there is nowhere to write.
        let _unwritten = if self.is_terminal {
            write!(error, "\r\x1b[K{text}").and_then(|()| error.flush())
        } else {
            writeln!(error, "{text}")
        };
    }

    /// Ends the line of a terminal.
    pub fn finish(&self) {
        if self.is_terminal {
            let mut error = std::io::stderr();
            let _unwritten = write!(error, "\r\x1b[K").and_then(|()| error.flush());
        }
    }
}

/// The time between two outputs; `None` if there are none.
fn interval(is_terminal: bool, is_logged: bool) -> Option<Duration> {
    if is_terminal { Some(TERMINAL_INTERVAL) } else { is_logged.then_some(LOG_INTERVAL) }
}

/// The progress as people read it.
fn line(done: u64, total: u64, elapsed: Duration) -> String {
    let (done, total) = (u128::from(done), u128::from(total.max(done)));
    let seconds = (total - done) * elapsed.as_millis() / done.max(1) / 1000;
    format!("{} % read, about {seconds} s left", done * 100 / total.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that reads the report reads errors, too.
    #[test]
    fn only_a_terminal_shows_what_is_not_logged() {
        let cases = [(true, true), (true, false), (false, true), (false, false)];
        let intervals = cases.map(|(is_terminal, is_logged)| interval(is_terminal, is_logged));
        assert_eq!(intervals, [Some(TERMINAL_INTERVAL), Some(TERMINAL_INTERVAL), Some(LOG_INTERVAL), None]);
    }

    #[test]
    fn the_time_left_follows_from_the_time_so_far() {
        let after_a_minute = |done, total| line(done, total, Duration::from_secs(60));
        assert_eq!(after_a_minute(1000, 4000), "25 % read, about 180 s left");
        assert_eq!(after_a_minute(4000, 4000), "100 % read, about 0 s left");
        // An archive that has more to read than it said.
        assert_eq!(after_a_minute(5000, 4000), "100 % read, about 0 s left");
        assert_eq!(after_a_minute(0, 0), "0 % read, about 0 s left");
        assert_eq!(line(u64::MAX - 1, u64::MAX, Duration::from_secs(60)), "99 % read, about 0 s left");
    }
}

//! Random input for everything that reads what strangers send: each target turns bytes into input of its kind, and fails
//! on a panic, on a wrong answer, and on input that takes too much time or memory.
//!
//! `cargo test --test api fuzz` runs each target for a few seconds on new input, `TEAMCHAT_FUZZ_SECONDS=3600` for an hour.
//! A failure is shrunk and prints its seed, with which it happens again: `BOLERO_RANDOM_SEED=1234`. With
//! `tests/api/fuzz/run 3600` an engine that is guided by coverage looks for an hour: libFuzzer.

mod event_rows;
mod forms;
mod images;
mod markdown;
mod narrows;
mod ranges;
mod source;

use source::Source;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The seconds that a target runs if nobody says more.
const SECONDS: u64 = 3;

/// The processor's time that any single input may take here, in seconds: without optimization, and with what other tests
/// take in the same process.
const MAX_TIME: f64 = 20.0;

/// The most bytes of one input.
const MAX_LENGTH: usize = 2048;

/// Runs a target until its time is over.
macro_rules! fuzz {
    ($target:expr) => {
        bolero::check!()
            .with_test_time($crate::fuzz::test_time())
            .with_max_len($crate::fuzz::MAX_LENGTH)
            .for_each($crate::fuzz::timed($target))
    };
}
use fuzz;

fn test_time() -> Duration {
    let given = std::env::var("TEAMCHAT_FUZZ_SECONDS").ok();
    let seconds = given.map(|text| text.parse().expect("TEAMCHAT_FUZZ_SECONDS is a number of seconds"));
    Duration::from_secs(seconds.unwrap_or(SECONDS))
}

/// A target that fails if one input takes too long.
fn timed(mut target: impl FnMut(Source<'_>)) -> impl FnMut(&[u8]) + std::panic::RefUnwindSafe {
    let mut run = AssertUnwindSafe(move |bytes: &[u8]| {
        let before = processor_seconds();
        target(Source::new(bytes));
        let taken = processor_seconds() - before;
        assert!(taken < MAX_TIME, "one input took {taken} s");
    });
    move |bytes| {
        // The whole of it, not its part: that would not be unwind safe.
        let run = &mut run;
        (run.0)(bytes);
    }
}

/// Runs the client's side of targets that talk to a server.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// The processor's time that this process has had. The clock says nothing about an input: other programs run, too. 0 where
/// the system does not tell.
fn processor_seconds() -> f64 {
    /// `USER_HZ`, the same on all machines.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may contain anything: the user's time and the kernel's are the 12th and 13th.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / TICKS_PER_SECOND
}

/// The memory of this process, in KiB. `None` where the system does not tell.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().split(' ').next()?.parse().ok()
}

/// The most that this process has had since, beyond what it has now, in KiB.
fn peak_of(work: impl FnOnce()) -> u64 {
    // Forgets the peak so far.
    let can_reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = resident_kib();
    work();
    match (before, resident_kib()) {
        (Some(before), Some(after)) if can_reset => after.saturating_sub(before),
        _ => 0,
    }
}

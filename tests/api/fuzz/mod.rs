//! Random input for all parsers of untrusted data. Each target turns bytes into input of its kind, and fails on a
//! panic, a wrong result, and excessive time or memory.
//!
//! `cargo test --test api fuzz` runs each target on the same inputs each time, with `TEAMCHAT_TEST_BUDGET=100` on a hundred
//! times as many, and with `TEAMCHAT_SEED=random` on new ones. A failure is shrunk, and prints its seed. With
//! `tests/api/fuzz/run 3600` an engine that is guided by coverage looks for an hour: libFuzzer.

mod event_rows;
mod forms;
mod images;
mod markdown;
mod narrows;
mod ranges;
mod source;

use crate::harness::{budget, seed};
use proptest::prelude::{ProptestConfig, any};
use proptest::test_runner::{RngSeed, TestRunner};
use source::Source;
use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use tokio::runtime::{Builder, Runtime};

/// Inputs of a target, before the budget.
const CASES: usize = 100;

/// Maximum processor time of a single input in seconds, without optimization and with other tests in the same process.
const MAX_TIME: f64 = 20.0;

/// The most bytes of one input.
const MAX_LENGTH: usize = 2048;

/// Runs a target, under libFuzzer until that ends it.
macro_rules! fuzz {
    ($target:expr) => {
        let target = $crate::fuzz::timed($target);
        // Set by `tests/api/fuzz/run`.
        if std::env::var_os("BOLERO_LIBTEST_HARNESS").is_some() {
            bolero::check!().with_max_len($crate::fuzz::MAX_LENGTH).for_each(target);
        } else {
            $crate::fuzz::run(target);
        }
    };
}
use fuzz;

/// Runs a target on inputs that follow from the seed.
fn run(target: impl FnMut(&[u8])) {
    let config = ProptestConfig {
        cases: u32::try_from(CASES * budget()).unwrap_or(u32::MAX),
        rng_seed: RngSeed::Fixed(seed(0x5eed_0033)),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let target = RefCell::new(target);
    let inputs = proptest::collection::vec(any::<u8>(), 0..=MAX_LENGTH);
    let result = TestRunner::new(config).run(&inputs, |bytes| {
        (target.borrow_mut())(&bytes);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure:?}"));
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

/// Processor time of this process. Wall time depends on the load of the machine. 0 if the system does not provide it.
fn processor_seconds() -> f64 {
    /// `USER_HZ`, the same on all machines.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may contain anything: the user's time and the kernel's are the 12th and 13th.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / TICKS_PER_SECOND
}

/// Memory of this process in KiB. `None` if the system does not provide it.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().split(' ').next()?.parse().ok()
}

/// Peak memory during `work`, beyond the current usage, in KiB.
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

//! The time of day, and the time that passes. Everything asks here, so that a test can set both.

use jiff::Timestamp;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The last second of the year 9999, in UNIX seconds: the last time that comes in from outside. Clients and calendars cannot
/// show later ones, which are often in milliseconds.
pub const LAST_SECOND: i64 = 253_402_300_799;

/// The number of seconds in a day.
pub const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Reads UNIX seconds with a fraction, which is cut off. `None` if they are not a time from 1970 to [`LAST_SECOND`].
pub fn whole_seconds(seconds: f64) -> Option<i64> {
    let whole = seconds.floor() as i64;
    (!seconds.is_nan() && (0..=LAST_SECOND).contains(&whole)).then_some(whole)
}

/// Converts milliseconds to seconds with a fraction.
#[expect(clippy::cast_precision_loss, reason = "times in milliseconds fit in the 53 bits")]
pub fn fractional_seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// A time in UNIX seconds as one that can be written for people. Times beyond all calendars are the epoch.
pub fn timestamp(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or_default()
}

/// A number of whole days as English text, for logs and warnings.
pub fn format_days(days: i64) -> String {
    match days {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// True if a link that ends at `end` works at `now`, both in UNIX seconds. Links work for `validity` seconds at most: a later end
/// is of a clock that was wrong.
pub fn is_valid_until(end: i64, now: i64, validity: i64) -> bool {
    (1..=validity).contains(&end.saturating_sub(now))
}

/// The source of the current time.
///
/// The clock of the server. The wall clock is shown to clients and compared with dates in the file; it may be set by an
/// operator, and a machine without a battery learns the date only after the start. The monotonic clock only measures
/// elapsed time: idle timeouts use it.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clocks.
    #[default]
    System,
    /// Clocks that tests set, move and stop. Clones share them.
    Adjustable(Arc<Mutex<Adjustment>>),
}

/// Difference between adjustable clocks and the machine's, in milliseconds.
#[derive(Debug)]
pub struct Adjustment {
    /// The wall clock if it is frozen; otherwise its offset from the machine's.
    wall: i64,
    /// Likewise the monotonic clock.
    monotonic: i64,
    is_frozen: bool,
}

impl Clock {
    /// Clocks that stand until they are moved, the wall clock at this UNIX time, in seconds.
    pub fn manual(seconds: i64) -> Self {
        let adjustment = Adjustment { wall: seconds * 1000, monotonic: 0, is_frozen: true };
        Self::Adjustable(Arc::new(Mutex::new(adjustment)))
    }

    /// Clocks that run as the machine's until they are adjusted.
    pub fn adjustable() -> Self {
        Self::Adjustable(Arc::new(Mutex::new(Adjustment { wall: 0, monotonic: 0, is_frozen: false })))
    }

    /// UNIX time in milliseconds, UTC.
    pub fn milliseconds(&self) -> i64 {
        match self {
            Self::System => machine_wall(),
            Self::Adjustable(adjustment) => adjustment.lock().now().0,
        }
    }

    /// UNIX time in seconds, UTC, as on the wire.
    pub fn seconds(&self) -> i64 {
        self.milliseconds().div_euclid(1000)
    }

    /// Milliseconds since some moment in the life of the process. Setting the wall clock does not change it.
    pub fn monotonic(&self) -> i64 {
        match self {
            Self::System => machine_monotonic(),
            Self::Adjustable(adjustment) => adjustment.lock().now().1,
        }
    }

    /// The wall clock and the monotonic one of the same moment, in milliseconds.
    fn now(&self) -> (i64, i64) {
        match self {
            Self::System => (machine_wall(), machine_monotonic()),
            Self::Adjustable(adjustment) => adjustment.lock().now(),
        }
    }

    /// Lets time pass on an adjustable clock. Does nothing to the machine's clocks, as the methods below.
    pub fn advance(&self, seconds: i64) {
        self.advance_milliseconds(seconds.saturating_mul(1000));
    }

    /// Lets time pass on an adjustable clock; a negative number turns it back.
    pub fn advance_milliseconds(&self, milliseconds: i64) {
        if let Self::Adjustable(adjustment) = self {
            let mut adjustment = adjustment.lock();
            adjustment.wall = adjustment.wall.saturating_add(milliseconds);
            adjustment.monotonic = adjustment.monotonic.saturating_add(milliseconds);
        }
    }

    /// Sets the wall clock of an adjustable clock, in UNIX seconds, like a correction of the system clock: no time
    /// passes.
    pub fn set_wall(&self, seconds: i64) {
        if let Self::Adjustable(adjustment) = self {
            let mut adjustment = adjustment.lock();
            let ahead_of = if adjustment.is_frozen { 0 } else { machine_wall() };
            adjustment.wall = seconds.saturating_mul(1000) - ahead_of;
        }
    }

    /// Freezes or resumes an adjustable clock.
    pub fn set_frozen(&self, frozen: bool) {
        if let Self::Adjustable(adjustment) = self {
            let mut adjustment = adjustment.lock();
            let (wall, monotonic) = adjustment.now();
            let machine = if frozen { (0, 0) } else { (machine_wall(), machine_monotonic()) };
            *adjustment =
                Adjustment { wall: wall - machine.0, monotonic: monotonic - machine.1, is_frozen: frozen };
        }
    }

    /// True if the clock is frozen.
    pub fn is_frozen(&self) -> bool {
        matches!(self, Self::Adjustable(adjustment) if adjustment.lock().is_frozen)
    }
}

impl Adjustment {
    /// The wall clock and the monotonic one, in milliseconds.
    fn now(&self) -> (i64, i64) {
        let machine = if self.is_frozen { (0, 0) } else { (machine_wall(), machine_monotonic()) };
        (machine.0 + self.wall, machine.1 + self.monotonic)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
fn machine_wall() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn machine_monotonic() -> i64 {
    static START: OnceLock<Instant> = OnceLock::new();
    i64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(i64::MAX)
}

/// The smallest step of the wall clock that counts as a jump, in milliseconds.
const JUMP: i64 = 60 * 60 * 1000;

/// Time in milliseconds for which a clock is not trusted after a jump, so that a wrong date can be noticed and
/// corrected.
const DISTRUST: i64 = 24 * 60 * 60 * 1000;

/// Detects jumps of the wall clock, to protect data from deletion by a wrong date.
#[derive(Debug)]
pub struct JumpDetector(Mutex<Seen>);

/// The clock as it was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The wall clock less the monotonic one, in milliseconds.
    offset: i64,
    /// Until when the clock is not trusted, in milliseconds of the monotonic one.
    distrusted_until: i64,
}

impl JumpDetector {
    /// Takes the clock as it is for right.
    pub fn new(clock: &Clock) -> Self {
        let (wall, monotonic) = clock.now();
        let offset = wall - monotonic;
        Self(Mutex::new(Seen { offset, distrusted_until: i64::MIN }))
    }

    /// True if the wall clock has advanced like the monotonic one between the calls of the last day.
    pub fn is_steady(&self, clock: &Clock) -> bool {
        let (wall, now) = clock.now();
        let offset = wall - now;
        let mut seen = self.0.lock();
        let jump = offset - seen.offset;
        if jump.abs() >= JUMP {
            tracing::warn!(
                milliseconds = jump,
                "the clock has jumped; nothing is deleted by its age for a day"
            );
            seen.distrusted_until = now + DISTRUST;
        }
        seen.offset = offset;
        now >= seen.distrusted_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adjustable_clock_is_moved_and_stopped_and_runs_on() {
        let clock = Clock::adjustable();
        let machine = machine_wall();
        assert!(clock.milliseconds() >= machine && !clock.is_frozen());
        clock.set_wall(5);
        assert!((5_000..65_000).contains(&clock.milliseconds()));
        clock.set_frozen(true);
        let (stands, monotonic) = (clock.milliseconds(), clock.monotonic());
        clock.advance(3600);
        assert_eq!((clock.milliseconds(), clock.monotonic()), (stands + 3_600_000, monotonic + 3_600_000));
        clock.set_frozen(false);
        assert!((stands + 3_600_000..stands + 3_660_000).contains(&clock.milliseconds()));
    }

    #[test]
    fn links_work_until_their_end() {
        for (end, expected) in [(100, false), (101, true), (160, true), (161, false), (i64::MAX, false)] {
            assert_eq!(is_valid_until(end, 100, 60), expected, "{end}");
        }
    }

    #[test]
    fn times_are_those_of_calendars() {
        let last = 253_402_300_799.0;
        for (seconds, expected) in [(0.0, Some(0)), (1.75, Some(1)), (last + 0.5, Some(LAST_SECOND))] {
            assert_eq!(whole_seconds(seconds), expected, "{seconds}");
        }
        for seconds in [-1.0, -0.5, last + 1.0, 1_790_000_000_000.0, f64::INFINITY, f64::NAN] {
            assert_eq!(whole_seconds(seconds), None, "{seconds}");
        }
    }

    #[test]
    fn a_jump_of_the_wall_clock_lets_no_time_pass() {
        let clock = Clock::manual(1_000_000);
        clock.advance(5);
        clock.set_wall(0);
        assert_eq!((clock.seconds(), clock.monotonic()), (0, 5000));
    }

    #[test]
    fn time_that_passes_in_another_thread_is_no_jump() {
        let clock = Clock::manual(1_000_000);
        let detector = JumpDetector::new(&clock);
        let of_other = clock.clone();
        let other = std::thread::spawn(move || (0..200_000).for_each(|_| of_other.advance(2 * 24 * 3600)));
        while !other.is_finished() {
            assert!(detector.is_steady(&clock));
        }
    }

    #[test]
    fn a_clock_that_jumps_is_not_trusted_for_a_day() {
        let clock = Clock::manual(1_000_000);
        let detector = JumpDetector::new(&clock);
        assert!(detector.is_steady(&clock));
        clock.advance(30 * 24 * 3600);
        assert!(detector.is_steady(&clock), "time that passes is no jump");
        clock.set_wall(clock.seconds() + 3599);
        assert!(detector.is_steady(&clock), "a small correction");
        for step in [3600, -3600] {
            clock.set_wall(clock.seconds() + step);
            assert!(!detector.is_steady(&clock));
            clock.advance(24 * 3600 - 1);
            assert!(!detector.is_steady(&clock));
            clock.advance(1);
            assert!(detector.is_steady(&clock));
        }
    }
}

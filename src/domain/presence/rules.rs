//! What a report changes.

use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::presence::record::Times;

/// Times that are nearly as new as the report are left alone: people have several clients, and each reports.
const WORTH_A_CHANGE_SECONDS: i64 = 55;

/// What a client reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The person uses the client.
    Active,
    /// The client runs.
    Idle,
}

impl Status {
    /// The status of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "active" => Some(Self::Active),
            "idle" => Some(Self::Idle),
            _ => None,
        }
    }
}

/// What a report makes of the times so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The times from now on.
    pub times: Times,
    /// Whether the person was away, and is back.
    pub came_online: bool,
}

/// What a report at `now` changes; `None` for nothing.
pub fn step(before: Option<Times>, status: Status, now: i64) -> Option<Step> {
    let mut times = before.unwrap_or(Times { last_active: None, last_connected: now });
    let mut came_online = false;
    let inactive_for = times.last_active.map_or(i64::MAX, |active| now - active);
    if now - times.last_connected > WORTH_A_CHANGE_SECONDS {
        times.last_connected = now;
    }
    if status == Status::Active && inactive_for > WORTH_A_CHANGE_SECONDS {
        came_online = inactive_for > PRESENCE_OFFLINE_THRESHOLD_SECONDS;
        times = Times { last_active: Some(now), last_connected: now };
    }
    (before != Some(times)).then_some(Step { times, came_online })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000;

    fn times(active: Option<i64>, connected: i64) -> Times {
        Times { last_active: active.map(|ago| NOW - ago), last_connected: NOW - connected }
    }

    #[test]
    fn reports_change_what_is_old() {
        use Status::{Active, Idle};
        let cases = [
            (None, Active, Some((times(Some(0), 0), true))),
            (None, Idle, Some((times(None, 0), false))),
            (Some(times(None, 10)), Active, Some((times(Some(0), 0), true))),
            (Some(times(None, 10)), Idle, None),
            (Some(times(Some(55), 55)), Active, None),
            (Some(times(Some(56), 56)), Active, Some((times(Some(0), 0), false))),
            (Some(times(Some(56), 56)), Idle, Some((times(Some(56), 0), false))),
            (Some(times(Some(200), 10)), Active, Some((times(Some(0), 0), false))),
            (Some(times(Some(201), 10)), Active, Some((times(Some(0), 0), true))),
            (Some(times(Some(201), 10)), Idle, None),
            // A clock that was set back changes nothing.
            (Some(times(Some(-100), -100)), Active, None),
        ];
        for (before, status, expected) in cases {
            let found = step(before, status, NOW).map(|step| (step.times, step.came_online));
            assert_eq!(found, expected, "{before:?} {status:?}");
        }
    }
}

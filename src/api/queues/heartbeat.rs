//! The heartbeat of a poll without events, and its time.

use crate::events::{QueueId, uniform_event};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::time::Duration;

/// `heartbeat`: no other event occurred while a poll waited. It ends the poll.
#[derive(Serialize, Deserialize)]
pub struct Heartbeat {}

uniform_event!(Heartbeat: "heartbeat", version 1);

/// A poll gets its heartbeat after a time in this range, in milliseconds. The published server waits 45 to 55 seconds,
/// but some health checks time out after 50.
const WAIT: RangeInclusive<i64> = 45_000..=49_500;

/// Clients give up after 90 seconds.
const _: () = assert!(*WAIT.start() >= 45_000 && *WAIT.end() <= 50_000);

/// Heartbeats are emitted at multiples of this, in milliseconds.
const TICK: i64 = 500;

/// The polls of a small server meet at multiples of this, in ticks: a machine that has nothing to do then wakes up once
/// for all of them. Each wait brings those that do not yet meet closer.
const PERIOD: i64 = 95;

/// More queues than this meet at several times, so that others do not wait for their heartbeats.
const QUEUES_TOGETHER: usize = 200;

/// Time until the heartbeat of a poll that begins `now`, in milliseconds of the monotonic clock, on a server with this
/// number of `queues`: of the ticks in the range, the one nearest to where the queue meets others.
pub fn wait(now: i64, queue_id: &QueueId, queues: usize) -> Duration {
    let groups = i64::try_from(1 + queues / QUEUES_TOGETHER).map_or(PERIOD, |groups| groups.min(PERIOD));
    let mut hasher = DefaultHasher::new();
    queue_id.hash(&mut hasher);
    let group = i64::try_from(hasher.finish() % groups.unsigned_abs()).unwrap_or(0);
    let meeting = group * PERIOD / groups;
    let distance = |tick: &i64| {
        let past = (tick - meeting).rem_euclid(PERIOD);
        past.min(PERIOD - past)
    };
    let first = (now + WAIT.start() - 1).div_euclid(TICK) + 1;
    let last = (now + WAIT.end()).div_euclid(TICK);
    let tick = (first..=last).min_by_key(distance).unwrap_or(first);
    Duration::from_millis((tick * TICK - now).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const HEARTBEATS: usize = 13;

    /// The ends of the polls of a queue that begins at `now`, one after the other, in milliseconds.
    fn heartbeats(mut now: i64, queue_id: &QueueId, queues: usize) -> Vec<i64> {
        let mut ends = Vec::new();
        for _ in 0..HEARTBEATS {
            let waited = i64::try_from(wait(now, queue_id, queues).as_millis()).unwrap();
            assert!(WAIT.contains(&waited), "{waited} ms from {now}");
            now += waited;
            ends.push(now);
            // The client asks again a little later.
            now += 20;
        }
        ends
    }

    #[test]
    fn polls_of_a_small_server_meet() {
        let ends = |begin| heartbeats(begin, &QueueId::random(), 100);
        // Wherever they begin.
        let meeting = |begin| ends(begin)[HEARTBEATS - 1].rem_euclid(PERIOD * TICK);
        assert!((0..60_000).step_by(77).all(|begin| meeting(begin) == 0));
        // Those that begin together are together all the time.
        assert_eq!(ends(10_001), ends(10_400));
    }

    #[test]
    fn polls_of_a_large_server_are_spread() {
        let queues = 10_000;
        let mut polls = BTreeMap::new();
        for _ in 0..queues {
            let end = heartbeats(12_345, &QueueId::random(), queues)[HEARTBEATS - 1];
            *polls.entry((end / TICK).rem_euclid(PERIOD)).or_insert(0) += 1;
        }
        assert_eq!(polls.len(), 51);
        assert!(polls.values().all(|polls| (100..=350).contains(polls)), "{polls:?}");
    }
}

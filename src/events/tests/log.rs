//! The log in the file.

use super::*;
use crate::store::count_steps;
use std::time::Duration;

/// Steps of SQLite's machine that it takes to trim a log, of which each event has an audience of its own.
async fn steps_to_trim(events: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite");
    let bench = Bench::open(&path).await;
    bench
        .execute(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {events})
             INSERT INTO event_audience (id, user_ids) SELECT number, x'3A30000000000000' FROM one;
             INSERT INTO event (id, type, name, version, audience_id, also_public, payload)
             SELECT id, 'ping', 'ping', 3, id, 0, '{{}}' FROM event_audience;"
        ))
        .await;
    bench.close();
    let bench = Bench::open(&path).await;
    let count = |tx: &mut Tx<'_>| Ok::<_, StoreError>(count_steps(tx));
    let steps = bench.writer.run(count).await.unwrap();
    bench.maintain().await;
    let steps = steps();
    // The newest event stays, with its audience.
    let newest = i64::try_from(events).unwrap();
    assert_eq!(bench.value::<i64>("SELECT sum(id) FROM event"), newest);
    assert_eq!(bench.value::<i64>("SELECT sum(id) FROM event_audience"), newest);
    bench.close();
    steps
}

/// Each row is looked at a number of times that does not depend on the others.
#[tokio::test]
async fn a_log_is_trimmed_in_steps_that_grow_as_the_log() {
    let (short, long) = (steps_to_trim(4_000).await, steps_to_trim(20_000).await);
    assert!(short > 4_000, "{short} steps");
    assert!(long < 6 * short, "{short} steps for 4,000 events, {long} for 20,000");
}

/// Events for others are skipped, however large, and the next page begins at the end of the previous one.
#[tokio::test]
async fn pages_contain_wanted_events_and_their_end() {
    let (_folder, bench) = Bench::start().await;
    bench
        .execute(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 10)
             INSERT INTO event (id, type, name, version, audience, also_public, payload)
             SELECT number, iif(number % 2, 'note', 'ping'), '', 1, x'3A30000000000000', number % 2,
                 iif(number % 2, hex(zeroblob(1 << 19)), '{}') FROM one",
        )
        .await;
    let page = async |after: i64, limit: usize, of: &'static str| {
        let read = |snapshot: &Snapshot<'_>| -> Result<_, StoreError> {
            let wanted = |event_type: &str, audience: &Audience| {
                assert_eq!(audience.is_also_public(), event_type == "note");
                event_type == of
            };
            Ok(crate::events::log::read(snapshot, EventId(after), EventId(10), limit, wanted)?)
        };
        let page = bench.readers.read(read).await.unwrap();
        (page.rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), page.until.0)
    };
    assert_eq!(page(0, 1000, "ping").await, (vec![2, 4, 6, 8, 10], 10));
    assert_eq!(page(0, 3, "ping").await, (vec![2], 3));
    assert_eq!(page(3, 3, "ping").await, (vec![4, 6], 6));
    assert_eq!(page(0, 1000, "neither").await, (vec![], 10));
    // Four MiB, and the event that exceeds them.
    assert_eq!(page(0, 1000, "note").await, (vec![1, 3, 5, 7, 9], 9));
    assert_eq!(page(9, 1000, "note").await, (vec![], 10));
    bench.close();
}

/// A job without time for more removes one event, however large.
#[tokio::test]
async fn the_log_is_trimmed_in_short_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite");
    let bench = Bench::open(&path).await;
    bench
        .execute(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 20)
             INSERT INTO event (id, type, name, version, audience, also_public, payload)
             SELECT number, 'note', '', 1, x'3A30000000000000', 1, hex(zeroblob(1 << 19)) FROM one",
        )
        .await;
    bench.close();
    let bench = Bench::open(&path).await;
    bench.writer.background().set_limit(Duration::ZERO);
    bench.maintain().await;
    let figures = bench.writer.background().figures()["event_log"];
    assert_eq!((figures.jobs, figures.steps, figures.most_steps), (19, 19, 1));
    assert_eq!(bench.value::<i64>("SELECT sum(id) FROM event"), 20, "the newest stays");
    bench.close();
}

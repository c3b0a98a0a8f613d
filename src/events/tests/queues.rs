//! Limits on queues, their expiry, and their effect on the log.

use super::{ADA, BOB, Bench, ids, numbers, only};
use crate::events::hub::MAX_UNLOGGED;
use crate::events::{
    MAX_EVENTS_BEHIND, MAX_EVENTS_BEHIND_IDLE, MAX_IDLE_SECONDS, MAX_QUEUES_PER_USER, NewQueue, QueueId,
    Registration, delete_queues_of,
};
use crate::store::{StoreError, Tx};
use crate::types::{EventId, UserId};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

#[tokio::test]
async fn excess_queues_replace_the_longest_idle_one() {
    let (_folder, bench) = Bench::start().await;
    let of_bob = bench.add(BOB, 0);
    let queues: Vec<QueueId> = (0..MAX_QUEUES_PER_USER as i64).map(|number| bench.add(ADA, number)).collect();
    bench.hub.poll_once(&queues[0], ADA, None, false, 5000).unwrap();
    let last = bench.add(ADA, 6000);
    assert!(bench.hub.owner(&queues[1]).is_none(), "it was idle longest");
    for queue_id in queues.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, id)| id) {
        assert!(bench.hub.owner(queue_id).is_some());
    }
    assert!(bench.hub.owner(&last).is_some() && bench.hub.owner(&of_bob).is_some());
    assert_eq!(bench.hub.take_expired(), [queues[1].clone()], "its row is to be deleted");
    bench.close();
}

#[tokio::test]
async fn excess_queues_of_accounts_that_count_together_are_those_of_the_user() {
    let (_folder, bench) = Bench::start().await;
    let add = |user_id: UserId, now: i64| {
        let queue = NewQueue { queue_id: QueueId::random(), user_id, registration: Arc::default() };
        bench.hub.add(&queue, &[user_id], &[ADA, BOB], now);
        queue.queue_id
    };
    let share = MAX_QUEUES_PER_USER / 10;
    let of_ada: Vec<QueueId> = (0..share as i64 - 1).map(|number| add(ADA, number)).collect();
    let of_bob: Vec<QueueId> = (of_ada.len()..MAX_QUEUES_PER_USER).map(|_| add(BOB, 5000)).collect();
    assert!(of_ada.iter().chain(&of_bob).all(|queue_id| bench.hub.owner(queue_id).is_some()));
    let last_of_share = add(ADA, 6000);
    assert!(bench.hub.take_expired().is_empty(), "each has a share");
    add(ADA, 6000);
    add(BOB, 6000);
    let expired = bench.hub.take_expired();
    assert!(expired.contains(&of_ada[0]) && !expired.contains(&last_of_share), "{expired:?}");
    assert!(expired[1..].iter().all(|queue_id| of_bob.contains(queue_id)), "{expired:?}");
    bench.close();
}

#[tokio::test]
async fn many_queues_expire_and_leave_nothing_behind() {
    let (_folder, bench) = Bench::start().await;
    let mut queues = HashSet::new();
    // Each new queue is counted with those of its user.
    for user_id in 0..100 {
        for _ in 0..100 {
            queues.insert(bench.add(UserId(user_id), 0));
        }
    }
    bench.hub.expire(601_000);
    let expired = bench.hub.take_expired();
    assert_eq!(expired.into_iter().collect::<HashSet<_>>(), queues);
    assert!(bench.hub.is_empty());
    bench.close();
}

#[tokio::test]
async fn deleted_queues_of_a_user_end_with_the_commit() {
    let (_folder, bench) = Bench::start().await;
    let of_ada = bench.register(ADA, Registration::default()).await;
    let of_bob = bench.register(BOB, Registration::default()).await;
    let fails = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        delete_queues_of(tx, ADA)?;
        Err(StoreError::Stopped)
    };
    bench.writer.run(fails).await.unwrap_err();
    assert!(bench.hub.owner(&of_ada).is_some(), "its row was not deleted");
    bench.writer.run(|tx| delete_queues_of(tx, ADA)).await.unwrap();
    assert!(bench.hub.owner(&of_ada).is_none() && bench.hub.owner(&of_bob).is_some());
    assert_eq!(bench.value::<i64>("SELECT count(*) FROM event_queue"), 1);
    bench.close();
}

#[tokio::test]
async fn a_queue_that_waits_for_nothing_does_not_hold_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let queue = bench.register(ADA, only("note")).await;
    for number in 0..10 {
        bench.ping(number).await;
    }
    let rows = "SELECT count(*) FROM event";
    assert_eq!(bench.value::<i64>(rows), 10);
    bench.maintain().await;
    assert_eq!(bench.value::<i64>(rows), 1, "the newest stays");
    bench.note().await;
    bench.ping(11).await;
    bench.maintain().await;
    assert_eq!(bench.value::<i64>(rows), 2, "from the note on");
    bench.close();
    let bench = Bench::open(&path).await;
    assert_eq!(bench.events(&queue, ADA).await.len(), 1);
    bench.close();
}

/// Events that no queue waits for are removed also between others.
#[tokio::test]
async fn a_queue_that_waits_for_one_event_keeps_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let (of_notes, of_pings) =
        (bench.register(ADA, only("note")).await, bench.register(BOB, only("ping")).await);
    bench.note().await;
    for number in 0..5 {
        bench.ping(number).await;
    }
    bench.note().await;
    let rows = "SELECT count(*) FROM event";
    bench.maintain().await;
    assert_eq!(bench.value::<i64>(rows), 7, "each is for a queue");
    let last = bench.events(&of_pings, BOB).await.last().unwrap()["id"].as_i64().unwrap();
    assert!(bench.poll(&of_pings, BOB, last).await.unwrap().is_empty());
    bench.maintain().await;
    assert_eq!(bench.value::<i64>(rows), 2, "the notes");
    bench.ping(6).await;
    let ids = super::ids(&bench.events(&of_notes, ADA).await);
    assert_eq!(ids.len(), 2);
    bench.close();
    let bench = Bench::open(&path).await;
    assert_eq!(super::ids(&bench.events(&of_notes, ADA).await), ids, "the same from the file");
    bench.close();
}

#[tokio::test]
async fn a_queue_far_behind_expires_and_frees_the_log() {
    let (_folder, bench) = Bench::start().await;
    let queue = bench.register(ADA, Registration::default()).await;
    bench.ping(1).await;
    bench.events(&queue, ADA).await;
    // Ids without events, as after many unlogged events.
    let skip =
        format!("UPDATE event SET id = id + {MAX_EVENTS_BEHIND} WHERE id = (SELECT max(id) FROM event)");
    bench.ping(2).await;
    bench.execute(&skip).await;
    let head = bench.value::<i64>("SELECT max(id) FROM event");
    let late = bench.add(BOB, 0);
    bench.hub.start_at(&late, EventId(head));
    bench.maintain().await;
    bench.expect_expired(&queue, ADA).await;
    assert!(bench.hub.owner(&late).is_some());
    assert_eq!(bench.value::<i64>("SELECT count(*) FROM event"), 1);
    bench.close();
}

#[tokio::test]
async fn a_client_may_name_an_event_that_is_not_published_yet() {
    let (_folder, bench) = Bench::start().await;
    let (new, old) = (bench.add(ADA, 0), bench.add(ADA, 0));
    let next = EventId(bench.hub.head().0 + 1);
    // The snapshot of `POST /register` has it.
    bench.hub.start_at(&new, next);
    assert!(bench.hub.poll_once(&new, ADA, Some(next), false, 0).is_ok());
    assert!(bench.hub.poll_once(&old, ADA, Some(next), false, 0).is_ok());
    bench.close();
}

/// The writer commits events before it publishes them. Other queues do not wait for them yet.
#[tokio::test]
async fn events_that_are_not_published_yet_stay_in_the_log() {
    let (_folder, bench) = Bench::start().await;
    let of_bob = bench.register(BOB, Registration::default()).await;
    let new = bench.add(ADA, 0);
    bench.ping(1).await;
    let published = bench.value::<i64>("SELECT max(id) FROM event");
    bench.poll(&of_bob, BOB, published).await.unwrap();
    for later in 1..=3 {
        let statement = format!(
            "INSERT INTO event (id, type, name, version, audience, audience_id, also_public, message_id, payload, routing)
             SELECT id + {later}, type, name, version, audience, audience_id, also_public, message_id, payload, routing
             FROM event WHERE id = {published}"
        );
        bench.execute(&statement).await;
    }
    // The snapshot of `POST /register` has them.
    bench.hub.start_at(&new, EventId(published + 3));
    bench.maintain().await;
    assert_eq!(bench.value::<i64>("SELECT count(*) FROM event"), 3);
    bench.close();
}

#[test]
fn an_idle_queue_that_is_far_behind_expires_before_its_time() {
    let long = Registration { idle_seconds: Some(MAX_IDLE_SECONDS), ..Registration::default() };
    let brief = Registration { idle_seconds: Some(60), ..Registration::default() };
    let is_gone = |registration: &Registration, seconds: i64, behind: i64| {
        registration.is_idle_too_long(seconds * 1000, behind)
    };
    assert!(!is_gone(&long, MAX_IDLE_SECONDS, MAX_EVENTS_BEHIND_IDLE));
    assert!(is_gone(&long, MAX_IDLE_SECONDS + 1, 0));
    assert!(is_gone(&long, 601, MAX_EVENTS_BEHIND_IDLE + 1), "the log would be kept for it");
    assert!(!is_gone(&long, 600, MAX_EVENTS_BEHIND_IDLE + 1), "as every queue");
    assert!(is_gone(&brief, 61, 0) && !is_gone(&brief, 60, MAX_EVENTS_BEHIND));
    assert!(is_gone(&Registration::default(), 601, 0) && !is_gone(&Registration::default(), 600, 0));
}

/// The numbers that a crash skips are no events that a queue is behind.
#[tokio::test]
async fn idle_queues_survive_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: i64| folder.path().join(format!("{number}.sqlite"));
    let mut bench = Bench::open(&path(0)).await;
    let long = Registration { idle_seconds: Some(MAX_IDLE_SECONDS), ..Registration::default() };
    let queue = bench.register(ADA, long).await;
    for number in 1..=4 {
        bench.ping(number).await;
        // The file as a crash leaves it.
        bench.writer.copy_to(path(number)).await.unwrap();
        bench.close();
        bench = Bench::open(&path(number)).await;
    }
    bench.hub.expire(601_000);
    assert_eq!(numbers(&bench.events(&queue, ADA).await), [1, 2, 3, 4]);
    bench.close();
}

/// Writes nothing as long as clients get only what has no rows, such as heartbeats.
#[tokio::test]
async fn positions_are_saved_when_events_of_the_log_were_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let queue = bench.register(ADA, Registration::default()).await;
    let acknowledged = Cell::new(-1);
    let acknowledge = async |bench: &Bench| {
        let events = bench.poll(&queue, ADA, acknowledged.get()).await.unwrap();
        let last = *ids(&events).last().unwrap();
        acknowledged.set(last);
        assert!(bench.poll(&queue, ADA, last).await.unwrap().is_empty());
        bench.maintain().await;
        last
    };
    let saved = |bench: &Bench| bench.value::<i64>("SELECT acknowledged FROM event_queue");
    bench.ping(1).await;
    let logged = acknowledge(&bench).await;
    assert_eq!(saved(&bench), logged);
    for number in 2..5 {
        bench.broadcast(number).await;
        acknowledge(&bench).await;
        assert_eq!(saved(&bench), logged);
    }
    bench.ping(5).await;
    let logged = acknowledge(&bench).await;
    assert_eq!(saved(&bench), logged);
    // Queues that are far behind expire, so an old position does not stay for long.
    let mut last = logged;
    while last - logged <= MAX_UNLOGGED {
        assert_eq!(saved(&bench), logged);
        for number in 0..500 {
            bench.broadcast(number).await;
        }
        last = acknowledge(&bench).await;
    }
    assert_eq!(saved(&bench), last);
    bench.broadcast(0).await;
    let unsaved = acknowledge(&bench).await;
    bench.close();
    let bench = Bench::open(&path).await;
    assert_eq!(saved(&bench), last);
    assert!(bench.poll(&queue, ADA, unsaved).await.unwrap().is_empty(), "the client knows its position");
    bench.close();
}

//! Memory of events.

use super::{ADA, BOB, Bench, Ping, REGISTRY, numbers};
use crate::events::buffer::{BufferedEvent, Change, EventBuffer, ParsedEvents};
use crate::events::log::LogRow;
use crate::events::{Audience, QueueId, Receiver, Registration};
use crate::store::{StoreError, Tx};
use crate::types::EventId;
use roaring::RoaringBitmap;
use std::sync::Arc;

fn ping(number: i64, audience: &Audience) -> Arc<BufferedEvent> {
    let row = LogRow {
        id: EventId(number),
        event_type: "ping".to_owned(),
        name: "ping/go".to_owned(),
        version: 3,
        audience: audience.clone(),
        payload: format!("{{\"number\":{number}}}").into(),
        routing: None,
    };
    Arc::new(BufferedEvent::logged(row, &REGISTRY))
}

#[test]
fn stored_keys_are_counted_and_limited() {
    let mut buffer = EventBuffer::after(EventId(0));
    let users: RoaringBitmap = (0..100_000).step_by(2).collect();
    let shared = Audience::set(users.clone());
    for number in 1..=1000 {
        buffer.push(ping(number, &shared));
    }
    let one = buffer.bytes() / 1000;
    assert!((100..500).contains(&one), "an event of 14 bytes counts as {one}, its audience once for all");
    for number in 1001..=2000 {
        buffer.push(ping(number, &Audience::set(users.clone())));
    }
    assert!(buffer.bytes() <= 2 << 20, "{}", buffer.bytes());
    assert!(buffer.after_id(EventId(0)).count() < 250, "audiences of 16 KiB each count");
    buffer.trim(EventId(2000));
    assert_eq!((buffer.bytes(), buffer.base()), (0, EventId(2000)));
}

#[test]
fn changed_events_are_counted_as_they_are() {
    let mut buffer = EventBuffer::after(EventId(0));
    let both = Audience::users([ADA, BOB]);
    for number in 1..=3 {
        buffer.push(ping(number, &both));
    }
    let before = buffer.bytes();
    buffer.change(EventId(1), Change::Payload("{\"number\":1000}".into()));
    assert_eq!(buffer.bytes(), before + 3);
    buffer.change(EventId(2), Change::Audience(Audience::user(BOB)));
    buffer.change(EventId(3), Change::Removed);
    buffer.change(EventId(4), Change::Removed);
    let left = buffer.after_id(EventId(0)).map(|event| (event.id.0, event.audience.contains(ADA)));
    assert_eq!(left.collect::<Vec<_>>(), [(1, true), (2, false)]);
    buffer.trim(EventId(3));
    assert_eq!(buffer.bytes(), 0);
}

#[test]
fn few_events_are_kept_as_values() {
    let (parsed, queue_id) = (ParsedEvents::default(), QueueId::random());
    let registration = Registration::default();
    let receiver = Receiver { user_id: ADA, queue_id: &queue_id, registration: &registration };
    let events: Vec<_> = (1..=500).map(|number| ping(number, &Audience::user(ADA))).collect();
    let values = || events.iter().filter(|event| event.has_value()).count();
    for event in &events {
        let mut out = String::new();
        assert!(event.write_for(&receiver, Some(&parsed), &mut out).unwrap());
        assert!(event.has_value(), "the next queue shares it");
    }
    assert_eq!(values(), 64);
    parsed.clear();
    assert_eq!(values(), 0);
}

#[tokio::test]
async fn unneeded_events_are_not_kept() {
    let (_folder, bench) = Bench::start().await;
    let held = || bench.hub.buffered();
    bench.ping(1).await;
    bench.broadcast(2).await;
    assert_eq!(held(), 0, "there are no queues");
    let queue = bench.register(ADA, Registration::default()).await;
    let of_bob = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        tx.emit(Ping { number: 3 }, Audience::user(BOB));
        Ok(())
    };
    bench.writer.run(of_bob).await.unwrap();
    assert_eq!(held(), 0, "it is for another user");
    bench.broadcast(4).await;
    bench.ping(5).await;
    let events = bench.events(&queue, ADA).await;
    assert_eq!(numbers(&events), [4, 5]);
    bench.maintain().await;
    assert_eq!(held(), 2, "not acknowledged yet");
    bench.poll(&queue, ADA, events[1]["id"].as_i64().unwrap()).await.unwrap();
    bench.maintain().await;
    assert_eq!(held(), 0, "all queues have them");
    bench.close();
}

//! Bounds on marking many messages as read: the newest are listed in events, and large changes take several jobs.

use crate::harness::{Client, Queue, TestServer, kind};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::time::Duration;
use teamchat::domain::limits;
use teamchat::domain::messages::read_state;
use teamchat::domain::messages::read_state::bulk_events::BulkReadEvents;
use teamchat::http::ApiError;
use teamchat::store::{StoreError, Tx};
use teamchat::types::{MessageId, RecipientId, UserId};

/// Creates a channel with messages of a sender that all others have not read. Returns the channel and the first
/// message.
async fn flood(server: &TestServer, sender: &Client, others: &[&Client], count: u32) -> (i64, i64) {
    let everybody: Vec<&Client> = others.iter().copied().chain([sender]).collect();
    let garden = server.channel("garden", &everybody).await;
    let first = sender.send(garden, "lunch", "hello").await;
    server.add_copies(first, count - 1).await;
    (garden, first)
}

/// Number of a user's unread messages.
async fn unread(client: &Client) -> Value {
    let words = json!({"fetch_event_types": ["message", "update_message_flags"]});
    client.post("/register", words).await.ok()["unread_msgs"]["count"].clone()
}

/// The messages marked as read by this number of events, a list for each. Some arrive after the answer.
async fn read_events(queue: &mut Queue, count: usize) -> Vec<Vec<i64>> {
    let mut events = Vec::new();
    while events.len() < count {
        events.append(&mut queue.wait().await);
    }
    assert_eq!(events.len(), count);
    events.iter().map(listed).collect()
}

/// The messages that an event marks as read.
fn listed(event: &Value) -> Vec<i64> {
    assert_eq!(kind(event), "update_message_flags/add");
    event["messages"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

#[tokio::test]
async fn the_newest_messages_of_a_muted_user_become_read() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let limit = i64::from(limits::MAX_MUTED_MESSAGES);
    let (_, first) = flood(&server, &bob, &[&ada], limits::MAX_MUTED_MESSAGES + 1).await;
    let background = server.app().writer.background();
    background.set_limit(Duration::ZERO);
    let mut queue = ada.register(json!({"event_types": ["update_message_flags"]})).await;
    ada.post(&format!("/users/me/muted_users/{}", bob.user_id), ()).await.ok();
    let expected: Vec<i64> = (first + 1..=first + limit).collect();
    let mut marked: Vec<i64> = Vec::new();
    while marked.len() < expected.len() {
        marked.extend(queue.wait().await.iter().flat_map(listed));
    }
    marked.sort_unstable();
    assert_eq!(marked, expected);
    assert_eq!(unread(&ada).await, 1);
    let figures = background.figures()["muted_messages"];
    assert_eq!((figures.jobs, figures.most_steps), (100, 1));
}

#[tokio::test]
async fn marking_a_channel_as_read_lists_the_newest_messages() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let limit = i64::try_from(limits::MAX_SHOWN_UNREAD).unwrap();
    let (garden, first) = flood(&server, &bob, &[&ada], u32::try_from(limit).unwrap() + 1).await;
    let mut queue = ada.register(json!({"event_types": ["update_message_flags"]})).await;
    ada.post("/mark_stream_as_read", json!({"stream_id": garden})).await.ok();
    let expected: Vec<i64> = (first + 1..=first + limit).collect();
    assert_eq!(read_events(&mut queue, 1).await, [expected]);
    assert_eq!(unread(&ada).await, 0);
}

#[tokio::test]
async fn a_large_topic_is_marked_as_read_in_several_jobs() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (garden, first) = flood(&server, &bob, &[&ada], 5_001).await;
    let mut queue = ada.register(json!({"event_types": ["update_message_flags"]})).await;
    ada.post("/mark_topic_as_read", json!({"stream_id": garden, "topic_name": "lunch"})).await.ok();
    let newest: Vec<i64> = (first + 1..=first + 5_000).collect();
    assert_eq!(read_events(&mut queue, 2).await, [newest, vec![first]]);
    assert_eq!(unread(&ada).await, 0);
}

/// Users with the same unread messages share a list. No list exceeds the number of messages in `unread_msgs`.
#[tokio::test]
async fn leaving_a_large_channel_lists_the_newest_messages() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let limit = i64::try_from(limits::MAX_SHOWN_UNREAD).unwrap();
    let count = u32::try_from(limit).unwrap() + 2;
    let (_, first) = flood(&server, &owner, &[&ada, &bob, &cleo], count).await;
    let read = json!({"messages": [first + 10], "op": "add", "flag": "read"});
    cleo.post("/messages/flags", read).await.ok();
    server.sql("DELETE FROM event").await;
    let types = json!({"event_types": ["update_message_flags"]});
    let mut queues = [ada.register(&types).await, bob.register(&types).await, cleo.register(&types).await];
    let everybody = json!([ada.user_id, bob.user_id, cleo.user_id]);
    let leave = json!({"subscriptions": ["garden"], "principals": everybody});
    owner.delete("/users/me/subscriptions", leave).await.ok();
    let newest: Vec<i64> = (first + 2..first + 2 + limit).collect();
    let of_cleo: Vec<i64> = (first + 1..first + 2 + limit).filter(|id| *id != first + 10).collect();
    for (queue, expected) in queues.iter_mut().zip([&newest, &newest, &of_cleo]) {
        assert_eq!(read_events(queue, 1).await, std::slice::from_ref(expected));
    }
    let events = "SELECT count(*) FROM event WHERE type = 'update_message_flags'";
    assert_eq!(server.column(events).await, ["2"]);
}

#[tokio::test]
async fn read_events_of_many_users_take_several_jobs() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let count = u32::try_from(limits::MAX_SHOWN_UNREAD).unwrap();
    let (_, first) = flood(&server, &owner, &[&ada, &bob, &cleo], count).await;
    let types = json!({"event_types": ["update_message_flags"]});
    let mut queues = [ada.register(&types).await, bob.register(&types).await, cleo.register(&types).await];
    let users = [(ada.user_id, 0), (bob.user_id, 1), (cleo.user_id, 40_000)];
    let recipient = server.column(&format!("SELECT recipient_id FROM message WHERE id = {first}")).await;
    let recipient_id = RecipientId(recipient[0].parse().unwrap());
    let (first, last) = (u32::try_from(first).unwrap(), u32::try_from(first).unwrap() + count - 1);
    let (open, gate) = mpsc::channel::<()>();
    let one_job = move |tx: &mut Tx<'_>| -> Result<(), ApiError> {
        gate.recv().unwrap();
        let mut unlisted = BulkReadEvents::default();
        for (user_id, read) in users {
            read_state::mark_read_until(tx, UserId(user_id), recipient_id, MessageId(last.into()))?;
            unlisted.add(UserId(user_id), recipient_id, &vec![first + read..=last]);
        }
        unlisted.emit(tx)
    };
    let events = "SELECT count(*) FROM event WHERE type = 'update_message_flags'";
    let writer = &server.app().writer;
    let beside = writer.run(|tx| Ok::<i64, StoreError>(tx.query_row(events, [], |row| row.get(0))?));
    // The second job is in the group of the first, so it runs before the follow-up jobs of the first.
    let (first_job, seen, ()) = tokio::join!(writer.run(one_job), beside, async { open.send(()).unwrap() });
    first_job.unwrap();
    assert_eq!(seen.unwrap(), 1);
    for (queue, (_, read)) in queues.iter_mut().zip(users) {
        let expected: Vec<i64> = (i64::from(first + read)..=i64::from(last)).collect();
        assert_eq!(read_events(queue, 1).await, [expected]);
    }
    assert_eq!(server.column(events).await, ["3"]);
}

//! Messages that are kept for some days only.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

/// Messages sent at one time: to three channels, and to a user.
type Sent = ([i64; 3], i64);

/// The ids of the messages that a client can fetch.
async fn ids(client: &Client) -> Vec<i64> {
    let all = json!({"anchor": "newest", "num_before": 5000, "num_after": 0});
    let found = client.get("/messages", all).await.ok();
    found["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect()
}

// conformance: delete-33, delete-34
#[tokio::test]
async fn retention_follows_channel_and_organization() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let both = [&owner, &ada];
    let inherits = server.channel("inherits", &both).await;
    let short = server.channel("short", &both).await;
    let forever = server.channel("forever", &both).await;
    server.sql(&format!("UPDATE stream SET message_retention_days = 2 WHERE stream_id = {short}")).await;
    server.sql(&format!("UPDATE stream SET message_retention_days = -1 WHERE stream_id = {forever}")).await;
    let clock = &server.app().clock;
    let mut sent = Vec::new();
    for _ in 0..6 {
        let in_channels = [
            owner.send(inherits, "topic", "x").await,
            owner.send(short, "topic", "x").await,
            owner.send(forever, "topic", "x").await,
        ];
        sent.push((in_channels, owner.send_direct(&[&ada], "x").await));
        clock.advance(DAY);
    }
    // Checks that only this number of the newest messages of each place is left.
    let left = async |inherits: usize, short: usize, forever: usize, direct: usize| {
        server.remove_expired().await;
        let last =
            |count: usize, of: fn(&Sent) -> i64| sent.iter().rev().take(count).map(of).collect::<Vec<_>>();
        let mut expected = last(inherits, |(channels, _)| channels[0]);
        expected.extend(last(short, |(channels, _)| channels[1]));
        expected.extend(last(forever, |(channels, _)| channels[2]));
        expected.extend(last(direct, |(_, direct)| *direct));
        expected.sort_unstable();
        assert_eq!(ids(&ada).await, expected);
    };
    // The messages are from one to six days old.
    left(6, 2, 6, 6).await;
    server.set_realm_setting("message_retention_days", json!(4)).await;
    left(4, 2, 6, 4).await;
    // A message of exactly the maximum age is kept.
    clock.advance(1);
    left(3, 1, 6, 3).await;
    server.set_realm_setting("message_retention_days", json!(-1)).await;
    clock.advance(100 * DAY);
    left(3, 0, 6, 3).await;
}

// conformance: delete-35
#[tokio::test]
async fn expired_messages_emit_deletion_events() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let id = server.channel("verona", &[&owner, &ada]).await;
    let (one, two) = (owner.send(id, "one", "apples").await, owner.send(id, "two", "@**Ada** apples").await);
    let three = owner.send(id, "ONE", "apples").await;
    ada.post("/messages/flags", json!({"messages": [one, three], "op": "add", "flag": "starred"})).await.ok();
    ada.post(&format!("/messages/{two}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    owner.patch(&format!("/messages/{one}"), json!({"content": "pears"})).await.ok();
    let (direct, other) = (owner.send_direct(&[&ada], "x").await, owner.send_direct(&[&bob], "x").await);
    let own = bob.send_direct(&[&bob], "x").await;
    server.app().clock.advance(DAY + 1);
    let kept = owner.send(id, "one", "plums").await;
    server.set_realm_setting("message_retention_days", json!(1)).await;

    let bulk =
        json!({"event_types": ["delete_message"], "client_capabilities": {"bulk_message_deletion": true}});
    let (mut of_ada, mut of_bob) = (ada.register(&bulk).await, bob.register(&bulk).await);
    server.check_state_sync(&[&owner, &ada, &bob], async || server.remove_expired().await).await;
    let deleted = |ids: &[i64], topic: &str| json!({"type": "delete_message", "message_ids": ids, "message_type": "stream", "stream_id": id, "topic": topic});
    let private = |id: i64| json!({"type": "delete_message", "message_ids": [id], "message_type": "private"});
    of_ada.expect(&[deleted(&[one, three], "ONE"), deleted(&[two], "two"), private(direct)]).await;
    // Bob could not see the channel's messages without asking for them.
    of_bob.expect(&[private(other), private(own)]).await;
    assert_eq!(ids(&ada).await, [kept]);
    assert_eq!(ids(&bob).await, [0; 0]);
    let stream = ada.get(&format!("/streams/{id}"), ()).await.ok();
    assert_eq!(stream["stream"]["first_message_id"], kept);
    let topics = ada.get(&format!("/users/me/{id}/topics"), ()).await.ok();
    assert_eq!(topics["topics"], json!([{"name": "one", "max_id": kept}]));
    for table in ["reaction", "message_edit", "user_message_flags"] {
        assert_eq!(server.column(&format!("SELECT count(*) FROM {table}")).await, ["0"], "{table}");
    }
    let search =
        json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": [["search", "apples"]]});
    assert_eq!(ada.get("/messages", search).await.ok()["messages"], json!([]));
}

// conformance: delete-36
#[tokio::test]
async fn many_messages_are_many_jobs_also_over_a_restart() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = server.channel("verona", &[&ada]).await;
    let first = ada.send(id, "topic", "x").await;
    server.add_copies(first, 1199).await;
    assert_eq!(ids(&ada).await.len(), 1200);
    server.set_realm_setting("message_retention_days", json!(3)).await;
    server.app().clock.advance(4 * DAY);
    let bulk =
        json!({"event_types": ["delete_message"], "client_capabilities": {"bulk_message_deletion": true}});
    let mut queue = ada.register(bulk).await;
    server.crash().await;
    server.remove_expired().await;
    let events = queue.events().await;
    let sizes: Vec<usize> =
        events.iter().map(|event| event["message_ids"].as_array().unwrap().len()).collect();
    assert!(sizes.iter().all(|size| *size <= 50), "{sizes:?}");
    assert_eq!(sizes.iter().sum::<usize>(), 1200);
    assert_eq!(ids(&ada).await, [0; 0]);
    let stream = ada.get(&format!("/streams/{id}"), ()).await.ok();
    assert_eq!(stream["stream"]["first_message_id"], Value::Null);
}

// conformance: delete-37
#[tokio::test]
async fn nothing_is_deleted_for_a_day_after_the_clock_has_jumped() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    server.set_realm_setting("message_retention_days", json!(2)).await;
    let message = ada.send_direct(&[&ada], "x").await;
    let clock = &server.app().clock;
    let right = clock.seconds();
    clock.set_wall(right + 10 * DAY);
    server.remove_expired().await;
    assert_eq!(ids(&ada).await, [message]);
    clock.set_wall(right);
    clock.advance(DAY);
    server.remove_expired().await;
    assert_eq!(ids(&ada).await, [message], "it is right again");
    clock.advance(DAY + 1);
    server.remove_expired().await;
    assert_eq!(ids(&ada).await, [0; 0]);
}

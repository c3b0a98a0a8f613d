//! Changes in channels with many subscribers: the number of the writer's statements does not grow with them.

use super::edit;
use super::finding::found;
use crate::harness::{Client, TestServer};
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use serde_json::json;
use std::cell::Cell;
use teamchat::domain::messages::flags::bit;
use teamchat::store::{StoreError, Tx};

thread_local! {
    /// Statements that the thread of a writer has begun.
    static BEGUN: Cell<usize> = const { Cell::new(0) };
}

fn count(_: TraceEvent<'_>) {
    BEGUN.set(BEGUN.get() + 1);
}

/// Makes a change, and returns the number of statements that the writer runs meanwhile.
async fn statements(server: &TestServer, change: impl Future<Output = ()>) -> usize {
    let begin = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        tx.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(count));
        BEGUN.set(0);
        Ok(())
    };
    server.app().writer.run(begin).await.unwrap();
    change.await;
    let end = |_: &mut Tx<'_>| -> Result<usize, StoreError> { Ok(BEGUN.get()) };
    server.app().writer.run(end).await.unwrap()
}

/// Other work of the writer may come between.
fn assert_similar(counts: &[usize]) {
    assert!(counts[1] < counts[0] + 40, "{counts:?}");
}

/// The read state of a receiver is written only if it is another in the new channel.
#[tokio::test]
async fn moves_to_another_channel_do_not_load_each_read_state() {
    let mut counts = Vec::new();
    for size in [10, 60] {
        let server = TestServer::start().await;
        let (owner, crowd) = (server.owner().await, server.crowd(size).await);
        let subscribers: Vec<&Client> = crowd.iter().chain([&owner]).collect();
        let garden = server.channel("garden", &subscribers).await;
        let shed = server.channel("shed", &subscribers).await;
        let first = owner.send(garden, "lunch", "one").await;
        let second = owner.send(garden, "lunch", "two").await;
        server
            .sql(&format!(
                "INSERT OR REPLACE INTO read_state (user_id, recipient_id, read_until)
                 SELECT user_id, recipient_id, {first} FROM user CROSS JOIN recipient
                 WHERE stream_id IN ({garden}, {shed}) AND NOT is_system_bot"
            ))
            .await;
        let read = json!({"messages": [second], "op": "add", "flag": "read"});
        crowd[1].post("/messages/flags", read).await.ok();
        let unread = json!({"messages": [first], "op": "remove", "flag": "read"});
        crowd[2].post("/messages/flags", unread).await.ok();
        let change = json!({"stream_id": shed, "propagate_mode": "change_all"});
        let moved = async {
            edit(&owner, first, change).await.ok();
        };
        counts.push(statements(&server, moved).await);
        let cases: [(usize, &[i64]); 4] = [(0, &[second]), (1, &[]), (2, &[first, second]), (3, &[second])];
        for (user, expected) in cases {
            assert_eq!(found(&crowd[user], json!([["is", "unread"]])).await, expected, "user {user}");
            assert_eq!(found(&crowd[user], json!([["channel", "shed"]])).await, [first, second]);
        }
    }
    assert_similar(&counts);
}

/// A message can mention thousands, through a group. The flags of users who do not receive it in the new channel stay.
#[tokio::test]
async fn moves_to_another_channel_do_not_load_the_flags_of_each_user() {
    let mut counts = Vec::new();
    for size in [110, 160] {
        let server = TestServer::start().await;
        let (owner, crowd) = (server.owner().await, server.crowd(size).await);
        let garden = server.channel("garden", &crowd.iter().chain([&owner]).collect::<Vec<_>>()).await;
        let shed = server.channel("shed", &[&owner]).await;
        let id = owner.send(garden, "lunch", "hello").await;
        server
            .sql(&format!(
                "INSERT OR REPLACE INTO user_message_flags (user_id, message_id, flags)
                 SELECT user_id, {id}, {} FROM user WHERE NOT is_system_bot;
                 UPDATE user_message_flags SET flags = flags | {} WHERE user_id = {}",
                bit::MENTIONED,
                bit::HISTORICAL,
                crowd[1].user_id
            ))
            .await;
        let moved = async {
            edit(&owner, id, json!({"stream_id": shed})).await.ok();
        };
        counts.push(statements(&server, moved).await);
        let flags = "SELECT DISTINCT flags FROM user_message_flags";
        assert_eq!(server.column(flags).await, [bit::MENTIONED.to_string()]);
    }
    assert_similar(&counts);
}

#[tokio::test]
async fn notices_of_resolved_topics_do_not_load_the_setting_of_each_subscriber() {
    let mut counts = Vec::new();
    for size in [10, 60] {
        let server = TestServer::start().await;
        let crowd = server.crowd(size).await;
        let garden = server.channel("garden", &crowd.iter().collect::<Vec<_>>()).await;
        server
            .sql(
                "INSERT OR REPLACE INTO user_setting (user_id, property, value)
                 SELECT user_id, 'resolved_topic_notice_auto_read_policy', '\"never\"' FROM user
                 WHERE NOT is_system_bot",
            )
            .await;
        let id = crowd[0].send(garden, "lunch", "hello").await;
        let change = json!({"topic": "\u{2714} lunch", "propagate_mode": "change_all"});
        let resolved = async {
            crowd[0].patch(&format!("/messages/{id}"), change).await.ok();
        };
        counts.push(statements(&server, resolved).await);
        let notice = found(&crowd[1], json!([["is", "unread"]])).await;
        assert_eq!((notice.len(), notice[0]), (2, id));
    }
    assert_similar(&counts);
}

#[tokio::test]
async fn reactions_do_not_look_up_each_former_subscriber() {
    let mut counts = Vec::new();
    for size in [10, 150] {
        let server = TestServer::start().await;
        let (owner, gus) = (server.owner().await, server.guest("gus").await);
        let crowd = server.crowd(size).await;
        let subscribers: Vec<&Client> = crowd.iter().chain([&owner, &gus]).collect();
        let garden = server.channel("garden", &subscribers).await;
        let id = owner.send(garden, "lunch", "hello").await;
        let former: Vec<i64> = crowd.iter().chain([&gus]).map(|user| user.user_id).collect();
        let leave = json!({"subscriptions": ["garden"], "principals": former});
        owner.delete("/users/me/subscriptions", leave).await.ok();
        let types = json!({"event_types": ["reaction"]});
        let (mut of_guest, mut of_member) = (gus.register(&types).await, crowd[1].register(&types).await);
        let path = format!("/messages/{id}/reactions");
        let reaction = async {
            owner.post(&path, json!({"emoji_name": "tada"})).await.ok();
        };
        counts.push(statements(&server, reaction).await);
        of_member.expect_kinds(&["reaction/add"]).await;
        of_guest.expect_nothing().await;
    }
    assert_similar(&counts);
}

/// The subscriptions to a channel that is no longer archived, and the settings of their users, are read together.
#[tokio::test]
async fn unarchived_channels_do_not_load_each_subscription() {
    let mut counts = Vec::new();
    for size in [40, 140] {
        let server = TestServer::start().await;
        let (owner, crowd) = (server.owner().await, server.crowd(size).await);
        let subscribers: Vec<&Client> = crowd.iter().chain([&owner]).collect();
        let garden = server.channel("garden", &subscribers).await;
        crowd[1].patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
        let path = format!("/streams/{garden}");
        owner.delete(&path, ()).await.ok();
        let types = json!({"event_types": ["subscription"]});
        let (mut of_one, mut of_other) = (crowd[1].register(&types).await, crowd[2].register(&types).await);
        let unarchived = async {
            owner.patch(&path, json!({"is_archived": false})).await.ok();
        };
        counts.push(statements(&server, unarchived).await);
        for (queue, is_on) in [(&mut of_one, true), (&mut of_other, false)] {
            let events = queue.expect_kinds(&["subscription/add"]).await;
            let subscription = &events[0]["subscriptions"][0];
            assert_eq!(subscription["push_notifications"], json!(is_on));
            assert_eq!(subscription["subscriber_count"], size + 1);
        }
    }
    assert_similar(&counts);
}

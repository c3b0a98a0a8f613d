//! Changes of the flags of many messages: other changes run between their jobs.

use super::finding::found;
use crate::background_jobs::server_in_steps;
use crate::harness::{Client, interrupt};
use serde_json::{Value, json};
use teamchat::app::Options;

/// Messages whose flags one job changes.
const STEP: usize = 100;

async fn unread(client: &Client) -> Vec<i64> {
    found(client, json!([["is", "unread"]])).await
}

#[tokio::test]
async fn flags_of_many_messages_change_in_several_jobs() {
    let server = server_in_steps(Options::default()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let first = ada.send(garden, "lunch", "hello").await;
    server.add_copies(first, 249).await;
    let ids: Vec<i64> = (first..first + 250).collect();
    let change = async |ids: &[i64], op: &str, flag: &str| {
        bob.post("/messages/flags", json!({"messages": ids, "op": op, "flag": flag})).await
    };
    let jobs = || server.app().writer.background().figures().get("flags").map_or(0, |figures| figures.jobs);

    // A message that Bob cannot read lets nothing change.
    let secret = server.private_channel("secret", &[&ada]).await;
    let hidden = ada.send(secret, "lunch", "hello").await;
    let with_hidden: Vec<i64> = ids.iter().copied().chain([hidden]).collect();
    for (op, flag) in [("add", "starred"), ("remove", "read")] {
        change(&with_hidden, op, flag).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    assert_eq!(jobs(), 0);

    let mut queue = bob.register(json!({"event_types": ["update_message_flags"]})).await;
    for (op, flag) in [("add", "read"), ("remove", "read"), ("add", "starred"), ("remove", "starred")] {
        let before = jobs();
        assert_eq!(change(&ids, op, flag).await.ok()["messages"], json!(ids));
        assert_eq!(jobs() - before, 3, "{op} {flag}");
        let kind = format!("update_message_flags/{op}");
        let events = queue.expect_kinds(&[&kind, &kind, &kind]).await;
        for (event, part) in events.iter().zip(ids.chunks(STEP)) {
            assert_eq!(event["messages"], json!(part));
        }
    }
    let all = json!({"anchor": "oldest", "num_before": 0, "num_after": 5000, "narrow": [["channel", "garden"]],
        "op": "add", "flag": "starred"});
    let answer = bob.post("/messages/flags/narrow", all).await.ok();
    assert_eq!(
        (&answer["processed_count"], &answer["updated_count"], &answer["last_processed_id"]),
        (&json!(250), &json!(250), &json!(ids[249]))
    );
    queue.expect_kinds(&["update_message_flags/add"; 3]).await;
}

/// Bob is in more conversations than a job marks as read, and gets another message in the meantime.
// conformance: flag-32
#[tokio::test]
async fn messages_that_come_while_all_are_marked_as_read_stay_unread() {
    let server = server_in_steps(Options::default()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut channels = Vec::new();
    for number in 0..25 {
        let channel = server.channel(&format!("channel {number}"), &[&ada, &bob]).await;
        ada.send(channel, "lunch", "hello").await;
        channels.push(channel);
    }
    let ids = unread(&bob).await;
    assert_eq!(ids.len(), 25);
    let mut queue = bob.register(json!({"event_types": ["update_message_flags"]})).await;
    let marked = bob.post("/mark_all_as_read", json!({}));
    let meanwhile = async {
        for channel in [channels[0], channels[24]] {
            ada.send(channel, "lunch", "again").await;
        }
    };
    Box::pin(interrupt(&server, marked, meanwhile)).await.ok();
    let again = "SELECT id FROM message WHERE content = 'again' ORDER BY id";
    let left: Vec<String> = unread(&bob).await.iter().map(ToString::to_string).collect();
    assert_eq!(left, server.column(again).await);
    let figures = server.app().writer.background().figures()["read_conversations"];
    assert_eq!((figures.jobs, figures.most_steps), (2, 1));
    // The event of each job has the messages that it marked.
    let events = queue.expect_kinds(&["update_message_flags/add"; 2]).await;
    let listed = |event: &Value| -> Vec<i64> {
        assert_eq!(event["all"], false);
        event["messages"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
    };
    let mut marked: Vec<i64> = events.iter().flat_map(listed).collect();
    marked.sort_unstable();
    assert_eq!(marked, ids);
    // Nothing is left to do.
    bob.post("/mark_all_as_read", json!({})).await.ok();
    assert_eq!(unread(&bob).await, [0; 0]);
    queue.expect_kinds(&["update_message_flags/add"]).await;
}

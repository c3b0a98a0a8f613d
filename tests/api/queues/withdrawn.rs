//! Events that wait for a client while their message is deleted or hidden, and what the log keeps for whom.

use crate::harness::{Client, Queue, TestServer, crash_between_jobs};
use serde_json::{Value, json};
use teamchat::commands::{Command, Place, Purge, Purged};
use teamchat::domain::purge::Kind;
use teamchat::store::StoreError;

const DAY: i64 = 24 * 60 * 60;

/// A text that is nowhere else.
const SECRET: &str = "xqsecretzk";

/// A queue for some types of events that lives for a week without polls.
async fn listen(client: &Client, types: &[&str]) -> Queue {
    let parameters = json!({"event_types": types, "fetch_event_types": [], "idle_queue_timeout": 7 * DAY});
    client.register(parameters).await
}

async fn delete(client: &Client, id: i64) {
    client.delete(&format!("/messages/{id}"), ()).await.ok();
}

/// The ids of the messages in events.
fn message_ids(events: &[Value]) -> Vec<i64> {
    events.iter().map(|event| event["message"]["id"].as_i64().unwrap()).collect()
}

// conformance: queue-82
#[tokio::test]
async fn deleted_messages_are_not_delivered_and_not_in_the_file() {
    let mut server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada, &bob]).await;
    let mut of_messages = listen(&ada, &["message"]).await;
    let mut of_edits = listen(&ada, &["update_message", "submessage"]).await;
    let mut of_deletions = listen(&ada, &["delete_message"]).await;
    let kept = bob.send(garden, "soup", "kept").await;
    let first = bob.send(garden, "soup", SECRET).await;
    let edited = bob.send(garden, "soup", "harmless").await;
    bob.patch(&format!("/messages/{edited}"), json!({"content": format!("{SECRET} later")})).await.ok();
    bob.patch(&format!("/messages/{edited}"), json!({"content": "harmless again"})).await.ok();
    let content = format!("{{\"type\": \"question\", \"question\": \"{SECRET}\"}}");
    let parameters = json!({"message_id": edited, "msg_type": "widget", "content": content});
    bob.post("/submessage", parameters).await.ok();
    let direct = bob.send_direct(&[&ada, &owner], SECRET).await;
    // From memory, and from the file.
    delete(&owner, first).await;
    server.crash().await;
    delete(&owner, edited).await;
    delete(&owner, direct).await;
    let last = bob.send(garden, "soup", "the last").await;
    server.clock.advance(5 * DAY);
    teamchat::scheduler::settle(server.app()).await;
    server.maintain().await;
    assert_eq!(message_ids(&of_messages.events().await), [kept, last]);
    of_edits.expect_nothing().await;
    let deleted = of_deletions.expect_kinds(&["delete_message"; 3]).await;
    let ids = |event: &Value| event["message_id"].as_i64().unwrap();
    assert_eq!(deleted.iter().map(ids).collect::<Vec<_>>(), [first, edited, direct]);
    server.stop().await;
    let file = std::fs::read(server.database()).unwrap();
    assert!(!String::from_utf8_lossy(&file).to_ascii_lowercase().contains(SECRET));
}

/// The text of a message that is deleted at once, while a queue of a week waits and is never polled.
#[tokio::test]
async fn a_queue_that_is_not_polled_keeps_no_deleted_text() {
    let mut server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada, &bob]).await;
    let queue = listen(&ada, &["message"]).await;
    let id = bob.send(garden, "soup", SECRET).await;
    delete(&owner, id).await;
    server.clock.advance(6 * 60 * 60);
    teamchat::scheduler::settle(server.app()).await;
    assert!(server.app().hub.owner(&teamchat::events::QueueId(queue.queue_id.as_str().into())).is_some());
    server.stop().await;
    let file = std::fs::read(server.database()).unwrap();
    assert!(!String::from_utf8_lossy(&file).to_ascii_lowercase().contains(SECRET));
}

/// A job that deletes several messages withdraws a part of their events. Follow-up jobs withdraw the others.
#[tokio::test]
async fn many_long_events_are_withdrawn_in_several_jobs() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let mut queue = listen(&ada, &["update_message", "delete_message"]).await;
    let emoji = "\u{1f600}".repeat(9_000);
    for _ in 0..2 {
        let id = owner.send(garden, "soup", "start").await;
        for number in 0..5 {
            let content = format!("{SECRET} {number}\n```\n{emoji}\n```");
            owner.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
        }
    }
    // More than a MiB.
    let left = format!(
        "SELECT count(*) || ' ' || coalesce(sum(octet_length(payload)) > 1048576, 0) FROM event
         WHERE payload LIKE '%{SECRET}%'"
    );
    assert_eq!(server.column(&left).await, ["10 1"]);
    let writer = &server.app().writer;
    let before = writer.metrics().jobs.get();
    let deleted = owner.post(&format!("/streams/{garden}/delete_topic"), json!({"topic_name": "soup"})).await;
    assert_eq!(deleted.ok()["complete"], true);
    let later: Result<(), StoreError> = writer.run(|_| Ok(())).await;
    later.unwrap();
    assert_eq!(writer.background().figures()["delete_topic"].steps, 2);
    assert!(writer.metrics().jobs.get() - before >= 3, "the job, a follow-up job, and the one above");
    assert_eq!(server.column(&left).await, ["0 0"]);
    queue.expect_kinds(&["delete_message"; 2]).await;
}

// conformance: queue-82
#[tokio::test]
async fn moves_of_other_messages_stay_without_the_text() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let (first, second) = (owner.send(garden, "soup", "one").await, owner.send(garden, "soup", "two").await);
    let mut queue = listen(&ada, &["update_message", "delete_message"]).await;
    let changes = json!({"topic": "tea", "propagate_mode": "change_all", "content": SECRET,
        "send_notification_to_new_thread": false});
    owner.patch(&format!("/messages/{first}"), changes).await.ok();
    delete(&owner, first).await;
    let events = queue.expect_kinds(&["update_message", "delete_message"]).await;
    assert_eq!(events[0]["message_ids"], json!([first, second]));
    assert_eq!((&events[0]["subject"], events[0].get("content")), (&json!("tea"), None));
    assert!(!events[0].to_string().contains(SECRET));
}

// conformance: queue-83
#[tokio::test]
async fn messages_that_move_away_are_not_delivered_to_those_who_lose_them() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (stays, loses) = (server.member("stays").await, server.member("loses").await);
    let garden = server.channel("garden", &[&owner, &stays, &loses]).await;
    let shed = server.private_channel("shed", &[&owner, &stays]).await;
    let types = ["message"];
    let (mut of_stays, mut of_loses) = (listen(&stays, &types).await, listen(&loses, &types).await);
    let id = owner.send(garden, "soup", SECRET).await;
    let other = owner.send(garden, "soup", "other").await;
    let changes = json!({"stream_id": shed, "propagate_mode": "change_one",
        "send_notification_to_new_thread": false, "send_notification_to_old_thread": false});
    owner.patch(&format!("/messages/{id}"), changes).await.ok();
    assert_eq!(message_ids(&of_stays.events().await), [id, other]);
    assert_eq!(message_ids(&of_loses.events().await), [other]);
}

// conformance: queue-83
#[tokio::test]
async fn moves_of_messages_that_all_move_away_are_not_delivered_to_those_who_lose_them() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (stays, loses) = (server.member("stays").await, server.member("loses").await);
    let garden = server.channel("garden", &[&owner, &stays, &loses]).await;
    let shed = server.private_channel("shed", &[&owner, &stays]).await;
    let (first, second) = (owner.send(garden, "soup", "one").await, owner.send(garden, "soup", "two").await);
    let types = ["update_message", "delete_message"];
    let (mut of_stays, mut of_loses) = (listen(&stays, &types).await, listen(&loses, &types).await);
    let changes = json!({"topic": "tea", "propagate_mode": "change_all", "content": SECRET,
        "send_notification_to_new_thread": false});
    owner.patch(&format!("/messages/{first}"), changes).await.ok();
    let changes = json!({"stream_id": shed, "propagate_mode": "change_all",
        "send_notification_to_new_thread": false, "send_notification_to_old_thread": false});
    owner.patch(&format!("/messages/{first}"), changes).await.ok();
    let events = of_stays.expect_kinds(&["update_message"; 2]).await;
    assert_eq!((&events[0]["subject"], &events[0]["content"]), (&json!("tea"), &json!(SECRET)));
    let events = of_loses.expect_kinds(&["delete_message"; 2]).await;
    let ids: Vec<_> = events.iter().map(|event| event["message_id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [first, second]);
}

#[tokio::test]
async fn purged_messages_are_not_delivered() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada, &bob]).await;
    let mut queue = listen(&ada, &["message", "update_message"]).await;
    let id = bob.send(garden, "soup", SECRET).await;
    for number in 0..60 {
        let content = format!("{SECRET} {number}");
        bob.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
    }
    server.command(Command::SetActive { email: "bob@example.com".to_owned(), is_active: false }).await;
    let mut place = Some(Place { kind: Kind::Messages, from: 0 });
    while place.is_some() {
        let kinds = vec![Kind::Messages];
        let purge = Purge { email: "bob@example.com".to_owned(), kinds, invited: false, place };
        let part: Purged = serde_json::from_value(server.command(Command::Purge(purge)).await).unwrap();
        place = part.next;
    }
    queue.expect_nothing().await;
    let left =
        format!("SELECT count(*) FROM event WHERE payload LIKE '%{SECRET}%' OR routing LIKE '%{SECRET}%'");
    assert_eq!(server.column(&left).await, ["0"]);
}

/// Version 0.1.0 left the events of deleted messages in its files.
#[tokio::test]
async fn events_of_messages_that_are_gone_are_withdrawn_at_the_start() {
    let mut server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let mut queue = listen(&ada, &["message"]).await;
    let (gone, kept) = (owner.send(garden, "soup", SECRET).await, owner.send(garden, "soup", "kept").await);
    server.sql(&format!("DELETE FROM message WHERE id = {gone}")).await;
    server.restart().await;
    assert_eq!(message_ids(&queue.events().await), [kept]);
}

/// Sends messages with more than a MiB of events, which is more than one job withdraws.
async fn send_long_messages(by: &Client, channel: i64, topic: &str) -> Vec<i64> {
    let content = format!("```\n{}\n```", "\u{1f600}".repeat(9_000));
    let mut ids = Vec::new();
    for _ in 0..32 {
        ids.push(by.send(channel, topic, &content).await);
    }
    ids
}

#[tokio::test]
async fn a_crash_does_not_end_the_withdrawal_of_deleted_messages() {
    let mut server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let mut queue = listen(&ada, &["message"]).await;
    send_long_messages(&owner, garden, "soup").await;
    let other = owner.send(garden, "tea", "other").await;
    let path = format!("/streams/{garden}/delete_topic");
    let deleted = owner.post(&path, json!({"topic_name": "soup"}));
    let deleted = Box::pin(crash_between_jobs(&mut server, deleted)).await.ok();
    assert_eq!(deleted["complete"], true);
    assert_eq!(message_ids(&queue.events().await), [other]);
}

#[tokio::test]
async fn a_crash_does_not_end_the_withdrawal_of_moved_messages() {
    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    let (stays, loses) = (server.member("stays").await, server.member("loses").await);
    let garden = server.channel("garden", &[&owner, &stays, &loses]).await;
    let shed = server.private_channel("shed", &[&owner, &stays]).await;
    let types = ["message"];
    let (mut of_stays, mut of_loses) = (listen(&stays, &types).await, listen(&loses, &types).await);
    let mut ids = send_long_messages(&owner, garden, "soup").await;
    let other = owner.send(garden, "tea", "other").await;
    let changes = json!({"stream_id": shed, "propagate_mode": "change_all",
        "send_notification_to_new_thread": false, "send_notification_to_old_thread": false});
    let path = format!("/messages/{}", ids[0]);
    let moved = owner.patch(&path, changes);
    Box::pin(crash_between_jobs(&mut server, moved)).await.ok();
    assert_eq!(message_ids(&of_loses.events().await), [other]);
    ids.push(other);
    assert_eq!(message_ids(&of_stays.events().await), ids);
}

// conformance: queue-84
#[tokio::test]
async fn a_queue_for_drafts_keeps_no_edits_of_others() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let mut of_drafts = listen(&ada, &["drafts"]).await;
    let draft = json!({"type": "stream", "to": [garden], "topic": "soup", "content": "later"});
    ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
    let id = owner.send(garden, "soup", "start").await;
    for number in 0..60 {
        owner.patch(&format!("/messages/{id}"), json!({"content": format!("edit {number}")})).await.ok();
    }
    server.maintain().await;
    let edits = "SELECT count(*) FROM event WHERE type = 'update_message'";
    assert!(matches!(server.column(edits).await[0].as_str(), "0" | "1"), "the newest event stays");
    assert_eq!(server.column("SELECT count(*) FROM event WHERE type = 'drafts'").await, ["1"]);
    // A queue that waits for them keeps them.
    let mut of_edits = listen(&ada, &["update_message"]).await;
    for number in 0..3 {
        owner.patch(&format!("/messages/{id}"), json!({"content": format!("more {number}")})).await.ok();
    }
    server.maintain().await;
    of_edits.expect_kinds(&["update_message"; 3]).await;
    of_drafts.expect_kinds(&["drafts/add"]).await;
}

// conformance: queue-81
#[tokio::test]
async fn a_person_has_five_queues_of_a_week() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    let lifetime = async |client: &Client, seconds: i64| {
        let queue = client.register(json!({"event_types": ["drafts"], "idle_queue_timeout": seconds})).await;
        queue.state["idle_queue_timeout_secs"].as_i64().unwrap()
    };
    for client in [&ada, &ada, &bot, &bot, &ada] {
        assert_eq!(lifetime(client, 7 * DAY).await, 7 * DAY);
    }
    assert_eq!(lifetime(&ada, 7 * DAY).await, DAY / 2);
    assert_eq!(lifetime(&bot, DAY).await, DAY / 2);
    assert_eq!(lifetime(&ada, 3600).await, 3600);
    assert_eq!(lifetime(&bob, 7 * DAY).await, 7 * DAY, "each person has their own");
}

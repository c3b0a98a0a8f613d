//! Changes of others between the jobs of a long change: the later decision counts.

use super::finding::found;
use super::{edit, subscribe};
use crate::background_jobs::server_in_steps;
use crate::harness::{interrupt, until};
use serde_json::json;
use teamchat::app::Options;

/// Messages move to a channel that Bob and Cleo cannot read, and Cleo joins it.
#[tokio::test]
async fn users_who_have_access_again_keep_their_flags() {
    let server = server_in_steps(Options::default()).await;
    let owner = server.owner().await;
    let (bob, cleo) = (server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&owner, &bob, &cleo]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    server.sql("UPDATE stream SET history_public_to_subscribers = 1").await;
    let id = owner.send(garden, "lunch", "hello").await;
    let star = json!({"messages": [id], "op": "add", "flag": "starred"});
    for client in [&bob, &cleo] {
        client.post("/messages/flags", &star).await.ok();
    }
    let moved = edit(&owner, id, json!({"stream_id": secret}));
    Box::pin(interrupt(&server, moved, subscribe(&owner, "secret", &[&cleo]))).await.ok();
    let starred = server.column("SELECT user_id FROM user_message_flags WHERE flags & 1").await;
    assert_eq!(starred, [cleo.user_id.to_string()]);
}

#[tokio::test]
async fn messages_that_become_unread_again_stay_unread() {
    let server = server_in_steps(Options::default()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let first = bob.send(garden, "lunch", "hello").await;
    // One more than a job marks.
    server.add_copies(first, 5_000).await;
    let marked = ada.post("/mark_topic_as_read", json!({"stream_id": garden, "topic_name": "lunch"}));
    let again = async {
        let newest = json!({"messages": [first + 5_000], "op": "remove", "flag": "read"});
        ada.post("/messages/flags", newest).await.ok();
    };
    Box::pin(interrupt(&server, marked, again)).await.ok();
    let state = json!({"fetch_event_types": ["message", "update_message_flags"]});
    let unread = ada.post("/register", state).await.ok()["unread_msgs"].clone();
    assert_eq!(unread["streams"][0]["unread_message_ids"], json!([first + 5_000]));
}

/// The events about messages that an archived channel marks as read do not undo what their receivers did in the meantime.
#[tokio::test]
async fn late_events_list_what_is_still_read() {
    let server = server_in_steps(Options::default()).await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada, &bob]).await;
    let first = owner.send(garden, "lunch", "hello").await;
    server.add_copies(first, 2).await;
    let newest = first + 2;
    let read = json!({"messages": [first], "op": "add", "flag": "read"});
    ada.post("/messages/flags", read).await.ok();
    let mut queue = ada.register(json!({"event_types": ["update_message_flags"]})).await;
    // Those of Bob, who has not read the first message, have a list before.
    let path = format!("/streams/{garden}");
    let archived = owner.delete(&path, ());
    let again = async {
        let unread = json!({"messages": [newest], "op": "remove", "flag": "read"});
        ada.post("/messages/flags", unread).await.ok();
    };
    Box::pin(interrupt(&server, archived, again)).await.ok();
    let events = queue.expect_kinds(&["update_message_flags/remove", "update_message_flags/add"]).await;
    assert_eq!(events[0]["messages"], json!([newest]));
    assert_eq!(events[1]["messages"], json!([first + 1]));
}

/// Policies of a deleted topic are removed in several jobs: first that of the owner, who began the topic.
#[tokio::test]
async fn policies_that_are_set_after_a_topic_was_deleted_stay() {
    let server = server_in_steps(Options::default()).await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    owner.send(garden, "lunch", "hello").await;
    let policy = async |policy: i64| {
        let parameters = json!({"stream_id": garden, "topic": "lunch", "visibility_policy": policy});
        ada.post("/user_topics", parameters).await.ok();
    };
    policy(3).await;
    assert_eq!(server.count("user_topic").await, "2");
    let path = format!("/streams/{garden}/delete_topic");
    let deleted = owner.post(&path, json!({"topic_name": "lunch"}));
    Box::pin(interrupt(&server, deleted, policy(1))).await.ok();
    let left = server.column("SELECT user_id FROM user_topic WHERE visibility_policy = 1").await;
    assert_eq!(left, [ada.user_id.to_string()]);
}

/// The notice of a resolved topic is read for most subscribers. The job that sends it stores that for 50 of them.
// conformance: move-35
#[tokio::test]
async fn notices_that_many_have_read_are_stored_in_several_jobs() {
    let server = server_in_steps(Options::default()).await;
    let crowd = server.crowd(120).await;
    let garden = server.channel("garden", &crowd.iter().collect::<Vec<_>>()).await;
    let id = crowd[0].send(garden, "lunch", "hello").await;
    let mut queue = crowd[1].register(json!({"event_types": ["message"]})).await;
    let resolved = json!({"topic": "\u{2714} lunch", "propagate_mode": "change_all"});
    crowd[0].patch(&format!("/messages/{id}"), resolved).await.ok();
    assert_eq!(queue.expect_kinds(&["message"]).await[0]["flags"], json!(["read"]));
    let background = server.app().writer.background();
    until(|| background.figures().get("new_readers").is_some_and(|figures| figures.jobs == 2)).await;
    server.sql("").await;
    assert_eq!(background.figures()["new_readers"].most_steps, 1);
    for user in [&crowd[1], &crowd[60], &crowd[119]] {
        assert_eq!(found(user, json!([["is", "unread"]])).await, [id]);
    }
}

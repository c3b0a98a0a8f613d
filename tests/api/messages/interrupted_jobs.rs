//! Crashes between the first job of a long change and its follow-up jobs: the next start completes the change.

use super::edit;
use super::finding::found;
use crate::background_jobs::server_in_steps;
use crate::harness::{Client, TestServer, crash_between_jobs};
use serde_json::json;
use teamchat::app::Options;

/// Number of a user's unread messages.
async fn unread(client: &Client) -> i64 {
    let words = json!({"fetch_event_types": ["message", "update_message_flags"]});
    client.post("/register", words).await.ok()["unread_msgs"]["count"].as_i64().unwrap()
}

/// Many clients do not show archived channels, so a message that stays unread there is counted for ever.
#[tokio::test]
async fn archived_channels_are_read_for_all_subscribers() {
    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    // The first job is for 500 of them.
    let crowd = server.crowd(600).await;
    let garden = server.channel("garden", &crowd.iter().collect::<Vec<_>>()).await;
    let id = crowd[0].send(garden, "lunch", "hello").await;
    let mut queue = crowd[599].register(json!({"event_types": ["update_message_flags"]})).await;
    let path = format!("/streams/{garden}");
    Box::pin(crash_between_jobs(&mut server, owner.delete(&path, ()))).await.ok();
    let events = queue.expect_kinds(&["update_message_flags/add"]).await;
    assert_eq!(events[0]["messages"], json!([id]));
    for user in [&crowd[1], &crowd[599]] {
        assert_eq!(unread(user).await, 0);
    }
}

/// The queue of a client that is connected has no other way to know that the messages are read.
#[tokio::test]
async fn events_of_messages_that_became_read_are_emitted() {
    let mut server = server_in_steps(Options::default()).await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada, &bob]).await;
    let first = owner.send(garden, "lunch", "hello").await;
    server.add_copies(first, 2).await;
    let read = json!({"messages": [first], "op": "add", "flag": "read"});
    ada.post("/messages/flags", read).await.ok();
    let mut queue = ada.register(json!({"event_types": ["update_message_flags"]})).await;
    // Those of Bob, who has not read the first message, have a list before.
    let path = format!("/streams/{garden}");
    Box::pin(crash_between_jobs(&mut server, owner.delete(&path, ()))).await.ok();
    let events = queue.expect_kinds(&["update_message_flags/add"]).await;
    assert_eq!(events[0]["messages"], json!([first + 1, first + 2]));
}

#[tokio::test]
async fn messages_of_a_muted_user_become_read() {
    let mut server = server_in_steps(Options::default()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let first = bob.send(garden, "lunch", "hello").await;
    // A job marks 500 messages.
    server.add_copies(first, 1_000).await;
    let mut queue = ada.register(json!({"event_types": ["update_message_flags"]})).await;
    let path = format!("/users/me/muted_users/{}", bob.user_id);
    Box::pin(crash_between_jobs(&mut server, ada.post(&path, ()))).await.ok();
    assert_eq!(unread(&ada).await, 0);
    let events = queue.events().await;
    let mut listed: Vec<i64> = events
        .iter()
        .flat_map(|event| event["messages"].as_array().unwrap())
        .map(|id| id.as_i64().unwrap())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, (first..=first + 1_000).collect::<Vec<_>>());
}

/// The event of the notice says that it is read. The job that sends it stores that for 50 users.
#[tokio::test]
async fn notices_are_read_for_all_who_got_them_as_read() {
    let mut server = TestServer::start().await;
    let crowd = server.crowd(120).await;
    let garden = server.channel("garden", &crowd.iter().collect::<Vec<_>>()).await;
    let id = crowd[0].send(garden, "lunch", "hello").await;
    let resolved = json!({"topic": "\u{2714} lunch", "propagate_mode": "change_all"});
    let path = format!("/messages/{id}");
    Box::pin(crash_between_jobs(&mut server, crowd[0].patch(&path, resolved))).await.ok();
    for user in [&crowd[1], &crowd[60], &crowd[119]] {
        assert_eq!(found(user, json!([["is", "unread"]])).await, [id]);
    }
}

/// Bob and Cleo lose a message which they have starred. A star that stays would be shown if the message came back.
#[tokio::test]
async fn flags_of_users_who_lose_a_message_are_deleted() {
    let mut server = server_in_steps(Options::default()).await;
    let owner = server.owner().await;
    let (bob, cleo) = (server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&owner, &bob, &cleo]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    let id = owner.send(garden, "lunch", "hello").await;
    let star = json!({"messages": [id], "op": "add", "flag": "starred"});
    for client in [&bob, &cleo] {
        client.post("/messages/flags", &star).await.ok();
    }
    Box::pin(crash_between_jobs(&mut server, edit(&owner, id, json!({"stream_id": secret})))).await.ok();
    edit(&owner, id, json!({"stream_id": garden})).await.ok();
    for client in [&bob, &cleo] {
        assert_eq!(found(client, json!([["is", "starred"]])).await, [0; 0]);
    }
}

/// A policy that stays would mute or follow a later topic of the same name.
#[tokio::test]
async fn policies_for_a_deleted_topic_are_removed() {
    let mut server = server_in_steps(Options::default()).await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    owner.send(garden, "lunch", "hello").await;
    let muted = json!({"stream_id": garden, "topic": "lunch", "visibility_policy": 1});
    ada.post("/user_topics", muted).await.ok();
    let mut queue = ada.register(json!({"event_types": ["user_topic"]})).await;
    let path = format!("/streams/{garden}/delete_topic");
    let deleted = owner.post(&path, json!({"topic_name": "lunch"}));
    Box::pin(crash_between_jobs(&mut server, deleted)).await.ok();
    let events = queue.expect_kinds(&["user_topic"]).await;
    assert_eq!(events[0]["visibility_policy"], 0);
    assert_eq!(server.count("user_topic").await, "0");
}

/// A message to a group: its job lets 100 members follow the topic.
#[tokio::test]
async fn all_mentioned_users_follow_the_topic() {
    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    let crowd = server.crowd(120).await;
    let garden = server.channel("garden", &crowd.iter().collect::<Vec<_>>()).await;
    let ids: Vec<i64> = crowd.iter().map(|user| user.user_id).collect();
    let group = json!({"name": "cooks", "description": "", "members": ids});
    owner.post("/user_groups/create", group).await.ok();
    let mut queue = crowd[119].register(json!({"event_types": ["user_topic"]})).await;
    Box::pin(crash_between_jobs(&mut server, crowd[0].send(garden, "lunch", "@*cooks*"))).await;
    let events = queue.expect_kinds(&["user_topic"]).await;
    assert_eq!(events[0]["visibility_policy"], 3);
    assert_eq!(server.count("user_topic WHERE visibility_policy = 3").await, "120");
}

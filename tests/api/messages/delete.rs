//! Deleting messages and topics.

use super::{Place, assert_unseen, contents, subscribe};
use crate::channels::private_channel;
use crate::harness::{Client, START};
use serde_json::json;
use std::time::Duration;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::store::StoreError;

// conformance: delete-1, delete-2, delete-3, delete-6, delete-8
#[tokio::test]
async fn permissions_to_delete_messages() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("robot", &ada).await;
    subscribe(&owner, "garden", &[&ada, &bob, &bot]).await;
    let path = |id: i64| format!("/messages/{id}");
    let refused = (400, "BAD_REQUEST", "You don't have permission to delete this message");
    let late = (400, "BAD_REQUEST", "The time limit for deleting this message has passed");
    let (own, by_robot, by_bob) = (
        ada.send(garden, "a", "x").await,
        bot.send(garden, "a", "x").await,
        bob.send(garden, "a", "x").await,
    );
    ada.delete(&path(own), ()).await.ok();
    ada.delete(&path(own), ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    ada.delete(&path(by_robot), ()).await.ok();
    ada.delete(&path(by_bob), ()).await.error(refused.0, refused.1, refused.2);
    owner.delete(&path(by_bob), ()).await.ok();
    // Late.
    let own = ada.send(garden, "a", "x").await;
    server.clock.advance(601);
    ada.delete(&path(own), ()).await.error(late.0, late.1, late.2);
    server.set_realm_setting("message_content_delete_limit_seconds", json!(null)).await;
    server.set_realm_group("can_delete_own_message_group", SystemGroup::Moderators).await;
    ada.delete(&path(own), ()).await.error(refused.0, refused.1, refused.2);
    // The permissions of the channel add to those of the organization.
    let group = |name: &str| json!({name: {"new": SystemGroup::Members.id()}});
    owner.patch(&format!("/streams/{garden}"), group("can_delete_own_message_group")).await.ok();
    ada.delete(&path(own), ()).await.ok();
    let by_bob = bob.send(garden, "a", "x").await;
    ada.delete(&path(by_bob), ()).await.error(refused.0, refused.1, refused.2);
    owner.patch(&format!("/streams/{garden}"), group("can_delete_any_message_group")).await.ok();
    ada.delete(&path(by_bob), ()).await.ok();
}

/// Users who may delete any message get the same error for unknown messages.
// conformance: delete-8
#[tokio::test]
async fn a_message_that_one_cannot_see_is_not_deleted() {
    let Place { owner, server, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let vault = server.private_channel("vault", &[&ada]).await;
    let (secret, direct) = (ada.send(vault, "plans", "x").await, ada.send_direct(&[&bob], "x").await);
    let deleted = ada.send(vault, "plans", "y").await;
    ada.delete(&format!("/messages/{deleted}"), ()).await.ok();
    for (caller, id) in [
        (&owner, secret),
        (&bob, secret),
        (&owner, direct),
        (&ada, deleted),
        (&owner, deleted),
        (&ada, 999_999),
        (&owner, 999_999),
    ] {
        let refused = caller.delete(&format!("/messages/{id}"), ()).await;
        refused.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    for id in [secret, direct] {
        assert_eq!(ada.message(id).await["id"], id, "it is still there");
    }
}

// conformance: delete-16, delete-17, delete-19, delete-27, delete-28, delete-29, delete-30, queue-35
#[tokio::test]
async fn deletion_events_depend_on_capabilities() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&owner, "garden", &[&ada]).await;
    let ids = [ada.send(garden, "", "one").await, ada.send(garden, "", "two").await];
    let types = json!({"event_types": ["delete_message"]});
    let bulk = json!({
        "event_types": ["delete_message"],
        "client_capabilities": {"bulk_message_deletion": true, "empty_topic_name": true},
    });
    let (mut single, mut many) = (ada.register(&types).await, ada.register(&bulk).await);
    let mut outsider = bob.register(&bulk).await;
    let path = format!("/streams/{garden}/delete_topic");
    let topic = json!({"topic_name": "general chat"});
    let refused = ada.post(&path, &topic).await;
    refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
    owner.post(&path, ()).await.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'topic_name' argument");
    assert_eq!(owner.post(&path, &topic).await.ok()["complete"], true);
    let place = |topic: &str| json!({"type": "delete_message", "message_type": "stream", "stream_id": garden, "topic": topic});
    let with = |mut event: serde_json::Value, name: &str, value: serde_json::Value| {
        event[name] = value;
        event
    };
    many.expect(&[with(place(""), "message_ids", json!(ids))]).await;
    let one = |id: i64| with(place("general chat"), "message_id", json!(id));
    single.expect(&[one(ids[0]), one(ids[1])]).await;
    outsider.expect_nothing().await;
    for id in ids {
        assert_unseen(&owner, id).await;
    }
    assert_eq!(owner.post(&path, &topic).await.ok()["complete"], true, "nothing is left to delete");
    let state = ada.register(json!({"event_types": ["message", "update_message_flags"]})).await.state.clone();
    let unread = state["unread_msgs"]["streams"].as_array().unwrap();
    assert!(unread.iter().all(|entry| entry["topic"] != "general chat"), "{unread:?}");
}

// conformance: delete-26, delete-32
#[tokio::test]
async fn a_large_topic_is_deleted_in_parts() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let first = owner.send(garden, "large", "x").await;
    server.add_copies(first, 10_000).await;
    let path = format!("/streams/{garden}/delete_topic");
    let topic = json!({"topic_name": "LARGE"});
    assert_eq!(owner.post(&path, &topic).await.ok()["complete"], false);
    assert_eq!(contents(&owner, garden, "large").await, ["x"], "the newest go first");
    assert_eq!(owner.post(&path, &topic).await.ok()["complete"], true);
    assert_unseen(&owner, first).await;
    let unknown = owner.post("/streams/999/delete_topic", &topic).await;
    unknown.error(400, "BAD_REQUEST", "Invalid channel ID");
}

/// Long messages are deleted one by one, with one event each.
#[tokio::test]
async fn long_messages_are_deleted_in_more_parts() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let first = owner.send(garden, "large", &"\u{1f600}".repeat(9_900)).await;
    server.add_copies(first, 39).await;
    let bulk =
        json!({"event_types": ["delete_message"], "client_capabilities": {"bulk_message_deletion": true}});
    let mut queue = owner.register(bulk).await;
    let path = format!("/streams/{garden}/delete_topic");
    assert_eq!(owner.post(&path, json!({"topic_name": "large"})).await.ok()["complete"], true);
    let deleted = queue.expect_kinds(&["delete_message"; 40]).await;
    let count = |event: &serde_json::Value| event["message_ids"].as_array().unwrap().len();
    assert_eq!(deleted.iter().map(count).sum::<usize>(), 40);
}

// conformance: delete-14
#[tokio::test]
async fn changed_first_messages_are_emitted() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    server.sql("DELETE FROM message").await;
    let (first, second) = (owner.send(garden, "a", "x").await, owner.send(garden, "a", "y").await);
    let mut queue = ada.register(json!({"event_types": ["stream"]})).await;
    let event = |value: serde_json::Value| {
        json!({
            "type": "stream", "op": "update", "stream_id": garden, "name": "garden", "property": "first_message_id",
            "value": value,
        })
    };
    owner.delete(&format!("/messages/{first}"), ()).await.ok();
    queue.expect(&[event(json!(second))]).await;
    owner.delete(&format!("/messages/{second}"), ()).await.ok();
    queue.expect(&[event(json!(null))]).await;
}

// conformance: delete-20, delete-21
#[tokio::test]
async fn deletions_reach_the_deleter_and_all_receivers() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let administrator = server.administrator("adam").await;
    let (ada, bob, eve, gus) = (
        server.member("ada").await,
        server.member("bob").await,
        server.member("eve").await,
        server.guest("gus").await,
    );
    subscribe(&owner, "garden", &[&ada, &bob, &gus]).await;
    let id = ada.send(garden, "lunch", "hi").await;
    bob.delete("/users/me/subscriptions", json!({"subscriptions": ["garden"]})).await.ok();
    let bulk = json!({
        "event_types": ["delete_message"], "client_capabilities": {"bulk_message_deletion": true},
    });
    let mut queues = [
        administrator.register(&bulk).await,
        ada.register(&bulk).await,
        bob.register(&bulk).await,
        gus.register(&bulk).await,
    ];
    let mut outsider = eve.register(&bulk).await;
    let mut of_all_public = {
        let mut every = bulk.clone();
        every["all_public_streams"] = true.into();
        eve.register(every).await
    };
    administrator.delete(&format!("/messages/{id}"), ()).await.ok();
    let event = json!({
        "type": "delete_message", "message_ids": [id], "message_type": "stream", "stream_id": garden,
        "topic": "lunch",
    });
    for queue in &mut queues {
        queue.expect(std::slice::from_ref(&event)).await;
    }
    of_all_public.expect(&[event]).await;
    outsider.expect_nothing().await;
}

// conformance: delete-10, delete-18
#[tokio::test]
async fn a_direct_message_is_deleted_for_all_its_people() {
    let Place { server, owner, .. } = Place::new().await;
    let (ada, eve) = (server.member("ada").await, server.member("eve").await);
    let ids = [ada.send_direct(&[&owner], "one").await, ada.send_direct(&[&owner], "two").await];
    let single = json!({"event_types": ["delete_message"]});
    let bulk = json!({
        "event_types": ["delete_message"], "client_capabilities": {"bulk_message_deletion": true},
    });
    let (mut of_ada, mut of_owner) = (ada.register(&single).await, owner.register(&bulk).await);
    let mut of_eve = eve.register(&bulk).await;
    let refused = eve.delete(&format!("/messages/{}", ids[0]), ()).await;
    refused.error(400, "BAD_REQUEST", "Invalid message(s)");
    ada.delete(&format!("/messages/{}", ids[0]), ()).await.ok();
    // Users who may delete any message may delete direct messages from others.
    owner.delete(&format!("/messages/{}", ids[1]), ()).await.ok();
    of_ada
        .expect(&ids.map(|id| json!({"type": "delete_message", "message_id": id, "message_type": "private"})))
        .await;
    assert_unseen(&ada, ids[1]).await;
    of_owner
        .expect(
            &ids.map(|id| json!({"type": "delete_message", "message_ids": [id], "message_type": "private"})),
        )
        .await;
    of_eve.expect_nothing().await;
}

// conformance: delete-25, delete-31, delete-32
#[tokio::test]
async fn a_topic_is_deleted_as_far_as_the_caller_sees_it() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let administrator = server.administrator("adam").await;
    let vault = private_channel(&owner, "vault").await;
    let before = owner.send(vault, "lunch", "before").await;
    let topic = json!({"topic_name": "lunch"});
    let path = format!("/streams/{vault}/delete_topic");
    administrator.post(&path, &topic).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    subscribe(&owner, "vault", &[&administrator]).await;
    let after = owner.send(vault, "LUNCH", "after").await;
    assert_eq!(administrator.post(&path, &topic).await.ok()["complete"], true);
    assert_unseen(&owner, after).await;
    assert_eq!(contents(&owner, vault, "lunch").await, ["before"]);
    assert_eq!(owner.post(&path, &topic).await.ok()["complete"], true);
    assert_unseen(&owner, before).await;
    let none = owner.post(&format!("/streams/{garden}/delete_topic"), json!({"topic_name": "a\nb"})).await;
    none.error(400, "BAD_REQUEST", "Invalid character in topic, at position 2!");
    owner.delete(&format!("/streams/{garden}"), ()).await.ok();
    let archived = owner.post(&format!("/streams/{garden}/delete_topic"), &topic).await;
    archived.error(400, "BAD_REQUEST", "Invalid channel ID");
}

// conformance: delete-38
#[tokio::test]
async fn policies_end_with_their_topic() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (administrator, ada) = (server.administrator("adam").await, server.member("ada").await);
    subscribe(&owner, "garden", &[&ada]).await;
    let set = async |client: &Client, stream_id: i64, topic: &str, policy: i64| {
        let parameters = json!({"stream_id": stream_id, "topic": topic, "visibility_policy": policy});
        client.post("/user_topics", parameters).await.ok();
    };
    let kept = async |client: &Client| {
        let state = client.register(json!({"fetch_event_types": ["user_topic"]})).await.state.clone();
        let topics = state["user_topics"].as_array().unwrap().iter();
        topics.map(|entry| entry["topic_name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let topic = json!({"topic_name": "lunch"});
    owner.send(garden, "Lunch", "hi").await;
    set(&ada, garden, "Lunch", 1).await;
    set(&ada, garden, "tea", 3).await;
    let mut queue = ada.register(json!({"event_types": ["user_topic"]})).await;
    let mut older = ada.register(json!({"event_types": ["muted_topics"]})).await;
    administrator.post(&format!("/streams/{garden}/delete_topic"), &topic).await.ok();
    queue
        .expect(&[json!({
            "type": "user_topic", "stream_id": garden, "topic_name": "lunch", "last_updated": START,
            "visibility_policy": 0,
        })])
        .await;
    older.expect(&[json!({"type": "muted_topics", "muted_topics": []})]).await;
    // The owner followed the topic, whose first message was theirs.
    assert_eq!((kept(&ada).await, kept(&owner).await), (vec!["tea".to_owned()], Vec::new()));
    drop((queue, older));

    // The owner still sees a message that was not deleted, and Bob has left.
    let bob = server.member("bob").await;
    let vault = private_channel(&owner, "vault").await;
    owner.send(vault, "lunch", "before").await;
    subscribe(&owner, "vault", &[&administrator, &ada, &bob]).await;
    owner.send(vault, "lunch", "after").await;
    set(&ada, vault, "lunch", 3).await;
    set(&owner, vault, "lunch", 1).await;
    set(&bob, vault, "lunch", 1).await;
    bob.delete("/users/me/subscriptions", json!({"subscriptions": ["vault"]})).await.ok();
    administrator.post(&format!("/streams/{vault}/delete_topic"), &topic).await.ok();
    assert_eq!((kept(&ada).await, kept(&owner).await), (vec!["tea".to_owned()], vec!["lunch".to_owned()]));
    assert_eq!(kept(&bob).await, ["lunch"]);
}

/// Users who still see the topic take time of the writer, too.
#[tokio::test]
async fn policies_of_many_users_are_removed_in_several_jobs() {
    let Place { server, owner, .. } = Place::new().await;
    let (administrator, ada) = (server.administrator("adam").await, server.member("ada").await);
    let vault = private_channel(&owner, "vault").await;
    owner.send(vault, "lunch", "before").await;
    subscribe(&owner, "vault", &[&administrator, &ada]).await;
    owner.send(vault, "lunch", "after").await;
    for client in [&owner, &ada] {
        let muted = json!({"stream_id": vault, "topic": "lunch", "visibility_policy": 1});
        client.post("/user_topics", muted).await.ok();
    }
    let writer = &server.app().writer;
    writer.background().set_limit(Duration::ZERO);
    administrator.post(&format!("/streams/{vault}/delete_topic"), json!({"topic_name": "lunch"})).await.ok();
    // The follow-up job comes before all later ones.
    let count = "SELECT count(*) FROM user_topic";
    let left = writer.run(|tx| Ok::<i64, StoreError>(tx.query_row(count, [], |row| row.get(0))?));
    assert_eq!(left.await.unwrap(), 1);
    let figures = writer.background().figures()["topic_policies"];
    assert_eq!((figures.jobs, figures.steps, figures.most_steps), (2, 2, 1));
}

// conformance: delete-8, delete-11
#[tokio::test]
async fn deleting_messages_deletes_all_their_rows() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = owner.send(garden, "lunch", "hi @**Ada**").await;
    owner.patch(&format!("/messages/{id}"), json!({"content": "hello @**Ada**"})).await.ok();
    ada.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    ada.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "starred"})).await.ok();
    server
        .check_state_sync(&[&owner, &ada], async || {
            owner.delete(&format!("/messages/{id}"), ()).await.ok();
        })
        .await;
    for table in ["reaction", "message_edit", "user_message_flags"] {
        assert_eq!(server.column(&format!("SELECT count(*) FROM {table}")).await, ["0"], "{table}");
    }
    for path in [format!("/messages/{id}/history"), format!("/messages/{id}/read_receipts")] {
        owner.get(&path, ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    let refused = ada.delete(&format!("/messages/{id}"), ()).await;
    refused.error(400, "BAD_REQUEST", "Invalid message(s)");
}

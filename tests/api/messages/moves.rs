//! Moving messages to another topic of their channel.

use super::{Place, assert_unseen, contents, edit, message, subscribe};
use crate::harness::START;
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;

// conformance: edit-11, fetch-22, fetch-31, history-16, history-18, move-1, move-2, move-10
#[tokio::test]
async fn the_mode_says_which_messages_go_along() {
    let Place { server: _running, owner, garden, .. } = Place::new().await;
    let mut ids = Vec::new();
    for content in ["one", "two", "three"] {
        ids.push(owner.send(garden, "lunch", content).await);
    }
    owner.send(garden, "other", "four").await;
    edit(&owner, ids[1], json!({"topic": "tea", "propagate_mode": "change_later"})).await.ok();
    assert_eq!(contents(&owner, garden, "lunch").await, ["one"]);
    assert_eq!(contents(&owner, garden, "tea").await, ["two", "three"]);
    edit(&owner, ids[2], json!({"subject": "TEA party"})).await.ok();
    assert_eq!(contents(&owner, garden, "tea party").await, ["three"]);
    edit(&owner, ids[2], json!({"topic": "tea"})).await.ok();
    edit(&owner, ids[2], json!({"topic": "Tea", "propagate_mode": "change_all"})).await.ok();
    assert_eq!(message(&owner, ids[1]).await["subject"], "Tea");
    edit(&owner, ids[2], json!({"topic": "(no topic)", "propagate_mode": "change_all"})).await.ok();
    let moved = message(&owner, ids[1]).await;
    assert_eq!((&moved["subject"], &moved["last_moved_timestamp"]), (&json!(""), &json!(START)));
    assert_eq!(moved.get("last_edit_timestamp"), None);
    let topics: Vec<_> =
        moved["edit_history"].as_array().unwrap().iter().map(|edit| &edit["topic"]).collect();
    assert_eq!(topics, ["", "Tea", "tea"], "the newest first");
    let shown = owner.get(&format!("/messages/{}", ids[1]), ()).await.ok()["message"].clone();
    assert_eq!(shown["edit_history"][0]["topic"], "general chat", "who does not know the empty topic");
}

// conformance: move-61, move-62, move-64
#[tokio::test]
async fn bulk_changes_emit_one_event() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    subscribe(&owner, "garden", &[&ada, &bob]).await;
    let ids = [ada.send(garden, "", "one").await, ada.send(garden, "", "two").await];
    let leave = json!({"subscriptions": ["garden"]});
    bob.delete("/users/me/subscriptions", leave).await.ok();
    let types = json!({"event_types": ["update_message", "message", "delete_message"]});
    let mut queues = [ada.register(&types).await, bob.register(&types).await];
    let mut outsider = cleo.register(&types).await;
    edit(&ada, ids[1], json!({"topic": "tea", "propagate_mode": "change_all"})).await.ok();
    for (queue, flags) in queues.iter_mut().zip([json!([]), json!(["read"])]) {
        let expected = json!({
            "type": "update_message", "user_id": ada.user_id, "rendering_only": false, "message_id": ids[1],
            "message_ids": ids, "edit_timestamp": START, "stream_id": garden, "stream_name": "garden",
            "propagate_mode": "change_all", "orig_subject": "general chat", "subject": "tea", "topic_links": [],
            "flags": flags,
        });
        queue.expect(&[expected]).await;
    }
    outsider.expect_nothing().await;
}

// conformance: move-21, move-22, move-24
#[tokio::test]
async fn moving_needs_permission_within_a_time_limit() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, mia) = (server.member("ada").await, server.moderator("mia").await);
    subscribe(&owner, "garden", &[&ada, &mia]).await;
    subscribe(&owner, "shed", &[&ada, &mia]).await;
    server.set_realm_setting("move_messages_within_stream_limit_seconds", json!(100)).await;
    server.set_realm_setting("move_messages_between_streams_limit_seconds", json!(50)).await;
    let old = owner.send(garden, "lunch", "old").await;
    server.clock.advance(60);
    let young = owner.send(garden, "lunch", "young").await;
    server.clock.advance(11);
    let late = edit(&ada, old, json!({"stream_id": shed})).await;
    late.error(400, "BAD_REQUEST", "The time limit for editing this message's channel has passed");
    let all = |changes: serde_json::Value| {
        let mut changes = changes;
        changes["propagate_mode"] = "change_all".into();
        changes
    };
    let error = edit(&ada, young, all(json!({"stream_id": shed}))).await.error(
        400,
        "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
        "You only have permission to move the 1/2 most recent messages in this topic.",
    );
    assert_eq!(error["first_message_id_allowed_to_move"], young);
    assert_eq!(
        (&error["total_messages_in_topic"], &error["total_messages_allowed_to_move"]),
        (&json!(2), &json!(1))
    );
    edit(&ada, young, all(json!({"topic": "tea"}))).await.ok();
    server.clock.advance(50);
    let late = edit(&ada, old, json!({"topic": "x"})).await;
    late.error(400, "BAD_REQUEST", "The time limit for editing this message's topic has passed.");
    edit(&mia, old, all(json!({"topic": "x", "stream_id": shed}))).await.ok();

    let id = owner.send(garden, "rules", "new").await;
    server.set_realm_group("can_move_messages_between_channels_group", SystemGroup::Nobody).await;
    server.set_realm_group("can_move_messages_between_topics_group", SystemGroup::Nobody).await;
    let refused = edit(&ada, id, json!({"stream_id": shed})).await;
    refused.error(400, "BAD_REQUEST", "You don't have permission to move this message.");
    let refused = edit(&ada, id, json!({"topic": "x"})).await;
    refused.error(400, "BAD_REQUEST", "You don't have permission to edit this message");
    let members = SystemGroup::Members.id().0;
    let allow = json!({
        "can_move_messages_out_of_channel_group": {"new": members},
        "can_move_messages_within_channel_group": {"new": members},
    });
    owner.patch(&format!("/streams/{garden}"), allow).await.ok();
    edit(&ada, id, json!({"topic": "x"})).await.ok();
    edit(&ada, id, json!({"stream_id": shed})).await.ok();
}

// conformance: move-3
#[tokio::test]
async fn moves_include_visible_messages_only() {
    let Place { server, owner, .. } = Place::new().await;
    let ada = server.member("ada").await;
    let vault = crate::channels::private_channel(&owner, "vault").await;
    let before = owner.send(vault, "lunch", "before").await;
    subscribe(&owner, "vault", &[&ada]).await;
    let after = owner.send(vault, "lunch", "after").await;
    assert_unseen(&ada, before).await;
    edit(&ada, after, json!({"topic": "tea", "propagate_mode": "change_all"})).await.ok();
    assert_eq!(contents(&owner, vault, "lunch").await, ["before"]);
    assert_eq!(contents(&owner, vault, "tea").await, ["after"]);
}

// conformance: move-55, move-59, move-69
#[tokio::test]
async fn followed_topics_stay_followed_after_moves() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&owner, "garden", &[&ada, &bob]).await;
    subscribe(&owner, "shed", &[&ada]).await;
    let (first, second) =
        (owner.send(garden, "lunch", "one").await, owner.send(garden, "lunch", "two").await);
    for client in [&ada, &bob] {
        let follow = json!({"stream_id": garden, "topic": "lunch", "visibility_policy": 3});
        client.post("/user_topics", follow).await.ok();
    }
    let types = json!({"event_types": ["user_topic"]});
    let mut queues = [ada.register(&types).await, bob.register(&types).await];
    edit(&owner, second, json!({"topic": "tea"})).await.ok();
    for queue in &mut queues {
        queue.expect_nothing().await;
    }
    let policy = |stream_id: i64, topic: &str, policy: i64| {
        json!({
            "type": "user_topic", "stream_id": stream_id, "topic_name": topic, "last_updated": START,
            "visibility_policy": policy,
        })
    };
    edit(&owner, first, json!({"topic": "dinner"})).await.ok();
    for queue in &mut queues {
        queue.expect(&[policy(garden, "lunch", 0), policy(garden, "dinner", 3)]).await;
    }
    edit(&owner, first, json!({"stream_id": shed})).await.ok();
    queues[0].expect(&[policy(garden, "dinner", 0), policy(shed, "dinner", 3)]).await;
    queues[1].expect(&[policy(garden, "dinner", 0)]).await;
}

// conformance: move-5, move-46, move-47, move-48
#[tokio::test]
async fn deleting_a_message_deletes_its_rows() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    subscribe(&owner, "shed", &[&ada]).await;
    server.sql("DELETE FROM message").await;
    let (first, second) = (owner.send(garden, "lunch", "one").await, ada.send(garden, "lunch", "two").await);
    ada.post(&format!("/messages/{first}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    ada.post("/messages/flags", json!({"op": "add", "flag": "starred", "messages": [first]})).await.ok();
    ada.post("/messages/flags", json!({"op": "add", "flag": "collapsed", "messages": [first]})).await.ok();
    let before = message(&ada, first).await;
    let mut queue = ada.register(json!({"event_types": ["stream"]})).await;
    server.clock.advance(5);
    edit(&owner, first, json!({"stream_id": shed, "topic": "tools"})).await.ok();
    let mut expected = before.clone();
    for (name, value) in [
        ("stream_id", json!(shed)),
        ("display_recipient", json!("shed")),
        ("subject", json!("tools")),
        ("last_moved_timestamp", json!(START + 5)),
        (
            "edit_history",
            json!([{
                "user_id": owner.user_id, "timestamp": START + 5, "prev_topic": "lunch", "topic": "tools",
                "prev_stream": garden, "stream": shed,
            }]),
        ),
    ] {
        expected[name] = value;
    }
    let after = message(&ada, first).await;
    expected["recipient_id"] = after["recipient_id"].clone();
    assert_ne!(after["recipient_id"], before["recipient_id"]);
    assert_eq!(after, expected, "reactions, flags and all else stay");
    // The oldest message of both channels has changed.
    let oldest = |stream_id: i64, name: &str, value: i64| {
        json!({
            "type": "stream", "op": "update", "stream_id": stream_id, "name": name,
            "property": "first_message_id", "value": value,
        })
    };
    queue.expect(&[oldest(garden, "garden", second), oldest(shed, "shed", first)]).await;
    // Unread messages stay unread after the move.
    let unread = json!({"event_types": ["realm"], "fetch_event_types": ["message", "update_message_flags"]});
    let state = ada.post("/register", unread).await.ok();
    let found = state["unread_msgs"]["streams"].as_array().unwrap();
    let expected = json!({"stream_id": shed, "topic": "tools", "unread_message_ids": [first]});
    assert!(found.contains(&expected), "{found:?}");
}

// conformance: move-11, move-12, move-13
#[tokio::test]
async fn the_empty_topic_goes_where_the_policies_let_it() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let channel = async |name: &str, policy: &str| {
        let parameters = json!({"name": name, "subscribers": [owner.user_id], "topics_policy": policy});
        crate::channels::channel_with(&owner, parameters).await
    };
    let (open, strict) =
        (channel("allows", "allow_empty_topic").await, channel("requires", "disable_empty_topic").await);
    let only_empty = channel("only", "inherit").await;
    server.sql("DELETE FROM message").await;
    owner.patch(&format!("/streams/{only_empty}"), json!({"topics_policy": "empty_topic_only"})).await.ok();
    let required = "Topics are required in this organization";
    let only = "Only the general chat topic is allowed in this channel.";
    let id = owner.send(garden, "lunch", "hi").await;
    edit(&owner, id, json!({"stream_id": only_empty})).await.error(400, "BAD_REQUEST", only);
    edit(&owner, id, json!({"stream_id": only_empty, "topic": ""})).await.ok();
    edit(&owner, id, json!({"topic": "lunch"})).await.error(400, "BAD_REQUEST", only);
    edit(&owner, id, json!({"stream_id": strict})).await.error(400, "BAD_REQUEST", required);
    edit(&owner, id, json!({"stream_id": strict, "topic": "lunch"})).await.ok();
    for topic in ["", "(no topic)", "general chat"] {
        edit(&owner, id, json!({ "topic": topic })).await.error(400, "BAD_REQUEST", required);
    }
    // The organization's policy is for channels without one of their own.
    server.set_realm_setting("topics_policy", json!("disable_empty_topic")).await;
    edit(&owner, id, json!({"stream_id": garden, "topic": ""})).await.error(400, "BAD_REQUEST", required);
    edit(&owner, id, json!({"stream_id": open, "topic": ""})).await.ok();
    server.set_realm_setting("topics_policy", json!("allow_empty_topic")).await;
    edit(&owner, id, json!({"stream_id": garden})).await.ok();
    assert_eq!(message(&owner, id).await["subject"], "");
}

// conformance: move-55, move-56
#[tokio::test]
async fn policies_move_with_visible_topics() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let vault = crate::channels::private_channel(&owner, "vault").await;
    subscribe(&owner, "vault", &[&bob]).await;
    owner.send(vault, "lunch", "before").await;
    subscribe(&owner, "vault", &[&ada]).await;
    let after = owner.send(vault, "lunch", "after").await;
    let follow = json!({"stream_id": vault, "topic": "lunch", "visibility_policy": 3});
    bob.post("/user_topics", follow).await.ok();
    let mut queue = bob.register(json!({"event_types": ["user_topic"]})).await;
    // Ada sees no other message: to her it is the whole topic, and nothing may show that it is not.
    edit(&ada, after, json!({"topic": "tea"})).await.ok();
    let events = queue.expect_kinds(&["user_topic", "user_topic"]).await;
    let received: Vec<_> = events.iter().map(|one| (&one["topic_name"], &one["visibility_policy"])).collect();
    assert_eq!(received, [(&json!("lunch"), &json!(0)), (&json!("tea"), &json!(3))]);
    // Two topics that become one are seen as the one that was seen more.
    subscribe(&owner, "garden", &[&bob]).await;
    for (from, to, merged) in [(1, 2, 2), (1, 0, 0), (2, 3, 3), (1, 1, 1), (3, 1, 3)] {
        let (one, other) = (format!("one {from} {to}"), format!("other {from} {to}"));
        let id = owner.send(garden, &one, "x").await;
        owner.send(garden, &other, "x").await;
        for (topic, policy) in [(&one, from), (&other, to)] {
            let choice = json!({"stream_id": garden, "topic": topic, "visibility_policy": policy});
            bob.post("/user_topics", choice).await.ok();
        }
        edit(&owner, id, json!({"topic": other, "propagate_mode": "change_all"})).await.ok();
        let state = json!({"event_types": ["realm"], "fetch_event_types": ["user_topic"]});
        let state = bob.post("/register", state).await.ok();
        let of = |name: &str| {
            let topics = state["user_topics"].as_array().unwrap();
            let own = topics.iter().find(|topic| topic["topic_name"] == name);
            own.map_or(0, |topic| topic["visibility_policy"].as_i64().unwrap())
        };
        assert_eq!((of(&one), of(&other)), (0, merged), "{from} {to}");
    }
    queue.ignore();
}

// conformance: move-58
#[tokio::test]
async fn a_move_in_a_channel_writes_nothing_for_its_subscribers() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let mut users = Vec::new();
    for number in 0..5 {
        users.push(server.member(&format!("user{number}")).await);
    }
    subscribe(&owner, "garden", &users.iter().collect::<Vec<_>>()).await;
    let id = owner.send(garden, "lunch", "one").await;
    let rows = async || {
        let mut counts = Vec::new();
        // The notice is read for the user who moved the messages.
        for table in ["read_state", "read_chunk", "user_message_flags"] {
            let others = format!("SELECT count(*) FROM {table} WHERE user_id <> {}", owner.user_id);
            counts.extend(server.column(&others).await);
        }
        counts.extend(server.column("SELECT count(*) FROM arrival").await);
        counts
    };
    let before = rows().await;
    edit(&owner, id, json!({"topic": "tea", "propagate_mode": "change_all"})).await.ok();
    let change = json!({"topic": "dinner", "send_notification_to_old_thread": true});
    owner.patch(&format!("/messages/{id}"), change).await.ok();
    assert_eq!(rows().await, before);
}

// conformance: move-49
#[tokio::test]
async fn channels_that_become_active_again_emit_an_event() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "shed", &[&ada]).await;
    let old = owner.send(garden, "lunch", "old").await;
    server.clock.advance(180 * 24 * 60 * 60);
    let young = owner.send(garden, "lunch", "young").await;
    let mut queue = ada.register(json!({"event_types": ["stream"]})).await;
    let active = |stream_id: i64, name: &str, is_active: bool| {
        json!({
            "type": "stream", "op": "update", "stream_id": stream_id, "name": name,
            "property": "is_recently_active", "value": is_active,
        })
    };
    let seen = async || {
        let mut seen = Vec::new();
        for stream_id in [garden, shed] {
            let stream = crate::channels::seen(&ada, stream_id).await;
            seen.push(stream["is_recently_active"] == true);
        }
        seen
    };
    assert_eq!(seen().await, [true, false]);
    edit(&owner, old, json!({"stream_id": shed})).await.ok();
    queue.expect_nothing().await;
    edit(&owner, young, json!({"stream_id": shed, "topic": "lunch"})).await.ok();
    queue.expect(&[active(garden, "garden", false), active(shed, "shed", true)]).await;
    assert_eq!(seen().await, [false, true]);
    owner.delete(&format!("/messages/{young}"), ()).await.ok();
    owner.send(garden, "lunch", "again").await;
    owner.send(garden, "lunch", "and again").await;
    queue.expect(&[active(shed, "shed", false), active(garden, "garden", true)]).await;
    assert_eq!(seen().await, [true, false]);
}

//! Events about messages reproduce a new registration and a new fetch.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

// conformance: delete-24, edit-43, send-48
#[tokio::test]
async fn direct_messages_are_sent_and_deleted() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let all = [&ada, &bob, &cleo];
    let first = ada.send_direct(&[&bob], "hello").await;
    let ids = server
        .check_state_sync(&all, async || {
            let group = cleo.send_direct(&[&ada, &bob], "all of us, @**Bob**").await;
            let own = ada.send_direct(&[&ada], "*note*").await;
            let answer = bob.send_direct(&[&ada], "hi @**Ada**").await;
            [group, own, answer]
        })
        .await;
    let [group, own, answer] = ids;
    let flags = async |client: &Client, op: &str, flag: &str, messages: &[i64]| {
        let parameters = json!({"op": op, "flag": flag, "messages": messages});
        client.post("/messages/flags", parameters).await.ok()
    };
    server
        .check_state_sync(&all, async || {
            flags(&ada, "add", "read", &[group, own, answer]).await;
            flags(&ada, "add", "starred", &[first, group]).await;
            flags(&bob, "add", "read", &[first]).await;
            flags(&cleo, "add", "starred", &[group]).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            flags(&ada, "remove", "read", &[group, answer]).await;
            flags(&ada, "remove", "starred", &[first]).await;
            flags(&bob, "remove", "read", &[first, group]).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            let edit = |content: &str| json!({ "content": content });
            cleo.patch(&format!("/messages/{group}"), edit("without a mention")).await.ok();
            server.clock.advance(5);
            cleo.patch(&format!("/messages/{group}"), edit("/me mentions @**Ada**")).await.ok();
        })
        .await;
    server
        .check_state_sync(&all, async || {
            let path = format!("/messages/{group}/reactions");
            for client in all {
                client.post(&path, json!({"emoji_name": "tada"})).await.ok();
            }
            bob.post(&path, json!({"emoji_name": "heart"})).await.ok();
            ada.delete(&path, json!({"emoji_name": "tada"})).await.ok();
        })
        .await;
    let owner = server.owner().await;
    server.sql("UPDATE user SET role = 100 WHERE email = 'ada@example.com'").await;
    server
        .check_state_sync(&[&ada, &bob, &cleo, &owner], async || {
            ada.delete(&format!("/messages/{answer}"), ()).await.ok();
            ada.delete(&format!("/messages/{group}"), ()).await.ok();
        })
        .await;
    let left = ada.get("/messages", json!({"anchor": "newest", "num_before": 9, "num_after": 0})).await.ok();
    let left: Vec<&Value> =
        left["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!(left, [first, own]);
}

/// Subscribes users to channels, which are created if necessary. Returns the ids.
async fn channels(owner: &Client, names: &[&str], people: &[&Client]) -> Vec<i64> {
    let subscriptions: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let people: Vec<i64> = people.iter().map(|client| client.user_id).collect();
    let parameters = json!({"subscriptions": subscriptions, "principals": people});
    owner.post("/users/me/subscriptions", parameters).await.ok();
    let mut ids = Vec::new();
    for name in names {
        let answer = owner.get("/get_stream_id", &[("stream", *name)]).await.ok();
        ids.push(answer["stream_id"].as_i64().unwrap());
    }
    ids
}

async fn post(from: &Client, channel: &str, topic: &str, content: &str) -> i64 {
    let message = json!({"type": "channel", "to": channel, "topic": topic, "content": content});
    from.post("/messages", message).await.ok()["id"].as_i64().unwrap()
}

// conformance: delete-24, edit-43, flag-46, send-48
#[tokio::test]
async fn channel_messages_are_sent_and_updated() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    let outsider = server.member("outsider").await;
    let all = [&owner, &ada, &bob, &guest, &outsider];
    channels(&owner, &["garden"], &[&owner, &ada, &bob, &guest]).await;
    let ids = server
        .check_state_sync(&all, async || {
            let plain = post(&ada, "garden", "Roses", "*red*").await;
            let mention = post(&bob, "garden", "roses", "@**Ada** and @**Guest**").await;
            let empty = post(&bob, "garden", "", "no topic").await;
            let everybody = post(&owner, "garden", "tulips", "@**all** look").await;
            let topic = post(&ada, "garden", "Roses", "@**topic** again").await;
            [plain, mention, empty, everybody, topic]
        })
        .await;
    let [plain, mention, empty, everybody, _] = ids;
    let flags = async |client: &Client, op: &str, flag: &str, messages: &[i64]| {
        let parameters = json!({"op": op, "flag": flag, "messages": messages});
        client.post("/messages/flags", parameters).await.ok()
    };
    server
        .check_state_sync(&all, async || {
            flags(&guest, "add", "read", &ids).await;
            flags(&bob, "add", "read", &[everybody, plain]).await;
            flags(&ada, "add", "starred", &[empty, plain]).await;
            flags(&ada, "add", "collapsed", &[mention]).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            flags(&guest, "remove", "read", &[mention, empty]).await;
            flags(&bob, "remove", "read", &[everybody]).await;
            flags(&ada, "remove", "collapsed", &[mention]).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            server.clock.advance(5);
            bob.patch(&format!("/messages/{mention}"), json!({"content": "@**all** @**Bob**"})).await.ok();
            owner.patch(&format!("/messages/{everybody}"), json!({"content": "nobody"})).await.ok();
            guest.post(&format!("/messages/{empty}/reactions"), json!({"emoji_name": "+1"})).await.ok();
        })
        .await;
    server
        .check_state_sync(&all, async || {
            owner.delete(&format!("/messages/{mention}"), ()).await.ok();
            owner.delete(&format!("/messages/{empty}"), ()).await.ok();
        })
        .await;
}

// conformance: flag-46
#[tokio::test]
async fn move_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    let all = [&owner, &ada, &bob, &guest];
    channels(&owner, &["garden"], &[&owner, &ada, &bob, &guest]).await;
    let forest = channels(&owner, &["forest"], &[&owner, &ada]).await[0];
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(post(&owner, "garden", "Roses", &format!("{number} @**Bob**")).await);
    }
    let quiet = |change: Value| {
        let mut change = change;
        change["send_notification_to_old_thread"] = false.into();
        change["send_notification_to_new_thread"] = false.into();
        change
    };
    let move_to = async |id: i64, change: Value| {
        server.clock.advance(1);
        owner.patch(&format!("/messages/{id}"), quiet(change)).await.ok();
    };
    server
        .check_state_sync(&all, async || {
            move_to(ids[1], json!({"topic": "tulips"})).await;
            move_to(ids[4], json!({"topic": "Tulips", "propagate_mode": "change_later"})).await;
            move_to(ids[0], json!({"topic": "roses", "propagate_mode": "change_all"})).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            move_to(ids[1], json!({"stream_id": forest})).await;
            move_to(ids[0], json!({"stream_id": forest, "topic": "", "propagate_mode": "change_all"})).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            let change = json!({"content": "new @**Ada**", "topic": "other"});
            owner.patch(&format!("/messages/{}", ids[5]), quiet(change)).await.ok();
        })
        .await;
}

// conformance: flag-42
#[tokio::test]
async fn muted_topics_do_not_count() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let garden = channels(&owner, &["garden"], &[&owner, &ada]).await[0];
    let policy = async |topic: &str, policy: i64| {
        server.clock.advance(1);
        let parameters = json!({"stream_id": garden, "topic": topic, "visibility_policy": policy});
        ada.post("/user_topics", parameters).await.ok();
    };
    server
        .check_state_sync(&[&ada, &owner], async || {
            policy("Roses", 1).await;
            policy("tulips", 3).await;
            post(&owner, "garden", "roses", "muted").await;
            post(&owner, "garden", "tulips", "followed").await;
            post(&owner, "garden", "", "neither").await;
        })
        .await;
    server
        .check_state_sync(&[&ada], async || {
            policy("", 1).await;
            policy("TULIPS", 0).await;
            policy("roses", 2).await;
        })
        .await;
}

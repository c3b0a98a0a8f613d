//! Messages in the answer of `POST /register`: `unread_msgs`, `max_message_id`, starred messages, recent conversations.

use super::{edit, subscribe};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

async fn state(client: &Client) -> Value {
    let capabilities = json!({"empty_topic_name": true});
    client.post("/register", json!({"client_capabilities": capabilities})).await.ok()
}

async fn unread(client: &Client) -> Value {
    state(client).await["unread_msgs"].clone()
}

async fn mark(client: &Client, op: &str, flag: &str, ids: &[i64]) {
    client.post("/messages/flags", json!({"messages": ids, "op": op, "flag": flag})).await.ok();
}

// conformance: flag-38, flag-39, flag-40, flag-41
#[tokio::test]
async fn unread_messages_are_grouped_by_conversation() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let empty = json!({"count": 0, "pms": [], "streams": [], "huddles": [], "mentions": [],
        "old_unreads_missing": false});
    assert_eq!(unread(&ada).await, empty);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let apples = bob.send(garden, "Apples", "one").await;
    let both = ada.send_direct(&[&bob, &cleo], "unread by its sender too").await;
    let from_bob = bob.send_direct(&[&ada], "@**Ada**").await;
    let again = bob.send(garden, "APPLES", "@**all**").await;
    let plain = bob.send(garden, "", "no topic").await;
    let notes = ada.send_direct(&[&ada], "notes").await;
    let to_bob = ada.send_direct(&[&bob], "unread by its sender too").await;
    let ids = format!("{},{},{}", ada.user_id, bob.user_id, cleo.user_id);
    assert_eq!(
        unread(&ada).await,
        json!({
            "count": 7,
            "pms": [
                {"other_user_id": ada.user_id, "sender_id": ada.user_id, "unread_message_ids": [notes]},
                {"other_user_id": bob.user_id, "sender_id": bob.user_id,
                    "unread_message_ids": [from_bob, to_bob]},
            ],
            "streams": [
                {"stream_id": garden, "topic": "", "unread_message_ids": [plain]},
                {"stream_id": garden, "topic": "APPLES", "unread_message_ids": [apples, again]},
            ],
            "huddles": [{"user_ids_string": ids, "unread_message_ids": [both]}],
            "mentions": [from_bob, again],
            "old_unreads_missing": false,
        })
    );
    // A client that does not know the empty topic gets its name.
    let older = ada.post("/register", ()).await.ok();
    assert_eq!(older["unread_msgs"]["streams"][0]["topic"], "general chat");
    // The state requires both event types: of messages, and of changes to flags.
    for (types, there) in [
        (json!(["message", "update_message_flags"]), true),
        (json!(["message"]), false),
        (json!(["update_message_flags"]), false),
    ] {
        let state = ada.post("/register", json!({"fetch_event_types": types})).await.ok();
        assert_eq!(state.get("unread_msgs").is_some(), there, "{types}");
    }
}

// conformance: flag-45
#[tokio::test]
async fn unread_messages_go_where_messages_go() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let shed = server.channel("shed", &[&owner, &ada]).await;
    let far = server.channel("far", &[&owner]).await;
    let topics = async || {
        let found = unread(&ada).await["streams"].clone();
        let entries = found.as_array().unwrap().iter();
        entries
            .map(|entry| json!([entry["stream_id"], entry["topic"], entry["unread_message_ids"]]))
            .collect::<Vec<Value>>()
    };
    let mut sent = Vec::new();
    for text in ["a", "b", "c", "d"] {
        sent.push(owner.send(garden, "t", text).await);
    }
    edit(&owner, sent[0], json!({"topic": "u"})).await.ok();
    edit(&owner, sent[1], json!({"stream_id": shed})).await.ok();
    assert_eq!(
        topics().await,
        [
            json!([garden, "t", [sent[2], sent[3]]]),
            json!([garden, "u", [sent[0]]]),
            json!([shed, "t", [sent[1]]])
        ]
    );
    // Channels without a subscription have no unread messages.
    edit(&owner, sent[2], json!({"stream_id": far})).await.ok();
    owner.delete(&format!("/messages/{}", sent[3]), ()).await.ok();
    assert_eq!(topics().await, [json!([garden, "u", [sent[0]]]), json!([shed, "t", [sent[1]]])]);
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["shed"]})).await.ok();
    assert_eq!(topics().await, [json!([garden, "u", [sent[0]]])]);
    subscribe(&owner, "shed", &[&ada]).await;
    assert_eq!(topics().await, [json!([garden, "u", [sent[0]]])]);
}

// conformance: flag-42, flag-43
#[tokio::test]
async fn muted_messages_are_listed_but_not_counted() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let named = bob.send(garden, "t", "@**Ada**").await;
    let all = bob.send(garden, "t", "@**all**").await;
    let mute = async |policy: i64| {
        let parameters = json!({"stream_id": garden, "topic": "T", "visibility_policy": policy});
        ada.post("/user_topics", parameters).await.ok();
    };
    let summary = async || {
        let unread = unread(&ada).await;
        let ids = unread["streams"][0]["unread_message_ids"].clone();
        json!([unread["count"], ids, unread["mentions"]])
    };
    assert_eq!(summary().await, json!([2, [named, all], [named, all]]));
    // A mention by name counts everywhere; a wildcard does not count where it is muted.
    mute(1).await;
    assert_eq!(summary().await, json!([0, [named, all], [named]]));
    mute(0).await;
    let data = json!([{"stream_id": garden, "property": "is_muted", "value": true}]);
    ada.post("/users/me/subscriptions/properties", json!({"subscription_data": data})).await.ok();
    assert_eq!(summary().await, json!([0, [named, all], [named]]));
    mute(3).await;
    assert_eq!(summary().await, json!([2, [named, all], [named, all]]));
}

// conformance: flag-44
#[tokio::test]
async fn unread_messages_are_limited_to_the_newest() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let oldest = bob.send_direct(&[&ada], "@**Ada**").await;
    let first = bob.send(garden, "t", "x").await;
    server.add_copies(first, 50_000).await;
    let newest = bob.send_direct(&[&ada], "@**Ada**").await;
    let summary = async || {
        let summary = unread(&ada).await;
        let ids = &summary["streams"][0]["unread_message_ids"];
        json!([
            summary["count"],
            summary["old_unreads_missing"],
            ids[0],
            summary["pms"][0]["unread_message_ids"],
            summary["mentions"]
        ])
    };
    assert_eq!(summary().await, json!([50_000, true, first + 2, [newest], [newest]]));
    mark(&ada, "add", "read", &[first + 2, first + 3]).await;
    assert_eq!(summary().await, json!([50_000, true, first, [newest], [newest]]));
    mark(&ada, "add", "read", &[first]).await;
    assert_eq!(summary().await, json!([50_000, false, first + 1, [oldest, newest], [oldest, newest]]));
}

// conformance: flag-47
#[tokio::test]
async fn the_newest_message_is_the_newest_that_the_user_received() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let eve = server.member("eve").await;
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let newest = async |client: &Client| {
        let max_id = state(client).await["max_message_id"].clone();
        assert_eq!(client.get("/users/me", ()).await.ok()["max_message_id"], max_id);
        max_id
    };
    assert_eq!(newest(&ada).await, -1);
    let first = bob.send(garden, "t", "x").await;
    let direct = bob.send_direct(&[&ada], "x").await;
    let other = bob.send_direct(&[&bob], "x").await;
    assert_eq!((newest(&ada).await, newest(&bob).await), (json!(direct), json!(other)));
    // Reading a channel is not receiving its messages.
    assert_eq!(newest(&eve).await, -1);
    mark(&eve, "add", "starred", &[first]).await;
    assert_eq!(newest(&eve).await, first);
    bob.delete(&format!("/messages/{direct}"), ()).await.ok();
    assert_eq!(newest(&ada).await, first);
}

// conformance: flag-48, flag-49
#[tokio::test]
async fn starred_messages_and_recent_conversations_are_listed() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada]).await;
    let first = ada.send(garden, "t", "x").await;
    let from_bob = bob.send_direct(&[&ada], "x").await;
    let group = ada.send_direct(&[&bob, &cleo], "x").await;
    let notes = ada.send_direct(&[&ada], "x").await;
    let to_bob = ada.send_direct(&[&bob], "x").await;
    mark(&ada, "add", "starred", &[group, first, from_bob]).await;
    mark(&ada, "remove", "starred", &[from_bob]).await;
    let found = state(&ada).await;
    assert_eq!(found["starred_messages"], json!([first, group]));
    assert_eq!(
        found["recent_private_conversations"],
        json!([
            {"max_message_id": to_bob, "user_ids": [bob.user_id]},
            {"max_message_id": notes, "user_ids": []},
            {"max_message_id": group, "user_ids": [bob.user_id, cleo.user_id]},
        ])
    );
    assert_eq!(state(&cleo).await["starred_messages"], json!([]));
}

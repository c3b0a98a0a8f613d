//! Moving messages to another channel: lost access, kept access, and audiences of the events.

use super::{Place, assert_unseen, edit, message, subscribe};
use crate::harness::{Client, Queue, START};
use serde_json::{Value, json};

async fn listen(client: &Client) -> Queue {
    let types = ["update_message", "delete_message", "update_message_flags", "message"];
    let capabilities = json!({"bulk_message_deletion": true, "empty_topic_name": true});
    client.register(json!({"event_types": types, "client_capabilities": capabilities})).await
}

fn moved(by: &Client, ids: &[i64], (from, name): (i64, &str), to: i64, flags: Value) -> Value {
    json!({
        "type": "update_message", "user_id": by.user_id, "rendering_only": false, "message_id": ids[0],
        "message_ids": ids, "edit_timestamp": START, "stream_id": from, "stream_name": name,
        "new_stream_id": to, "propagate_mode": "change_all", "orig_subject": "lunch", "flags": flags,
    })
}

fn deleted(ids: &[i64], from: i64) -> Value {
    json!({
        "type": "delete_message", "message_ids": ids, "message_type": "stream", "stream_id": from, "topic": "lunch",
    })
}

// conformance: delete-23, fetch-29, history-16, move-52, move-62, move-65
#[tokio::test]
async fn to_a_private_channel() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (both, old, new, none) = (
        server.member("both").await,
        server.member("old").await,
        server.member("new").await,
        server.member("none").await,
    );
    let (guest, administrator) = (server.guest("guest").await, server.administrator("adam").await);
    subscribe(&owner, "garden", &[&both, &old, &guest]).await;
    subscribe(&owner, "shed", &[&both, &new, &guest]).await;
    let ids = [owner.send(garden, "lunch", "one").await, owner.send(garden, "lunch", "two").await];
    for client in [&both, &old] {
        let star = json!({"op": "add", "flag": "starred", "messages": ids});
        client.post("/messages/flags", star).await.ok();
    }
    let read = json!({"op": "add", "flag": "read", "messages": [ids[0]]});
    both.post("/messages/flags", read).await.ok();
    let mut queues = [
        listen(&both).await,
        listen(&old).await,
        listen(&new).await,
        listen(&none).await,
        listen(&guest).await,
        listen(&administrator).await,
    ];
    edit(&owner, ids[0], json!({"stream_id": shed, "propagate_mode": "change_all"})).await.ok();
    let event = |flags| moved(&owner, &ids, (garden, "garden"), shed, flags);
    queues[0].expect(&[event(json!(["read", "starred"]))]).await;
    queues[1].expect(&[deleted(&ids, garden)]).await;
    queues[2].expect(&[event(json!(["read"]))]).await;
    queues[3].expect_nothing().await;
    queues[4].expect(&[event(json!([]))]).await;
    queues[5].expect_nothing().await;
    for client in [&old, &none, &administrator] {
        assert_unseen(client, ids[0]).await;
    }
    let flags = async |client: &Client, id: i64| message(client, id).await["flags"].clone();
    assert_eq!(flags(&both, ids[0]).await, json!(["read", "starred"]));
    assert_eq!(flags(&both, ids[1]).await, json!(["starred"]));
    assert_eq!(flags(&new, ids[1]).await, json!(["read", "historical"]));
    assert_eq!(flags(&guest, ids[1]).await, json!([]));
    let there = message(&both, ids[1]).await;
    assert_eq!((&there["stream_id"], &there["display_recipient"]), (&json!(shed), &json!("shed")));
    let expected =
        json!([{"user_id": owner.user_id, "timestamp": START, "prev_stream": garden, "stream": shed}]);
    assert_eq!(there["edit_history"], expected);

    // Back again: users who had lost the messages do not get them back, and their stars are deleted.
    edit(&owner, ids[0], json!({"stream_id": garden, "propagate_mode": "change_all"})).await.ok();
    assert_eq!(flags(&old, ids[0]).await, json!(["read", "historical"]));
    assert_eq!(flags(&none, ids[0]).await, json!(["read", "historical"]));
    assert_eq!(flags(&both, ids[1]).await, json!(["starred"]));
    queues.iter_mut().for_each(Queue::ignore);
}

// conformance: flag-23, move-52, move-53, move-65, move-66
#[tokio::test]
async fn to_a_public_channel() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (both, old, new) =
        (server.member("both").await, server.member("old").await, server.member("new").await);
    let guest = server.guest("guest").await;
    subscribe(&owner, "shed", &[&both, &old, &guest]).await;
    subscribe(&owner, "garden", &[&both, &new]).await;
    let ids = [owner.send(shed, "lunch", "one").await, owner.send(shed, "lunch", "two").await];
    let read = json!({"op": "add", "flag": "read", "messages": [ids[0]]});
    old.post("/messages/flags", read).await.ok();
    let mut queues = [listen(&both).await, listen(&old).await, listen(&new).await, listen(&guest).await];
    edit(&owner, ids[0], json!({"stream_id": garden, "propagate_mode": "change_all"})).await.ok();
    let event = |flags| moved(&owner, &ids, (shed, "shed"), garden, flags);
    queues[0].expect(&[event(json!([]))]).await;
    let not_unread = json!({
        "type": "update_message_flags", "op": "add", "operation": "add", "flag": "read", "messages": [ids[1]],
        "all": false,
    });
    queues[1].expect(&[not_unread, event(json!(["read"]))]).await;
    queues[2].expect_nothing().await;
    queues[3].expect(&[deleted(&ids, shed)]).await;
    assert_unseen(&guest, ids[0]).await;
    assert_eq!(message(&old, ids[1]).await["flags"], json!(["read", "historical"]));
    assert_eq!(message(&both, ids[1]).await["flags"], json!([]));
    assert_eq!(message(&new, ids[1]).await["flags"], json!(["read", "historical"]));
}

// conformance: move-54
#[tokio::test]
async fn to_a_channel_where_only_receivers_read() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let vault = crate::channels::private_channel(&owner, "vault").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = owner.send(garden, "lunch", "one").await;
    subscribe(&owner, "vault", &[&ada, &bob]).await;
    edit(&owner, id, json!({"stream_id": vault})).await.ok();
    assert_eq!(message(&ada, id).await["flags"], json!([]));
    assert_eq!(message(&bob, id).await["flags"], json!(["read"]), "received with the move");
    let cleo = server.member("cleo").await;
    subscribe(&owner, "vault", &[&cleo]).await;
    assert_unseen(&cleo, id).await;
}

// conformance: flag-46
#[tokio::test]
async fn moved_message_events_reproduce_state() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (both, old) = (server.member("both").await, server.member("old").await);
    subscribe(&owner, "garden", &[&both, &old]).await;
    subscribe(&owner, "shed", &[&both]).await;
    let mut ids = Vec::new();
    for content in ["one", "two @**all**", "three"] {
        ids.push(both.send(garden, "lunch", content).await);
    }
    server
        .check_state_sync(&[&owner, &both, &old], async || {
            edit(&owner, ids[1], json!({"topic": "tea", "propagate_mode": "change_later"})).await.ok();
            edit(&owner, ids[0], json!({"stream_id": shed, "topic": "tools"})).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&owner, &both, &old], async || {
            edit(&owner, ids[0], json!({"stream_id": garden})).await.ok();
            let resolve = json!({"topic": "✔ tea", "propagate_mode": "change_all"});
            owner.patch(&format!("/messages/{}", ids[2]), resolve).await.ok();
        })
        .await;
}

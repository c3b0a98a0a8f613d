//! `GET /messages/{message_id}/read_receipts`.

use super::{Place, subscribe};
use crate::harness::Client;
use serde_json::{Value, json};

async fn receipts(client: &Client, id: i64) -> Value {
    client.get(&format!("/messages/{id}/read_receipts"), ()).await.ok()["user_ids"].clone()
}

// conformance: receipt-1, receipt-3, receipt-4, receipt-5, receipt-9, receipt-10, receipt-11
#[tokio::test]
async fn read_receipts_list_readers() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    subscribe(&owner, "garden", &[&ada, &bob, &cleo]).await;
    let id = owner.send(garden, "lunch", "hi").await;
    assert_eq!(receipts(&ada, id).await, json!([]));
    let read = json!({"op": "add", "flag": "read", "messages": [id]});
    for client in [&owner, &cleo, &ada] {
        client.post("/messages/flags", &read).await.ok();
    }
    assert_eq!(receipts(&bob, id).await, json!([ada.user_id, cleo.user_id]), "never the sender");
    cleo.patch("/settings", json!({"send_read_receipts": false})).await.ok();
    assert_eq!(receipts(&bob, id).await, json!([ada.user_id]));
    let unread = json!({"op": "remove", "flag": "read", "messages": [id]});
    ada.post("/messages/flags", unread).await.ok();
    assert_eq!(receipts(&bob, id).await, json!([]));
    let direct = owner.send_direct(&[&bob], "psst").await;
    let read = json!({"op": "add", "flag": "read", "messages": [direct]});
    bob.post("/messages/flags", read).await.ok();
    assert_eq!(receipts(&owner, direct).await, json!([bob.user_id]));
    let unseen = owner.send(shed, "lunch", "hi").await;
    for (client, id) in [(&ada, direct), (&ada, unseen), (&ada, 9999)] {
        let answer = client.get(&format!("/messages/{id}/read_receipts"), ()).await;
        answer.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    server.set_realm_setting("enable_read_receipts", json!(false)).await;
    let off = ada.get(&format!("/messages/{id}/read_receipts"), ()).await;
    off.error(400, "BAD_REQUEST", "Read receipts are disabled in this organization.");
}

// conformance: receipt-1, receipt-2, receipt-3, receipt-6
#[tokio::test]
async fn partial_subscribers_include_bots_and_the_caller() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let bot = server.bot("robot", &ada).await;
    subscribe(&owner, "garden", &[&ada, &bob, &cleo, &bot]).await;
    let id = owner.send(garden, "lunch", "hi").await;
    let read = json!({"op": "add", "flag": "read", "messages": [id]});
    for client in [&ada, &bob, &cleo, &bot] {
        client.post("/messages/flags", &read).await.ok();
    }
    let mut expected = [ada.user_id, bob.user_id, cleo.user_id, bot.user_id];
    expected.sort_unstable();
    assert_eq!(receipts(&ada, id).await, json!(expected), "the caller and bots too");
    owner.delete(&format!("/users/{}", cleo.user_id), ()).await.ok();
    let mut active = [ada.user_id, bob.user_id, bot.user_id];
    active.sort_unstable();
    assert_eq!(receipts(&ada, id).await, json!(active), "nobody who was deactivated");
    // A user who joined later has not received the message, so has not read it.
    let dan = server.member("dan").await;
    subscribe(&owner, "garden", &[&dan]).await;
    dan.post("/messages/flags", &read).await.ok();
    assert_eq!(receipts(&ada, id).await, json!(active));
    let own = ada.send(garden, "lunch", "mine").await;
    let read = json!({"op": "add", "flag": "read", "messages": [own]});
    ada.post("/messages/flags", &read).await.ok();
    assert_eq!(receipts(&ada, own).await, json!([]), "never the sender, also to themselves");
}

//! `GET /messages/{message_id}/read_receipts`.

use super::{Place, say, subscribe};
use crate::channels::set_realm_setting;
use crate::harness::Client;
use serde_json::{Value, json};

async fn receipts(client: &Client, id: i64) -> Value {
    client.get(&format!("/messages/{id}/read_receipts"), ()).await.ok()["user_ids"].clone()
}

#[tokio::test]
async fn who_has_read_a_message_and_says_so() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    subscribe(&owner, "garden", &[&ada, &bob, &cleo]).await;
    let id = say(&owner, garden, "lunch", "hi").await;
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
    let direct = json!({"type": "direct", "to": [bob.user_id], "content": "psst"});
    let direct = owner.post("/messages", direct).await.ok()["id"].as_i64().unwrap();
    let read = json!({"op": "add", "flag": "read", "messages": [direct]});
    bob.post("/messages/flags", read).await.ok();
    assert_eq!(receipts(&owner, direct).await, json!([bob.user_id]));
    let unseen = say(&owner, shed, "lunch", "hi").await;
    for (client, id) in [(&ada, direct), (&ada, unseen), (&ada, 9999)] {
        let answer = client.get(&format!("/messages/{id}/read_receipts"), ()).await;
        answer.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    set_realm_setting(&server, "enable_read_receipts", json!(false)).await;
    let off = ada.get(&format!("/messages/{id}/read_receipts"), ()).await;
    off.error(400, "BAD_REQUEST", "Read receipts are disabled in this organization.");
}

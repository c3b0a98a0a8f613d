//! `POST /realm/deactivate`, and the way back.

use crate::harness::{START, TestServer};
use serde_json::json;
use teamchat::commands::Command;
use teamchat::types::Role;

// conformance: realm-16
#[tokio::test]
async fn deactivated_organizations_refuse_logins() {
    let server = TestServer::start().await;
    let (owner, ada) =
        (server.owner().await, server.user("ada", Role::Member, None, Some("correct horse")).await);
    let mut queue = ada.register(json!({"event_types": ["realm"]})).await;
    queue.ignore();
    let waiting = queue.waiting_poll().await;
    let (answer, closed) = tokio::join!(waiting, owner.post("/realm/deactivate", ()));
    closed.ok();
    let mut event = answer.ok()["events"][0].clone();
    event.as_object_mut().unwrap().remove("id");
    assert_eq!(event, json!({"type": "realm", "op": "deactivated", "realm_id": 1}));
    let msg = "This organization has been deactivated";
    for refused in [
        ada.get("/users/me", ()).await,
        owner.patch("/realm", json!({"name": "x"})).await,
        ada.get("/events", queue.poll(true)).await,
    ] {
        refused.error(401, "UNAUTHORIZED", msg);
    }
    let login = json!({"username": ada.email, "password": "correct horse"});
    ada.post("/fetch_api_key", login).await.error(401, "REALM_DEACTIVATED", msg);
    server.command(Command::ReactivateRealm).await;
    ada.get("/users/me", ()).await.ok();
}

// conformance: realm-16
#[tokio::test]
async fn deactivated_organizations_delay_due_messages() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let message = json!({"type": "direct", "to": [owner.user_id], "content": "later",
        "scheduled_delivery_timestamp": START + 60});
    owner.post("/scheduled_messages", message).await.ok();
    let id = owner.send_direct(&[&owner], "remember").await;
    let reminder = json!({"message_id": id, "scheduled_delivery_timestamp": START + 60});
    owner.post("/reminders", reminder).await.ok();
    owner.post("/realm/deactivate", ()).await.ok();
    server.clock.advance(61);
    server.deliver_due().await;
    assert_eq!(server.column("SELECT count(*) FROM message").await, ["1"]);
    server.command(Command::ReactivateRealm).await;
    server.deliver_due().await;
    assert_eq!(server.column("SELECT count(*) FROM message").await, ["3"]);
}

// conformance: realm-17
#[tokio::test]
async fn only_owners_close_it() {
    let server = TestServer::start().await;
    let admin = server.administrator("admin").await;
    let refused = admin.post("/realm/deactivate", ()).await;
    refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    admin.get("/users/me", ()).await.ok();
}

#[tokio::test]
async fn nothing_is_deleted_later() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let msg = "This server does not delete the data of an organization. Its operator can delete the file.";
    for days in [0, 14] {
        let answer = owner.post("/realm/deactivate", json!({"deletion_delay_days": days})).await;
        answer.error(400, "BAD_REQUEST", msg);
    }
    owner.get("/users/me", ()).await.ok();
    let kept = json!({"deletion_delay_days": null, "deactivation_reason": "owner_request"});
    owner.post("/realm/deactivate", kept).await.ok();
}

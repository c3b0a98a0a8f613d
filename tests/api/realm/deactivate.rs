//! `POST /realm/deactivate`, and the way back.

use crate::harness::TestServer;
use serde_json::json;
use teamchat::api::command_line::Command;
use teamchat::types::Role;

#[tokio::test]
async fn a_closed_organization_lets_nobody_in_until_it_is_opened() {
    let server = TestServer::start().await;
    let (owner, ada) =
        (server.owner().await, server.user("ada", Role::Member, None, Some("correct horse")).await);
    let mut queue = ada.register(json!({"event_types": ["realm"]})).await;
    queue.ignore();
    let poll = queue.wait();
    let close = async { owner.post("/realm/deactivate", ()).await.ok() };
    let (events, _) = tokio::join!(poll, close);
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!((&event["op"], &event["realm_id"]), (&json!("deactivated"), &json!(1)));
    let msg = "This organization has been deactivated";
    for refused in [
        ada.get("/users/me", ()).await,
        owner.patch("/realm", json!({"name": "x"})).await,
        ada.get("/events", queue.poll(true)).await,
        ada.post("/fetch_api_key", json!({"username": ada.email, "password": "correct horse"})).await,
    ] {
        refused.error(401, "REALM_DEACTIVATED", msg);
    }
    server.command(Command::ReactivateRealm).await;
    ada.get("/users/me", ()).await.ok();
}

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
    let answer = owner.post("/realm/deactivate", json!({"deletion_delay_days": 14})).await;
    answer.ok_ignoring(&["deletion_delay_days"]);
}

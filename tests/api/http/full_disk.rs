//! A full disk: changes are refused with an error, reading continues, and no restart is needed.

use crate::harness::TestServer;
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::app::{Options, Overrides};
use teamchat::commands::Command;
use teamchat::store::StoreError;

// conformance: conv-26
#[tokio::test]
async fn a_full_disk_refuses_changes_and_nothing_else() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["realm_user"]})).await;
    let limit = |pages: i64| {
        server.app().writer.run(move |tx| -> Result<(), StoreError> {
            Ok(tx.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
        })
    };
    limit(1).await.unwrap();
    let narrow = json!(vec![("topic", "\u{1f600}".repeat(100)); 10]).to_string();
    let parameters = [("narrow", narrow.as_str()), ("fetch_event_types", "[]")];
    let msg = "The server could not save this change: its disk is full";
    for _ in 0..3 {
        ada.post("/register", &parameters).await.error(507, "INTERNAL_SERVER_ERROR", msg);
    }
    assert_eq!(server.app().hub.len(), 1, "a queue that is not in the file is not in memory either");
    ada.get("/users/me", ()).await.ok();
    queue.expect_nothing().await;
    limit(1 << 30).await.unwrap();
    ada.post("/register", &parameters).await.ok();
    server.member("bob").await;
    queue.expect_kinds(&["realm_user/add"]).await;
}

// conformance: conv-62
#[tokio::test]
async fn disk_reserve_is_for_deletions() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    let id = ada.send(general, "soup", "hello").await;
    let draft = json!({"type": "stream", "to": [general], "topic": "a", "content": "b"});
    let made = ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
    let options = Options {
        overrides: Overrides { disk_reserve_mib: Some(u64::MAX >> 20), ..Overrides::default() },
        ..Options::default()
    };
    let server = server.with_options(options).await;
    let health = server.anonymous().request_outside(Method::GET, "/health").send().await.ok();
    assert_eq!(health["warnings"], json!(["The disk is almost full: changes are refused."]));
    let status = server.command(Command::Status).await;
    let warning =
        status["warnings"].as_array().unwrap().iter().find(|text| text.to_string().contains("disk"));
    let warning = warning.and_then(Value::as_str).unwrap_or_default();
    assert!(warning.contains(" MiB left, and changes are refused: free some space"), "{status}");
    let msg = "The server could not save this change: its disk is almost full";
    let message = json!({"type": "stream", "to": general, "topic": "soup", "content": "more"});
    for client in [&owner, &ada] {
        client.post("/messages", &message).await.error(507, "INTERNAL_SERVER_ERROR", msg);
    }
    let edit = json!({"content": "longer than before"});
    ada.patch(&format!("/messages/{id}"), edit).await.error(507, "INTERNAL_SERVER_ERROR", msg);
    // Reading, logging in, marking as read and deleting continue.
    let mut queue = owner.register(json!({"event_types": ["delete_message"]})).await;
    owner.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "read"})).await.ok();
    owner.delete(&format!("/messages/{id}"), ()).await.ok();
    queue.expect_kinds(&["delete_message"]).await;
    ada.delete(&format!("/drafts/{}", made["ids"][0]), ()).await.ok();
    owner.patch("/realm", json!({"message_retention_days": 30})).await.ok();
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
}

//! A full disk: changes are refused in words, reading goes on, and nothing has to be started again.

use crate::harness::TestServer;
use serde_json::json;
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
    let narrow = json!(vec![("topic", "x".repeat(1000)); 10]).to_string();
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

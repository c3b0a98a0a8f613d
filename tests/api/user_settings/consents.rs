//! Consents to exports of private data.

use crate::harness::TestServer;
use serde_json::json;

// conformance: setting-6
#[tokio::test]
async fn administrators_list_consents() {
    let server = TestServer::start().await;
    let (admin, ada, bob) =
        (server.administrator("admin").await, server.member("ada").await, server.member("bob").await);
    server.bot("robot", &ada).await;
    ada.patch("/settings", json!({"allow_private_data_export": true})).await.ok();
    bob.patch("/settings", json!({"allow_private_data_export": true})).await.ok();
    bob.patch("/settings", json!({"allow_private_data_export": false})).await.ok();
    let consents = admin.get("/export/realm/consents", ()).await.ok();
    let expected = json!([
        {"user_id": admin.user_id, "consented": false},
        {"user_id": ada.user_id, "consented": true},
        {"user_id": bob.user_id, "consented": false},
    ]);
    assert_eq!(consents["export_consents"], expected);
    let refused = ada.get("/export/realm/consents", ()).await;
    refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
}

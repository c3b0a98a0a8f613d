//! The event `restart`, after an upgrade.

use crate::harness::TestServer;
use serde_json::json;

#[tokio::test]
async fn new_versions_emit_one_restart_event() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["restart"]})).await;
    server.restart().await;
    queue.expect_nothing().await;
    server.sql("UPDATE realm SET server_version = '0.0.1'").await;
    server.restart().await;
    let version = ada.get("/server_settings", ()).await.ok()["zulip_version"].clone();
    queue
        .expect(&[json!({"type": "restart", "zulip_version": version, "zulip_merge_base": version,
            "zulip_feature_level": 421, "server_generation": "*"})])
        .await;
    server.restart().await;
    queue.expect_nothing().await;
}

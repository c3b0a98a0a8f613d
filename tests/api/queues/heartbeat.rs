//! Heartbeats: a poll that waits hears in time that the server is there.

use crate::harness::TestServer;
use serde_json::json;
use std::time::Duration;
use teamchat::app::Options;

#[tokio::test]
async fn a_quiet_queue_hears_a_heartbeat_whatever_its_types() {
    let options = Options { heartbeat: Some(Duration::ZERO), ..Options::default() };
    let mut server = TestServer::start_with(options).await;
    let ada = server.member("ada").await;
    let mut quiet = ada.register(json!({"event_types": []})).await;
    let mut other = ada.register(()).await;
    let mut last = quiet.last_event_id;
    for _ in 0..3 {
        let events = quiet.wait().await;
        assert_eq!(events, [json!({"id": quiet.last_event_id, "type": "heartbeat"})]);
        assert!(quiet.last_event_id > last, "a heartbeat takes a number");
        last = quiet.last_event_id;
    }
    quiet.expect_nothing().await;
    other.expect_nothing().await;
    server.crash().await;
    let events = quiet.wait().await;
    assert_eq!(events[0]["type"], "heartbeat");
    assert!(quiet.last_event_id > last, "a number is not used again, also if nothing was stored under it");
    quiet.expect_nothing().await;
}

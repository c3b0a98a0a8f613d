//! Heartbeats: a waiting poll is answered before clients and proxies time out.

use crate::harness::TestServer;
use serde_json::json;
use std::time::Duration;
use teamchat::app::{Options, Overrides};

// conformance: queue-4
#[tokio::test]
async fn idle_polls_receive_heartbeats() {
    // The one poll has waited long enough at once, the other wakes up when it has.
    for heartbeat in [Duration::ZERO, Duration::from_millis(1)] {
        hear_heartbeats(heartbeat).await;
    }
}

async fn hear_heartbeats(heartbeat: Duration) {
    let options = Options {
        overrides: Overrides { heartbeat: Some(heartbeat), ..Overrides::default() },
        ..Options::default()
    };
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

// conformance: queue-12
#[tokio::test]
async fn registration_parameters_create_a_queue_at_the_first_poll() {
    let options = Options {
        overrides: Overrides { heartbeat: Some(Duration::ZERO), ..Overrides::default() },
        ..Options::default()
    };
    let server = TestServer::start_with(options).await;
    let ada = server.member("ada").await;
    let parameters = [
        json!({"event_types": ["message"]}),
        json!({"fetch_event_types": ["message"]}),
        json!({"apply_markdown": true}),
        json!({"client_gravatar": true}),
        json!({"include_subscribers": "partial"}),
        json!({"slim_presence": true}),
        json!({"presence_history_limit_days": 1}),
        json!({"all_public_streams": true}),
        json!({"narrow": []}),
        json!({"client_capabilities": {}}),
    ];
    for (number, parameters) in parameters.iter().enumerate() {
        let answer = ada.get("/events", parameters).await.ok();
        assert_eq!(answer["events"][0]["type"], "heartbeat", "{parameters}");
        assert!(answer["queue_id"].is_string(), "{parameters}");
        assert_eq!(server.app().hub.len(), number + 1, "{parameters}");
    }
}

/// Clients give up after 90 seconds, and some health checks after 50.
// conformance: queue-4
#[tokio::test]
async fn heartbeats_come_between_45_and_50_seconds() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["drafts"]})).await;
    // The clock passes while the poll waits; it looks at the clock when it is woken.
    let pass = async |seconds: i64| {
        server.clock.advance(seconds);
        server.app().hub.wake_all();
    };
    let waiting = queue.waiting_poll().await;
    let early = async {
        pass(44).await;
        server.ping(&[&ada], 1, true).await;
    };
    let (answer, ()) = tokio::join!(waiting, early);
    let events = answer.ok()["events"].clone();
    assert_eq!(events, json!([{"id": events[0]["id"], "type": "drafts", "op": "remove", "draft_id": 1}]));
    queue.last_event_id = events[0]["id"].as_i64().unwrap();

    let waiting = queue.waiting_poll().await;
    let (answer, ()) = tokio::join!(waiting, pass(50));
    let events = answer.ok()["events"].clone();
    assert_eq!(events, json!([{"id": events[0]["id"], "type": "heartbeat"}]));
    queue.last_event_id = events[0]["id"].as_i64().unwrap();
}

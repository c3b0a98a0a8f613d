//! `POST /register`: parameters and errors. The tests of each resource cover its part of the state.

use crate::harness::TestServer;
use serde_json::{Value, json};

// conformance: queue-24, queue-25
#[tokio::test]
async fn state_has_requested_parts() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let fields = async |parameters: Value| -> Vec<String> {
        let mut queue = ada.register(parameters).await;
        queue.ignore();
        let state = queue.state.as_object().unwrap();
        state
            .keys()
            .filter(|name| name.starts_with("realm_users") || *name == "max_message_id")
            .cloned()
            .collect()
    };
    assert_eq!(fields(json!({})).await.len(), 2);
    assert_eq!(fields(json!({"event_types": ["realm_user"]})).await, ["realm_users"]);
    assert_eq!(fields(json!({"fetch_event_types": ["message"]})).await, ["max_message_id"]);
    assert_eq!(
        fields(json!({"event_types": ["message"], "fetch_event_types": ["realm_user"]})).await,
        ["realm_users"]
    );
    assert_eq!(fields(json!({"event_types": ["no such type"]})).await, [""; 0]);
}

// conformance: conv-36, queue-23
#[tokio::test]
async fn versions_and_queue_are_always_returned() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    let queue = ada.register(json!({"fetch_event_types": []})).await;
    for prefix in ["zulip", "svc"] {
        for field in ["version", "feature_level", "merge_base"] {
            let name = format!("{prefix}_{field}");
            assert!(!settings[&name].is_null(), "{name}");
            assert_eq!(queue.state[&name], settings[&name], "{name}");
        }
    }
    assert_eq!(queue.state["svc_feature_level"], 421);
}

// conformance: fetch-104, queue-14, queue-29, queue-31, queue-32, queue-34
#[tokio::test]
async fn registering_fails_as_published() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let guest = server.guest("guest").await;
    let cases = [
        (json!({"narrow": [["near", "5"]]}), "Operator near not supported."),
        (json!({"narrow": [["channel", "x"], ["is", "followed"]]}), "Operand followed not supported."),
        (json!({"narrow": "all"}), "narrow is not valid JSON"),
        (json!({"narrow": {}}), "narrow is not a list"),
        (json!({"event_types": "message"}), "event_types is not valid JSON"),
        (json!({"event_types": [1]}), "event_types[0] is not a string"),
        (json!({"event_types": {}}), "event_types is not a list"),
        (json!({"fetch_event_types": 1}), "fetch_event_types is not a list"),
        (json!({"apply_markdown": 1}), "apply_markdown is not a boolean"),
        (json!({"apply_markdown": "yes"}), "apply_markdown is not valid JSON"),
        (json!({"client_capabilities": []}), "client_capabilities is not a dict"),
        (
            json!({"client_capabilities": {"bulk_message_deletion": 1}}),
            "client_capabilities[\"bulk_message_deletion\"] is not a boolean",
        ),
        (json!({"include_subscribers": "some"}), "include_subscribers is not a boolean"),
    ];
    for (parameters, msg) in cases {
        ada.post("/register", &parameters).await.error(400, "BAD_REQUEST", msg);
        let by_polling = ada.get("/events", &parameters).await;
        by_polling.error(400, "BAD_REQUEST", msg);
    }
    let refused = guest.post("/register", &[("all_public_streams", "true")]).await;
    refused.error(400, "BAD_REQUEST", "User not authorized for this query");
    assert_eq!(server.app().hub.len(), 0, "a refused registration leaves no queue");
    assert_eq!(server.column("SELECT queue_id FROM event_queue").await, [""; 0]);
    let answer = server.anonymous().post("/register", ()).await;
    answer.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
}

// conformance: queue-33
#[tokio::test]
async fn capabilities_that_the_server_does_not_know_are_accepted() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let capabilities = json!({"client_capabilities": {"levitation": true, "archived_channels": true}});
    ada.post("/register", &capabilities).await.ok();
    assert_eq!(server.app().hub.len(), 1);
}

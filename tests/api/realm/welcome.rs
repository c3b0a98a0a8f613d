//! The Welcome Bot's greeting.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// What somebody has received, the oldest first.
async fn received(client: &Client) -> Vec<Value> {
    let fetch = json!({"anchor": "newest", "num_before": 10, "num_after": 0, "apply_markdown": false});
    client.get("/messages", fetch).await.ok()["messages"].as_array().unwrap().clone()
}

// conformance: realm-15
#[tokio::test]
async fn new_people_are_greeted_with_the_text_of_the_organization() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let before = server.member("before").await;
    owner.patch("/realm", json!({"welcome_message_custom_text": "Mind the **roses**."})).await.ok();
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let robot = server.bot("robot", &owner).await;
    for client in [&ada, &guest] {
        let messages = received(client).await;
        assert_eq!(messages.len(), 1, "{}", client.full_name);
        assert_eq!(messages[0]["content"], "Mind the **roses**.");
        assert_eq!(messages[0]["sender_email"], "welcome-bot@zulip.com");
        assert_eq!((&messages[0]["type"], &messages[0]["flags"]), (&json!("private"), &json!([])));
    }
    for client in [&before, &robot] {
        assert_eq!(received(client).await, Vec::<Value>::new(), "{}", client.full_name);
    }
    owner.patch("/realm", json!({"welcome_message_custom_text": ""})).await.ok();
    let later = server.member("later").await;
    assert_eq!(received(&later).await, Vec::<Value>::new());
}

// conformance: realm-15
#[tokio::test]
async fn administrators_try_a_greeting_on_themselves() {
    let server = TestServer::start().await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    let mut queue = admin.register(json!({"event_types": ["message", "realm"]})).await;
    let mut other = ada.register(json!({"event_types": ["message", "realm"]})).await;
    let path = "/realm/test_welcome_bot_custom_message";
    let text = json!({"welcome_message_custom_text": "Mind the **roses**."});
    let id = admin.post(path, &text).await.ok()["message_id"].clone();
    let events = queue.expect_kinds(&["message"]).await;
    assert_eq!(events[0]["message"]["id"], id);
    assert_eq!(events[0]["message"]["content"], "Mind the **roses**.");
    other.expect_nothing().await;
    for (wrong, msg) in [
        (String::new(), "Message must not be empty"),
        ("x".repeat(8001), "welcome_message_custom_text is too long (limit: 8000 characters)"),
    ] {
        let refused = admin.post(path, json!({"welcome_message_custom_text": wrong})).await;
        refused.error(400, "BAD_REQUEST", msg);
    }
    let missing = admin.post(path, ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'welcome_message_custom_text' argument");
    let refused = ada.post(path, &text).await;
    refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
}

//! The Welcome Bot's greeting.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use teamchat::scheduler;

/// Messages received by a user, the oldest first.
async fn received(client: &Client) -> Vec<Value> {
    let fetch = json!({"anchor": "newest", "num_before": 10, "num_after": 0, "apply_markdown": false});
    client.get("/messages", fetch).await.ok()["messages"].as_array().unwrap().clone()
}

/// Creates an account as administrators do. Returns when the greeting is complete.
async fn create(server: &TestServer, owner: &Client, name: &str) -> Client {
    let new = json!({"email": format!("{name}@example.com"), "full_name": name, "password": "correct horse"});
    let user_id = owner.post("/users", new).await.ok()["user_id"].as_i64().unwrap();
    scheduler::settle(server.app()).await;
    let login = json!({"username": format!("{name}@example.com"), "password": "correct horse"});
    let login = server.anonymous().post("/fetch_api_key", login).await.ok();
    let mut client = server.anonymous();
    client.user_id = user_id;
    client.email = format!("{name}@example.com");
    client.api_key = login["api_key"].as_str().map(str::to_owned);
    client
}

// conformance: realm-15
#[tokio::test]
async fn new_people_are_greeted_also_with_the_text_of_the_organization() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let before = create(&server, &owner, "before").await;
    owner.patch("/realm", json!({"welcome_message_custom_text": "Mind the **roses**."})).await.ok();
    let ada = create(&server, &owner, "ada").await;
    let robot = owner.post("/bots", json!({"full_name": "robot", "short_name": "robot"})).await.ok();
    for (client, count) in [(&before, 1), (&ada, 2)] {
        let messages = received(client).await;
        assert_eq!(messages.len(), count);
        let greeting = messages[0]["content"].as_str().unwrap();
        assert!(greeting.starts_with("Hello, and welcome to **Team chat**!"), "{greeting}");
        assert_eq!(messages[0]["sender_email"], "welcome-bot@zulip.com");
        assert_eq!((&messages[0]["type"], &messages[0]["flags"]), (&json!("private"), &json!([])));
    }
    assert_eq!(received(&ada).await[1]["content"], "Mind the **roses**.");
    let of_robot =
        "SELECT count(*) FROM direct_participant WHERE user_id = ".to_owned() + &robot["user_id"].to_string();
    assert_eq!(server.column(&of_robot).await, ["0"]);
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

#[tokio::test]
async fn welcome_text_uses_the_access_of_its_reader() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let open = crate::channels::channel(&owner, "garden").await;
    crate::channels::private_channel(&owner, "layoffs").await;
    let text = "See #**garden**, not #**layoffs**.";
    owner.patch("/realm", json!({"welcome_message_custom_text": text})).await.ok();
    let ada = create(&server, &owner, "ada").await;
    let request = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["is", "dm"]]});
    let found = ada.get("/messages", request).await.ok();
    let link = format!(
        "<a class=\"stream\" data-stream-id=\"{open}\" href=\"/#narrow/channel/{open}-garden\">#garden</a>"
    );
    assert_eq!(found["messages"][0]["content"], format!("<p>See {link}, not #<strong>layoffs</strong>.</p>"));
}

//! `POST /external/json`.

use crate::harness::{Answer, Client, TestServer};
use hyper::Method;
use serde_json::{Value, json};

/// A bot that only delivers; answers its key.
async fn key(owner: &Client) -> String {
    let params =
        json!({"full_name": "Deliverer", "short_name": "deliverer", "bot_type": 2, "service_name": "json"});
    owner.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned()
}

async fn tell(server: &TestServer, query: Value, body: &str) -> Answer {
    let request = server.anonymous().request(Method::POST, "/external/json").query(query);
    request.body("application/json", body.to_owned()).send().await
}

async fn newest(client: &Client) -> Value {
    let fetch = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": false});
    client.get("/messages", fetch).await.ok()["messages"][0].clone()
}

#[tokio::test]
async fn json_is_shown_in_a_channel_or_to_the_owner() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let api_key = key(&ada).await;
    let body = r#"{"b":[1,"```"],"a":null}"#;
    let shown = "````json\n{\n  \"b\": [\n    1,\n    \"```\"\n  ],\n  \"a\": null\n}\n````";
    tell(&server, json!({"api_key": api_key, "stream": "general"}), body).await.ok();
    let message = newest(&ada).await;
    assert_eq!((&message["content"], &message["subject"]), (&json!(shown), &json!("JSON")));
    assert_eq!((&message["stream_id"], &message["client"]), (&json!(general), &json!("ZulipJSONWebhook")));
    tell(&server, json!({"api_key": api_key, "stream": general, "topic": "builds"}), "1").await.ok();
    let message = newest(&ada).await;
    assert_eq!((&message["content"], &message["subject"]), (&json!("```json\n1\n```"), &json!("builds")));
    tell(&server, json!({"api_key": api_key}), "\"hi\"").await.ok();
    let message = newest(&ada).await;
    assert_eq!((&message["type"], &message["content"]), (&json!("private"), &json!("```json\n\"hi\"\n```")));
    assert_eq!(message["sender_full_name"], "Deliverer");
}

#[tokio::test]
async fn what_cannot_be_delivered_is_refused() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.private_channel("secret", &[&owner]).await;
    let api_key = key(&ada).await;
    let missing = tell(&server, json!({}), "1").await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'api_key' argument");
    tell(&server, json!({"api_key": "x"}), "1").await.error(401, "INVALID_API_KEY", "Malformed API key");
    let unknown = "0".repeat(32);
    tell(&server, json!({"api_key": unknown}), "1").await.error(401, "INVALID_API_KEY", "Invalid API key");
    for body in ["", "{", "hello"] {
        tell(&server, json!({"api_key": api_key}), body).await.error(400, "INVALID_JSON", "Malformed JSON");
    }
    let nowhere = tell(&server, json!({"api_key": api_key, "stream": "nowhere"}), "1").await;
    nowhere.error(400, "STREAM_DOES_NOT_EXIST", "Channel 'nowhere' does not exist");
    let secret = tell(&server, json!({"api_key": api_key, "stream": "secret"}), "1").await;
    secret.error(400, "BAD_REQUEST", "Not authorized to send to channel 'secret'");
    let other =
        server.anonymous().request(Method::POST, "/external/nothing").query(json!({"api_key": api_key}));
    other.body("application/json", "1").send().await.error(404, "BAD_REQUEST", "Not found");
    ada.delete(&format!("/bots/{}", ada.user_id + 1), ()).await.ok();
    tell(&server, json!({"api_key": api_key}), "1").await.error(
        401,
        "USER_DEACTIVATED",
        "Account is deactivated",
    );
}

#[tokio::test]
async fn bots_that_only_deliver_may_send_and_nothing_else() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut bot = server.anonymous();
    bot.api_key = Some(key(&ada).await);
    bot.email = ada.get("/bots", ()).await.ok()["bots"][0]["username"].as_str().unwrap().to_owned();
    let message = json!({"type": "direct", "to": [ada.user_id], "content": "built"});
    bot.post("/messages", message).await.ok();
    let msg = "This API is not available to incoming webhook bots.";
    bot.get("/messages", json!({"anchor": "newest"})).await.error(400, "BAD_REQUEST", msg);
    bot.post("/register", ()).await.error(400, "BAD_REQUEST", msg);
    bot.get("/users/me", ()).await.error(400, "BAD_REQUEST", msg);
}

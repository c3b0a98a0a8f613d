//! `/bot_storage`.

use crate::harness::{Client, TestServer};
use hyper::Method;
use serde_json::json;
use teamchat::domain::limits::MAX_BOT_STORAGE_KEYS;

#[tokio::test]
async fn texts_are_kept_by_name_for_each_bot() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (bot, other) = (server.bot("helper", &owner).await, server.bot("other", &owner).await);
    let put = async |storage: serde_json::Value| {
        bot.request(Method::PUT, "/bot_storage").form(json!({ "storage": storage })).send().await
    };
    assert_eq!(bot.get("/bot_storage", ()).await.ok()["storage"], json!({}));
    put(json!({"foo": "{\"count\": 1}", "entry 1": "value 1"})).await.ok();
    put(json!({"foo": "bar", "entry 2": "é"})).await.ok();
    let all = json!({"entry 1": "value 1", "entry 2": "é", "foo": "bar"});
    assert_eq!(bot.get("/bot_storage", ()).await.ok()["storage"], all);
    let some = bot.get("/bot_storage", json!({"keys": ["foo", "entry 2"]})).await.ok();
    assert_eq!(some["storage"], json!({"foo": "bar", "entry 2": "é"}));
    assert_eq!(bot.get("/bot_storage", json!({"keys": []})).await.ok()["storage"], json!({}));
    let answer = bot.get("/bot_storage", json!({"keys": ["foo", "nothing"]})).await;
    answer.error(400, "BAD_REQUEST", "Key does not exist.");
    assert_eq!(other.get("/bot_storage", ()).await.ok()["storage"], json!({}));

    // All or nothing.
    let answer = bot.delete("/bot_storage", json!({"keys": ["foo", "nothing"]})).await;
    answer.error(400, "BAD_REQUEST", "Key does not exist.");
    bot.request(Method::DELETE, "/bot_storage").form(json!({"keys": ["foo"]})).send().await.ok();
    let left = json!({"entry 1": "value 1", "entry 2": "é"});
    assert_eq!(bot.get("/bot_storage", ()).await.ok()["storage"], left);
    bot.delete("/bot_storage", ()).await.ok();
    assert_eq!(bot.get("/bot_storage", ()).await.ok()["storage"], json!({}));
}

#[tokio::test]
async fn the_storage_has_a_limit() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bot = server.bot("helper", &owner).await;
    let put = async |key: &str, length: usize| {
        let storage = json!({ "storage": { key: "x".repeat(length - 1) + "é" } });
        bot.request(Method::PUT, "/bot_storage").form(storage).send().await
    };
    put("ab", 9_999_990).await.ok();
    let msg = "Request exceeds storage limit by 3 characters. The limit is 10000000 characters.";
    put("c", 10).await.error(400, "BAD_REQUEST", msg);
    assert_eq!(bot.get("/bot_storage", json!({"keys": ["ab"]})).await.status, 200);
    bot.get("/bot_storage", json!({"keys": ["c"]})).await.error(400, "BAD_REQUEST", "Key does not exist.");
    // Replaced values do not count.
    put("ab", 5).await.ok();
    put("c", 10).await.ok();
}

/// Values of existing keys can be replaced, also if an import brought more keys.
#[tokio::test]
async fn the_number_of_keys_has_a_limit() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (bot, other) = (server.bot("helper", &owner).await, server.bot("other", &owner).await);
    server
        .sql(&format!(
            "INSERT INTO bot_storage (user_id, key, value)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {})
             SELECT {}, 'k' || number, '' FROM one",
            MAX_BOT_STORAGE_KEYS - 1,
            bot.user_id
        ))
        .await;
    let put = async |client: &Client, storage: serde_json::Value| {
        client.request(Method::PUT, "/bot_storage").form(json!({ "storage": storage })).send().await
    };
    let msg = format!("Too many keys in the storage of bots (limit: {MAX_BOT_STORAGE_KEYS})");
    put(&other, json!({"a": "", "b": ""})).await.error(400, "BAD_REQUEST", &msg);
    put(&other, json!({"a": ""})).await.ok();
    for client in [&bot, &other] {
        put(client, json!({"c": ""})).await.error(400, "BAD_REQUEST", &msg);
    }
    server.sql(&format!("INSERT INTO bot_storage VALUES ({}, 'imported', '')", bot.user_id)).await;
    put(&bot, json!({"imported": "x", "k1": "y"})).await.ok();
}

#[tokio::test]
async fn invalid_text_is_refused() {
    let server = TestServer::start().await;
    let bot = server.bot("helper", &server.owner().await).await;
    let put =
        async |form: serde_json::Value| bot.request(Method::PUT, "/bot_storage").form(form).send().await;
    put(json!({})).await.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'storage' argument");
    put(json!({"storage": "[1"})).await.error(400, "BAD_REQUEST", "storage is not valid JSON");
    put(json!({"storage": {"a": 1}})).await.error(400, "BAD_REQUEST", "storage[\"a\"] is not a string");
    // They would hide the rest of a text from the limit.
    for storage in [json!({"a": "\0x"}), json!({"a": "x", "b\0": "x"})] {
        let refused = put(json!({ "storage": storage })).await;
        refused.error(400, "BAD_REQUEST", "Storage must not contain null bytes");
    }
    assert_eq!(bot.get("/bot_storage", ()).await.ok()["storage"], json!({}));
    bot.get("/bot_storage", &[("keys", "foo")]).await.error(400, "BAD_REQUEST", "keys is not valid JSON");
    server.anonymous().get("/bot_storage", ()).await.error(
        401,
        "UNAUTHORIZED",
        "Not logged in: API authentication or user session required",
    );
}

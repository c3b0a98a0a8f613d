//! Finding messages: fetching, narrows, searches, and flags over narrows. The helpers here send and fetch.

mod combined_narrows;
mod fetch;
mod flags;
mod matches_narrow;
mod narrow;
mod queue_narrow;
mod search;

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Creates channels, or joins them.
pub async fn subscribe(client: &Client, names: &[&str], more: Value) {
    let list: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let mut parameters = more;
    parameters["subscriptions"] = list.into();
    client.post("/users/me/subscriptions", parameters).await.ok();
    client.forget_notices().await;
}

/// A channel's id.
pub async fn stream_id(client: &Client, name: &str) -> i64 {
    client.get("/get_stream_id", &[("stream", name)]).await.ok()["stream_id"].as_i64().unwrap()
}

/// Sends to a channel a message that the sender has read. Returns its id.
pub async fn send(client: &Client, channel: &str, topic: &str, content: &str) -> i64 {
    let parameters = json!({"type": "channel", "to": channel, "topic": topic, "content": content,
        "read_by_sender": true});
    client.post("/messages", parameters).await.ok()["id"].as_i64().unwrap()
}

/// Sends a direct message that the sender has read. Returns its id.
pub async fn send_direct(client: &Client, to: &[&Client], content: &str) -> i64 {
    let ids: Vec<i64> = to.iter().map(|client| client.user_id).collect();
    let parameters = json!({"type": "direct", "to": ids, "content": content, "read_by_sender": true});
    client.post("/messages", parameters).await.ok()["id"].as_i64().unwrap()
}

/// The whole answer of `GET /messages` from the newest back.
pub async fn newest(client: &Client, narrow: Value) -> Value {
    let parameters = json!({"anchor": "newest", "num_before": 100, "num_after": 0, "narrow": narrow});
    client.get("/messages", parameters).await.ok()
}

/// The ids that a narrow finds.
pub async fn found(client: &Client, narrow: Value) -> Vec<i64> {
    ids(&newest(client, narrow).await)
}

/// The ids of the messages of an answer.
pub fn ids(answer: &Value) -> Vec<i64> {
    answer["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect()
}

/// The flags of the one message of an answer.
pub async fn flags(client: &Client, id: i64) -> Value {
    client.get(&format!("/messages/{id}"), ()).await.ok()["message"]["flags"].clone()
}

/// A member who is subscribed to nothing.
pub async fn outsider(server: &TestServer) -> Client {
    server.member("outsider").await
}

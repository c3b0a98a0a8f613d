//! `/scheduled_messages`.

mod create;
mod deliver;
mod update;

use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};

/// An hour after the tests' clocks start.
pub const LATER: i64 = START + 3600;

/// The caller's scheduled messages.
pub async fn scheduled(client: &Client) -> Value {
    client.get("/scheduled_messages", ()).await.ok()["scheduled_messages"].clone()
}

/// Schedules a message, and returns its id.
pub async fn schedule(client: &Client, parameters: Value) -> i64 {
    let made = client.post("/scheduled_messages", parameters).await.ok();
    made["scheduled_message_id"].as_i64().unwrap()
}

/// Parameters of a message to a channel, an hour from the start.
pub fn to_channel(stream_id: i64, content: &str) -> Value {
    json!({"type": "channel", "to": stream_id, "topic": "plans", "content": content,
        "scheduled_delivery_timestamp": LATER})
}

/// Parameters of a message to people, an hour from the start.
pub fn to_people(people: &[i64], content: &str) -> Value {
    json!({"type": "direct", "to": people, "content": content, "scheduled_delivery_timestamp": LATER})
}

/// Advances the clock by seconds, and sends messages that become due.
pub async fn pass(server: &TestServer, seconds: i64) {
    server.clock.advance(seconds);
    server.deliver_due().await;
}

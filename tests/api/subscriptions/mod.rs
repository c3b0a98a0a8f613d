//! Subscriptions.

mod bulk;
mod list;
mod parts;
mod properties;
mod subscribe;
mod unsubscribe;

use crate::harness::{Answer, Client};
use serde_json::{Value, json};

/// Subscribes with `POST /users/me/subscriptions`: one channel, and further parameters.
pub async fn subscribe(client: &Client, name: &str, mut parameters: Value) -> Answer {
    parameters["subscriptions"] = json!([{ "name": name }]);
    client.post("/users/me/subscriptions", parameters).await
}

/// The ids of a channel's subscribers, as a client sees them.
pub async fn members(client: &Client, stream_id: i64) -> Value {
    client.get(&format!("/streams/{stream_id}/members"), ()).await.ok()["subscribers"].clone()
}

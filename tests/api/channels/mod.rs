//! Channels.

mod archive;
mod create;
mod default;
mod email_address;
mod list;
mod notices;
mod update;

use crate::harness::Client;
use serde_json::{Value, json};

/// Creates a channel to which its creator is subscribed, and returns its id.
pub async fn channel(creator: &Client, name: &str) -> i64 {
    channel_with(creator, json!({"name": name, "subscribers": [creator.user_id]})).await
}

/// Creates a private channel to which its creator is subscribed, and returns its id.
pub async fn private_channel(creator: &Client, name: &str) -> i64 {
    let parameters = json!({"name": name, "subscribers": [creator.user_id], "invite_only": true});
    channel_with(creator, parameters).await
}

/// Creates a channel with these parameters of `POST /channels/create`, and returns its id.
pub async fn channel_with(creator: &Client, parameters: Value) -> i64 {
    creator.post("/channels/create", parameters).await.ok()["id"].as_i64().unwrap()
}

/// A channel as a client sees it.
pub async fn seen(client: &Client, stream_id: i64) -> Value {
    client.get(&format!("/streams/{stream_id}"), ()).await.ok()["stream"].clone()
}

/// The names of channels in an answer.
pub fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|stream| stream["name"].as_str().unwrap()).collect()
}

/// The error of a missing permission.
pub const NO_PERMISSION: (u16, &str, &str) = (400, "BAD_REQUEST", "Insufficient permission");

/// The error of unknown and inaccessible channels.
pub const NO_CHANNEL: (u16, &str, &str) = (400, "BAD_REQUEST", "Invalid channel ID");

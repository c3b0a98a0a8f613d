//! Policies for topics.

mod automatic;
mod moved;
mod mute;
mod set;

use crate::harness::{Client, TestServer};
use crate::messages::finding::{stream_id, subscribe};
use serde_json::json;

/// A member with a channel.
async fn lunch(server: &TestServer) -> (Client, i64) {
    let ada = server.member("ada").await;
    subscribe(&ada, &["lunch"], json!({})).await;
    let stream_id = stream_id(&ada, "lunch").await;
    (ada, stream_id)
}

//! Messages.

pub mod bounds;
mod bounds_of_reading;
mod crowds;
mod delete;
mod edit;
mod edited_events;
pub mod finding;
mod flags_in_jobs;
mod follow_up_jobs;
mod history;
mod interrupted_jobs;
mod model;
mod move_permissions;
mod moved_sync;
mod moves;
mod permissions;
mod read_receipts;
mod render;
mod resolve;
mod retention;
mod send;
mod state;
mod sync;
mod visibility_of_moves;

use crate::channels::{channel, private_channel};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Subscribes users to a channel, without a word to them.
pub async fn subscribe(owner: &Client, name: &str, users: &[&Client]) {
    let users: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    let request = json!({
        "subscriptions": [{"name": name}],
        "principals": users,
        "send_new_subscription_messages": false,
    });
    owner.post("/users/me/subscriptions", request).await.ok();
}

/// Changes a message, without a word of the notification bot.
pub async fn edit(by: &Client, id: i64, mut changes: Value) -> crate::harness::Answer {
    changes["send_notification_to_new_thread"] = false.into();
    by.patch(&format!("/messages/{id}"), changes).await
}

/// A message as a client sees it, raw.
pub async fn message(client: &Client, id: i64) -> Value {
    let form = json!({"apply_markdown": false, "allow_empty_topic_name": true});
    client.get(&format!("/messages/{id}"), form).await.ok()["message"].clone()
}

/// Checks the errors for an inaccessible message.
pub async fn assert_unseen(client: &Client, id: i64) {
    let answer = client.get(&format!("/messages/{id}"), ()).await;
    answer.error(400, "BAD_REQUEST", "Invalid message(s)");
}

/// The contents of a topic's messages visible to a user, the oldest first.
pub async fn contents(client: &Client, stream_id: i64, topic: &str) -> Vec<String> {
    let channel = json!({"operator": "channel", "operand": stream_id});
    client.contents(json!([channel, {"operator": "topic", "operand": topic}])).await
}

/// An owner, and two channels of theirs: `garden` is public, `shed` private with shared history.
pub struct Place {
    pub server: TestServer,
    pub owner: Client,
    pub garden: i64,
    pub shed: i64,
}

impl Place {
    pub async fn new() -> Self {
        let server = TestServer::start().await;
        let owner = server.owner().await;
        let (garden, shed) = (channel(&owner, "garden").await, private_channel(&owner, "shed").await);
        owner
            .patch(
                &format!("/streams/{shed}"),
                json!({"is_private": true, "history_public_to_subscribers": true}),
            )
            .await
            .ok();
        Self { server, owner, garden, shed }
    }
}

//! Checks of access that fail: the answer is an error, and not that of a refusal.

use crate::channels::private_channel;
use crate::harness::{Answer, Client, TestServer};
use crate::messages::edit;
use reqwest::Method;
use serde_json::json;

fn assert_failed(answer: Answer) {
    answer.error(500, "INTERNAL_SERVER_ERROR", "Internal server error");
}

/// The messages move to a channel that Bob cannot read, and the row of Bob is damaged.
#[tokio::test]
async fn a_move_deletes_no_flags_of_users_who_cannot_be_loaded() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &bob]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    let id = owner.send(garden, "lunch", "hello").await;
    bob.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "starred"})).await.ok();
    server.sql(&format!("UPDATE user SET bot_type = 99 WHERE user_id = {}", bob.user_id)).await;
    assert_failed(edit(&owner, id, json!({"stream_id": secret})).await);
    let starred = server.column("SELECT user_id FROM user_message_flags WHERE flags & 1").await;
    assert_eq!(starred, [bob.user_id.to_string()]);
}

/// The channel of the message has receipts that cannot be read. The other terms of the narrow name another channel.
#[tokio::test]
async fn a_narrow_with_a_message_that_cannot_be_looked_up_fails() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    let shed = server.channel("shed", &[&ada]).await;
    let id = ada.send(garden, "lunch", "hello").await;
    server
        .sql(&format!(
            "INSERT INTO arrival (recipient_id, message_ids, user_ids)
             SELECT recipient_id, x'00', x'00' FROM recipient WHERE stream_id = {garden}"
        ))
        .await;
    let narrow = json!([["channel", "shed"], ["topic", "tools"], ["with", id.to_string()]]);
    let fetch = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow});
    ada.send(shed, "tools", "hello").await;
    assert_failed(ada.get("/messages", fetch).await);
}

#[tokio::test]
async fn muting_a_topic_of_a_channel_that_cannot_be_checked_fails() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    private_channel(&ada, "shed").await;
    server.sql("ALTER TABLE subscription RENAME TO elsewhere").await;
    let muted = json!({"stream": "shed", "topic": "tools", "op": "add"});
    assert_failed(ada.patch("/users/me/subscriptions/muted_topics", muted).await);
}

/// Ada follows the topics to which she sends, if there is room for a policy.
#[tokio::test]
async fn a_message_to_a_topic_whose_policies_cannot_be_counted_is_not_sent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    ada.patch("/settings", json!({"automatically_follow_topics_policy": 2})).await.ok();
    server.sql("ALTER TABLE user RENAME COLUMN invited_by TO elsewhere").await;
    let message = json!({"type": "channel", "to": garden, "topic": "lunch", "content": "hello"});
    assert_failed(ada.post("/messages", message).await);
    assert_eq!(server.count("message").await, "0");
}

/// More than 15 people are mentioned, so the groups of the bot decide.
#[tokio::test]
async fn a_webhook_whose_mentions_cannot_be_checked_fails() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let people = server.crowd(16).await;
    let everyone: Vec<&Client> = people.iter().chain([&owner]).collect();
    let large = server.channel("large", &everyone).await;
    let api_key = server.webhook_bot("deliverer", &owner).await.api_key.unwrap();
    server.sql("ALTER TABLE user_group_member RENAME TO elsewhere").await;
    let request = server.anonymous().request(Method::POST, "/external/slack_incoming");
    let request = request.query(json!({"api_key": api_key, "stream": large}));
    assert_failed(request.body("application/json", r#"{"text": "<!channel> down"}"#).send().await);
}

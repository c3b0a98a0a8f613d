//! What one request may cost when there are very many messages: the last that is looked at, and the first that is not.

use super::say;
use crate::harness::{Client, TestServer};
use serde_json::json;
use teamchat::domain::limits;

/// Whether a message mentions a user as a participant of the topic.
async fn is_mentioned_as_participant(client: &Client, id: i64) -> bool {
    let flags = client.message(id).await["flags"].clone();
    flags.as_array().unwrap().contains(&json!("topic_wildcard_mentioned"))
}

#[tokio::test]
async fn participants_of_a_topic_are_found_in_its_newest_messages() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada, &bob, &cleo]).await;
    let first = say(&bob, garden, "lunch", "hello").await;
    cleo.post(&format!("/messages/{first}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    let second = say(&ada, garden, "lunch", "hello").await;
    server.add_copies(second, limits::MAX_PARTICIPANT_ROWS - 2).await;
    let last = say(&ada, garden, "lunch", "@**topic**").await;
    assert!(is_mentioned_as_participant(&bob, last).await);
    assert!(is_mentioned_as_participant(&cleo, last).await);
    let beyond = say(&ada, garden, "lunch", "@**topic**").await;
    assert!(is_mentioned_as_participant(&ada, beyond).await);
    assert!(!is_mentioned_as_participant(&bob, beyond).await);
    assert!(!is_mentioned_as_participant(&cleo, beyond).await);
}

//! `PATCH /users/me/subscriptions`.

use super::members;
use crate::channels::channel;
use crate::harness::TestServer;
use serde_json::json;

// conformance: subscribe-22
#[tokio::test]
async fn channels_are_joined_and_left_in_one_request() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (old, other) = (channel(&bob, "old").await, channel(&ada, "other").await);
    let parameters = json!({
        "add": [{"name": "other", "color": "#abcdef"}, {"name": "new", "description": "x"}], "delete": ["old"],
    });
    let answer = bob.patch("/users/me/subscriptions", parameters).await.ok();
    assert_eq!(answer["subscribed"], json!({bob.user_id.to_string(): ["other", "new"]}));
    assert_eq!((&answer["already_subscribed"], &answer["removed"]), (&json!({}), &json!(["old"])));
    assert_eq!(answer["not_removed"], json!([]));
    assert_eq!(members(&ada, old).await, json!([]));
    assert_eq!(members(&ada, other).await, json!([ada.user_id, bob.user_id]));
    let own = bob.get("/users/me/subscriptions", ()).await.ok()["subscriptions"].clone();
    assert_eq!((&own[0]["description"], &own[1]["color"]), (&json!("x"), &json!("#abcdef")));
}

// conformance: subscribe-22, subscribe-23
#[tokio::test]
async fn failed_items_undo_the_whole_request() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["stream", "subscription"]})).await;
    let cases = [
        (json!({}), r#"Nothing to do. Specify at least one of "add" or "delete"."#),
        (json!({"add": [], "delete": []}), r#"Nothing to do. Specify at least one of "add" or "delete"."#),
        (json!({"add": [{"name": "new"}], "delete": ["nowhere"]}), "Channel(s) (nowhere) do not exist"),
        (json!({"add": [{"name": "new", "color": "red"}]}), "add.color is not a valid hex color code"),
        (json!({"add": [{"name": ""}]}), "Channel name can't be empty."),
    ];
    for (parameters, msg) in cases {
        ada.patch("/users/me/subscriptions", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    queue.expect_nothing().await;
}

//! The messages that a queue receives, and their form, by the parameters of `POST /register`.

use crate::harness::{Client, Queue, TestServer};
use serde_json::{Value, json};

/// A queue for new messages.
async fn hear(client: &Client, mut parameters: Value) -> Queue {
    parameters["event_types"] = json!(["message"]);
    client.register(parameters).await
}

/// The ids of the messages that came.
async fn heard(queue: &mut Queue) -> Vec<i64> {
    queue.events().await.iter().map(|event| event["message"]["id"].as_i64().unwrap()).collect()
}

// conformance: queue-30
#[tokio::test]
async fn a_narrow_chooses_among_new_messages() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let garden = server.channel("Garden", &[&ada, &bob]).await;
    let shed = server.channel("shed", &[&ada, &bob]).await;
    let narrows = [
        json!([["channel", "garden"]]),
        json!([["stream", "GARDEN"]]),
        json!([["channel", garden.to_string()]]),
        json!([["topic", "LUNCH"]]),
        json!([["topic", "general chat"]]),
        json!([["channel", "Garden"], ["topic", "lunch"]]),
        json!([["sender", "Bob@example.com"]]),
        json!([["sender", bob.user_id.to_string()]]),
        json!([["is", "dm"]]),
        json!([["is", "private"]]),
        json!([["is", "mentioned"]]),
        json!([["is", "unread"]]),
        json!([["is", "resolved"]]),
        json!([["is", "alerted"]]),
        json!([["is", "starred"]]),
        json!([["is", "muted"]]),
        json!([]),
    ];
    ada.post("/users/me/alert_words", json!({"alert_words": ["soup"]})).await.ok();
    let mut queues = Vec::new();
    for narrow in &narrows {
        queues.push(hear(&ada, json!({"narrow": narrow})).await);
    }
    // A narrow filters only messages.
    let types = json!({"event_types": ["message", "user_status"], "narrow": [["is", "dm"]]});
    let mut other = ada.register(types).await;
    bob.post("/users/me/status", &[("status_text", "here")]).await.ok();
    let lunch = bob.send(garden, "Lunch", "soup").await;
    let general = bob.send(shed, "", "hello").await;
    let own = ada.post(
        "/messages",
        json!({"type": "channel", "to": garden, "topic": "\u{2714} done",
        "content": "hi", "read_by_sender": true}),
    );
    let own = own.await.ok()["id"].as_i64().unwrap();
    let direct = bob.send_direct(&[&ada], "@**Ada** hello").await;
    let expected: [&[i64]; 17] = [
        &[lunch, own],
        &[lunch, own],
        &[lunch, own],
        &[lunch],
        &[general],
        &[lunch],
        &[lunch, general, direct],
        &[lunch, general, direct],
        &[direct],
        &[direct],
        &[direct],
        &[lunch, general, direct],
        &[own],
        &[lunch],
        &[],
        &[lunch, general, own, direct],
        &[lunch, general, own, direct],
    ];
    for ((queue, narrow), expected) in queues.iter_mut().zip(&narrows).zip(expected) {
        assert_eq!(heard(queue).await, expected, "{narrow}");
    }
    other.expect_kinds(&["user_status", "message"]).await;
}

// conformance: queue-29
#[tokio::test]
async fn queues_of_all_public_channels_need_no_subscription() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let public = server.channel("public", &[&bob]).await;
    let secret = server.private_channel("secret", &[&bob]).await;
    let mut all = hear(&ada, json!({"all_public_streams": true})).await;
    let mut own = hear(&ada, json!({"all_public_streams": false})).await;
    let id = bob.send(public, "lunch", "hello").await;
    bob.send(secret, "lunch", "psst").await;
    bob.send_direct(&[&bob], "note").await;
    assert_eq!(heard(&mut all).await, [id]);
    own.expect_nothing().await;
}

// conformance: queue-28
#[tokio::test]
async fn contents_come_as_text_unless_html_is_asked_for() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut by_default = hear(&ada, json!({})).await;
    let mut text = hear(&ada, json!({"apply_markdown": false})).await;
    let mut html = hear(&ada, json!({"apply_markdown": true})).await;
    ada.send_direct(&[&ada], "*hi*").await;
    for (queue, content, content_type) in [
        (&mut by_default, "*hi*", "text/x-markdown"),
        (&mut text, "*hi*", "text/x-markdown"),
        (&mut html, "<p><em>hi</em></p>", "text/html"),
    ] {
        let message = queue.expect_kinds(&["message"]).await[0]["message"].clone();
        assert_eq!((&message["content"], &message["content_type"]), (&json!(content), &json!(content_type)));
    }
}

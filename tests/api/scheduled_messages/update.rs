//! `PATCH` and `DELETE /scheduled_messages/{scheduled_message_id}`.

use super::{LATER, pass, schedule, scheduled, to_channel, to_people};
use crate::harness::{Answer, Client, START, TestServer};
use serde_json::{Value, json};

async fn patch(client: &Client, id: i64, parameters: Value) -> Answer {
    client.patch(&format!("/scheduled_messages/{id}"), parameters).await
}

// conformance: schedule-23, schedule-24
#[tokio::test]
async fn every_part_can_be_changed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada]).await;
    let random = server.channel("random", &[&ada]).await;
    let id = schedule(&ada, to_channel(general, "one")).await;
    let mut events = ada.register(json!({"event_types": ["scheduled_messages"]})).await;
    let mut expected = scheduled(&ada).await[0].clone();
    let mut updates = Vec::new();
    let mut change = async |parameters: Value, change: &dyn Fn(&mut Value)| {
        patch(&ada, id, parameters).await.ok();
        change(&mut expected);
        assert_eq!(scheduled(&ada).await, json!([expected]));
        updates.push(json!({"type": "scheduled_messages", "op": "update", "scheduled_message": expected}));
    };
    change(json!({"content": "*two*"}), &|message| {
        message["content"] = json!("*two*");
        message["rendered_content"] = json!("<p><em>two</em></p>");
    })
    .await;
    change(json!({"topic": " lunch "}), &|message| message["topic"] = json!("lunch")).await;
    change(json!({"topic": "(no topic)"}), &|message| message["topic"] = json!("")).await;
    change(json!({"to": random}), &|message| message["to"] = json!(random)).await;
    change(json!({"scheduled_delivery_timestamp": LATER + 9}), &|message| {
        message["scheduled_delivery_timestamp"] = json!(LATER + 9);
    })
    .await;
    change(json!({"type": "direct", "to": [bob.user_id]}), &|message| {
        message["type"] = json!("private");
        message["to"] = json!([bob.user_id]);
        message.as_object_mut().unwrap().remove("topic");
    })
    .await;
    // The topic of a direct message is passed over.
    change(json!({"topic": "nothing"}), &|_| {}).await;
    change(json!({"to": [ada.user_id]}), &|message| message["to"] = json!([ada.user_id])).await;
    change(json!({"type": "stream", "to": general, "topic": "back"}), &|message| {
        message["type"] = json!("stream");
        message["to"] = json!(general);
        message["topic"] = json!("back");
    })
    .await;
    events.expect(&updates).await;
}

// conformance: schedule-26, schedule-27, schedule-28, schedule-30, schedule-32, schedule-33, schedule-34
// conformance: schedule-35, schedule-36
#[tokio::test]
async fn invalid_parameters_change_nothing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada]).await;
    let secret = server.private_channel("secret", &[&bob]).await;
    let id = schedule(&ada, to_channel(general, "one")).await;
    let before = scheduled(&ada).await;
    let recipient = "Recipient required when updating type of scheduled message.";
    let topic = "Topic required when updating scheduled message type to channel.";
    let cases = [
        (json!({}), "Nothing to change"),
        (json!({"type": "direct"}), recipient),
        (json!({"type": "channel", "topic": "t"}), recipient),
        (json!({"type": "channel", "to": general}), topic),
        (json!({"type": "other", "to": general}), "Invalid type"),
        (json!({"scheduled_delivery_timestamp": START}), "Scheduled delivery time must be in the future."),
        (
            json!({"scheduled_delivery_timestamp": 253_402_300_800_i64}),
            "scheduled_delivery_timestamp is too large",
        ),
        (json!({"to": [bob.user_id, 1]}), "Invalid data type for channel ID"),
        (json!({"to": ["x"]}), "Invalid data type for channel ID"),
        (json!({"to": "general"}), "Invalid data type for channel ID"),
        (json!({"type": "direct", "to": ["x"]}), "Recipient list may only contain user IDs"),
        (json!({"type": "direct", "to": []}), "Message must have recipients"),
        (json!({"type": "direct", "to": [9999]}), "Invalid user ID 9999"),
        (json!({"type": "direct", "to": 5}), "Invalid data type for recipients"),
        (json!({"content": "\n"}), "Message must not be empty"),
        (json!({"topic": "a\u{1}"}), "Invalid character in topic, at position 2!"),
    ];
    for (parameters, msg) in cases {
        patch(&ada, id, parameters).await.error(400, "BAD_REQUEST", msg);
    }
    for unknown in [9999, secret] {
        let msg = format!("Channel with ID '{unknown}' does not exist");
        let error = patch(&ada, id, json!({"to": unknown})).await.error(400, "STREAM_DOES_NOT_EXIST", &msg);
        assert_eq!(error["stream_id"], unknown);
    }
    assert_eq!(scheduled(&ada).await, before);
}

// conformance: schedule-37, schedule-39, schedule-41
#[tokio::test]
async fn another_users_message_does_not_exist() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let id = schedule(&ada, to_people(&[bob.user_id], "one")).await;
    let msg = "Scheduled message does not exist";
    patch(&bob, id, json!({"content": "mine"})).await.error(400, "BAD_REQUEST", msg);
    patch(&ada, 9999, json!({"content": "mine"})).await.error(400, "BAD_REQUEST", msg);
    let path = format!("/scheduled_messages/{id}");
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", msg);
    let mut events = ada.register(json!({"event_types": ["scheduled_messages"]})).await;
    ada.delete(&path, ()).await.ok();
    ada.delete(&path, ()).await.error(400, "BAD_REQUEST", msg);
    let removed = json!({"type": "scheduled_messages", "op": "remove", "scheduled_message_id": id});
    events.expect(&[removed]).await;
    pass(&server, 3600).await;
    assert_eq!(scheduled(&ada).await, json!([]));
    let found = bob.get("/messages", &[("anchor", "newest"), ("num_before", "9"), ("num_after", "0")]).await;
    assert_eq!(found.ok()["messages"], json!([]));
}

// conformance: schedule-31
#[tokio::test]
async fn one_that_failed_needs_a_new_time() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let id = schedule(&ada, to_people(&[bob.user_id], "one")).await;
    pass(&server, 3600 + 601).await;
    assert_eq!(scheduled(&ada).await[0]["failed"], true);
    let msg = "Scheduled delivery time must be in the future.";
    patch(&ada, id, json!({"content": "two"})).await.error(400, "BAD_REQUEST", msg);
    let time = START + 9000;
    patch(&ada, id, json!({"content": "two", "scheduled_delivery_timestamp": time})).await.ok();
    assert_eq!(scheduled(&ada).await[0]["failed"], false);
    let mut events = bob.register(json!({"event_types": ["message"]})).await;
    pass(&server, 9000 - 3600 - 601).await;
    assert_eq!(events.expect_kinds(&["message"]).await[0]["message"]["content"], "two");
}

// conformance: schedule-25, schedule-29
#[tokio::test]
async fn a_topic_that_is_required_cannot_be_taken_away() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let channel = schedule(&ada, to_channel(general, "one")).await;
    let direct = schedule(&ada, to_people(&[ada.user_id], "two")).await;
    server.set_realm_setting("topics_policy", json!("disable_empty_topic")).await;
    let before = scheduled(&ada).await;
    let msg = "Topics are required in this organization";
    for topic in ["", " ", "(no topic)", "general chat"] {
        patch(&ada, channel, json!({"topic": topic})).await.error(400, "BAD_REQUEST", msg);
        let to_channel = json!({"type": "channel", "to": general, "topic": topic});
        patch(&ada, direct, to_channel).await.error(400, "BAD_REQUEST", msg);
    }
    assert_eq!(scheduled(&ada).await, before);
    server.set_realm_setting("topics_policy", json!("allow_empty_topic")).await;
    for topic in ["", "(no topic)", "general chat"] {
        patch(&ada, channel, json!({"topic": "lunch"})).await.ok();
        patch(&ada, channel, json!({"topic": topic})).await.ok();
        assert_eq!(scheduled(&ada).await[0]["topic"], "", "{topic:?}");
    }
}

// conformance: schedule-40
#[tokio::test]
async fn one_that_failed_can_be_deleted() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = schedule(&ada, to_people(&[ada.user_id], "one")).await;
    pass(&server, 3600 + 601).await;
    let mut events = ada.register(json!({"event_types": ["scheduled_messages"]})).await;
    ada.delete(&format!("/scheduled_messages/{id}"), ()).await.ok();
    events.expect_kinds(&["scheduled_messages/remove"]).await;
    assert_eq!(scheduled(&ada).await, json!([]));
}

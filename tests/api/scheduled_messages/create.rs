//! `GET` and `POST /scheduled_messages`.

use super::{LATER, schedule, scheduled, to_channel, to_people};
use crate::harness::{START, TestServer};
use serde_json::{Value, json};

// conformance: schedule-1, schedule-2, schedule-3, schedule-6, schedule-8
#[tokio::test]
async fn messages_are_scheduled_and_listed_by_time() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let mut events = ada.register(json!({"event_types": ["scheduled_messages", "message"]})).await;
    let mut others = bob.register(json!({"event_types": ["scheduled_messages", "message"]})).await;
    let mut parameters = to_channel(general, " **hi** ");
    parameters["topic"] = json!("  plans ");
    let channel = schedule(&ada, parameters).await;
    let mut parameters = to_people(&[ada.user_id, bob.user_id], "hello");
    parameters["scheduled_delivery_timestamp"] = json!(LATER - 1);
    let direct = schedule(&ada, parameters).await;
    let note = schedule(&ada, to_people(&[ada.user_id], "note")).await;
    let record = |id: i64, kind: &str, to: Value, content: &str, html: &str, time: i64| {
        json!({"scheduled_message_id": id, "type": kind, "to": to, "content": content,
            "rendered_content": html, "scheduled_delivery_timestamp": time, "failed": false})
    };
    let mut channel =
        record(channel, "stream", json!(general), " **hi**", "<p><strong>hi</strong></p>", LATER);
    channel["topic"] = json!("plans");
    let direct = record(direct, "private", json!([bob.user_id]), "hello", "<p>hello</p>", LATER - 1);
    let note = record(note, "private", json!([ada.user_id]), "note", "<p>note</p>", LATER);
    assert_eq!(scheduled(&ada).await, json!([direct, channel, note]));
    assert_eq!(scheduled(&bob).await, json!([]));
    let added =
        |message: &Value| json!({"type": "scheduled_messages", "op": "add", "scheduled_messages": [message]});
    events.expect(&[added(&channel), added(&direct), added(&note)]).await;
    others.expect_nothing().await;
}

// conformance: schedule-7, schedule-8, schedule-9, schedule-12
#[tokio::test]
async fn both_names_of_each_type_and_of_the_empty_topic_are_understood() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    for (kind, topic, expected) in [
        ("channel", json!("(no topic)"), ""),
        ("stream", json!("general chat"), ""),
        ("stream", json!("x".repeat(61)), &("x".repeat(57) + "...")),
    ] {
        let mut parameters = to_channel(general, "c");
        parameters["type"] = json!(kind);
        parameters["topic"] = topic;
        let id = schedule(&ada, parameters).await;
        let all = scheduled(&ada).await;
        let made = all.as_array().unwrap().iter().find(|made| made["scheduled_message_id"] == id).unwrap();
        assert_eq!((&made["type"], &made["topic"]), (&json!("stream"), &json!(expected)));
    }
    let mut parameters = to_people(&[ada.user_id], "c");
    parameters["type"] = json!("private");
    parameters["topic"] = json!("ignored");
    schedule(&ada, parameters).await;
    assert_eq!(scheduled(&ada).await.as_array().unwrap().len(), 4);
    let mut without_topic = to_channel(general, "c");
    without_topic.as_object_mut().unwrap().remove("topic");
    ada.post("/scheduled_messages", without_topic).await.error(400, "BAD_REQUEST", "Missing topic");
}

// conformance: schedule-10, schedule-11, schedule-13, schedule-14, schedule-15, schedule-16, schedule-17
// conformance: schedule-18, schedule-19, schedule-20, schedule-21, schedule-22
#[tokio::test]
async fn invalid_parameters_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada]).await;
    let private = server.private_channel("secret", &[&bob]).await;
    let with = |name: &str, value: Value| {
        let mut parameters = to_channel(general, "c");
        parameters[name] = value;
        parameters
    };
    let future = "Scheduled delivery time must be in the future.";
    let cases = [
        (with("type", json!("email")), "Invalid type"),
        (with("scheduled_delivery_timestamp", json!(START)), future),
        (
            with("scheduled_delivery_timestamp", json!("soon")),
            "scheduled_delivery_timestamp is not valid JSON",
        ),
        (
            with("scheduled_delivery_timestamp", json!(LATER * 1000)),
            "scheduled_delivery_timestamp is too large",
        ),
        (with("to", json!("general")), "Invalid data type for channel ID"),
        (with("to", json!({"a": 1})), "Invalid data type for channel ID"),
        (with("to", json!(["general"])), "Invalid data type for channel ID"),
        (with("to", json!([general, private])), "Invalid data type for channel ID"),
        (with("to", json!([])), "Invalid data type for channel ID"),
        (with("content", json!(" ")), "Message must not be empty"),
        (with("topic", json!("a\nb")), "Invalid character in topic, at position 2!"),
        (to_people(&[9999], "c"), "Invalid user ID 9999"),
        (to_people(&[], "c"), "Message must have recipients"),
        (
            json!({"type": "direct", "to": "ada@example.com", "content": "c", "scheduled_delivery_timestamp": LATER}),
            "Invalid data type for recipients",
        ),
        (
            json!({"type": "direct", "to": 1, "content": "c", "scheduled_delivery_timestamp": LATER}),
            "Invalid data type for recipients",
        ),
        (
            json!({"type": "direct", "to": ["a@example.com"], "content": "c", "scheduled_delivery_timestamp": LATER}),
            "Recipient list may only contain user IDs",
        ),
    ];
    for (parameters, msg) in cases {
        ada.post("/scheduled_messages", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    for name in ["type", "to", "content", "scheduled_delivery_timestamp"] {
        let mut parameters = to_channel(general, "c");
        parameters.as_object_mut().unwrap().remove(name);
        let answer = ada.post("/scheduled_messages", parameters).await;
        answer.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
    for unknown in [9999, private] {
        let msg = format!("Channel with ID '{unknown}' does not exist");
        let answer = ada.post("/scheduled_messages", with("to", json!(unknown))).await;
        let error = answer.error(400, "STREAM_DOES_NOT_EXIST", &msg);
        assert_eq!(error["stream_id"], unknown);
    }
    server.set_realm_setting("topics_policy", json!("disable_empty_topic")).await;
    let required = ada.post("/scheduled_messages", with("topic", json!("(no topic)"))).await;
    required.error(400, "BAD_REQUEST", "Topics are required in this organization");
    assert_eq!(scheduled(&ada).await, json!([]));
}

// conformance: schedule-9
#[tokio::test]
async fn long_values_are_truncated() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = schedule(&ada, to_people(&[ada.user_id], &"é".repeat(10_001))).await;
    let content = scheduled(&ada).await[0]["content"].as_str().unwrap().to_owned();
    let mark = "\n[message truncated]";
    assert_eq!((content.chars().count(), content.ends_with(mark)), (10_000, true));
    let changes = json!({"content": "x".repeat(10_000)});
    ada.patch(&format!("/scheduled_messages/{id}"), changes).await.ok();
    assert_eq!(scheduled(&ada).await[0]["content"], "x".repeat(10_000));
}

// conformance: schedule-5
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let kept = schedule(&ada, to_channel(general, "a")).await;
    let gone = schedule(&ada, to_channel(general, "b")).await;
    server
        .check_state_sync(&[&ada], async || {
            let mut sooner = to_people(&[ada.user_id], "c");
            sooner["scheduled_delivery_timestamp"] = json!(START + 1);
            schedule(&ada, sooner).await;
            ada.patch(&format!("/scheduled_messages/{kept}"), &[("content", "d")]).await.ok();
            ada.delete(&format!("/scheduled_messages/{gone}"), ()).await.ok();
        })
        .await;
}

//! `POST /users/me/subscriptions/properties` and `PATCH /users/me/subscriptions/{stream_id}`.

use crate::channels::{NO_CHANNEL, channel, private_channel};
use crate::harness::TestServer;
use serde_json::json;

// conformance: subscribe-27, subscribe-28, subscribe-29
#[tokio::test]
async fn choices_are_stored_and_emitted_to_the_user() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = channel(&ada, "verona").await;
    let mut queue = ada.register(json!({"event_types": ["subscription"]})).await;
    let mut bobs = bob.register(json!({"event_types": ["subscription"]})).await;
    let event = |property: &str, value: serde_json::Value| json!({"type": "subscription", "op": "update", "stream_id": id, "property": property, "value": value});
    let switches = [
        "pin_to_top",
        "desktop_notifications",
        "audible_notifications",
        "push_notifications",
        "email_notifications",
        "wildcard_mentions_notify",
    ];
    let mut changes = vec![json!({"stream_id": id, "property": "color", "value": "#F00F00"})];
    let mut events = vec![event("color", json!("#f00f00"))];
    for name in switches {
        changes.push(json!({"stream_id": id, "property": name, "value": true}));
        events.push(event(name, json!(true)));
    }
    changes.push(json!({"stream_id": id, "property": "in_home_view", "value": false}));
    events.extend([event("in_home_view", json!(false)), event("is_muted", json!(true))]);
    ada.post("/users/me/subscriptions/properties", json!({"subscription_data": changes})).await.ok();
    queue.expect(&events).await;
    let own = ada.get("/users/me/subscriptions", ()).await.ok()["subscriptions"][0].clone();
    assert_eq!(
        (&own["color"], &own["is_muted"], &own["in_home_view"]),
        (&json!("#f00f00"), &json!(true), &json!(false))
    );
    for name in switches {
        assert_eq!(own[name], json!(true), "{name}");
    }

    let path = format!("/users/me/subscriptions/{id}");
    ada.patch(&path, json!({"property": "is_muted", "value": false})).await.ok();
    ada.patch(&path, json!({"property": "color", "value": "#abc"})).await.ok();
    queue
        .expect(&[
            event("in_home_view", json!(true)),
            event("is_muted", json!(false)),
            event("color", json!("#aabbcc")),
        ])
        .await;
    bobs.expect_nothing().await;
}

// conformance: subscribe-30
#[tokio::test]
async fn bad_changes_are_refused_together() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let own = channel(&ada, "own").await;
    let other = channel(&bob, "other").await;
    let private = private_channel(&bob, "private").await;
    let mut queue = ada.register(json!({"event_types": ["subscription"]})).await;
    let not_subscribed = format!("Not subscribed to channel ID {other}");
    let cases = [
        (own, json!("color"), json!("red"), "color is not a valid hex color code"),
        (own, json!("pin_to_top"), json!("true"), "pin_to_top is not a boolean"),
        (own, json!("pin_to_top"), json!(null), "pin_to_top is not a boolean"),
        (own, json!("role"), json!(true), "Unknown subscription property: role"),
        (other, json!("pin_to_top"), json!(true), not_subscribed.as_str()),
        (private, json!("pin_to_top"), json!(true), NO_CHANNEL.2),
        (9999, json!("pin_to_top"), json!(true), NO_CHANNEL.2),
    ];
    for (id, property, value, msg) in cases {
        let changes = json!([
            {"stream_id": own, "property": "pin_to_top", "value": true},
            {"stream_id": id, "property": property, "value": value},
        ]);
        let error =
            ada.post("/users/me/subscriptions/properties", json!({"subscription_data": changes})).await;
        error.error(400, "BAD_REQUEST", msg);
        if value != "true" {
            let path = format!("/users/me/subscriptions/{id}");
            let error = ada.patch(&path, json!({"property": property, "value": value})).await;
            error.error(400, "BAD_REQUEST", msg);
        }
    }
    let error = ada.post("/users/me/subscriptions/properties", ()).await;
    error.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'subscription_data' argument");
    let changes = json!({"subscription_data": [{"stream_id": own}]});
    let error = ada.post("/users/me/subscriptions/properties", changes).await;
    error.error(400, "BAD_REQUEST", "subscription_data[0][\"property\"] field is missing: Field required");
    let path = format!("/users/me/subscriptions/{own}");
    let error = ada.patch(&path, json!({"value": true})).await;
    error.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'property' argument");
    queue.expect_nothing().await;
    let own = ada.get("/users/me/subscriptions", ()).await.ok()["subscriptions"][0].clone();
    assert_eq!(own["pin_to_top"], json!(false));
}

// conformance: subscribe-31
#[tokio::test]
async fn choice_events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = channel(&ada, "verona").await;
    server
        .check_state_sync(&[&ada], async || {
            let changes = json!([
                {"stream_id": id, "property": "is_muted", "value": true},
                {"stream_id": id, "property": "color", "value": "#123456"},
                {"stream_id": id, "property": "email_notifications", "value": true},
            ]);
            ada.post("/users/me/subscriptions/properties", json!({"subscription_data": changes})).await.ok();
        })
        .await;
}

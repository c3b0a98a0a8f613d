//! Statuses of users.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

async fn status(client: &Client, of: &Client) -> Value {
    client.get(&format!("/users/{}/status", of.user_id), ()).await.ok()["status"].clone()
}

async fn state(client: &Client) -> Value {
    client.post("/register", json!({"fetch_event_types": ["user_status"]})).await.ok()["user_status"].clone()
}

// conformance: status-1, status-2, status-3, status-4, status-11, status-12
#[tokio::test]
async fn partial_statuses_reach_all_users() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let mut events = guest.register(json!({"event_types": ["user_status"]})).await;
    let changed = |parts: Value| {
        let mut event = json!({"type": "user_status", "user_id": ada.user_id});
        event.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
        event
    };
    assert_eq!(status(&guest, &ada).await, json!({}));
    ada.post("/users/me/status", &[("status_text", "  out to lunch ")]).await.ok();
    // The same again is no change.
    ada.post("/users/me/status", &[("status_text", "out to lunch")]).await.ok();
    events.expect(&[changed(json!({"status_text": "out to lunch"}))]).await;
    assert_eq!(status(&guest, &ada).await, json!({"status_text": "out to lunch"}));

    ada.post("/users/me/status", &[("emoji_name", "car")]).await.ok();
    let car = json!({"emoji_name": "car", "emoji_code": "1f697", "reaction_type": "unicode_emoji"});
    events.expect(&[changed(car.clone())]).await;
    let mut whole = car.clone();
    whole["status_text"] = json!("out to lunch");
    assert_eq!(status(&guest, &ada).await, whole);
    assert_eq!(state(&guest).await, json!({ada.user_id.to_string(): whole}));

    let zulip = json!({"status_text": "", "emoji_name": "zulip", "emoji_code": "zulip",
        "reaction_type": "zulip_extra_emoji"});
    ada.post("/users/me/status", &zulip).await.ok();
    events.expect(&[changed(zulip)]).await;

    ada.post("/users/me/status", &[("emoji_name", "")]).await.ok();
    let none = json!({"emoji_name": "", "emoji_code": "", "reaction_type": "unicode_emoji"});
    events.expect(&[changed(none)]).await;
    assert_eq!(status(&guest, &ada).await, json!({}));
    assert_eq!(state(&guest).await, json!({}));
}

// conformance: status-5
#[tokio::test]
async fn being_away_is_hiding_ones_presence() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut events = bob.register(json!({"event_types": ["user_status"]})).await;
    ada.post("/users/me/status", &[("away", "true"), ("status_text", "gone")]).await.ok();
    ada.post("/users/me/status", &[("away", "true")]).await.ok();
    events
        .expect(&[
            json!({"type": "user_status", "user_id": ada.user_id, "away": true}),
            json!({"type": "user_status", "user_id": ada.user_id, "status_text": "gone"}),
        ])
        .await;
    let settings = |state: Value| state["user_settings"]["presence_enabled"].clone();
    let fetch = json!({"fetch_event_types": ["user_settings"]});
    assert_eq!(settings(ada.post("/register", &fetch).await.ok()), false);
    let away = json!({"away": true, "status_text": "gone"});
    assert_eq!(status(&bob, &ada).await, away);
    assert_eq!(state(&bob).await, json!({ada.user_id.to_string(): away}));
    ada.post("/users/me/status", &[("away", "false"), ("status_text", "")]).await.ok();
    assert_eq!(settings(ada.post("/register", &fetch).await.ok()), true);
    assert_eq!(state(&bob).await, json!({}));
    events.ignore();
    let refused = ada.post("/users/me/status", &[("away", "maybe")]).await;
    refused.error(400, "BAD_REQUEST", "away is not valid JSON");
}

// conformance: status-6, status-7, status-8
#[tokio::test]
async fn statuses_are_refused_as_published() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let bot = server.bot("robot", &ada).await;
    let no_name = "Client must pass emoji_name if they pass either emoji_code or reaction_type.";
    let cases = [
        (json!({}), "Client did not pass any new values."),
        (json!({"emoji_code": "1f697"}), "Client did not pass any new values."),
        (json!({"status_text": "é".repeat(61)}), "status_text is too long (limit: 60 characters)"),
        (json!({"status_text": "x", "emoji_code": "1f697"}), no_name),
        (json!({"status_text": "x", "reaction_type": "unicode_emoji"}), no_name),
        (json!({"emoji_name": "invalid"}), "Emoji 'invalid' does not exist"),
        (json!({"emoji_name": "car", "emoji_code": "1f4bb"}), "Invalid emoji name."),
        (json!({"emoji_name": "car", "emoji_code": "x"}), "Invalid emoji code."),
        (
            json!({"emoji_name": "car", "emoji_code": "1f697", "reaction_type": "realm_emoji"}),
            "Invalid custom emoji.",
        ),
        (json!({"emoji_name": "car", "emoji_code": "1f697", "reaction_type": "x"}), "Invalid emoji type."),
    ];
    let others = format!("/users/{}/status", ada.user_id);
    for (parameters, msg) in cases {
        ada.post("/users/me/status", &parameters).await.error(400, "BAD_REQUEST", msg);
        owner.post(&others, &parameters).await.error(400, "BAD_REQUEST", msg);
    }
    assert_eq!(status(&ada, &ada).await, json!({}));
    ada.post("/users/me/status", json!({"status_text": "é".repeat(60)})).await.ok();
    let refused = bot.post("/users/me/status", &[("status_text", "x")]).await;
    refused.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
}

// conformance: status-9, status-10
#[tokio::test]
async fn administrators_set_the_status_of_others() {
    let server = TestServer::start().await;
    let administrator = server.administrator("admin").await;
    let (ada, moderator) = (server.member("ada").await, server.moderator("moderator").await);
    let bot = server.bot("robot", &administrator).await;
    let gone = server.member("gone").await;
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    let mut events = ada.register(json!({"event_types": ["user_status"]})).await;
    let path = |id: i64| format!("/users/{id}/status");
    let set = json!({"status_text": "on vacation", "emoji_name": "car", "emoji_code": "1f697",
        "reaction_type": "unicode_emoji"});
    administrator.post(&path(ada.user_id), &set).await.ok();
    let mut event = set.clone();
    event["type"] = json!("user_status");
    event["user_id"] = json!(ada.user_id);
    events.expect(&[event]).await;
    assert_eq!(status(&moderator, &ada).await, set);
    // Being away is not theirs to set.
    let answer = administrator.post(&path(ada.user_id), json!({"status_text": "", "away": true})).await;
    answer.ok_ignoring(&["away"]);
    events.expect(&[json!({"type": "user_status", "user_id": ada.user_id, "status_text": ""})]).await;

    let text = json!({"status_text": "x"});
    let cases = [
        (&moderator, ada.user_id, "Insufficient permission"),
        (&ada, ada.user_id, "Insufficient permission"),
        (&ada, 9999, "No such user"),
        (&administrator, 9999, "No such user"),
        (&administrator, bot.user_id, "No such user"),
        (&administrator, gone.user_id, "User is deactivated"),
    ];
    for (by, id, msg) in cases {
        by.post(&path(id), &text).await.error(400, "BAD_REQUEST", msg);
    }
    ada.get(&path(9999), ()).await.error(400, "BAD_REQUEST", "No such user");
    ada.get(&path(gone.user_id), ()).await.error(400, "BAD_REQUEST", "User is deactivated");
    assert_eq!(status(&ada, &bot).await, json!({}));
}

// conformance: status-14
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    bob.post("/users/me/status", &[("status_text", "here"), ("emoji_name", "car")]).await.ok();
    server
        .check_state_sync(&[&ada, &bob], async || {
            ada.post("/users/me/status", &[("emoji_name", "tada")]).await.ok();
            bob.post("/users/me/status", &[("status_text", ""), ("away", "true")]).await.ok();
            owner.post(&format!("/users/{}/status", ada.user_id), &[("status_text", "busy")]).await.ok();
            ada.post("/users/me/status", &[("emoji_name", "")]).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&ada], async || {
            bob.post("/users/me/status", &[("emoji_name", ""), ("away", "false")]).await.ok();
        })
        .await;
}

// conformance: status-11, status-13
#[tokio::test]
async fn guests_receive_events_of_accessible_users() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("garden", &[&ada, &guest]).await;
    server.restrict_guests().await;
    let mut events = guest.register(json!({"event_types": ["user_status"]})).await;
    for client in [&ada, &bob] {
        client.post("/users/me/status", &[("status_text", "here")]).await.ok();
        client.post("/users/me/status", &[("away", "true")]).await.ok();
    }
    let received = events.expect_kinds(&["user_status"; 2]).await;
    assert_eq!([&received[0]["user_id"], &received[1]["user_id"]], [ada.user_id; 2]);
    let adas = json!({ada.user_id.to_string(): {"away": true, "status_text": "here"}});
    assert_eq!(state(&guest).await, adas);
    assert_eq!(state(&ada).await.as_object().unwrap().len(), 2);
    let path = format!("/users/{}/status", bob.user_id);
    guest.get(&path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    server.owner().await.delete(&format!("/users/{}", bob.user_id), ()).await.ok();
    guest.get(&path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    ada.get(&path, ()).await.error(400, "BAD_REQUEST", "User is deactivated");
}

// conformance: status-13
#[tokio::test]
async fn newly_accessible_users_are_emitted_completely() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("garden", &[&owner, &guest]).await;
    server.restrict_guests().await;
    for client in [&ada, &bob] {
        client.post("/users/me/status", &[("status_text", "here"), ("emoji_name", "car")]).await.ok();
        client.post("/users/me/presence", &[("status", "active")]).await.ok();
    }
    ada.post("/users/me/status", &[("away", "true")]).await.ok();
    let garden = |users: &[&Client]| {
        let ids: Vec<i64> = users.iter().map(|user| user.user_id).collect();
        json!({"subscriptions": [{"name": "garden"}], "principals": ids})
    };
    server
        .check_state_sync(&[&owner, &guest], async || {
            owner.post("/users/me/subscriptions", garden(&[&ada, &bob])).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&owner, &guest], async || {
            owner.delete(&format!("/users/{}", bob.user_id), ()).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&owner, &guest], async || {
            owner.post(&format!("/users/{}/reactivate", bob.user_id), ()).await.ok();
        })
        .await;
    assert_eq!(status(&guest, &bob).await["status_text"], "here");
}

//! Muted users.

use crate::background_jobs::server_in_steps;
use crate::harness::{Client, START, TestServer, interrupt};
use serde_json::{Value, json};
use teamchat::app::Options;

async fn mute(client: &Client, whom: &Client) {
    client.post(&format!("/users/me/muted_users/{}", whom.user_id), ()).await.ok();
}

async fn unmute(client: &Client, whom: &Client) {
    client.delete(&format!("/users/me/muted_users/{}", whom.user_id), ()).await.ok();
}

/// True if the message has the flag `read`.
async fn is_read(client: &Client, id: i64) -> bool {
    client.message(id).await["flags"].as_array().unwrap().contains(&json!("read"))
}

async fn unread(client: &Client) -> Value {
    let words = json!({"fetch_event_types": ["message", "update_message_flags"]});
    client.post("/register", words).await.ok()["unread_msgs"].clone()
}

#[tokio::test]
async fn muting_is_emitted_to_the_muting_user_only() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (bot, gone) = (server.bot("robot", &ada).await, server.member("gone").await);
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    let words = json!({"event_types": ["muted_users", "update_message_flags"]});
    let (mut of_ada, mut of_bob) = (ada.register(&words).await, bob.register(&words).await);
    assert_eq!(ada.register(json!({"event_types": ["muted_users"]})).await.state["muted_users"], json!([]));
    mute(&ada, &gone).await;
    server.clock.advance(10);
    mute(&ada, &bob).await;
    mute(&ada, &bot).await;
    unmute(&ada, &bob).await;
    let muted = |id: i64, after: i64| json!({"id": id, "timestamp": START + after});
    let event = |list: Value| json!({"type": "muted_users", "muted_users": list});
    let all = json!([muted(gone.user_id, 0), muted(bot.user_id, 10)]);
    of_ada
        .expect(&[
            event(json!([muted(gone.user_id, 0)])),
            event(json!([muted(gone.user_id, 0), muted(bob.user_id, 10)])),
            event(json!([muted(gone.user_id, 0), muted(bob.user_id, 10), muted(bot.user_id, 10)])),
            event(all.clone()),
        ])
        .await;
    of_bob.expect_nothing().await;
    let state = ada.post("/register", json!({"fetch_event_types": ["muted_users"]})).await.ok();
    assert_eq!(state["muted_users"], all);
    let state = bob.post("/register", json!({"fetch_event_types": ["muted_users"]})).await.ok();
    assert_eq!(state["muted_users"], json!([]));
}

#[tokio::test]
async fn muting_is_refused_as_published() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let notifications = server.notification_bot().await;
    let path = |id: i64| format!("/users/me/muted_users/{id}");
    let refused = async |id: i64, mute: &str, unmute: &str| {
        ada.post(&path(id), ()).await.error(400, "BAD_REQUEST", mute);
        ada.delete(&path(id), ()).await.error(400, "BAD_REQUEST", unmute);
    };
    refused(ada.user_id, "Cannot mute self", "User is not muted").await;
    refused(9999, "No such user", "No such user").await;
    refused(notifications, "No such user", "No such user").await;
    ada.delete(&path(bob.user_id), ()).await.error(400, "BAD_REQUEST", "User is not muted");
    mute(&ada, &bob).await;
    ada.post(&path(bob.user_id), ()).await.error(400, "BAD_REQUEST", "User already muted");
    let state = ada.post("/register", json!({"fetch_event_types": ["muted_users"]})).await.ok();
    assert_eq!(state["muted_users"], json!([{"id": bob.user_id, "timestamp": START}]));
    // Users whom a guest cannot access are unknown to them.
    let guest = server.guest("guest").await;
    server.restrict_guests().await;
    guest.post(&path(bob.user_id), ()).await.error(400, "BAD_REQUEST", "No such user");
}

// conformance: send-44
#[tokio::test]
async fn messages_of_muted_users_are_read() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada, &bob, &cleo]).await;
    let pond = server.channel("pond", &[&bob, &cleo]).await;
    mute(&ada, &bob).await;
    let words = json!({"event_types": ["message"], "client_capabilities": {"empty_topic_name": true}});
    let (mut of_ada, mut of_cleo) = (ada.register(&words).await, cleo.register(&words).await);
    let in_channel = bob.send(garden, "lunch", "hello @**Ada**").await;
    let direct = bob.send_direct(&[&ada], "hello").await;
    let group = bob.send_direct(&[&ada, &cleo], "hello").await;
    let elsewhere = bob.send(pond, "lunch", "hello").await;
    let of_others = cleo.send(garden, "lunch", "hello").await;
    let flags = |events: &[Value]| {
        let flags =
            events.iter().map(|event| (event["message"]["id"].as_i64().unwrap(), event["flags"].clone()));
        flags.collect::<Vec<_>>()
    };
    let received = of_ada.expect_kinds(&["message"; 4]).await;
    assert_eq!(
        flags(&received),
        [
            (in_channel, json!(["read", "mentioned"])),
            (direct, json!(["read"])),
            (group, json!(["read"])),
            (of_others, json!([])),
        ]
    );
    let received = of_cleo.expect_kinds(&["message"; 4]).await;
    assert_eq!(flags(&received)[..3], [(in_channel, json!([])), (group, json!([])), (elsewhere, json!([]))]);
    assert_eq!(unread(&ada).await["count"], 1);
    assert_eq!(unread(&ada).await["mentions"], json!([]));
    of_ada.ignore();
    unmute(&ada, &bob).await;
    assert!(is_read(&ada, direct).await, "what is read stays read");
    assert!(!is_read(&ada, bob.send_direct(&[&ada], "hello again").await).await);
}

// conformance: flag-21
#[tokio::test]
async fn muting_marks_messages_of_the_user_as_read() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada, &bob, &cleo]).await;
    let mut sent = Vec::new();
    let mut kept = Vec::new();
    for topic in ["lunch", "dinner", "lunch"] {
        sent.push(bob.send(garden, topic, "hello").await);
        kept.push(cleo.send(garden, topic, "hello").await);
    }
    sent.push(bob.send_direct(&[&ada], "hello").await);
    sent.push(bob.send_direct(&[&ada, &cleo], "hello").await);
    kept.push(cleo.send_direct(&[&ada, &bob], "hello").await);
    let mut events = ada.register(json!({"event_types": ["update_message_flags", "muted_users"]})).await;
    let mut others = cleo.register(json!({"event_types": ["update_message_flags", "muted_users"]})).await;
    let read = json!({"op": "add", "flag": "read", "messages": [sent[0]]});
    ada.post("/messages/flags", read).await.ok();
    mute(&ada, &bob).await;
    let flags = |messages: &[i64]| {
        json!({"type": "update_message_flags", "op": "add", "operation": "add", "flag": "read",
            "messages": messages, "all": false})
    };
    let muted = json!({"type": "muted_users", "muted_users": [{"id": bob.user_id, "timestamp": START}]});
    events.expect(&[flags(&sent[..1]), flags(&sent[1..]), muted]).await;
    others.expect_nothing().await;
    for id in sent {
        assert!(is_read(&ada, id).await, "{id}");
    }
    for id in kept {
        assert!(!is_read(&ada, id).await, "{id}");
    }
    assert_eq!(unread(&ada).await["count"], 4);
    // The receiver may still mark one as unread.
    let last = bob.send_direct(&[&ada], "hello").await;
    let again = json!({"op": "remove", "flag": "read", "messages": [last]});
    ada.post("/messages/flags", again).await.ok();
    assert!(!is_read(&ada, last).await);
    events.ignore();
}

/// Follow-up jobs mark what one job has no time for.
#[tokio::test]
async fn unmuting_a_user_keeps_the_other_messages_unread() {
    let server = server_in_steps(Options::default()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let first = bob.send_direct(&[&ada], "hello").await;
    server.add_copies(first, 1_999).await;
    Box::pin(interrupt(&server, mute(&ada, &bob), unmute(&ada, &bob))).await;
    assert_eq!(unread(&ada).await["count"], 1_500, "one job marks 500");
}

// conformance: receipt-7
#[tokio::test]
async fn muting_hides_read_receipts_in_both_directions() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let dan = server.member("dan").await;
    let garden = server.channel("garden", &[&ada, &bob, &cleo, &dan]).await;
    let id = cleo.send(garden, "lunch", "hello").await;
    let read = json!({"op": "add", "flag": "read", "messages": [id]});
    for client in [&ada, &bob, &dan] {
        client.post("/messages/flags", &read).await.ok();
    }
    mute(&ada, &bob).await;
    let receipts = async |client: &Client| {
        client.get(&format!("/messages/{id}/read_receipts"), ()).await.ok()["user_ids"].clone()
    };
    assert_eq!(receipts(&ada).await, json!([ada.user_id, dan.user_id]));
    assert_eq!(receipts(&bob).await, json!([bob.user_id, dan.user_id]));
    assert_eq!(receipts(&cleo).await, json!([ada.user_id, bob.user_id, dan.user_id]));
    unmute(&ada, &bob).await;
    assert_eq!(receipts(&ada).await, json!([ada.user_id, bob.user_id, dan.user_id]));
}

#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    bob.send(garden, "lunch", "hello @**all**").await;
    bob.send_direct(&[&ada], "hello").await;
    server
        .check_state_sync(&[&ada, &bob], async || {
            mute(&ada, &bob).await;
            bob.send(garden, "lunch", "hello @**Ada**").await;
            bob.send_direct(&[&ada], "hello").await;
            mute(&bob, &ada).await;
            unmute(&ada, &bob).await;
            bob.send(garden, "dinner", "hello").await;
        })
        .await;
}

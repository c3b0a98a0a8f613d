//! `POST /typing` and `POST /messages/{message_id}/typing`.

use crate::harness::{Client, Queue, TestServer};
use serde_json::{Value, json};
use teamchat::http::ApiError;

const TYPES: [&str; 2] = ["typing", "typing_edit_message"];

/// A queue of a client that knows typing in channels, and the empty topic.
async fn hear(client: &Client) -> Queue {
    let capabilities = json!({"stream_typing_notifications": true, "empty_topic_name": true});
    client.register(json!({"event_types": TYPES, "client_capabilities": capabilities})).await
}

async fn set(client: &Client, setting: &str, value: bool) {
    client.patch("/settings", json!({ setting: value })).await.ok();
}

fn person(client: &Client) -> Value {
    json!({"user_id": client.user_id, "email": client.email})
}

// conformance: typing-1, typing-2, typing-7
#[tokio::test]
async fn participants_of_direct_messages_receive_events() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let (mut own, mut others, mut outsiders) = (hear(&ada).await, hear(&bob).await, hear(&eve).await);
    let event = |op: &str| {
        json!({"type": "typing", "op": op, "message_type": "direct", "sender": person(&ada),
            "recipients": [person(&ada), person(&bob)]})
    };
    ada.post("/typing", json!({"op": "start", "to": [bob.user_id]})).await.ok();
    ada.post("/typing", json!({"type": "direct", "op": "stop", "to": [bob.user_id, ada.user_id]})).await.ok();
    own.expect(&[event("start"), event("stop")]).await;
    others.expect(&[event("start"), event("stop")]).await;
    outsiders.expect_nothing().await;
    // Users with the setting disabled receive nothing.
    set(&bob, "receives_typing_notifications", false).await;
    ada.post("/typing", json!({"op": "start", "to": [bob.user_id]})).await.ok();
    own.expect(&[event("start")]).await;
    others.expect_nothing().await;
}

/// They are looked up on another thread.
#[tokio::test]
async fn many_participants_receive_events() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut others = Vec::new();
    for number in 0..21 {
        others.push(server.member(&format!("member{number}")).await);
    }
    let last = others.last().unwrap();
    let mut heard = hear(last).await;
    let to: Vec<_> = others.iter().map(|member| member.user_id).collect();
    ada.post("/typing", json!({"op": "start", "to": to})).await.ok();
    let recipients: Vec<_> = std::iter::once(&ada).chain(&others).map(person).collect();
    heard
        .expect(&[json!({"type": "typing", "op": "start", "message_type": "direct", "sender": person(&ada),
            "recipients": recipients})])
        .await;
    let with_unknown = [to, vec![9999]].concat();
    ada.post("/typing", json!({"op": "start", "to": with_unknown})).await.error(
        400,
        "BAD_REQUEST",
        "Invalid user ID 9999",
    );
    heard.expect_nothing().await;
}

// conformance: typing-9
#[tokio::test]
async fn failed_request_stores_nothing() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = hear(&bob).await;
    ada.post("/typing", json!({"op": "start", "to": [bob.user_id]})).await.ok();
    server.restart().await;
    events.expect_nothing().await;
}

// conformance: queue-36, typing-3, typing-4, typing-5, typing-7
#[tokio::test]
async fn capable_clients_of_subscribers_receive_typing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let (mut own, mut others, mut outsiders) = (hear(&ada).await, hear(&bob).await, hear(&eve).await);
    let mut older = bob.register(json!({"event_types": TYPES})).await;
    let capabilities = json!({"stream_typing_notifications": true});
    let between = json!({"event_types": TYPES, "client_capabilities": capabilities});
    let mut between = bob.register(between).await;
    let event = |op: &str, topic: &str| {
        json!({"type": "typing", "op": op, "message_type": "stream", "sender": person(&ada),
            "stream_id": general, "topic": topic})
    };
    ada.post("/typing", json!({"type": "channel", "op": "start", "stream_id": general, "topic": " lunch "}))
        .await
        .ok();
    ada.post("/typing", json!({"type": "stream", "op": "stop", "stream_id": general, "topic": "(no topic)"}))
        .await
        .ok();
    own.expect(&[event("start", "lunch"), event("stop", "")]).await;
    others.expect(&[event("start", "lunch"), event("stop", "")]).await;
    between.expect(&[event("start", "lunch"), event("stop", "general chat")]).await;
    older.expect_nothing().await;
    outsiders.expect_nothing().await;
    set(&bob, "receives_typing_notifications", false).await;
    ada.post("/typing", json!({"type": "channel", "op": "start", "stream_id": general, "topic": "x"}))
        .await
        .ok();
    own.expect(&[event("start", "x")]).await;
    others.expect_nothing().await;
    between.expect_nothing().await;
}

// conformance: typing-6, typing-22
#[tokio::test]
async fn large_channels_have_no_typing_events() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let grow = async |count: i64| {
        let grown = server.app().writer.run(move |tx| -> Result<(), ApiError> {
            for _ in 0..count {
                let newest: i64 = tx.query_row("SELECT max(user_id) FROM user", [], |row| row.get(0))?;
                let email = format!("user{}@example.com", newest + 1);
                tx.execute(
                    "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, date_joined)
                     VALUES (?1, ?1, ?1, ?1, 400, 0)",
                    [&email],
                )?;
                let user_id = tx.last_insert_rowid();
                tx.execute(
                    "INSERT INTO subscription (user_id, stream_id, active, color) VALUES (?1, ?2, 1, '')",
                    [user_id, general],
                )?;
            }
            Ok(())
        });
        grown.await.unwrap();
    };
    let id = ada.send(general, "x", "hello").await;
    let edit = format!("/messages/{id}/typing");
    let mut events = hear(&bob).await;
    let typing = json!({"type": "channel", "op": "start", "stream_id": general, "topic": "x"});
    grow(98).await;
    ada.post("/typing", &typing).await.ok();
    events.expect_kinds(&["typing/start"]).await;
    ada.post(&edit, &[("op", "start")]).await.ok();
    events.expect_kinds(&["typing_edit_message/start"]).await;
    grow(1).await;
    ada.post("/typing", &typing).await.ok();
    ada.post(&edit, &[("op", "start")]).await.ok();
    events.expect_nothing().await;
}

// conformance: typing-8
#[tokio::test]
async fn typing_events_name_their_conversation() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let mut events = hear(&bob).await;
    let both = json!({"op": "start", "to": [bob.user_id], "stream_id": general, "topic": "x"});
    let with_type = |kind: &str| {
        let mut parameters = both.clone();
        parameters["type"] = json!(kind);
        parameters
    };
    ada.post("/typing", &both).await.ok();
    ada.post("/typing", with_type("direct")).await.ok();
    ada.post("/typing", with_type("stream")).await.ok();
    let kinds: Vec<Value> = events.events().await.iter().map(|event| event["message_type"].clone()).collect();
    assert_eq!(kinds, ["direct", "direct", "stream"]);
}

// conformance: typing-7
#[tokio::test]
async fn removed_users_receive_no_typing_events() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut own = hear(&ada).await;
    let mut others = hear(&bob).await;
    server.sql("UPDATE user SET is_active = 0 WHERE email = 'bob@example.com'").await;
    ada.post("/typing", json!({"op": "start", "to": [bob.user_id]})).await.ok();
    own.expect_kinds(&["typing/start"]).await;
    server.sql("UPDATE user SET is_active = 1 WHERE email = 'bob@example.com'").await;
    others.expect_nothing().await;
}

// conformance: typing-16
#[tokio::test]
async fn typing_needs_permission_to_post() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&owner, &ada]).await;
    let owner_only = json!({"new": {"direct_members": [owner.user_id], "direct_subgroups": []}});
    owner.patch(&format!("/streams/{general}"), json!({"can_send_message_group": owner_only})).await.ok();
    let typing = json!({"type": "channel", "op": "start", "stream_id": general, "topic": "x"});
    let msg = "You do not have permission to post in this channel.";
    ada.post("/typing", &typing).await.error(400, "BAD_REQUEST", msg);
    owner.post("/typing", &typing).await.ok();
    owner.delete(&format!("/streams/{general}"), ()).await.ok();
    let msg = "Not authorized to send to channel 'general'";
    owner.post("/typing", &typing).await.error(400, "BAD_REQUEST", msg);
}

// conformance: typing-10, typing-11, typing-12, typing-13, typing-14, typing-15, typing-17, typing-18
#[tokio::test]
async fn invalid_parameters_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada]).await;
    let secret = server.private_channel("secret", &[&bob]).await;
    let cases = [
        (json!({"op": "start"}), "Missing 'to' argument"),
        (json!({"op": "start", "to": []}), "Empty 'to' list"),
        (json!({"op": "start", "to": [9999]}), "Invalid user ID 9999"),
        (json!({"op": "start", "to": "ada"}), "to is not valid JSON"),
        (json!({"op": "start", "to": ["ada"]}), "to[0] is not an integer"),
        (json!({"op": "pause", "to": [1]}), "Invalid op"),
        (json!({"op": "start", "type": "private", "to": [1]}), "Invalid type"),
        (json!({"op": "start", "type": "channel", "topic": "x"}), "Missing 'stream_id' argument"),
        (json!({"op": "start", "type": "channel", "stream_id": general}), "Missing topic"),
        (json!({"op": "start", "type": "stream", "stream_id": 9999, "topic": "x"}), "Invalid channel ID"),
        (json!({"op": "start", "type": "stream", "stream_id": secret, "topic": "x"}), "Invalid channel ID"),
        (
            json!({"op": "start", "type": "stream", "stream_id": general, "topic": "a\nb"}),
            "Invalid character in topic, at position 2!",
        ),
    ];
    for (parameters, msg) in cases {
        ada.post("/typing", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let missing = ada.post("/typing", json!({"to": [bob.user_id]})).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'op' argument");
    let in_channel = json!({"op": "start", "type": "channel", "stream_id": general, "topic": "x"});
    set(&ada, "send_stream_typing_notifications", false).await;
    let msg = "User has disabled typing notifications for channel messages";
    ada.post("/typing", &in_channel).await.error(400, "BAD_REQUEST", msg);
    ada.post("/typing", json!({"op": "start", "to": [bob.user_id]})).await.ok();
    set(&ada, "send_private_typing_notifications", false).await;
    set(&ada, "send_stream_typing_notifications", true).await;
    let msg = "User has disabled typing notifications for direct messages";
    ada.post("/typing", json!({"op": "start", "to": [bob.user_id]})).await.error(400, "BAD_REQUEST", msg);
    ada.post("/typing", &in_channel).await.ok();
}

// conformance: typing-19, typing-20, typing-21
#[tokio::test]
async fn receivers_get_editing_notifications() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let in_channel = ada.send(general, "", "hello").await;
    let direct = ada.send_direct(&[&bob], "hello").await;
    let (mut others, mut outsiders) = (hear(&bob).await, hear(&eve).await);
    let mut older = bob.register(json!({"event_types": TYPES})).await;
    ada.post(&format!("/messages/{in_channel}/typing"), &[("op", "start")]).await.ok();
    ada.post(&format!("/messages/{direct}/typing"), &[("op", "stop")]).await.ok();
    let event = |topic: &str| {
        json!({"type": "typing_edit_message", "op": "start", "sender_id": ada.user_id, "message_id": in_channel,
            "recipient": {"type": "channel", "channel_id": general, "topic": topic}})
    };
    let second = json!({"type": "typing_edit_message", "op": "stop", "sender_id": ada.user_id,
        "message_id": direct, "recipient": {"type": "direct", "user_ids": [ada.user_id, bob.user_id]}});
    others.expect(&[event(""), second.clone()]).await;
    older.expect(&[event("general chat"), second]).await;
    outsiders.expect_nothing().await;
    // Users with the setting disabled receive nothing.
    set(&bob, "receives_typing_notifications", false).await;
    ada.post(&format!("/messages/{in_channel}/typing"), &[("op", "start")]).await.ok();
    ada.post(&format!("/messages/{direct}/typing"), &[("op", "stop")]).await.ok();
    others.expect_nothing().await;
    older.expect_nothing().await;
}

#[tokio::test]
async fn later_subscribers_receive_no_editing_notifications() {
    let server = TestServer::start().await;
    let [ada, bob, late] =
        [server.member("ada").await, server.member("bob").await, server.member("late").await];
    let team = server.private_channel("team", &[&ada, &bob]).await;
    let id = ada.send(team, "secret plan", "hello").await;
    let parameters = json!({"subscriptions": [{"name": "team"}], "principals": [late.user_id]});
    ada.post("/users/me/subscriptions", parameters).await.ok();
    late.get(&format!("/messages/{id}"), ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    let (mut receiver, mut outsider) = (hear(&bob).await, hear(&late).await);
    ada.post(&format!("/messages/{id}/typing"), &[("op", "start")]).await.ok();
    receiver.expect_kinds(&["typing_edit_message/start"]).await;
    outsider.expect_nothing().await;
}

// conformance: typing-23, typing-24, typing-25, typing-26
#[tokio::test]
async fn editing_notifications_need_permission_to_edit() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let in_channel = ada.send(general, "x", "hello").await;
    let direct = ada.send_direct(&[&bob], "hello").await;
    let refused = async |client: &Client, id: i64, msg: &str| {
        let answer = client.post(&format!("/messages/{id}/typing"), &[("op", "start")]).await;
        answer.error(400, "BAD_REQUEST", msg);
    };
    refused(&bob, in_channel, "You don't have permission to edit this message").await;
    refused(&ada, 9999, "Invalid message(s)").await;
    let archived = server.channel("archive", &[&ada]).await;
    let in_archive = ada.send(archived, "x", "hello").await;
    server.owner().await.delete(&format!("/streams/{archived}"), ()).await.ok();
    refused(&ada, in_archive, "Invalid message(s)").await;
    let answer = ada.post(&format!("/messages/{direct}/typing"), &[("op", "x")]).await;
    answer.error(400, "BAD_REQUEST", "Invalid op");
    let answer = ada.post(&format!("/messages/{direct}/typing"), ()).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'op' argument");
    set(&ada, "send_stream_typing_notifications", false).await;
    refused(&ada, in_channel, "User has disabled typing notifications for channel messages").await;
    set(&ada, "send_private_typing_notifications", false).await;
    refused(&ada, direct, "User has disabled typing notifications for direct messages").await;
    server.clock.advance(3600);
    refused(&ada, direct, "The time limit for editing this message has passed").await;
    server.set_realm_setting("allow_message_editing", json!(false)).await;
    refused(&ada, direct, "Your organization has turned off message editing").await;
}

//! `/reminders`.

use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};

const LATER: i64 = START + 3600;

async fn reminders(client: &Client) -> Value {
    client.get("/reminders", ()).await.ok()["reminders"].clone()
}

async fn remind(client: &Client, parameters: Value) -> i64 {
    client.post("/reminders", parameters).await.ok()["reminder_id"].as_i64().unwrap()
}

fn of(message_id: i64) -> Value {
    json!({"message_id": message_id, "scheduled_delivery_timestamp": LATER})
}

/// Advances the clock to the time of the reminders. Returns the message of the bot to a user.
async fn said_to(server: &TestServer, client: &Client) -> String {
    let mut events = client.register(json!({"event_types": ["message"]})).await;
    server.clock.advance(3600);
    server.deliver_due().await;
    let received = events.expect_kinds(&["message"]).await;
    let message = &received[0]["message"];
    let bot = server.notification_bot().await;
    assert_eq!((&message["sender_id"], &message["type"]), (&json!(bot), &json!("private")));
    assert_eq!(message["display_recipient"].as_array().unwrap().len(), 2);
    message["content"].as_str().unwrap().to_owned()
}

// conformance: remind-1, remind-2, remind-4, remind-10, remind-11
#[tokio::test]
async fn reminders_are_created_listed_and_deleted() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let message = bob.send_direct(&[&ada], "pizza?").await;
    let mut events = ada.register(json!({"event_types": ["reminders"]})).await;
    let mut others = bob.register(json!({"event_types": ["reminders"]})).await;
    let id = remind(&ada, of(message)).await;
    let mut sooner = of(message);
    sooner["scheduled_delivery_timestamp"] = json!(START + 1);
    let first = remind(&ada, sooner).await;
    let listed = reminders(&ada).await;
    let record = json!({"reminder_id": id, "type": "private", "to": [ada.user_id], "content": "*",
        "rendered_content": "*", "scheduled_delivery_timestamp": LATER, "failed": false,
        "reminder_target_message_id": message});
    assert_eq!(crate::harness::differences(&record, &listed[1]), [""; 0]);
    assert_eq!(listed[0]["reminder_id"], first);
    assert_eq!(reminders(&bob).await, json!([]));
    ada.delete(&format!("/reminders/{id}"), ()).await.ok();
    events
        .expect(&[
            json!({"type": "reminders", "op": "add", "reminders": [listed[1]]}),
            json!({"type": "reminders", "op": "add", "reminders": [listed[0]]}),
            json!({"type": "reminders", "op": "remove", "reminder_id": id}),
        ])
        .await;
    others.expect_nothing().await;
    let msg = "Reminder does not exist";
    ada.delete(&format!("/reminders/{id}"), ()).await.error(400, "BAD_REQUEST", msg);
    bob.delete(&format!("/reminders/{first}"), ()).await.error(400, "BAD_REQUEST", msg);
    assert_eq!(reminders(&ada).await, json!([listed[0]]));
}

// conformance: remind-5, remind-6, remind-7, remind-8, remind-9
#[tokio::test]
async fn invalid_parameters_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let message = bob.send_direct(&[&ada], "pizza?").await;
    let with = |name: &str, value: Value| {
        let mut parameters = of(message);
        parameters[name] = value;
        parameters
    };
    let past = with("scheduled_delivery_timestamp", json!(START));
    let msg = "Scheduled delivery time must be in the future.";
    ada.post("/reminders", past).await.error(400, "BAD_REQUEST", msg);
    let long = with("note", json!("é".repeat(1001)));
    ada.post("/reminders", long).await.error(
        400,
        "BAD_REQUEST",
        "Maximum reminder note length: 1000 characters",
    );
    let unknown = with("message_id", json!(9999));
    ada.post("/reminders", unknown).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    eve.post("/reminders", of(message)).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    for name in ["message_id", "scheduled_delivery_timestamp"] {
        let mut parameters = of(message);
        parameters.as_object_mut().unwrap().remove(name);
        let answer = ada.post("/reminders", parameters).await;
        answer.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
    let texts = [
        (with("message_id", json!("x")), "message_id is not valid JSON"),
        (
            with("scheduled_delivery_timestamp", json!("soon")),
            "scheduled_delivery_timestamp is not valid JSON",
        ),
        (
            with("scheduled_delivery_timestamp", json!(LATER * 1000)),
            "scheduled_delivery_timestamp is too large",
        ),
    ];
    for (parameters, msg) in texts {
        ada.post("/reminders", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    assert_eq!(reminders(&ada).await, json!([]));
    let longest = with("note", json!(format!("{} \n", "é".repeat(1000))));
    remind(&ada, longest).await;
    let content = reminders(&ada).await[0]["content"].clone();
    assert!(content.as_str().unwrap().contains(&format!("Note:\n > {}\n\n", "é".repeat(1000))), "{content}");
}

// conformance: remind-12, remind-13
#[tokio::test]
async fn the_bot_reminds_of_a_channel_message() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let message = bob.send(general, "food", "```\npizza\n```").await;
    let mut parameters = of(message);
    parameters["note"] = json!("\n bring money \n");
    remind(&ada, parameters).await;
    let mut events = ada.register(json!({"event_types": ["reminders"]})).await;
    let said = said_to(&server, &ada).await;
    assert_eq!(
        said,
        format!(
            "You requested a reminder for the following message. Note:\n >  bring money\n\n@_**Bob|{bob}** \
             [said](/#narrow/channel/{general}-general/topic/food/near/{message}) in #**general>food@{message}**:\n\
             ````quote\n```\npizza\n```\n````",
            bob = bob.user_id,
        )
    );
    events.expect_kinds(&["reminders/remove"]).await;
    assert_eq!(reminders(&ada).await, json!([]));
    let html =
        ada.get("/messages", &[("anchor", "newest"), ("num_before", "1"), ("num_after", "0")]).await.ok();
    let html = html["messages"][0]["content"].as_str().unwrap();
    let href = format!("/#narrow/channel/{general}-general/topic/food/near/{message}");
    assert!(html.contains(&format!("href=\"{href}\">said</a>")), "{html}");
    assert!(html.contains("<blockquote>") && html.contains("class=\"message-link\""), "{html}");
}

#[tokio::test]
async fn inaccessible_senders_are_unnamed() {
    let server = TestServer::start().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    let general = server.channel("general", &[&ada, &guest]).await;
    // Bob is not in the channel.
    let message = bob.send(general, "food", "pizza").await;
    let poll = bob.send(general, "food", "/poll Lunch?").await;
    server.restrict_guests().await;
    for (id, said) in [(message, "said"), (poll, "sent")] {
        let mut parameters = of(id);
        parameters["scheduled_delivery_timestamp"] = json!(START + 7200);
        remind(&guest, parameters).await;
        let listed = reminders(&guest).await;
        let listed = listed.as_array().unwrap().last().unwrap().to_string();
        assert!(listed.contains(&format!("Unknown user [{said}]")) && !listed.contains("Bob"), "{listed}");
    }
    remind(&guest, of(message)).await;
    let text = said_to(&server, &guest).await;
    assert!(text.contains("\n\nUnknown user [said](") && !text.contains("Bob"), "{text}");
    remind(&ada, json!({"message_id": message, "scheduled_delivery_timestamp": START + 7200})).await;
    let text = said_to(&server, &ada).await;
    assert!(text.contains(&format!("\n\n@_**Bob|{}** [said](", bob.user_id)), "{text}");
}

// conformance: remind-14, remind-15
#[tokio::test]
async fn the_bot_reminds_of_direct_messages_and_polls() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let message = ada.send_direct(&[&bob], "hello").await;
    remind(&ada, of(message)).await;
    let said = said_to(&server, &ada).await;
    let (a, b) = (ada.user_id, bob.user_id);
    assert_eq!(
        said,
        format!(
            "You requested a reminder for the following direct message.\n\n@_**Ada|{a}** \
             [said](/#narrow/dm/{a},{b}/near/{message}) to @_**Bob|{b}**:\n```quote\nhello\n```"
        )
    );
    let poll = bob.send_direct(&[&bob], "/poll Lunch?").await;
    let mut parameters = of(poll);
    parameters["scheduled_delivery_timestamp"] = json!(LATER + 3600);
    remind(&bob, parameters).await;
    assert_eq!(
        said_to(&server, &bob).await,
        format!(
            "You requested a reminder for the following direct message.\n\n@_**Bob|{b}** \
             [sent](/#narrow/dm/{b}/near/{poll}) a poll to @_**Bob|{b}**."
        )
    );
}

// conformance: remind-16, remind-17
#[tokio::test]
async fn reminders_quote_the_message_as_it_is() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let owner = server.owner().await;
    let general = server.channel("general", &[&ada]).await;
    let left = server.private_channel("left", &[&ada, &owner]).await;
    let message = owner.send(left, "food", "remember").await;
    remind(&ada, of(message)).await;
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["left"]})).await.ok();
    let said = said_to(&server, &ada).await;
    assert!(said.ends_with("```quote\nremember\n```"), "{said}");
    // A deleted message leaves its text in no reminder. The note is the user's own.
    let (plain, noted) =
        (owner.send_direct(&[&ada], "remember").await, owner.send(general, "a", "remember").await);
    let at = |id: i64, note: &str| json!({"message_id": id, "scheduled_delivery_timestamp": LATER + 1, "note": note});
    let (first, second) = (remind(&ada, at(plain, "")).await, remind(&ada, at(noted, "*eat*")).await);
    let mut events = ada.register(json!({"event_types": ["reminders"]})).await;
    owner.delete(&format!("/messages/{plain}"), ()).await.ok();
    owner.delete(&format!("/messages/{noted}"), ()).await.ok();
    let reminder_text = "You requested a reminder for a message that was deleted.";
    let listed = reminders(&ada).await;
    events
        .expect(&[
            json!({"type": "reminders", "op": "remove", "reminder_id": first}),
            json!({"type": "reminders", "op": "add", "reminders": [listed[0]]}),
            json!({"type": "reminders", "op": "remove", "reminder_id": second}),
            json!({"type": "reminders", "op": "add", "reminders": [listed[1]]}),
        ])
        .await;
    events.ignore();
    assert_eq!(
        (&listed[0]["content"], &listed[0]["rendered_content"]),
        (&json!(reminder_text), &json!(format!("<p>{reminder_text}</p>")))
    );
    let content = listed[1]["content"].as_str().unwrap();
    assert!(
        content.starts_with(reminder_text) && content.contains("eat") && !content.contains("remember"),
        "{content}"
    );
    ada.delete(&format!("/reminders/{second}"), ()).await.ok();
    assert_eq!(said_to(&server, &ada).await, reminder_text);
    let edited = owner.send_direct(&[&ada], "before").await;
    let mut parameters = of(edited);
    // However late: it is not a scheduled message.
    parameters["scheduled_delivery_timestamp"] = json!(LATER + 3601);
    remind(&ada, parameters).await;
    owner.patch(&format!("/messages/{edited}"), &[("content", "after")]).await.ok();
    let said = said_to(&server, &ada).await;
    assert!(said.ends_with("```quote\nafter\n```"), "{said}");
}

/// Messages of members have less HTML than those of administrators.
// conformance: remind-16
#[tokio::test]
async fn a_message_that_became_too_long_is_quoted_as_it_was() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let message = owner.send_direct(&[&ada], "before").await;
    remind(&ada, of(message)).await;
    let long = "\u{1f600}".repeat(9_900);
    owner.patch(&format!("/messages/{message}"), json!({"content": long})).await.ok();
    let said = said_to(&server, &ada).await;
    assert!(said.ends_with("```quote\nbefore\n```"), "{said}");
    assert_eq!(reminders(&ada).await, json!([]));
}

// conformance: remind-17
#[tokio::test]
async fn reminders_due_during_downtime_are_sent() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let message = ada.send_direct(&[&ada], "remember").await;
    remind(&ada, of(message)).await;
    server.stop().await;
    server.clock.advance(3600 + 30 * 24 * 3600);
    server.restart().await;
    server.deliver_due().await;
    assert_eq!(reminders(&ada).await, json!([]));
    let newest = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": false});
    let found = ada.get("/messages", newest).await.ok();
    let said = found["messages"][0]["content"].as_str().unwrap();
    assert!(said.starts_with("You requested a reminder") && said.ends_with("remember\n```"), "{said}");
}

// conformance: remind-19
#[tokio::test]
async fn a_passing_error_of_the_server_fails_no_reminder_and_stops_no_other() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let message = ada.send_direct(&[&ada], "remember").await;
    let bad = remind(&ada, of(message)).await;
    remind(&ada, of(message)).await;
    let mut events = ada.register(json!({"event_types": ["message", "reminders"]})).await;
    let broken = "CREATE TRIGGER broken BEFORE DELETE ON reminder WHEN old.reminder_id = ";
    server.sql(&format!("{broken}{bad} BEGIN SELECT RAISE(FAIL, 'broken'); END")).await;
    server.clock.advance(3600);
    let deliver = async || teamchat::api::reminders::deliver::deliver_due(server.app()).await;
    assert!(deliver().await.is_err());
    events.expect_kinds(&["message", "reminders/remove"]).await;
    let left = reminders(&ada).await;
    assert_eq!((&left[0]["reminder_id"], &left[0]["failed"]), (&json!(bad), &json!(false)));
    server.sql("DROP TRIGGER broken").await;
    assert!(deliver().await.is_ok());
    events.expect_kinds(&["message", "reminders/remove"]).await;
}

// conformance: remind-18
#[tokio::test]
async fn deactivated_users_are_not_reminded() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let message = bob.send_direct(&[&ada], "remember").await;
    remind(&ada, of(message)).await;
    remind(&bob, of(message)).await;
    let mut events = bob.register(json!({"event_types": ["message", "reminders"]})).await;
    server.sql("UPDATE user SET is_active = 0 WHERE email = 'ada@example.com'").await;
    server.sql("UPDATE realm SET deactivated = 1").await;
    server.clock.advance(3600);
    server.deliver_due().await;
    let of_bob = format!("SELECT failed FROM reminder WHERE user_id = {}", bob.user_id);
    assert_eq!(server.column(&of_bob).await, ["0"], "it waits");
    server.sql("UPDATE realm SET deactivated = 0").await;
    server.deliver_due().await;
    events.expect_kinds(&["message", "reminders/remove"]).await;
    server.sql("UPDATE user SET is_active = 1 WHERE email = 'ada@example.com'").await;
    let left = reminders(&ada).await;
    assert_eq!((&left[0]["failed"], left.as_array().unwrap().len()), (&json!(true), 1));
    let newest = json!({"anchor": "newest", "num_before": 1, "num_after": 0});
    assert_eq!(ada.get("/messages", newest).await.ok()["messages"][0]["id"], message);
}

// conformance: remind-3
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let owner = server.owner().await;
    let message = ada.send_direct(&[&ada], "hello").await;
    let gone = ada.send_direct(&[&owner], "gone").await;
    let kept = remind(&ada, of(message)).await;
    remind(&ada, of(gone)).await;
    server
        .check_state_sync(&[&ada], async || {
            let mut sooner = of(message);
            sooner["scheduled_delivery_timestamp"] = json!(START + 1);
            remind(&ada, sooner).await;
            ada.delete(&format!("/reminders/{kept}"), ()).await.ok();
            owner.delete(&format!("/messages/{gone}"), ()).await.ok();
            server.clock.advance(1);
            server.deliver_due().await;
        })
        .await;
}

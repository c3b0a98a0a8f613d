//! Posts and replies that fail, and notices about them.

use super::{Hook, bot, messages, register, send_direct, server, url_of};
use crate::harness::{ReservedPort, START};
use serde_json::json;
use teamchat::scheduler;

#[tokio::test]
async fn invalid_replies_are_reported() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let notifier = server.notification_bot().await;
    let hook = Hook::answering(&[(404, "not here"), (200, "oops"), (200, "[]")]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let (mut of_ada, mut of_bob) = (register(&ada).await, register(&bob).await);
    let prefix = |id: i64| {
        let url = format!("/#narrow/dm/{},{bot}/near/{id}", bob.user_id);
        format!("[A message]({url}) to your bot @_**Hook|{bot}** triggered an outgoing webhook.\n")
    };
    let attempted = "The outgoing webhook server attempted to send a message, but that request resulted in \
                     the following error:\n";
    let payload = |text: &str| format!("\nThe response contains the following payload:\n```\n{text}\n```");
    let cases = [
        (
            "Failure! Third party responded with 404",
            format!("The webhook got a response with status code *404*.{}", payload("not here")),
        ),
        (
            "Failure! Invalid JSON in response",
            format!("{attempted}> Invalid JSON in response{}", payload("oops")),
        ),
        (
            "Failure! Invalid response format",
            format!("{attempted}> Invalid response format{}", payload("[]")),
        ),
    ];
    for (reply, reasons) in cases {
        let id = send_direct(&bob, bot, "hello").await;
        hook.request();
        let said = messages(&mut of_bob, 2).await;
        assert_eq!((said[1].0, said[1].2.as_str()), (bot, reply));
        let received = messages(&mut of_ada, 1).await;
        assert_eq!(received, [(notifier, json!("Internal"), prefix(id) + &reasons)]);
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": hook.url()})).await.ok();
    }
}

/// Messages cannot have them.
#[tokio::test]
async fn nul_characters_of_answers_are_replaced() {
    let server = server().await;
    let ada = server.member("ada").await;
    let widget = json!({"widget_type": "a\0b", "extra_data": {}}).to_string();
    let reply = json!({"content": "Well?", "widget_content": widget}).to_string();
    let hook = Hook::answering(&[(404, "a\0b"), (200, reply.as_str())]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    for failure in ["Third party responded with 404", "Widgets: unknown widget type: a\u{fffd}b"] {
        send_direct(&ada, bot, "hello").await;
        hook.request();
        let said = messages(&mut queue, 3).await;
        assert!(said[1].2.contains("a\u{fffd}b") && !said[1].2.contains('\0'), "{said:?}");
        assert_eq!(said[2].2, format!("Failure! {failure}"));
        // The next failure is reported too.
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": hook.url()})).await.ok();
    }
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
}

#[tokio::test]
async fn a_server_that_is_down_is_tried_four_times() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let closed = ReservedPort::new();
    let bot = bot(&ada, &url_of(&closed), 1).await;
    let (mut of_ada, mut of_bob) = (register(&ada).await, register(&bob).await);
    send_direct(&bob, bot, "hello").await;
    for tries in 1..=3 {
        while server.column("SELECT failed_tries FROM outgoing_webhook").await != [tries.to_string()] {
            tokio::task::yield_now().await;
        }
        let next: i64 = server.column("SELECT next_try FROM outgoing_webhook").await[0].parse().unwrap();
        server.clock.advance(next - server.clock.seconds());
        scheduler::wake(server.app());
    }
    let said = messages(&mut of_bob, 2).await;
    assert_eq!((said[1].0, said[1].2.as_str()), (bot, "Failure! Bot is unavailable"));
    let received = messages(&mut of_ada, 1).await;
    assert!(received[0].2.ends_with("\nA connection error occurred. Is my bot server down?"), "{received:?}");
    assert_eq!(server.clock.seconds(), START + 2 + 10 + 60);
}

#[tokio::test]
async fn a_message_that_the_server_fails_to_post_stops_no_other() {
    let server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"content": "pong"}"#)]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    server
        .sql(&format!(
            "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES (999, {bot}, 'mention', 0);
             CREATE TRIGGER broken BEFORE DELETE ON outgoing_webhook WHEN old.message_id = 999
             BEGIN SELECT RAISE(FAIL, 'broken'); END"
        ))
        .await;
    send_direct(&ada, bot, "ping").await;
    assert!(hook.request().1.contains("ping"));
    assert_eq!(messages(&mut queue, 2).await[1].2, "pong");
    assert_eq!(server.column("SELECT message_id FROM outgoing_webhook").await, ["999"], "it is tried again");
}

#[tokio::test]
async fn owners_are_notified_of_one_failure_in_an_hour() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (failure, success) = ((404, "not here"), (200, r#"{"content": "pong"}"#));
    let hook = Hook::answering(&[failure, failure, success, failure, failure]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut of_bob = register(&bob).await;
    let notifier = server.notification_bot().await;
    let query = format!("SELECT count(*) FROM message WHERE sender_id = {notifier} AND content LIKE '%404%'");
    // After a success, and after an hour, the next failure is news.
    for notices in ["1", "1", "1", "2", "3"] {
        if notices == "3" {
            server.clock.advance(3600);
        }
        send_direct(&bob, bot, "hello").await;
        hook.request();
        messages(&mut of_bob, 2).await;
        assert_eq!(server.column(&query).await, [notices]);
    }
}

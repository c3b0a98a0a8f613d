//! The links that end mail of one kind.

use super::digest::SUNDAY;
use super::mailbox::{Mailbox, PERIOD, URL};
use super::{DAY, log_in, submit};
use crate::harness::Client;
use serde_json::{Value, json};
use teamchat::scheduler;
use teamchat::types::Role;

async fn settings(client: &Client) -> Value {
    let mut queue = client.register(json!({"event_types": ["user_settings"]})).await;
    queue.state["user_settings"].take()
}

#[tokio::test]
async fn each_link_turns_off_the_setting_of_its_letters() {
    let (_mailbox, server) = Mailbox::with_server().await;
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let bob = server.member("bob").await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    server.set_realm_setting("digest_weekday", json!(SUNDAY)).await;
    server.set_realm_setting("digest_emails_enabled", json!(true)).await;
    server.clock.advance(3 * DAY);
    bob.send(channel, "lunch", "hello").await;
    server.clock.advance(3 * DAY);
    scheduler::settle(server.app()).await;
    bob.send_direct(&[&ada], "hello").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    assert_eq!(log_in(&server, &ada.email, "a password").await, 200);
    let query = |columns: &str| {
        format!("SELECT {columns} FROM outgoing_mail WHERE recipient = 'ada@example.com' ORDER BY id")
    };
    assert_eq!(server.column(&query("kind")).await, ["digest", "missed_messages", "new_login"]);
    let links = server.column(&query("letter ->> 'unsubscribe'")).await;

    let names = ["enable_digest_emails", "enable_offline_email_notifications", "enable_login_emails"];
    for (link, name) in links.iter().zip(names) {
        let mut expected = settings(&ada).await;
        assert_eq!(expected[name], true, "{name}");
        expected[name] = json!(false);
        let others = settings(&bob).await;
        let mut queue = ada.register(json!({"event_types": ["user_settings"]})).await;
        let mut queue_of_bob = bob.register(json!({"event_types": ["user_settings"]})).await;
        let path = link.strip_prefix(URL).unwrap();
        let answer = submit(&server, path, json!({"List-Unsubscribe": "One-Click"})).await;
        assert_eq!(answer.status, 200, "{answer}");
        let event = json!({"type": "user_settings", "op": "update", "property": name, "value": false});
        queue.expect(&[event]).await;
        queue_of_bob.expect_nothing().await;
        assert_eq!(settings(&ada).await, expected, "{name}");
        assert_eq!(settings(&bob).await, others, "{name}");
    }
}

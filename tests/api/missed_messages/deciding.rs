//! The receivers of mail: settings and muting, presence, edits, kinds of accounts.

use super::crowded_channel;
use crate::harness::{Blocked, Client, TestServer};
use crate::mail::mailbox::{Mailbox, PERIOD};
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::app::Options;
use teamchat::commands::Command;
use teamchat::domain::limits::{MAX_HELD_MESSAGES, MAX_WAITING_MESSAGES};
use teamchat::scheduler;

const NONE: [&str; 0] = [];

async fn set(client: &Client, name: &str, value: bool) {
    client.patch("/settings", json!({name: value})).await.ok();
}

async fn set_channel(client: &Client, channel: i64, property: &str, value: Value) {
    let data = json!([{"stream_id": channel, "property": property, "value": value}]);
    client.post("/users/me/subscriptions/properties", json!({"subscription_data": data})).await.ok();
}

async fn set_topic(client: &Client, channel: i64, topic: &str, policy: i64) {
    let params = json!({"stream_id": channel, "topic": topic, "visibility_policy": policy});
    client.post("/user_topics", params).await.ok();
}

async fn edit(client: &Client, id: i64, content: &str) {
    client.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
}

// conformance: missed-1
#[tokio::test]
async fn settings_and_muting_decide() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("general", &[&ada, &bob]).await;
    let elsewhere = server.channel("elsewhere", &[&bob]).await;
    set(&ada, "automatically_follow_topics_where_mentioned", false).await;
    ada.post("/users/me/alert_words", json!({"alert_words": ["lunch"]})).await.ok();

    bob.send(channel, "plain", "nothing, not even lunch").await;
    ada.send(channel, "own", "@**Ada** myself").await;
    ada.send_direct(&[&ada], "note to myself").await;
    bob.send(channel, "silent", "@_**Ada**").await;
    bob.send(elsewhere, "x", "@**Ada** is not here").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);

    bob.send_direct(&[&ada], "a direct message").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["DMs with Bob"]);
    bob.send(channel, "named", "@**Ada** hello").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > named"]);
    bob.send(channel, "all", "@**all** hello").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > all"]);
    bob.send(channel, "topic", "@**topic** anyone?").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE, "she does not take part");
    ada.send(channel, "topic", "me").await;
    bob.send(channel, "topic", "@**topic** come").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > topic"]);
    set(&ada, "wildcard_mentions_notify", false).await;
    bob.send(channel, "all", "@**all** hello").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    set_channel(&ada, channel, "wildcard_mentions_notify", json!(true)).await;
    bob.send(channel, "all", "@**all** hello").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > all"]);

    set_channel(&ada, channel, "email_notifications", json!(true)).await;
    bob.send(channel, "plain", "now something").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > plain"]);
    set_topic(&ada, channel, "muted", 1).await;
    bob.send(channel, "muted", "nothing").await;
    bob.send(channel, "muted", "@**all** nothing").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    bob.send(channel, "muted", "@**Ada** all the same").await;
    assert_eq!(
        mailbox.subjects(&server, &ada).await,
        ["#general > muted"],
        "muting does not matter for mentions"
    );
    set_channel(&ada, channel, "is_muted", json!(true)).await;
    bob.send(channel, "quiet", "nothing").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    bob.send(channel, "quiet", "@**Ada** in a muted channel").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > quiet"]);
    set_topic(&ada, channel, "followed", 3).await;
    bob.send(channel, "followed", "followed").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > followed"]);
    set(&ada, "enable_followed_topic_email_notifications", false).await;
    bob.send(channel, "followed", "not any more").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);

    set_channel(&ada, channel, "is_muted", json!(false)).await;
    server.sql("UPDATE subscription SET email_notifications = NULL").await;
    bob.send(channel, "default", "nothing by default").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    set(&ada, "enable_stream_email_notifications", true).await;
    bob.send(channel, "default", "something now").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > default"]);
    set(&ada, "enable_offline_email_notifications", false).await;
    bob.send_direct(&[&ada], "switched off").await;
    bob.send(channel, "default", "this one stops mail about channels, too").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
}

// conformance: missed-2
#[tokio::test]
async fn muted_senders_bots_and_closed_accounts_cause_or_get_none() {
    let (mailbox, server) = Mailbox::with_server().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let robot = server.bot("robot", &bob).await;
    bob.send_direct(&[&robot], "a bot has no mail").await;
    assert_eq!(mailbox.subjects(&server, &robot).await, NONE);
    robot.send_direct(&[&ada], "but it may send").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["DMs with Robot"]);
    ada.post(&format!("/users/me/muted_users/{}", bob.user_id), ()).await.ok();
    bob.send_direct(&[&ada], "muted").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    owner.send_direct(&[&ada], "waits").await;
    scheduler::settle(server.app()).await;
    server.command(Command::SetActive { email: ada.email.clone(), is_active: false }).await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    assert_eq!(server.count("missed_batch").await, "0", "nothing waits any more");
}

// conformance: missed-2
#[tokio::test]
async fn the_greeting_of_a_new_account_is_not_mailed() {
    let (mailbox, server) = Mailbox::with_server().await;
    let owner = server.owner().await;
    let new = json!({"email": "new@example.com", "full_name": "New", "password": "correct horse battery"});
    owner.post("/users", new).await.ok();
    let mut person = server.anonymous();
    person.email = "new@example.com".to_owned();
    let subjects = mailbox.subjects(&server, &person).await;
    assert!(!subjects.iter().any(|subject| subject.starts_with("DMs with")), "{subjects:?}");
}

// conformance: missed-3
#[tokio::test]
async fn who_is_active_gets_none_unless_all_clients_are_gone() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    let active = || ada.post("/users/me/presence", json!({"status": "active"}));
    active().await.ok();
    bob.send_direct(&[&ada], "one").await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("mail_held").await, "1");
    queue.wait().await;
    queue.expect_nothing().await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    assert_eq!(server.count("mail_held").await, "0");

    active().await.ok();
    bob.send_direct(&[&ada], "two").await;
    scheduler::settle(server.app()).await;
    server.app().hub.expire_of(None);
    server.clock.advance(61);
    scheduler::settle(server.app()).await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["DMs with Bob"], "the laptop was shut");
    queue.ignore();
}

/// No reports of people who hide their presence are kept.
// conformance: missed-3
#[tokio::test]
async fn people_who_hide_their_presence_are_idle() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    let active = || ada.post("/users/me/presence", json!({"status": "active"}));
    active().await.ok();
    bob.send_direct(&[&ada], "held").await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("mail_held").await, "1");
    set(&ada, "presence_enabled", false).await;
    active().await.ok();
    bob.send_direct(&[&ada], "sent").await;
    let letters = mailbox.later(&server, &ada).await;
    assert!(letters.len() == 1 && letters[0].text.starts_with("> sent\n\n"), "{letters:?}");
    queue.ignore();
}

#[tokio::test]
async fn the_newest_messages_for_active_people_are_held() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    ada.post("/users/me/presence", json!({"status": "active"})).await.ok();
    let mut sent = Vec::new();
    for number in 0..=MAX_HELD_MESSAGES {
        sent.push(bob.send_direct(&[&ada], &format!("number {number}")).await.to_string());
    }
    scheduler::settle(server.app()).await;
    let held = server.column("SELECT message_id FROM mail_held ORDER BY message_id").await;
    assert_eq!(held, sent[1..], "the oldest is gone");
    server.app().hub.expire_of(None);
    server.clock.advance(61);
    let letters = mailbox.later(&server, &ada).await;
    assert!(letters.len() == 1 && letters[0].text.starts_with("> number 1\n\n"), "{letters:?}");
    queue.ignore();
}

#[tokio::test]
async fn messages_that_wait_for_the_decision_are_limited() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.administrator("bob").await);
    let crowd = server.crowd(100).await;
    let everyone: Vec<&Client> = crowd.iter().chain([&ada, &bob]).collect();
    let channel = server.channel("general", &everyone).await;
    scheduler::settle(server.app()).await;
    // The decision about more than a hundred people is made in the pool.
    let blocked = Blocked::new(server.app(), |app| &app.pools.notifications).await;
    bob.send(channel, "all", "@**all** one").await;
    // As if others had come since: the distance of ids counts.
    let others = MAX_WAITING_MESSAGES - 1;
    let statement =
        format!("INSERT INTO mail_message (id, message_id) SELECT max(id) + {others}, 0 FROM mail_message");
    server.sql(&statement).await;
    bob.send_direct(&[&ada], "two").await;
    bob.send_direct(&[&ada], "three").await;
    blocked.end().await;
    let letters = mailbox.later(&server, &ada).await;
    assert_eq!(letters.len(), 2, "{letters:?}");
    assert_eq!(letters[0].subject, "#general > all");
    let text = &letters[1].text;
    assert!(text.starts_with("> two\n\n") && !text.contains("three"), "{text}");
}

#[tokio::test]
async fn decisions_about_a_few_people_wait_for_no_pool() {
    let (_mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    scheduler::settle(server.app()).await;
    let blocked = Blocked::new(server.app(), |app| &app.pools.notifications).await;
    bob.send_direct(&[&ada], "hello").await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("missed_message").await, "1");
    blocked.end().await;
}

// conformance: missed-4
#[tokio::test]
async fn edits_that_mention_send_mail() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("general", &[&ada, &bob]).await;
    let id = bob.send(channel, "edits", "nothing").await;
    edit(&bob, id, "still nothing").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    edit(&bob, id, "@**Ada** look").await;
    edit(&bob, id, "@**Ada** look twice").await;
    let letters = mailbox.later(&server, &ada).await;
    assert_eq!(letters.len(), 1);
    assert!(letters[0].text.contains("> @**Ada** look twice"), "the text is that of its time: {letters:?}");
    edit(&bob, id, "@**Ada** look again").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE, "known from before");
    set(&ada, "automatically_follow_topics_where_mentioned", false).await;
    let id = bob.send(channel, "taken back", "@**Ada**").await;
    edit(&bob, id, "not you").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE, "it mentions her no more");
    let id = bob.send(channel, "moves", "plain").await;
    bob.patch(&format!("/messages/{id}"), json!({"topic": "moved"})).await.ok();
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    let id = ada.send(channel, "mine", "mine").await;
    edit(&ada, id, "@**Ada** mine").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE, "her own edit");
}

// conformance: missed-5
#[tokio::test]
async fn a_server_without_mail_keeps_nothing() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    bob.send_direct(&[&ada], "waits").await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("missed_message").await, "1");
    let server = server.with_options(Options::default()).await;
    scheduler::settle(server.app()).await;
    bob.send_direct(&[&ada], "does not wait").await;
    scheduler::settle(server.app()).await;
    for table in ["mail_message", "mail_held", "missed_batch", "missed_message"] {
        assert_eq!(server.count(table).await, "0", "{table}");
    }
    drop(mailbox);
}

/// An operator turns mail and notifications off while a lot waits.
#[tokio::test]
async fn queues_that_are_not_used_any_more_are_cleared_in_several_jobs() {
    let mut options = Options::default();
    options.web_push.is_off = true;
    let server = TestServer::start_with(options).await;
    let ada = server.member("ada").await.user_id;
    scheduler::settle(server.app()).await;
    server.app().writer.background().set_limit(Duration::ZERO);
    let rows = |count: usize, insert: &str| {
        format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count})
             INSERT INTO {insert} FROM one;"
        )
    };
    let letters = rows(
        30,
        "outgoing_mail (kind, recipient, letter, created, expires, next_try)
         SELECT 'invitation', 'a@example.com', '{}', 0, 4000000000, 4000000000",
    );
    server.sql(&format!("INSERT INTO mail_setup (id, sender, url) VALUES (1, '', ''); {letters}")).await;
    scheduler::settle(server.app()).await;
    for table in ["outgoing_mail", "mail_setup"] {
        assert_eq!(server.count(table).await, "0", "{table}");
    }

    let mut waiting = format!(
        "INSERT INTO push_subscription (id, user_id, shows_content, origin) VALUES (1, {ada}, 1, '');
         INSERT INTO missed_batch (id, user_id, due) VALUES (1, {ada}, 4000000000);"
    );
    for insert in [
        "missed_message (batch_id, message_id) SELECT 1, number",
        "push_notification (subscription_id, tag, message_ids, queued) SELECT 1, number, x'', 0",
        "push_message (message_id) SELECT number",
        "mail_message (message_id) SELECT number",
    ] {
        waiting += &rows(250, insert);
    }
    for queue in ["push_held", "mail_held"] {
        let columns = "(user_id, message_id, event_id, next_check)";
        waiting += &rows(250, &format!("{queue} {columns} SELECT {ada}, number, 1, 4000000000"));
    }
    server.sql(&waiting).await;
    scheduler::settle(server.app()).await;
    for table in [
        "mail_message",
        "mail_held",
        "missed_batch",
        "missed_message",
        "push_message",
        "push_held",
        "push_notification",
    ] {
        assert_eq!(server.count(table).await, "0", "{table}");
    }
    let figures = server.app().writer.background().figures();
    for (name, at_least) in [("mail_clearing", 4), ("missed_clearing", 11), ("push_clearing", 10)] {
        let found = figures[name];
        assert!(found.jobs >= at_least && found.most_steps == 1, "{name}: {found:?}");
    }
}

#[tokio::test]
async fn a_wildcard_mention_takes_the_writer_a_step_for_each_person() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (bob, crowd, channel) = crowded_channel(&server, 30).await;
    server.app().writer.background().set_limit(Duration::ZERO);
    bob.send(channel, "all", "@**all** hello").await;
    bob.send(channel, "plain", "hello").await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("missed_message").await, "30");
    server.clock.advance(PERIOD);
    assert_eq!(mailbox.take(&server, &crowd[7]).await.len(), 1);
    assert_eq!(server.count("missed_batch").await, "0");
    let figures = server.app().writer.background().figures();
    for name in ["missed_decisions", "missed_letters"] {
        assert_eq!(figures[name].most_steps, 1, "{name}");
    }
    assert!(figures["missed_decisions"].steps >= 30, "{figures:?}");
}

/// The people whose decisions are stored may be notified before those of the others are.
// conformance: missed-8
#[tokio::test]
async fn decisions_that_are_stored_are_not_made_again() {
    let (_mailbox, mut server) = Mailbox::with_server().await;
    let (bob, crowd, channel) = crowded_channel(&server, 30).await;
    server.app().writer.background().set_limit(Duration::ZERO);
    // The decision about the eleventh person cannot be stored.
    let broken = crowd[10].user_id;
    let property = "email_notifications_batching_period_seconds";
    let insert = "INSERT OR REPLACE INTO user_setting (user_id, property, value)";
    server.sql(&format!("{insert} VALUES ({broken}, '{property}', 'x')")).await;
    bob.send(channel, "all", "@**all** hello").await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("missed_message").await, "10");
    server.sql(&format!("DELETE FROM user_setting WHERE user_id = {broken}")).await;
    server.restart().await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.count("missed_message").await, "30");
    assert_eq!(server.count("mail_message").await, "0");
    let figures = server.app().writer.background().figures();
    assert_eq!(figures["missed_decisions"].steps, 20);
}

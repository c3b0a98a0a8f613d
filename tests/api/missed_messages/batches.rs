//! When mail is sent: the first message sets the time, and what is outdated by then is left out. Nothing is lost, and nothing is
//! sent twice.

use super::crowded_channel;
use crate::harness::Client;
use crate::mail::mailbox::{Mailbox, PERIOD, fill_queue};
use serde_json::json;
use std::time::Duration;
use teamchat::scheduler;

const NONE: [&str; 0] = [];
const DAY: i64 = 24 * 60 * 60;

async fn set_period(client: &Client, seconds: i64) {
    client.patch("/settings", json!({"email_notifications_batching_period_seconds": seconds})).await.ok();
}

// conformance: missed-6
#[tokio::test]
async fn later_messages_join_the_time_of_the_first() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    bob.send_direct(&[&ada], "one").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD - 1);
    bob.send_direct(&[&ada], "two").await;
    assert!(mailbox.take(&server, &ada).await.is_empty());
    server.clock.advance(1);
    let letters = mailbox.take(&server, &ada).await;
    assert_eq!(letters.len(), 1);
    assert!(letters[0].text.starts_with("> one\n\n> two\n\n"), "{}", letters[0].text);
    bob.send_direct(&[&ada], "three").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD - 1);
    assert!(mailbox.take(&server, &ada).await.is_empty(), "a new period");
    server.clock.advance(1);
    let letters = mailbox.take(&server, &ada).await;
    assert!(letters.len() == 1 && letters[0].text.starts_with("> three\n\n"), "{letters:?}");
}

// conformance: missed-7
#[tokio::test]
async fn what_is_outdated_is_left_out() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let owner = server.owner().await;
    let channel = server.private_channel("secret", &[&ada, &bob]).await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let read = bob.send_direct(&[&ada], "read").await;
    let deleted = bob.send(general, "x", "@**Ada** deleted").await;
    let emptied = bob.send_direct(&[&ada], "emptied").await;
    bob.send_direct(&[&ada], "stays").await;
    bob.send(channel, "x", "@**Ada** you leave").await;
    scheduler::settle(server.app()).await;
    let flags = json!({"messages": [read], "op": "add", "flag": "read"});
    ada.post("/messages/flags", flags).await.ok();
    owner.delete(&format!("/messages/{deleted}"), ()).await.ok();
    bob.patch(&format!("/messages/{emptied}"), json!({"content": ""})).await.ok();
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["secret"]})).await.ok();
    let letters = mailbox.later(&server, &ada).await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    let text = &letters[0].text;
    assert!(text.contains("> stays") && !text.contains("> read") && !text.contains("(deleted)"), "{text}");
    assert!(!text.contains("emptied"), "{text}");

    bob.send_direct(&[&ada], "wanted at first").await;
    scheduler::settle(server.app()).await;
    ada.patch("/settings", json!({"enable_offline_email_notifications": false})).await.ok();
    assert_eq!(mailbox.subjects(&server, &ada).await, NONE);
    assert_eq!(server.column("SELECT count(*) FROM missed_batch").await, ["0"]);
}

// conformance: missed-6
#[tokio::test]
async fn another_period_moves_what_waits() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    bob.send_direct(&[&ada], "one").await;
    scheduler::settle(server.app()).await;
    set_period(&ada, PERIOD + 60).await;
    server.clock.advance(PERIOD + 59);
    assert!(mailbox.take(&server, &ada).await.is_empty());
    server.clock.advance(1);
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1);
    bob.send_direct(&[&ada], "two").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(10);
    set_period(&ada, 10).await;
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1, "its time has come");
    let refused = ada.patch("/settings", json!({"email_notifications_batching_period_seconds": 0})).await;
    refused.error(400, "BAD_REQUEST", "Invalid email batching period: 0 seconds");
}

// conformance: missed-8
#[tokio::test]
async fn a_start_or_a_crash_loses_and_repeats_nothing() {
    let (mailbox, mut server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("general", &[&ada, &bob]).await;
    bob.send_direct(&[&ada], "one").await;
    // Whether or not it is decided already.
    server.crash().await;
    bob.send(channel, "x", "@**Ada** two").await;
    server.restart().await;
    scheduler::settle(server.app()).await;
    assert_eq!(server.column("SELECT count(*) FROM missed_message").await, ["2"]);
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    server.crash().await;
    scheduler::settle(server.app()).await;
    let subjects: Vec<String> =
        mailbox.take(&server, &ada).await.into_iter().map(|letter| letter.subject).collect();
    assert_eq!(subjects, ["DMs with Bob", "#general > x"]);
    server.crash().await;
    assert!(mailbox.later(&server, &ada).await.is_empty());
}

/// The emails to ten people are composed and queued together. A person whose email fails holds up no other.
#[tokio::test]
async fn emails_to_several_people_share_a_job() {
    let (_mailbox, server) = Mailbox::with_server().await;
    let (bob, crowd, channel) = crowded_channel(&server, 30).await;
    server.app().writer.background().set_limit(Duration::MAX);
    let letters = "SELECT count(*) FROM outgoing_mail WHERE kind = 'missed_messages'";
    bob.send(channel, "all", "@**all** hello").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    assert_eq!(server.column(letters).await, ["30"]);
    let figures = server.app().writer.background().figures()["missed_letters"];
    assert_eq!((figures.jobs, figures.steps), (3, 60));

    let (broken, property) = (crowd[7].user_id, "realm_name_in_email_notifications_policy");
    let insert = "INSERT OR REPLACE INTO user_setting (user_id, property, value)";
    server.sql(&format!("DELETE FROM outgoing_mail; {insert} VALUES ({broken}, '{property}', 'x')")).await;
    bob.send(channel, "all", "@**all** hello again").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    assert_eq!(server.column(letters).await, ["29"]);
    let left = server.column("SELECT user_id FROM missed_batch").await;
    assert_eq!(left, [broken.to_string()]);
}

/// The emails of a batch, of which some were queued before a crash.
// conformance: missed-8
#[tokio::test]
async fn the_rest_of_a_batch_follows() {
    let (mailbox, mut server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("general", &[&ada, &bob]).await;
    for topic in ["a", "b", "c"] {
        bob.send(channel, topic, "@**Ada** hello").await;
    }
    scheduler::settle(server.app()).await;
    // As the first letter left them.
    server
        .sql("DELETE FROM missed_message WHERE message_id = (SELECT min(message_id) FROM missed_message)")
        .await;
    server.crash().await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > b", "#general > c"]);
    assert_eq!(server.column("SELECT count(*) FROM missed_batch").await, ["0"]);
}

// conformance: missed-8
#[tokio::test]
async fn letters_that_find_no_room_wait() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    bob.send_direct(&[&ada], "one").await;
    scheduler::settle(server.app()).await;
    fill_queue(&server, 15_000).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    assert_eq!(server.column("SELECT count(*) FROM missed_message").await, ["1"]);
    server.sql("DELETE FROM outgoing_mail").await;
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1);
}

/// Otherwise there would be an email for each period of an outage.
#[tokio::test]
async fn later_messages_join_those_that_find_no_room() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    fill_queue(&server, 15_000).await;
    for text in ["one", "two", "three"] {
        bob.send_direct(&[&ada], text).await;
        scheduler::settle(server.app()).await;
        server.clock.advance(PERIOD + 60);
        scheduler::settle(server.app()).await;
    }
    server.sql("DELETE FROM outgoing_mail").await;
    let letters = mailbox.take(&server, &ada).await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    assert!(letters[0].text.starts_with("> one\n\n> two\n\n> three\n\n"), "{}", letters[0].text);
}

/// When the queue is full, no further emails are composed.
// conformance: missed-8
#[tokio::test]
async fn letters_of_which_some_find_room_wait_for_more() {
    let (_mailbox, server) = Mailbox::with_server().await;
    let (bob, _crowd, channel) = crowded_channel(&server, 12).await;
    server.app().writer.background().set_limit(Duration::MAX);
    for topic in ["one", "two"] {
        bob.send(channel, topic, "@**all** hello").await;
    }
    scheduler::settle(server.app()).await;
    fill_queue(&server, 14_999).await;
    server.clock.advance(PERIOD);
    let letters = async || {
        scheduler::settle(server.app()).await;
        let letters = "SELECT count(*) FROM outgoing_mail WHERE kind = 'missed_messages'";
        server.column(letters).await
    };
    assert_eq!(letters().await, ["1"]);
    let figures = server.app().writer.background().figures()["missed_letters"];
    assert_eq!((figures.jobs, figures.steps), (1, 2), "the second letter finds no room");
    server.sql("DELETE FROM outgoing_mail WHERE kind = 'x'").await;
    server.clock.advance(10);
    assert_eq!(letters().await, ["24"]);
    assert_eq!(server.column("SELECT count(*) FROM missed_batch").await, ["0"]);
}

#[tokio::test]
async fn letters_wait_four_days_for_the_mail_server() {
    let (_mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    bob.send_direct(&[&ada], "one").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    for (seconds, waiting) in [(4 * DAY - 1, "1"), (15 * 60, "0")] {
        server.clock.advance(seconds);
        scheduler::settle(server.app()).await;
        assert_eq!(server.column("SELECT count(*) FROM outgoing_mail").await, [waiting]);
    }
    assert_eq!(server.app().mail.deliveries.expired.get(), 1);
}

// conformance: missed-18
#[tokio::test]
async fn letters_that_wait_for_the_mail_server_follow_changes() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let owner = server.owner().await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let secret = server.private_channel("secret", &[&ada, &bob]).await;
    let deleted = bob.send_direct(&[&ada], "deleted").await;
    bob.send_direct(&[&ada], "stays").await;
    let earlier = bob.send(general, "x", "earlier").await;
    bob.send(general, "x", "@**Ada** look").await;
    bob.send(secret, "y", "@**Ada** you leave").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    let kept = "SELECT count(*) FROM outgoing_mail WHERE letter LIKE '%stays%' AND letter LIKE '%deleted%'";
    assert_eq!(server.column(kept).await, ["1"]);
    assert_eq!(server.column("SELECT count(*) FROM outgoing_mail").await, ["3"]);
    bob.delete(&format!("/messages/{deleted}"), ()).await.ok();
    bob.patch(&format!("/messages/{earlier}"), json!({"content": "changed"})).await.ok();
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["secret"]})).await.ok();
    server.clock.advance(15 * 60);
    scheduler::settle(server.app()).await;
    // The one at which the mail server failed comes after those that are composed meanwhile, the first of which fails as well.
    server.clock.advance(15 * 60);
    let letters = mailbox.take(&server, &ada).await;
    assert_eq!(letters.len(), 2, "{letters:?}");
    let texts = letters.iter().map(|letter| letter.text.as_str()).collect::<String>();
    assert!(texts.contains("> stays") && texts.contains("> changed") && texts.contains("look"), "{texts}");
    assert!(!texts.contains("deleted") && !texts.contains("earlier"), "{texts}");

    bob.send_direct(&[&ada], "not in letters").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    owner.patch("/realm", json!({"message_content_allowed_in_email_notifications": false})).await.ok();
    server.clock.advance(15 * 60);
    let letters = mailbox.take(&server, &ada).await;
    assert_eq!((letters.len(), letters[0].subject.as_str()), (1, "New messages"));
    assert!(!letters[0].text.contains("not in letters"), "{}", letters[0].text);

    bob.send_direct(&[&ada], "the last one").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    let of_ada =
        "SELECT count(*) FROM outgoing_mail WHERE kind = 'missed_messages' AND recipient = 'ada@example.com'";
    assert_eq!(server.column(of_ada).await, ["1"]);
    owner.post("/realm/deactivate", ()).await.ok();
    // Those to owners come first, and no mail server accepts them.
    server.sql("DELETE FROM outgoing_mail WHERE kind = 'organization_deactivated'").await;
    server.clock.advance(15 * 60);
    assert!(mailbox.take(&server, &ada).await.is_empty());
    assert_eq!(server.column("SELECT count(*) FROM missed_batch").await, ["0"]);
}

// conformance: missed-18
#[tokio::test]
async fn letters_that_wait_for_the_mail_server_leave_out_what_was_read() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada, &bob]).await;
    let one = bob.send_direct(&[&ada], "one").await;
    bob.send_direct(&[&ada], "two").await;
    let three = bob.send(general, "x", "@**Ada** three").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    assert_eq!(server.column("SELECT count(*) FROM outgoing_mail").await, ["2"]);
    let flags = json!({"messages": [one, three], "op": "add", "flag": "read"});
    ada.post("/messages/flags", flags).await.ok();
    server.clock.advance(15 * 60);
    let letters = mailbox.take(&server, &ada).await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    assert!(letters[0].text.starts_with("> two\n\n"), "{}", letters[0].text);
}

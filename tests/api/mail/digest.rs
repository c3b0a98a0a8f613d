//! The weekly digest.

use super::DAY;
use super::mailbox::{Mailbox, fill_queue};
use crate::harness::{Client, TestServer};
use serde_json::json;
use teamchat::scheduler;

/// The day of the week on which clocks of test servers start, a Monday, and the one six days later.
const MONDAY: i64 = 0;
pub const SUNDAY: i64 = 6;

/// A server on whose first day Ada was there for the last time, with a channel of hers and Bob's.
pub async fn absent() -> (Mailbox, TestServer, Client, Client, i64) {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("general", &[&ada, &bob]).await;
    server.set_realm_setting("name", json!("Example")).await;
    server.set_realm_setting("digest_weekday", json!(SUNDAY)).await;
    server.set_realm_setting("digest_emails_enabled", json!(true)).await;
    server.clock.advance(3 * DAY);
    (mailbox, server, ada, bob, channel)
}

// conformance: missed-16
#[tokio::test]
async fn absent_people_get_what_happened() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    let cleo = server.member("cleo").await;
    server.channel("news", &[&bob]).await;
    server.private_channel("secret", &[&bob]).await;
    let elsewhere = server.channel("elsewhere", &[&bob]).await;
    for topic in ["one", "two", "three", "four", "five"] {
        bob.send(channel, topic, &format!("first of {topic}")).await;
    }
    for number in 0..3 {
        bob.send(channel, "five", &format!("number {number}")).await;
    }
    cleo.send(channel, "two", "from Cleo").await;
    bob.send(elsewhere, "other", "not hers").await;
    assert!(mailbox.take(&server, &ada).await.is_empty(), "it is Thursday");
    server.clock.advance(3 * DAY);
    let letters = mailbox.take(&server, &ada).await;
    assert_eq!(letters.len(), 1);
    let (subject, text) = (&letters[0].subject, &letters[0].text);
    assert_eq!(subject, "Digest for Example");
    let unsubscribe = letters[0].rest["unsubscribe"].as_str().unwrap();
    assert!(unsubscribe.contains("/accounts/unsubscribe/digest/"), "{unsubscribe}");
    let two = text.find("#general > two").unwrap();
    assert!(two < text.find("#general > five").unwrap(), "most people wrote there: {text}");
    assert!(text.contains("Bob:\n> first of two") && text.contains("Cleo:\n> from Cleo"), "{text}");
    assert!(text.contains("> number 0") && !text.contains("> number 1"), "{text}");
    assert!(text.contains("2 more messages"), "{text}");
    assert_eq!(text.matches("#general > ").count(), 4, "{text}");
    assert!(text.contains("#news") && text.contains("#elsewhere"), "new channels: {text}");
    assert!(!text.contains("secret") && !text.contains("not hers"), "{text}");

    // Once a week, and not if nothing happened.
    assert!(mailbox.take(&server, &ada).await.is_empty());
    server.clock.advance(7 * DAY);
    assert!(mailbox.take(&server, &ada).await.is_empty());
    assert_eq!(server.column("SELECT count(*) FROM digest").await, ["3"]);
}

/// A clock that test servers advance stops at each time at which something is due: of the days, only at those with digests.
#[tokio::test]
async fn nothing_is_due_on_days_without_digests() {
    let (_mailbox, server, ..) = absent().await;
    let thursday = server.clock.seconds().div_euclid(DAY);
    let mut beginnings = Vec::new();
    while let Some(due) = scheduler::settle(server.app()).await
        && due < (thursday + 14) * DAY
    {
        if due % DAY == 0 {
            beginnings.push(due / DAY);
        }
        server.clock.advance(due - server.clock.seconds());
    }
    assert_eq!(beginnings, [thursday + 3, thursday + 10]);
}

// conformance: missed-16
#[tokio::test]
async fn digests_are_for_absent_people_who_want_them() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    bob.send(channel, "lunch", "hello").await;
    server.set_realm_setting("digest_emails_enabled", json!(false)).await;
    server.clock.advance(3 * DAY);
    assert!(mailbox.take(&server, &ada).await.is_empty(), "the organization has none");
    server.set_realm_setting("digest_emails_enabled", json!(true)).await;
    server.set_realm_setting("digest_weekday", json!(MONDAY)).await;
    assert!(mailbox.take(&server, &ada).await.is_empty(), "another day");
    server.set_realm_setting("digest_weekday", json!(SUNDAY)).await;
    for (name, value) in
        [("enable_digest_emails", "false"), ("message_content_in_email_notifications", "false")]
    {
        let user_id = ada.user_id;
        server.sql(&format!("INSERT INTO user_setting VALUES ({user_id}, '{name}', '{value}')")).await;
        assert!(mailbox.take(&server, &ada).await.is_empty(), "{name}");
        server
            .sql(
                "DELETE FROM user_setting; DELETE FROM digest; DELETE FROM counter WHERE name = 'digest_day'",
            )
            .await;
    }
    assert!(mailbox.take(&server, &bob).await.is_empty(), "he was there");
    server.sql("DELETE FROM digest; DELETE FROM counter WHERE name = 'digest_day'").await;
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1);
}

/// The digests for which the queue of emails has no room come when it has, also on a later day.
#[tokio::test]
async fn digests_wait_for_room_in_the_queue() {
    let (_mailbox, server, ada, bob, channel) = absent().await;
    let cleo = server.member("cleo").await;
    let other = server.channel("other", &[&bob, &cleo]).await;
    server
        .sql(&format!(
            "UPDATE user SET date_joined = 1 WHERE user_id = {};
             UPDATE subscription_span SET from_message_id = 1 WHERE stream_id = {other}",
            cleo.user_id
        ))
        .await;
    bob.send(channel, "lunch", "hello").await;
    bob.send(other, "lunch", "hello").await;
    fill_queue(&server, 14_999).await;
    server.clock.advance(3 * DAY);
    let receivers = async || {
        scheduler::settle(server.app()).await;
        server.column("SELECT recipient FROM outgoing_mail WHERE kind = 'digest' ORDER BY id").await
    };
    assert_eq!(receivers().await, [ada.email.as_str()]);
    server.sql("DELETE FROM outgoing_mail WHERE kind = 'x'").await;
    assert_eq!(receivers().await, [ada.email.as_str()], "it looks from time to time");
    server.clock.advance(DAY);
    assert_eq!(receivers().await, [ada.email.as_str(), cleo.email.as_str()]);
    server.clock.advance(DAY);
    assert_eq!(receivers().await, [ada.email.as_str(), cleo.email.as_str()]);
}

#[tokio::test]
async fn a_digest_that_fails_is_not_tried_all_the_time() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    bob.send(channel, "lunch", "hello").await;
    let user_id = ada.user_id;
    let insert = "INSERT INTO user_setting (user_id, property, value)";
    server.sql(&format!("{insert} VALUES ({user_id}, 'enable_digest_emails', 'x')")).await;
    server.clock.advance(3 * DAY);
    scheduler::settle(server.app()).await;
    server.sql(&format!("DELETE FROM user_setting WHERE user_id = {user_id}")).await;
    assert!(mailbox.take(&server, &ada).await.is_empty());
    server.clock.advance(10 * 60);
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1);
}

#[tokio::test]
async fn digests_come_after_a_stop_that_interrupts_them() {
    let (mailbox, mut server, ada, bob, channel) = absent().await;
    bob.send(channel, "lunch", "hello").await;
    scheduler::settle(server.app()).await;
    server.app().writer.background().stop();
    server.clock.advance(3 * DAY);
    scheduler::settle(server.app()).await;
    server.stop().await;
    server.clock.advance(DAY);
    server.restart().await;
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1);
}

/// Times after now, as of a clock that was ahead, or in an import.
#[tokio::test]
async fn times_that_have_not_come_yet_keep_no_one_from_a_digest() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    bob.send(channel, "lunch", "hello").await;
    let (user_id, later) = (ada.user_id, server.clock.seconds() + 1000 * DAY);
    server
        .sql(&format!(
            "INSERT INTO presence (user_id, last_connected_time, update_id) VALUES ({user_id}, {later}, 1000);
             UPDATE api_key_use SET last_used = {later} WHERE api_key_id IN (SELECT id FROM api_key WHERE user_id = {user_id});
             UPDATE user SET date_joined = {later} WHERE user_id = {user_id};
             INSERT INTO digest (user_id, sent) VALUES ({user_id}, {later});
             INSERT INTO counter (name, value) VALUES ('digest_day', {later} / {DAY})"
        ))
        .await;
    server.clock.advance(3 * DAY);
    assert_eq!(mailbox.take(&server, &ada).await.len(), 1);
    assert!(mailbox.take(&server, &ada).await.is_empty(), "once");
}

// conformance: missed-16
#[tokio::test]
async fn muted_topics_and_new_subscriptions_are_left_out() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    bob.send(channel, "muted", "hello").await;
    let later = server.channel("later", &[&bob, &ada]).await;
    server.sql(&format!("UPDATE stream SET date_created = 1 WHERE stream_id = {later}")).await;
    bob.send(channel, "before", "hello").await;
    server.sql(&format!("UPDATE subscription_span SET from_message_id = 3 WHERE stream_id = {later}")).await;
    bob.send(later, "new", "hello").await;
    let user_id = ada.user_id;
    server
        .sql(&format!(
            "INSERT INTO user_topic (user_id, stream_id, name_key, topic_name, visibility_policy, last_updated)
             VALUES ({user_id}, {channel}, 'muted', 'muted', 1, 1)"
        ))
        .await;
    server.clock.advance(3 * DAY);
    let letters = mailbox.take(&server, &ada).await;
    let text = &letters[0].text;
    assert!(text.contains("#general > before"), "{text}");
    assert!(!text.contains("muted") && !text.contains("#later"), "{text}");
}

// conformance: missed-16
#[tokio::test]
async fn what_muted_people_wrote_is_left_out() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    let cleo = server.member("cleo").await;
    let muting = format!("INSERT INTO muted_user VALUES ({}, {}, 1)", ada.user_id, cleo.user_id);
    server.sql(&muting).await;
    cleo.send(channel, "hers", "only the muted one").await;
    cleo.send(channel, "both", "from the muted one").await;
    bob.send(channel, "both", "from Bob").await;
    server.clock.advance(3 * DAY);
    let letters = mailbox.take(&server, &ada).await;
    let (text, html) = (&letters[0].text, &letters[0].html);
    assert!(text.contains("Bob:\n> from Bob") && !text.contains("#general > hers"), "{text}");
    for part in [text, html] {
        assert!(!part.contains("muted") && !part.contains("Cleo"), "{part}");
    }
}

// conformance: missed-16
#[tokio::test]
async fn a_digest_that_waits_is_dropped_if_its_messages_change() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    let owner = server.owner().await;
    let message_id = bob.send(channel, "lunch", "hello").await;
    server.clock.advance(3 * DAY);
    scheduler::settle(server.app()).await;
    assert_eq!(server.column("SELECT recipient FROM outgoing_mail").await, ["ada@example.com"]);
    owner.delete(&format!("/messages/{message_id}"), ()).await.ok();
    server.clock.advance(15 * 60);
    assert!(mailbox.take(&server, &ada).await.is_empty());
}

// conformance: missed-16
#[tokio::test]
async fn only_messages_that_the_reader_may_read_count() {
    let (mailbox, server, ada, bob, channel) = absent().await;
    let owner = server.owner().await;
    let cleo = server.member("cleo").await;
    server.sql(&format!("INSERT INTO muted_user VALUES ({}, {}, 1)", ada.user_id, cleo.user_id)).await;
    let archived = server.channel("archived", &[&ada, &bob]).await;
    let epoch = format!("UPDATE subscription_span SET from_message_id = 1 WHERE stream_id = {archived}");
    server.sql(&epoch).await;
    bob.send(archived, "gone", "in the archive").await;
    for number in 0..3 {
        bob.send(channel, "counted", &format!("number {number}")).await;
    }
    cleo.send(channel, "counted", "from the muted one").await;
    owner.delete(&format!("/streams/{archived}"), ()).await.ok();
    server.clock.advance(3 * DAY);
    let letters = mailbox.take(&server, &ada).await;
    let text = &letters[0].text;
    assert!(text.contains("1 more message") && !text.contains("more messages"), "{text}");
    assert!(!text.contains("in the archive") && !text.contains("archived"), "{text}");
}

// conformance: missed-16
#[tokio::test]
async fn guests_learn_of_new_channels_that_are_web_public() {
    let (mailbox, server, _ada, bob, _channel) = absent().await;
    let (owner, gus) = (server.owner().await, server.guest("gus").await);
    server.sql("UPDATE user SET date_joined = 1 WHERE email = 'gus@example.com'").await;
    owner.patch("/realm", json!({"enable_spectator_access": true})).await.ok();
    let own = server.channel("own", &[&bob, &gus]).await;
    server.sql(&format!("UPDATE subscription_span SET from_message_id = 1 WHERE stream_id = {own}")).await;
    server.channel("public", &[&bob]).await;
    let web = server.channel("web", &[&bob]).await;
    owner.patch(&format!("/streams/{web}"), json!({"is_web_public": true})).await.ok();
    bob.send(own, "lunch", "hello").await;
    bob.send(web, "lunch", "not for subscribers").await;
    server.clock.advance(3 * DAY);
    let letters = mailbox.take(&server, &gus).await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    let text = &letters[0].text;
    assert!(text.contains("#own > lunch") && text.contains("Bob:\n> hello"), "{text}");
    assert!(text.contains("#web: ") && !text.contains("#public") && !text.contains("#own: "), "{text}");
    assert!(!text.contains("not for subscribers"), "{text}");
}

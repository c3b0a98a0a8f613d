//! Limits on moving messages to other topics and channels.

use super::too_many;
use crate::harness::{Client, TestServer};
use serde_json::json;
use teamchat::domain::limits;

/// A move rewrites each message.
#[tokio::test]
async fn a_request_moves_a_limited_number_of_messages() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    let limit = limits::MAX_MOVED_MESSAGES;
    let first = ada.send(general, "topic", "x").await;
    server.add_copies(first, limit.try_into().unwrap()).await;
    let shift = async |client: &Client, id: i64, topic: &str, mode: &str| {
        client.patch(&format!("/messages/{id}"), json!({"topic": topic, "propagate_mode": mode})).await
    };
    for topic in ["other", "\u{2714} topic"] {
        too_many(&shift(&ada, first, topic, "change_all").await, "messages to move", limit);
    }
    shift(&ada, first + 1, "other", "change_later").await.ok();
    let last = first + i64::try_from(limit).unwrap();
    assert_eq!(ada.message(last).await["subject"], "other");
    server.add_copies(last, 1).await;
    shift(&owner, last, "topic", "change_all").await.ok();
    assert_eq!(ada.message(last).await["subject"], "topic");

    let long = ada.send(general, "long", &"\u{1f600}".repeat(2_400)).await;
    server.add_copies(long, 150).await;
    let refused = shift(&ada, long, "longer", "change_all").await;
    refused.error(400, "BAD_REQUEST", "Too much text in these messages (limit: 8 MiB)");
    shift(&ada, long + 130, "longer", "change_later").await.ok();
}

/// Anyone may resolve topics again and again, and each time all of their messages are rewritten.
#[tokio::test]
async fn a_person_moves_a_limited_number_of_messages_in_an_hour() {
    let server = TestServer::start().await;
    let (moderator, ada) = (server.moderator("moderator").await, server.member("ada").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("helper", &ada).await;
    let general = server.channel("general", &[&moderator, &ada, &guest, &bot]).await;
    let first = ada.send(general, "topic", "x").await;
    server.add_copies(first, 4_799).await;
    let short = ada.send(general, "short", "x").await;
    let resolve = async |client: &Client, id: i64, topic: &str| {
        client
            .patch(&format!("/messages/{id}"), json!({"topic": topic, "propagate_mode": "change_all"}))
            .await
    };
    let minutes =
        |count| format!("You have moved too many messages within an hour. Try again in {count} minutes.");
    for topic in ["\u{2714} topic", "topic", "\u{2714} topic", "topic"] {
        resolve(&ada, first, topic).await.ok();
    }
    resolve(&ada, first, "\u{2714} topic").await.error(400, "BAD_REQUEST", &minutes(60));
    // The bots of a person count for them.
    resolve(&bot, short, "\u{2714} short").await.error(400, "BAD_REQUEST", &minutes(60));
    resolve(&guest, short, "\u{2714} short").await.ok();
    resolve(&moderator, first, "\u{2714} topic").await.ok();
    server.clock.advance(59 * 60);
    let refused = resolve(&ada, short, "short").await;
    let msg = "You have moved too many messages within an hour. Try again in a minute.";
    refused.error(400, "BAD_REQUEST", msg);
    server.clock.advance(60);
    resolve(&ada, short, "short").await.ok();
}

/// Long messages count for more, because all of their words are indexed again.
#[tokio::test]
async fn moving_long_messages_counts_for_more() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "topic", &"\u{1f600}".repeat(2_400)).await;
    server.add_copies(first, 31).await;
    let mut moved = 0;
    let refused = loop {
        let topic = format!("topic {moved}");
        let params = json!({"topic": topic, "propagate_mode": "change_all"});
        let answer = ada.patch(&format!("/messages/{first}"), params).await;
        if answer.status != 200 {
            break answer;
        }
        moved += 1;
    };
    assert_eq!(moved, 2);
    let msg = "You have moved too many messages within an hour. Try again in 60 minutes.";
    refused.error(400, "BAD_REQUEST", msg);
}

/// Everyone who reads a channel reads who received the messages that were moved there.
#[tokio::test]
async fn a_channel_has_a_limited_number_of_sets_of_receivers() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let (attic, cellar) =
        (server.channel("attic", &[&owner, &bob]).await, server.channel("cellar", &[&owner]).await);
    let shed = server.channel("shed", &[&owner, &ada, &bob]).await;
    let shift = async |from: i64| {
        let id = owner.send(from, "topic", "x").await;
        let params = json!({"stream_id": shed, "send_notification_to_new_thread": false});
        owner.patch(&format!("/messages/{id}"), params).await.ok();
        id
    };
    let flags = async |client: &Client, id: i64| client.message(id).await["flags"].clone();
    shift(garden).await;
    let limit = limits::MAX_SETS_OF_RECEIVERS;
    server
        .sql(&format!(
            "WITH RECURSIVE copy (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM copy WHERE number < {limit})
             INSERT INTO arrival (recipient_id, message_ids, user_ids)
             SELECT recipient_id, message_ids, user_ids FROM arrival CROSS JOIN copy"
        ))
        .await;
    let count = async || server.column("SELECT count(*) FROM arrival").await;
    assert_eq!(count().await, [limit.to_string()]);

    let mut queue = bob.register(json!({"event_types": ["update_message_flags"]})).await;
    let unreceived = shift(attic).await;
    let events = queue.take().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((&events[0]["flag"], &events[0]["messages"]), (&json!("read"), &json!([unreceived])));
    assert_eq!(flags(&bob, unreceived).await, json!(["read", "historical"]));
    shift(cellar).await;
    assert_eq!(count().await, [(limit + 1).to_string()]);

    // The stored sets can be used further.
    let received = shift(garden).await;
    assert_eq!(flags(&ada, received).await, json!([]));
    assert_eq!(count().await, [(limit + 1).to_string()]);
}

//! `DELETE /streams/{stream_id}`, and the way back.

use super::{NO_CHANNEL, channel, channel_with, private_channel, seen};
use crate::harness::{Client, TestServer, kind};
use serde_json::json;

// conformance: channel-43, queue-40
#[tokio::test]
async fn archive_events_depend_on_capabilities() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let outsider = server.guest("guest").await;
    let id = channel_with(&owner, json!({"name": "verona", "subscribers": [ada.user_id]})).await;
    let types = json!(["stream", "subscription"]);
    let modern = json!({"event_types": types, "client_capabilities": {"archived_channels": true}});
    let mut adas = ada.register(&modern).await;
    let mut adas_older = ada.register(json!({"event_types": types})).await;
    let mut bobs_older = bob.register(json!({"event_types": types})).await;
    let mut outsiders = outsider.register(&modern).await;

    owner.delete(&format!("/streams/{id}"), ()).await.ok();
    adas.expect(&[json!({
        "type": "stream", "op": "update", "stream_id": id, "name": "verona", "property": "is_archived", "value": true,
    })])
    .await;
    let deleted =
        json!({"type": "stream", "op": "delete", "streams": [{"stream_id": id}], "stream_ids": [id]});
    adas_older.expect(std::slice::from_ref(&deleted)).await;
    bobs_older.expect(&[deleted]).await;
    assert_eq!(seen(&ada, id).await["is_archived"], json!(true));
    let error = owner.delete(&format!("/streams/{id}"), ()).await;
    error.error(400, "BAD_REQUEST", "Channel is already deactivated");

    // Subscribers receive events of an archived channel.
    owner.patch(&format!("/streams/{id}"), json!({"description": "gone"})).await.ok();
    bob.post("/users/me/subscriptions", json!({"subscriptions": [{"name": "verona"}]})).await.ok();
    ada.post(
        "/users/me/subscriptions/properties",
        json!({"subscription_data": [
            {"stream_id": id, "property": "pin_to_top", "value": true},
        ]}),
    )
    .await
    .ok();
    bob.delete("/users/me/subscriptions", json!({"subscriptions": ["verona"]})).await.ok();
    adas.expect_kinds(&[
        "stream/update",
        "subscription/peer_add",
        "subscription/update",
        "subscription/peer_remove",
    ])
    .await;
    adas_older.expect_nothing().await;
    bobs_older.expect_nothing().await;

    owner.patch(&format!("/streams/{id}"), json!({"is_archived": false})).await.ok();
    adas.expect(&[json!({
        "type": "stream", "op": "update", "stream_id": id, "name": "verona", "property": "is_archived", "value": false,
    })])
    .await;
    let events = adas_older.expect_kinds(&["stream/create", "subscription/add"]).await;
    assert_eq!(events[0]["streams"][0]["is_archived"], json!(false));
    assert_eq!(events[1]["subscriptions"][0]["pin_to_top"], json!(true));
    bobs_older.expect_kinds(&["stream/create"]).await;
    outsiders.expect_nothing().await;
}

// conformance: channel-45
#[tokio::test]
async fn an_archived_channel_is_no_default_channel() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let id = channel_with(&owner, json!({"name": "verona", "is_default_stream": true})).await;
    let mut queue = owner.register(json!({"event_types": ["default_streams"]})).await;
    owner.delete(&format!("/streams/{id}"), ()).await.ok();
    queue.expect(&[json!({"type": "default_streams", "default_streams": []})]).await;
    let error = owner.post("/default_streams", json!({"stream_id": id})).await;
    error.error(400, "BAD_REQUEST", "Invalid channel ID");
}

// conformance: channel-44
#[tokio::test]
async fn only_administrators_of_the_channel_archive_it() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (public, private) = (channel(&ada, "public").await, private_channel(&ada, "private").await);
    let error = bob.delete(&format!("/streams/{public}"), ()).await;
    error.error(400, "CANNOT_ADMINISTER_CHANNEL", "You do not have permission to administer this channel.");
    let (status, code, msg) = NO_CHANNEL;
    bob.delete(&format!("/streams/{private}"), ()).await.error(status, code, msg);
    owner.delete("/streams/9999", ()).await.error(status, code, msg);
    ada.delete(&format!("/streams/{public}"), ()).await.ok();
    owner.delete(&format!("/streams/{private}"), ()).await.ok();
}

// conformance: channel-46
#[tokio::test]
async fn channels_without_subscribers_stay_archived() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let id = channel_with(&owner, json!({"name": "empty", "invite_only": true})).await;
    owner.delete(&format!("/streams/{id}"), ()).await.ok();
    let error = owner.patch(&format!("/streams/{id}"), json!({"is_archived": false})).await;
    error.error(400, "BAD_REQUEST", "Channel is private and have no subscribers");
}

// conformance: channel-47
#[tokio::test]
async fn archive_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    channel_with(&owner, json!({"name": "stays", "subscribers": [guest.user_id]})).await;
    let id =
        channel_with(&owner, json!({"name": "verona", "subscribers": [ada.user_id, guest.user_id]})).await;
    let clients = [&owner, &ada, &bob, &guest];
    server.check_state_sync(&clients, async || owner.delete(&format!("/streams/{id}"), ()).await.ok()).await;
    server
        .check_state_sync(&clients, async || {
            owner
                .patch(&format!("/streams/{id}"), json!({"is_archived": false, "new_name": "rome"}))
                .await
                .ok()
        })
        .await;
}

// conformance: flag-24
#[tokio::test]
async fn nothing_of_an_archived_channel_is_unread() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    owner.patch("/settings", json!({"automatically_follow_topics_policy": 4})).await.ok();
    let first = owner.send(garden, "t", "one").await;
    let second = owner.send(garden, "t", "two").await;
    ada.post("/messages/flags", json!({"messages": [first], "op": "add", "flag": "read"})).await.ok();
    let register = json!({"event_types": ["update_message_flags", "message"]});
    let mut queue = ada.register(&register).await;
    let clients = [&owner, &ada];
    server
        .check_state_sync(&clients, async || owner.delete(&format!("/streams/{garden}"), ()).await.ok())
        .await;
    // The same holds for the notices about archiving.
    let events = queue.expect_kinds(&["message", "update_message_flags/add"]).await;
    assert_eq!(events[0]["flags"], json!(["read"]));
    assert_eq!((&events[1]["flag"], &events[1]["messages"]), (&json!("read"), &json!([second])));
    owner.patch(&format!("/streams/{garden}"), json!({"description": "gone"})).await.ok();
    assert_eq!(queue.expect_kinds(&["message"]).await[0]["flags"], json!(["read"]));
    let unread = ada.post("/register", ()).await.ok()["unread_msgs"].clone();
    assert_eq!((&unread["count"], &unread["streams"]), (&json!(0), &json!([])));
    owner.patch(&format!("/streams/{garden}"), json!({"is_archived": false})).await.ok();
    assert_eq!(queue.expect_kinds(&["message"]).await[0]["flags"], json!([]));
}

#[tokio::test]
async fn archiving_a_large_channel_takes_several_jobs() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let people = server.crowd(1100).await;
    let everybody: Vec<&Client> = people.iter().collect();
    let id = server.channel("large", &everybody).await;
    people[0].send(id, "t", "hello").await;
    let last = people.last().unwrap();
    let mut queue = last.register(json!({"event_types": ["update_message_flags"]})).await;
    let jobs = &server.app().writer.metrics().jobs;
    let before = jobs.get();
    owner.delete(&format!("/streams/{id}"), ()).await.ok();
    // The last of these users is in the last job.
    let events = queue.wait().await;
    assert_eq!(events.iter().map(kind).collect::<Vec<_>>(), ["update_message_flags/add"]);
    assert!(jobs.get() - before > 2, "one for every 500 subscribers");
    assert_eq!(last.post("/register", ()).await.ok()["unread_msgs"]["count"], 0);
}

//! `GET /streams`, `GET /streams/{stream_id}`, `GET /get_stream_id`.

use super::{NO_CHANNEL, channel, channel_with, names, private_channel, seen};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use teamchat::api::channels::recently_active;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::messages::channel_summary;
use teamchat::scheduler;

async fn listed(client: &Client, switches: Value) -> Vec<String> {
    let answer = client.get("/streams", switches).await.ok();
    names(&answer["streams"]).into_iter().map(str::to_owned).collect()
}

// conformance: channel-23, channel-24
#[tokio::test]
async fn the_switches_choose_channels() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("helper", &ada).await;
    server.set_realm_setting("enable_spectator_access", json!(true)).await;
    channel_with(&owner, json!({"name": "default", "is_default_stream": true})).await;
    channel(&bob, "public").await;
    channel_with(&owner, json!({"name": "web", "is_web_public": true})).await;
    private_channel(&ada, "ada's").await;
    private_channel(&bob, "bob's").await;
    let open = json!({"direct_members": [ada.user_id], "direct_subgroups": []});
    channel_with(&owner, json!({"name": "open", "invite_only": true, "can_subscribe_group": open})).await;
    channel_with(&owner, json!({"name": "run", "invite_only": true, "can_administer_channel_group": open}))
        .await;
    let id = channel_with(&ada, json!({"name": "old"})).await;
    owner.delete(&format!("/streams/{id}"), ()).await.ok();

    let nothing = json!({"include_public": false, "include_subscribed": false});
    let with = |switch: &str| {
        let mut switches = nothing.clone();
        switches[switch] = json!(true);
        switches
    };
    let cases: [(&Client, Value, &[&str]); 17] = [
        (&ada, json!({}), &["ada's", "default", "public", "web"]),
        (&ada, nothing.clone(), &[]),
        (&ada, with("include_public"), &["default", "public", "web"]),
        (&ada, with("include_web_public"), &["web"]),
        (&ada, with("include_subscribed"), &["ada's"]),
        (&ada, with("include_default"), &["default"]),
        (&ada, with("include_can_access_content"), &["ada's", "default", "open", "public", "web"]),
        (&ada, with("include_all"), &["ada's", "default", "open", "public", "run", "web"]),
        (&ada, with("include_owner_subscribed"), &[]),
        (&bot, with("include_owner_subscribed"), &["ada's"]),
        (&ada, json!({"exclude_archived": false}), &["ada's", "default", "old", "public", "web"]),
        (
            &owner,
            json!({"include_all": true}),
            &["ada's", "bob's", "default", "open", "public", "run", "web"],
        ),
        (
            &owner,
            json!({"include_all_active": true}),
            &["ada's", "bob's", "default", "open", "public", "run", "web"],
        ),
        (&owner, with("include_can_access_content"), &["default", "public", "web"]),
        (&guest, json!({}), &[]),
        (&guest, json!({"include_all": true}), &["web"]),
        (&guest, json!({"include_can_access_content": true}), &["web"]),
    ];
    for (client, switches, expected) in cases {
        assert_eq!(listed(client, switches.clone()).await, expected, "{} with {switches}", client.full_name);
    }
    let error = ada.get("/streams", json!({"include_all_active": true})).await;
    error.error(400, "BAD_REQUEST", "User not authorized for this query");
    let error = ada.get("/streams", json!({"include_public": "yes"})).await;
    error.error(400, "BAD_REQUEST", "include_public is not valid JSON");
}

// conformance: channel-25
#[tokio::test]
async fn default_channels_say_so_only_when_asked() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    channel_with(&owner, json!({"name": "default", "is_default_stream": true})).await;
    channel(&owner, "other").await;
    let streams = owner.get("/streams", json!({"include_default": true})).await.ok();
    let said: Vec<_> =
        streams["streams"].as_array().unwrap().iter().map(|stream| &stream["is_default"]).collect();
    assert_eq!(said, [true, false]);
    let streams = owner.get("/streams", ()).await.ok();
    assert!(streams["streams"][0].get("is_default").is_none(), "{streams}");
}

// conformance: channel-26
#[tokio::test]
async fn derived_channel_values_follow_from_messages() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = channel(&ada, "verona").await;
    server.clock.advance(10 * 24 * 60 * 60);
    for _ in 0..10 {
        ada.send(id, "lunch", "hi").await;
    }
    let stream = seen(&ada, id).await;
    assert_eq!(stream["first_message_id"], json!(1), "the notice of the notification bot");
    assert_eq!((&stream["stream_weekly_traffic"], &stream["is_recently_active"]), (&json!(7), &json!(true)));
    server.clock.advance(180 * 24 * 60 * 60);
    let stream = seen(&ada, id).await;
    assert_eq!((&stream["stream_weekly_traffic"], &stream["is_recently_active"]), (&json!(0), &json!(false)));
}

#[tokio::test]
async fn lists_of_channels_have_the_traffic_of_the_last_hour() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = channel(&ada, "verona").await;
    server.clock.advance(10 * 24 * 60 * 60);
    // Ten messages in ten days, and the notice of the notification bot before them.
    for (hours, traffic) in [(0, 7), (0, 7), (1, 21)] {
        for _ in 0..10 {
            ada.send(id, "lunch", "hi").await;
        }
        server.clock.advance(hours * 60 * 60);
        let streams = ada.get("/streams", ()).await.ok();
        let listed = streams["streams"].as_array().unwrap().iter().find(|one| one["stream_id"] == id);
        assert_eq!(listed.unwrap()["stream_weekly_traffic"], traffic);
    }
}

// conformance: channel-27
#[tokio::test]
async fn channels_are_found_with_access_only() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let (public, private) = (channel(&ada, "public").await, private_channel(&ada, "private").await);
    let (status, code, msg) = NO_CHANNEL;
    for (client, id, sees) in [
        (&owner, public, true),
        (&owner, private, true),
        (&ada, private, true),
        (&bob, public, true),
        (&bob, private, false),
        (&guest, public, false),
        (&bob, 9999, false),
    ] {
        let answer = client.get(&format!("/streams/{id}"), ()).await;
        if sees {
            assert_eq!(answer.ok()["stream"]["stream_id"], json!(id));
        } else {
            answer.error(status, code, msg);
        }
    }
    ada.get("/streams/verona", ()).await.error(400, "BAD_REQUEST", "stream_id is not valid JSON");
}

// conformance: channel-28
#[tokio::test]
async fn names_resolve_to_ids_for_readers() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let public = channel(&ada, "Verona").await;
    let private = private_channel(&ada, "secret").await;
    let found = bob.get("/get_stream_id", json!({"stream": "VERONA"})).await.ok();
    assert_eq!(found["stream_id"], json!(public));
    assert_eq!(
        ada.get("/get_stream_id", json!({"stream": "secret"})).await.ok()["stream_id"],
        json!(private)
    );
    for (client, name) in [(&bob, "secret"), (&owner, "secret"), (&bob, "nowhere")] {
        let error = client.get("/get_stream_id", json!({"stream": name})).await;
        error.error(400, "BAD_REQUEST", &format!("Invalid channel name '{name}'"));
    }
    let error = bob.get("/get_stream_id", ()).await;
    error.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'stream' argument");
}

// conformance: channel-29
#[tokio::test]
async fn state_lists_visible_channels_once() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let group = json!(SystemGroup::Members.id());
    channel_with(&owner, json!({"name": "a", "subscribers": [ada.user_id, guest.user_id]})).await;
    channel_with(&owner, json!({"name": "b", "invite_only": true, "can_subscribe_group": group})).await;
    private_channel(&owner, "c").await;
    let left = channel_with(&owner, json!({"name": "d", "subscribers": [ada.user_id, guest.user_id]})).await;
    for client in [&ada, &guest] {
        client.delete("/users/me/subscriptions", json!({"subscriptions": ["d"]})).await.ok();
    }
    let archived = channel_with(&owner, json!({"name": "e", "subscribers": [ada.user_id]})).await;
    owner.delete(&format!("/streams/{archived}"), ()).await.ok();
    let lists = ["streams", "subscriptions", "unsubscribed", "never_subscribed"];
    let cases: [(&Client, bool, [&[&str]; 4]); 4] = [
        (&ada, false, [&["a", "b", "d"], &["a"], &["d"], &["b"]]),
        (&ada, true, [&["a", "b", "d", "e"], &["a", "e"], &["d"], &["b"]]),
        (&guest, true, [&["a"], &["a"], &[], &[]]),
        (&owner, false, [&["a", "b", "c", "d"], &["c"], &[], &["a", "b", "d"]]),
    ];
    for (client, archived_channels, expected) in cases {
        let parameters = json!({
            "fetch_event_types": ["stream", "subscription", "default_streams"],
            "event_types": [],
            "client_capabilities": {"archived_channels": archived_channels},
        });
        let queue = client.register(parameters).await;
        for (list, expected) in lists.into_iter().zip(expected) {
            assert_eq!(names(&queue.state[list]), expected, "{list} of {}", client.full_name);
        }
        assert_eq!(queue.state["realm_default_streams"], json!([]));
    }
    assert_eq!(seen(&ada, left).await["subscriber_count"], json!(0));
    let queue = ada.register(json!({"fetch_event_types": ["realm"], "event_types": []})).await;
    for list in lists {
        assert!(queue.state.get(list).is_none(), "{list} was not asked for");
    }
}

// conformance: channel-70
#[tokio::test]
async fn a_deletion_can_make_a_channel_inactive_earlier() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = server.channel("fair", &[&owner]).await;
    server.clock.advance(90 * DAY);
    let newest = owner.send(channel, "topic", "hello").await;
    server.clock.advance(90 * DAY - 3600);
    let due = async || {
        let look = recently_active::emit_silent_channels(server.app());
        look.await.unwrap().unwrap() - server.clock.seconds()
    };
    assert_eq!(due().await, DAY);
    owner.delete(&format!("/messages/{newest}"), ()).await.ok();
    assert_eq!(due().await, 3600);
}

/// A look that read its snapshot before the deletion does not put off the next one.
#[tokio::test]
async fn a_deletion_during_a_look_makes_the_next_look_earlier() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = server.channel("fair", &[&owner]).await;
    server.clock.advance(90 * DAY);
    let newest = owner.send(channel, "topic", "hello").await;
    server.clock.advance(90 * DAY - 3600);
    let (app, now) = (server.app(), server.clock.seconds());
    scheduler::settle(app).await;

    app.writer.run(|tx| channel_summary::begin_look(tx)).await.unwrap();
    let (silent, next) =
        app.readers.read(|snapshot| channel_summary::silent_channels(snapshot, now)).await.unwrap();
    assert_eq!((silent.len(), next), (0, now + DAY));
    owner.delete(&format!("/messages/{newest}"), ()).await.ok();
    app.writer.run(move |tx| channel_summary::set_looked(tx, now, next)).await.unwrap();
    let due = app.readers.read(|snapshot| channel_summary::next_look(snapshot)).await.unwrap();
    assert_eq!(due, Some(now + 3600));
}

// conformance: channel-70
#[tokio::test]
async fn channels_that_become_inactive_emit_an_event() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let look = async || recently_active::emit_silent_channels(server.app()).await.unwrap().unwrap();
    let (old, new) = (server.channel("old", &[&ada]).await, server.channel("new", &[&ada]).await);
    look().await;
    server.clock.advance(90 * DAY);
    ada.send(new, "topic", "hello").await;
    look().await;
    let mut queue = ada.register(json!({"event_types": ["stream"]})).await;
    server.clock.advance(90 * DAY);
    look().await;
    let silent = |stream_id: i64, name: &str| {
        json!({"type": "stream", "op": "update", "stream_id": stream_id, "name": name,
            "property": "is_recently_active", "value": false})
    };
    queue.expect(&[silent(old, "old")]).await;
    look().await;
    server.clock.advance(90 * DAY - 1);
    look().await;
    queue.expect_nothing().await;
    // The next look is when the channel becomes silent, and otherwise once a day.
    let due = look().await;
    assert_eq!(due - server.clock.seconds(), 1);
    server.clock.advance(1);
    let next = look().await;
    queue.expect(&[silent(new, "new")]).await;
    assert_eq!(next - server.clock.seconds(), DAY);
}

//! `GET /users/me/subscriptions`, `GET /users/{user_id}/subscriptions/{stream_id}`, `GET /streams/{stream_id}/members`.

use super::members;
use crate::channels::{NO_CHANNEL, channel, channel_with, names, private_channel};
use crate::harness::TestServer;
use serde_json::{Value, json};

// conformance: subscribe-24
#[tokio::test]
async fn own_subscriptions_come_by_name_with_every_field() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let z = channel(&ada, "z").await;
    private_channel(&ada, "a").await;
    channel(&owner, "not ada's").await;
    let archived = channel(&ada, "archived").await;
    ada.delete(&format!("/streams/{archived}"), ()).await.ok();
    let own = ada.get("/users/me/subscriptions", ()).await.ok()["subscriptions"].clone();
    assert_eq!(names(&own), ["a", "z"]);
    let mut expected = ada.get(&format!("/streams/{z}"), ()).await.ok()["stream"].clone();
    for (name, value) in [
        ("color", own[1]["color"].clone()),
        ("is_muted", json!(false)),
        ("in_home_view", json!(true)),
        ("pin_to_top", json!(false)),
        ("desktop_notifications", json!(null)),
        ("audible_notifications", json!(null)),
        ("push_notifications", json!(null)),
        ("email_notifications", json!(null)),
        ("wildcard_mentions_notify", json!(null)),
    ] {
        expected[name] = value;
    }
    assert_eq!(own[1], expected);
    let color = own[1]["color"].as_str().unwrap();
    assert!(color.len() == 7 && color.starts_with('#') && color == color.to_lowercase(), "{color}");
}

// conformance: subscribe-25
#[tokio::test]
async fn subscribers_are_named_as_asked() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (cleo, bot) = (server.member("cleo").await, server.bot("helper", &ada).await);
    let dan = server.member("dan").await;
    for client in [&bob, &dan] {
        client.post("/users/me/presence", &[("status", "active")]).await.ok();
    }
    server.clock.advance(15 * 24 * 60 * 60);
    dan.post("/users/me/presence", &[("status", "idle")]).await.ok();
    let everybody = json!([ada.user_id, bob.user_id, cleo.user_id, bot.user_id, dan.user_id]);
    let id = channel_with(&ada, json!({"name": "verona", "subscribers": everybody})).await;
    ada.send(id, "t", "hi").await;
    let mut listening = cleo.register(json!({"event_types": [], "fetch_event_types": []})).await;
    listening.ignore();
    let partial = json!([ada.user_id, cleo.user_id, bot.user_id, dan.user_id]);
    let cases: [(&str, Value, Value); 3] = [
        ("false", Value::Null, Value::Null),
        ("true", everybody.clone(), Value::Null),
        // All of a channel with so few, too.
        ("partial", everybody, partial),
    ];
    for (asked, subscribers, partial_subscribers) in cases {
        let parameters = json!({"include_subscribers": asked, "fetch_event_types": ["subscription"]});
        let state = ada.register(parameters).await.state.clone();
        for subscription in [
            ada.get("/users/me/subscriptions", json!({"include_subscribers": asked})).await.ok()["subscriptions"][0]
                .clone(),
            state["subscriptions"][0].clone(),
        ] {
            assert_eq!(subscription["subscribers"], subscribers, "{asked}");
            assert_eq!(subscription["partial_subscribers"], partial_subscribers, "{asked}");
            assert_eq!(subscription["subscriber_count"], json!(5), "{asked}");
        }
    }
    let error = ada.get("/users/me/subscriptions", json!({"include_subscribers": "some"})).await;
    error.error(400, "BAD_REQUEST", "include_subscribers is not a boolean");
}

// conformance: subscribe-26
#[tokio::test]
async fn visible_channels_show_their_subscribers() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let (public, private) = (channel(&ada, "public").await, private_channel(&ada, "private").await);
    assert_eq!(members(&bob, public).await, json!([ada.user_id]));
    assert_eq!(members(&owner, private).await, json!([ada.user_id]));
    let status = |user: i64, stream: i64| format!("/users/{user}/subscriptions/{stream}");
    let (code, kind, msg) = NO_CHANNEL;
    for (client, id) in [(&bob, private), (&guest, public), (&bob, 9999)] {
        client.get(&format!("/streams/{id}/members"), ()).await.error(code, kind, msg);
        client.get(&status(ada.user_id, id), ()).await.error(code, kind, msg);
    }
    for (user, expected) in [(&ada, true), (&bob, false), (&guest, false)] {
        let answer = bob.get(&status(user.user_id, public), ()).await.ok();
        assert_eq!(answer["is_subscribed"], json!(expected), "{}", user.full_name);
    }
    bob.get(&status(9999, public), ()).await.error(400, "BAD_REQUEST", "No such user");
    bob.get("/users/ada/subscriptions/1", ()).await.error(400, "BAD_REQUEST", "user_id is not valid JSON");
}

/// Clients receive all 249 subscribers of a channel, but of 250 only recently active ones and the caller.
// conformance: subscribe-25
#[tokio::test]
async fn large_channels_have_partial_subscribers() {
    let server = TestServer::start().await;
    let crowd = server.crowd(250).await;
    let ids: Vec<i64> = crowd.iter().map(|client| client.user_id).collect();
    let all: Vec<_> = crowd.iter().collect();
    server.channel("few", &all[..249]).await;
    server.channel("many", &all).await;
    server.clock.advance(60 * 24 * 60 * 60);
    // Users with a queue are active, from the next change on that follows its registration.
    crowd[0].register(json!({})).await;
    crowd[7].post("/users/me/presence", json!({"status": "active"})).await.ok();
    let asked = json!({"include_subscribers": "partial", "fetch_event_types": ["subscription"]});
    let state = crowd[0].post("/register", asked).await.ok();
    let [few, many] = [0, 1].map(|place| &state["subscriptions"][place]);
    assert_eq!((&few["name"], &few["subscribers"]), (&json!("few"), &json!(ids[..249])));
    assert_eq!((&many["name"], &many["subscribers"]), (&json!("many"), &json!(null)));
    assert_eq!(many["partial_subscribers"], json!([ids[0], ids[7]]));
    assert_eq!([&few["subscriber_count"], &many["subscriber_count"]], [249, 250]);
}

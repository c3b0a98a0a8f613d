//! `DELETE /users/me/subscriptions`.

use super::{members, subscribe};
use crate::channels::{NO_PERMISSION, channel, channel_with, private_channel};
use crate::harness::{Answer, Client, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

async fn leave(client: &Client, names: &[&str], principals: Option<Value>) -> Answer {
    let mut parameters = json!({"subscriptions": names});
    if let Some(principals) = principals {
        parameters["principals"] = principals;
    }
    client.request(Method::DELETE, "/users/me/subscriptions").form(parameters).send().await
}

// conformance: subscribe-16, subscribe-17
#[tokio::test]
async fn ended_and_unknown_sessions_are_distinguished() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let one = channel(&ada, "One").await;
    channel(&bob, "two").await;
    let answer = leave(&ada, &["one", "ONE", " two "], None).await.ok();
    assert_eq!((&answer["removed"], &answer["not_removed"]), (&json!(["One"]), &json!(["two"])));
    assert_eq!(members(&bob, one).await, json!([]));
    // Some clients put the parameters into the query string.
    let answer = bob.delete("/users/me/subscriptions", json!({"subscriptions": ["two"]})).await.ok();
    assert_eq!(answer["removed"], json!(["two"]));
    let answer = leave(&bob, &[], None).await.ok();
    assert_eq!((&answer["removed"], &answer["not_removed"]), (&json!([]), &json!([])));
}

// conformance: subscribe-18, subscribe-19
#[tokio::test]
async fn permissions_to_unsubscribe_others() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let bot = server.bot("helper", &bob).await;
    let everybody = json!([ada.user_id, bob.user_id, cleo.user_id, bot.user_id]);
    let public = channel_with(&ada, json!({"name": "public", "subscribers": everybody})).await;
    let remove = json!({"direct_members": [cleo.user_id], "direct_subgroups": []});
    let parameters = json!({
        "name": "private", "invite_only": true, "subscribers": [ada.user_id, bob.user_id],
        "can_remove_subscribers_group": remove,
    });
    channel_with(&ada, parameters).await;
    let (status, code, msg) = NO_PERMISSION;
    leave(&bob, &["public"], Some(json!([cleo.user_id]))).await.error(status, code, msg);
    // A permission in one channel is none in another of the same request.
    let own = channel_with(&bob, json!({"name": "own", "subscribers": [bob.user_id, cleo.user_id]})).await;
    leave(&bob, &["own", "public"], Some(json!([cleo.user_id]))).await.error(status, code, msg);
    assert_eq!(members(&owner, own).await, json!([bob.user_id, cleo.user_id]));
    leave(&bob, &["own"], Some(json!([cleo.user_id]))).await.ok();
    leave(&bob, &["public"], Some(json!([bot.user_id, bob.user_id]))).await.ok();
    leave(&ada, &["public"], Some(json!(["cleo@example.com"]))).await.ok();
    leave(&owner, &["public"], Some(json!([ada.user_id]))).await.ok();
    assert_eq!(members(&owner, public).await, json!([]));
    // Users without access to a channel cannot remove subscribers.
    let missing = (400, "BAD_REQUEST", "Channel(s) (private) do not exist");
    let error = leave(&cleo, &["private"], Some(json!([bob.user_id]))).await;
    error.error(missing.0, missing.1, missing.2);
    subscribe(&ada, "private", json!({"principals": [cleo.user_id]})).await.ok();
    leave(&cleo, &["private"], Some(json!([bob.user_id]))).await.ok();
    leave(&owner, &["private"], Some(json!([cleo.user_id]))).await.ok();
}

// conformance: subscribe-19
#[tokio::test]
async fn bad_requests_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    channel(&ada, "verona").await;
    let cases = [
        (json!({"subscriptions": ["a", "verona", "b"]}), "Channel(s) (a, b) do not exist"),
        (json!({"subscriptions": [""]}), "Channel name can't be empty."),
        (json!({"subscriptions": "verona"}), "subscriptions is not valid JSON"),
        (json!({"subscriptions": [{"name": "verona"}]}), "subscriptions[0] is not a string"),
        (json!({"subscriptions": ["verona"], "principals": [9999]}), "No such user"),
    ];
    for (parameters, msg) in cases {
        ada.delete("/users/me/subscriptions", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let error = ada.delete("/users/me/subscriptions", ()).await;
    error.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'subscriptions' argument");
}

// conformance: subscribe-20
#[tokio::test]
async fn events_reach_only_affected_users() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let (guest, outsider) = (server.guest("guest").await, server.guest("outsider").await);
    let both = json!([bob.user_id, guest.user_id]);
    let public = channel_with(&ada, json!({"name": "public", "subscribers": both})).await;
    let private =
        channel_with(&ada, json!({"name": "private", "invite_only": true, "subscribers": both})).await;
    let types = json!({"event_types": ["stream", "subscription"]});
    let [mut owners, mut bobs, mut cleos, mut guests, mut outsiders] = [
        owner.register(&types).await,
        bob.register(&types).await,
        cleo.register(&types).await,
        guest.register(&types).await,
        outsider.register(&types).await,
    ];
    leave(&owner, &["public", "private"], Some(both.clone())).await.ok();
    let removed = json!({"type": "subscription", "op": "remove", "subscriptions": [
        {"stream_id": public, "name": "public"}, {"stream_id": private, "name": "private"},
    ]});
    let deleted = |id: i64| json!({"type": "stream", "op": "delete", "streams": [{"stream_id": id}], "stream_ids": [id]});
    let peers =
        |id: i64| json!({"type": "subscription", "op": "peer_remove", "stream_ids": [id], "user_ids": both});
    owners.expect(&[peers(public), peers(private)]).await;
    cleos.expect(&[peers(public)]).await;
    bobs.expect(&[removed.clone(), peers(public), deleted(private)]).await;
    guests.expect(&[removed, deleted(public), deleted(private)]).await;
    outsiders.expect_nothing().await;
}

// conformance: subscribe-21
#[tokio::test]
async fn unsubscribe_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    channel_with(&owner, json!({"name": "m", "subscribers": [guest.user_id]})).await;
    let all = json!([ada.user_id, bob.user_id, guest.user_id]);
    channel_with(&ada, json!({"name": "public", "subscribers": all})).await;
    channel_with(&ada, json!({"name": "private", "invite_only": true, "subscribers": all})).await;
    let group = json!(SystemGroup::Members.id());
    let parameters =
        json!({"name": "open", "invite_only": true, "subscribers": all, "can_subscribe_group": group});
    channel_with(&ada, parameters).await;
    private_channel(&owner, "owner's").await;
    server
        .check_state_sync(&[&owner, &ada, &bob, &guest], async || {
            leave(&owner, &["public", "private"], Some(json!([bob.user_id, guest.user_id]))).await.ok();
            leave(&ada, &["open"], None).await.ok();
            leave(&owner, &["owner's"], None).await.ok();
        })
        .await;
}

// conformance: flag-22
#[tokio::test]
async fn unsubscribing_clears_unread_messages() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let everybody = json!([ada.user_id, bob.user_id, cleo.user_id]);
    let one = channel_with(&ada, json!({"name": "one", "subscribers": everybody})).await;
    let two = channel_with(&ada, json!({"name": "two", "subscribers": everybody})).await;
    let mut ids = Vec::new();
    for stream in [two, one, one] {
        ids.push(ada.send(stream, "t", "hi").await);
    }
    let read = json!({"messages": [ids[0], 1, 2], "op": "add", "flag": "read"});
    bob.post("/messages/flags", &read).await.ok();
    cleo.post("/messages/flags", &read).await.ok();
    let types = json!({"event_types": ["update_message_flags"]});
    let (mut bobs, mut cleos) = (bob.register(&types).await, cleo.register(&types).await);
    let mut adas = ada.register(&types).await;
    leave(&ada, &["one", "two"], Some(json!([bob.user_id, cleo.user_id]))).await.ok();
    let read = json!({
        "type": "update_message_flags", "op": "add", "operation": "add", "flag": "read", "all": false,
        "messages": [ids[1], ids[2]],
    });
    bobs.expect(std::slice::from_ref(&read)).await;
    cleos.expect(&[read]).await;
    adas.expect_nothing().await;
    subscribe(&bob, "one", json!({})).await.ok();
    let state = bob.register(json!({"fetch_event_types": ["message", "update_message_flags"]})).await;
    assert_eq!(state.state["unread_msgs"]["count"], json!(0), "nor do they on return");
}

/// A bot is a subscriber of its own.
#[tokio::test]
async fn a_bot_stays_when_its_owner_is_removed() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    let id = server.private_channel("plans", &[&owner, &ada, &bot]).await;
    let removed = json!({"subscriptions": ["plans"], "principals": [ada.user_id]});
    owner.delete("/users/me/subscriptions", removed).await.ok();
    let message = owner.send(id, "soup", "hello").await;
    assert_eq!(ada.get(&format!("/messages/{message}"), ()).await.status, 400);
    bot.get(&format!("/messages/{message}"), ()).await.ok();
    let members = owner.get(&format!("/streams/{id}/members"), ()).await.ok();
    assert_eq!(members["subscribers"], json!([owner.user_id, bot.user_id]));
}

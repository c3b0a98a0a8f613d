//! Moves between channels of every kind: the state updated by events equals a new fetch.

use super::{edit, subscribe};
use crate::channels::channel_with;
use crate::harness::{Client, Registered, Rng, TestServer};
use serde_json::{Value, json};

/// Public, private with shared history, private with protected history.
const KINDS: [(&str, bool, bool); 3] =
    [("public", false, true), ("shared", true, true), ("protected", true, false)];

/// A channel of a kind, whose creator is subscribed.
async fn channel_of(owner: &Client, name: &str, (_, invite_only, shared): (&str, bool, bool)) -> i64 {
    channel_with(
        owner,
        json!({
            "name": name, "subscribers": [owner.user_id], "invite_only": invite_only,
            "history_public_to_subscribers": shared,
        }),
    )
    .await
}

async fn flag(client: &Client, flag: &str, ids: &[i64]) {
    client.post("/messages/flags", json!({"op": "add", "flag": flag, "messages": ids})).await.ok();
}

// conformance: delete-24, move-70
#[tokio::test]
async fn move_events_from_public_channels_follow_visibility() {
    move_from(KINDS[0]).await;
}

// conformance: delete-24, move-70
#[tokio::test]
async fn move_events_from_shared_channels_follow_visibility() {
    move_from(KINDS[1]).await;
}

// conformance: delete-24, move-70
#[tokio::test]
async fn move_events_from_protected_channels_follow_visibility() {
    move_from(KINDS[2]).await;
}

async fn move_from(kind: (&str, bool, bool)) {
    for to in KINDS {
        move_between(kind, to).await;
    }
}

async fn move_between(from_kind: (&str, bool, bool), to_kind: (&str, bool, bool)) {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    // Subscribed to both channels, to the old or the new one, to none; and one who came to the old one late, and one
    // who left it.
    let (both, old, new, none) = (
        server.member("both").await,
        server.member("old").await,
        server.member("new").await,
        server.member("none").await,
    );
    let (guest_both, guest_old, guest_new) =
        (server.guest("guestboth").await, server.guest("guestold").await, server.guest("guestnew").await);
    let (administrator, late, left) =
        (server.administrator("adam").await, server.member("late").await, server.member("left").await);
    let from = channel_of(&owner, "from", from_kind).await;
    let to = channel_of(&owner, "to", to_kind).await;
    subscribe(&owner, "from", &[&both, &old, &guest_both, &guest_old, &left]).await;
    subscribe(&owner, "to", &[&both, &new, &guest_both, &guest_new, &late]).await;
    let first = owner.send(from, "lunch", "one @**Both**").await;
    subscribe(&owner, "from", &[&late]).await;
    let second = both.send(from, "lunch", "two @**all**").await;
    left.delete("/users/me/subscriptions", json!({"subscriptions": ["from"]})).await.ok();
    let third = owner.send(from, "lunch", "three @**Guestold** @**Late**").await;
    let stays = owner.send(from, "other", "four").await;
    for client in [&both, &old, &guest_both] {
        flag(client, "starred", &[first, third]).await;
        flag(client, "read", &[second]).await;
    }
    old.post(&format!("/messages/{second}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    for (client, policy) in [(&both, 3), (&old, 1), (&guest_old, 2), (&late, 3)] {
        let choice = json!({"stream_id": from, "topic": "lunch", "visibility_policy": policy});
        client.post("/user_topics", choice).await.ok();
    }
    let all =
        [&owner, &both, &old, &new, &none, &guest_both, &guest_old, &guest_new, &administrator, &late, &left];
    let path = |id: i64| format!("/messages/{id}");
    let registered = Registered::of_each(&all).await;
    // Within the channel, and resolved.
    let changes = json!({"topic": "dinner", "propagate_mode": "change_all"});
    owner.patch(&path(second), changes).await.ok();
    server.clock.advance(100);
    let changes = json!({"topic": "✔ dinner", "propagate_mode": "change_all"});
    owner.patch(&path(third), changes).await.ok();
    // Moves to the other channel, with a notice in both places.
    let changes = json!({
        "stream_id": to, "propagate_mode": "change_all", "send_notification_to_old_thread": true,
    });
    owner.patch(&path(second), changes).await.ok();
    let registered = Registered::check_and_renew_each(registered).await;
    // One alone, with another topic; and one back again.
    edit(&owner, stays, json!({"stream_id": to, "topic": ""})).await.ok();
    edit(&owner, first, json!({"stream_id": from})).await.ok();
    let registered = Registered::check_and_renew_each(registered).await;
    // And deleted.
    owner.delete(&path(first), ()).await.ok();
    let topic = json!({"topic_name": "✔ dinner"});
    owner.post(&format!("/streams/{to}/delete_topic"), topic).await.ok();
    for one in registered {
        one.check().await;
    }
}

// conformance: move-70
#[tokio::test]
async fn consecutive_moves_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut users = vec![owner.clone()];
    for name in ["ada", "bob", "cleo"] {
        users.push(server.member(name).await);
    }
    users.push(server.guest("gus").await);
    let mut channels = Vec::new();
    for kind in KINDS {
        channels.push((kind.0, channel_of(&owner, kind.0, kind).await));
    }
    let mut rng = Rng::new(7);
    let mut ids: Vec<i64> = Vec::new();
    for _ in 0..6 {
        for user in &users[1..] {
            let (name, _) = channels[rng.below(3)];
            if rng.below(3) == 0 {
                let leave = json!({"subscriptions": [name], "principals": [user.user_id]});
                owner.delete("/users/me/subscriptions", leave).await.ok();
            } else {
                subscribe(&owner, name, &[user]).await;
            }
        }
        for (_, channel) in &channels {
            ids.push(owner.send(*channel, ["a", "b"][rng.below(2)], "@**Ada** fruit").await);
            ids.push(owner.send(*channel, ["a", "b"][rng.below(2)], "@**all** fruit").await);
        }
        for user in &users[1..] {
            let flag = ["read", "starred"][rng.below(2)];
            let request = json!({"op": "add", "flag": flag, "messages": [rng.pick(&ids)]});
            // Some do not see the message.
            let _invalid_message = user.post("/messages/flags", request).await;
        }
        let everybody: Vec<&Client> = users.iter().collect();
        server
            .check_state_sync(&everybody, async || {
                for _ in 0..5 {
                    server.clock.advance(1);
                    let id = rng.pick(&ids).unwrap();
                    let mode = ["change_one", "change_later", "change_all"][rng.below(3)];
                    let topic = ["a", "b", "✔ a", "A"][rng.below(4)];
                    let mut changes: Value = json!({"topic": topic, "propagate_mode": mode});
                    if rng.below(2) == 0 {
                        changes["stream_id"] = channels[rng.below(3)].1.into();
                    }
                    // Some go where they are already.
                    let _nothing_to_change = edit(&owner, id, changes).await;
                }
            })
            .await;
    }
}

#[tokio::test]
async fn moves_to_private_channels_keep_messages_for_subscribers() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (there, elsewhere) = (server.member("there").await, server.member("elsewhere").await);
    let (from, to) = (channel_of(&owner, "from", KINDS[0]).await, channel_of(&owner, "to", KINDS[1]).await);
    subscribe(&owner, "from", &[&there]).await;
    subscribe(&owner, "to", &[&there]).await;
    let id = owner.send(from, "lunch", "one").await;
    let all = json!({"event_types": ["delete_message", "update_message"], "all_public_streams": true});
    let (mut of_there, mut of_elsewhere) = (there.register(&all).await, elsewhere.register(&all).await);
    edit(&owner, id, json!({"stream_id": to, "send_notification_to_new_thread": false})).await.ok();
    of_there.expect_kinds(&["update_message"]).await;
    let deleted = of_elsewhere.expect_kinds(&["delete_message"]).await;
    assert_eq!(deleted[0]["message_id"], id);
}

/// A user who may read the new channel without a subscription keeps the message in queues of all public channels.
#[tokio::test]
async fn moves_to_private_channels_keep_messages_for_users_who_may_join() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (joins, elsewhere) = (server.member("joins").await, server.member("elsewhere").await);
    let (from, to) = (channel_of(&owner, "from", KINDS[0]).await, channel_of(&owner, "to", KINDS[1]).await);
    let may_join = json!({"new": {"direct_members": [joins.user_id], "direct_subgroups": []}});
    owner.patch(&format!("/streams/{to}"), json!({"can_subscribe_group": may_join})).await.ok();
    let id = owner.send(from, "lunch", "one").await;
    let types = json!(["delete_message", "update_message"]);
    let all = json!({"event_types": types, "all_public_streams": true});
    let (mut of_joins, mut of_elsewhere) = (joins.register(&all).await, elsewhere.register(&all).await);
    edit(&owner, id, json!({"stream_id": to, "send_notification_to_new_thread": false})).await.ok();
    let moved = of_joins.expect_kinds(&["update_message"]).await;
    assert_eq!((&moved[0]["message_ids"], &moved[0]["new_stream_id"]), (&json!([id]), &json!(to)));
    joins.get(&format!("/messages/{id}"), ()).await.ok();
    of_elsewhere.expect_kinds(&["delete_message"]).await;
}

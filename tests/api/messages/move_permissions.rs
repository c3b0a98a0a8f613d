//! Permissions to move, resolve and delete: of the organization and of the channel.

use super::{Place, edit, subscribe};
use crate::harness::{Answer, Client};
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

/// An operation on a message: its permissions of the organization and of the channel, its error, and whether
/// administrators of the channel may always perform it.
struct Power {
    name: &'static str,
    realm: &'static str,
    channel: &'static str,
    refusal: &'static str,
    administrators_too: bool,
}

const POWERS: [Power; 5] = [
    Power {
        name: "another topic",
        realm: "can_move_messages_between_topics_group",
        channel: "can_move_messages_within_channel_group",
        refusal: "You don't have permission to edit this message",
        administrators_too: true,
    },
    Power {
        name: "another channel",
        realm: "can_move_messages_between_channels_group",
        channel: "can_move_messages_out_of_channel_group",
        refusal: "You don't have permission to move this message.",
        administrators_too: true,
    },
    Power {
        name: "resolve",
        realm: "can_resolve_topics_group",
        channel: "can_resolve_topics_group",
        refusal: "You don't have permission to resolve topics.",
        administrators_too: false,
    },
    Power {
        name: "delete another's",
        realm: "can_delete_any_message_group",
        channel: "can_delete_any_message_group",
        refusal: "You don't have permission to delete this message",
        administrators_too: false,
    },
    Power {
        name: "delete one's own",
        realm: "can_delete_own_message_group",
        channel: "can_delete_own_message_group",
        refusal: "You don't have permission to delete this message",
        administrators_too: false,
    },
];

/// Does it, to a new message in a new topic.
async fn attempt(power: &Power, by: &Client, author: &Client, channel: i64, other: i64) -> Answer {
    let author = if power.name == "delete one's own" { by } else { author };
    let id = author.send(channel, "lunch", "hi").await;
    match power.name {
        "another topic" => edit(by, id, json!({"topic": "dinner"})).await,
        "another channel" => edit(by, id, json!({"stream_id": other})).await,
        "resolve" => edit(by, id, json!({"topic": "✔ lunch"})).await,
        _ => by.delete(&format!("/messages/{id}"), ()).await,
    }
}

#[track_caller]
fn check(answer: Answer, is_allowed: bool, refusal: &str) {
    if is_allowed {
        answer.ok();
    } else {
        answer.error(400, "BAD_REQUEST", refusal);
    }
}

fn only(users: &[&Client]) -> Value {
    let members: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    json!({"new": {"direct_members": members, "direct_subgroups": []}})
}

// conformance: delete-1, delete-2, delete-4, move-15, move-16, move-17, move-18, move-29
#[tokio::test]
async fn organization_and_channel_grant_permissions() {
    for power in &POWERS {
        let Place { server, owner, garden, shed } = Place::new().await;
        let (ada, bob, gus) =
            (server.member("ada").await, server.member("bob").await, server.guest("gus").await);
        let administrator = server.administrator("adam").await;
        let all = [&ada, &bob, &gus, &administrator];
        subscribe(&owner, "garden", &all).await;
        subscribe(&owner, "shed", &all).await;
        let refusal = power.refusal;
        // The member has neither permission.
        for name in POWERS.map(|power| power.realm) {
            server.set_realm_group(name, SystemGroup::Nobody).await;
        }
        check(attempt(power, &ada, &bob, garden, shed).await, false, refusal);
        check(attempt(power, &administrator, &bob, garden, shed).await, power.administrators_too, refusal);
        // The organization alone.
        server.set_realm_group(power.realm, SystemGroup::Members).await;
        check(attempt(power, &ada, &bob, garden, shed).await, true, refusal);
        check(attempt(power, &gus, &bob, garden, shed).await, false, refusal);
        server.set_realm_group(power.realm, SystemGroup::Nobody).await;
        // The permission of the channel alone, for its members.
        let path = format!("/streams/{garden}");
        owner.patch(&path, json!({power.channel: only(&[&ada])})).await.ok();
        check(attempt(power, &ada, &bob, garden, shed).await, true, refusal);
        check(attempt(power, &bob, &ada, garden, shed).await, false, refusal);
        // A permission in the other channel does not apply to this one.
        check(attempt(power, &ada, &bob, shed, garden).await, false, refusal);
        owner.patch(&path, json!({power.channel: only(&[])})).await.ok();
        check(attempt(power, &ada, &bob, garden, shed).await, false, refusal);
        // Administrators of the channel.
        owner.patch(&path, json!({"can_administer_channel_group": only(&[&ada])})).await.ok();
        check(attempt(power, &ada, &bob, garden, shed).await, power.administrators_too, refusal);
    }
}

// conformance: delete-5, move-20
#[tokio::test]
async fn a_guest_has_only_powers_that_may_be_everyones() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, gus) = (server.member("ada").await, server.guest("gus").await);
    subscribe(&owner, "garden", &[&ada, &gus]).await;
    subscribe(&owner, "shed", &[&ada, &gus]).await;
    for power in &POWERS {
        server.set_realm_group(power.realm, SystemGroup::Nobody).await;
        server
            .sql(&format!(
                "INSERT INTO group_setting (owner, owner_id, setting, group_id)
                 VALUES ('stream', {garden}, '{}', {})",
                power.channel,
                SystemGroup::Everyone.id()
            ))
            .await;
        let is_allowed = power.channel != "can_delete_any_message_group";
        check(attempt(power, &gus, &ada, garden, shed).await, is_allowed, power.refusal);
    }
}

/// Anonymous requests are refused, even if the setting includes all users or names the caller.
// conformance: delete-5
#[tokio::test]
async fn groups_never_let_guests_delete_messages_of_others() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, bob, gus) = (server.member("ada").await, server.member("bob").await, server.guest("gus").await);
    subscribe(&owner, "garden", &[&ada, &bob, &gus]).await;
    let power = POWERS.iter().find(|power| power.name == "delete another's").unwrap();
    let path = format!("/streams/{garden}");
    for place in ["/realm", &path] {
        owner.patch(place, json!({power.realm: only(&[&ada, &gus])})).await.ok();
        check(attempt(power, &ada, &bob, garden, shed).await, true, power.refusal);
        check(attempt(power, &gus, &bob, garden, shed).await, false, power.refusal);
        owner.patch(place, json!({power.realm: {"new": SystemGroup::Nobody.id()}})).await.ok();
        check(attempt(power, &ada, &bob, garden, shed).await, false, power.refusal);
    }
    server.set_realm_group(power.realm, SystemGroup::Everyone).await;
    check(attempt(power, &ada, &bob, garden, shed).await, true, power.refusal);
    check(attempt(power, &gus, &bob, garden, shed).await, false, power.refusal);
}

// conformance: move-19
#[tokio::test]
async fn the_channel_that_a_message_goes_to_gives_its_topic_too() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    subscribe(&owner, "shed", &[&ada]).await;
    for (realm, channel, topic, refusal) in [
        (
            "can_move_messages_between_topics_group",
            "can_move_messages_within_channel_group",
            "dinner",
            "You don't have permission to edit this message",
        ),
        (
            "can_resolve_topics_group",
            "can_resolve_topics_group",
            "✔ lunch",
            "You don't have permission to resolve topics.",
        ),
    ] {
        server.set_realm_group(realm, SystemGroup::Nobody).await;
        let id = owner.send(garden, "lunch", "hi").await;
        let both = json!({"stream_id": shed, "topic": topic});
        edit(&ada, id, both.clone()).await.error(400, "BAD_REQUEST", refusal);
        edit(&ada, id, json!({ "topic": topic })).await.error(400, "BAD_REQUEST", refusal);
        owner.patch(&format!("/streams/{shed}"), json!({channel: only(&[&ada])})).await.ok();
        edit(&ada, id, json!({ "topic": topic })).await.error(400, "BAD_REQUEST", refusal);
        edit(&ada, id, both).await.ok();
    }
}

// conformance: move-8, move-9
#[tokio::test]
async fn moving_needs_permission_in_the_target_channel() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, gus) = (server.member("ada").await, server.guest("gus").await);
    subscribe(&owner, "garden", &[&ada, &gus]).await;
    let id = ada.send(garden, "lunch", "hi").await;
    edit(&ada, id, json!({"stream_id": shed})).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    edit(&ada, id, json!({"stream_id": 9999})).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    subscribe(&owner, "shed", &[&ada, &gus]).await;
    // Guests do not move messages between channels.
    let msg = "You don't have permission to move this message.";
    edit(&gus, id, json!({"stream_id": shed})).await.error(400, "BAD_REQUEST", msg);
    let group = json!({"can_send_message_group": {"new": SystemGroup::Owners.id()}});
    owner.patch(&format!("/streams/{shed}"), group).await.ok();
    let msg = "You do not have permission to post in this channel.";
    edit(&ada, id, json!({"stream_id": shed})).await.error(400, "BAD_REQUEST", msg);
    edit(&owner, id, json!({"stream_id": shed})).await.ok();
}

// conformance: move-23, move-30
#[tokio::test]
async fn resolving_has_no_limit_of_time() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    server.set_realm_setting("move_messages_within_stream_limit_seconds", json!(100)).await;
    let old = owner.send(garden, "lunch", "old").await;
    server.clock.advance(121);
    let all = |topic: &str| json!({"topic": topic, "propagate_mode": "change_all"});
    let late = "The time limit for editing this message's topic has passed.";
    edit(&ada, old, all("dinner")).await.error(400, "BAD_REQUEST", late);
    edit(&ada, old, all("✔ lunch")).await.ok();
    server.clock.advance(121);
    edit(&ada, old, all("lunch")).await.ok();
    // Taking the mark away and changing more is a move.
    edit(&ada, old, all("✔ lunch")).await.ok();
    edit(&ada, old, all("lunch time")).await.error(400, "BAD_REQUEST", late);
    server.set_realm_setting("move_messages_within_stream_limit_seconds", json!(null)).await;
    edit(&ada, old, all("lunch time")).await.ok();
}

// conformance: move-26, move-27
#[tokio::test]
async fn move_time_limit_counts_visible_messages() {
    let Place { server, owner, .. } = Place::new().await;
    let ada = server.member("ada").await;
    let vault = crate::channels::private_channel(&owner, "vault").await;
    server.set_realm_setting("move_messages_within_stream_limit_seconds", json!(100)).await;
    owner.send(vault, "lunch", "before Ada came").await;
    server.clock.advance(200);
    subscribe(&owner, "vault", &[&ada]).await;
    let seen = owner.send(vault, "lunch", "one").await;
    let all = |topic: &str| json!({"topic": topic, "propagate_mode": "change_all"});
    edit(&ada, seen, all("tea")).await.ok();
    let another = owner.send(vault, "tea", "two").await;
    server.clock.advance(100);
    let young = owner.send(vault, "tea", "three").await;
    server.clock.advance(21);
    let error = edit(&ada, young, all("dinner")).await.error(
        400,
        "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
        "You only have permission to move the 1/3 most recent messages in this topic.",
    );
    let expected = json!({
        "result": "error", "code": "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED", "msg": error["msg"],
        "first_message_id_allowed_to_move": young, "total_messages_in_topic": 3,
        "total_messages_allowed_to_move": 1,
    });
    assert_eq!(error, expected);
    // As the error proposes.
    edit(&ada, young, json!({"topic": "dinner", "propagate_mode": "change_later"})).await.ok();
    // Users without a limit are unaffected.
    edit(&owner, another, all("breakfast")).await.ok();
}

//! `PATCH /streams/{stream_id}`.

use super::{NO_CHANNEL, NO_PERMISSION, channel, channel_with, private_channel, seen};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

async fn change(client: &Client, id: i64, parameters: Value) -> crate::harness::Answer {
    client.patch(&format!("/streams/{id}"), parameters).await
}

fn updated(id: i64, property: &str, value: &Value) -> Value {
    json!({
        "type": "stream", "op": "update", "stream_id": id, "name": "verona", "property": property, "value": value,
    })
}

// conformance: channel-30, channel-31
#[tokio::test]
async fn changed_properties_are_emitted() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let id = channel(&owner, "verona").await;
    let mut queue = owner.register(json!({"event_types": ["stream"]})).await;
    let members = SystemGroup::Members.id();
    let mut description = updated(id, "description", &json!("Italian city"));
    description["rendered_description"] = json!("<p>Italian city</p>");
    let cases = [
        (json!({"description": "Italian\ncity"}), vec![description]),
        (json!({"message_retention_days": 9}), vec![updated(id, "message_retention_days", &json!(9))]),
        (
            json!({"message_retention_days": "unlimited"}),
            vec![updated(id, "message_retention_days", &json!(-1))],
        ),
        (
            json!({"message_retention_days": "realm_default"}),
            vec![updated(id, "message_retention_days", &json!(null))],
        ),
        (
            json!({"topics_policy": "allow_empty_topic"}),
            vec![updated(id, "topics_policy", &json!("allow_empty_topic"))],
        ),
        (
            json!({"can_send_message_group": {"new": SystemGroup::Administrators.id()}}),
            vec![
                updated(id, "can_send_message_group", &json!(SystemGroup::Administrators.id())),
                updated(id, "stream_post_policy", &json!(2)),
                updated(id, "is_announcement_only", &json!(true)),
            ],
        ),
        (
            json!({"can_resolve_topics_group": {"new": members, "old": SystemGroup::Nobody.id()}}),
            vec![updated(id, "can_resolve_topics_group", &json!(members))],
        ),
        (json!({"new_name": " rome "}), vec![updated(id, "name", &json!("rome"))]),
        (
            json!({"description": "Italian city", "topics_policy": "allow_empty_topic", "folder_id": null}),
            vec![],
        ),
        (json!({}), vec![]),
    ];
    for (parameters, events) in cases {
        change(&owner, id, parameters).await.ok();
        queue.expect(&events).await;
    }
    let found = seen(&owner, id).await;
    assert_eq!(
        (&found["name"], &found["rendered_description"]),
        (&json!("rome"), &json!("<p>Italian city</p>"))
    );
    change(&owner, id, json!({"new_name": "ROME"})).await.ok();
    queue.expect_kinds(&["stream/update"]).await;
}

// conformance: channel-32
#[tokio::test]
async fn every_group_setting_can_be_changed() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let id = channel(&owner, "verona").await;
    let value = json!({"direct_members": [ada.user_id], "direct_subgroups": [SystemGroup::Moderators.id()]});
    for name in [
        "can_add_subscribers_group",
        "can_administer_channel_group",
        "can_delete_any_message_group",
        "can_delete_own_message_group",
        "can_move_messages_out_of_channel_group",
        "can_move_messages_within_channel_group",
        "can_remove_subscribers_group",
        "can_resolve_topics_group",
        "can_send_message_group",
        "can_subscribe_group",
    ] {
        let before = seen(&owner, id).await[name].clone();
        let mut parameters = json!({});
        parameters[name] = json!({"new": value, "old": before});
        change(&owner, id, parameters.clone()).await.ok();
        assert_eq!(seen(&owner, id).await[name], value, "{name}");
        let error = change(&owner, id, parameters.clone()).await;
        error.error(400, "EXPECTATION_MISMATCH", "'old' value does not match the expected value.");
        parameters[name] = json!({"new": SystemGroup::Nobody.id(), "old": value});
        change(&owner, id, parameters).await.ok();
        assert_eq!(seen(&owner, id).await[name], json!(SystemGroup::Nobody.id()), "{name}");
    }
}

// conformance: channel-33, channel-34, channel-35, channel-36, channel-37
#[tokio::test]
async fn bad_changes_are_refused_whole() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = channel_with(&ada, json!({"name": "verona", "is_default_stream": false})).await;
    let private = private_channel(&ada, "private").await;
    channel(&ada, "Rome").await;
    let before = seen(&owner, id).await;
    let mut queue =
        owner.register(json!({"event_types": ["stream", "subscription", "default_streams"]})).await;
    let bad = |msg: &'static str| (400, "BAD_REQUEST", msg);
    let cases = [
        (&ada, id, json!({"new_name": "verona"}), bad("Channel already has that name.")),
        (&ada, id, json!({"new_name": "rome"}), bad("Channel name is already in use.")),
        (&ada, id, json!({"new_name": " "}), bad("Channel name can't be empty.")),
        (&ada, id, json!({"is_web_public": true, "is_private": true}), bad("Invalid parameters")),
        (&ada, id, json!({"history_public_to_subscribers": false}), bad("Invalid parameters")),
        (&ada, id, json!({"is_web_public": true}), bad("Web-public channels are not enabled.")),
        (
            &ada,
            id,
            json!({"is_private": true, "is_default_stream": true}),
            bad("A default channel cannot be private."),
        ),
        (&ada, id, json!({"folder_id": 1}), bad("Invalid channel folder ID")),
        (&ada, id, json!({"topics_policy": "none"}), bad("Invalid topics_policy")),
        (
            &ada,
            id,
            json!({"description": "x".repeat(1025)}),
            bad("description is too long (limit: 1024 characters)"),
        ),
        (&ada, id, json!({"can_send_message_group": {"new": 9999}}), bad("Invalid user group")),
        (
            &ada,
            id,
            json!({"can_administer_channel_group": {"new": SystemGroup::Everyone.id()}}),
            bad("'can_administer_channel_group' setting cannot be set to 'role:everyone' group."),
        ),
        (
            &ada,
            id,
            json!({"can_delete_own_message_group": {"new": SystemGroup::Members.id()}}),
            NO_PERMISSION,
        ),
        (
            &ada,
            id,
            json!({"is_default_stream": true}),
            bad("You do not have permission to change default channels."),
        ),
        (
            &ada,
            id,
            json!({"description": "new", "message_retention_days": 1}),
            (400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
        ),
        (
            &owner,
            id,
            json!({"description": "new", "message_retention_days": "forever"}),
            (400, "REQUEST_VARIABLE_INVALID", "Bad value for 'message_retention_days': forever"),
        ),
        (
            &bob,
            id,
            json!({"description": "new"}),
            (400, "CANNOT_ADMINISTER_CHANNEL", "You do not have permission to administer this channel."),
        ),
        (&bob, private, json!({"description": "new"}), NO_CHANNEL),
        (&owner, 9999, json!({"description": "new"}), NO_CHANNEL),
        (&owner, private, json!({"is_private": false}), bad("Channel content access is required.")),
        (
            &owner,
            private,
            json!({"can_subscribe_group": {"new": SystemGroup::Members.id()}}),
            bad("Channel content access is required."),
        ),
    ];
    for (client, id, parameters, (status, code, msg)) in cases {
        change(client, id, parameters).await.error(status, code, msg);
    }
    assert_eq!(seen(&owner, id).await, before);
    queue.expect_nothing().await;
}

// conformance: channel-38, channel-39
#[tokio::test]
async fn permissions_of_the_organization_are_asked() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (public, private) = (channel(&ada, "public").await, private_channel(&ada, "private").await);
    let (status, code, msg) = NO_PERMISSION;
    for group in
        ["can_create_public_channel_group", "can_create_private_channel_group", "can_set_topics_policy_group"]
    {
        server.set_realm_group(group, SystemGroup::Owners).await;
    }
    server.set_realm_setting("enable_spectator_access", json!(true)).await;
    for (id, parameters) in [
        (public, json!({"is_private": true})),
        (private, json!({"is_private": false})),
        (public, json!({"topics_policy": "allow_empty_topic"})),
        (public, json!({"is_web_public": true})),
    ] {
        change(&ada, id, parameters).await.error(status, code, msg);
    }
    change(&owner, public, json!({"is_web_public": true, "is_default_stream": true})).await.ok();
    let found = seen(&owner, public).await;
    assert_eq!((&found["is_web_public"], &found["invite_only"]), (&json!(true), &json!(false)));
    server.set_realm_setting("moderation_request_channel_id", json!(private)).await;
    let error = change(&ada, private, json!({"is_private": false})).await;
    error.error(400, "BAD_REQUEST", "Moderation request channel must be private.");
}

// conformance: channel-40
#[tokio::test]
async fn empty_topic_only_requires_no_other_topics() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let parameters =
        json!({"name": "verona", "topics_policy": "empty_topic_only", "subscribers": [ada.user_id]});
    let id = channel_with(&ada, parameters).await;
    ada.send(id, "", "hi").await;
    let only = json!({"topics_policy": "empty_topic_only"});
    change(&ada, id, json!({"topics_policy": "inherit"})).await.ok();
    // The notice of the change is in a named topic, until it is moved.
    let newest =
        json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["channel", "verona"]]});
    let notice = ada.get("/messages", newest).await.ok()["messages"][0].clone();
    assert_eq!(notice["subject"], "channel events");
    let moved = json!({"topic": "", "send_notification_to_new_thread": false});
    ada.patch(&format!("/messages/{}", notice["id"]), moved).await.ok();
    change(&ada, id, only.clone()).await.ok();
    change(&ada, id, json!({"topics_policy": "allow_empty_topic"})).await.ok();
    ada.send(id, "lunch", "hi").await;
    let msg = "To enable this configuration, all messages in this channel must be in the general chat topic. \
               Consider renaming other topics to general chat.";
    change(&ada, id, only).await.error(400, "BAD_REQUEST", msg);
}

// conformance: channel-41
#[tokio::test]
async fn privacy_brings_and_takes_the_channel() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let id = private_channel(&ada, "verona").await;
    let types = json!({"event_types": ["stream", "subscription"]});
    let (mut owners, mut bobs) = (owner.register(&types).await, bob.register(&types).await);
    let mut guests = guest.register(&types).await;
    change(&ada, id, json!({"is_private": false})).await.ok();
    let mut event = updated(id, "invite_only", &json!(false));
    event["history_public_to_subscribers"] = json!(true);
    event["is_web_public"] = json!(false);
    owners.expect(&[event]).await;
    let peers =
        json!({"type": "subscription", "op": "peer_add", "stream_ids": [id], "user_ids": [ada.user_id]});
    bobs.expect(&[json!({"type": "stream", "op": "create", "streams": "*"}), peers]).await;
    change(&ada, id, json!({"is_private": true, "history_public_to_subscribers": true})).await.ok();
    owners.expect_kinds(&["stream/update"]).await;
    bobs.expect(&[
        json!({"type": "stream", "op": "delete", "streams": [{"stream_id": id}], "stream_ids": [id]}),
    ])
    .await;
    let bob_alone = json!({"direct_members": [bob.user_id], "direct_subgroups": []});
    change(&ada, id, json!({"can_administer_channel_group": {"new": bob_alone}})).await.ok();
    owners.expect_kinds(&["stream/update"]).await;
    bobs.expect_kinds(&["stream/create", "subscription/peer_add"]).await;
    guests.expect_nothing().await;
}

// conformance: channel-42
#[tokio::test]
async fn change_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.set_realm_setting("enable_spectator_access", json!(true)).await;
    channel_with(&owner, json!({"name": "m", "subscribers": [guest.user_id]})).await;
    let subscribers = json!([owner.user_id, ada.user_id, guest.user_id]);
    let id = channel_with(&owner, json!({"name": "verona", "subscribers": subscribers})).await;
    for parameters in [
        json!({"new_name": "a", "description": "**b**", "message_retention_days": 3, "is_default_stream": true}),
        json!({"is_default_stream": false, "is_private": true}),
        json!({"can_add_subscribers_group": {"new": SystemGroup::Members.id()}}),
        json!({"can_add_subscribers_group": {"new": SystemGroup::Nobody.id()}}),
        json!({"can_send_message_group": {"new": {"direct_members": [ada.user_id, bob.user_id], "direct_subgroups": []}}}),
        json!({"is_private": false}),
        json!({"is_web_public": true}),
    ] {
        server
            .check_state_sync(&[&owner, &ada, &bob, &guest], async || {
                change(&owner, id, parameters).await.ok()
            })
            .await;
    }
}

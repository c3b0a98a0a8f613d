//! `POST /channels/create`, and the parameters of new channels.

use super::{NO_PERMISSION, channel, channel_with, private_channel, seen};
use crate::harness::{START, TestServer};
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;

// conformance: channel-1, channel-2, channel-3, channel-26
#[tokio::test]
async fn a_new_channel_has_every_field() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let parameters = json!({
        "name": " Verona ", "description": "Italian\ncity", "subscribers": [ada.user_id, bob.user_id, bob.user_id],
    });
    let id = channel_with(&ada, parameters).await;
    assert_eq!(
        seen(&bob, id).await,
        json!({
            "stream_id": id,
            "name": "Verona",
            "is_archived": false,
            "description": "Italian city",
            "rendered_description": "<p>Italian city</p>",
            "date_created": START,
            "creator_id": ada.user_id,
            "invite_only": false,
            "is_web_public": false,
            "stream_post_policy": 1,
            "is_announcement_only": false,
            "message_retention_days": null,
            "history_public_to_subscribers": true,
            "topics_policy": "inherit",
            "first_message_id": 1,
            "folder_id": null,
            "is_recently_active": true,
            "can_add_subscribers_group": SystemGroup::Nobody.id(),
            "can_administer_channel_group": {"direct_members": [ada.user_id], "direct_subgroups": []},
            "can_delete_any_message_group": SystemGroup::Nobody.id(),
            "can_delete_own_message_group": SystemGroup::Nobody.id(),
            "can_move_messages_out_of_channel_group": SystemGroup::Nobody.id(),
            "can_move_messages_within_channel_group": SystemGroup::Nobody.id(),
            "can_remove_subscribers_group": SystemGroup::Administrators.id(),
            "can_resolve_topics_group": SystemGroup::Nobody.id(),
            "can_send_message_group": SystemGroup::Everyone.id(),
            "can_subscribe_group": SystemGroup::Nobody.id(),
            "subscriber_count": 2,
            "stream_weekly_traffic": null,
        })
    );
}

// conformance: channel-4
#[tokio::test]
async fn channels_can_be_created_without_the_caller_or_empty() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = channel_with(&ada, json!({"name": "for bob", "subscribers": [bob.user_id]})).await;
    let subscribers = ada.get(&format!("/streams/{id}/members"), ()).await.ok();
    assert_eq!(subscribers["subscribers"], json!([bob.user_id]));
    let id = channel_with(&ada, json!({"name": "for nobody"})).await;
    assert_eq!(ada.get(&format!("/streams/{id}/members"), ()).await.ok()["subscribers"], json!([]));
}

// conformance: channel-9
#[tokio::test]
async fn names_are_unique_whatever_their_case() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    private_channel(&ada, "Été").await;
    let error = bob.post("/channels/create", json!({"name": "été"})).await;
    let body = error.error(409, "CHANNEL_ALREADY_EXISTS", "Channel 'été' already exists");
    assert_eq!(body["channel_name"], "été");
}

// conformance: channel-10, channel-11, channel-12, channel-13, channel-14
#[tokio::test]
async fn invalid_parameters_create_nothing() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let cases = [
        (json!({"name": ""}), "Channel name can't be empty."),
        (json!({"name": "x".repeat(61)}), "Channel name too long (limit: 60 characters)."),
        (json!({"name": "a\u{0}b"}), "Invalid character in channel name, at position 2."),
        (
            json!({"name": "x", "description": "x".repeat(1025)}),
            "description is too long (limit: 1024 characters)",
        ),
        (json!({"name": "x", "subscribers": [9999]}), "No such user"),
        (json!({"name": "x", "subscribers": "nobody"}), "subscribers is not valid JSON"),
        (json!({"name": "x", "invite_only": "maybe"}), "invite_only is not valid JSON"),
        (json!({"name": "x", "topics_policy": "some"}), "Invalid topics_policy"),
        (json!({"name": "x", "folder_id": 1}), "Invalid channel folder ID"),
        (
            json!({"name": "x", "invite_only": true, "is_default_stream": true}),
            "A default channel cannot be private.",
        ),
        (json!({"name": "x", "is_web_public": true}), "Web-public channels are not enabled."),
        (json!({"name": "x", "can_send_message_group": 9999}), "Invalid user group"),
        (json!({"name": "x", "can_send_message_group": "all"}), "can_send_message_group is not valid JSON"),
        (
            json!({"name": "x", "can_send_message_group": {"direct_members": [9999], "direct_subgroups": []}}),
            "Invalid user ID: 9999",
        ),
        (
            json!({"name": "x", "can_subscribe_group": SystemGroup::Everyone.id()}),
            "'can_subscribe_group' setting cannot be set to 'role:everyone' group.",
        ),
        (
            json!({"name": "x", "can_send_message_group": SystemGroup::Internet.id()}),
            "'can_send_message_group' setting cannot be set to 'role:internet' group.",
        ),
    ];
    for (parameters, msg) in cases {
        owner.post("/channels/create", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    owner.post("/channels/create", ()).await.error(
        400,
        "REQUEST_VARIABLE_MISSING",
        "Missing 'name' argument",
    );
    let error =
        owner.post("/channels/create", json!({"name": "x", "message_retention_days": "forever"})).await;
    let body =
        error.error(400, "REQUEST_VARIABLE_INVALID", "Bad value for 'message_retention_days': forever");
    assert_eq!(
        (&body["var_name"], &body["bad_value"]),
        (&"message_retention_days".into(), &"forever".into())
    );
    let streams = owner.get("/streams", json!({"include_all": true, "exclude_archived": false})).await.ok();
    assert_eq!(streams["streams"], json!([]));
}

// conformance: channel-5, channel-6
#[tokio::test]
async fn every_setting_of_a_new_channel_is_kept() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    server.set_realm_setting("enable_spectator_access", json!(true)).await;
    let members = SystemGroup::Members.id();
    let value = json!({"direct_members": [ada.user_id], "direct_subgroups": [SystemGroup::Moderators.id()]});
    let settings = json!({
        "is_web_public": true,
        "message_retention_days": 30,
        "topics_policy": "empty_topic_only",
        "can_add_subscribers_group": members,
        "can_administer_channel_group": value,
        "can_delete_any_message_group": members,
        "can_delete_own_message_group": members,
        "can_move_messages_out_of_channel_group": members,
        "can_move_messages_within_channel_group": members,
        "can_remove_subscribers_group": members,
        "can_resolve_topics_group": members,
        "can_send_message_group": SystemGroup::Administrators.id(),
        "can_subscribe_group": {"direct_members": [], "direct_subgroups": [members]},
    });
    let mut parameters = settings.clone();
    parameters["name"] = json!("full");
    parameters["is_default_stream"] = json!(true);
    parameters["folder_id"] = json!(null);
    let id = channel_with(&owner, parameters).await;
    let found = seen(&owner, id).await;
    for (name, value) in settings.as_object().unwrap() {
        let expected = if name == "can_subscribe_group" { json!(members) } else { value.clone() };
        assert_eq!(found[name], expected, "{name}");
    }
    assert_eq!((&found["stream_post_policy"], &found["is_announcement_only"]), (&json!(2), &json!(true)));
    let state = owner.register(json!({"fetch_event_types": ["default_streams"]})).await;
    assert_eq!(state.state["realm_default_streams"], json!([id]));
}

// conformance: channel-6
#[tokio::test]
async fn empty_values_are_the_group_nobody() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let nobody = json!({"direct_members": [], "direct_subgroups": []});
    let id = channel_with(&ada, json!({"name": "x", "can_send_message_group": nobody})).await;
    assert_eq!(seen(&ada, id).await["can_send_message_group"], json!(SystemGroup::Nobody.id()));
}

// conformance: channel-7, channel-8
#[tokio::test]
async fn retention_and_history_parameters_are_applied() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let cases = [
        (json!({"message_retention_days": "unlimited"}), json!({"message_retention_days": -1})),
        (json!({"message_retention_days": "realm_default"}), json!({"message_retention_days": null})),
        (json!({"invite_only": true}), json!({"history_public_to_subscribers": false})),
        (
            json!({"invite_only": true, "history_public_to_subscribers": true}),
            json!({"history_public_to_subscribers": true}),
        ),
        (
            json!({"invite_only": false, "history_public_to_subscribers": false}),
            json!({"history_public_to_subscribers": true}),
        ),
    ];
    for (number, (mut parameters, expected)) in cases.into_iter().enumerate() {
        parameters["name"] = json!(format!("channel {number}"));
        let id = channel_with(&owner, parameters).await;
        let found = seen(&owner, id).await;
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(found[name], *value, "{name} of channel {number}");
        }
    }
}

// conformance: channel-15, channel-16
#[tokio::test]
async fn permissions_to_create_channels() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (moderator, ada) = (server.moderator("moderator").await, server.member("ada").await);
    let guest = server.guest("guest").await;
    let error = guest.post("/channels/create", json!({"name": "x"})).await;
    error.error(400, "BAD_REQUEST", "Not allowed for guest users");
    let administrators = (400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
    let owners = (400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    let deleting = json!({"can_delete_any_message_group": SystemGroup::Members.id()});
    for (mut parameters, (status, code, msg)) in [
        (json!({"is_default_stream": true}), administrators),
        (json!({"message_retention_days": 7}), owners),
        (deleting.clone(), NO_PERMISSION),
    ] {
        parameters["name"] = json!("x");
        ada.post("/channels/create", parameters).await.error(status, code, msg);
    }
    let mut parameters = deleting;
    parameters["name"] = json!("moderated");
    channel_with(&moderator, parameters).await;

    let (status, code, msg) = NO_PERMISSION;
    server.set_realm_group("can_create_public_channel_group", SystemGroup::Moderators).await;
    ada.post("/channels/create", json!({"name": "x"})).await.error(status, code, msg);
    private_channel(&ada, "private").await;
    server.set_realm_group("can_create_private_channel_group", SystemGroup::Moderators).await;
    ada.post("/channels/create", json!({"name": "x", "invite_only": true})).await.error(status, code, msg);
    channel(&moderator, "public").await;

    server.set_realm_setting("enable_spectator_access", json!(true)).await;
    let web = json!({"name": "web", "is_web_public": true});
    moderator.post("/channels/create", &web).await.error(status, code, msg);
    channel_with(&owner, web).await;
    server.set_realm_group("can_set_topics_policy_group", SystemGroup::Owners).await;
    let policy = json!({"name": "policy", "topics_policy": "disable_empty_topic"});
    moderator.post("/channels/create", &policy).await.error(status, code, msg);
    channel_with(&owner, policy).await;
}

// conformance: channel-17
#[tokio::test]
async fn new_channels_reach_exactly_users_who_can_see_them() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let guest = server.guest("guest").await;
    let types =
        json!({"event_types": ["stream", "subscription", "default_streams"], "include_subscribers": true});
    let [mut owners, mut adas, mut bobs, mut cleos, mut guests] = [
        owner.register(&types).await,
        ada.register(&types).await,
        bob.register(&types).await,
        cleo.register(&types).await,
        guest.register(&types).await,
    ];

    let id = channel_with(&ada, json!({"name": "public", "subscribers": [ada.user_id, guest.user_id]})).await;
    let peers = json!({
        "type": "subscription", "op": "peer_add", "stream_ids": [id], "user_ids": [ada.user_id, guest.user_id],
    });
    let created = json!({"type": "stream", "op": "create", "streams": "*"});
    let added = json!({"type": "subscription", "op": "add", "subscriptions": "*"});
    // The notification bot's word about the channel is its first message.
    let event = |id: i64, name: &str| {
        json!({
            "type": "stream", "op": "update", "stream_id": id, "name": name, "property": "first_message_id",
            "value": "*",
        })
    };
    for queue in [&mut owners, &mut bobs, &mut cleos] {
        queue.expect(&[created.clone(), peers.clone(), event(id, "public")]).await;
    }
    for queue in [&mut adas, &mut guests] {
        let events = queue.expect(&[created.clone(), added.clone(), event(id, "public")]).await;
        assert_eq!(events[0]["streams"][0]["stream_id"], json!(id));
        assert_eq!(events[1]["subscriptions"][0]["subscribers"], json!([ada.user_id, guest.user_id]));
    }

    let parameters = json!({
        "name": "private", "invite_only": true, "subscribers": [bob.user_id],
        "can_subscribe_group": {"direct_members": [cleo.user_id, guest.user_id], "direct_subgroups": []},
    });
    let id = channel_with(&ada, parameters).await;
    let peers =
        json!({"type": "subscription", "op": "peer_add", "stream_ids": [id], "user_ids": [bob.user_id]});
    for queue in [&mut owners, &mut adas, &mut cleos] {
        queue.expect(&[created.clone(), peers.clone(), event(id, "private")]).await;
    }
    bobs.expect(&[created, added, event(id, "private")]).await;
    guests.expect_nothing().await;
}

// conformance: channel-18
#[tokio::test]
async fn new_channel_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    channel_with(&owner, json!({"name": "m", "subscribers": [guest.user_id]})).await;
    server
        .check_state_sync(&[&owner, &ada, &bob, &guest], async || {
            let both = json!([ada.user_id, guest.user_id]);
            channel_with(&owner, json!({"name": "a", "subscribers": both, "is_default_stream": true})).await;
            channel_with(&ada, json!({"name": "z", "subscribers": both, "invite_only": true})).await;
            private_channel(&bob, "p").await;
        })
        .await;
}

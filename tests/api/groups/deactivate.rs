//! `POST /user_groups/{user_group_id}/deactivate`.

use super::{NO_PERMISSION, direct, group, group_with, path, seen};
use crate::channels::channel_with;
use crate::harness::TestServer;
use serde_json::json;
use teamchat::domain::groups;
use teamchat::domain::groups::setting::Owner;
use teamchat::types::GroupId;

// conformance: group-12, queue-41
#[tokio::test]
async fn deactivated_groups_are_removed_for_older_clients() {
    let server = TestServer::start().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    let crew = group(&ada, "crew", &[&bob]).await;
    let mut without = guest.register(json!({"event_types": ["user_group"]})).await;
    let with =
        json!({"event_types": ["user_group"], "client_capabilities": {"include_deactivated_groups": true}});
    let mut with = guest.register(with).await;
    server
        .check_state_sync(&[&ada, &guest], async || ada.post(&path(crew, "/deactivate"), ()).await.ok())
        .await;
    with.expect(&[
        json!({"type": "user_group", "op": "update", "group_id": crew, "data": {"deactivated": true}}),
    ])
    .await;
    without.expect(&[json!({"type": "user_group", "op": "remove", "group_id": crew})]).await;
    assert_eq!(seen(&bob, crew).await["deactivated"], true);
    let listed = bob.get("/user_groups", ()).await.ok();
    assert_eq!(listed["user_groups"].as_array().unwrap().len(), 8, "the system groups");
    ada.post(&path(crew, "/deactivate"), ()).await.error(400, "BAD_REQUEST", "User group is deactivated.");
}

// conformance: group-13
#[tokio::test]
async fn deactivating_groups_needs_permission() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let crew = group(&ada, "crew", &[&bob, &guest]).await;
    let (status, code, msg) = NO_PERMISSION;
    bob.post(&path(crew, "/deactivate"), ()).await.error(status, code, msg);
    ada.patch(&path(crew, ""), json!({"can_manage_group": {"new": direct(&[&ada, &guest], &[])}})).await.ok();
    guest.post(&path(crew, "/deactivate"), ()).await.error(status, code, msg);
    owner.post(&path(2, "/deactivate"), ()).await.error(status, code, msg);
    ada.post(&path(999, "/deactivate"), ()).await.error(400, "BAD_REQUEST", "Invalid user group");
    owner.post(&path(crew, "/deactivate"), ()).await.ok();
}

// conformance: group-14
#[tokio::test]
async fn groups_in_use_are_refused_with_their_uses() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let crew = group(&ada, "crew", &[]).await;
    let outer =
        group_with(&ada, json!({"name": "outer", "description": "", "members": [], "subgroups": [crew]}))
            .await;
    let other = json!({
        "name": "other",
        "description": "",
        "members": [],
        "can_mention_group": crew,
        "can_join_group": direct(&[&ada], &[crew]),
    });
    let other = group_with(&ada, other).await;
    let channel = |name: &str| json!({"name": name, "can_send_message_group": crew, "can_add_subscribers_group": direct(&[&ada], &[crew])});
    let used = channel_with(&ada, channel("used")).await;
    let archived = channel_with(&ada, channel("archived")).await;
    ada.delete(&format!("/streams/{archived}"), ()).await.ok();
    server
        .app()
        .writer
        .run(move |tx| groups::setting::set(tx, Owner::Realm, "can_create_groups", GroupId(crew)))
        .await
        .unwrap();
    let deactivate = async || ada.post(&path(crew, "/deactivate"), ()).await;
    let in_use = "Cannot deactivate user group in use.";
    let error = deactivate().await.error(400, "CANNOT_DEACTIVATE_GROUP_IN_USE", in_use);
    assert_eq!(
        error["objections"],
        json!([
            {"type": "subgroup", "supergroup_ids": [outer]},
            {"type": "channel", "channel_id": used, "settings": ["can_add_subscribers_group", "can_send_message_group"]},
            {"type": "user_group", "group_id": other, "settings": ["can_join_group", "can_mention_group"]},
            {"type": "realm", "settings": ["can_create_groups"]},
        ])
    );

    // Deactivated groups and settings do not prevent it.
    for group in [outer, other] {
        ada.post(&path(group, "/deactivate"), ()).await.ok();
    }
    ada.delete(&format!("/streams/{used}"), ()).await.ok();
    let error = deactivate().await.error(400, "CANNOT_DEACTIVATE_GROUP_IN_USE", in_use);
    assert_eq!(error["objections"], json!([{"type": "realm", "settings": ["can_create_groups"]}]));
    server
        .app()
        .writer
        .run(move |tx| groups::setting::set(tx, Owner::Realm, "can_create_groups", GroupId(6)))
        .await
        .unwrap();
    deactivate().await.ok();
}

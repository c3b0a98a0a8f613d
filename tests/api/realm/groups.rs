//! `PATCH /realm`: who has which permission.

use crate::harness::TestServer;
use serde_json::{Map, Value, json};
use teamchat::domain::groups::permission::RealmGroup;
use teamchat::domain::groups::system::SystemGroup;

fn id(group: SystemGroup) -> i64 {
    group.id().0
}

fn change(name: &str, new: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), json!({"new": new}))]))
}

// conformance: realm-9
#[tokio::test]
async fn every_permission_can_be_given_to_another_group() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let mut queue = guest.register(json!({"event_types": ["realm"]})).await;
    for permission in RealmGroup::ALL {
        let name = permission.name();
        let choices = [SystemGroup::Members, SystemGroup::Moderators];
        let default = permission.default_group();
        let new =
            choices.into_iter().find(|group| *group != default && permission.permission().allows(*group));
        let new = id(new.unwrap());
        let answer = owner.patch("/realm", change(name, json!(new))).await.ok();
        assert_eq!(answer[name], new);
        let data = Map::from_iter([(name.to_owned(), json!(new))]);
        queue
            .expect(&[json!({"type": "realm", "op": "update_dict", "property": "default", "data": data})])
            .await;
        let state = guest.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
        assert_eq!(state[format!("realm_{name}").as_str()], new);
        let again = owner.patch("/realm", change(name, json!(new))).await.ok();
        assert_eq!(again.get(name), None, "it is so already");
    }
    queue.expect_nothing().await;
}

// conformance: realm-10
#[tokio::test]
async fn groups_that_a_permission_does_not_allow_are_refused() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    for permission in RealmGroup::ALL {
        let name = permission.name();
        for group in SystemGroup::ALL.into_iter().filter(|group| !permission.permission().allows(*group)) {
            let msg = format!("'{name}' setting cannot be set to '{}' group.", group.name());
            owner.patch("/realm", change(name, json!(id(group)))).await.error(400, "BAD_REQUEST", &msg);
        }
        let people = json!({"direct_members": [ada.user_id], "direct_subgroups": [id(SystemGroup::Owners)]});
        let answer = owner.patch("/realm", change(name, people.clone())).await;
        if permission.permission().require_system_group {
            let msg = format!("'{name}' must be a system user group.");
            let error = answer.error(400, "SYSTEM_GROUP_REQUIRED", &msg);
            assert_eq!(error["setting_name"], name);
        } else {
            assert_eq!(answer.ok()[name], people);
        }
    }
}

// conformance: realm-11
#[tokio::test]
async fn values_are_checked_and_expected() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let name = "can_create_groups";
    let (members, nobody) = (id(SystemGroup::Members), id(SystemGroup::Nobody));
    let wrong = json!({name: {"new": nobody, "old": nobody}});
    let refused = owner.patch("/realm", wrong).await;
    refused.error(400, "EXPECTATION_MISMATCH", "'old' value does not match the expected value.");
    owner.patch("/realm", json!({name: {"new": nobody, "old": members}})).await.ok();
    let people = json!({"direct_members": [ada.user_id, owner.user_id], "direct_subgroups": []});
    let right = json!({name: {"new": people, "old": {"direct_members": [], "direct_subgroups": []}}});
    let answer = owner.patch("/realm", right).await.ok();
    let sorted = json!({"direct_members": [owner.user_id, ada.user_id], "direct_subgroups": []});
    assert_eq!(answer[name], sorted, "lists ascend");
    for (new, msg) in [
        (json!(999), "Invalid user group"),
        (json!({"direct_members": [999], "direct_subgroups": []}), "Invalid user ID: 999"),
    ] {
        owner.patch("/realm", change(name, new)).await.error(400, "BAD_REQUEST", msg);
    }
    let missing = owner.patch("/realm", json!({name: {"old": nobody}})).await;
    missing.error(400, "BAD_REQUEST", "can_create_groups[\"new\"] field is missing: Field required");
    owner.patch("/realm", json!({name: members})).await.error(
        400,
        "BAD_REQUEST",
        "can_create_groups is not a dict",
    );
}

// conformance: realm-7
#[tokio::test]
async fn a_permission_has_its_effect_at_once() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let public = "can_create_public_channel_group";
    owner.patch("/realm", change(public, json!(id(SystemGroup::Administrators)))).await.ok();
    let new = json!({"subscriptions": [{"name": "garden"}]});
    let refused = ada.post("/users/me/subscriptions", &new).await;
    refused.error(400, "BAD_REQUEST", "Insufficient permission");
    let people = json!({"direct_members": [ada.user_id], "direct_subgroups": []});
    owner.patch("/realm", change(public, people)).await.ok();
    ada.post("/users/me/subscriptions", &new).await.ok();
}

// conformance: realm-8
#[tokio::test]
async fn events_and_a_new_state_agree() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let people =
        json!({"direct_members": [ada.user_id], "direct_subgroups": [id(SystemGroup::Administrators)]});
    for values in [
        [id(SystemGroup::Nobody), id(SystemGroup::Moderators)].map(Value::from),
        [json!(id(SystemGroup::FullMembers)), people],
    ] {
        server
            .check_state_sync(&[&owner, &admin, &ada, &guest], async || {
                for (name, value) in [
                    ("can_create_public_channel_group", &values[0]),
                    ("can_create_private_channel_group", &values[1]),
                    ("can_mention_many_users_group", &values[0]),
                    ("can_add_subscribers_group", &values[1]),
                    ("can_invite_users_group", &values[1]),
                ] {
                    owner.patch("/realm", change(name, value.clone())).await.ok();
                }
                let web_public =
                    change("can_create_web_public_channel_group", json!(id(SystemGroup::Moderators)));
                owner.patch("/realm", web_public).await.ok();
            })
            .await;
    }
}

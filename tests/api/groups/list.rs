//! `GET /user_groups`, and the groups in the state.

use crate::harness::TestServer;
use serde_json::{Value, json};
use teamchat::types::Role;

// conformance: group-2, group-3
#[tokio::test]
async fn each_role_is_in_its_system_groups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let administrator = server.administrator("admin").await;
    let moderator = server.moderator("mod").await;
    let ada = server.member("ada").await;
    let guest = server.guest("guest").await;
    let groups = ada.get("/user_groups", ()).await.ok()["user_groups"].clone();
    let found: Vec<(&str, Value, Value)> = groups
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            (group["name"].as_str().unwrap(), group["members"].clone(), group["direct_subgroup_ids"].clone())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("role:nobody", json!([]), json!([])),
            ("role:owners", json!([owner.user_id]), json!([])),
            ("role:administrators", json!([administrator.user_id]), json!([2])),
            ("role:moderators", json!([moderator.user_id]), json!([3])),
            ("role:fullmembers", json!([ada.user_id]), json!([4])),
            ("role:members", json!([ada.user_id]), json!([5])),
            ("role:everyone", json!([guest.user_id]), json!([6])),
            ("role:internet", json!([]), json!([7])),
        ]
    );
    let state = guest.post("/register", json!({"fetch_event_types": ["realm_user_groups"]})).await.ok();
    assert_eq!(state["realm_user_groups"], groups);
}

// conformance: group-1
#[tokio::test]
async fn a_system_group_has_every_field() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let groups = owner.get("/user_groups", ()).await.ok()["user_groups"].clone();
    assert_eq!(
        groups[1],
        json!({
            "id": 2,
            "name": "role:owners",
            "description": "Owners of this organization",
            "members": [owner.user_id],
            "direct_subgroup_ids": [],
            "is_system_group": true,
            "creator_id": null,
            "date_created": groups[1]["date_created"].as_i64().unwrap(),
            "deactivated": false,
            "can_add_members_group": 1,
            "can_join_group": 1,
            "can_leave_group": 1,
            "can_manage_group": 1,
            "can_mention_group": 1,
            "can_remove_members_group": 1,
        })
    );
}

// conformance: group-4
#[tokio::test]
async fn groups_of_new_users_are_emitted() {
    let server = TestServer::start().await;
    let watcher = server.guest("watcher").await;
    let cases: [(Role, &[i64]); 5] = [
        (Role::Owner, &[2]),
        (Role::Administrator, &[3]),
        (Role::Moderator, &[4]),
        (Role::Member, &[6, 5]),
        (Role::Guest, &[7]),
    ];
    for (role, groups) in cases {
        let mut queue = watcher.register(json!({"event_types": ["user_group"]})).await;
        let user = server.user(role.name(), role, None, None).await;
        let expected: Vec<Value> = groups
            .iter()
            .map(|group| json!({"type": "user_group", "op": "add_members", "group_id": group, "user_ids": [user.user_id]}))
            .collect();
        queue.expect(&expected).await;
    }
}

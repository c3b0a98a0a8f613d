//! `POST /user_groups/create`.

use super::{NO_PERMISSION, direct, group, seen};
use crate::harness::TestServer;
use serde_json::json;
use teamchat::domain::groups::permission::RealmGroup;
use teamchat::domain::groups::system::SystemGroup;

// conformance: group-5
#[tokio::test]
async fn new_groups_are_emitted_with_defaults() {
    let server = TestServer::start().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    let register = json!({"event_types": ["user_group"]});
    let (mut of_ada, mut of_guest) = (ada.register(&register).await, guest.register(&register).await);
    let members = [bob.user_id, ada.user_id, bob.user_id];
    let parameters = json!({"name": "crew", "description": "The *crew*", "members": members});
    let made = ada.post("/user_groups/create", parameters).await.ok();
    let id = &made["group_id"];
    let creator = direct(&[&ada], &[]);
    let record = json!({
        "id": id,
        "name": "crew",
        "description": "The *crew*",
        "members": [ada.user_id, bob.user_id],
        "direct_subgroup_ids": [],
        "is_system_group": false,
        "creator_id": ada.user_id,
        "date_created": server.app().clock.seconds(),
        "deactivated": false,
        "can_add_members_group": creator,
        "can_join_group": 1,
        "can_leave_group": 7,
        "can_manage_group": creator,
        "can_mention_group": 7,
        "can_remove_members_group": 1,
    });
    let event = json!({"type": "user_group", "op": "add", "group": record});
    of_ada.expect(std::slice::from_ref(&event)).await;
    of_guest.expect(&[event]).await;
    assert_eq!(seen(&bob, id.as_i64().unwrap()).await, record);
}

// conformance: group-5
#[tokio::test]
async fn a_group_begins_with_subgroups_and_settings() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let inner = group(&bob, "inner", &[&bob]).await;
    let mut queue = bob.register(json!({"event_types": ["user_group"]})).await;
    let parameters = json!({
        "name": "outer",
        "description": "",
        "members": [],
        "subgroups": [inner, 4],
        "can_add_members_group": inner,
        "can_join_group": direct(&[&bob, &ada], &[inner]),
        "can_leave_group": direct(&[], &[]),
        "can_manage_group": direct(&[], &[2]),
        "can_mention_group": 4,
        "can_remove_members_group": 3,
    });
    let id = ada.post("/user_groups/create", parameters).await.ok()["group_id"].clone();
    let subgroups = json!({"type": "user_group", "op": "add_subgroups", "group_id": id, "direct_subgroup_ids": [4, inner]});
    let added = json!({"type": "user_group", "op": "add", "group": "*"});
    let events = queue.expect(&[added, subgroups]).await;
    assert_eq!(events[0]["group"]["direct_subgroup_ids"], json!([]));
    let made = seen(&bob, id.as_i64().unwrap()).await;
    assert_eq!(made["direct_subgroup_ids"], json!([4, inner]));
    assert_eq!(made["can_add_members_group"], inner);
    assert_eq!(made["can_join_group"], direct(&[&ada, &bob], &[inner]));
    assert_eq!(made["can_leave_group"], 1);
    assert_eq!(made["can_manage_group"], 2);
    assert_eq!(made["can_mention_group"], 4);
    assert_eq!(made["can_remove_members_group"], 3);
}

// conformance: group-7, group-8, group-24
#[tokio::test]
async fn invalid_values_are_refused_as_published() {
    let server = TestServer::start().await;
    let (ada, gone) = (server.member("ada").await, server.member("gone").await);
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    group(&ada, "Crew", &[]).await;
    let old = group(&ada, "old", &[]).await;
    ada.post(&super::path(old, "/deactivate"), ()).await.ok();
    let cases = [
        (json!({"name": " "}), "User group name can't be empty!".to_owned()),
        (json!({"name": "x".repeat(101)}), "User group name cannot exceed 100 characters.".to_owned()),
        (json!({"name": "role:x"}), "User group name cannot start with 'role:'.".to_owned()),
        (json!({"name": "x\n# Hi"}), "Invalid character in user group name, at position 2.".to_owned()),
        (json!({"name": "crew*"}), "Invalid character in user group name, at position 5.".to_owned()),
        (json!({"name": "\u{202e}werc"}), "Invalid character in user group name, at position 1.".to_owned()),
        (json!({"name": "crew"}), "User group 'crew' already exists.".to_owned()),
        (json!({"name": "old"}), "User group 'old' already exists.".to_owned()),
        (json!({"members": [999]}), "Invalid user ID: 999".to_owned()),
        (json!({"members": [gone.user_id]}), format!("Invalid user ID: {}", gone.user_id)),
        (json!({"subgroups": [999]}), "Invalid user group ID: 999".to_owned()),
        (json!({"subgroups": [old]}), "User group is deactivated.".to_owned()),
        (json!({"can_join_group": 999}), "Invalid user group".to_owned()),
        (json!({"can_join_group": old}), "User group is deactivated.".to_owned()),
        (json!({"can_join_group": direct(&[&ada], &[999])}), "Invalid user group ID: 999".to_owned()),
        (json!({"can_join_group": direct(&[&ada], &[old])}), "User group is deactivated.".to_owned()),
        (json!({"can_join_group": direct(&[&gone], &[])}), format!("Invalid user ID: {}", gone.user_id)),
        (
            json!({"can_manage_group": 7}),
            "'can_manage_group' setting cannot be set to 'role:everyone' group.".to_owned(),
        ),
        (
            json!({"can_mention_group": 8}),
            "'can_mention_group' setting cannot be set to 'role:internet' group.".to_owned(),
        ),
    ];
    let before = ada.get("/user_groups", ()).await.ok();
    for (change, msg) in cases {
        let mut parameters = json!({"name": "new", "description": "", "members": []});
        parameters.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        ada.post("/user_groups/create", parameters).await.error(400, "BAD_REQUEST", &msg);
    }
    for name in ["name", "description", "members"] {
        let mut parameters = json!({"name": "new", "description": "", "members": []});
        parameters.as_object_mut().unwrap().remove(name);
        let error = ada.post("/user_groups/create", parameters).await;
        error.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
    assert_eq!(ada.get("/user_groups", ()).await.ok(), before);
}

// conformance: group-6
#[tokio::test]
async fn creating_groups_needs_permission() {
    let server = TestServer::start().await;
    let (ada, moderator, guest) =
        (server.member("ada").await, server.moderator("mod").await, server.guest("guest").await);
    let bot = server.bot("bot", &ada).await;
    let new = |name: &str| json!({"name": name, "description": "", "members": []});
    guest.post("/user_groups/create", new("a")).await.error(
        400,
        "BAD_REQUEST",
        "Not allowed for guest users",
    );
    bot.post("/user_groups/create", new("a")).await.error(
        400,
        "BAD_REQUEST",
        "This endpoint does not accept bot requests.",
    );
    server.set_realm_group(RealmGroup::CanCreateGroups.name(), SystemGroup::Moderators).await;
    let (status, code, msg) = NO_PERMISSION;
    ada.post("/user_groups/create", new("a")).await.error(status, code, msg);
    moderator.post("/user_groups/create", new("a")).await.ok();
}

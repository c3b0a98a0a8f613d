//! `PATCH /user_groups/{user_group_id}`.

use super::{NO_PERMISSION, direct, group, path, seen};
use crate::harness::TestServer;
use serde_json::{Value, json};

fn update(group: i64, data: Value) -> Value {
    json!({"type": "user_group", "op": "update", "group_id": group, "data": data})
}

// conformance: group-9
#[tokio::test]
async fn each_part_is_an_event_of_its_own() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let crew = group(&ada, "crew", &[]).await;
    let mut queue = bob.register(json!({"event_types": ["user_group"]})).await;
    let parameters = json!({
        "name": "team",
        "description": "We",
        "can_add_members_group": {"new": 4},
        "can_join_group": {"new": direct(&[&bob, &ada], &[]), "old": 1},
        "can_leave_group": {"new": direct(&[], &[5]), "old": direct(&[], &[7])},
        "can_manage_group": {"new": direct(&[&bob, &ada], &[2]), "old": direct(&[&ada], &[])},
        "can_mention_group": {"new": direct(&[], &[])},
        "can_remove_members_group": {"new": 2},
    });
    server.check_state_sync(&[&ada, &bob], async || ada.patch(&path(crew, ""), parameters).await.ok()).await;
    queue
        .expect(&[
            update(crew, json!({"name": "team"})),
            update(crew, json!({"description": "We"})),
            update(crew, json!({"can_add_members_group": 4})),
            update(crew, json!({"can_join_group": direct(&[&ada, &bob], &[])})),
            update(crew, json!({"can_leave_group": 5})),
            update(crew, json!({"can_manage_group": direct(&[&ada, &bob], &[2])})),
            update(crew, json!({"can_mention_group": 1})),
            update(crew, json!({"can_remove_members_group": 2})),
        ])
        .await;
    let group = seen(&bob, crew).await;
    assert_eq!(group["name"], "team");
    assert_eq!(group["can_manage_group"], direct(&[&ada, &bob], &[2]));

    // Unchanged values are no change. The replaced values have no other user.
    let same = json!({
        "name": "team",
        "description": "We",
        "deactivated": false,
        "can_join_group": {"new": direct(&[&ada, &bob], &[])},
        "can_leave_group": {"new": 5, "old": 5},
    });
    bob.patch(&path(crew, ""), same).await.ok();
    queue.expect_nothing().await;
    let anonymous = "SELECT count(*) FROM user_group WHERE kind = 'anonymous'";
    assert_eq!(server.column(anonymous).await, ["2"], "can_join_group and can_manage_group");
}

// conformance: group-10, group-11
#[tokio::test]
async fn invalid_values_are_refused() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("bot", &ada).await;
    let crew = group(&ada, "crew", &[]).await;
    group(&bob, "Other", &[]).await;
    let old = group(&ada, "old", &[]).await;
    ada.post(&path(old, "/deactivate"), ()).await.ok();
    let before = seen(&ada, crew).await;
    let cases = [
        (json!({}), "No new data supplied"),
        (json!({"name": ""}), "User group name can't be empty!"),
        (json!({"name": "user:x"}), "User group name cannot start with 'user:'."),
        (json!({"name": "other"}), "User group 'other' already exists."),
        (json!({"name": "x", "can_join_group": {"new": 999}}), "Invalid user group"),
        (json!({"can_join_group": {"new": old}}), "User group is deactivated."),
        (json!({"can_join_group": {"new": direct(&[&ada], &[999])}}), "Invalid user group ID: 999"),
        (
            json!({"can_manage_group": {"new": 8}}),
            "'can_manage_group' setting cannot be set to 'role:internet' group.",
        ),
        (json!({"can_join_group": {"old": 1}}), "can_join_group[\"new\"] field is missing: Field required"),
    ];
    for (parameters, msg) in cases {
        ada.patch(&path(crew, ""), parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let expected = json!({"can_join_group": {"new": 4, "old": 2}});
    let msg = "'old' value does not match the expected value.";
    ada.patch(&path(crew, ""), expected).await.error(400, "EXPECTATION_MISMATCH", msg);
    let name = json!({"name": "mine"});
    let (status, code, msg) = NO_PERMISSION;
    bob.patch(&path(crew, ""), &name).await.error(status, code, msg);
    owner.patch(&path(2, ""), &name).await.error(status, code, msg);
    guest.patch(&path(crew, ""), &name).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    bot.patch(&path(crew, ""), &name).await.error(
        400,
        "BAD_REQUEST",
        "This endpoint does not accept bot requests.",
    );
    ada.patch(&path(999, ""), &name).await.error(400, "BAD_REQUEST", "Invalid user group");
    assert_eq!(seen(&ada, crew).await, before);
    // A user who can manage all groups can change this one.
    owner.patch(&path(crew, ""), &name).await.ok();
    // Only the case of a name may change.
    ada.patch(&path(crew, ""), json!({"name": "Mine"})).await.ok();
    assert_eq!(seen(&ada, crew).await["name"], "Mine");
}

// conformance: group-25
#[tokio::test]
async fn white_space_around_names_is_removed() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let crew = group(&ada, "  the crew \t", &[&bob]).await;
    assert_eq!(seen(&ada, crew).await["name"], "the crew");
    let mention = ada.send_direct(&[&bob], "@*the crew*").await;
    assert_eq!(bob.message(mention).await["flags"], json!(["mentioned"]));
    ada.patch(&path(crew, ""), json!({"name": " the team "})).await.ok();
    assert_eq!(seen(&ada, crew).await["name"], "the team");
    let taken = json!({"name": "the team  ", "description": "", "members": []});
    let msg = "User group 'the team' already exists.";
    ada.post("/user_groups/create", taken).await.error(400, "BAD_REQUEST", msg);
    // It is the name that the group has.
    let mut queue = ada.register(json!({"event_types": ["user_group"]})).await;
    ada.patch(&path(crew, ""), json!({"name": " the team"})).await.ok();
    queue.expect_nothing().await;
}

// conformance: group-11
#[tokio::test]
async fn groups_can_manage_groups() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let crew = group(&ada, "crew", &[&bob]).await;
    let (status, code, msg) = NO_PERMISSION;
    bob.patch(&path(crew, ""), json!({"name": "mine"})).await.error(status, code, msg);
    ada.patch(&path(crew, ""), json!({"can_manage_group": {"new": crew}})).await.ok();
    bob.patch(&path(crew, ""), json!({"name": "mine"})).await.ok();
    ada.patch(&path(crew, ""), json!({"name": "ours"})).await.error(status, code, msg);
}

// conformance: group-12
#[tokio::test]
async fn deactivated_groups_are_reactivated() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let inner = group(&ada, "inner", &[]).await;
    let crew = group(&ada, "crew", &[&bob]).await;
    ada.post(&path(crew, "/subgroups"), json!({"add": [inner]})).await.ok();
    ada.post(&path(crew, "/deactivate"), ()).await.ok();
    let mut without = bob.register(json!({"event_types": ["user_group"]})).await;
    let with =
        json!({"event_types": ["user_group"], "client_capabilities": {"include_deactivated_groups": true}});
    let mut with = bob.register(with).await;

    // A user without access to the group receives no event of its name.
    server
        .check_state_sync(&[&ada, &bob], async || {
            ada.patch(&path(crew, ""), json!({"name": "old"})).await.ok()
        })
        .await;
    with.expect(&[update(crew, json!({"name": "old"}))]).await;
    without.expect_nothing().await;
    ada.patch(&path(crew, ""), json!({"deactivated": true})).await.ok();
    with.expect_nothing().await;

    let back = json!({"deactivated": false});
    server.check_state_sync(&[&ada, &bob], async || ada.patch(&path(crew, ""), back).await.ok()).await;
    with.expect(&[update(crew, json!({"deactivated": false}))]).await;
    let group = seen(&bob, crew).await;
    assert_eq!(group["members"], json!([bob.user_id]));
    assert_eq!(group["direct_subgroup_ids"], json!([inner]));
    without.expect(&[json!({"type": "user_group", "op": "add", "group": group})]).await;
}

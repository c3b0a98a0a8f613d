//! `POST /user_groups/{user_group_id}/subgroups`, and the same beside members.

use super::{NO_PERMISSION, direct, group, path, seen};
use crate::harness::TestServer;
use serde_json::{Value, json};

fn event(op: &str, group: i64, subgroups: &[i64]) -> Value {
    json!({"type": "user_group", "op": op, "group_id": group, "direct_subgroup_ids": subgroups})
}

// conformance: group-19
#[tokio::test]
async fn subgroups_change_through_both_endpoints() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let (outer, inner, other) =
        (group(&ada, "outer", &[]).await, group(&ada, "inner", &[]).await, group(&ada, "other", &[]).await);
    let mut queue = guest.register(json!({"event_types": ["user_group"]})).await;
    let add = json!({"add": [other, inner, 4]});
    server
        .check_state_sync(&[&ada, &guest], async || ada.post(&path(outer, "/subgroups"), add).await.ok())
        .await;
    queue.expect(&[event("add_subgroups", outer, &[4, inner, other])]).await;
    ada.post(&path(outer, "/subgroups"), json!({"add": [5], "delete": [other]})).await.ok();
    queue.expect(&[event("add_subgroups", outer, &[5]), event("remove_subgroups", outer, &[other])]).await;
    ada.post(&path(outer, "/members"), json!({"add_subgroups": [other], "delete_subgroups": [4, 5]}))
        .await
        .ok();
    queue.expect(&[event("add_subgroups", outer, &[other]), event("remove_subgroups", outer, &[4, 5])]).await;
    assert_eq!(seen(&ada, outer).await["direct_subgroup_ids"], json!([inner, other]));
}

// conformance: group-20
#[tokio::test]
async fn a_group_is_never_in_itself() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (a, b, c) = (group(&ada, "a", &[]).await, group(&ada, "b", &[]).await, group(&ada, "c", &[]).await);
    ada.post(&path(a, "/subgroups"), json!({"add": [b]})).await.ok();
    ada.post(&path(b, "/subgroups"), json!({"add": [c]})).await.ok();
    for (group, subgroup) in [(c, a), (c, b), (b, a), (a, a)] {
        let msg = format!("User group {group} is already a subgroup of one of the passed subgroups.");
        let add = json!({"add": [subgroup]});
        ada.post(&path(group, "/subgroups"), add).await.error(400, "BAD_REQUEST", &msg);
    }
    ada.post(&path(a, "/subgroups"), json!({"add": [c]})).await.ok();
}

// conformance: group-17
#[tokio::test]
async fn invalid_requests_change_nothing() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("bot", &ada).await;
    let (outer, inner, old) =
        (group(&ada, "outer", &[]).await, group(&ada, "inner", &[]).await, group(&ada, "old", &[]).await);
    ada.post(&path(outer, "/subgroups"), json!({"add": [inner]})).await.ok();
    ada.post(&path(old, "/deactivate"), ()).await.ok();
    let subgroups = path(outer, "/subgroups");
    let nothing = "Nothing to do. Specify at least one of \"add\" or \"delete\".";
    let cases = [
        (json!({}), nothing.to_owned()),
        (json!({"add": [], "delete": []}), nothing.to_owned()),
        (json!({"add": [2, inner]}), format!("User group {inner} is already a subgroup of this group.")),
        (json!({"add": [2, 999]}), "Invalid user group ID: 999".to_owned()),
        (json!({"add": [2, old]}), "User group is deactivated.".to_owned()),
        (json!({"add": [2], "delete": [3]}), "User group 3 is not a subgroup of this group.".to_owned()),
        (json!({"delete": [999]}), "Invalid user group ID: 999".to_owned()),
    ];
    for (parameters, msg) in cases {
        ada.post(&subgroups, parameters).await.error(400, "BAD_REQUEST", &msg);
    }
    assert_eq!(seen(&ada, outer).await["direct_subgroup_ids"], json!([inner]));
    let add = json!({"add": [2]});
    let (status, code, msg) = NO_PERMISSION;
    owner.post(&path(3, "/subgroups"), &add).await.error(status, code, msg);
    bob.post(&subgroups, &add).await.error(status, code, msg);
    guest.post(&subgroups, &add).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    bot.post(&subgroups, &add).await.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    ada.post(&path(999, "/subgroups"), &add).await.error(400, "BAD_REQUEST", "Invalid user group");
    // Adding subgroups requires permission to add members; removing them requires permission to manage.
    ada.patch(&path(outer, ""), json!({"can_add_members_group": {"new": direct(&[&ada, &bob], &[])}}))
        .await
        .ok();
    bob.post(&subgroups, &add).await.ok();
    bob.post(&subgroups, json!({"delete": [2]})).await.error(status, code, msg);
    ada.post(&subgroups, json!({"delete": [2]})).await.ok();
}

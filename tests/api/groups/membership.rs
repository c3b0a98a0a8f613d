//! Members and subgroups of a group: `GET .../members`, `.../members/{user_id}` and `.../subgroups`.

use super::{group, path};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

async fn members(client: &Client, group: i64, direct: bool) -> Value {
    let parameters = json!({"direct_member_only": direct});
    client.get(&path(group, "/members"), parameters).await.ok()["members"].clone()
}

async fn is_member(client: &Client, group: i64, user: &Client, direct: bool) -> bool {
    let path = path(group, &format!("/members/{}", user.user_id));
    let answer = client.get(&path, json!({"direct_member_only": direct})).await.ok();
    answer["is_user_group_member"].as_bool().unwrap()
}

// conformance: group-21
#[tokio::test]
async fn members_are_those_of_subgroups_too() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let gone = server.member("gone").await;
    let inner = group(&ada, "inner", &[&bob, &gone]).await;
    let outer = group(&ada, "outer", &[&ada]).await;
    ada.post(&path(outer, "/subgroups"), json!({"add": [inner, 3]})).await.ok();
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    assert_eq!(members(&bob, outer, false).await, json!([owner.user_id, ada.user_id, bob.user_id]));
    assert_eq!(members(&bob, outer, true).await, json!([ada.user_id]));
    assert_eq!(members(&bob, inner, false).await, json!([bob.user_id]));
    // The same holds for system groups: a full member is in both the members and the full members.
    assert_eq!(members(&bob, 6, true).await, json!([ada.user_id, bob.user_id]));
    assert_eq!(members(&bob, 6, false).await, json!([owner.user_id, ada.user_id, bob.user_id]));
    assert_eq!(members(&bob, 1, false).await, json!([]));
    for (user, in_outer, directly) in [(&ada, true, true), (&bob, true, false), (&owner, true, false)] {
        assert_eq!(is_member(&bob, outer, user, false).await, in_outer);
        assert_eq!(is_member(&bob, outer, user, true).await, directly);
    }
    assert!(!is_member(&bob, inner, &ada, false).await);
    assert!(is_member(&bob, 5, &ada, true).await);
    assert!(!is_member(&bob, 7, &ada, true).await);
}

// conformance: group-21
#[tokio::test]
async fn subgroups_are_those_of_subgroups_too() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (a, b) = (group(&ada, "a", &[]).await, group(&ada, "b", &[]).await);
    ada.post(&path(a, "/subgroups"), json!({"add": [b]})).await.ok();
    ada.post(&path(b, "/subgroups"), json!({"add": [4]})).await.ok();
    let subgroups = async |group: i64, direct: bool| {
        let parameters = json!({"direct_subgroup_only": direct});
        ada.get(&path(group, "/subgroups"), parameters).await.ok()["subgroups"].clone()
    };
    assert_eq!(subgroups(a, false).await, json!([2, 3, 4, b]));
    assert_eq!(subgroups(a, true).await, json!([b]));
    assert_eq!(subgroups(2, false).await, json!([]));
}

// conformance: group-3, group-22
#[tokio::test]
async fn groups_and_users_that_are_not_there_are_refused() {
    let server = TestServer::start().await;
    let (ada, gone) = (server.member("ada").await, server.member("gone").await);
    let (guest, bot) = (server.guest("guest").await, server.bot("bot", &ada).await);
    let crew = group(&ada, "crew", &[]).await;
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    let member = |user_id: i64| format!("/members/{user_id}");
    ada.get(&path(crew, &member(999)), ()).await.error(400, "BAD_REQUEST", "No such user");
    ada.get(&path(crew, &member(bot.user_id)), ()).await.error(400, "BAD_REQUEST", "No such user");
    ada.get(&path(crew, &member(gone.user_id)), ()).await.error(400, "BAD_REQUEST", "User is deactivated");
    let of_guest = "Not allowed for guest users";
    let of_bot = "This endpoint does not accept bot requests.";
    guest.get("/user_groups", ()).await.error(400, "BAD_REQUEST", of_guest);
    bot.get("/user_groups", ()).await.error(400, "BAD_REQUEST", of_bot);
    for rest in ["/members", &member(ada.user_id), "/subgroups"] {
        ada.get(&path(999, rest), ()).await.error(400, "BAD_REQUEST", "Invalid user group");
        guest.get(&path(crew, rest), ()).await.error(400, "BAD_REQUEST", of_guest);
        bot.get(&path(crew, rest), ()).await.error(400, "BAD_REQUEST", of_bot);
    }
    ada.post(&path(crew, "/deactivate"), ()).await.ok();
    for rest in ["/members", &member(ada.user_id), "/subgroups"] {
        ada.get(&path(crew, rest), ()).await.error(400, "BAD_REQUEST", "User group is deactivated.");
    }
}

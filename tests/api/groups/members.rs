//! `POST /user_groups/{user_group_id}/members`.

use super::{NO_PERMISSION, direct, group, group_with, path, seen};
use crate::channels;
use crate::channels::private_channel;
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use teamchat::domain::limits;

fn event(op: &str, group: i64, users: &[&Client]) -> Value {
    json!({"type": "user_group", "op": op, "group_id": group, "user_ids": super::ids(users)})
}

// conformance: group-15
#[tokio::test]
async fn membership_changes_are_emitted_and_reported() {
    let server = TestServer::start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.member("eve").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("bot", &ada).await;
    let crew = group(&ada, "crew", &[&eve]).await;
    let mut of_guest = guest.register(json!({"event_types": ["user_group"]})).await;
    let mut of_bob = bob.register(json!({"event_types": ["message"]})).await;
    let mut bot_queue = bot.register(json!({"event_types": ["message"]})).await;
    let mut of_ada = ada.register(json!({"event_types": ["message"]})).await;

    let both = json!({"add": [bot.user_id, bob.user_id, ada.user_id], "delete": [eve.user_id]});
    server
        .check_state_sync(&[&ada, &bob, &eve, &guest], async || {
            ada.post(&path(crew, "/members"), both).await.ok()
        })
        .await;
    let mut added = [&ada, &bob, &bot];
    added.sort_by_key(|user| user.user_id);
    of_guest.expect(&[event("add_members", crew, &added), event("remove_members", crew, &[&eve])]).await;
    assert_eq!(seen(&bob, crew).await["members"], json!(super::ids(&added)));
    // The user who made the change and bots are not notified.
    let received = of_bob.expect_kinds(&["message"]).await;
    let text = format!("@_**Ada|{}** added you to the group @_*crew*.", ada.user_id);
    assert_eq!(
        bob.get(&format!("/messages/{}", received[0]["message"]["id"]), json!({"apply_markdown": false}))
            .await
            .ok()["raw_content"],
        text
    );
    assert_eq!(received[0]["message"]["sender_id"], server.notification_bot().await);
    assert_eq!(received[0]["message"]["type"], "private");
    bot_queue.expect_nothing().await;
    of_ada.expect_nothing().await;

    ada.post(&path(crew, "/members"), json!({"delete": [bob.user_id]})).await.ok();
    let received = of_bob.expect_kinds(&["message"]).await;
    let text = format!("@_**Ada|{}** removed you from the group @_*crew*.", ada.user_id);
    assert_eq!(
        bob.get(&format!("/messages/{}", received[0]["message"]["id"]), json!({"apply_markdown": false}))
            .await
            .ok()["raw_content"],
        text
    );
    of_guest.expect(&[event("remove_members", crew, &[&bob])]).await;
    of_ada.expect_nothing().await;
}

// conformance: group-16
#[tokio::test]
async fn settings_grant_permissions() {
    let server = TestServer::start().await;
    let (owner, ada, bob, eve) = (
        server.owner().await,
        server.member("ada").await,
        server.member("bob").await,
        server.member("eve").await,
    );
    let (status, code, msg) = NO_PERMISSION;
    let crew =
        group_with(&ada, json!({"name": "crew", "description": "", "members": [], "can_leave_group": 1}))
            .await;
    let members = path(crew, "/members");
    let change =
        async |by: &Client, what: &str, whom: &Client| by.post(&members, json!({what: [whom.user_id]})).await;
    let allow = async |setting: &str, value: Value| {
        ada.patch(&path(crew, ""), json!({setting: {"new": value}})).await.ok();
    };
    // Each permission by itself: who has it may do that and nothing else.
    let nobody = json!(1);
    let only_bob = direct(&[&bob], &[]);
    for (setting, what, whom, may_also) in [
        ("can_join_group", "add", &bob, None),
        ("can_add_members_group", "add", &eve, Some(&bob)),
        ("can_leave_group", "delete", &bob, None),
        ("can_remove_members_group", "delete", &eve, Some(&bob)),
    ] {
        if what == "delete" {
            let both = json!({"add": [bob.user_id, eve.user_id]});
            let there = seen(&ada, crew).await["members"].clone();
            if there == json!([]) {
                owner.post(&members, both).await.ok();
            }
        } else {
            let there = seen(&ada, crew).await["members"].clone();
            if there != json!([]) {
                owner.post(&members, json!({"delete": there})).await.ok();
            }
        }
        change(&bob, what, whom).await.error(status, code, msg);
        allow(setting, only_bob.clone()).await;
        if may_also.is_none() {
            change(&bob, what, &eve).await.error(status, code, msg);
        }
        change(&bob, what, whom).await.ok();
        // A user who can change others can also change themselves.
        if let Some(themselves) = may_also {
            change(&bob, what, themselves).await.ok();
        }
        allow(setting, nobody.clone()).await;
        let there = seen(&ada, crew).await["members"].clone();
        if what == "delete" && there != json!([]) {
            owner.post(&members, json!({"delete": there})).await.ok();
        }
    }
    // Managers may do everything.
    allow("can_manage_group", direct(&[&ada, &bob], &[])).await;
    change(&bob, "add", &eve).await.ok();
    change(&bob, "add", &bob).await.ok();
    change(&bob, "delete", &eve).await.ok();
    change(&bob, "delete", &bob).await.ok();
}

// conformance: group-17
#[tokio::test]
async fn invalid_requests_change_nothing() {
    let server = TestServer::start().await;
    let (owner, ada, bob, gone) = (
        server.owner().await,
        server.member("ada").await,
        server.member("bob").await,
        server.member("gone").await,
    );
    let guest = server.guest("guest").await;
    let bot = server.bot("bot", &ada).await;
    let crew = group(&ada, "crew", &[&ada]).await;
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    let members = path(crew, "/members");
    let nothing = "Nothing to do. Specify at least one of \"add\", \"delete\", \"add_subgroups\" or \"delete_subgroups\".";
    let cases = [
        (json!({}), nothing.to_owned()),
        (json!({"add": []}), nothing.to_owned()),
        (
            json!({"add": [bob.user_id, ada.user_id]}),
            format!("User {} is already a member of this group", ada.user_id),
        ),
        (json!({"add": [bob.user_id], "delete": [999]}), "Invalid user ID: 999".to_owned()),
        (json!({"add": [gone.user_id]}), format!("Invalid user ID: {}", gone.user_id)),
        (json!({"delete": [gone.user_id]}), format!("Invalid user ID: {}", gone.user_id)),
        (
            json!({"delete": [bob.user_id]}),
            format!("There is no member '{}' in this user group", bob.user_id),
        ),
        (
            json!({"add": [bob.user_id], "delete_subgroups": [2]}),
            "User group 2 is not a subgroup of this group.".to_owned(),
        ),
    ];
    for (parameters, msg) in cases {
        ada.post(&members, parameters).await.error(400, "BAD_REQUEST", &msg);
    }
    let add = json!({"add": [bob.user_id]});
    ada.post(&path(999, "/members"), &add).await.error(400, "BAD_REQUEST", "Invalid user group");
    let (status, code, msg) = NO_PERMISSION;
    owner.post(&path(3, "/members"), &add).await.error(status, code, msg);
    guest.post(&members, &add).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    bot.post(&members, &add).await.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    assert_eq!(seen(&ada, crew).await["members"], json!([ada.user_id]));
    // A deactivated group can be put in order before it is used again.
    ada.post(&path(crew, "/deactivate"), ()).await.ok();
    let mut without = bob.register(json!({"event_types": ["user_group"]})).await;
    server.check_state_sync(&[&ada, &bob], async || ada.post(&members, &add).await.ok()).await;
    without.expect_nothing().await;
}

// conformance: group-18
#[tokio::test]
async fn group_membership_controls_visible_channels() {
    let server = TestServer::start().await;
    let (admin, ada, bob) =
        (server.administrator("admin").await, server.member("ada").await, server.member("bob").await);
    let (eve, guest) = (server.member("eve").await, server.guest("guest").await);
    let crew = group(&ada, "crew", &[]).await;
    let outer =
        group_with(&ada, json!({"name": "outer", "description": "", "members": [], "subgroups": [crew]}))
            .await;
    let private = private_channel(&ada, "private").await;
    let lets_in = json!({"can_subscribe_group": {"new": direct(&[&ada], &[outer])}});
    ada.patch(&format!("/streams/{private}"), lets_in).await.ok();
    ada.send(private, "topic", "hello").await;
    let everybody = [&admin, &ada, &bob, &eve, &guest];
    let register = json!({"event_types": ["stream", "subscription"]});
    let (mut of_bob, mut of_guest) = (bob.register(&register).await, guest.register(&register).await);

    let members = path(crew, "/members");
    let add = json!({"add": [bob.user_id, guest.user_id]});
    server.check_state_sync(&everybody, async || ada.post(&members, add).await.ok()).await;
    let stream = channels::seen(&bob, private).await;
    of_bob
        .expect(&[
            json!({"type": "stream", "op": "create", "streams": [stream]}),
            json!({"type": "subscription", "op": "peer_add", "stream_ids": [private], "user_ids": [ada.user_id]}),
        ])
        .await;
    of_guest.expect_nothing().await;
    guest.get(&format!("/streams/{private}"), ()).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    let delete = json!({"delete": [bob.user_id, guest.user_id]});
    server.check_state_sync(&everybody, async || ada.post(&members, delete).await.ok()).await;
    of_bob.expect_kinds(&["stream/delete"]).await;
    bob.get(&format!("/streams/{private}"), ()).await.error(400, "BAD_REQUEST", "Invalid channel ID");

    let add = json!({"add": [eve.user_id], "delete_subgroups": []});
    server.check_state_sync(&everybody, async || ada.post(&members, add).await.ok()).await;
    let subgroups = path(outer, "/subgroups");
    let delete = json!({"delete": [crew]});
    server.check_state_sync(&everybody, async || ada.post(&subgroups, delete).await.ok()).await;
    eve.get(&format!("/streams/{private}"), ()).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    let add = json!({"add": [crew]});
    server.check_state_sync(&everybody, async || ada.post(&subgroups, add).await.ok()).await;
    channels::seen(&eve, private).await;
}

/// Each message takes longer than the change of a member.
#[tokio::test]
async fn changes_of_many_members_are_not_reported_to_each() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let crew = group(&ada, "crew", &[]).await;
    let people = server.crowd(limits::MAX_BULK_GROUP_MESSAGES + 1).await;
    let ids: Vec<i64> = people.iter().map(|person| person.user_id).collect();
    let mut of_first = people[0].register(json!({"event_types": ["message"]})).await;
    ada.post(&path(crew, "/members"), json!({"add": ids})).await.ok();
    ada.post(&path(crew, "/members"), json!({"delete": ids})).await.ok();
    of_first.expect_nothing().await;
    ada.post(&path(crew, "/members"), json!({"add": ids[1..]})).await.ok();
    ada.post(&path(crew, "/members"), json!({"add": [ids[0]]})).await.ok();
    of_first.expect_kinds(&["message"]).await;
}

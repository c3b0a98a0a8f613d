//! Visibility changes of system groups and channels.

use crate::channels::{channel, channel_with, private_channel, seen};
use crate::harness::{Client, Queue, TestServer, kind};
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::api::groups::emit_ended_waiting_periods;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::visibility::Scope;
use teamchat::domain::{rows, visibility};
use teamchat::http::ApiError;
use teamchat::types::UserId;

/// Runs statements as a change of groups.
async fn change_groups(server: &TestServer, statements: &str) {
    let statements = statements.to_owned();
    let done = server.app().writer.run(move |tx| {
        visibility::with_events(tx, Scope::Groups, |tx| Ok::<_, ApiError>(tx.execute_batch(&statements)?))
    });
    done.await.unwrap();
}

/// Changes a column of a user, as a change of the role or of the account.
async fn change_user(server: &TestServer, user: &Client, column: &str, value: i64) {
    let (user_id, is_role) = (user.user_id, column == "role");
    let statement = format!("UPDATE user SET {column} = {value} WHERE user_id = {user_id}");
    let done = server.app().writer.run(move |tx| {
        let user = rows::user::by_id(tx, UserId(user_id))?.unwrap();
        let scope = if is_role { Scope::Role(&user) } else { Scope::Account(&user) };
        visibility::with_events(tx, scope, |tx| Ok::<_, ApiError>(tx.execute_batch(&statement)?))
    });
    done.await.unwrap();
}

async fn set_role(server: &TestServer, user: &Client, role: i64) {
    change_user(server, user, "role", role).await;
}

fn members(op: &str, group_id: i64, user: &Client) -> Value {
    json!({"type": "user_group", "op": op, "group_id": group_id, "user_ids": [user.user_id]})
}

fn created(stream: &Value) -> Value {
    json!({"type": "stream", "op": "create", "streams": [stream]})
}

fn deleted(stream_id: i64) -> Value {
    let streams = [json!({"stream_id": stream_id})];
    json!({"type": "stream", "op": "delete", "streams": streams, "stream_ids": [stream_id]})
}

fn peers(stream_id: i64, users: &[&Client]) -> Value {
    let users: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    json!({"type": "subscription", "op": "peer_add", "stream_ids": [stream_id], "user_ids": users})
}

// conformance: role-8
#[tokio::test]
async fn demoted_users_lose_public_channels_until_promoted() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let joined =
        channel_with(&ada, json!({"name": "a joined", "subscribers": [ada.user_id, bob.user_id]})).await;
    let open = channel(&ada, "open").await;
    private_channel(&ada, "private").await;
    let (mut of_ada, mut of_bob) = (ada.register(()).await, bob.register(()).await);

    set_role(&server, &bob, 600).await;
    let roles = [
        members("remove_members", 5, &bob),
        members("remove_members", 6, &bob),
        members("add_members", 7, &bob),
    ];
    of_ada.expect(&roles).await;
    of_bob.expect(&[roles.as_slice(), &[deleted(open)]].concat()).await;
    bob.get(&format!("/streams/{open}"), ()).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    seen(&bob, joined).await;

    set_role(&server, &bob, 400).await;
    let roles = [
        members("remove_members", 7, &bob),
        members("add_members", 5, &bob),
        members("add_members", 6, &bob),
    ];
    of_ada.expect(&roles).await;
    let found = seen(&bob, open).await;
    of_bob.expect(&[roles.as_slice(), &[created(&found), peers(open, &[&ada])]].concat()).await;
}

#[tokio::test]
async fn administrators_receive_private_and_archived_channels_on_request() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let private = private_channel(&ada, "private").await;
    let old = private_channel(&ada, "old").await;
    ada.delete(&format!("/streams/{old}"), ()).await.ok();
    let mut plain = bob.register(json!({"event_types": ["stream", "subscription"]})).await;
    let archived = json!({"event_types": ["stream"], "client_capabilities": {"archived_channels": true}});
    let mut with_archived = bob.register(archived).await;

    set_role(&server, &bob, 200).await;
    let (private_now, old_now) = (seen(&bob, private).await, seen(&bob, old).await);
    plain.expect(&[created(&private_now), peers(private, &[&ada])]).await;
    with_archived.expect(&[created(&old_now), created(&private_now)]).await;
    set_role(&server, &bob, 300).await;
    plain.expect(&[deleted(private)]).await;
    with_archived.expect(&[deleted(old), deleted(private)]).await;
}

#[tokio::test]
async fn a_group_lets_its_members_know_of_channels_through_other_groups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    let statements = format!(
        "INSERT INTO user_group (id, kind, name, name_key) VALUES (100, 'named', 'outer', 'outer'), (101, 'named', 'inner', 'inner');
         INSERT INTO user_group_member (group_id, user_id) VALUES (101, {}), (101, {});",
        bob.user_id, guest.user_id
    );
    server.sql(&statements).await;
    let private = private_channel(&ada, "private").await;
    let setting = json!({"can_subscribe_group": {"new": 100}});
    owner.patch(&format!("/streams/{private}"), &setting).await.error(
        400,
        "BAD_REQUEST",
        "Channel content access is required.",
    );
    ada.patch(&format!("/streams/{private}"), setting).await.ok();
    let register = json!({"event_types": ["stream", "subscription", "user_group"]});
    let (mut of_bob, mut of_guest) = (bob.register(&register).await, guest.register(&register).await);

    change_groups(&server, "INSERT INTO user_group_subgroup (group_id, subgroup_id) VALUES (100, 101)").await;
    let found = seen(&bob, private).await;
    of_bob.expect(&[created(&found), peers(private, &[&ada])]).await;
    change_groups(&server, "UPDATE user_group SET deactivated = 1 WHERE id = 100").await;
    of_bob.expect(&[deleted(private)]).await;
    of_guest.expect_nothing().await;

    // Subscribers lose nothing.
    change_groups(&server, "UPDATE user_group SET deactivated = 0 WHERE id = 100").await;
    of_bob.expect_kinds(&["stream/create", "subscription/peer_add"]).await;
    bob.post("/users/me/subscriptions", json!({"subscriptions": [{"name": "private"}]})).await.ok();
    of_bob.expect_kinds(&["subscription/add"]).await;
    change_groups(&server, "DELETE FROM user_group_subgroup WHERE group_id = 100").await;
    of_bob.expect_nothing().await;
    seen(&bob, private).await;
}

#[tokio::test]
async fn reactivated_users_regain_groups_channels_and_settings() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    server
        .sql("INSERT INTO user_group (id, kind, name, name_key) VALUES (100, 'named', 'crew', 'crew')")
        .await;
    server
        .sql(&format!("INSERT INTO user_group_member (group_id, user_id) VALUES (100, {})", bob.user_id))
        .await;
    let both = json!({"name": "both", "subscribers": [ada.user_id, bob.user_id]});
    let both = channel_with(&ada, both).await;
    let named = json!({"direct_members": [ada.user_id, bob.user_id], "direct_subgroups": []});
    let setting = json!({"can_send_message_group": {"new": named}});
    ada.patch(&format!("/streams/{both}"), setting).await.ok();
    let mut of_ada = ada.register(()).await;

    // Clients derive these changes themselves, so no events are sent.
    change_user(&server, &bob, "is_active", 0).await;
    of_ada.expect_nothing().await;
    let stream = seen(&ada, both).await;
    assert_eq!(stream["subscriber_count"], 1);
    assert_eq!(
        stream["can_send_message_group"],
        json!({"direct_members": [ada.user_id], "direct_subgroups": []})
    );
    // The audience of messages does not have them either: it was forgotten.
    ada.send(both, "topic", "hello").await;
    // Starting a topic follows it.
    of_ada.expect_kinds(&["user_topic", "message"]).await;

    change_user(&server, &bob, "is_active", 1).await;
    let update = json!({
        "type": "stream", "op": "update", "stream_id": both, "name": "both",
        "property": "can_send_message_group", "value": named,
    });
    let groups =
        [members("add_members", 5, &bob), members("add_members", 6, &bob), members("add_members", 100, &bob)];
    of_ada.expect(&[groups.as_slice(), &[update, peers(both, &[&bob])]].concat()).await;
}

/// Runs the scheduled job at the end of a waiting period.
async fn end_waiting_periods(server: &TestServer) {
    emit_ended_waiting_periods(server.app()).await.unwrap();
}

#[tokio::test]
async fn new_full_members_receive_their_groups_and_channels() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let private = private_channel(&ada, "private").await;
    let full_members = json!({"can_subscribe_group": {"new": 5}});
    ada.patch(&format!("/streams/{private}"), full_members).await.ok();
    let (bob, guest) = (server.member("bob").await, server.guest("guest").await);
    let register = json!({"event_types": ["stream", "subscription", "user_group"]});
    let (mut of_bob, mut of_guest) = (bob.register(&register).await, guest.register(&register).await);

    // All members are new again.
    owner.patch("/realm", json!({"waiting_period_threshold": 3})).await.ok();
    let lost = json!({
        "type": "user_group", "op": "remove_members", "group_id": 5, "user_ids": [ada.user_id, bob.user_id],
    });
    of_bob.expect(&[lost.clone(), deleted(private)]).await;
    of_guest.expect(&[lost]).await;
    server.clock.advance(DAY);
    let eve = server.member("eve").await;
    for queue in [&mut of_bob, &mut of_guest] {
        queue.expect(&[members("add_members", 6, &eve)]).await;
    }
    server.clock.advance(2 * DAY - 1);
    end_waiting_periods(&server).await;
    of_bob.expect_nothing().await;

    server.clock.advance(1);
    end_waiting_periods(&server).await;
    let gained = json!({
        "type": "user_group", "op": "add_members", "group_id": 5, "user_ids": [ada.user_id, bob.user_id],
    });
    let found = seen(&bob, private).await;
    of_bob.expect(&[gained.clone(), created(&found), peers(private, &[&ada])]).await;
    of_guest.expect(&[gained]).await;
    end_waiting_periods(&server).await;
    of_bob.expect_nothing().await;

    // A waiting period that ended while the server was down is emitted after the start; one that ended before the
    // period changes, before the change.
    of_bob.ignore();
    let mut server = server;
    server.stop().await;
    server.clock.advance(DAY);
    server.restart().await;
    owner.patch("/realm", json!({"waiting_period_threshold": 30})).await.ok();
    let events = of_guest.expect_kinds(&["user_group/add_members", "user_group/remove_members"]).await;
    assert_eq!(events[0]["user_ids"], json!([eve.user_id]));
    assert_eq!(events[1]["user_ids"], json!([ada.user_id, bob.user_id, eve.user_id]));
    owner.patch("/realm", json!({"waiting_period_threshold": 0})).await.ok();
    of_guest.expect_kinds(&["user_group/add_members"]).await;
    end_waiting_periods(&server).await;
    of_guest.expect_nothing().await;
}

/// Members who joined at the same time, more than one step emits.
#[tokio::test]
async fn many_ended_waiting_periods_are_emitted_in_several_jobs() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    server.app().writer.background().set_limit(Duration::ZERO);
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("guest").await);
    let private = private_channel(&ada, "private").await;
    let full_members = json!({"can_subscribe_group": {"new": 5}});
    ada.patch(&format!("/streams/{private}"), full_members).await.ok();
    owner.patch("/realm", json!({"waiting_period_threshold": 3})).await.ok();
    server.clock.advance(DAY);
    let crowd = server.crowd(60).await;
    server.clock.advance(2 * DAY);
    end_waiting_periods(&server).await;
    let register = json!({"event_types": ["stream", "subscription", "user_group"]});
    let (mut of_last, mut of_guest) = (crowd[59].register(&register).await, guest.register(&register).await);

    server.clock.advance(DAY);
    end_waiting_periods(&server).await;
    let gained = |some: &[Client]| {
        let users: Vec<i64> = some.iter().map(|person| person.user_id).collect();
        json!({"type": "user_group", "op": "add_members", "group_id": 5, "user_ids": users})
    };
    let gained: Vec<Value> = crowd.chunks(20).map(gained).collect();
    of_guest.expect(&gained).await;
    let of_channel = [created(&seen(&crowd[59], private).await), peers(private, &[&ada])];
    of_last.expect(&[gained.as_slice(), &of_channel].concat()).await;
    end_waiting_periods(&server).await;
    of_guest.expect_nothing().await;
    let figures = server.app().writer.background().figures()["waiting_periods"];
    assert!(figures.jobs >= 4 && figures.most_steps == 1, "{figures:?}");
}

/// Events that name a user are sent after the user becomes visible, and before they disappear.
#[tokio::test]
async fn users_appear_before_their_channels_and_disappear_after() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let members_only = json!({"can_access_all_users_group": {"new": SystemGroup::Members.id()}});
    owner.patch("/realm", members_only).await.ok();
    channel(&ada, "open").await;
    let mut of_bob = bob.register(json!({"event_types": ["realm_user", "stream", "subscription"]})).await;
    let kinds = async |queue: &mut Queue| {
        let mut kinds: Vec<String> = queue.events().await.iter().map(kind).collect();
        kinds.dedup();
        kinds
    };
    set_role(&server, &bob, 600).await;
    assert_eq!(kinds(&mut of_bob).await, ["stream/delete", "realm_user/remove"]);
    set_role(&server, &bob, 400).await;
    assert_eq!(kinds(&mut of_bob).await, ["realm_user/add", "stream/create", "subscription/peer_add"]);
}

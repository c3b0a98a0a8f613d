//! Permissions to send and to mention: when sending, when editing, and when a scheduled message is due.

use super::{Place, edit, subscribe};
use crate::harness::{Answer, Client, START, TestServer};
use crate::scheduled_messages::{pass, scheduled};
use serde_json::json;
use teamchat::domain::groups;
use teamchat::domain::groups::setting::Owner;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::http::ApiError;
use teamchat::types::GroupId;

const CHANNEL_WILDCARD: (&str, &str) = (
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "You do not have permission to use channel wildcard mentions in this channel.",
);
const TOPIC_WILDCARD: (&str, &str) = (
    "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
    "You do not have permission to use topic wildcard mentions in this topic.",
);

async fn write(from: &Client, to: &[&Client]) -> Answer {
    let to: Vec<i64> = to.iter().map(|user| user.user_id).collect();
    from.post("/messages", json!({"type": "direct", "to": to, "content": "hi"})).await
}

#[track_caller]
fn check(answer: Answer, refusal: Option<&str>) {
    match refusal {
        None => drop(answer.ok()),
        Some(msg) => drop(answer.error(400, "BAD_REQUEST", msg)),
    }
}

/// Creates a user into a bot; with an owner or without.
async fn make_bot(server: &TestServer, bot: &Client, owner: Option<&Client>) {
    let (bot, owner) = (bot.user_id, owner.map(|owner| owner.user_id));
    let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), ApiError> {
        tx.execute("UPDATE user SET bot_type = 1, bot_owner_id = ?2 WHERE user_id = ?1", (bot, owner))?;
        Ok(())
    };
    server.app().writer.run(job).await.unwrap();
}

/// Creates a user group that this group may mention.
async fn make_group(server: &TestServer, name: &'static str, members: &[&Client], may_mention: SystemGroup) {
    let members: Vec<i64> = members.iter().map(|user| user.user_id).collect();
    let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), ApiError> {
        tx.execute("INSERT INTO user_group (kind, name, name_key) VALUES ('named', ?1, ?1)", [name])?;
        let id = GroupId(tx.last_insert_rowid());
        for user_id in members {
            tx.execute("INSERT INTO user_group_member (group_id, user_id) VALUES (?1, ?2)", (id, user_id))?;
        }
        groups::setting::set(tx, Owner::Group(id.0), "can_mention_group", may_mention.id())
    };
    server.app().writer.run(job).await.unwrap();
}

// conformance: send-32
#[tokio::test]
async fn direct_messages_need_an_authorized_participant() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.member("bot").await;
    make_bot(&server, &bot, Some(&ada)).await;
    let crowd = server.crowd(40).await;
    let many: Vec<&Client> = crowd.iter().collect();
    let many_with_owner: Vec<&Client> = crowd.iter().chain([&owner]).collect();
    let disabled = Some("Direct messages are disabled in this organization.");
    let unauthorized = Some("This conversation does not include any users who can authorize it.");
    for (group, among_members, with_owner) in [
        (SystemGroup::Everyone, None, None),
        (SystemGroup::Members, None, None),
        (SystemGroup::Administrators, unauthorized, None),
        (SystemGroup::Nobody, disabled, disabled),
    ] {
        server.set_realm_group("direct_message_permission_group", group).await;
        check(write(&ada, &[&bob]).await, among_members);
        check(write(&ada, &[&bob, &bot]).await, among_members);
        check(write(&ada, &many).await, among_members);
        check(write(&ada, &[&owner]).await, with_owner);
        check(write(&ada, &many_with_owner).await, with_owner);
        check(write(&owner, &[&ada, &bob]).await, with_owner);
        // Notes to oneself, and everything with bots.
        check(write(&ada, &[&ada]).await, None);
        check(write(&ada, &[&bot]).await, None);
        check(write(&bot, &[&ada, &bob]).await, None);
    }
}

// conformance: send-33
#[tokio::test]
async fn existing_conversations_need_no_permission_to_start() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let owner = server.owner().await;
    server.set_realm_group("direct_message_initiator_group", SystemGroup::Administrators).await;
    let refusal = Some("You do not have permission to initiate direct message conversations.");
    check(write(&ada, &[&owner]).await, refusal);
    check(write(&ada, &[&ada]).await, None);
    check(write(&owner, &[&ada]).await, None);
    check(write(&ada, &[&owner]).await, None);
    // Another set of people is another conversation.
    check(write(&ada, &[&owner, &bob]).await, refusal);
    check(write(&owner, &[&ada, &bob]).await, None);
    check(write(&bob, &[&ada, &owner]).await, None);
    // Deleted messages do not count as a started conversation.
    let id = write(&owner, &[&bob]).await.ok()["id"].clone();
    owner.delete(&format!("/messages/{id}"), ()).await.ok();
    check(write(&bob, &[&owner]).await, refusal);
}

// conformance: send-31
#[tokio::test]
async fn a_bot_posts_where_its_owner_may() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bot) = (server.member("ada").await, server.member("bot").await);
    let garden = server.channel("garden", &[&owner]).await;
    let admins = SystemGroup::Administrators.id().0;
    let stream = format!("/streams/{garden}");
    owner.patch(&stream, json!({"can_send_message_group": {"new": admins}})).await.ok();
    let refusal = Some("You do not have permission to post in this channel.");
    let message = json!({"type": "channel", "to": garden, "topic": "t", "content": "hi"});
    for (bot_owner, expected) in [(None, refusal), (Some(&ada), refusal), (Some(&owner), None)] {
        make_bot(&server, &bot, bot_owner).await;
        check(bot.post("/messages", &message).await, expected);
    }
}

// conformance: edit-35, flag-3, send-35, send-37, send-39
#[tokio::test]
async fn channel_wildcards_need_permission_in_large_channels() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let mut users = Vec::new();
    for number in 0..15 {
        users.push(server.member(&format!("user{number}")).await);
    }
    let ada = &users[0];
    // Including the owner, the channel has 15 subscribers.
    subscribe(&owner, "garden", &users[..14].iter().collect::<Vec<_>>()).await;
    let send = async |from: &Client, content: &str| {
        let message = json!({"type": "channel", "to": garden, "topic": "t", "content": content});
        from.post("/messages", message).await
    };
    let small = send(ada, "@**all**").await.ok()["id"].as_i64().unwrap();
    subscribe(&owner, "garden", &[&users[14]]).await;
    let (code, msg) = CHANNEL_WILDCARD;
    for content in ["@**all**", "@**everyone**", "@**channel**", "@**stream** look"] {
        send(ada, content).await.error(400, code, msg);
    }
    for content in ["@_**all**", "`@**all**`", "> @**all**"] {
        send(ada, content).await.ok();
    }
    send(&owner, "@**all**").await.ok();
    // An edit checks all mentions again, including unchanged ones.
    edit(ada, small, json!({"content": "@**all** again"})).await.error(400, code, msg);
    edit(ada, small, json!({"content": "nobody"})).await.ok();
    edit(ada, small, json!({"content": "@**all**"})).await.error(400, code, msg);
    server.set_realm_group("can_mention_many_users_group", SystemGroup::Members).await;
    edit(ada, small, json!({"content": "@**all**"})).await.ok();
    send(ada, "@**all**").await.ok();
    // Direct messages notify all participants anyway.
    server.set_realm_group("can_mention_many_users_group", SystemGroup::Nobody).await;
    let to: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    let direct = json!({"type": "direct", "to": to, "content": "@**all**"});
    let id = owner.post("/messages", direct).await.ok()["id"].as_i64().unwrap();
    let flags = json!(["stream_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(ada.message(id).await["flags"], flags);
}

// conformance: edit-36, flag-4, flag-5, send-36
#[tokio::test]
async fn topic_wildcards_need_permission_in_large_topics() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let mut users = Vec::new();
    for number in 0..16 {
        users.push(server.member(&format!("user{number}")).await);
    }
    subscribe(&owner, "garden", &users.iter().collect::<Vec<_>>()).await;
    let mut first = 0;
    for user in &users[1..14] {
        first = user.send(garden, "t", "hi").await;
    }
    // Users who reacted are participants too: 14, and 15 with the sender.
    users[14].post(&format!("/messages/{first}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    let ada = &users[0];
    let id = ada.send(garden, "t", "@**topic**").await;
    users[15].send(garden, "t", "hi").await;
    let (code, msg) = TOPIC_WILDCARD;
    let message =
        |topic: &str| json!({"type": "channel", "to": garden, "topic": topic, "content": "@**topic**"});
    ada.post("/messages", message("t")).await.error(400, code, msg);
    edit(ada, id, json!({"content": "@**topic** look"})).await.error(400, code, msg);
    // Moving the message in the same request does not avoid the check.
    let alone = ada.send(garden, "alone", "hi").await;
    let both = |topic: &str| json!({"content": "@**topic** look", "topic": topic});
    edit(ada, alone, both("t")).await.error(400, code, msg);
    edit(ada, id, both("alone")).await.error(400, code, msg);
    edit(ada, alone, both("together")).await.ok();
    ada.post("/messages", message("another")).await.ok();
    owner.post("/messages", message("t")).await.ok();
    // The sender is a participant too, with their first message.
    let flags = owner.message(id).await["flags"].clone();
    assert_eq!(flags, json!([]));
    for client in [&users[1], &users[14]] {
        let flags = json!(["topic_wildcard_mentioned", "wildcard_mentioned"]);
        assert_eq!(client.message(id).await["flags"], flags);
    }
    let sent = ada.post("/messages", message("new")).await.ok()["id"].as_i64().unwrap();
    let flags = ada.message(sent).await["flags"].clone();
    assert_eq!(flags, json!(["topic_wildcard_mentioned", "wildcard_mentioned"]));
}

// conformance: edit-37, fetch-66, flag-2, send-38, send-39
#[tokio::test]
async fn mentioning_groups_needs_permission() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&owner, "garden", &[&ada, &bob]).await;
    make_group(&server, "open", &[&bob], SystemGroup::Everyone).await;
    make_group(&server, "staff", &[&bob], SystemGroup::Administrators).await;
    let id = ada.send(garden, "t", "hi @*open* and @_*staff*").await;
    let refusal = "You are not allowed to mention user group 'staff'.";
    let message = |content: &str| json!({"type": "channel", "to": garden, "topic": "t", "content": content});
    ada.post("/messages", message("hi @*staff*")).await.error(400, "BAD_REQUEST", refusal);
    edit(&ada, id, json!({"content": "@*staff*"})).await.error(400, "BAD_REQUEST", refusal);
    let direct = json!({"type": "direct", "to": [bob.user_id], "content": "@*staff*"});
    ada.post("/messages", direct).await.error(400, "BAD_REQUEST", refusal);
    let sent = owner.post("/messages", message("hi @*staff*")).await.ok()["id"].as_i64().unwrap();
    assert_eq!(bob.message(sent).await["flags"], json!(["mentioned"]));
    assert_eq!(ada.message(sent).await["flags"], json!([]));
    // System groups cannot be mentioned, except silently.
    let refusal = "You are not allowed to mention user group 'role:members'.";
    owner.post("/messages", message("@*role:members*")).await.error(400, "BAD_REQUEST", refusal);
    let sent = owner.post("/messages", message("@_*role:members*")).await.ok()["id"].as_i64().unwrap();
    let members = SystemGroup::Members.id();
    assert_eq!(
        owner.message(sent).await["content"],
        format!(
            "<p><span class=\"user-group-mention silent\" data-user-group-id=\"{members}\">Members</span></p>"
        )
    );
}

#[tokio::test]
async fn permissions_of_scheduled_messages_are_checked_on_create_update_and_delivery() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&owner, "garden", &[&ada, &bob]).await;
    make_group(&server, "staff", &[&bob], SystemGroup::Administrators).await;
    let refusal = "You are not allowed to mention user group 'staff'.";
    let schedule = |content: &str| {
        json!({"type": "channel", "to": garden, "topic": "t", "content": content,
            "scheduled_delivery_timestamp": START + 60})
    };
    let add = "/scheduled_messages";
    ada.post(add, schedule("@*staff*")).await.error(400, "BAD_REQUEST", refusal);
    let id = ada.post(add, schedule("hi")).await.ok()["scheduled_message_id"].clone();
    let path = format!("{add}/{id}");
    ada.patch(&path, json!({"content": "@*staff*"})).await.error(400, "BAD_REQUEST", refusal);
    let direct = json!({"type": "direct", "to": [bob.user_id], "content": "hi",
        "scheduled_delivery_timestamp": START + 60});
    ada.post(add, &direct).await.ok();
    // The permission has been removed since the message was scheduled.
    server.set_realm_group("direct_message_permission_group", SystemGroup::Nobody).await;
    ada.post(add, &direct).await.error(
        400,
        "BAD_REQUEST",
        "Direct messages are disabled in this organization.",
    );
    pass(&server, 60).await;
    let left = scheduled(&ada).await;
    let failed: Vec<_> = left.as_array().unwrap().iter().map(|one| (&one["type"], &one["failed"])).collect();
    assert_eq!(failed, [(&json!("private"), &json!(true))]);
}

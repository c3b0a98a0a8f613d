//! `POST /invites/multiuse`.

use crate::harness::{START, TestServer};
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;
use teamchat::types::LAST_SECOND;

const TEN_DAYS: i64 = 14_400 * 60;

// conformance: invite-1, invite-2
#[tokio::test]
async fn a_link_has_the_published_form_and_is_listed() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let mut of_owner = owner.register(json!({"event_types": ["invites_changed"]})).await;
    let mut of_ada = ada.register(json!({"event_types": ["invites_changed"]})).await;
    let made = owner.post("/invites/multiuse", ()).await.ok();
    let link = made["invite_link"].as_str().unwrap();
    let key =
        link.strip_prefix(&format!("http://{}/join/", server.address())).unwrap().strip_suffix('/').unwrap();
    assert_eq!(key.len(), 24);
    assert!(key.bytes().all(|byte| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte)), "{key}");
    let listed = owner.get("/invites", ()).await.ok();
    let expected = json!([{"id": 1, "invited_by_user_id": owner.user_id, "invited": START,
        "expiry_date": START + TEN_DAYS, "invited_as": 400, "is_multiuse": true, "notify_referrer_on_join": true,
        "link_url": link}]);
    assert_eq!(listed["invites"], expected);
    of_owner.expect(&[json!({"type": "invites_changed"})]).await;
    of_ada.expect_nothing().await;
}

// conformance: invite-3
#[tokio::test]
async fn links_expire_when_they_were_asked_to() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.post("/invites/multiuse", json!({"invite_expires_in_minutes": 2})).await.ok();
    owner.post("/invites/multiuse", json!({"invite_expires_in_minutes": null})).await.ok();
    // The last minute of the year 9999.
    let last = (LAST_SECOND - START) / 60;
    owner.post("/invites/multiuse", json!({"invite_expires_in_minutes": last})).await.ok();
    let dates = async || -> Vec<Value> {
        let listed = owner.get("/invites", ()).await.ok();
        listed["invites"].as_array().unwrap().iter().map(|invite| invite["expiry_date"].clone()).collect()
    };
    assert_eq!(dates().await, [json!(START + 120), json!(null), json!(START + 60 * last)]);
    server.clock.advance(119);
    assert_eq!(dates().await.len(), 3);
    server.clock.advance(1);
    assert_eq!(dates().await, [json!(null), json!(START + 60 * last)]);
    for minutes in [0, -1] {
        let answer = owner.post("/invites/multiuse", json!({"invite_expires_in_minutes": minutes})).await;
        answer.error(400, "BAD_REQUEST", "invite_expires_in_minutes is too small");
    }
    for minutes in [last + 1, i64::MAX] {
        let answer = owner.post("/invites/multiuse", json!({"invite_expires_in_minutes": minutes})).await;
        answer.error(400, "BAD_REQUEST", "invite_expires_in_minutes is too large");
    }
    let answer = owner.post("/invites/multiuse", &[("invite_expires_in_minutes", "soon")]).await;
    answer.error(400, "BAD_REQUEST", "invite_expires_in_minutes is not valid JSON");
}

// conformance: invite-4, invite-5
#[tokio::test]
async fn permissions_to_create_links_by_role() {
    let server = TestServer::start().await;
    let (owner, administrator) = (server.owner().await, server.administrator("alan").await);
    let (moderator, ada) = (server.moderator("mary").await, server.member("ada").await);
    let (guest, bot) = (server.guest("guest").await, server.bot("helper", &owner).await);
    let path = "/invites/multiuse";
    ada.post(path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    moderator.post(path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    guest.post(path, ()).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    bot.post(path, ()).await.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    // role:members may, from now on.
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    let owners_only = ("UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    let administrators_only = ("BAD_REQUEST", "Must be an organization administrator");
    let cases = [
        (&owner, 100, None),
        (&owner, 200, None),
        (&administrator, 100, Some(owners_only)),
        (&administrator, 200, None),
        (&administrator, 300, None),
        (&moderator, 100, Some(owners_only)),
        (&moderator, 300, Some(administrators_only)),
        (&moderator, 400, None),
        (&ada, 200, Some(administrators_only)),
        (&ada, 400, None),
        (&ada, 600, None),
    ];
    for (who, role, refused) in cases {
        let answer = who.post(path, json!({"invite_as": role})).await;
        match refused {
            None => drop(answer.ok()),
            Some((code, msg)) => drop(answer.error(400, code, msg)),
        }
    }
    owner.post(path, json!({"invite_as": 500})).await.error(400, "BAD_REQUEST", "Invalid invite_as");
    owner.post(path, &[("invite_as", "member")]).await.error(
        400,
        "BAD_REQUEST",
        "invite_as is not valid JSON",
    );
    guest.post(path, ()).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
}

// conformance: invite-6
#[tokio::test]
async fn channels_are_those_that_the_inviter_may_add_others_to() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&ada]).await;
    let lobby = server.channel("lobby", &[]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    server.sql(&format!("INSERT INTO default_stream VALUES ({lobby})")).await;
    let path = "/invites/multiuse";
    ada.post(path, json!({"stream_ids": [general, lobby]})).await.ok();
    for unknown in [secret, 999] {
        let msg = format!("Invalid channel ID {unknown}. No invites were sent.");
        let answer = ada.post(path, json!({"stream_ids": [general, unknown]})).await;
        answer.error(400, "BAD_REQUEST", &msg);
    }
    server.sql(&format!("UPDATE stream SET is_archived = 1 WHERE stream_id = {general}")).await;
    let msg = format!("Invalid channel ID {general}. No invites were sent.");
    ada.post(path, json!({"stream_ids": [general]})).await.error(400, "BAD_REQUEST", &msg);
    server.sql(&format!("UPDATE stream SET is_archived = 0 WHERE stream_id = {general}")).await;
    server.set_realm_group("can_add_subscribers_group", SystemGroup::Nobody).await;
    let msg = "You do not have permission to subscribe other users to channels.";
    ada.post(path, json!({"stream_ids": [lobby, general]})).await.error(400, "BAD_REQUEST", msg);
    ada.post(path, json!({"stream_ids": [lobby]})).await.ok();
    ada.post(path, json!({"stream_ids": [], "include_realm_default_subscriptions": true})).await.ok();
    let answer = ada.post(path, &[("stream_ids", "general")]).await;
    answer.error(400, "BAD_REQUEST", "stream_ids is not valid JSON");
    // Nothing was made where anything was refused.
    assert_eq!(ada.get("/invites", ()).await.ok()["invites"].as_array().unwrap().len(), 3);
}

// conformance: invite-7
#[tokio::test]
async fn groups_are_those_that_the_inviter_may_add_others_to() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    server
        .sql(&format!(
            "INSERT INTO user_group (id, kind, name, name_key, deactivated)
                 VALUES (50, 'named', 'crew', 'crew', 0), (51, 'named', 'old', 'old', 1);
             INSERT INTO user_group (id, kind) VALUES (52, 'anonymous');
             INSERT INTO user_group_member VALUES (52, {})",
            ada.user_id
        ))
        .await;
    let path = "/invites/multiuse";
    owner.post(path, json!({"group_ids": [50]})).await.ok();
    ada.post(path, json!({"group_ids": [50]})).await.error(400, "BAD_REQUEST", "Insufficient permission");
    for unknown in [52, 999] {
        let answer = owner.post(path, json!({"group_ids": [unknown]})).await;
        answer.error(400, "BAD_REQUEST", "Invalid user group");
    }
    let answer = owner.post(path, json!({"group_ids": [1]})).await;
    answer.error(400, "BAD_REQUEST", "Insufficient permission");
    let answer = owner.post(path, json!({"group_ids": [51]})).await;
    answer.error(400, "BAD_REQUEST", "User group is deactivated.");
    for setting in ["can_add_members_group", "can_manage_group"] {
        server.sql(&format!("INSERT INTO group_setting VALUES ('group', 50, '{setting}', 52)")).await;
        ada.post(path, json!({"group_ids": [50]})).await.ok();
        server.sql("DELETE FROM group_setting WHERE owner = 'group'").await;
    }
}

// conformance: invite-8
#[tokio::test]
async fn only_administrators_choose_a_welcome() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    let path = "/invites/multiuse";
    let longest = "é".repeat(8000);
    owner.post(path, json!({"welcome_message_custom_text": longest})).await.ok();
    owner.post(path, json!({"welcome_message_custom_text": ""})).await.ok();
    let answer = owner.post(path, json!({"welcome_message_custom_text": longest + "!"})).await;
    answer.error(400, "BAD_REQUEST", "welcome_message_custom_text is too long (limit: 8000 characters)");
    // For others the value is always null.
    for text in [json!(null), json!(""), json!("hello")] {
        ada.post(path, json!({"welcome_message_custom_text": text})).await.ok();
    }
    let query = "SELECT welcome_message_custom_text IS NULL FROM invite ORDER BY invite_id";
    assert_eq!(server.column(query).await, ["0", "0", "1", "1", "1"]);
}

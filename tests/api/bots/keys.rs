//! The keys of bots.

use super::{bot, client, realm_bots};
use crate::harness::TestServer;
use serde_json::{Value, json};
use teamchat::commands::Command;

// conformance: bot-20
#[tokio::test]
async fn owners_and_administrators_read_and_renew_keys() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let made = ada.post("/bots", json!({"full_name": "Helper", "short_name": "helper"})).await.ok();
    let mut helper = client(&server, &ada, &made).await;
    let path = format!("/bots/{}/api_key", helper.user_id);
    for who in [&ada, &owner] {
        assert_eq!(who.get(&path, ()).await.ok()["api_key"], made["api_key"]);
    }
    let renew = format!("{path}/regenerate");
    for refused in [bob.get(&path, ()).await, bob.post(&renew, ()).await] {
        refused.error(400, "BAD_REQUEST", "Insufficient permission");
    }
    for unknown in [ada.user_id, server.notification_bot().await, 999] {
        let answer = ada.get(&format!("/bots/{unknown}/api_key"), ()).await;
        answer.error(400, "BAD_REQUEST", "No such bot");
        let answer = ada.post(&format!("/bots/{unknown}/api_key/regenerate"), ()).await;
        answer.error(400, "BAD_REQUEST", "No such bot");
    }
    let answer = helper.get(&path, ()).await;
    answer.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");

    let register = json!({"event_types": ["realm_bot"]});
    let (mut of_owner, mut of_ada) = (owner.register(&register).await, ada.register(&register).await);
    let mut of_bob = bob.register(&register).await;
    let renewed = ada.post(&renew, ()).await.ok()["api_key"].clone();
    let event = json!({"type": "realm_bot", "op": "update",
        "bot": {"user_id": helper.user_id, "api_key": renewed}});
    of_owner.expect(std::slice::from_ref(&event)).await;
    of_ada.expect(&[event]).await;
    of_bob.expect_nothing().await;
    assert_ne!(renewed, made["api_key"]);
    helper.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    helper.api_key = Some(renewed.as_str().unwrap().to_owned());
    helper.get("/users/me", ()).await.ok();
    // A bot may renew its own.
    let own = helper.post("/users/me/api_key/regenerate", ()).await.ok()["api_key"].clone();
    assert_eq!(owner.get(&path, ()).await.ok()["api_key"], own);
    let event =
        json!({"type": "realm_bot", "op": "update", "bot": {"user_id": helper.user_id, "api_key": own}});
    of_owner.expect(std::slice::from_ref(&event)).await;
    of_ada.expect(&[event]).await;

    // Its owner is notified of a new key that another user made, and of no other.
    assert_eq!(ada.notices().await, [""; 0]);
    owner.post(&renew, ()).await.ok();
    let said = ada.notices().await.pop().unwrap();
    assert!(said.contains("regenerated the API key of your bot"), "{said}");
    assert_eq!(owner.notices().await, [""; 0]);
    of_owner.ignore();
    of_ada.ignore();
}

/// A user who becomes a guest can neither read the keys of their bots nor receive new ones.
// conformance: bot-2, bot-20
#[tokio::test]
async fn guests_receive_no_bots() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let (id, other) = (bot(&ada, "Helper").await, bot(&bob, "Other").await);
    let (path, given) = (format!("/bots/{id}/api_key"), format!("/bots/{other}"));
    let account = format!("/users/{}", ada.user_id);
    let mut queue = ada.register(json!({"event_types": ["realm_bot"]})).await;
    let event = |op: &str, bot: Value| json!({"type": "realm_bot", "op": op, "bot": bot});

    owner.patch(&account, json!({"role": 600})).await.ok();
    queue.expect(&[event("delete", json!({"user_id": id}))]).await;
    assert!(realm_bots(&ada).await.is_empty());
    ada.get(&path, ()).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    owner.post(&format!("{path}/regenerate"), ()).await.ok();
    owner.patch(&format!("/bots/{id}"), json!({"full_name": "Better"})).await.ok();
    for bot_owner_id in [ada.user_id, bob.user_id] {
        owner.patch(&given, json!({"bot_owner_id": bot_owner_id})).await.ok();
    }
    queue.expect_nothing().await;

    owner.patch(&account, json!({"role": 400})).await.ok();
    let record = realm_bots(&ada).await.remove(0);
    assert_eq!(record["api_key"], ada.get(&path, ()).await.ok()["api_key"]);
    queue.expect(&[event("add", record)]).await;

    server
        .check_state_sync(&[&owner, &ada, &bob], async || {
            for role in [600, 400, 200, 600] {
                owner.patch(&account, json!({"role": role})).await.ok();
                owner.post(&format!("{path}/regenerate"), ()).await.ok();
            }
            owner.patch(&given, json!({"bot_owner_id": ada.user_id})).await.ok();
        })
        .await;
    queue.ignore();
}

// conformance: bot-21
#[tokio::test]
async fn a_key_that_was_revoked_is_not_shown_again() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let helper = bot(&ada, "Helper").await;
    let path = format!("/bots/{helper}/api_key");
    let before = ada.get(&path, ()).await.ok()["api_key"].clone();
    let email = ada.get("/bots", ()).await.ok()["bots"][0]["username"].as_str().unwrap().to_owned();
    let other = server.command(Command::CreateKey { email: email.clone(), client: "test".to_owned() }).await;
    let keys = server.command(Command::ListKeys { email: email.clone() }).await;
    let id = |place: usize| keys[place]["id"].as_i64().unwrap();
    server.command(Command::RevokeKey { email: email.clone(), id: id(1) }).await;
    assert_eq!(ada.get(&path, ()).await.ok()["api_key"], before);
    server.command(Command::RevokeKey { email, id: id(0) }).await;
    assert_eq!(ada.get("/bots", ()).await.ok()["bots"][0].get("api_key"), None);
    let after = ada.get(&path, ()).await.ok()["api_key"].clone();
    assert!(after != before && after != other["api_key"], "{after}");
    assert_eq!(ada.get("/bots", ()).await.ok()["bots"][0]["api_key"], after);
}

// conformance: bot-22
#[tokio::test]
async fn bots_of_an_older_file_get_a_key_that_can_be_read() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let helper = server.bot("helper", &ada).await;
    server.sql("DELETE FROM bot").await;
    assert_eq!(ada.get("/bots", ()).await.ok()["bots"], json!([]));
    server.restart().await;
    let listed = ada.get("/bots", ()).await.ok();
    assert_eq!(listed["bots"][0]["username"], helper.email.as_str());
    // The key that it had still works.
    helper.get("/users/me", ()).await.ok();
    let mut again = helper.clone();
    again.api_key = Some(listed["bots"][0]["api_key"].as_str().unwrap().to_owned());
    again.get("/users/me", ()).await.ok();
}

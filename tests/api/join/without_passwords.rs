//! Sign-up while people do not log in with passwords.

use super::{Page, between, link, links_of_bot, text};
use crate::harness::TestServer;
use hyper::Method;
use serde_json::{Value, json};
use teamchat::commands::Command;
use teamchat::types::Role;

const DISABLED: &str = "Password authentication is disabled in this organization";

/// The people, each with whether they have a password.
async fn people(server: &TestServer) -> Vec<String> {
    let query = "SELECT delivery_email || ' ' || (password_hash IS NOT NULL) FROM user
                 WHERE NOT is_system_bot AND bot_type IS NULL AND email <> 'owner@example.com' ORDER BY user_id";
    server.column(query).await
}

// conformance: auth-56
#[tokio::test]
async fn reusable_links_make_no_accounts() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let link = link(&owner, json!({})).await;
    let page = Page::open(&server, &link).await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    let fields = json!({"full_name": "Ada", "email": "ada@example.com", "password": "correct horse"});
    let answer = page.send(fields.clone()).await;
    assert_eq!(answer.status, 404, "{answer}");
    assert!(text(&answer).contains("<h1>This invitation does not work</h1>"), "{answer}");
    let path = link.strip_prefix(&format!("http://{}", server.address())).unwrap();
    assert_eq!(server.anonymous().request_outside(Method::GET, path).send().await.status, 404);
    assert_eq!(people(&server).await, [""; 0]);
    server.set_realm_setting("password_auth_enabled", json!(true)).await;
    assert_eq!(page.send(fields).await.status, 200, "the link itself has not ended");
    assert_eq!(people(&server).await, ["ada@example.com 1"]);
}

// conformance: auth-56
#[tokio::test]
async fn links_for_one_address_make_accounts_without_passwords() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.post("/invites", json!({"invitee_emails": "ada@example.com", "stream_ids": []})).await.ok();
    let link = links_of_bot(&owner).await.remove(0);
    let early = Page::open(&server, &link).await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    let path = link.strip_prefix(&format!("http://{}", server.address())).unwrap();
    let shown = server.anonymous().request_outside(Method::GET, path).send().await;
    assert_eq!(shown.status, 200, "{shown}");
    assert!(!text(&shown).contains("name=\"password\""), "{shown}");
    // A form that was opened before has a password, which is not kept.
    let answer = early.send(json!({"full_name": "Ada", "password": "correct horse"})).await;
    assert_eq!(answer.status, 200, "{answer}");
    assert!(!text(&answer).contains("with your email and password"), "{answer}");
    assert!(!between(&text(&answer), "key=", "\n").is_empty());
    assert_eq!(people(&server).await, ["ada@example.com 0"]);
}

// conformance: auth-56
#[tokio::test]
async fn the_first_owner_has_no_password() {
    let server = TestServer::start().await;
    let link = server.command(Command::OwnerLink).await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    let page = Page::open(&server, link.as_str().unwrap()).await;
    let fields = json!({"organization": "Engines", "full_name": "Ada", "email": "ada@example.com"});
    let answer = page.send(fields).await;
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(people(&server).await, ["ada@example.com 0"]);
}

// conformance: auth-57
#[tokio::test]
async fn administrators_and_the_operator_set_no_passwords() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("correct horse")).await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    let path = format!("/users/{}/password_reset", ada.user_id);
    owner.post(&path, ()).await.error(400, "BAD_REQUEST", DISABLED);
    assert_eq!(server.column("SELECT count(*) FROM password_reset").await, ["0"]);
    let set = Command::SetPassword { email: ada.email.clone(), password: "battery staple".to_owned() };
    let refusal = teamchat::commands::run(server.app(), set).await.unwrap_err();
    assert_eq!((refusal.status(), refusal.msg()), (400, DISABLED));
    ada.get("/users/me", ()).await.ok();

    let create = |email: &str, bot_owner: Option<String>| Command::CreateUser {
        email: email.to_owned(),
        full_name: email.split('@').next().unwrap_or_default().to_owned(),
        role: Role::Member,
        password: bot_owner.is_none().then(|| "battery staple".to_owned()),
        bot_owner,
    };
    let person = server.command(create("bob@example.com", None)).await;
    assert_eq!(person["is_without_password"], true);
    let bot = server.command(create("helper@example.com", Some(ada.email.clone()))).await;
    assert_eq!(bot["is_without_password"], Value::Null);
    assert_eq!(people(&server).await, ["ada@example.com 1", "bob@example.com 0"]);
}

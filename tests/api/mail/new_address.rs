//! Emails with the link that confirms a new address of an account.

use super::{email_of, open, proven, settle, start, submit};
use crate::harness::Answer;
use crate::join::{Page, text};
use serde_json::json;
use teamchat::commands::Command;
use teamchat::types::Role;

#[tokio::test]
async fn an_address_changes_by_the_page_of_the_link_in_the_letter_to_it() {
    let (server, mut sink) = start().await;
    let mut ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let bob = server.member("bob").await;
    let mut queue = bob.register(json!({"event_types": ["realm_user"]})).await;
    ada.patch("/settings", json!({"email": "first@example.com", "old_password": "a password"})).await.ok();
    let first = sink.next().await;
    assert_eq!(
        (first.to.as_str(), first.header("To").as_str()),
        ("first@example.com", "Ada <first@example.com>")
    );
    assert_eq!(first.subject(), "Verify your new email address for chat.example.com");
    assert!(first.text.contains("from ada@example.com to first@example.com"), "{}", first.text);
    ada.patch("/settings", json!({"email": "ada@example.com"})).await.ok();
    ada.patch("/settings", json!({"email": "second@example.com", "old_password": "a password"})).await.ok();
    let second = sink.next().await;
    assert_eq!(email_of(&ada).await, "ada@example.com");
    assert_eq!(open(&server, &first.path("confirm_new_email")).await.status, 404, "it was replaced");
    assert_eq!(open(&server, "/accounts/confirm_new_email/aaaaaaaaaaaaaaaaaaaaaaaa").await.status, 404);

    let link = second.path("confirm_new_email");
    // Opening the link changes nothing: scanners of mail do.
    let page = open(&server, &link).await;
    assert!(
        page.status == 200 && text(&page).contains("<form") && text(&page).contains("second@example.com")
    );
    assert_eq!(email_of(&ada).await, "ada@example.com");
    assert_eq!(submit(&server, &link, json!({})).await.status, 200);
    ada.email = "second@example.com".to_owned();
    assert_eq!(email_of(&ada).await, "second@example.com");
    let changed = "SELECT after FROM audit_entry WHERE action = 'email_changed'";
    assert_eq!(server.column(changed).await, [r#""second@example.com""#]);
    assert_eq!(proven(&server).await, ["second@example.com"]);
    queue
        .expect(&[
            json!({"type": "realm_user", "op": "update",
                "person": {"user_id": ada.user_id, "delivery_email": "second@example.com"}}),
            json!({"type": "realm_user", "op": "update",
                "person": {"user_id": ada.user_id, "new_email": "second@example.com"}}),
        ])
        .await;
    assert_eq!(submit(&server, &link, json!({})).await.status, 404, "it works once");
    let email = sink.next().await;
    assert_eq!(
        (email.to.as_str(), email.subject().as_str()),
        ("ada@example.com", "Email changed for Team chat")
    );
    settle(&server).await;
    assert!(sink.rest().is_empty());

    let third = json!({"email": "third@example.com", "old_password": "a password"});
    ada.patch("/settings", third).await.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
}

/// A page says that the address stays as it was.
#[track_caller]
fn is_refused(page: &Answer) {
    assert!(page.status == 400 && text(page).contains("Your address was not changed"), "{}", text(page));
}

#[tokio::test]
async fn a_new_address_is_checked_when_it_is_asked_for_and_when_it_is_confirmed() {
    let (server, mut sink) = start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    for (email, msg) in [
        ("no address", "Invalid address."),
        ("ada@mailinator.com", "Please use your real email address."),
        ("owner@example.com", "Already has an account."),
    ] {
        ada.patch("/settings", json!({"email": email})).await.error(400, "BAD_REQUEST", msg);
    }
    ada.patch("/settings", json!({"email": "new@example.com"})).await.ok();
    let link = sink.next().await.path("confirm_new_email");
    server.member("new").await;
    is_refused(&submit(&server, &link, json!({})).await);
    owner.patch("/realm", json!({"email_changes_disabled": true})).await.ok();
    let msg = "Email address changes are disabled in this organization.";
    ada.patch("/settings", json!({"email": "other@example.com"})).await.error(400, "BAD_REQUEST", msg);
    is_refused(&submit(&server, &link, json!({})).await);
    assert_eq!(email_of(&ada).await, "ada@example.com");
    settle(&server).await;
    assert!(sink.rest().is_empty());
}

#[tokio::test]
async fn a_link_for_a_new_address_ends_with_another_address_and_another_password() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let mut ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let emails = format!("SELECT delivery_email FROM user WHERE user_id = {}", ada.user_id);
    let by_password = |password: &str| json!({"email": "eve@example.com", "old_password": password});
    let missing = ada.patch("/settings", json!({"email": "eve@example.com"})).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'old_password' argument");
    ada.patch("/settings", by_password("guess")).await.error(400, "BAD_REQUEST", "Wrong password!");
    ada.patch("/settings", by_password("a password")).await.ok();
    let link = sink.next().await.path("confirm_new_email");
    ada.patch("/settings", json!({"old_password": "a password", "new_password": "another one"})).await.ok();
    assert_eq!(submit(&server, &link, json!({})).await.status, 404, "Ada has set a password");

    ada.patch("/settings", by_password("another one")).await.ok();
    let link = sink.next().await.path("confirm_new_email");
    owner.patch(&format!("/users/{}", ada.user_id), json!({"new_email": "right@example.com"})).await.ok();
    assert_eq!(submit(&server, &link, json!({})).await.status, 404, "an administrator has set the address");
    ada.email = "right@example.com".to_owned();

    server.clock.advance(60 * 60);
    ada.patch("/settings", by_password("another one")).await.ok();
    let link = sink.next().await.path("confirm_new_email");
    submit(&server, "/accounts/password/reset/", json!({"email": "right@example.com"})).await;
    let page = Page::open(&server, &sink.next().await.path("/join/password/")).await;
    assert_eq!(page.send(json!({"password": "a third one"})).await.status, 200);
    assert_eq!(submit(&server, &link, json!({})).await.status, 404, "the password was reset");
    assert_eq!(server.column(&emails).await, ["right@example.com"]);
    assert_eq!(server.column("SELECT count(*) FROM confirmation").await, ["0"]);
    assert_eq!(proven(&server).await, ["right@example.com"]);
    owner.patch(&format!("/users/{}", ada.user_id), json!({"new_email": "other@example.com"})).await.ok();
    assert_eq!(proven(&server).await, [""; 0]);
}

/// Without a password, such as with single sign-on, a stolen key can ask for the link.
#[tokio::test]
async fn a_link_for_a_new_address_ends_with_another_key_or_session() {
    let (server, mut sink) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    for (attempt, way) in ["key", "session", "others", "renewed", "key of operator", "session of operator"]
        .into_iter()
        .enumerate()
    {
        // The number of links a day has a limit.
        server.clock.advance(24 * 60 * 60);
        let stolen = ada.with_key(&attempt.to_string().repeat(32));
        server.restore_key(&stolen).await;
        stolen.patch("/settings", json!({"email": format!("eve{attempt}@example.com")})).await.ok();
        let link = sink.next().await.path("confirm_new_email");
        let newest = server.column("SELECT max(id) FROM api_key").await[0].clone();
        let (id, email) = (ada.user_id, ada.email.clone());
        match way {
            "key" => {
                ada.delete(&format!("/users/me/api_keys/{newest}"), ()).await.ok();
            }
            "session" => {
                server.sql(&format!("INSERT INTO session VALUES (7, {id}, x'00', 'test', 0)")).await;
                ada.delete("/users/me/sessions/7", ()).await.ok();
            }
            "others" => {
                ada.post("/users/me/api_keys/revoke_others", ()).await.ok();
            }
            "renewed" => {
                ada.post("/users/me/api_key/regenerate", ()).await.ok();
                server.restore_key(&ada).await;
            }
            "key of operator" => {
                server.command(Command::RevokeKey { email, id: newest.parse().unwrap() }).await;
            }
            _ => {
                server.sql(&format!("INSERT INTO session VALUES (8, {id}, x'01', 'test', 0)")).await;
                server.command(Command::EndSession { email, id: 8 }).await;
            }
        }
        assert_eq!(submit(&server, &link, json!({})).await.status, 404, "{way}");
        // Two letters are sent in an hour.
        server.clock.advance(60 * 60);
    }
    assert_eq!(email_of(&ada).await, "ada@example.com");

    // A client that logs out leaves the link as it is.
    let phone = bob.with_key(&"p".repeat(32));
    server.restore_key(&phone).await;
    phone.patch("/settings", json!({"email": "new@example.com"})).await.ok();
    let link = sink.next().await.path("confirm_new_email");
    let own = phone.get("/users/me/api_keys", ()).await.ok()["current_api_key_id"].clone();
    phone.delete(&format!("/users/me/api_keys/{own}"), ()).await.ok();
    assert_eq!(submit(&server, &link, json!({})).await.status, 200);
}

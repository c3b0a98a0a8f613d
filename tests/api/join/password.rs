//! Links that set a new password.

use super::{Page, text};
use crate::harness::{Client, START, TestServer};
use hyper::Method;
use serde_json::json;
use teamchat::commands::Command;
use teamchat::types::Role;

/// Changes of one of two people, each followed by its reverse.
const CHANGES: [&str; 5] =
    ["deactivation", "role", "own password", "password by command", "password by link"];

/// A link is a right of the one who made it, and of the one whose password it sets. It ends with every change of either, and
/// does not return.
#[tokio::test]
async fn reset_links_end_with_changes_of_either_person() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let admin = server.user("admin", Role::Administrator, None, Some("a password")).await;
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let path = |link: &str| link.strip_prefix(&format!("http://{}", server.address())).unwrap().to_owned();
    let create = async |by: &Client, of: &Client| {
        let made = by.post(&format!("/users/{}/password_reset", of.user_id), ()).await.ok();
        made["password_reset_link"].as_str().unwrap().to_owned()
    };
    let open =
        async |link: &str| server.anonymous().request_outside(Method::GET, &path(link)).send().await.status;
    for changed in [&admin, &ada] {
        for what in CHANGES {
            let link = create(&admin, &ada).await;
            assert_eq!(open(&link).await, 200, "before");
            let user = format!("/users/{}", changed.user_id);
            let role = if changed.user_id == ada.user_id { 400 } else { 200 };
            match what {
                "deactivation" => {
                    owner.delete(&user, ()).await.ok();
                    assert_eq!(open(&link).await, 404, "{what}");
                    owner.post(&format!("{user}/reactivate"), ()).await.ok();
                    server.restore_key(changed).await;
                }
                "role" => {
                    owner.patch(&user, json!({"role": 300})).await.ok();
                    assert_eq!(open(&link).await, 404, "{what}");
                    owner.patch(&user, json!({"role": role})).await.ok();
                }
                "own password" => {
                    let passwords = json!({"old_password": "a password", "new_password": "another one"});
                    changed.patch("/settings", passwords).await.ok();
                }
                "password by command" => {
                    let (email, password) = (changed.email.clone(), "a password".to_owned());
                    server.command(Command::SetPassword { email, password }).await;
                    server.restore_key(changed).await;
                }
                _ if changed.user_id == ada.user_id => {}
                _ => {
                    let page = Page::open(&server, &create(&owner, changed).await).await;
                    assert_eq!(page.send(json!({"password": "a password"})).await.status, 200);
                    server.restore_key(changed).await;
                }
            }
            if what != "password by link" || changed.user_id != ada.user_id {
                assert_eq!(open(&link).await, 404, "{what} of {}", changed.email);
            }
        }
    }
}

/// A thief may have made it with a stolen key, also for the account of that key.
#[tokio::test]
async fn reset_links_end_with_the_other_keys_of_their_creator() {
    let server = TestServer::start().await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    for user in [&admin, &ada] {
        let made = admin.post(&format!("/users/{}/password_reset", user.user_id), ()).await.ok();
        let link = made["password_reset_link"].as_str().unwrap();
        let path = link.strip_prefix(&format!("http://{}", server.address())).unwrap();
        let open = async || server.anonymous().request_outside(Method::GET, path).send().await.status;
        assert_eq!(open().await, 200);
        admin.post("/users/me/api_keys/revoke_others", ()).await.ok();
        assert_eq!(open().await, 404, "{}", user.email);
    }
}

#[tokio::test]
async fn reset_links_set_a_password() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let ada = server.user("ada", Role::Member, None, Some("first password")).await;
    let bot = server.bot("helper", &ada).await;
    let path = |user: &Client| format!("/users/{}/password_reset", user.user_id);
    for (caller, user, code, msg) in [
        (&ada, &ada, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator"),
        (&admin, &owner, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
        (&admin, &bot, "BAD_REQUEST", "No such user"),
    ] {
        caller.post(&path(user), ()).await.error(400, code, msg);
    }
    admin.post("/users/9999/password_reset", ()).await.error(400, "BAD_REQUEST", "No such user");
    let answer = admin.post(&path(&ada), ()).await.ok();
    assert_eq!(answer["expiry_date"], START + 24 * 60 * 60);
    let first = answer["password_reset_link"].as_str().unwrap().to_owned();
    let second = admin.post(&path(&ada), ()).await.ok()["password_reset_link"].as_str().unwrap().to_owned();
    ada.get("/users/me", ()).await.ok();

    let open = async |link: &str| {
        let path = link.strip_prefix(&format!("http://{}", server.address())).unwrap().to_owned();
        server.anonymous().request_outside(Method::GET, &path).send().await.status
    };
    assert_eq!((open(&first).await, open(&second).await), (404, 200), "the second replaces the first");
    let page = Page::open(&server, &second).await;
    let wrong = page.send(json!({"password": "12345"})).await;
    assert!(wrong.status == 400 && text(&wrong).contains("A password has 6 to 100 characters."), "{wrong}");
    let wrong = page.send(json!({"password": "second password", "token": "x"})).await;
    assert!(wrong.status == 400 && text(&wrong).contains("open for too long"), "{wrong}");
    let done = page.send(json!({"password": "second password"})).await;
    assert!(done.status == 200 && text(&done).contains("<h1>Your password is set</h1>"), "{done}");
    assert!(text(&done).contains("Start chatting"), "it leads into the web client: {done}");
    assert!(
        done.header("set-cookie").starts_with("teamchat_session="),
        "where the session has begun: {done}"
    );
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    let log_in = async |password: &str| {
        let fields = json!({"username": "ada@example.com", "password": password});
        server.anonymous().post("/fetch_api_key", fields).await.status
    };
    assert_eq!((log_in("first password").await, log_in("second password").await), (401, 200));
    assert_eq!(page.send(json!({"password": "third password"})).await.status, 404, "it works once");

    // It ends after a day, with the role of its creator, and while the organization is deactivated.
    let make =
        async || admin.post(&path(&ada), ()).await.ok()["password_reset_link"].as_str().unwrap().to_owned();
    let late = make().await;
    server.clock.advance(24 * 60 * 60);
    assert_eq!(open(&late).await, 404);
    let other = make().await;
    assert_eq!(open(&other).await, 200);
    server.sql("UPDATE realm SET deactivated = 1").await;
    assert_eq!(open(&other).await, 404);
    server.sql("UPDATE realm SET deactivated = 0").await;
    owner.patch(&format!("/users/{}", admin.user_id), json!({"role": 400})).await.ok();
    assert_eq!(open(&other).await, 404);
}

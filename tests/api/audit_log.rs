//! The audit log: `GET /audit_log`, its entries, and `teamchat audit`.

use crate::harness::{Client, START, TestServer};
use crate::program::{Serving, run};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::commands::Command;
use teamchat::domain::audit::Action;
use teamchat::types::{Role, UserId};

/// The entries of one action, the newest first, without id and time.
async fn entries(owner: &Client, action: &str) -> Vec<Value> {
    let mut listed = owner.get("/audit_log", json!({ "action": action })).await.ok();
    let entries = listed["entries"].as_array_mut().unwrap();
    for entry in entries.iter_mut() {
        let entry = entry.as_object_mut().unwrap();
        assert!(entry.remove("id").is_some() && entry.remove("time").is_some());
    }
    std::mem::take(entries)
}

async fn log_in(server: &TestServer, username: &str, password: &str) -> u16 {
    let login = json!({"username": username, "password": password});
    server.anonymous().post("/fetch_api_key", login).await.status
}

#[tokio::test]
async fn entries_have_author_address_subject_and_values() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    owner.patch(&format!("/users/{}", bob.user_id), json!({"role": 300})).await.ok();
    let expected = json!({
        "actor": "Owner", "actor_id": owner.user_id, "action": "role_changed", "subject": "Bob",
        "subject_type": "user", "subject_id": bob.user_id, "address": "127.0.0.1", "before": "member",
        "after": "moderator", "times": 1,
    });
    assert_eq!(entries(&owner, "role_changed").await, [expected]);
    let only_owner = json!({"direct_members": [owner.user_id], "direct_subgroups": []});
    owner.patch("/realm", json!({"name": "Crew", "can_create_groups": {"new": only_owner}})).await.ok();
    let expected = json!({
        "actor": "Owner", "actor_id": owner.user_id, "action": "setting_changed", "subject": "name",
        "subject_type": "setting", "subject_id": null, "address": "127.0.0.1", "after": "Crew", "times": 1,
    });
    let mut found = entries(&owner, "setting_changed").await;
    let before = found[0].as_object_mut().unwrap().remove("before").unwrap();
    assert!(before.is_string() && before != "Crew", "{before}");
    assert_eq!(found, [expected]);
    let permission = &entries(&owner, "permission_changed").await[0];
    assert_eq!((&permission["subject"], &permission["after"]), (&json!("can_create_groups"), &only_owner));
    assert_ne!(permission["before"], permission["after"]);
    // What fails leaves no entry, and neither does what changes nothing.
    owner.patch(&format!("/users/{}", bob.user_id), json!({"role": 400, "full_name": "*"})).await.error(
        400,
        "BAD_REQUEST",
        "Invalid characters in name!",
    );
    owner.patch("/realm", json!({"name": "Crew"})).await.ok();
    assert_eq!(entries(&owner, "role_changed").await.len(), 1);
    assert_eq!(entries(&owner, "setting_changed").await.len(), 1);
}

#[tokio::test]
async fn only_owners_read_the_log_in_pages() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    ada.get("/audit_log", ()).await.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    server.anonymous().get("/audit_log", ()).await.error(
        401,
        "UNAUTHORIZED",
        "Not logged in: API authentication or user session required",
    );
    server.sql("DELETE FROM audit_entry").await;
    for role in [300, 400, 600] {
        owner.patch(&format!("/users/{}", ada.user_id), json!({ "role": role })).await.ok();
        server.clock.advance(100);
    }
    let ids = |answer: &Value| -> Vec<i64> {
        answer["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_i64().unwrap()).collect()
    };
    let role_changes = json!({"action": "role_changed", "limit": 2});
    let first = ids(&owner.get("/audit_log", role_changes.clone()).await.ok());
    assert_eq!(first.len(), 2);
    let mut next = role_changes;
    next["before_id"] = first[1].into();
    let second = ids(&owner.get("/audit_log", next).await.ok());
    assert_eq!(second.len(), 1);
    assert!(second[0] < first[1] && first[1] < first[0]);
    let about = |user_id: i64| json!({"user_id": user_id, "action": "role_changed"});
    assert_eq!(ids(&owner.get("/audit_log", about(ada.user_id)).await.ok()).len(), 3);
    assert_eq!(ids(&owner.get("/audit_log", about(owner.user_id)).await.ok()).len(), 3);
    assert_eq!(ids(&owner.get("/audit_log", about(1)).await.ok()).len(), 0);
    let since = json!({"since": START + 150, "action": "role_changed"});
    assert_eq!(ids(&owner.get("/audit_log", since).await.ok()), first[..1]);
    let refused = owner.get("/audit_log", json!({"since": START * 1000})).await;
    refused.error(400, "BAD_REQUEST", "since is too large");
    let answer = owner.get("/audit_log", json!({"limit": 1001})).await;
    answer.error(400, "BAD_REQUEST", "Invalid limit: at most 1000");
}

/// The entries of logins, passwords, sessions, keys, invitations and the first owner.
#[tokio::test]
async fn logins_and_credentials_are_recorded() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("correct horse")).await;
    server.sql("DELETE FROM audit_entry").await;
    assert_eq!(log_in(&server, "ada@example.com", "correct horse").await, 200);
    let login = &entries(&owner, "login").await[0];
    assert_eq!(
        (&login["actor"], &login["subject"], &login["address"]),
        (&json!("Ada"), &json!("Ada"), &json!("127.0.0.1"))
    );
    assert_eq!(login["after"], json!({"client": "teamchat-tests"}));
    let created = entries(&owner, "key_created").await;
    assert_eq!((created.len(), &created[0]["actor"]), (1, &json!("Ada")), "her login made it");
    let form = json!({"username": "ada@example.com", "password": "correct horse"});
    let session =
        server.anonymous().request_outside(Method::POST, "/accounts/login/").form(form).send().await;
    assert_eq!(session.status, 200);
    assert_eq!(entries(&owner, "login").await.len(), 2);

    ada.post("/users/me/api_keys/revoke_others", ()).await.ok();
    assert_eq!(entries(&owner, "session_ended").await[0]["before"], json!({"count": 1}));
    assert_eq!(entries(&owner, "key_revoked").await[0]["before"], json!({"count": 1}));
    let reset = owner.post(&format!("/users/{}/password_reset", ada.user_id), ()).await.ok();
    assert_eq!(entries(&owner, "password_link_created").await[0]["subject"], "Ada");
    owner.post("/invites/multiuse", ()).await.ok();
    assert_eq!(entries(&owner, "invitation_created").await.len(), 1);
    server
        .command(Command::SetPassword { email: ada.email.clone(), password: "battery staple".into() })
        .await;
    let set = &entries(&owner, "password_set").await[0];
    assert_eq!((&set["actor"], &set["address"]), (&json!("command line"), &Value::Null));
    server.command(Command::UnlockUser { email: ada.email.clone() }).await;
    assert_eq!(entries(&owner, "account_unlocked").await.len(), 1);
    server.command(Command::OwnerLink).await;

    // No secret is in any entry.
    let texts =
        server.column("SELECT concat_ws(' ', action, name, before, after) FROM audit_entry").await.join("\n");
    assert!(texts.contains("password_set"), "{texts}");
    let link = reset["password_reset_link"].as_str().unwrap();
    let key = link.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    for secret in ["correct horse", "battery staple", &key, ada.api_key.as_deref().unwrap()] {
        assert!(!texts.contains(secret), "{secret}: {texts}");
    }
}

#[tokio::test]
async fn failed_logins_are_counted_in_few_entries() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.user("ada", Role::Member, None, Some("correct horse")).await;
    for _ in 0..3 {
        assert_eq!(log_in(&server, "ada@example.com", "wrong password").await, 401);
    }
    assert_eq!(log_in(&server, "my password by mistake", "x").await, 401);
    let found = entries(&owner, "login_failed").await;
    let facts: Vec<_> = found
        .iter()
        .map(|entry| (entry["subject"].clone(), entry["times"].clone(), entry["after"].clone()))
        .collect();
    let reason = json!("AUTHENTICATION_FAILED");
    assert_eq!(facts, [(json!("unknown"), json!(1), reason.clone()), (json!("Ada"), json!(3), reason)]);
    assert!(found.iter().all(|entry| entry["actor"] == "anyone" && entry["address"] == "127.0.0.1"));
    assert!(!format!("{found:?}").contains("by mistake"));

    // An hour later it is another entry. A lock is an entry of its own.
    server.clock.advance(3601);
    for _ in 0..5 {
        log_in(&server, "ada@example.com", "wrong password").await;
    }
    let found = entries(&owner, "login_failed").await;
    assert_eq!((found.len(), &found[0]["times"]), (3, &json!(5)));
    let locked = entries(&owner, "account_locked").await;
    assert_eq!((locked.len(), &locked[0]["address"]), (1, &json!("127.0.0.1")));

    // From many addresses, the rest of a day is one entry.
    insert_many(&server, 2000, "'anyone', NULL, '2001:db8::' || number, 'login_failed', 'unknown'").await;
    for (name, password) in [("one", "x"), ("ada@example.com", "wrong password"), ("two", "x")] {
        server.clock.advance(3600);
        log_in(&server, name, password).await;
    }
    let found = entries(&owner, "login_failed").await;
    assert_eq!((&found[0]["address"], &found[0]["times"]), (&Value::Null, &json!(3)));
    assert_eq!((&found[0]["subject"], &found[0]["subject_id"]), (&json!("unknown"), &Value::Null));
}

/// Inserts entries of now; `values` are the author, address, action and kind of object.
async fn insert_many(server: &TestServer, count: usize, values: &str) {
    let insert = format!(
        "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count})
         INSERT INTO audit_entry (time, actor, actor_id, address, action, subject)
         SELECT (SELECT max(time) FROM audit_entry), {values} FROM one"
    );
    server.sql(&insert).await;
}

#[tokio::test]
async fn one_user_does_not_fill_the_log() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, chief) = (server.member("ada").await, server.administrator("chief").await);
    for user in [&ada, &chief] {
        let values = format!("'user', {}, '127.0.0.1', 'name_changed', 'user'", user.user_id);
        insert_many(&server, 500, &values).await;
    }
    let rename = async |user: &Client, name: &str| {
        user.patch("/settings", json!({ "full_name": name })).await.ok();
    };
    for name in ["Adela", "Adele", "Adelheid"] {
        rename(&ada, name).await;
    }
    rename(&chief, "Head").await;
    let found = entries(&owner, "name_changed").await;
    assert_eq!((&found[0]["actor"], &found[0]["after"]), (&json!("Head"), &json!("Head")));
    let rest = json!({
        "actor": "Adelheid", "actor_id": ada.user_id, "action": "name_changed", "subject": "user",
        "subject_type": "user", "subject_id": null, "address": null, "before": null, "after": null, "times": 3,
    });
    assert_eq!(found[1], rest);
    // The next day, changes have entries of their own.
    server.clock.advance(24 * 60 * 60 + 1);
    rename(&ada, "Ada").await;
    let newest = &entries(&owner, "name_changed").await[0];
    assert_eq!((&newest["before"], &newest["after"]), (&json!("Adelheid"), &json!("Ada")));
}

#[tokio::test]
async fn old_entries_are_deleted() {
    let server = TestServer::start_with(Options { audit_keep_days: Some(30), ..Options::default() }).await;
    server.owner().await;
    let count = async || server.column("SELECT count(*) FROM audit_entry").await[0].parse::<u32>().unwrap();
    let made = count().await;
    assert!(made > 0);
    let prune = async || teamchat::domain::audit::prune_old(server.app()).await.unwrap();
    server.clock.advance(30 * 86_400);
    prune().await;
    assert_eq!(count().await, made);
    server.clock.advance(1);
    server.member("second").await;
    prune().await;
    assert!((1..=made).contains(&count().await));
}

#[tokio::test]
async fn default_channels_are_recorded() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = json!({"stream_id": server.channel("garden", &[&owner]).await});
    owner.post("/default_streams", channel.clone()).await.ok();
    owner.delete("/default_streams", channel).await.ok();
    let values: Vec<Value> =
        entries(&owner, "channel_changed").await.iter().map(|entry| entry["after"].clone()).collect();
    assert_eq!(values, [json!({"is_default_stream": false}), json!({"is_default_stream": true})]);
}

/// Names in entries are the present ones, and emails are for the command line only.
#[tokio::test]
async fn names_are_present_and_emails_hidden_from_owners() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let change = json!({"new_email": "robert@example.com", "full_name": "Robert"});
    owner.patch(&format!("/users/{}", bob.user_id), change).await.ok();
    let email = &entries(&owner, "email_changed").await[0];
    assert_eq!(
        (&email["subject"], &email["before"], &email["after"]),
        (&json!("Robert"), &Value::Null, &Value::Null)
    );
    let name = &entries(&owner, "name_changed").await[0];
    assert_eq!((&name["before"], &name["after"]), (&json!("Bob"), &json!("Robert")));
    let filter =
        serde_json::from_value(json!({"with_emails": true, "action": "email_changed", "limit": 10})).unwrap();
    let listed = server.command(Command::ListAudit(filter)).await;
    assert_eq!(listed[0]["actor"], "owner@example.com");
    assert_eq!(
        (&listed[0]["before"], &listed[0]["after"]),
        (&json!("bob@example.com"), &json!("robert@example.com"))
    );
    assert_eq!(UserId(listed[0]["subject_id"].as_i64().unwrap()), UserId(bob.user_id));
}

#[test]
fn the_page_lists_every_action() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/monitoring.md")).unwrap();
    for action in Action::ALL {
        let row = format!("| `{}` | {} |", action.name(), action.text());
        assert!(page.contains(&row), "docs/monitoring.md lacks: {row}");
    }
}

#[tokio::test]
async fn the_command_prints_a_line_for_each_entry() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let missing = run(&db, &["audit"]);
    assert!(!missing.status.success(), "{missing:?}");
    let serving = Serving::start(&db, &[]);
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada"];
    assert!(run(&db, &create).status.success());
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let printed = run(&db, &[&["audit", "--json"], arguments].concat());
        assert!(printed.status.success(), "{printed:?}");
        let printed = String::from_utf8(printed.stdout).unwrap();
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let running = lines(&[]);
    serving.stop();
    let stopped = lines(&[]);
    assert_eq!(stopped, running);
    let created = stopped.iter().find(|line| line["action"] == "account_created").unwrap();
    assert_eq!((&created["actor"], &created["subject"]), (&json!("command line"), &json!("ada@example.com")));
    assert!(created["time"].as_str().unwrap().ends_with('Z') && created["address"].is_null());
    assert_eq!(lines(&["--since", "1h"]).len(), stopped.len());
    assert_eq!(lines(&["--since", "2100-01-01"]), Vec::<Value>::new());
    assert!(lines(&["--action", "key_created"]).iter().all(|line| line["action"] == "key_created"));
    let text = String::from_utf8(run(&db, &["audit"]).stdout).unwrap();
    assert!(text.contains("  account_created  command line: ada@example.com {"), "{text}");
    let wrong = run(&db, &["audit", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("or an age such as 7d"), "{error}");
}

//! Commands of the operator on accounts, the organization and the status, with the server running and stopped.

use crate::harness::{START, TestServer};
use crate::program::{Serving, run};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use teamchat::app::CertificateEnd;
use teamchat::commands::Command;
use teamchat::types::timestamp;

/// Runs a command that succeeds, and returns its JSON.
fn done(db: &Path, arguments: &[&str]) -> Value {
    let output = run(db, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a command that fails, and returns its error.
fn refused(db: &Path, arguments: &[&str]) -> String {
    let output = run(db, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn create(db: &Path, name: &str, role: &str) -> Value {
    let email = format!("{name}@example.com");
    done(db, &["user", "create", "--email", &email, "--full-name", name, "--role", role])
}

/// Actions in the audit log, the newest last.
fn audited(db: &Path) -> Vec<String> {
    let output = String::from_utf8(run(db, &["audit", "--json"]).stdout).unwrap();
    let lines = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| format!("{} by {}", line["action"].as_str().unwrap(), line["actor"].as_str().unwrap()))
        .collect()
}

fn change_accounts(db: &Path) {
    create(db, "bob", "member");
    let email = ["--email", "bob@example.com"];
    let renamed = done(db, &[&["user", "rename"], &email[..], &["--full-name", "Robert"]].concat());
    assert_eq!(renamed, json!({"email": "bob@example.com", "full_name": "Robert"}));
    let moved = done(db, &[&["user", "email"], &email[..], &["--new-email", "robert@example.com"]].concat());
    assert_eq!(moved, json!({"email": "robert@example.com", "previous_email": "bob@example.com"}));
    let users = done(db, &["user", "list"]);
    let user = users.as_array().unwrap().iter().find(|user| user["email"] == "robert@example.com").unwrap();
    assert_eq!(user["full_name"], "Robert");
    let error = refused(db, &[&["user", "rename"], &email[..], &["--full-name", "R"]].concat());
    assert!(error.contains("No user has the email 'bob@example.com'"), "{error}");
    let email = ["--email", "robert@example.com"];
    let error =
        refused(db, &[&["user", "email"], &email[..], &["--new-email", "owner@example.com"]].concat());
    assert!(error.contains("Already has an account."), "{error}");
    let error = refused(db, &[&["user", "rename"], &email[..], &["--full-name", "*"]].concat());
    assert!(error.contains("Invalid characters in name!"), "{error}");
    let sessions = done(db, &[&["user", "sessions"], &email[..]].concat());
    assert_eq!(
        (sessions["sessions"].clone(), sessions["api_keys"].as_array().unwrap().len()),
        (json!([]), 1)
    );
    let key = sessions["api_keys"][0]["id"].to_string();
    let revoked = done(db, &[&["user", "key", "revoke", &key], &email[..]].concat());
    assert_eq!(revoked["revoked"], true);
    for command in [&["user", "session", "end", "--all"][..], &["user", "sessions", "--end-all"]] {
        done(db, &[&["user", "key", "mint"], &email[..]].concat());
        let ended = done(db, &[command, &email[..]].concat());
        assert_eq!(ended, json!({"email": "robert@example.com", "ended_all": true}));
        assert_eq!(done(db, &[&["user", "key", "list"], &email[..]].concat()), json!([]));
    }
    let error = refused(db, &[&["user", "session", "end"], &email[..]].concat());
    assert!(error.contains("name the id of a session, or --all"), "{error}");
    let error = refused(db, &[&["user", "session", "end", "--all", "1"], &email[..]].concat());
    assert!(error.contains("name the id of a session or --all, not both"), "{error}");
    let role = done(db, &[&["user", "role", "--role", "moderator"], &email[..]].concat());
    assert_eq!(role, json!({"email": "robert@example.com", "role": 300}));
    for (command, is_active, words) in [("deactivate", false, "deactivated"), ("reactivate", true, "active")]
    {
        let command = [&["user", command], &email[..]].concat();
        for is_changed in [true, false] {
            let expected =
                json!({"email": "robert@example.com", "is_active": is_active, "changed": is_changed});
            assert_eq!(done(db, &command), expected, "a repeated command changes nothing");
        }
        let said = String::from_utf8(run(db, &command).stdout).unwrap();
        assert!(said.starts_with(&format!("robert@example.com was already {words}.\n")), "{said}");
    }
    let sessions = done(db, &[&["user", "sessions"], &email[..]].concat());
    assert_eq!(sessions["api_keys"], json!([]));
    let error = refused(db, &[&["user", "delete"], &email[..]].concat());
    assert!(error.contains("--yes deletes the account robert@example.com"), "{error}");
    done(db, &[&["user", "delete", "--yes"], &email[..]].concat());
    let users = done(db, &["user", "list"]);
    let id = user["user_id"].as_i64().unwrap();
    let user = users.as_array().unwrap().iter().find(|user| user["user_id"] == id).unwrap();
    let expected =
        (json!(format!("Deleted user {id}")), json!(format!("deleteduser{id}@bots.invalid")), json!(false));
    assert_eq!((user["full_name"].clone(), user["email"].clone(), user["is_active"].clone()), expected);
    let error = refused(db, &["user", "delete", "--yes", "--email", "owner@example.com"]);
    assert!(error.contains("Cannot delete the only organization owner"), "{error}");
    let audited = audited(db);
    for action in ["name_changed", "email_changed", "key_revoked", "account_deleted", "account_deactivated"] {
        assert!(audited.contains(&format!("{action} by command line")), "{action}: {audited:?}");
    }
    let log = String::from_utf8(run(db, &["audit", "--json"]).stdout).unwrap();
    assert!(!log.contains("bob@example.com") && !log.contains("robert@example.com"), "{log}");
}

fn change_organization(db: &Path) {
    let all = done(db, &["organization", "get"]);
    assert_eq!(all["invite_required"], true);
    let members = all["can_create_groups"].clone();
    assert_eq!(done(db, &["organization", "set", "name", "Crew"]), json!({"name": "name", "changed": true}));
    assert_eq!(done(db, &["organization", "set", "name", "Crew"]), json!({"name": "name", "changed": false}));
    assert_eq!(done(db, &["organization", "get", "name"]), json!({"name": "Crew"}));
    done(db, &["organization", "set", "can_create_groups", "role:administrators"]);
    let administrators = done(db, &["organization", "get", "can_create_groups"])["can_create_groups"].clone();
    assert!(administrators.is_i64() && administrators != members, "{administrators}");
    done(db, &["organization", "set", "can_create_groups", &members.to_string()]);
    assert_eq!(done(db, &["organization", "get"])["can_create_groups"], members);
    done(db, &["organization", "set", "description", "We *sail*."]);
    for (name, value, expected) in [
        ("invite_requird", "true", "There is no setting 'invite_requird'; did you mean 'invite_required'?"),
        ("invite_required", "perhaps", "invite_required must be true or false, not 'perhaps'"),
        (
            "can_create_groups",
            "role:nobodies",
            "There is no group 'role:nobodies'; the groups of roles are role:nobody, ",
        ),
        ("waiting_period_threshold", "five", "waiting_period_threshold must be a number, not 'five'"),
        ("message_retention_days", "forever", "Bad value for 'message_retention_days': forever"),
        ("message_retention_days", "-5", "message_retention_days"),
    ] {
        let error = refused(db, &["organization", "set", name, value]);
        assert!(error.contains(expected), "{name}: {error}");
    }
    for (command, error) in [
        (&["get", "qqq"][..], "there is no setting 'qqq'\n"),
        (
            &["get", "invite_requird"],
            "there is no setting 'invite_requird'; did you mean 'invite_required'?\n",
        ),
        (&["set", "qqq", "1"], "There is no setting 'qqq'\n"),
    ] {
        let said = refused(db, &[&["organization"], command].concat());
        assert!(said.ends_with(error), "{command:?}: {said}");
    }
    // Values that are JSON texts in the interface are written without quotes.
    let retention = || done(db, &["organization", "get", "message_retention_days"]);
    for (value, expected) in [("30", 30), ("unlimited", -1)] {
        done(db, &["organization", "set", "message_retention_days", value]);
        assert_eq!(retention(), json!({"message_retention_days": expected}));
    }
    assert!(refused(db, &["organization", "deactivate"]).contains("--yes deactivates the organization"));
    for was_deactivated in [false, true] {
        let closed = done(db, &["organization", "deactivate", "--yes"]);
        assert_eq!(closed, json!({"deactivated": true, "was_deactivated": was_deactivated}));
        assert_eq!(done(db, &["organization", "get", "deactivated"]), json!({"deactivated": true}));
    }
    let said = String::from_utf8(run(db, &["organization", "deactivate", "--yes"]).stdout).unwrap();
    assert!(said.starts_with("The organization was already deactivated. "), "{said}");
    let warnings = done(db, &["status"])["warnings"].to_string();
    assert!(warnings.contains("teamchat organization reactivate"), "{warnings}");
    done(db, &["organization", "reactivate"]);
    let audited = audited(db);
    for action in
        ["setting_changed", "permission_changed", "organization_deactivated", "organization_reactivated"]
    {
        assert!(audited.contains(&format!("{action} by command line")), "{action}: {audited:?}");
    }
    let closed = audited.iter().filter(|action| action.starts_with("organization_deactivated"));
    assert_eq!(closed.count(), 1, "{audited:?}");
}

#[tokio::test]
async fn accounts_are_changed_while_the_server_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    create(&db, "owner", "owner");
    change_accounts(&db);
    change_organization(&db);
}

#[tokio::test]
async fn accounts_are_changed_while_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let serving = Serving::start(&db, &[]);
    create(&db, "owner", "owner");
    change_accounts(&db);
    change_organization(&db);
    serving.stop();
}

#[tokio::test]
async fn the_status_names_figures_and_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    assert!(!run(&db, &["status"]).status.success());
    let serving = Serving::start(&db, &[]);
    let running = done(&db, &["status"]);
    assert_eq!(
        (&running["running"], running["address"].as_str()),
        (&json!(true), Some(serving.value("listening")))
    );
    assert!(running["warnings"].to_string().contains("There is no owner"), "{running}");
    create(&db, "owner", "owner");
    let running = done(&db, &["status"]);
    assert_eq!(
        (&running["people"], &running["bots"], &running["warnings"]),
        (&json!(1), &json!(0), &json!([]))
    );
    for name in [
        "version",
        "feature_level",
        "queues",
        "newest_message_id",
        "messages_in_hour",
        "database_bytes",
        "disk_free_bytes",
    ] {
        assert!(!running[name].is_null(), "{name}: {running}");
    }
    let text = String::from_utf8(run(&db, &["status"]).stdout).unwrap();
    assert!(text.contains("running since") && text.contains("  people     1 and 0 bots"), "{text}");
    serving.stop();
    let stopped = done(&db, &["status"]);
    assert_eq!(
        (&stopped["running"], &stopped["address"], &stopped["people"]),
        (&json!(false), &Value::Null, &json!(1))
    );
    let text = String::from_utf8(run(&db, &["status"]).stdout).unwrap();
    assert!(text.contains("  server     stopped"), "{text}");
}

/// Attempts of a day count, also several in one entry.
#[tokio::test]
async fn the_status_warns_of_many_failed_logins() {
    let server = TestServer::start().await;
    server.owner().await;
    let warnings = async || server.command(Command::Status).await["warnings"].to_string();
    let failures = "INSERT INTO audit_entry (time, actor, action, subject, times)
         SELECT max(time), 'anyone', 'login_failed', 'user', 60 FROM audit_entry";
    server.sql(failures).await;
    assert!(!warnings().await.contains("logins failed"), "{}", warnings().await);
    server.sql(failures).await;
    let expected = "120 logins failed in the last day: see `teamchat audit --action login_failed`.";
    assert!(warnings().await.contains(expected), "{}", warnings().await);
    server.clock.advance(24 * 60 * 60 + 1);
    assert!(!warnings().await.contains("logins failed"), "{}", warnings().await);
}

/// A server does not start with a certificate that has ended, but may run until its end.
#[tokio::test]
async fn the_status_warns_of_a_certificate_that_has_ended() {
    let server = TestServer::start().await;
    let end = START + 60;
    let (time, warned_from) = (AtomicI64::new(end), AtomicI64::new(START));
    let state = CertificateEnd { time, warned_from, ..CertificateEnd::default() };
    server.app().certificate_end.set(Arc::new(state)).unwrap();
    for word in ["ends", "ended"] {
        let warnings = server.command(Command::Status).await["warnings"].to_string();
        let expected = format!(
            "The certificate {word} at {}: replace the files of --tls-cert and --tls-key. The server reads",
            timestamp(end)
        );
        assert!(warnings.contains(&expected), "{warnings}");
        server.clock.advance(60);
    }
}

/// The account is gone for others, and the content stays.
#[tokio::test]
async fn deleted_accounts_leave_their_content() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let bot = server.bot("helper", &bob).await;
    let channel = json!({"subscriptions": [{"name": "plans"}], "principals": format!("[{}, {}]", owner.user_id, bob.user_id)});
    owner.post("/users/me/subscriptions", channel).await.ok();
    let group = json!({"name": "crew", "description": "", "members": [owner.user_id, bob.user_id]});
    owner.post("/user_groups/create", group).await.ok();
    let message = json!({"type": "channel", "to": "plans", "topic": "t", "content": "hello"});
    let sent = bob.post("/messages", message).await.ok();
    let direct = json!({"type": "direct", "to": format!("[{}]", owner.user_id), "content": "hi"});
    let direct = bob.post("/messages", direct).await.ok();
    bob.post("/drafts", json!({"drafts": [{"type": "", "to": [], "topic": "", "content": "secret"}]}))
        .await
        .ok();
    let types = ["realm_user", "subscription", "user_group", "realm_bot"];
    let mut queue = owner.register(json!({"event_types": types, "fetch_event_types": types})).await;

    let deleted = server.command(Command::DeleteUser { email: bob.email.clone() }).await;
    let name = format!("Deleted user {}", bob.user_id);
    assert_eq!((&deleted["full_name"], &deleted["kept"]["messages"]), (&json!(name), &json!(2)));
    for id in [&sent["id"], &direct["id"]] {
        let shown = owner.get(&format!("/messages/{id}"), ()).await.ok();
        assert_eq!(shown["message"]["sender_full_name"], name);
    }
    let user = owner.get(&format!("/users/{}", bob.user_id), ()).await.ok();
    let expected = json!(format!("deleteduser{}@bots.invalid", bob.user_id));
    assert_eq!((&user["user"]["is_active"], &user["user"]["delivery_email"]), (&json!(false), &expected));
    let shown = owner.get(&format!("/users/{}", bot.user_id), ()).await.ok();
    assert_eq!(shown["user"]["is_active"], false);
    assert_eq!(server.column("SELECT content FROM draft").await, Vec::<String>::new());
    let keys = format!("SELECT 1 FROM api_key WHERE user_id = {}", bob.user_id);
    assert_eq!(server.column(&keys).await, Vec::<String>::new());

    let events = queue.events().await;
    let has = |kind: &str, op: &str| events.iter().any(|event| event["type"] == kind && event["op"] == op);
    assert!(has("subscription", "peer_remove") && has("user_group", "remove_members"), "{events:?}");
    let names: Vec<_> = events.iter().filter_map(|event| event["person"]["full_name"].as_str()).collect();
    assert_eq!(names, [name]);
    assert!(events.iter().any(|event| event["person"]["is_active"] == false), "{events:?}");
    assert_eq!(bob.get("/users/me", ()).await.status, 401);
}

#[tokio::test]
async fn commands_refuse_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let account = |command| ["user", command, "--email", "ada@example.com"];
    let commands: [&[&str]; 17] = [
        &["status"],
        &["audit"],
        &["check"],
        &["compact"],
        &["doctor"],
        &["backup", out],
        &["fixtures", "dump"],
        &["export", "zulip", out],
        &["export", "html", out],
        &["export", "person", "ada@example.com", out],
        &["organization", "get"],
        &["organization", "set", "name", "Crew"],
        &["user", "list"],
        &account("sessions"),
        &account("reactivate"),
        &[&account("delete")[..], &["--yes"]].concat(),
        &["user", "key", "list", "--email", "ada@example.com"],
    ];
    for arguments in commands {
        let output = run(&db, arguments);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let code = if matches!(arguments[0], "check" | "doctor") { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        let expected = "chat.sqlite does not exist; `teamchat serve`, `teamchat user create`, `teamchat import` and `teamchat \
                        restore` create a new database";
        assert!(said.contains(expected), "{said}");
    }
    let error = refused(&folder.path().join("absent/chat.sqlite"), &["status"]);
    assert!(
        error.contains("absent/chat.sqlite cannot be the database: its directory does not exist"),
        "{error}"
    );
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    create(&db, "ada", "owner");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let status = done(&db, &["status"]);
                assert_eq!((&status["running"], &status["people"]), (&json!(false), &json!(1)));
            });
        }
    });
}

//! Every command of the program that changes data, or copies them, leaves an entry in the audit log.

use crate::program::{Serving, program, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

/// Commands without an entry, with the reason.
const UNRECORDED: [(&str, &str); 15] = [
    ("serve", "changes of its users have entries of their own"),
    ("health", "reads only"),
    ("check", "reads only, without --repair"),
    ("status", "reads only"),
    ("doctor", "reads only"),
    ("audit", "reads only"),
    ("mail test", "changes nothing"),
    ("mail deliver", "sends what any client of the listener sends"),
    ("config check", "reads the configuration"),
    ("config show", "reads the configuration"),
    ("user list", "reads only"),
    ("user key list", "reads only"),
    ("user session list", "reads only"),
    ("organization get", "reads only"),
    ("fixtures sample", "prints constants"),
];

/// The command line of a command, whether it needs a stopped server, and the action in the audit log.
type Recorded<'a> = (Vec<&'a str>, bool, &'static str);

/// The commands that are no groups of others, by the help of the program.
fn commands() -> BTreeSet<String> {
    let (mut found, mut groups) = (BTreeSet::new(), vec![String::new()]);
    while let Some(group) = groups.pop() {
        let mut help = Command::new(env!("CARGO_BIN_EXE_teamchat"));
        let help = help.args(group.split_whitespace()).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let Some((_, list)) = help.split_once("\nCommands:\n") else {
            found.insert(group);
            continue;
        };
        let lines = list.lines().take_while(|line| !line.is_empty());
        let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let names = names.filter(|name| !name.is_empty() && *name != "help");
        groups.extend(names.map(|name| format!("{group} {name}").trim().to_owned()));
    }
    found
}

/// The command that an argument list begins with.
fn name_of(arguments: &[&str], commands: &BTreeSet<String>) -> String {
    let names = (1..=arguments.len()).map(|length| arguments[..length].join(" "));
    names.rev().find(|name| commands.contains(name)).unwrap_or_else(|| panic!("no command: {arguments:?}"))
}

/// The actions of the command line in the audit log, by the id of the entry.
fn entries(db: &Path) -> BTreeMap<i64, String> {
    let printed = String::from_utf8(run(db, &["audit", "--json"]).stdout).unwrap();
    let entries = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entries = entries.filter(|entry| entry["actor"] == "command line" && entry["address"].is_null());
    entries
        .map(|entry| (entry["id"].as_i64().unwrap(), entry["action"].as_str().unwrap().to_owned()))
        .collect()
}

fn succeed(db: &Path, arguments: &[&str]) {
    let output = run(db, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Logs in as Bob with a password, so that there is a session.
async fn log_in(url: &str, password: &str) {
    let form = [("username", "bob@example.com"), ("password", password)];
    let sent = reqwest::Client::new().post(format!("{url}/accounts/login/")).form(&form).send();
    assert_eq!(sent.await.unwrap().status(), 200);
}

async fn walk(is_running: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let db = folder.path().join("chat.sqlite");
    let serving = Serving::start(&db, &[]);
    succeed(
        &db,
        &["user", "create", "--email", "owner@example.com", "--full-name", "Owner", "--role", "owner"],
    );
    let bob = ["user", "create", "--email", "bob@example.com", "--full-name", "Bob", "--json"];
    let bob: Value = serde_json::from_slice(&run(&db, &bob).stdout).unwrap();
    log_in(serving.value("listening"), bob["password"].as_str().unwrap()).await;
    let serving = if is_running {
        Some(serving)
    } else {
        serving.stop();
        None
    };
    let [saved, archive, imported, person, html] =
        ["saved.zst", "out.tar.gz", "new.sqlite", "person", "html"].map(path);
    let email = ["--email", "bob@example.com"];
    let of = |words: &[&'static str], rest: &[&'static str]| [words, &email, rest].concat();
    let recorded: Vec<Recorded<'_>> = vec![
        (vec!["user", "create", "--email", "c@example.com", "--full-name", "C"], false, "account_created"),
        (vec!["bot", "create", "--integration", "grafana", "--channel", "general"], false, "account_created"),
        (of(&["user", "unlock"], &[]), false, "account_unlocked"),
        (of(&["user", "key", "mint"], &[]), false, "key_created"),
        (of(&["user", "key", "revoke"], &["KEY"]), false, "key_revoked"),
        (of(&["user", "session", "end"], &["SESSION"]), false, "session_ended"),
        (of(&["user", "password"], &[]), false, "password_set"),
        (vec!["user", "password-links", "--all"], false, "password_link_created"),
        (of(&["user", "key", "mint"], &[]), false, "key_created"),
        (of(&["user", "session", "end"], &["--all"]), false, "key_revoked"),
        (of(&["user", "role"], &["--role", "moderator"]), false, "role_changed"),
        (of(&["user", "rename"], &["--full-name", "Robert"]), false, "name_changed"),
        (
            vec!["user", "email", "--email", "c@example.com", "--new-email", "d@example.com"],
            false,
            "email_changed",
        ),
        (vec!["organization", "set", "name", "Crew"], false, "setting_changed"),
        (vec!["organization", "deactivate", "--yes"], false, "organization_deactivated"),
        (vec!["organization", "reactivate"], false, "organization_reactivated"),
        (of(&["user", "deactivate"], &[]), false, "account_deactivated"),
        (of(&["user", "purge"], &["--all", "--yes"]), false, "account_purged"),
        (of(&["user", "reactivate"], &[]), false, "account_reactivated"),
        (vec!["export", "zulip", &archive], false, "organization_exported"),
        (vec!["export", "html", &html], false, "organization_exported"),
        (vec!["export", "person", "bob@example.com", &person], false, "account_exported"),
        (vec!["fixtures", "dump"], false, "organization_exported"),
        (of(&["user", "delete"], &["--yes"]), false, "account_deleted"),
        (vec!["backup", &saved], false, "backup_created"),
        (vec!["compact"], false, "database_compacted"),
        (vec!["check", "--repair"], true, "database_repaired"),
        (vec!["restore", &saved], true, "backup_restored"),
    ];
    let commands = commands();
    let mut covered: BTreeSet<String> = UNRECORDED.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut before = entries(&db);
    for (mut arguments, must_be_stopped, action) in recorded {
        covered.insert(name_of(&arguments, &commands));
        if must_be_stopped && is_running {
            continue;
        }
        let id = |kind: &str| -> String {
            let listed = run(&db, &[&["user", kind, "list"][..], &email, &["--json"]].concat());
            let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
            listed[0]["id"].to_string()
        };
        let named = [("KEY", "key"), ("SESSION", "session")].into_iter();
        let ids: Vec<(&str, String)> =
            named.filter(|(name, _)| arguments.contains(name)).map(|(name, kind)| (name, id(kind))).collect();
        for argument in &mut arguments {
            if let Some((_, id)) = ids.iter().find(|(name, _)| name == argument) {
                *argument = id;
            }
        }
        if action == "database_repaired" {
            break_count(&db);
        }
        succeed(&db, &arguments);
        let after = entries(&db);
        let newer = after.iter().filter(|(id, action)| before.get(*id) != Some(*action));
        let newer: Vec<&str> = newer.map(|(_, action)| action.as_str()).collect();
        assert!(newer.contains(&action), "{arguments:?}: {newer:?}");
        before = after;
    }
    for (name, _) in UNRECORDED.iter().filter(|(name, _)| !matches!(*name, "serve" | "health")) {
        let mut command = if name.starts_with("config") || *name == "fixtures sample" {
            let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
            command.args(name.split(' '));
            command
        } else {
            program(&db, &name.split(' ').collect::<Vec<_>>())
        };
        if matches!(*name, "user key list" | "user session list") {
            command.args(["--email", "owner@example.com"]);
        }
        // Some want more arguments, and fail without them.
        command.stdin(Stdio::null()).output().unwrap();
    }
    assert_eq!(entries(&db), before);
    // It changes another database, and leaves an entry there.
    covered.insert("import".to_owned());
    succeed(imported.as_ref(), &["import", "zulip", &archive]);
    assert!(entries(imported.as_ref()).values().any(|action| action == "organization_imported"));
    assert_eq!(covered, commands, "each command is in one of the two lists");
    if let Some(serving) = serving {
        serving.stop();
    }
}

/// Makes the database wrong in a way that can be repaired.
#[expect(clippy::disallowed_methods, reason = "looks into the file behind the program's back")]
fn break_count(db: &Path) {
    let connection = rusqlite::Connection::open(db).unwrap();
    connection.execute("UPDATE upload_state SET space_used = space_used + 1", ()).unwrap();
}

#[tokio::test]
async fn commands_on_a_stopped_server_are_recorded() {
    walk(false).await;
}

#[tokio::test]
async fn commands_on_a_running_server_are_recorded() {
    walk(true).await;
}

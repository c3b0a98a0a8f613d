//! `teamchat check` and `teamchat compact`: each rule is broken by hand.

use crate::backups::{error_of, json_of, run, text};
use crate::program::{Person, Server};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Output;

#[expect(clippy::disallowed_methods, reason = "changes the file behind the program's back")]
pub fn change(db: &Path, sql: &str) {
    let connection = Connection::open(db).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on").unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// The number of rows of a table.
#[expect(clippy::disallowed_methods, reason = "looks into the file behind the program's back")]
pub fn count(db: &Path, table: &str) -> i64 {
    let connection = Connection::open(db).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// A file with some of everything that is checked.
async fn populated(folder: &Path) -> PathBuf {
    let db = folder.join("sound.sqlite");
    let owner = Person::create(&db, "owner", "owner");
    let reader = Person::create(&db, "reader", "member");
    let server = Server::start(&db);
    let origin = &server.origin;
    let subscribe = json!({"subscriptions": [{"name": "general"}]});
    owner.ask(origin, "POST", "/users/me/subscriptions", &subscribe).await.unwrap();
    let message = json!({"type": "stream", "to": "general", "topic": "a topic", "content": "a word"});
    let sent = owner.ask(origin, "POST", "/messages", &message).await.unwrap();
    // A message that came to a channel later, received by a subscriber who stars it.
    let subscribe = json!({"subscriptions": [{"name": "archive"}]});
    reader.ask(origin, "POST", "/users/me/subscriptions", &subscribe).await.unwrap();
    let moved = owner.ask(origin, "POST", "/messages", &message).await.unwrap();
    let channel = owner.ask(origin, "GET", "/get_stream_id", &json!({"stream": "archive"})).await.unwrap();
    let path = format!("/messages/{}", moved["id"]);
    owner.ask(origin, "PATCH", &path, &json!({"stream_id": channel["stream_id"]})).await.unwrap();
    let star = json!({"messages": [moved["id"]], "op": "add", "flag": "starred"});
    reader.ask(origin, "POST", "/messages/flags", &star).await.unwrap();
    let path = format!("/messages/{}/reactions", sent["id"]);
    owner.ask(origin, "POST", &path, &json!({"emoji_name": "tada"})).await.unwrap();
    let message = json!({"type": "direct", "to": [owner.user_id], "content": "to myself"});
    owner.ask(origin, "POST", "/messages", &message).await.unwrap();
    owner.ask(origin, "POST", "/register", &json!({})).await.unwrap();
    owner.ask(origin, "POST", "/mark_all_as_read", &json!({})).await.unwrap();
    let search = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "word"]]});
    owner.ask(origin, "GET", "/messages", &search).await.unwrap();
    let checked = run(&["check", "--db", text(&db)]);
    assert!(checked.status.success(), "while the server runs: {checked:?}");
    server.kill();
    change(
        &db,
        "INSERT INTO upload_content (content_id) VALUES (50);
         INSERT INTO upload_piece VALUES (50, 0, x'010203');
         INSERT INTO attachment (user_id, path_id, name, content_type, size, create_time, content_id, unclaimed_since)
         SELECT min(user_id), '1/a', 'a', 'text/plain', 3, 1, 50, 4000000000 FROM user;
         UPDATE upload_state SET space_used = 3;",
    );
    db
}

/// A change of a sound file, the check that finds it, and whether it can be repaired.
const BROKEN: &[(&str, &str, bool)] = &[
    (
        "PRAGMA writable_schema = on;
         UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'push_held_check')
         WHERE name = 'push_notification_due'",
        "sqlite",
        false,
    ),
    ("CREATE INDEX costly ON client (hex(name))", "schema", false),
    ("DROP INDEX user_email", "schema", false),
    ("INSERT INTO muted_user VALUES (999, 998, 1)", "references", false),
    ("DELETE FROM upload_state", "rows", false),
    ("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'message'", "message_ids", false),
    ("UPDATE message SET topic_id = NULL WHERE topic_id IS NOT NULL", "topics", false),
    (
        "DELETE FROM direct_participant WHERE user_id = (SELECT max(user_id) FROM direct_participant)",
        "conversations",
        false,
    ),
    (
        "INSERT INTO direct_participant SELECT min(user_id), (SELECT min(recipient_id) FROM recipient WHERE stream_id IS NOT NULL) FROM user",
        "conversations",
        false,
    ),
    (
        "UPDATE subscription_span SET until_message_id = from_message_id - 1; UPDATE subscription SET active = 0",
        "spans",
        false,
    ),
    (
        "INSERT OR IGNORE INTO subscription_span SELECT user_id, stream_id, from_message_id + 1, NULL FROM subscription_span",
        "spans",
        false,
    ),
    ("UPDATE subscription SET active = 0", "spans", false),
    ("UPDATE subscription_span SET until_message_id = from_message_id + 5", "spans", false),
    (
        "INSERT INTO arrival (recipient_id, message_ids, user_ids) SELECT min(recipient_id), x'00', x'00' FROM recipient",
        "moved_receipts",
        false,
    ),
    ("UPDATE read_state SET read_until = 99999", "read_sets", false),
    ("INSERT INTO read_chunk VALUES (1, 999, 0, x'00')", "read_sets", false),
    ("INSERT INTO read_chunk SELECT user_id, recipient_id, 7, x'00' FROM read_state", "read_sets", false),
    ("UPDATE message SET attributes = attributes & ~32", "attributes", false),
    ("DELETE FROM message_search WHERE rowid = (SELECT min(id) FROM message)", "search_index", true),
    ("INSERT INTO message_search (rowid, content, subject) VALUES (9999, 'x', 'y')", "search_index", true),
    ("DELETE FROM upload_piece", "file_pieces", false),
    ("UPDATE upload_piece SET number = 1", "file_pieces", false),
    ("UPDATE attachment SET unclaimed_since = NULL", "file_links", true),
    (
        "INSERT INTO attachment_message SELECT attachment.id, max(message.id) FROM attachment, message",
        "file_links",
        true,
    ),
    ("INSERT INTO upload_content (removed_from) VALUES (NULL)", "orphaned_contents", true),
    ("UPDATE upload_state SET space_used = 7", "space_used", true),
    ("UPDATE stream SET is_web_public = 1, invite_only = 1", "channels", false),
    ("UPDATE stream SET history_public_to_subscribers = 0", "channels", false),
    ("UPDATE audit_entry SET after = '{'", "audit", false),
    ("INSERT INTO push_message (message_id, known_to) VALUES (1, x'ff')", "push", false),
    ("INSERT INTO mail_message (message_id, known_to) VALUES (1, x'ff')", "push", false),
    ("INSERT INTO push_notification VALUES (1, 'a', x'ff', 0, 1, 0, NULL, NULL)", "push", false),
    ("INSERT INTO push_notification VALUES (1, 'a', x'3a30000000000000', 0, 1, 0, NULL, x'ff')", "push", false),
    ("INSERT INTO event_audience (user_ids) VALUES (x'ff')", "events", false),
    ("INSERT INTO event SELECT 5000000, 'a', 'a', 1, NULL, 77777, 0, NULL, '{}', NULL", "events", false),
    ("INSERT INTO event SELECT 5000000, 'a', 'a', 1, x'', NULL, 0, NULL, '{', NULL", "events", false),
    ("UPDATE event_queue SET acknowledged = 99999999", "queues", false),
    ("INSERT INTO follow_up VALUES (1, 'a', '{')", "follow_up", false),
];

#[tokio::test]
async fn each_broken_rule_is_found_and_what_is_derived_is_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let sound = populated(folder.path()).await;
    let answer = json_of(&["check", "--db", text(&sound)]);
    assert_eq!(answer, json!({"sound": true, "problems": [], "repaired": []}));
    // One file, without a log.
    change(&sound, "PRAGMA wal_checkpoint(TRUNCATE)");
    let mut seen = BTreeSet::new();
    for (sql, check, repairable) in BROKEN {
        let db = folder.path().join("broken.sqlite");
        for ending in ["", "-wal", "-shm", ".lock"] {
            let _absent = std::fs::remove_file(format!("{}{ending}", db.display()));
        }
        std::fs::copy(&sound, &db).unwrap();
        change(&db, sql);
        let output = run(&["check", "--db", text(&db), "--json"]);
        assert_eq!(output.status.code(), Some(1), "{sql}: {output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let problems = answer["problems"].as_array().unwrap();
        let found = problems.iter().find(|problem| problem["check"] == *check);
        let found = found.unwrap_or_else(|| panic!("{sql}: {answer}"));
        assert_eq!(
            (answer["sound"].as_bool(), found["repairable"].as_bool()),
            (Some(false), Some(*repairable)),
            "{sql}"
        );
        let lines = String::from_utf8(run(&["check", "--db", text(&db)]).stdout).unwrap();
        let line = format!("{check}: {}\n", found["what"].as_str().unwrap());
        assert!(lines.contains(&line), "{sql}: {lines}");
        if *repairable {
            let repaired = run(&["check", "--db", text(&db), "--repair"]);
            let lines = String::from_utf8_lossy(&repaired.stdout).into_owned();
            assert!(
                repaired.status.success() && lines.contains(&format!("repaired: {line}")),
                "{sql}: {repaired:?}"
            );
            assert!(run(&["check", "--db", text(&db)]).status.success(), "{sql}");
        }
        seen.insert(*check);
    }
    let all: BTreeSet<&str> = teamchat::domain::integrity::names().into_iter().collect();
    assert_eq!(seen, all, "each check is broken");
}

#[tokio::test]
async fn a_file_that_a_server_has_open_is_not_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let db = populated(folder.path()).await;
    change(&db, "UPDATE upload_state SET space_used = 7");
    let server = Server::start(&db);
    let check = || {
        let Output { status, stdout, stderr } = run(&["check", "--db", text(&db)]);
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    };
    let found = check();
    let hint = "`teamchat check --repair` repairs some of these problems; make a backup first.\n";
    assert!(found.1.starts_with("space_used: "), "{found:?}");
    assert_eq!((found.0, found.2.as_str()), (Some(1), hint));
    let refused = error_of(&["check", "--repair", "--db", text(&db)], &[]);
    assert_eq!(refused, "error: the server is running; stop it before you repair the file\n");
    assert_eq!(check(), found, "nothing was repaired");
    server.kill();
    let repaired = run(&["check", "--repair", "--db", text(&db)]);
    assert!(repaired.status.success(), "{repaired:?}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_not_usable() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [("zeros", vec![0; 65536]), ("text", b"no database".repeat(1000)), ("empty", Vec::new())]
    {
        let db = folder.path().join(name);
        std::fs::write(&db, bytes).unwrap();
        let output = run(&["check", "--db", text(&db)]);
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "), "{output:?}");
        let output = run(&["check", "--json", "--db", text(&db)]);
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["sound"], &answer["problems"][0]["check"]), (&json!(false), &json!("file")));
    }
    // A database that was cut to nothing is not taken for a new one.
    let empty = folder.path().join("empty");
    for arguments in [&["status"][..], &["user", "list"], &["compact"], &["backup", "-"]] {
        let refused = error_of(&[arguments, &["--db", text(&empty)]].concat(), &[]);
        assert!(refused.contains("empty is empty, and not a database; `teamchat restore`"), "{refused}");
        assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0, "{arguments:?}");
    }
    let error = String::from_utf8(run(&["check", "--db", text(folder.path())]).stderr).unwrap();
    assert!(error.contains("it is not a regular file"), "{error}");
    let output = run(&["check", "--db", text(&folder.path().join("missing"))]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[tokio::test]
async fn damaged_pages_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let db = populated(folder.path()).await;
    json_of(&["compact", "--db", text(&db)]);
    #[expect(clippy::disallowed_methods, reason = "looks into the file behind the program's back")]
    let page: i64 = Connection::open(&db)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'message_search_data'", [], |row| {
            row.get(0)
        })
        .unwrap();
    let page = usize::try_from(page).unwrap();
    let mut bytes = std::fs::read(&db).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0x55);
    std::fs::write(&db, bytes).unwrap();
    let output = run(&["check", "--db", text(&db)]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.contains("sqlite: "), "{lines}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("`teamchat restore`"));
    let refused = error_of(&["compact", "--db", text(&db)], &[]);
    assert!(refused.contains("is damaged: ") && refused.contains("`teamchat restore`"), "{refused}");
}

/// SQLite creates two files when a closed file is read.
#[test]
fn commands_that_read_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let [db, other, missing] = ["chat.sqlite", "other", "missing/out"].map(|name| folder.path().join(name));
    Person::create(&db, "owner", "owner");
    std::fs::write(&other, "").unwrap();
    let files = || {
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        files.collect::<BTreeSet<_>>()
    };
    let before = files();
    for (arguments, code) in [
        (&["check"][..], 0),
        (&["export", "zulip", text(&other)], 2),
        (&["export", "html", text(&other)], 1),
        (&["export", "html", text(&missing), "--channel", "nowhere"], 1),
        (&["export", "person", "nobody@example.com", text(&missing)], 1),
        (&["backup", text(&other)], 1),
    ] {
        let output = run(&[arguments, &["--db", text(&db)]].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert_eq!(files(), before, "{arguments:?}");
    }
}

/// Leaves 20 MB of free space in a file.
pub const FILL: &str =
    "CREATE TABLE fill (bytes); INSERT INTO fill SELECT zeroblob(5000000) FROM json_each('[1,2,3,4]');
    DROP TABLE fill; PRAGMA wal_checkpoint(TRUNCATE)";

/// The output of a command on a terminal.
#[cfg(target_os = "linux")]
fn on_a_terminal(arguments: &[&str]) -> String {
    let words = [&[env!("CARGO_BIN_EXE_teamchat")][..], arguments].concat();
    let command: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command.join(" "), "/dev/null"]).stdin(std::process::Stdio::null());
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn long_work_shows_its_progress_on_a_terminal_only() {
    let folder = tempfile::tempdir().unwrap();
    let (db, copy) = (folder.path().join("chat.sqlite"), folder.path().join("copy.zst"));
    Person::create(&db, "owner", "owner");
    let shows = |arguments: &[&str], what: &str| {
        let shown = on_a_terminal(&[arguments, &["--db", text(&db)]].concat());
        assert!(shown.contains(&format!("\r\x1b[K{what}")), "{arguments:?}: {shown:?}");
    };
    shows(&["check"], "sqlite");
    shows(&["backup", text(&copy)], "copying");
    shows(&["restore", text(&copy)], "unpacking");
    change(&db, FILL);
    shows(&["compact"], "rewriting");
    change(&db, FILL);
    let server = Server::start(&db);
    shows(&["compact"], "returning free space");
    server.kill();
    let piped = run(&["compact", "--db", text(&db)]);
    assert_eq!((piped.status.code(), String::from_utf8_lossy(&piped.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn much_free_space_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    Person::create(&db, "owner", "owner");
    let warnings = || json_of(&["status", "--db", text(&db)])["warnings"].to_string();
    change(&db, FILL);
    assert!(!warnings().contains("are unused"), "{}", warnings());
    change(&db, &FILL.replace("[1,2,3,4]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]"));
    assert!(warnings().contains(" MiB of the file are unused: `teamchat compact` returns them to the disk."));
    json_of(&["compact", "--db", text(&db)]);
    assert!(!warnings().contains("are unused"), "{}", warnings());
}

#[tokio::test]
async fn free_space_is_given_back() {
    const FULL: u64 = 20_000_000;
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let size = || std::fs::metadata(&db).unwrap().len();
    Person::create(&db, "owner", "owner");
    change(&db, FILL);
    assert!(size() > FULL);
    let answer = json_of(&["compact", "--db", text(&db)]);
    assert!(answer["bytes_before"].as_u64().unwrap() > FULL, "{answer}");
    assert_eq!(answer["bytes_after"].as_u64(), Some(size()));
    assert!(size() < FULL / 2);

    change(&db, FILL);
    let server = Server::start(&db);
    let answer = json_of(&["compact", "--db", text(&db)]);
    assert!(
        answer["bytes_before"].as_u64().unwrap() > FULL && answer["bytes_after"].as_u64().unwrap() < FULL / 2,
        "{answer}"
    );
    server.kill();
    assert!(run(&["check", "--db", text(&db)]).status.success());

    // As files of older versions are.
    change(&db, "PRAGMA auto_vacuum = 0; VACUUM");
    change(&db, FILL);
    let server = Server::start(&db);
    let refused = error_of(&["compact", "--db", text(&db)], &[]);
    assert!(refused.contains("stop the server, and run `teamchat compact` once"), "{refused}");
    server.kill();
    json_of(&["compact", "--db", text(&db)]);
    let server = Server::start(&db);
    json_of(&["compact", "--db", text(&db)]);
    drop(server);
    let missing = error_of(&["compact", "--db", text(&folder.path().join("missing"))], &[]);
    assert!(missing.contains("does not exist"), "{missing}");
}

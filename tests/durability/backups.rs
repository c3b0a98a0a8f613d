//! `teamchat backup` and `teamchat restore`: beside a running server, on full disks, and with damaged files.

use crate::checks::{change, count};
use crate::program::{Person, Server};
use crate::shim::{compile_shim, variables};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Identities of age. They encrypt test data only.
pub const IDENTITY: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
pub const OTHER_IDENTITY: &str = "AGE-SECRET-KEY-184JMZMVQH3E6U0PSL869004Y3U2NYV7R30EU99CSEDNPH02YUVFSZW44VU";

/// The public key of an identity.
pub fn recipient(identity: &str) -> String {
    identity.parse::<age::x25519::Identity>().unwrap().to_public().to_string()
}

pub fn run(arguments: &[&str]) -> Output {
    run_with(arguments, &[])
}

/// Runs a command with these environment variables.
pub fn run_with(arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.args(arguments).stdin(Stdio::null()).env_remove("TEAMCHAT_DB");
    command.envs(variables.iter().copied()).output().unwrap()
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The JSON that a command prints, which succeeds.
pub fn json_of(arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The error of a command that fails.
pub fn error_of(arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    error_with_code(1, arguments, variables)
}

/// The error of a command that was not used correctly.
fn usage_error_of(arguments: &[&str]) -> String {
    error_with_code(2, arguments, &[])
}

fn error_with_code(code: i32, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let output = run_with(arguments, variables);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    error
}

/// The files of a directory, except for locks and empty logs, which readers leave.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries = entries.filter(|path| path.extension().is_none_or(|ending| ending != "lock"));
    entries
        .filter(|path| path.is_file() && !text(path).ends_with("-shm"))
        .filter(|path| !text(path).ends_with("-wal") || std::fs::metadata(path).unwrap().len() > 0)
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

/// Sends a message to the sender. Returns its id.
pub async fn send(person: &Person, origin: &str, content: &str) -> i64 {
    let message = json!({"type": "direct", "to": [person.user_id], "content": content});
    person.ask(origin, "POST", "/messages", &message).await.unwrap()["id"].as_i64().unwrap()
}

async fn contents(person: &Person, origin: &str) -> Vec<String> {
    let query = json!({"anchor": "newest", "num_before": 100, "num_after": 0, "apply_markdown": false,
        "narrow": [["is", "dm"]]});
    let answer = person.ask(origin, "GET", "/messages", &query).await.unwrap();
    let messages = answer["messages"].as_array().unwrap().iter();
    messages
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .filter(|text| text.len() < 10)
        .collect()
}

#[tokio::test]
async fn a_backup_of_a_running_server_is_restored_after_its_file_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let (first, streamed) = (folder.path().join("first.zst"), folder.path().join("streamed.zst"));
    let owner = Person::create(&db, "owner", "owner");
    let server = Server::start(&db);
    let origin = server.origin.clone();
    send(&owner, &origin, "one").await;
    let queue = owner.ask(&origin, "POST", "/register", &json!({})).await.unwrap();
    change(
        &db,
        "INSERT INTO push_message (message_id) VALUES (1);
         INSERT INTO push_held SELECT user_id, 1, 1, 4000000000 FROM user LIMIT 1;
         INSERT INTO push_notification VALUES (1, 'a', x'', 0, 1, 0, 4000000000, NULL);
         INSERT INTO mail_message (message_id) VALUES (1);
         INSERT INTO mail_held SELECT user_id, 1, 1, 4000000000 FROM user LIMIT 1;
         INSERT INTO missed_batch (id, user_id, due) SELECT 1, user_id, 4000000000 FROM user LIMIT 1;
         INSERT INTO missed_message VALUES (1, 1);
         INSERT INTO outgoing_mail (kind, recipient, letter, created, expires, next_try)
         VALUES ('digest', 'a@example.com', '{}', 0, 4000000000, 4000000000)",
    );
    let saved = json_of(&["backup", "--db", text(&db), text(&first)]);
    let length = std::fs::metadata(&first).unwrap().len();
    assert_eq!((saved["bytes"].as_u64(), saved["encrypted"].as_bool()), (Some(length), Some(false)));
    assert_eq!((saved["path"].as_str(), saved["users"].as_u64()), (Some(text(&first)), Some(1)));
    assert!(saved["messages"].as_u64().unwrap() >= 1 && saved["newest_message"].is_i64(), "{saved}");
    assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = error_of(&["backup", "--db", text(&db), text(&first)], &[]);
    assert!(refused.contains("first.zst exists already; nothing was overwritten"), "{refused}");

    // Not in the backup.
    send(&owner, &origin, "two").await;
    let output = run(&["backup", "--db", text(&db), "-"]);
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("Saved "), "{output:?}");
    std::fs::write(&streamed, &output.stdout).unwrap();

    let refused = error_of(&["restore", "--db", text(&db), text(&first)], &[]);
    assert!(refused.contains("in use by another teamchat server (process "), "{refused}");
    server.kill();
    let zeros = vec![0; std::fs::metadata(&db).unwrap().len() as usize];
    std::fs::write(&db, &zeros).unwrap();

    let restored = json_of(&["restore", "--db", text(&db), text(&first)]);
    let kept = restored["kept"].as_str().unwrap();
    assert!(kept.contains("chat.sqlite.before-restore-20"), "{kept}");
    assert_eq!(std::fs::read(kept).unwrap(), zeros);
    assert_eq!(std::fs::metadata(&db).unwrap().permissions().mode() & 0o777, 0o600);
    let waiting = ["outgoing_mail", "mail_message", "mail_held", "missed_batch", "missed_message"];
    let pushed = ["push_message", "push_held", "push_notification"];
    for table in pushed.into_iter().chain(waiting).chain(["event", "event_queue"]) {
        assert_eq!(count(&db, table), 0, "{table}: nothing old is sent");
    }
    let server = Server::start(&db);
    assert_eq!(contents(&owner, &server.origin).await, ["one"]);
    let poll =
        json!({"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"], "dont_block": true});
    let (status, answer) = owner.request(&server.origin, "GET", "/events", &poll).await.unwrap();
    assert_eq!((status, answer["code"].as_str()), (400, Some("BAD_EVENT_QUEUE_ID")), "{answer}");
    send(&owner, &server.origin, "three").await;
    server.kill();

    // On another machine, and from standard input.
    let elsewhere = folder.path().join("elsewhere.sqlite");
    let input = std::fs::File::open(&streamed).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    let output = command.args(["restore", "--db", text(&elsewhere), "-"]).stdin(input).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for consequence in [
        "newer than the backup are lost",
        "Every client registers again",
        "notifications and emails that were waiting are not sent",
        "late fail, and late reminders are sent",
        "after the backup work again. Review `teamchat user list`",
    ] {
        assert!(printed.contains(consequence), "{consequence}: {printed}");
    }
    let server = Server::start(&elsewhere);
    assert_eq!(contents(&owner, &server.origin).await, ["one", "two"]);
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_is_full_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    Person::create(&db, "owner", "owner");
    let before = files(folder.path());
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    let output = command.args(["backup", "--db", text(&db), "-"]).stdout(full).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("error: standard output: No space left on device"), "{error}");
    assert_eq!(files(folder.path()), before, "nothing is left of it");
}

#[tokio::test]
async fn an_encrypted_backup_needs_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (db, saved, new) = (path("chat.sqlite"), path("saved.age"), path("new.sqlite"));
    Person::create(&db, "owner", "owner");
    let recipient = recipient(IDENTITY);
    let backup = ["backup", "--db", text(&db), text(&saved), "--recipient"];
    let refused = usage_error_of(&[&backup[..], &["age1wrong"]].concat());
    assert!(
        refused.contains("--backup-recipient: this is not a public key, which begins with age1"),
        "{refused}"
    );
    assert_eq!(json_of(&[&backup[..], &[&recipient]].concat())["encrypted"], true);
    assert!(std::fs::read(&saved).unwrap().starts_with(b"age-encryption.org/v1"));

    std::fs::write(path("key"), format!("# created: today\n{IDENTITY}\n")).unwrap();
    std::fs::write(path("other"), OTHER_IDENTITY).unwrap();
    std::fs::write(path("words"), "correct horse battery staple").unwrap();
    std::fs::write(path("none"), "# created: today\n").unwrap();
    let restore = ["restore", "--db", text(&new), text(&saved)];
    for (key, code, expected) in [
        (None, 1, "name the file of its private key with --identity"),
        (Some("other"), 1, "encrypted to another key than this identity's"),
        (Some("words"), 2, "this is not an identity, which begins with AGE-SECRET-KEY-1"),
        (Some("none"), 2, "none: it has no private key; a private key begins with AGE-SECRET-KEY-1"),
        (Some("missing"), 2, "No such file"),
    ] {
        let key = key.map(path);
        let flags = key.iter().flat_map(|key| ["--identity", text(key)]);
        let refused = error_with_code(code, &restore.into_iter().chain(flags).collect::<Vec<_>>(), &[]);
        assert!(refused.contains(expected) && !refused.contains("horse"), "{refused}");
        assert!(!new.exists());
    }
    let restored = json_of(&[&restore[..], &["--identity", text(&path("key"))]].concat());
    assert_eq!(restored["kept"], Value::Null);
    Server::start(&new).kill();
}

#[tokio::test]
async fn scheduled_backups_are_encrypted_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (db, to, key) = (path("chat.sqlite"), path("backups"), path("key"));
    std::fs::create_dir(&to).unwrap();
    std::fs::write(&key, IDENTITY).unwrap();
    let recipient = recipient(IDENTITY);
    let serve = ["serve", "--listen", "127.0.0.1:0", "--db", text(&db), "--backup-to", text(&to)];
    let refused = usage_error_of(&[&serve[..], &["--backup-recipient", "age1wrong"]].concat());
    assert!(refused.contains("--backup-recipient: this is not a public key"), "{refused}");
    assert!(!db.exists());
    let variables: [(&str, &Path); 2] =
        [("TEAMCHAT_BACKUP_TO", &to), ("TEAMCHAT_BACKUP_RECIPIENT", Path::new(&recipient))];
    let server = Server::start_with(&db, &variables);
    appears(&to, ".json").await;
    let saved = appears(&to, ".sqlite.zst.age").await;
    server.kill();
    assert!(std::fs::read(&saved).unwrap().starts_with(b"age-encryption.org/v1"));
    let names = std::fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name());
    let open = names.filter(|name| name.to_string_lossy().ends_with(".sqlite.zst"));
    assert_eq!(open.count(), 0, "no backup is readable without the key");
    json_of(&["restore", "--db", text(&path("new.sqlite")), text(&saved), "--identity", text(&key)]);
}

#[tokio::test]
async fn damaged_backups_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (home, elsewhere) = (folder.path().join("home"), folder.path().join("elsewhere"));
    for folder in [&home, &elsewhere] {
        std::fs::create_dir(folder).unwrap();
    }
    let db = home.join("chat.sqlite");
    Person::create(&db, "owner", "owner");
    let (plain, encrypted, key) =
        (elsewhere.join("plain"), elsewhere.join("encrypted"), elsewhere.join("key"));
    std::fs::write(&key, IDENTITY).unwrap();
    json_of(&["backup", "--db", text(&db), text(&plain)]);
    json_of(&["backup", "--db", text(&db), text(&encrypted), "--recipient", &recipient(IDENTITY)]);
    let before = files(&home);
    let broken = elsewhere.join("broken");
    let refuse = |bytes: &[u8], expected: &str| {
        std::fs::write(&broken, bytes).unwrap();
        let error = error_of(&["restore", "--db", text(&db), text(&broken), "--identity", text(&key)], &[]);
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(files(&home) == before, "{expected}: {:?}", files(&home).keys());
    };
    for saved in [&plain, &encrypted] {
        let whole = std::fs::read(saved).unwrap();
        for length in [1, 3, 100, whole.len() / 2, whole.len() - 1] {
            refuse(&whole[..length], "is damaged: ");
        }
        for place in (0..whole.len()).step_by(whole.len() / 9) {
            let mut flipped = whole.clone();
            flipped[place] ^= 0x10;
            // Some bits change nothing, such as the distance to one of many zeros.
            if saved == &plain && zstd::decode_all(&flipped[..]).ok() == zstd::decode_all(&whole[..]).ok() {
                continue;
            }
            refuse(
                &flipped,
                if saved == &encrypted && (22..200).contains(&place) { "broken" } else { "is damaged" },
            );
        }
    }
    refuse(b"", "is damaged: it is empty; nothing was changed");
    refuse(b"a text of some length, which is no backup", "neither a backup of teamchat nor an SQLite file");
    let database = std::fs::read(&db).unwrap();
    refuse(&database[..database.len() / 2], "is damaged: ");
    let mut newer = database.clone();
    newer[60..64].copy_from_slice(&999_u32.to_be_bytes());
    refuse(&newer, "was written by a newer teamchat (schema 999");
    let mut foreign = database.clone();
    foreign[68..72].copy_from_slice(b"none");
    refuse(&foreign, "it is an SQLite database of another program");
    let missing = error_of(&["restore", "--db", text(&db), text(&elsewhere.join("missing"))], &[]);
    assert!(missing.contains("No such file"), "{missing}");
    assert!(files(&home) == before);

    // A damaged database is found by its backup.
    let mut damaged = database;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 16 * 4096].fill(0x55);
    std::fs::write(&broken, &damaged).unwrap();
    let error = error_of(&["backup", "--db", text(&broken), text(&elsewhere.join("of_broken"))], &[]);
    assert!(error.contains("broken is damaged: "), "{error}");
    assert!(!elsewhere.join("of_broken").exists());
}

/// The file may have been made by another program, with code of its own in the schema.
#[tokio::test]
async fn backups_with_another_schema_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (db, new, foreign) = (path("chat.sqlite"), path("new.sqlite"), path("foreign.sqlite"));
    Person::create(&db, "owner", "owner");
    for (sql, expected) in [
        ("CREATE INDEX costly ON client (hex(name))", "the index costly is not of this program"),
        ("CREATE VIEW everything AS SELECT 1", "the view everything is not of this program"),
        (
            "CREATE TRIGGER thief AFTER INSERT ON client BEGIN SELECT 1; END",
            "the trigger thief is not of this program",
        ),
        ("ALTER TABLE client ADD COLUMN size INTEGER AS (length(name))", "the table client was changed"),
    ] {
        std::fs::copy(&db, &foreign).unwrap();
        change(&foreign, sql);
        let error = error_of(&["restore", "--db", text(&new), text(&foreign)], &[]);
        let expected =
            format!("foreign.sqlite has another schema than this program makes: {expected}; nothing was");
        assert!(error.contains(&expected), "{error}");
        assert!(!new.exists());
    }
    // Litestream keeps two tables in the file.
    std::fs::copy(&db, &foreign).unwrap();
    let of_litestream = "CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
        CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);";
    change(&foreign, of_litestream);
    json_of(&["restore", "--db", text(&new), text(&foreign)]);
}

#[test]
fn a_backup_that_no_restore_accepts_is_made_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let db = path("chat.sqlite");
    Person::create(&db, "owner", "owner");
    let sound = json_of(&["backup", "--db", text(&db), text(&path("sound.zst"))]);
    assert_eq!(sound["schema_difference"], Value::Null);
    change(&db, "CREATE INDEX costly ON client (hex(name))");
    let saved = path("saved.zst");
    let output = run(&["backup", "--db", text(&db), text(&saved), "--json"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && saved.exists(), "{warning}");
    let difference = "the index costly is not of this program";
    let expected = format!("has another schema than this program makes: {difference}. Stop the server");
    assert!(warning.starts_with("warning: ") && warning.contains(&expected), "{warning}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["schema_difference"], difference);
}

/// A plain SQLite file, as other tools copy it, has its latest changes in a log beside it.
#[tokio::test]
async fn a_plain_file_is_restored_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (db, copy, new) = (path("chat.sqlite"), path("copy.sqlite"), path("new.sqlite"));
    let owner = Person::create(&db, "owner", "owner");
    let server = Server::start(&db);
    send(&owner, &server.origin, "logged").await;
    server.kill();
    for ending in ["", "-wal"] {
        std::fs::copy(path(&format!("chat.sqlite{ending}")), path(&format!("copy.sqlite{ending}"))).unwrap();
    }
    assert!(std::fs::metadata(path("copy.sqlite-wal")).unwrap().len() > 0);
    json_of(&["restore", "--db", text(&new), text(&copy)]);
    // Two in one second have names of their own.
    let kept: BTreeSet<String> = (0..3)
        .map(|_| json_of(&["restore", "--db", text(&new), text(&copy)])["kept"].as_str().unwrap().to_owned())
        .collect();
    assert!(kept.len() == 3 && kept.iter().all(|name| Path::new(name).exists()), "{kept:?}");
    let server = Server::start(&new);
    assert_eq!(contents(&owner, &server.origin).await, ["logged"]);
}

#[tokio::test]
async fn a_full_disk_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let (db, saved) = (home.join("chat.sqlite"), home.join("saved.zst"));
    Person::create(&db, "owner", "owner");
    json_of(&["backup", "--db", text(&db), text(&saved)]);
    let (shim, control) = (compile_shim(&home), home.join("control"));
    std::fs::write(&control, "write 1 28 1").unwrap();
    let before = files(&home);
    let out = home.join("out.zst");
    for (arguments, fails) in [
        (["backup", "--db", text(&db), text(&out)], "out.zst.copy"),
        (["backup", "--db", text(&db), text(&out)], "out.zst.partial"),
        (["restore", "--db", text(&db), text(&saved)], "chat.sqlite.restored"),
    ] {
        let fails = home.join(fails);
        // The archive is written at once.
        let after = if text(&fails).ends_with("partial") { "0" } else { "1" };
        std::fs::write(&control, format!("write {after} 28 {}", fails.display())).unwrap();
        let error = error_of(&arguments, &variables(&shim, &fails, &control));
        assert!(error.contains("full") || error.contains("No space left"), "{arguments:?}: {error}");
        std::fs::write(&control, "write 1 28 1").unwrap();
        assert!(files(&home) == before, "{arguments:?}: {:?}", files(&home).keys());
    }
    // Left by a process that was killed.
    for ending in [".copy", ".partial"] {
        std::fs::write(home.join(format!("out.zst{ending}")), "left").unwrap();
    }
    json_of(&["backup", "--db", text(&db), text(&out)]);
    assert_eq!(files(&home).len(), before.len() + 1);
    let held = std::fs::File::create(home.join("more.zst.copy")).unwrap();
    held.lock().unwrap();
    let busy = error_of(&["backup", "--db", text(&db), text(&home.join("more.zst"))], &[]);
    assert!(busy.contains("more.zst.copy is being written by another process"), "{busy}");
}

/// The copy that is made before an upgrade would take the space that is missing.
#[tokio::test]
async fn a_full_disk_leaves_no_half_copy_of_an_upgrade() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let db = home.join("chat.sqlite");
    Person::create(&db, "owner", "owner");
    // As the previous version leaves it.
    let mut older = std::fs::read(&db).unwrap();
    let version = u32::from_be_bytes(older[60..64].try_into().unwrap());
    older[60..64].copy_from_slice(&(version - 1).to_be_bytes());
    let write_older = || {
        for ending in ["-wal", "-shm"] {
            let _absent = std::fs::remove_file(format!("{}{ending}", text(&db)));
        }
        std::fs::write(&db, &older).unwrap();
    };
    // The copy has the name of a step, which an attempt shows.
    write_older();
    run(&["status", "--db", text(&db)]);
    let mut names = std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().path());
    let copy = names.find(|path| text(path).contains(".before-")).unwrap();
    std::fs::remove_file(&copy).unwrap();
    write_older();

    let (shim, control) = (compile_shim(&home), home.join("control"));
    std::fs::write(&control, "write 0 28 1").unwrap();
    let before = files(&home);
    let error = error_of(&["status", "--db", text(&db)], &variables(&shim, &copy, &control));
    assert!(error.contains("cannot be written: ") && error.contains("full"), "{error}");
    let after = files(&home);
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    // The attempt begins a transaction, which counts in two fields of the header.
    let rows = |file: &[u8]| [&file[..24], &file[28..92], &file[100..]].concat();
    assert!(rows(&after["chat.sqlite"]) == rows(&before["chat.sqlite"]), "the rows are the same");
}

/// Waits until a file exists whose name ends with this, and returns it.
async fn appears(folder: &Path, ending: &str) -> std::path::PathBuf {
    loop {
        let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        if let Some(found) = files.find(|path| text(path).ends_with(ending)) {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Waits until the answer of `GET /health` is this.
async fn health_is(origin: &str, expected: Value) {
    loop {
        let answer = reqwest::get(format!("{origin}/health")).await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        let answer: Value = answer.json().await.unwrap();
        if answer["warnings"] == expected {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// The notices about backups that an owner has.
async fn notices(owner: &Person, origin: &str) -> Vec<String> {
    let query = json!({"anchor": "newest", "num_before": 100, "num_after": 0, "apply_markdown": false,
        "narrow": [["is", "dm"]]});
    let answer = owner.ask(origin, "GET", "/messages", &query).await.unwrap();
    let texts = answer["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap().to_owned());
    texts.filter(|text| text.contains("backup")).collect()
}

#[tokio::test]
async fn scheduled_backups_are_made_and_failures_are_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let (db, to) = (folder.path().join("chat.sqlite"), folder.path().join("backups"));
    let owner = Person::create(&db, "owner", "owner");
    let serve = ["serve", "--db", text(&db), "--listen", "127.0.0.1:0", "--backup-to"];
    let missing = run(&[&serve[..], &[text(&to)]].concat());
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
    let words = String::from_utf8_lossy(&missing.stderr);
    assert!(words.contains("there is no such directory; create it first"), "{words}");
    std::fs::create_dir(&to).unwrap();
    for (flags, expected) in [
        (["--backup-every", "1"], "for example 30m, 24h or 7d"),
        (["--backup-keep", "7"], "for example 7d,4w,6m"),
    ] {
        let output = run(&[&serve[..], &[text(&to)], &flags].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(expected), "{output:?}");
    }

    // Nothing can be written to this one.
    for _ in 0..2 {
        let server = Server::start_with(&db, &[("TEAMCHAT_BACKUP_TO", Path::new("/proc"))]);
        health_is(&server.origin, json!(["The last backup failed."])).await;
        let health = run(&["health", "--url", &server.origin]);
        let said = String::from_utf8_lossy(&health.stderr);
        assert_eq!((health.status.code(), &*said), (Some(0), "warning: The last backup failed.\n"));
        let notices = loop {
            let notices = notices(&owner, &server.origin).await;
            if !notices.is_empty() {
                break notices;
            }
        };
        assert!(notices.len() == 1 && notices[0].contains("`/proc: the disk has 0 MiB left"), "{notices:?}");
        server.kill();
    }
    // Of another server, or of a person.
    let foreign = to.join("teamchat-2001-01-01T00-00-00Z.sqlite.zst");
    std::fs::write(&foreign, "kept").unwrap();
    let variables: [(&str, &Path); 2] =
        [("TEAMCHAT_BACKUP_TO", &to), ("TEAMCHAT_BACKUP_KEEP", Path::new("1y"))];
    let server = Server::start_with(&db, &variables);
    let list = appears(&to, ".json").await;
    health_is(&server.origin, Value::Null).await;
    while notices(&owner, &server.origin).await.len() < 2 {}
    assert_eq!(notices(&owner, &server.origin).await[1], "The backup of this server succeeded again.");
    server.kill();
    let listed: Value = serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    let first = to.join(listed[0]["name"].as_str().unwrap());
    assert_eq!(listed[0]["bytes"].as_u64(), Some(std::fs::metadata(&first).unwrap().len()));

    // It was made a day and a minute ago, as was one that has been replaced since: the next start makes one.
    let time = listed[0]["time"].as_i64().unwrap() - 24 * 60 * 60 - 60;
    let old = to.join("teamchat-2001-01-03T00-00-00Z.sqlite.zst");
    std::fs::rename(&first, &old).unwrap();
    let replaced = to.join("teamchat-2001-01-02T00-00-00Z.sqlite.zst");
    std::fs::write(&replaced, "changed").unwrap();
    let aged = json!([
        {"name": "teamchat-2001-01-03T00-00-00Z.sqlite.zst", "time": time, "bytes": listed[0]["bytes"], "milliseconds": 1},
        {"name": "teamchat-2001-01-02T00-00-00Z.sqlite.zst", "time": time - 1, "bytes": 1, "milliseconds": 1},
    ]);
    std::fs::write(&list, aged.to_string()).unwrap();
    let server = Server::start_with(&db, &variables);
    while old.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    server.kill();
    assert!(foreign.exists() && replaced.exists());
    let listed: Value = serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let newest = to.join(listed[0]["name"].as_str().unwrap());
    json_of(&["restore", "--db", text(&folder.path().join("new.sqlite")), text(&newest)]);

    // It was made three days ago: the owners are warned, and receive a message when the next one is made.
    // Under another name, since the next one may be made in the same second.
    let mut late = listed;
    late[0]["name"] = json!("teamchat-2001-01-04T00-00-00Z.sqlite.zst");
    std::fs::rename(&newest, to.join(late[0]["name"].as_str().unwrap())).unwrap();
    late[0]["time"] = json!(late[0]["time"].as_i64().unwrap() - 3 * 24 * 60 * 60);
    std::fs::write(&list, late.to_string()).unwrap();
    let server = Server::start_with(&db, &variables);
    while notices(&owner, &server.origin).await.len() < 4 {}
    let received = notices(&owner, &server.origin).await;
    assert!(received[2].starts_with("The backup of this server is overdue"), "{received:?}");
    assert_eq!(received[3], "The backup of this server succeeded again.");
    health_is(&server.origin, Value::Null).await;
}

//! The content of backups: made beside changes, changed by the disk, encrypted to several keys or by another program.

use crate::backups::{IDENTITY, OTHER_IDENTITY, error_of, json_of, recipient, send, text};
use crate::checks::{FILL, change};
use crate::program::{Person, Server};
use crate::shim::{compile_shim, variables};
use rusqlite::Connection;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

/// The ids and contents of a person's messages in a file.
#[expect(clippy::disallowed_methods, reason = "looks into the file behind the program's back")]
fn messages(db: &Path, sender: i64) -> Vec<(i64, String)> {
    let connection = Connection::open(db).unwrap();
    let mut statement =
        connection.prepare("SELECT id, content FROM message WHERE sender_id = ?1 ORDER BY id").unwrap();
    let rows = statement.query_map([sender], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_beside_changes_has_all_of_them_until_one_moment() {
    /// Messages that follow this moment, while the backup is made.
    const LATER: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let [db, saved, restored] = ["chat.sqlite", "saved.zst", "restored"].map(|name| folder.path().join(name));
    let owner = Person::create(&db, "owner", "owner");
    // Pages that take some time to copy.
    change(&db, FILL);
    let server = Server::start(&db);
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let stop = Arc::new(AtomicBool::new(false));
    let mut sending = JoinSet::new();
    for lane in 0..4 {
        let (owner, origin) = (owner.clone(), server.origin.clone());
        let (acknowledged, stop) = (Arc::clone(&acknowledged), Arc::clone(&stop));
        sending.spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let content = format!("{lane} {number}");
                let id = send(&owner, &origin, &content).await;
                acknowledged.lock().unwrap().push((id, content));
                number += 1;
            }
        });
    }
    let count = || acknowledged.lock().unwrap().len();
    let before = loop {
        let before = count();
        let made = json_of(&["backup", "--db", text(&db), text(&saved)]);
        // It has some messages of others, too.
        if made["messages"].as_u64().unwrap() as usize + LATER <= count() {
            break before;
        }
        std::fs::remove_file(&saved).unwrap();
    };
    stop.store(true, Ordering::Relaxed);
    while let Some(lane) = sending.join_next().await {
        lane.unwrap();
    }
    server.kill();
    json_of(&["restore", "--db", text(&restored), text(&saved)]);
    let checked = json_of(&["check", "--db", text(&restored)]);
    assert_eq!(checked, json!({"sound": true, "problems": [], "repaired": []}));
    let mut all = acknowledged.lock().unwrap().clone();
    all.sort();
    let found = messages(&restored, owner.user_id);
    assert!((before..all.len()).contains(&found.len()), "{before} {} {}", found.len(), all.len());
    assert_eq!(found, all[..found.len()]);
}

#[test]
fn a_backup_that_the_disk_changes_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let path = |name: &str| home.join(name);
    let (db, out, partial, control) =
        (path("chat.sqlite"), path("out"), path("out.partial"), path("control"));
    Person::create(&db, "owner", "owner");
    let shim = compile_shim(&home);
    let variables = variables(&shim, &partial, &control);
    std::fs::write(&control, "flip 0 0 1").unwrap();
    let recipient = recipient(IDENTITY);
    let backup = ["backup", "--db", text(&db), text(&out)];
    for (flags, expected) in [
        (&[] as &[&str], "out is damaged: "),
        // The private key is elsewhere, so its bytes are compared.
        (&["--recipient", &*recipient], "what was read back is not what was written; the disk is failing"),
    ] {
        let refused = error_of(&[&backup[..], flags].concat(), &variables);
        assert!(refused.contains(expected), "{refused}");
        assert!(!out.exists() && !partial.exists() && !path("out.copy").exists());
    }
}

#[test]
fn a_backup_for_several_keys_is_readable_with_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (db, key) = (path("chat.sqlite"), path("key"));
    Person::create(&db, "owner", "owner");
    let [first, second] = [IDENTITY, OTHER_IDENTITY].map(recipient);
    let both = format!("{first},{second}");
    for (name, flags) in [
        ("repeated", &["--recipient", &*first, "--recipient", &*second][..]),
        ("listed", &["--recipient", &*both]),
    ] {
        let saved = path(name);
        json_of(&[&["backup", "--db", text(&db), text(&saved)][..], flags].concat());
        for (number, identity) in [IDENTITY, OTHER_IDENTITY].into_iter().enumerate() {
            std::fs::write(&key, identity).unwrap();
            let new = path(&format!("{name}-{number}.sqlite"));
            let restore = ["restore", "--db", text(&new), text(&saved), "--identity", text(&key)];
            assert_eq!(json_of(&restore)["users"], 1, "{name} {number}");
        }
    }
}

/// The program `age` writes these, too.
#[test]
fn backups_in_other_formats_of_age_are_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (new, saved, key) = (path("new.sqlite"), path("saved.age"), path("key"));
    std::fs::write(&key, IDENTITY).unwrap();
    let mut passphrase = age::scrypt::Recipient::new("correct horse battery staple".into());
    passphrase.set_work_factor(2);
    let encryptor = age::Encryptor::with_recipients(std::iter::once(&passphrase as _)).unwrap();
    let mut locked = encryptor.wrap_output(Vec::new()).unwrap();
    locked.write_all(b"a backup").unwrap();
    let locked = locked.finish().unwrap();
    let armored = b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3Yx\n".to_vec();
    let restore = ["restore", "--db", text(&new), text(&saved)];
    for (bytes, expected) in [
        (
            locked,
            "the backup is encrypted with a passphrase; decrypt it with `age --decrypt`, and restore the result",
        ),
        (armored, "the backup is encrypted as text; decrypt it with `age --decrypt`, and restore the result"),
    ] {
        std::fs::write(&saved, bytes).unwrap();
        for flags in [&[] as &[&str], &["--identity", text(&key)]] {
            let refused = error_of(&[&restore[..], flags].concat(), &[]);
            assert!(refused.contains(&format!("{expected}; nothing was changed")), "{refused}");
            assert!(!new.exists());
        }
    }
}

//! Health, status, doctor and commands on disks that are full, of an unfit kind, or fail.

use crate::backups::{error_of, json_of, run, run_with, text};
use crate::checks::{FILL, change};
use crate::disk::{Disk, EIO, ENOSPC};
use crate::program::{Person, Server};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The status and the message of `GET /health`.
async fn health(server: &Server) -> (u16, String) {
    let answer = reqwest::get(format!("{}/health", server.origin)).await.unwrap();
    let status = answer.status().as_u16();
    let answer: Value = answer.json().await.unwrap();
    (status, answer["msg"].as_str().unwrap_or_default().to_owned())
}

async fn send(person: &Person, server: &Server) -> u16 {
    let message = json!({"type": "direct", "to": [person.user_id], "content": "a message"});
    person.request(&server.origin, "POST", "/messages", &message).await.unwrap().0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_names_what_the_disk_refuses() {
    let disk = Disk::new();
    let owner = Person::create(&disk.database(), "owner", "owner");
    let server = disk.start();
    assert_eq!(health(&server).await.0, 200);
    disk.fail("free", 0, 15);
    assert_eq!(health(&server).await, (503, "The disk is full.".to_owned()));
    let asked = run(&["health", "--url", &server.origin]);
    let said = format!("error: {} answers with status 503: The disk is full.\n", server.origin);
    assert_eq!((asked.status.code(), String::from_utf8(asked.stderr).unwrap()), (Some(1), said));
    disk.fail("free", 0, 16);
    assert_eq!(health(&server).await.0, 200);

    disk.fail("write", 0, EIO);
    assert_eq!(send(&owner, &server).await, 503);
    for _ in 0..2 {
        assert_eq!(health(&server).await, (503, "The database cannot be changed.".to_owned()));
    }
    disk.heal();
    assert_eq!(health(&server).await.0, 200, "without another change");

    let hanging = loop {
        // After a change, a connection reads its pages again.
        assert_eq!(send(&owner, &server).await, 200);
        disk.fail("hang", 0, EIO);
        let answer = health(&server).await;
        if answer.0 != 200 {
            break answer;
        }
        disk.heal();
    };
    // Work in the background may hold up the writer, too.
    let expected = ["The database cannot be read.", "The database cannot be changed."];
    assert!(hanging.0 == 503 && expected.contains(&hanging.1.as_str()), "{hanging:?}");
    disk.heal();
    while health(&server).await.0 != 200 {}

    disk.fail("stall", 0, EIO);
    assert_eq!(health(&server).await, (503, "The database cannot be read.".to_owned()));
    disk.heal();
    while health(&server).await.0 != 200 {}
}

/// Runs `doctor`, and returns the level and the texts of one test.
fn examine(disk: &Disk, check: &str) -> (String, String) {
    let db = disk.database();
    let folder = db.parent().unwrap();
    let doctor = ["doctor", "--json", "--web-push", "off", "--backup-to", text(folder), "--db", text(&db)];
    let output = run_with(&doctor, &disk.variables());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let found = report["checks"].as_array().unwrap().iter().find(|found| found["check"] == check);
    let found = found.unwrap_or_else(|| panic!("{check}: {report}"));
    let text = |name: &str| found[name].as_str().unwrap_or_default();
    (text("level").to_owned(), format!("{}; {}", text("what"), text("do")))
}

#[test]
fn doctor_names_little_space_and_unfit_file_systems() {
    let disk = Disk::new();
    Person::create(&disk.database(), "owner", "owner");
    let refused = "free some space: uploads are refused below 256 MiB, and most changes below 64 MiB";
    // 256 MiB, and a part for the database.
    let too_large = " MiB while it is made";
    let little = "free some space, or move it to a larger disk";
    for (check, mib, level, remedy) in [
        ("disk", 255, "problem", refused),
        ("disk", 256, "warning", little),
        ("disk", 1023, "warning", little),
        ("disk", 1024, "ok", ""),
        ("disk of backups", 256, "problem", too_large),
        ("disk of backups", 300, "warning", little),
        ("disk of backups", 1024, "ok", ""),
    ] {
        disk.fail("free", 0, mib);
        let (found, words) = examine(&disk, check);
        let is_named = words.contains(&format!(" has {mib} MiB of ")) && words.ends_with(remedy);
        assert!(found == level && is_named, "{mib} MiB: {found} {check} {words}");
    }
    // As in statfs(2).
    for (kind, level, expected) in [
        (0x6969, "problem", "the database is on NFS; its locks are not reliable over a network"),
        (0x0102_1997, "problem", "the database is on 9p; its locks are not reliable over a network"),
        (0x0102_1994, "warning", "the database is on tmpfs, in memory; it is lost when the machine stops"),
        (0x794C_7630, "warning", "the database is on overlay; it is lost with the container"),
        (0x6573_5546, "warning", "the database is on FUSE; make sure that it is a disk of this machine"),
        (0xEF53, "ok", "the database is on a disk of this machine"),
    ] {
        disk.fail("type", 0, kind);
        let (found, words) = examine(&disk, "file system");
        assert!(found == level && words.starts_with(expected), "{kind:#x}: {found} {words}");
    }
}

#[test]
fn the_status_says_what_is_refused_for_lack_of_space() {
    let disk = Disk::new();
    let db = disk.database();
    Person::create(&db, "owner", "owner");
    let _server = disk.start();
    let warnings = || json_of(&["status", "--db", text(&db)])["warnings"].to_string();
    for (mib, expected) in [
        (63, "The disk has 63 MiB left, and changes are refused: free some space, or move the database"),
        (255, "The disk has 255 MiB left, and uploads are refused: free some space, or move the database"),
        (1023, "The disk has 1023 MiB left: free some space, or move the database"),
    ] {
        disk.fail("free", 0, mib);
        // Ample space of a moment ago still counts.
        while !warnings().contains(expected) {}
    }
    disk.fail("free", 0, 1024);
    assert!(!warnings().contains("MiB left"), "{}", warnings());
}

#[tokio::test]
async fn the_log_names_the_begin_and_the_end_of_a_full_disk() {
    let disk = Disk::new();
    let db = disk.database();
    let owner = Person::create(&db, "owner", "owner");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    disk.fail("free", 0, 1024);
    let server = Server::start_logging(&db, &disk.variables(), File::create(&path).unwrap());
    let lines = || {
        let log = std::fs::read_to_string(&path).unwrap();
        ["changes are refused until", "changes are accepted"].map(|words| log.matches(words).count())
    };
    for round in 1..=2 {
        disk.fail("free", 0, 63);
        // Ample space of a moment ago still counts.
        while send(&owner, &server).await != 507 {}
        assert_eq!(send(&owner, &server).await, 507);
        assert_eq!(lines(), [round, round - 1]);
        disk.fail("free", 0, 1024);
        for _ in 0..2 {
            assert_eq!(send(&owner, &server).await, 200);
        }
        assert_eq!(lines(), [round, round]);
    }
}

#[test]
fn commands_that_need_space_refuse_before_they_write() {
    let disk = Disk::new();
    let db = disk.database();
    Person::create(&db, "owner", "owner");
    change(&db, FILL);
    let variables = disk.variables();
    let out = db.with_file_name("out.zst");
    let names = || {
        let entries = std::fs::read_dir(db.parent().unwrap()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    let (before, full) = (names(), size(&db));
    disk.fail("free", 0, 30);
    let refused = error_of(&["compact", "--db", text(&db)], &variables);
    let expected = format!("the disk has 30 MiB left, and rewriting the file takes {} MiB", (full * 2) >> 20);
    assert!(refused.contains(&expected), "{refused}");
    let refused = error_of(&["backup", "--db", text(&db), text(&out)], &variables);
    assert!(refused.contains(": the disk has 30 MiB left, and the backup needs "), "{refused}");
    assert_eq!((size(&db), out.exists()), (full, false));
    disk.heal();
    assert!(run_with(&["compact", "--db", text(&db)], &variables).status.success());
    assert!(size(&db) < full / 2);
    let left: Vec<_> = names().difference(&before).cloned().collect();
    assert!(left.iter().all(|name| name == "control"), "{left:?}");
}

/// A database of version 0.1.0. It has 0.75 MiB.
fn older_database() -> Vec<u8> {
    let mut older = Vec::new();
    let packed = &include_bytes!("../api/upgrades/0.1.0.sqlite.gz")[..];
    GzDecoder::new(packed).read_to_end(&mut older).unwrap();
    older
}

/// An upgrade that fills the disk would fail at each restart, or leave a server that refuses changes.
#[test]
fn an_upgrade_needs_space_for_a_copy_and_for_the_server() {
    let disk = Disk::new();
    let db = disk.database();
    let older = older_database();
    std::fs::write(&db, &older).unwrap();
    let copy = db.with_file_name("chat.sqlite.before-0010_sessions");
    for command in [&["status"][..], &["compact"], &["serve", "--listen", "127.0.0.1:0"]] {
        disk.fail("free", 0, 1);
        let error = error_of(&[command, &["--db", text(&db)]].concat(), &disk.variables());
        let expected = "could not be copied: the disk has 1 MiB left, and the upgrade, which saves a copy first, needs 2 MiB";
        assert!(error.contains(expected), "{command:?}: {error}");
        assert!(std::fs::read(&db).unwrap() == older && !copy.exists(), "{command:?}");
    }
    disk.fail("free", 0, 2);
    let upgraded = run_with(&["status", "--db", text(&db)], &disk.variables());
    assert!(upgraded.status.success() && copy.exists(), "{upgraded:?}");
}

/// All steps of an upgrade are one transaction.
#[test]
fn an_upgrade_that_fails_leaves_the_older_database() {
    let disk = Disk::new();
    let db = disk.database();
    let older = older_database();
    let status = ["status", "--db", text(&db)];
    for (kind, after) in [("write", 0), ("write", 20), ("full", 0), ("full", 20)] {
        std::fs::write(&db, &older).unwrap();
        disk.fail(kind, after, ENOSPC);
        let error = error_of(&status, &disk.variables());
        let expected = "cannot be written: the disk is full; free some space";
        assert!(error.contains(expected), "{kind} {after}: {error}");
        assert!(std::fs::read(&db).unwrap() == older, "{kind} {after}");
        disk.heal();
        let upgraded = run_with(&status, &disk.variables());
        assert!(upgraded.status.success(), "{kind} {after}: {upgraded:?}");
        disk.check_integrity();
    }
}
